// The layout signature: everything that compiled code depends on, and nothing else.
#pragma once

#include "ir/kernel.h"
#include "jit/backend.h"

#include <cstdint>
#include <string>

namespace weft::jit {

/// The key of the kernel cache.  It is the kernel as lowered (before the passes) plus what the
/// passes and backends read besides: sizes, strides, addresses and scalar values are arguments and
/// take no part.
struct Signature {
  ir::Kernel kernel;
  CpuFeatures features;
  std::string backend;  ///< "auto", or the one the caller insists on

  friend bool operator==(const Signature&, const Signature&) = default;
};

std::uint64_t hash(const Signature& signature);

/// One line: the features, the backend and the kernel's own text, whose lines have " | " between
/// them: "avx512+vbmi auto kernel default unscheduled 0 { | $0 out f32 [1] | $1 in f32 [1] | ...".
std::string text(const Signature& signature);

}  // namespace weft::jit
