// The operators: one enum, one table.  Rows come from weft/ops.def; the few structural operators
// that move values around are listed here because they have no expression.
#pragma once

#include <weft/dtype.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace [[gnu::visibility("default")]] weft {

enum class Op : std::uint8_t {
  constant,  ///< a literal of `Inst::dtype`
  param,     ///< a scalar argument of the kernel; its index is `Inst::operand`
  load,      ///< the element of `Inst::operand` at the current position
  store,     ///< writes args[0] to `Inst::operand`
  cast,      ///< converts args[0] to `Inst::dtype` by the rules of weft/convert.h
  bitcast,   ///< reinterprets the bits of args[0] as `Inst::dtype` of the same size
  /// combines args[0] by `Inst::combine` with what the reduce loops make of `Inst::operand`
  accumulate,
  /// accumulates args[1], a place, of that element args[0] which `Inst::combine` finds extreme
  accumulate_place,
#define WEFT_OP(name, arity, domain, result, form, expression) name,
#include <weft/ops.def>
// After it, in this order, for is_part_function().
#include <weft/complex_functions.def>
#include <weft/float_parts.def>
#undef WEFT_OP
};

/// Those that stand in front of the op table.
inline constexpr std::size_t num_structural_ops =
    static_cast<std::size_t>(Op::accumulate_place) + 1;

/// Which dtypes an op computes in, after promotion.
enum class Domain : std::uint8_t {
  any,        ///< every dtype
  number,     ///< every dtype but bool
  real,       ///< integers and real floating types
  real_bool,  ///< real and bool
  integral,   ///< integers and bool
  integer,    ///< integers
  floating,   ///< real and complex floating types
  real_floating,
  complex,
  complex_part,  ///< the real dtypes that complex numbers are made of
  boolean,
};

/// How the dtype of the result follows from the common dtype of the operands.
enum class ResultRule : std::uint8_t {
  same,           ///< the common dtype
  boolean,        ///< bool, computed in the common dtype
  floating,       ///< integers and bool promote to f32 first; the result is the common dtype then
  floating_part,  ///< as floating, and complex gives its real dtype
  real_part,      ///< complex gives its real dtype; otherwise the common dtype
  pair,           ///< the complex dtype whose parts have the common dtype
  i32,            ///< i32, computed in the common dtype
  select,  ///< args[0] is bool and takes no part in promotion; the result is the others' dtype
};

enum class Form : std::uint8_t {
  structural,  ///< constant, param, load, store, cast, bitcast, accumulate ...
  primitive,   ///< a backend may have a row for it
  composite,   ///< rebuilt from primitives by the pass expand_composites; backends never see it
};

inline constexpr int max_arity = 4;

struct OpInfo {
  std::string_view name;
  int arity;
  Domain domain;
  ResultRule result;
  Form form;
  bool has_side_effect;
};

const OpInfo& info(Op op);
inline std::string_view name(Op op) { return info(op).name; }
std::optional<Op> parse_op(std::string_view text);
/// Every op of weft/ops.def, in table order (the structural ones left out).
std::span<const Op> all_ops();
/// Whether it is one of these: what expressions and calls may name, where the others are made by
/// lowering alone, and hold what it takes care of.
bool is_callable(Op op);
/// Every op of weft/float_parts.def, in table order.
std::span<const Op> float_parts();
/// The ops that compute the parts of what `op` gives for complex numbers, from the parts of its
/// arguments; nothing if there are none.
struct PartFunctions {
  Op real, imag;
};
std::optional<PartFunctions> part_functions(Op op);
/// Whether it is an op of weft/complex_functions.def.
bool is_part_function(Op op);
/// Whether `dtype` lies in the domain.
constexpr bool accepts(Domain domain, DType dtype) {
  switch (domain) {
    case Domain::any: return true;
    case Domain::number: return !is_boolean(dtype);
    case Domain::real: return is_integer(dtype) || is_floating(dtype);
    case Domain::real_bool: return !is_complex(dtype);
    case Domain::integral: return is_integral(dtype);
    case Domain::integer: return is_integer(dtype);
    case Domain::floating: return is_floating(dtype) || is_complex(dtype);
    case Domain::real_floating: return is_floating(dtype);
    case Domain::complex: return is_complex(dtype);
    case Domain::complex_part:
      return dtype == DType::f16 || dtype == DType::f32 || dtype == DType::f64;
    case Domain::boolean: return is_boolean(dtype);
  }
  return false;
}
constexpr bool promotes_integers(ResultRule rule) {
  return rule == ResultRule::floating || rule == ResultRule::floating_part;
}
/// Whether an op with this domain and result rule computes in `dtype`: the domain, less the
/// integers and bool that are promoted before.
constexpr bool computes_in(Domain domain, ResultRule result, DType dtype) {
  return accepts(domain, dtype) && !(promotes_integers(result) && is_integral(dtype));
}
/// The dtypes of a domain in words, for error messages: "integers and bool".
std::string_view describe(Domain domain);

}  // namespace weft
