// Calls of kernels on memory that ends where it must, with elements at which operators change
// their behaviour.
#pragma once

#include "ir/kernel.h"
#include "jit/code_object.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace weft::jit::test {

/// Bytes between two pages that cannot be touched, against the upper or the lower one.
class GuardedBytes {
 public:
  enum class Side { upper, lower };

  GuardedBytes(std::size_t size_bytes, Side side);
  ~GuardedBytes();
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;
  std::byte* data() const { return data_; }

 private:
  std::byte* mapping_;
  std::size_t mapping_bytes_;
  std::byte* data_;
};

/// One array of an operand's elements, strided as the loops say.
struct OperandData {
  std::vector<std::int64_t> stride_bytes;  ///< one a loop
  std::vector<std::byte> bytes;  ///< from the lowest address to the end of the highest element
  std::size_t first = 0;         ///< offset of the element at index 0
};

/// Everything a call needs.
struct Call {
  std::vector<std::int64_t> extents;
  std::vector<OperandData> operands;
  std::vector<Bits> params;
};

/// Random elements, with many of the values at which operators change their behaviour.
void fill_with_samples(std::vector<std::byte>& bytes, DType dtype, std::mt19937_64& random);

/// A call of `kernel`.  Where an operand's class is stride_any, its stride is 5 or -3 items; outer
/// loops get strides that keep rows apart, out of order.
Call make_call(const ir::Kernel& kernel, const std::vector<std::int64_t>& extents,
               std::mt19937_64& random);

/// The same with these strides, one vector an operand.
Call make_call(const ir::Kernel& kernel, const std::vector<std::int64_t>& extents,
               const std::vector<std::vector<std::int64_t>>& stride_bytes, std::mt19937_64& random);

/// Whether an element of a real dtype is a NaN.
bool is_nan_element(const std::byte* bytes, DType dtype);

/// Runs a copy of the call on guarded memory; returns the operands' bytes afterwards.
std::vector<std::vector<std::byte>> run(const CodeObject& code, const Call& call,
                                        GuardedBytes::Side side);

}  // namespace weft::jit::test
