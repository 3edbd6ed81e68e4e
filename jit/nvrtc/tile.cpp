// The walk in tiles: blocks of threads turn squares in shared memory, so that every operand is
// accessed along the loop that it is dense along.
//
// A tile has 32 V by 32 V items.  A group is V neighbours along the loop around the innermost (the
// rows), which is how a transposed operand lies in memory: lane l of a warp moves group l of one
// column.  Column V * l + j is kept in row j * 32 + l of the shared tile, so that lanes that read
// the groups of V * l + j for one j read 32 neighbouring rows, whose padding spreads them over the
// banks.  A thread then holds squares of V by V items, and moves the other operands' V neighbours
// along the columns.
#include "jit/nvrtc/body.h"
#include "jit/nvrtc/operators.h"

#include <algorithm>

namespace weft::jit::nvrtc {
namespace {

using ir::Kernel;

constexpr int steps = warp_size / warps_per_block;  ///< groups of rows that a warp handles

class TilesEmitter {
 public:
  TilesEmitter(Source& source, const Kernel& kernel, const Variant& variant)
      : source_(source),
        kernel_(kernel),
        variant_(variant),
        items_(variant.items),
        body_(kernel, false) {}

  void run() {
    source_.open("extern \"C\" __global__ void __launch_bounds__(", threads_per_block,
                 ") weft_kernel(const __grid_constant__ Args args)");
    source_.line("alignas(16) __shared__ u8 shared_bytes[", shared_bytes(), "];");
    source_.line("const u32 lane = threadIdx.x % 32u, warp = threadIdx.x / 32u;");
    body_.emit(source_, Body::Level::kernel, {}, {});
    source_.open("for (Index tile = blockIdx.x; tile < Index(args.work); tile += gridDim.x)");
    emit_position();
    for (std::size_t k = 0; k < kernel_.operands.size(); ++k)
      if (is_loaded(kernel_, k)) emit_load(k);
    for (std::size_t k = 0; k < kernel_.operands.size(); ++k)
      if (is_output(k))
        source_.line(element_type(k), " y", k, "[", steps, "][", items_, "][", items_, "];");
    emit_compute();
    for (std::size_t k = 0; k < kernel_.operands.size(); ++k)
      if (is_output(k)) emit_store(k);
    source_.close();
    source_.close();
  }

 private:
  bool is_output(std::size_t k) const { return kernel_.operands[k].role == ir::Role::output; }
  bool is_turned(std::size_t k) const { return ir::is_transposed(kernel_.operands[k]); }
  std::size_t inner() const { return kernel_.loops.size() - 1; }
  std::string element_type(std::size_t k) const {
    return std::string(memory_type(kernel_.operands[k].dtype));
  }
  std::string group_type(std::size_t k) const {
    return detail::concat("Vector<", element_type(k), ", ", items_, ">");
  }
  SharedTile shared(std::size_t k) const {
    return shared_tile(static_cast<int>(itemsize_bytes(kernel_.operands[k].dtype)), variant_);
  }
  int shared_bytes() const {
    int most = 16;
    for (std::size_t k = 0; k < kernel_.operands.size(); ++k)
      if (is_turned(k)) most = std::max(most, shared(k).size_bytes());
    return most;
  }
  std::string element(const char* access, std::size_t k) const {
    return element_access(access, kernel_, variant_, k);
  }
  /// What moves groups in memory; a group of one is an element.
  std::string group(const char* access, std::size_t k) const {
    return items_ == 1 ? element(access, k) : access;
  }
  std::string stride(std::size_t loop, std::size_t k) const {
    return stride_text(kernel_, loop, k);
  }

  void emit_position() {
    source_.line("Index column, row;");
    source_.line("i64 offset[", kernel_.operands.size(), "];");
    source_.line("locate(args, tile, column, row, offset);");
    const int side = tile_side(variant_);
    source_.line("const u32 columns = args.inner - column < ", side,
                 " ? u32(args.inner - column) : ", side, "u;");
    source_.line("const u32 rows = args.rows - row < ", side, " ? u32(args.rows - row) : ", side,
                 "u;");
    // Lanes and warps beyond an edge load what others do, so that only stores ask where they are;
    // addresses that depend on the tile's edges take no registers from one tile to the next.
    source_.line("const u32 lane_item = lane * ", items_, "u;");
    source_.line("const u32 lane_row = lane_item < rows ? lane_item : 0;");
    source_.line("const u32 lane_column = lane_item < columns ? lane_item : 0;");
  }

  void open_shared(std::size_t k) {
    source_.line(group_type(k), " (*shared)[", shared(k).row_groups, "] = (", group_type(k),
                 " (*)[", shared(k).row_groups, "])shared_bytes;");
  }

