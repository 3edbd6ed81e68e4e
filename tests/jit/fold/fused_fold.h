// Kernels that reduce what they compute of two operands, as text.
#pragma once

#include "ir/kernel.h"

#include <string>

namespace weft::jit::testing {

/// The dtype and the op that it is combined by, what is computed of the loads %0 and %1 in front,
/// and the dtype that is read.
struct Fused {
  const char* dtype;
  const char* combine;
  const char* body;
  const char* input;
};

/// The strides of the output and of both inputs, as they stand between brackets, and the loops.
inline std::string text_of(const Fused& row, const std::string& out, const std::string& first,
                           const std::string& second, const std::string& loops, ir::Tree tree) {
  const std::string body = row.body, input = row.input;
  const std::string last = body.substr(body.rfind('%', body.rfind('=')), 2);
  return "kernel default unscheduled 0 { $0 out " + std::string(row.dtype) + " [" + out +
         "] $1 in " + input + " [" + first + "] $2 in " + input + " [" + second + "] " + loops +
         " tree lanes " + std::to_string(tree.lanes) + " block " + std::to_string(tree.block) +
         " body: %0 = load " + input + " $1 %1 = load " + input + " $2 " + body + " accumulate " +
         row.dtype + " $0 " + row.combine + " " + last + " }";
}

}  // namespace weft::jit::testing
