#include "jit/fold/places.h"

#include "ir/combine.h"

#include <limits>

namespace weft::jit {

PlaceFold::PlaceFold(Op op, DType dtype, bool keeps_last)
    : compare_(extremum_loops(op, dtype, Isa::generic).compare),
      itemsize_(itemsize_bytes(dtype)),
      keeps_last_(keeps_last),
      identity_{keeps_last ? std::numeric_limits<std::int64_t>::min()
                           : std::numeric_limits<std::int64_t>::max(),
                ir::identity_of(op, dtype)->lo} {}

void PlaceFold::take_in(FoundPlace& kept, const FoundPlace& more) const {
  const auto* const value = reinterpret_cast<const std::byte*>(&more.value);
  const int order = compare_(value, reinterpret_cast<const std::byte*>(&kept.value));
  const bool is_wanted = keeps_last_ ? more.place > kept.place : more.place < kept.place;
  if (order > 0 || (order == 0 && is_wanted)) kept = more;
}

}  // namespace weft::jit
