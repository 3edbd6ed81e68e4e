// The conversions between all pairs of dtypes as loops over arrays.
#include "ir/evaluate.h"

#include <weft/convert.h>

#include <cstdint>
#include <type_traits>

namespace weft::ir {
namespace {

template <class To, class From>
void convert_block(void* out, const void* const* args, std::size_t num_elements) {
  To* const to = static_cast<To*>(out);
  // Of a tensor that was viewed as bool, every byte but 0 is true.
  using Stored = std::conditional_t<std::is_same_v<From, bool>, std::uint8_t, From>;
  const auto* const from = static_cast<const Stored*>(args[0]);
  for (std::size_t i = 0; i < num_elements; ++i) {
    if constexpr (std::is_same_v<From, bool>)
      to[i] = convert<To>(from[i] != 0);
    else
      to[i] = convert<To>(from[i]);
  }
}

}  // namespace

BlockFunction cast_function(DType to, DType from) {
  return visit_dtype(to, [from]<class To>(std::type_identity<To>) {
    return visit_dtype(from, []<class From>(std::type_identity<From>) -> BlockFunction {
      return &convert_block<To, From>;
    });
  });
}

}  // namespace weft::ir
