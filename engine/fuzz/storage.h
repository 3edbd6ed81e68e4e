// Memory for fuzz cases that notices who leaves it.
#pragma once

#include "engine/fuzz/case.h"

#include <weft/tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weft::fuzzing {

/// What lies at `place` of a tensor's storage.
Bits element_of(const CaseTensor& tensor, std::uint64_t seed, std::int64_t place);

enum class Values : std::uint8_t {
  any,       ///< as element_of() has them
  ordinary,  ///< numbers between -1.3 and 1.3 but for a few, so that sums of many say something
};

/// A tensor in pages of its own.  It touches an inaccessible page with its last byte or its first,
/// so that reading beyond it is a fault; the rest of its pages is filled with a pattern.
class GuardedTensor {
 public:
  /// `shared_elements`: the tensor is a view of a storage of so many, of which there are others.
  GuardedTensor(const CaseTensor& layout, std::uint64_t seed,
                std::optional<std::int64_t> shared_elements = {}, Values values = Values::any);
  ~GuardedTensor();
  GuardedTensor(const GuardedTensor&) = delete;
  GuardedTensor& operator=(const GuardedTensor&) = delete;

  const Tensor& tensor() const { return tensor_; }
  /// Puts back what was there at first.
  void restore();
  /// Whether all is as it was at first, outside of the elements of those views of the storage that
  /// were `written`.
  bool is_intact(std::span<const Tensor> written) const;

 private:
  std::byte* pages_ = nullptr;
  std::size_t num_bytes_ = 0;  ///< of the accessible pages
  std::byte* accessible_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  std::vector<std::byte> initial_;  ///< contents of the accessible pages
  Tensor tensor_;
};

}  // namespace weft::fuzzing
