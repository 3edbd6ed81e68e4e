// The loops of jit/fold/loops.h and jit/fold/extrema.h by op and dtype.  Like these it is compiled
// once an instruction set: everything has internal linkage, and only the compiler looks loops up.
#include "jit/fold/extrema.h"
#include "jit/fold/fold.h"
#include "jit/fold/loops.h"
#include "jit/fold/ordered.h"

#include <type_traits>

namespace weft::jit {
namespace {

template <class T, class Combine, int parts = 1>
constexpr FoldLoops table_of = Loops<T, Combine>::template table<parts>();
template <class T, bool is_boolean, bool is_largest>
constexpr ExtremumLoops extremum_table_of = Extrema<T, is_boolean>::template table<is_largest>();

/// Null where C++ vectors have no op of that name for the dtype.
[[maybe_unused]] constexpr const FoldLoops* find_loops(Op op, DType dtype) {
  // Sums and products of integers wrap, so both signs are one case.  Short integers are rarely
  // added up in as many bits: the op's row does it.
  const auto any_sign = [&]<class T>(std::type_identity<T>) -> const FoldLoops* {
    switch (op) {
      case Op::add:
      case Op::mul:
        if constexpr (sizeof(T) >= 4) return op == Op::add ? &table_of<T, Add> : &table_of<T, Mul>;
        return nullptr;
      case Op::bitwise_or: return &table_of<std::uint8_t, Or, sizeof(T)>;
      case Op::bitwise_and: return &table_of<std::uint8_t, And, sizeof(T)>;
      default: return nullptr;
    }
  };
  const auto number = [&]<class T>(std::type_identity<T>) -> const FoldLoops* {
    switch (op) {
      case Op::maximum: return &table_of<T, Max>;
      case Op::minimum: return &table_of<T, Min>;
      case Op::add:
      case Op::mul:
        if constexpr (std::is_floating_point_v<T>)
          return op == Op::add ? &table_of<T, Add> : &table_of<T, Mul>;
        return nullptr;
      default: return nullptr;
    }
  };
  // Of products there is one set, for the size of the library.
  const auto complex = [&]<class T>(std::type_identity<T>) -> const FoldLoops* {
    if (op == Op::add) return &table_of<T, Add, 2>;
    if constexpr (vector_bytes == 32)
      if (op == Op::mul) return &table_of<T, ComplexMul, 2>;
    return nullptr;
  };
  const bool is_order = op == Op::maximum || op == Op::minimum;
  switch (dtype) {
    case DType::boolean: {
      const bool is_or = op == Op::add || op == Op::maximum || op == Op::bitwise_or;
      const bool is_and = op == Op::mul || op == Op::minimum || op == Op::bitwise_and;
      if (is_or) return &table_of<std::uint8_t, Any>;
      // Of bytes and the identity, which is 1, the smallest.
      return is_and ? &table_of<std::uint8_t, Min> : nullptr;
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
    case DType::c64: return complex(std::type_identity<float>{});
    case DType::c128: return complex(std::type_identity<double>{});
    default: return nullptr;
  }
}

constexpr const ExtremumLoops* find_extremum_loops(Op op, DType dtype) {
  const auto table = [&]<class T, bool is_boolean>(std::type_identity<T>,
                                                   std::bool_constant<is_boolean>) {
    return op == Op::maximum ? &extremum_table_of<T, is_boolean, true>
                             : &extremum_table_of<T, is_boolean, false>;
  };
  if (is_boolean(dtype)) {
    if constexpr (vector_bytes > 16)
      return nullptr;
    else
      return table(std::type_identity<std::uint8_t>{}, std::true_type{});
  }
  return visit_ordered(dtype, [&](auto type) { return table(type, std::false_type{}); });
}

}  // namespace
}  // namespace weft::jit
