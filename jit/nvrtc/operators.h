// Instructions as expressions of CUDA C++.
#pragma once

#include "ir/kernel.h"

#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace weft::jit::nvrtc {

/// The type of a value in generated source: "f32", "u8"; small floats are their bits.
std::string_view value_type(DType dtype);
/// The type of an element in memory, which for bool is u8.
std::string_view memory_type(DType dtype);

/// Whether a table op can be emitted in this dtype.
bool has_operator(Op op, DType dtype);
/// The expression of a table op of these arguments.
std::string operator_text(Op op, DType dtype, std::span<const std::string> args);

/// Of functions whose distance from the interpreter's is not bounded.
inline constexpr double unknown_ulps = std::numeric_limits<double>::infinity();
/// How many units in the last place an op of exact arguments may lie from the interpreter's: 0 if
/// arithmetic defines its bits.  Parts of complex functions: of the larger part.
double ulps_apart(Op op, DType dtype);

/// Whether a cast can be emitted; where not, ir::expand_casts() leaves no such cast.
bool has_cast(DType from, DType to);
std::string cast_text(const std::string& value, DType from, DType to);
std::string bitcast_text(const std::string& value, DType from, DType to);

/// A literal with exactly these bits.
std::string constant_text(DType dtype, const Bits& bits);
/// The value whose element is in the low bytes of a u64 `word`.
std::string from_word_text(const std::string& word, DType dtype);

/// The definitions of all functions and types that `code` names and that are not its own.
std::string prelude_for(std::string_view code);

}  // namespace weft::jit::nvrtc
