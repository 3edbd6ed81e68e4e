// How large a kernel may be (the rules of ir/verifier.cpp), for whoever keeps room for one.
#pragma once

#include <weft/error.h>

#include <cstddef>

namespace weft::ir {

inline constexpr std::size_t max_operands = 255;       ///< V1, and as many parameters
inline constexpr std::size_t max_loops = 64;           ///< V2
inline constexpr std::size_t max_instructions = 4096;  ///< V14
/// As many as the passes may make before those that share values and drop what nobody needs.
inline constexpr std::size_t max_instructions_between = 64 * max_instructions;

/// What is asked for is more than one kernel takes.
struct KernelLimitError : UnsupportedError {
  using UnsupportedError::UnsupportedError;
};

}  // namespace weft::ir
