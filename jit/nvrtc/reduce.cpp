// The walk of kernels that reduce (reduce.h).
#include "jit/nvrtc/reduce.h"

#include "jit/nvrtc/walk_emitter.h"

#include <string>

namespace weft::jit::nvrtc {
namespace {

using ir::Kernel;

class ReductionEmitter : WalkEmitter {
 public:
  ReductionEmitter(Source& source, const Kernel& kernel, const Variant& variant)
      : WalkEmitter(source, kernel, variant, sets_of(kernel, variant).items,
                    sets_of(kernel, variant).items),
        sets_(sets_of(kernel, variant)) {
    name_number("lanes", kernel.tree.lanes);
    name_number("block", kernel.tree.block);
    name_number("step_lanes", steps_at_once() * kernel.tree.lanes);
    name_number("half", kernel.tree.lanes / sets_.items / 2);
    name_number("level_bytes", warps_per_block * sets_.size_bytes);
    name_number("pending_bytes", sets_.levels * warps_per_block * sets_.size_bytes);
  }

  void run() {
    emit_arguments();
    emit_partials();
    emit_locate_set();
    emit_locate_row();
    if (is_inner_)
      emit_leaf_of_rows();
    else
      emit_leaf_of_columns();
    emit_results();
    emit_subtree();
    emit_kernel();
  }

