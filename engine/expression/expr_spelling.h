// The operators of Python's spelling and the ops they stand for: one table for reading and writing.
#pragma once

#include <weft/op.h>

#include <array>
#include <string_view>

namespace weft {

struct BinarySpelling {
  std::string_view symbol;
  Op op;
  int precedence;  ///< higher binds tighter
};

// Python's precedences, from the loosest.
inline constexpr int comparison_precedence = 1;
inline constexpr int unary_precedence = 8;
inline constexpr int power_precedence = 9;  ///< above unary minus, and right-associative
inline constexpr int primary_precedence = 10;

inline constexpr auto binary_spellings = std::to_array<BinarySpelling>({
    {"<", Op::lt, comparison_precedence},
    {"<=", Op::le, comparison_precedence},
    {">", Op::gt, comparison_precedence},
    {">=", Op::ge, comparison_precedence},
    {"==", Op::eq, comparison_precedence},
    {"!=", Op::ne, comparison_precedence},
    {"|", Op::bitwise_or, 2},
    {"^", Op::bitwise_xor, 3},
    {"&", Op::bitwise_and, 4},
    {"<<", Op::bitwise_left_shift, 5},
    {">>", Op::bitwise_right_shift, 5},
    {"+", Op::add, 6},
    {"-", Op::sub, 6},
    {"*", Op::mul, 7},
    {"/", Op::div, 7},
    {"//", Op::div_floor, 7},
    {"%", Op::remainder, 7},
    {"**", Op::pow, power_precedence},
});

}  // namespace weft
