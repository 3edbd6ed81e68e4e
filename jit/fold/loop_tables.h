// The loops of jit/fold/loops.h and jit/fold/extrema.h by op and dtype.  Like these it is compiled
// once an instruction set: everything has internal linkage.
#include "jit/fold/extrema.h"
#include "jit/fold/fold.h"
#include "jit/fold/loops.h"
#include "jit/fold/ordered.h"

#include <type_traits>

namespace weft::jit {
namespace {

/// An empty row where C++ vectors have no op of that name for the dtype.
[[maybe_unused]] FoldLoops find_loops(Op op, DType dtype) {
  // Sums and products of integers wrap, so both signs are one case.  Short integers are rarely
  // added up in as many bits: the op's row does it.
  const auto any_sign = [&]<class T>(std::type_identity<T>) -> FoldLoops {
    switch (op) {
      case Op::add:
      case Op::mul:
        if constexpr (sizeof(T) >= 4)
          return op == Op::add ? Loops<T, Add>::table() : Loops<T, Mul>::table();
        return {};
      case Op::bitwise_or: return Loops<std::uint8_t, Or>::template table<sizeof(T)>();
      case Op::bitwise_and: return Loops<std::uint8_t, And>::template table<sizeof(T)>();
      default: return {};
    }
  };
  const auto number = [&]<class T>(std::type_identity<T>) -> FoldLoops {
    switch (op) {
      case Op::maximum: return Loops<T, Max>::table();
      case Op::minimum: return Loops<T, Min>::table();
      case Op::add:
      case Op::mul:
        if constexpr (std::is_floating_point_v<T>)
          return op == Op::add ? Loops<T, Add>::table() : Loops<T, Mul>::table();
        return {};
      default: return {};
    }
  };
  const bool is_order = op == Op::maximum || op == Op::minimum;
  switch (dtype) {
    case DType::boolean: {
      const bool is_or = op == Op::add || op == Op::maximum || op == Op::bitwise_or;
      const bool is_and = op == Op::mul || op == Op::minimum || op == Op::bitwise_and;
      if (is_or) return Loops<std::uint8_t, Or>::table();
      return is_and ? Loops<std::uint8_t, And>::table() : FoldLoops();
    }
#define WEFT_INTEGER(enumerator, unsigned_type, type)    \
  case DType::enumerator:                                \
    return is_order ? number(std::type_identity<type>{}) \
                    : any_sign(std::type_identity<unsigned_type>{});
      WEFT_INTEGER(u8, std::uint8_t, std::uint8_t)
      WEFT_INTEGER(u16, std::uint16_t, std::uint16_t)
      WEFT_INTEGER(u32, std::uint32_t, std::uint32_t)
      WEFT_INTEGER(u64, std::uint64_t, std::uint64_t)
      WEFT_INTEGER(i8, std::uint8_t, std::int8_t)
      WEFT_INTEGER(i16, std::uint16_t, std::int16_t)
      WEFT_INTEGER(i32, std::uint32_t, std::int32_t)
      WEFT_INTEGER(i64, std::uint64_t, std::int64_t)
#undef WEFT_INTEGER
    case DType::f32: return number(std::type_identity<float>{});
    case DType::f64: return number(std::type_identity<double>{});
    case DType::c64: return op == Op::add ? Loops<float, Add>::table<2>() : FoldLoops();
    case DType::c128: return op == Op::add ? Loops<double, Add>::table<2>() : FoldLoops();
    default: return {};
  }
}

ExtremumLoops find_extremum_loops(Op op, DType dtype) {
  return visit_ordered(dtype, [&]<class T>(std::type_identity<T>) {
    return op == Op::maximum ? Extrema<T>::template table<true>()
                             : Extrema<T>::template table<false>();
  });
}

}  // namespace
}  // namespace weft::jit
