// When outputs are written past the caches.
#pragma once

#include "runtime/cpu_features.h"

#include <weft/inline_array.h>
#include <weft/iterator.h>

#include <cstdint>

namespace weft {

/// Bytes that elements have, those of dimensions with a stride of 0 once; the largest number where
/// they are more.
std::int64_t touched_bytes(std::size_t itemsize_bytes, IntSpan sizes, IntSpan strides);
std::int64_t touched_bytes(const TensorIterator& iterator, int operand);

/// What operands touch together: views of one storage no more than it has.
class TouchedBytes {
 public:
  void add(const Tensor& operand, std::int64_t touched_bytes);
  std::int64_t sum() const;

 private:
  struct Part {
    const Storage* storage;
    std::int64_t bytes;
  };
  InlineArray<Part, 8> parts_;
};

/// Bytes that a call must move, read and written together, for non-temporal stores to pay: as
/// measured for this machine, else by the sizes of the caches.
/// docs/decisions/stores.md has the measurements.
std::int64_t streaming_threshold_bytes(const CpuFeatures& features);

/// The same, where `threshold_bytes` is that, for calls that go over a block of rows after the
/// other several times (engine/fold/row_blocks.h): of the last cache they have less for what they
/// write.
std::int64_t row_streaming_threshold_bytes(const CpuFeatures& features,
                                           std::int64_t threshold_bytes);

/// Whether the call moves `threshold_bytes` or more, writes a good part of them, and its outputs,
/// in long rows, are not read by itself.
bool streams_outputs(const TensorIterator& iterator, std::int64_t threshold_bytes);

/// Whether the rows of every output along the iterator's fastest dimension begin and end with a
/// cache line, if its memory begins with one.
bool writes_whole_lines(const TensorIterator& iterator);

}  // namespace weft