  /// Calls `write` with where the thread's groups are in the shared tile of a transposed operand;
  /// `at` is where they are in memory.  Warps take columns, lanes groups of rows.
  template <class Write>
  void for_groups(std::size_t k, bool stores, const Write& write) {
    source_.open_unrolled("i", steps * items_);
    source_.line("const u32 c = i * ", warps_per_block, "u + warp;");
    if (stores) source_.line("if (c >= columns || lane_item >= rows) continue;");
    source_.line("u8* const at = args.base[", k, "] + offset[", k,
                 "] + stepped(Index(c < columns ? c : columns - 1), ", stride(inner(), k),
                 ") + stepped(Index(lane_row), ", stride(inner() - 1, k), ");");
    write(items_ == 1
              ? std::string("shared[c][lane]")
              : detail::concat("shared[c % ", items_, "u * 32u + c / ", items_, "u][lane]"));
    source_.close();
  }

  /// Calls `write` with where the thread's squares are in the shared tile.
  template <class Write>
  void for_squares(const Write& write) {
    source_.open_unrolled("s", steps);
    source_.open_unrolled("vc", items_);
    write("shared[vc * 32u + lane][s * " + std::to_string(warps_per_block) + "u + warp]");
    source_.close();
    source_.close();
  }

  void emit_load(std::size_t k) {
    source_.line(element_type(k), " x", k, "[", steps, "][", items_, "][", items_, "];");
    if (!is_turned(k)) return emit_rows_of(k, false);
    source_.line("__syncthreads();");
    source_.open("");
    open_shared(k);
    for_groups(k, false, [&](const std::string& shared) {
      source_.line("store(&", shared, ", ", group("load", k), "<", group_type(k), ">(at));");
    });
    source_.line("__syncthreads();");
    for_squares([&](const std::string& shared) {
      source_.line("const ", group_type(k), " group = load<", group_type(k), ">(&", shared, ");");
      source_.open_unrolled("vr", items_);
      source_.line("x", k, "[s][vr][vc] = group.item[vr];");
      source_.close();
    });
    source_.close();
  }

  void emit_store(std::size_t k) {
    if (!is_turned(k)) return emit_rows_of(k, true);
    source_.line("__syncthreads();");
    source_.open("");
    open_shared(k);
    for_squares([&](const std::string& shared) {
      source_.line(group_type(k), " group;");
      source_.open_unrolled("vr", items_);
      source_.line("group.item[vr] = y", k, "[s][vr][vc];");
      source_.close();
      source_.line("store(&", shared, ", group);");
    });
    source_.line("__syncthreads();");
    for_groups(k, true, [&](const std::string& shared) {
      source_.line(group("store", k), "(at, load<", group_type(k), ">(&", shared, "));");
    });
    source_.close();
  }

  /// The rows of the thread's squares, to or from an operand that is not transposed.
  void emit_rows_of(std::size_t k, bool stores) {
    open_rows();
    if (stores) source_.line("if (r >= rows || lane_item >= columns) continue;");
    source_.line("u8* const at = args.base[", k, "] + offset[", k,
                 "] + stepped(Index(r < rows ? r : rows - 1), ", stride(inner() - 1, k),
                 ") + stepped(Index(lane_column), ", stride(inner(), k), ");");
    const bool is_wide = items_ > 1 && is_dense(kernel_.operands[k]);
    const std::string square = detail::concat(stores ? "y" : "x", k, "[s][vr][vc]");
    const std::string address = detail::concat("at + stepped(Index(vc), ", stride(inner(), k), ")");
    if (is_wide && stores) source_.line(group_type(k), " part;");
    if (is_wide && !stores)
      source_.line("const ", group_type(k), " part = load<", group_type(k), ">(at);");
    source_.open_unrolled("vc", items_);
    if (is_wide)
      source_.line(stores ? "part.item[vc]" : square, " = ", stores ? square : "part.item[vc]",
                   ";");
    else if (stores)
      source_.line(element("store", k), "(", address, ", ", square, ");");
    else
      source_.line(square, " = ", element("load", k), "<", element_type(k), ">(", address, ");");
    source_.close();
    if (is_wide && stores) source_.line("store(at, part);");
    close_rows();
  }

  void open_rows() {
    source_.open_unrolled("s", steps);
    source_.open_unrolled("vr", items_);
    source_.line("const u32 r = (s * ", warps_per_block, "u + warp) * ", items_, "u + vr;");
  }
  void close_rows() {
    source_.close();
    source_.close();
  }

  void emit_compute() {
    source_.open_unrolled("s", steps);
    source_.open_unrolled("vr", items_);
    source_.open_unrolled("vc", items_);
    body_.emit(
        source_, Body::Level::item,
        [](std::size_t k) { return detail::concat("x", k, "[s][vr][vc]"); },
        [&](std::size_t k, const std::string& element) {
          source_.line("y", k, "[s][vr][vc] = ", element, ";");
        });
    source_.close();
    source_.close();
    source_.close();
  }

  Source& source_;
  const Kernel& kernel_;
  const Variant& variant_;
  int items_;
  Body body_;
};

}  // namespace

void emit_tiles(Source& source, const Kernel& kernel, const Variant& variant) {
  TilesEmitter(source, kernel, variant).run();
}

}  // namespace weft::jit::nvrtc
