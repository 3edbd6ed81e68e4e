// The tensors of the call_* benchmarks, the same for weft and for its peers.
#pragma once

#include "bench/support.h"

namespace weft::bench {

struct AddOperands {
  std::string size;
  Tensor a, b, out;
};

/// Whether `call` writes a + b into out, by the interpreter's bits.
bool adds(const AddOperands& operands, const std::function<void()>& call);

/// Of benchmarks whose operands take long to make, whatever is asked for of the others.
inline constexpr int num_large_repetitions = 5;

/// Eight contiguous floats.
AddOperands add8();
/// Thirty million contiguous floats.
AddOperands add_large();
/// Contiguous, of the 4-D shape of add4d().
AddOperands add4d_contiguous();
/// 4-D: a permuted to channels_last, b expanded from a value a channel, out contiguous.
AddOperands add4d();

}  // namespace weft::bench
