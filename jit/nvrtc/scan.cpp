// The walk of kernels that scan: rows or columns in chunks, each by a warp, or a chunk of a row by
// all warps of a block (reduce_launch.cpp divides).
#include "jit/nvrtc/operators.h"
#include "jit/nvrtc/reduce.h"
#include "jit/nvrtc/walk_emitter.h"

#include <string>

namespace weft::jit::nvrtc {
namespace {

using ir::Kernel;

class ScanEmitter : WalkEmitter {
 public:
  ScanEmitter(Source& source, const Kernel& kernel, const Variant& variant)
      : WalkEmitter(source, kernel, variant, scanned_items(kernel, variant),
                    kept_scan_items(kernel, variant)) {}

  void run() {
    emit_arguments();
    emit_partials();
    emit_locate_set();
    if (is_inner_) {
      emit_before_row();
      emit_row_loads();
      emit_tile();
      emit_rows();
    } else {
      emit_locate_row();
      emit_columns();
    }
  }

 private:
  /// What is written of the output's partial result `kept`.
  std::string written(const std::string& kept) const {
    return cast_text(kept, kept_dtype(accumulate_of(kernel_, 0)), kernel_.operands[0].dtype);
  }
  void open_unit() {
    open_units();
    write(
        R"(const Index extent = Index(args.rows), size = Index(args.warp_leaves), begin = chunk * size;
const Index end = extent - begin < size ? extent : begin + size;
Partials so_far;
clear(so_far);)");
  }

  /// The totals of the chunks of a row before one of them: some by each lane, in order.
  void emit_before_row() {
    write(R"(__device__ __forceinline__ void find_total(const Args& args, Index first, Index chunk,
u32 lane, Partials& sums) {
const Index share = (chunk + 31) / 32;
const Index begin = lane * share, end = begin + share < chunk ? begin + share : chunk;
for (Index i = begin; i < end; ++i) {
const Index unit = first + i;
Partials more;
get(args.from + i64(unit / 32) * $set_bytes, unit % 32, more);
combine(sums, more);
}
for (u32 apart = 1; apart < 32; apart *= 2) {
Partials more;)");
    emit_from_lane("more", "LaneAfter", "sums", "apart");
    write("combine(sums, more);\n}");
    emit_from_lane("sums", "OneLane", "sums", "0");
    write("}");
  }
  /// The elements of a thread, in groups where all of one are there.
  void emit_row_loads() {
    write("struct Elements {");
    for (std::size_t k = num_outputs_; k < num_operands_; ++k) write("$element x$k[$items];", k);
    write(R"(};
__device__ __forceinline__ void load_row(const Args& args, const i64 (&offset)[$operands], Index at,
Index end, Elements& row) {
if (at + $items <= end) {)");
    for (std::size_t k = num_outputs_; k < num_operands_; ++k)
      write(is_grouped(k) ? R"(#pragma unroll
for (int g = 0; g < $groups; ++g) {
const $group part = load<$group>(args.base[$k] + offset[$k] + stepped(at + g * $group_items, $stride));
#pragma unroll
for (int j = 0; j < $group_items; ++j) row.x$k[g * $group_items + j] = part.item[j];
})"
                          :
                          R"(#pragma unroll
for (int j = 0; j < $items; ++j)
row.x$k[j] = $load<$element>(args.base[$k] + offset[$k] + stepped(at + j, $stride));)",
            k);
    write(R"(} else {
#pragma unroll
for (int j = 0; j < $items; ++j) {)");
    for (std::size_t k = num_outputs_; k < num_operands_; ++k)
      write(R"(row.x$k[j] = $element();
if (at + j < end) row.x$k[j] = $load<$element>(args.base[$k] + offset[$k] + stepped(at + j, $stride));)",
            k);
    write("}\n}\n}");
  }

  /// From what comes before a warp's elements, and from what of them a thread has, to what comes
  /// before the thread's and to the total.
  void emit_tile() {
    write(R"(__device__ __forceinline__ void scan_warps(u8* totals, u32 warps, u32 warp, u32 lane,
const Partials& sum, Partials& before, Partials& total) {
Partials scanned = sum;
for (u32 apart = 1; apart < 32; apart *= 2) {
Partials other;)");
    emit_from_lane("other", "LaneBefore", "scanned", "apart");
    write("combine(other, scanned);\nif (lane >= apart) scanned = other;\n}");
    emit_from_lane("before", "LaneBefore", "scanned", "1");
    write("if (lane == 0) clear(before);");
    emit_from_lane("total", "OneLane", "scanned", "31");
    write(R"(if (warps == 1) return;
if (lane == 31) put(totals, warp, scanned);
__syncthreads();
Partials ahead;
clear(ahead);
clear(total);
for (u32 i = 0; i < $warps; ++i) {
Partials more;
get(totals, i, more);
if (i < warp) combine(ahead, more);
combine(total, more);
}
__syncthreads();
combine(ahead, before);
before = ahead;
})");
  }

  void emit_rows() {
    open_unit();
    write(R"(alignas(16) __shared__ u8 totals[$set_bytes];
if (args.from != 0) find_total(args, unit - chunk, chunk, lane, so_far);
for (Index tile = begin; tile < end; tile += warps * $strip) {
const Index at = tile + (warp % warps) * $strip + lane * $items;
Elements row;
load_row(args, set, at, end, row);
Partials run[$items], sum, before, total;
clear(sum);)");
    const auto load = [&](std::size_t k) { return filled("row.x$k[j]", {k, inner_}); };
    body_.emit(source_, Body::Level::kernel, {}, {});
    body_.emit(source_, Body::Level::vector,
               [&](std::size_t k) {
                 return filled("row.x$k[0]", {k, inner_});
               },
               {});
    open_items();
    body_.emit(source_, Body::Level::item, load, [&](std::size_t k, const std::string& value) {
      write("if (at + j < end) {");
      emit_combine(k, item(k, "sum", "0"), value);
      write("}");
    });
    write(R"(run[j] = sum;
}
scan_warps(totals, warps, warp, lane, sum, before, total);
if (args.to == 0) {
Partials ahead = so_far;
combine(ahead, before);)");
    write(is_grouped(0) ? "$group y[$groups];" : "");
    open_items();
    write("Partials result = ahead;\ncombine(result, run[j]);");
    write("const $element element = " + written("result.y0.item[0]") + ";");
    if (is_grouped(0)) {
      write("y[j / $group_items].item[j % $group_items] = element;");
      write(
          "if (at + $items > end && at + j < end) "
          "$store(args.base[0] + set[0] + stepped(at + j, $stride), element);");
      write(R"(}
if (at + $items <= end) {
#pragma unroll
for (int g = 0; g < $groups; ++g)
store(args.base[0] + set[0] + stepped(at + g * $group_items, $stride), y[g]);
})");
    } else {
      write(
          "if (at + j < end) $store(args.base[0] + set[0] + stepped(at + j, $stride), "
          "element);\n}");
    }
    write(R"(}
combine(so_far, total);
}
if (args.to != 0 && lane == 0 && warp % warps == 0)
put(args.to + i64(unit / 32) * $set_bytes, unit % 32, so_far);
}
})");
  }

