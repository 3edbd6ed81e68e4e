// Kernel IR as text, for people and tests: run passes on it, and run it.  The text form is
// described in docs/ir.md.
#pragma once

#include <weft/tensor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] weft {

/// The passes in the order of the pipeline.
std::vector<std::string> ir_pass_names();

/// The kernel after `passes`, in the order given; "all" stands for the pipeline.  With
/// `prints_after` the kernel after each pass, each after a line "; PASS" or "; PASS: unchanged".
///
/// Errors: ArgumentError on text that doesn't parse, a kernel that is not valid (the message lists
///         every violation) and unknown passes.
std::string run_ir_passes(std::string_view text, const std::vector<std::string>& passes,
                          bool prints_after = false);

struct IrRunOptions {
  std::string backend = "interp";     ///< auto, interp, xbyak or llvm
  std::vector<std::int64_t> extents;  ///< one a loop, outermost first; empty: some
  std::uint64_t seed = 1;             ///< of the inputs and parameters
};

struct IrRun {
  std::string backend;                ///< that ran it
  std::vector<std::int64_t> extents;  ///< that it ran with
  std::vector<Tensor> outputs;        ///< contiguous, of these sizes but 1 along reduce loops
  std::string difference;             ///< the first from the interpreter's results; empty: none
};

/// Runs a kernel on generated data.  A kernel that is not scheduled goes through the passes first.
/// Strides that the text leaves open are chosen so that no two elements of an operand coincide.
///
/// Errors: those of run_ir_passes(); ArgumentError on extents that don't fit the loops or let an
///         output be written twice; UnsupportedError if the backend is not usable or refuses the
///         kernel.
IrRun run_ir(std::string_view text, const IrRunOptions& options);

}  // namespace weft
