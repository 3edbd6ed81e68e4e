// The rows of the op table as loops over arrays.  Instantiated by dtype group in evaluate_*.cpp,
// which keeps each file's compile time bearable.
#pragma once

#include "ir/composites.h"
#include "ir/evaluate.h"
#include "ir/float_parts.h"
#include "ir/number.h"

#include <cstring>

namespace weft::ir {

// The composites as functions of numbers, so that rows may use one another: exp(x), softplus(x) ...
// The last argument says the type; the first of all may be a mask.
#define WEFT_NUMBER_structural(name, arity, expression)
#define WEFT_NUMBER_primitive(name, arity, expression)
#define WEFT_NUMBER_composite(name, arity, expression) WEFT_NUMBER_##arity(name, expression)
#define WEFT_NUMBER_1(name, expression)         \
  template <class Element>                      \
  auto name(const Number<Element>& x) {         \
    using T [[maybe_unused]] = Number<Element>; \
    return expression;                          \
  }
#define WEFT_NUMBER_2(name, expression)                           \
  template <class Element>                                        \
  auto name(const Number<Element>& x, const Number<Element>& y) { \
    using T [[maybe_unused]] = Number<Element>;                   \
    return expression;                                            \
  }
#define WEFT_NUMBER_3(name, expression)                                                   \
  template <class First, class Element>                                                   \
  auto name(const Number<First>& x, const Number<Element>& y, const Number<Element>& z) { \
    using T [[maybe_unused]] = Number<Element>;                                           \
    return expression;                                                                    \
  }
#define WEFT_NUMBER_4(name, expression)                                                   \
  template <class Element>                                                                \
  auto name(const Number<Element>& x, const Number<Element>& y, const Number<Element>& z, \
            const Number<Element>& w) {                                                   \
    using T [[maybe_unused]] = Number<Element>;                                           \
    return expression;                                                                    \
  }
#define WEFT_OP(name, arity, domain, result, form, expression) \
  WEFT_NUMBER_##form(name, arity, expression)
#include <weft/ops.def>
#undef WEFT_OP
#undef WEFT_NUMBER_structural
#undef WEFT_NUMBER_primitive
#undef WEFT_NUMBER_composite
#undef WEFT_NUMBER_1
#undef WEFT_NUMBER_2
#undef WEFT_NUMBER_3
#undef WEFT_NUMBER_4

/// block_function() for one dtype.
template <class Element>
BlockFunction find_block_function(Op op);

namespace internal {

// A row as a type.  `T` is the number type that the expression computes in.
#define WEFT_OP(name, arity_, domain_, result_, form, expression)                 \
  struct Row_##name {                                                             \
    static constexpr Op op = Op::name;                                            \
    static constexpr int arity = arity_;                                          \
    static constexpr Domain domain = Domain::domain_;                             \
    static constexpr ResultRule result = ResultRule::result_;                     \
    template <class First, class T>                                               \
    static auto run([[maybe_unused]] const First& x, [[maybe_unused]] const T& y, \
                    [[maybe_unused]] const T& z, [[maybe_unused]] const T& w) {   \
      return expression;                                                          \
    }                                                                             \
  };
#include <weft/ops.def>
// The order of the enum.
#include <weft/complex_functions.def>
#include <weft/float_parts.def>
#undef WEFT_OP

template <class Row, class Element>
void run_row(void* out, const void* const* args, std::size_t num_elements) {
  using First = std::conditional_t<Row::result == ResultRule::select, bool, Element>;
  const auto read = [&]<class T>(std::type_identity<T>, int arg, std::size_t i) {
    const void* const from = args[arg < Row::arity ? arg : 0];
    // Folds read memory: of a tensor that was viewed as bool, every byte but 0 is true.
    if constexpr (std::is_same_v<T, bool>)
      return Number<bool>(static_cast<const std::uint8_t*>(from)[i] != 0);
    else
      return Number<T>::from_storage(static_cast<const T*>(from)[i]);
  };
  constexpr std::type_identity<Element> element{};
  using Result = typename decltype(Row::run(Number<First>{}, Number<Element>{}, Number<Element>{},
                                            Number<Element>{}))::Storage;
  for (std::size_t i = 0; i < num_elements; ++i) {
    const auto x = read(std::type_identity<First>{}, 0, i);
    Number<Element> y{}, z{}, w{};
    if constexpr (Row::arity > 1) y = read(element, 1, i);
    if constexpr (Row::arity > 2) z = read(element, 2, i);
    if constexpr (Row::arity > 3) w = read(element, 3, i);
    static_cast<Result*>(out)[i] = Row::run(x, y, z, w).to_storage();
  }
}

/// `op` in the wider dtype that elements of `dtype` are computed in, between conversions.
void run_wider(Op op, DType dtype, void* out, const void* const* args, std::size_t num_elements);

template <class Row, class Element>
void run_row_wider(void* out, const void* const* args, std::size_t num_elements) {
  if constexpr (Row::op == Op::fmax || Row::op == Op::fmin) {
    // Which of two zeros these take depends on how they are stored.
    const void* const swapped[] = {args[1], args[0]};
    return run_wider(Row::op, dtype_of<Element>, out, swapped, num_elements);
  }
  run_wider(Row::op, dtype_of<Element>, out, args, num_elements);
}

template <class Row, class Element>
constexpr BlockFunction row_function() {
  constexpr bool is_computed_as_itself = std::is_same_v<Element, computed_as<Element>>;
  if constexpr (!computes_in(Row::domain, Row::result, dtype_of<Element>))
    return nullptr;
  else if constexpr (is_computed_as_itself || Row::op == Op::nextafter)  // a small neighbour
    return &run_row<Row, Element>;
  else
    return &run_row_wider<Row, Element>;
}

}  // namespace internal

template <class Element>
BlockFunction find_block_function(Op op) {
  switch (op) {
#define WEFT_OP(name, arity, domain, result, form, expression) \
  case Op::name:                                               \
    return internal::row_function<internal::Row_##name, Element>();
#include <weft/ops.def>
// The order of the enum.
#include <weft/complex_functions.def>
#include <weft/float_parts.def>
#undef WEFT_OP
    default: return nullptr;
  }
}

}  // namespace weft::ir