  void emit_columns() {
    open_unit();
    write(R"(if (args.from != 0)
for (Index i = unit - chunk; i < unit; ++i) {
Partials more;
get(args.from + i64(i) * $set_bytes, lane, more);
combine(so_far, more);
})");
    body_.emit(source_, Body::Level::kernel, {}, {});
    open_rows_of_columns("begin");
    const auto load = [&](std::size_t k) { return loaded(k); };
    const std::string scan_stride = stride_text(kernel_, num_kept_, 0);
    write("const i64 to = set[0] + stepped(row + u, " + scan_stride + ");");
    write(is_grouped(0) ? "$group y;" : "");
    open_items();
    body_.emit(source_, Body::Level::item, load, [&](std::size_t k, const std::string& value) {
      emit_combine(k, item(k, "so_far", "j"), value);
    });
    write("const $element element = " + written("so_far.y0.item[j]") + ";");
    write(is_grouped(0)
              ? "y.item[j] = element;\n}\nif (args.to == 0 && column < Index(args.inner)) "
                "store(args.base[0] + to, y);"
              :
              R"(if (args.to == 0 && column + j < Index(args.inner))
$store(args.base[0] + to + stepped(Index(j), $stride), element);
})");
    write(R"(}
}
if (args.to != 0) put(args.to + i64(unit) * $set_bytes, lane, so_far);
}
})");
  }
};

}  // namespace

void emit_scan(Source& source, const Kernel& kernel, const Variant& variant) {
  ScanEmitter(source, kernel, variant).run();
}

}  // namespace weft::jit::nvrtc
