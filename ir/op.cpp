// The op table as run-time data: names, parsing, descriptions.
#include <weft/op.h>

#include "runtime/never_destroyed.h"

#include <weft/error.h>
#include <weft/numerics.h>

#include <array>
#include <unordered_map>

namespace weft {
namespace {

constexpr OpInfo op_table[] = {
    {"constant", 0, Domain::any, ResultRule::same, Form::structural, false},
    {"param", 0, Domain::any, ResultRule::same, Form::structural, false},
    {"load", 0, Domain::any, ResultRule::same, Form::structural, false},
    {"store", 1, Domain::any, ResultRule::same, Form::structural, true},
    {"cast", 1, Domain::any, ResultRule::same, Form::structural, false},
    {"bitcast", 1, Domain::any, ResultRule::same, Form::structural, false},
    {"accumulate", 1, Domain::any, ResultRule::same, Form::structural, true},
    {"accumulate_place", 2, Domain::real_bool, ResultRule::same, Form::structural, true},
#define WEFT_OP(name, arity, domain, result, form, expression) \
  {#name, arity, Domain::domain, ResultRule::result, Form::form, false},
#include <weft/ops.def>
// After it, in this order, for is_part_function().
#include <weft/complex_functions.def>
#include <weft/float_parts.def>
#undef WEFT_OP
};
static_assert(std::size(op_table) <= 256, "an op is a byte");
static_assert(static_cast<std::size_t>(Op::accumulate_place) == 7,
              "the structural rows above are in enum order");

constexpr Op table_ops[] = {
#define WEFT_OP(name, arity, domain, result, form, expression) Op::name,
#include <weft/ops.def>
#undef WEFT_OP
};

constexpr Op float_part_ops[] = {
#define WEFT_OP(name, arity, domain, result, form, expression) Op::name,
#include <weft/float_parts.def>
#undef WEFT_OP
};

constexpr std::array<std::string_view, 5> known_numerics{"default", "strict", "fast",
                                                         "layout_invariant", "exact"};

}  // namespace

const OpInfo& info(Op op) {
  const auto index = static_cast<std::size_t>(op);
  WEFT_CHECK(index < std::size(op_table), ArgumentError, "there is no op ", index);
  return op_table[index];
}

std::optional<Op> parse_op(std::string_view text) {
  using Map = std::unordered_map<std::string_view, Op>;
  static const NeverDestroyed<Map> by_name([] {
    Map map;
    for (std::size_t i = 0; i < std::size(op_table); ++i) map.emplace(op_table[i].name, Op(i));
    return map;
  });
  const auto found = (*by_name).find(text);
  if (found == (*by_name).end()) return std::nullopt;
  return found->second;
}

std::span<const Op> all_ops() { return table_ops; }

bool is_callable(Op op) { return op >= all_ops().front() && op <= all_ops().back(); }

std::optional<PartFunctions> part_functions(Op op) {
  switch (op) {
#define WEFT_COMPLEX_FUNCTION(name) \
  case Op::name:                    \
    return PartFunctions{Op::real_of_##name, Op::imag_of_##name};
#define WEFT_COMPLEX_FUNCTION_2(name) WEFT_COMPLEX_FUNCTION(name)
#include <weft/complex_functions.def>
    default: return std::nullopt;
  }
}

std::span<const Op> float_parts() { return float_part_ops; }

bool is_part_function(Op op) { return op > all_ops().back() && op < float_parts().front(); }

std::string_view describe(Domain domain) {
  switch (domain) {
    case Domain::any: return "every dtype";
    case Domain::number: return "numbers (not bool)";
    case Domain::real: return "integers and real floating types";
    case Domain::real_bool: return "real numbers and bool";
    case Domain::integral: return "integers and bool";
    case Domain::integer: return "integers";
    case Domain::floating: return "floating and complex types";
    case Domain::real_floating: return "real floating types";
    case Domain::complex: return "complex types";
    case Domain::complex_part: return "f16, f32 and f64";
    case Domain::boolean: return "bool";
  }
  return "";
}

std::string_view name(Numerics numerics) {
  const auto index = static_cast<std::size_t>(numerics);
  WEFT_CHECK(index < known_numerics.size(), ArgumentError, "there are no numerics ", index);
  return known_numerics[index];
}

std::optional<Numerics> parse_numerics(std::string_view text) {
  for (std::size_t i = 0; i < known_numerics.size(); ++i)
    if (known_numerics[i] == text) return Numerics(i);
  return std::nullopt;
}

std::string numerics_names() {
  std::string result;
  for (std::size_t i = 0; i < known_numerics.size(); ++i) {
    const bool is_last = i + 1 == known_numerics.size();
    result.append(i == 0 ? "" : is_last ? " or " : ", ").append(known_numerics[i]);
  }
  return result;
}

}  // namespace weft
