#include "jit/fold/places.h"

#include "ir/combine.h"

#include <limits>

namespace weft::jit {

PlaceFold::PlaceFold(Op op, DType dtype)
    : compare_(extremum_loops(op, dtype, Isa::generic).compare),
      itemsize_(itemsize_bytes(dtype)),
      identity_{std::numeric_limits<std::int64_t>::max(), ir::identity_of(op, dtype)->lo} {}

void PlaceFold::take_in(FoundPlace& kept, const FoundPlace& more) const {
  const auto* const value = reinterpret_cast<const std::byte*>(&more.value);
  const int order = compare_(value, reinterpret_cast<const std::byte*>(&kept.value));
  if (order > 0 || (order == 0 && more.place < kept.place)) kept = more;
}

}  // namespace weft::jit
