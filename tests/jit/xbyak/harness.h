// Runs a kernel by a backend that generates code, and by the interpreter, on equal data, next to
// pages that fault.
#pragma once

#include "ir/kernel.h"
#include "jit/backend.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace weft::jit::testing {

using Random = std::mt19937_64;

/// Seed of all random choices: WEFT_SEED in the environment, or 1.
std::uint64_t seed();

Target target_for(Isa isa);
/// The targets with vectors that this machine can run.
std::vector<Isa> runnable_isas();

/// A kernel with `dtypes.size()` operands, the first of them the output, and one or more loops in
/// which every stride class is `stride`; the body is empty.
ir::Kernel make_kernel(const std::vector<DType>& dtypes, std::size_t num_loops,
                       ir::StrideClass stride = 1);
/// Loads all inputs, applies `op` and stores the result.
ir::Kernel op_kernel(Op op, DType dtype, DType result);
ir::Kernel cast_kernel(DType from, DType to);

/// The kernel after the passes, for the widest vectors of `isa`.
ir::Kernel scheduled(ir::Kernel kernel, Isa isa);

/// How often each operand's run ends (or starts) right at an inaccessible page.
enum class Placement { at_end, at_start };

struct Run {
  std::vector<std::int64_t> extents = {};
  /// Items between elements where the stride class leaves it open.
  std::int64_t open_stride = 5;
  Placement placement = Placement::at_end;
  /// [operand][loop] instead of what the stride classes leave open; empty: chosen as above.
  std::vector<std::vector<std::int64_t>> stride_bytes = {};
  /// Whether it matters which NaN a NaN is: in kernels that cast and copy, and do nothing else.
  bool compares_nans = false;
  /// Whether the compiled code is CodeObject::rows.  Requires: rows no longer than a leaf.
  bool takes_whole_rows = false;
};

/// Compiles a scheduled kernel once, and compares runs of it.
class Comparison {
 public:
  Comparison(const ir::Kernel& kernel, Isa isa) : Comparison(kernel, target_for(isa)) {}
  Comparison(const ir::Kernel& kernel, const Target& target, std::string_view backend = "xbyak");
  /// Fails the test if a run changed bytes of its memory far from the operands.
  ~Comparison();
  Comparison(const Comparison&) = delete;
  Comparison& operator=(const Comparison&) = delete;

  const std::string& refusal() const { return refusal_; }
  bool has_rows() const { return compiled_ != nullptr && compiled_->rows != nullptr; }
  /// Bytes of the outputs are equal, but for which NaN a NaN is if that is open, and those around
  /// the operands are left alone.
  ::testing::AssertionResult agree(const Run& run, Random& random) const;

 private:
  ir::Kernel kernel_;
  Isa isa_;
  std::string refusal_;
  std::shared_ptr<const CodeObject> compiled_;
  std::shared_ptr<const CodeObject> interpreted_;
};

/// Sizes around everything that happens along a loop of so many lanes.
std::vector<std::int64_t> interesting_sizes(const ir::Kernel& scheduled_kernel);

}  // namespace weft::jit::testing
