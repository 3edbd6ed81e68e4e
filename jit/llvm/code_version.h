// Which sources make LLVM objects of kernels.
#pragma once

namespace weft::jit {

/// A hash of them, by cmake/code_version.cmake: objects on disk are those of this code or no use.
extern const char* const code_version;

}  // namespace weft::jit
