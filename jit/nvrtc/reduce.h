// Kernels that reduce or scan, as CUDA C++: how their work is divided among threads, in which what
// is emitted (reduce.cpp, scan.cpp) and what is launched (reduce_launch.cpp) agree.
//
// A warp folds a leaf: each of its threads has neighbouring lanes of the tree, or neighbouring
// columns where the innermost loop is kept.  So the partial results of a leaf, a set, lie in the
// registers of one warp, and every element comes to its partial result in the order of the tree.
// A warp goes on to a subtree of leaves, the warps of a block to the subtree of theirs.  Where that
// is not all of an output, sets go to memory, and the next launch takes them for its leaves.
//
// A scan has chunks in place of leaves.  Where there are several of a row, a first launch writes
// their totals, and a second one goes on from those before each.
#pragma once

#include "ir/kernel.h"
#include "jit/nvrtc/emit.h"

#include <cstddef>
#include <cstdint>

namespace weft::jit::nvrtc {

/// How partial results lie.
struct Sets {
  int items = 1;       ///< partial results of a thread, of each output
  int size_bytes = 0;  ///< of a set: of all outputs and all threads of a warp
  int levels = 1;      ///< sets that a warp keeps in shared memory
  /// Leaves that a warp folds one after the other.
  std::uint64_t max_warp_leaves() const { return std::uint64_t{1} << (levels - 1); }
};

/// Requires: ir::is_reduction(kernel).
Sets sets_of(const ir::Kernel& kernel, const Variant& variant);

/// Whether the innermost loop reduces or scans; else it counts columns.
inline bool is_inner_walk(const ir::Kernel& kernel) {
  const ir::LoopKind kind = kernel.loops.back().kind;
  return kind == ir::LoopKind::reduce || kind == ir::LoopKind::scan;
}
inline bool reduces_or_scans(const ir::Kernel& kernel) {
  return ir::is_reduction(kernel) || ir::is_scan(kernel);
}
/// Loops around those that reduce, or around the one that scans.
std::size_t num_kept_loops(const ir::Kernel& kernel);
/// What is accumulated into an output.
const ir::Inst& accumulate_of(const ir::Kernel& kernel, std::size_t output);
std::size_t num_outputs(const ir::Kernel& kernel);
/// What a partial result is; beside a place lies its extremum, which has the dtype of `inst`.
inline DType kept_dtype(const ir::Inst& inst) {
  return inst.op == Op::accumulate_place ? DType::i64 : inst.dtype;
}
/// The bytes of a partial result with all that lies beside it.
int kept_bytes(const ir::Inst& accumulate);

/// The most neighbours that a thread loads at once.
int most_accumulated_items(const ir::Kernel& kernel);

/// Elements of a row that a thread scans one after the other; of columns, neighbours.
int scanned_items(const ir::Kernel& kernel, const Variant& variant);
/// Partial results of a thread that go to memory: one of its part of a row, or one a column.
int kept_scan_items(const ir::Kernel& kernel, const Variant& variant);

}  // namespace weft::jit::nvrtc