 private:
  void open_leaf() {
    write(
        R"(__device__ __forceinline__ void fold_leaf(const Args& args, const i64 (&set)[$operands],
Index leaf, u32 lane, Partials& sums) {)");
    body_.emit(source_, Body::Level::kernel, {}, {});
  }
  /// Rows, or a part of one, along the lanes of a warp.  Steps beyond the last read the first
  /// again, so that nothing stands between the loads.
  void emit_leaf_of_rows() {
    open_leaf();
    if (kernel_.tree.lanes < warp_size) write("if (lane >= $lanes) return;");
    write(R"(const Index whole_rows = quotient(leaf, args.parts);
const Index begin = (leaf - whole_rows * Index(args.parts.divisor)) * $block;
const Index left = Index(args.inner) - begin;
const Index end = begin + (left < $block ? left : $block);
const Index whole = end - (end - begin) % $lanes;
const Index first_row = whole_rows * Index(args.leaf_rows), leaf_rows = Index(args.leaf_rows);
const Index more_rows = Index(args.rows) - first_row;
const Index num_rows = more_rows < leaf_rows ? more_rows : leaf_rows;
for (Index row = first_row; row < first_row + num_rows; ++row) {
  i64 offset[$operands];
  locate_row(args, set, row, offset);)");
    body_.emit(source_, Body::Level::vector,
               [&](std::size_t k) {
                 return filled("$load<$element>(args.base[$k] + offset[$k])", {k, inner_});
               },
               {});
    write("for (Index first = begin; first < whole; first += $step_lanes) {");
    declare_loads();
    write(R"(#pragma unroll
for (int u = 0; u < $steps; ++u) {
  const Index step = first + u * $lanes;
  const Index at = (step < whole ? step : first) + lane * $items;)");
    emit_loads();
    write(R"(}
#pragma unroll
for (int u = 0; u < $steps; ++u) {
  if (first + u * $lanes >= whole) continue;)");
    emit_items(true, [&](std::size_t k) { return loaded(k); });
    write("}\n}");
    emit_items(false, [&](std::size_t k) { return loaded_at(k); });
    write("}\n}");
  }
  /// Combines the items of a step, or those at the end of a row that make no step.
  void emit_items(bool is_whole, const Body::Load& load) {
    open_items();
    if (!is_whole) write("const Index at = whole + lane * $items + j;\nif (at >= end) continue;");
    body_.emit(source_, Body::Level::item, load, [&](std::size_t k, const std::string& value) {
      emit_combine(k, item(k, "sums", "j"), value);
    });
    write("}");
  }

  /// Rows across a strip of columns.
  void emit_leaf_of_columns() {
    open_leaf();
    write(R"(const Index first_row = leaf * $block;
const Index left = Index(args.rows) - first_row;
const Index end = first_row + (left < $block ? left : $block);)");
    open_rows_of_columns("first_row");
    const auto load = [&](std::size_t k) { return loaded(k); };
    emit_items(true, load);
    write("}\n}\n}");
  }

  /// From a set to elements of the outputs.
  void emit_results() {
    write(R"(__device__ __forceinline__ void finish(const Args& args, const i64 (&set)[$operands],
u32 lane, Index column, Partials& sums) {)");
    if (is_inner_) {
      emit_halves();
      write_for_outputs("if (lane == 0) $store(args.base[$k] + set[$k], sums.y$k.item[0]);");
    } else {
      write("if (column >= Index(args.inner)) return;");
      for (std::size_t o = 0; o < num_outputs_; ++o)
        write(is_grouped(o) ? "store(args.base[$k] + set[$k], sums.y$k);" :
                            R"(#pragma unroll
for (int j = 0; j < $items; ++j) {
  $store(args.base[$k] + set[$k] + stepped(Index(j), $stride), sums.y$k.item[j]);
})",
              o);
    }
    write("}");
  }

  /// Lane i is combined with lane i + width: lanes of other threads, then a thread's own.
  void emit_halves() {
    write("for (u32 apart = $half; apart > 0; apart /= 2) {\nPartials more;");
    emit_from_lane("more", "LaneAfter", "sums", "apart");
    write("combine(sums, more);\n}");
    for (int width = sets_.items / 2; width > 0; width /= 2)
      for (int j = 0; j < width; ++j)
        for (std::size_t o = 0; o < num_outputs_; ++o)
          emit_combine(o, item(o, "sums", std::to_string(j)),
                       item(o, "sums", std::to_string(j + width)));
  }

  /// The leaves [begin, end) of a set by one warp.  Pending are the trees of the digits of the
  /// number of leaves so far; a thread reads back what it wrote itself.
  void emit_subtree() {
    write(R"(// What is pending comes before what there is.
__device__ __forceinline__ void take_in(const u8* place, u32 lane, Partials& sums) {
  Partials before;
  get(place, lane, before);
  combine(before, sums);
  sums = before;
}
__device__ __forceinline__ void fold_subtree(const Args& args, const i64 (&set)[$operands],
Index at, Index begin, Index end, u8* pending, u32 lane, Partials& sums) {
  for (Index leaf = begin; leaf < end; ++leaf) {
    if (args.from != 0) {
      get(args.from + (i64(at) * i64(args.leaves) + i64(leaf)) * $set_bytes, lane, sums);
    } else {
      clear(sums);
      fold_leaf(args, set, leaf, lane, sums);
    }
    u8* place = pending;
    for (Index digits = leaf - begin; (digits & 1) != 0; digits >>= 1) {
      take_in(place, lane, sums);
      place += $level_bytes;
    }
    put(place, lane, sums);
  }
  Index digits = end - begin;
  u8* place = pending;
  for (; (digits & 1) == 0; digits >>= 1) place += $level_bytes;
  get(place, lane, sums);
  while ((digits >>= 1) != 0) {
    place += $level_bytes;
    if ((digits & 1) != 0) take_in(place, lane, sums);
  }
})");
  }

  /// Where a warp has a unit to itself, none waits for another.
  void emit_kernel() {
    open_units("alignas(16) __shared__ u8 pending[$pending_bytes];");
    write(R"(const Index leaves = Index(args.leaves), share = Index(args.warp_leaves);
const Index begin = (chunk * warps + warp % warps) * share;
const Index end = begin + share < leaves ? begin + share : leaves;
Partials sums;
u8* const own = pending + warp * $set_bytes;
if (begin < end) fold_subtree(args, set, at, begin, end, own, lane, sums);
if (warps > 1) {
  if (begin < end) put(own, lane, sums);
  __syncthreads();
  if (warp == 0) {
    const Index shares = (leaves - begin + share - 1) / share;
    const u32 count = shares < warps ? u32(shares) : warps;
    for (u32 apart = 1; apart < count; apart *= 2) {
      for (u32 i = 0; i + apart < count; i += 2 * apart) {
        Partials more;
        get(pending + i * $set_bytes, lane, sums);
        get(pending + (i + apart) * $set_bytes, lane, more);
        combine(sums, more);
        put(pending + i * $set_bytes, lane, sums);
      }
    }
    get(pending, lane, sums);
  }
}
if (warps == 1 || warp == 0) {
  if (args.to != 0) {
    put(args.to + i64(unit) * $set_bytes, lane, sums);
  } else {
    finish(args, set, lane, column, sums);
  }
}
if (warps > 1) __syncthreads();
}
})");
  }

  Sets sets_;
};

}  // namespace

void emit_reduction(Source& source, const Kernel& kernel, const Variant& variant) {
  ReductionEmitter(source, kernel, variant).run();
}

}  // namespace weft::jit::nvrtc
