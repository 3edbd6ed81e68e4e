// How large a kernel may be (the rules of ir/verifier.cpp), for whoever keeps room for one.
#pragma once

#include <weft/error.h>

#include <cstddef>

namespace weft::ir {

inline constexpr std::size_t max_operands = 255;       ///< V1, and as many parameters
inline constexpr std::size_t max_loops = 64;           ///< V2
inline constexpr std::size_t max_instructions = 4096;  ///< V14; the passes may go beyond it

/// What is asked for is more than one kernel takes.
struct KernelLimitError : UnsupportedError {
  using UnsupportedError::UnsupportedError;
};

}  // namespace weft::ir
