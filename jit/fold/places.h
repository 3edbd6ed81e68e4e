// What kernels that accumulate places (Op::accumulate_place) keep of them: the place of an extremum
// and the extremum.
#pragma once

#include "jit/fold/fold.h"

#include <cstdint>
#include <cstring>

namespace weft::jit {

/// One partial result.  In sets that CodeObject::leaf folds it lies in place of an element.
struct FoundPlace {
  std::int64_t place;
  std::uint64_t value;  ///< the element's bytes, the first ones
};

/// How they are combined.
class PlaceFold {
 public:
  /// Requires: as extremum_loops().
  PlaceFold(Op op, DType dtype, bool keeps_last = false);

  /// What every element is before.
  FoundPlace identity() const { return identity_; }
  FoundPlace found(std::int64_t place, const std::byte* element) const {
    FoundPlace result{place, 0};
    std::memcpy(&result.value, element, itemsize_);
    return result;
  }
  /// Of equals the one with the lower place stays, or the one with the higher.
  void take_in(FoundPlace& kept, const FoundPlace& more) const;

 private:
  int (*compare_)(const std::byte* a, const std::byte* b);
  std::size_t itemsize_;
  bool keeps_last_;
  FoundPlace identity_;
};

}  // namespace weft::jit
