// The walk in tiles: blocks of threads turn rectangles in shared memory, so that every operand is
// accessed along the loop that it is dense along.
//
// A group is V neighbours along the loop around the innermost (the rows), which is how a transposed
// operand lies in memory.  A tile has R groups of rows, and C times V columns.  Threads that are
// neighbours move neighbouring groups of a column, and keep those of column V * c + j in row
// j * C + c of the shared tile, so that threads that read the groups of V * c + j for one j read
// neighbouring rows, whose padding spreads them over the banks.  A thread then holds squares of V
// by V items, and moves the other operands' V neighbours along the columns.  Where tiles are small,
// a block takes several along the loop around both.
#include "jit/nvrtc/body.h"
#include "jit/nvrtc/operators.h"

#include <algorithm>

namespace weft::jit::nvrtc {
namespace {

using ir::Kernel;

class TilesEmitter {
 public:
  TilesEmitter(Source& source, const Kernel& kernel, const Variant& variant)
      : source_(source),
        kernel_(kernel),
        variant_(variant),
        shape_(variant.tile),
        items_(variant.items),
        num_groups_(shape_.num_squares() * items_),
        groups_a_thread_(quotient_up(num_groups_, threads_per_block)),
        squares_a_thread_(quotient_up(shape_.num_squares(), threads_per_block)),
        body_(kernel, false) {}

  void run() {
    source_.open("extern \"C\" __global__ void __launch_bounds__(", threads_per_block,
                 ") weft_kernel(const __grid_constant__ Args args)");
    source_.line("alignas(16) __shared__ u8 shared_bytes[", shared_bytes(), "];");
    body_.emit(source_, Body::Level::kernel, {}, {});
    source_.open("for (Index tile = blockIdx.x; tile < Index(args.work); tile += gridDim.x)");
    emit_position();
    for (std::size_t k = 0; k < kernel_.operands.size(); ++k)
      if (is_loaded(kernel_, k)) emit_load(k);
    for (std::size_t k = 0; k < kernel_.operands.size(); ++k)
      if (is_output(k)) source_.line(squares_type(k), " y", k, squares_extents());
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
  std::string squares_type(std::size_t k) const {
    return std::string(memory_type(kernel_.operands[k].dtype));
  }
  /// Of a thread's squares.
  std::string squares_extents() const {
    return detail::concat("[", squares_a_thread_, "][", items_, "][", items_, "];");
  }
  std::string group_type(std::size_t k) const {
    return detail::concat("Vector<", squares_type(k), ", ", items_, ">");
  }
  SharedTile shared(std::size_t k) const {
    return shared_tile(static_cast<int>(itemsize_bytes(kernel_.operands[k].dtype)), items_, shape_);
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
    source_.line("Index column, row, batch;");
    source_.line("i64 offset[", kernel_.operands.size(), "];");
    source_.line("locate(args, tile, column, row, batch, offset);");
    const auto extent = [&](const char* name, const char* all, const char* first, int step) {
      source_.line("const u32 ", name, " = args.", all, " - ", first, " < ", step, " ? u32(args.",
                   all, " - ", first, ") : ", step, "u;");
    };
    extent("columns", "inner", "column", loop_step(kernel_, variant_, inner()));
    extent("rows", "rows", "row", loop_step(kernel_, variant_, inner() - 1));
    if (shape_.batch > 1) extent("batches", "batches", "batch", shape_.batch);
  }

  /// Where an item is.  Threads beyond an edge load what others do, so that only stores ask.
  std::string address(std::size_t k, const std::string& row, const std::string& column) const {
    std::string sum = detail::concat("args.base[", k, "] + offset[", k, "] + stepped(Index(", row,
                                     "), ", stride(inner() - 1, k), ") + stepped(Index(", column,
                                     "), ", stride(inner(), k), ")");
    if (shape_.batch > 1)
      sum += detail::concat(" + stepped(Index(b < batches ? b : batches - 1), ",
                            stride(inner() - 2, k), ")");
    return sum;
  }

  /// `number` taken apart into an index of so many neighbours, one of tiles, and the rest.
  void emit_indices(const std::string& number, const char* near, int count, const char* far) {
    source_.line("const u32 ", near, " = ", number, " % ", count, "u;");
    if (shape_.batch > 1)
      source_.line("const u32 b = ", number, " / ", count, "u % ", shape_.batch, "u;");
    source_.line("const u32 ", far, " = ", number, " / ", count * shape_.batch, "u;");
  }

  /// A name for the number of the thread, read again for each phase.
  std::string read_thread() {
    const std::string name = detail::concat("thread", ++num_thread_reads_);
    source_.line("const u32 ", name, " = thread_again();");
    return name;
  }

  void open_shared(std::size_t k) {
    source_.open();
    source_.line(group_type(k), " (*shared)[", shared(k).row_groups, "] = (", group_type(k),
                 " (*)[", shared(k).row_groups, "])shared_bytes;");
  }

  /// Row of the shared tile that holds a thread's part of a column.
  std::string shared_row(const std::string& in_group, const std::string& column_group) const {
    std::string row = in_group;
    if (shape_.batch > 1) row = detail::concat("(b * ", items_, "u + ", row, ")");
    return detail::concat(row, " * ", shape_.column_groups, "u + ", column_group);
  }

  /// Calls `write` for each group of a transposed operand that a thread moves, number i of them.
  template <class Write>
  void for_groups(const Write& write) {
    const std::string thread = read_thread();
    source_.open_unrolled("i", groups_a_thread_);
    source_.line("const u32 g = i * ", threads_per_block, "u + ", thread, ";");
    if (num_groups_ % threads_per_block != 0)
      source_.line("if (g >= ", num_groups_, "u) continue;");
    emit_indices("g", "row_group", shape_.row_groups, "c");
    write(detail::concat(
        "shared[",
        shared_row(detail::concat("c % ", items_, "u"), detail::concat("c / ", items_, "u")),
        "][row_group]"));
    source_.close();
  }

  void emit_row_of_group() { source_.line("const u32 r = row_group * ", items_, "u;"); }

  /// Calls `write` for the thread's squares, number s of them, with the condition for those beyond
  /// the last, which are the last again; it is empty if there are none.
  template <class Write>
  void for_squares(const Write& write) {
    const int count = shape_.num_squares();
    const std::string thread = read_thread();
    source_.open_unrolled("s", squares_a_thread_);
    source_.line("const u32 q = s * ", threads_per_block, "u + ", thread, ";");
    const bool is_whole = count % threads_per_block == 0;
    if (!is_whole) source_.line("const u32 square = q < ", count, "u ? q : ", count - 1, "u;");
    emit_indices(is_whole ? "q" : "square", "column_group", shape_.column_groups, "row_group");
    write(is_whole ? std::string() : detail::concat("q >= ", count, "u"));
    source_.close();
  }
  std::string shared_of_square() const {
    return detail::concat("shared[", shared_row("vc", "column_group"), "][row_group]");
  }
  std::string beyond_batches() const { return shape_.batch > 1 ? " || b >= batches" : ""; }

  void emit_load(std::size_t k) {
    source_.line(squares_type(k), " x", k, squares_extents());
    if (!is_turned(k)) return emit_rows_of(k, false);
    source_.open();
    // All on the way before the first is waited for.
    source_.line(group_type(k), " group[", groups_a_thread_, "];");
    for_groups([&](const std::string&) {
      emit_row_of_group();
      source_.line("group[i] = ", group("load", k), "<", group_type(k), ">(",
                   address(k, "r < rows ? r : 0", "c < columns ? c : columns - 1"), ");");
    });
    source_.line("__syncthreads();");
    open_shared(k);
    for_groups([&](const std::string& shared) { source_.line("store(&", shared, ", group[i]);"); });
    source_.close();
    source_.close();
    source_.line("__syncthreads();");
    open_shared(k);
    for_squares([&](const std::string&) {
      source_.open_unrolled("vc", items_);
      source_.line("const ", group_type(k), " group = load<", group_type(k), ">(&",
                   shared_of_square(), ");");
      source_.open_unrolled("vr", items_);
      source_.line("x", k, "[s][vr][vc] = group.item[vr];");
      source_.close();
      source_.close();
    });
    source_.close();
  }

  void emit_store(std::size_t k) {
    if (!is_turned(k)) return emit_rows_of(k, true);
    source_.line("__syncthreads();");
    open_shared(k);
    for_squares([&](const std::string& is_beyond) {
      if (!is_beyond.empty()) source_.line("if (", is_beyond, ") continue;");
      source_.open_unrolled("vc", items_);
      source_.line(group_type(k), " group;");
      source_.open_unrolled("vr", items_);
      source_.line("group.item[vr] = y", k, "[s][vr][vc];");
      source_.close();
      source_.line("store(&", shared_of_square(), ", group);");
      source_.close();
    });
    source_.line("__syncthreads();");
    for_groups([&](const std::string& shared) {
      emit_row_of_group();
      source_.line("if (r >= rows || c >= columns", beyond_batches(), ") continue;");
      source_.line(group("store", k), "(", address(k, "r", "c"), ", load<", group_type(k), ">(&",
                   shared, "));");
    });
    source_.close();
  }

  /// The rows of the thread's squares, to or from an operand that is not transposed.
  void emit_rows_of(std::size_t k, bool stores) {
    for_squares([&](const std::string& is_beyond) {
      source_.line("const u32 c = column_group * ", items_, "u;");
      source_.open_unrolled("vr", items_);
      source_.line("const u32 r = row_group * ", items_, "u + vr;");
      if (stores)
        source_.line("if (", is_beyond, is_beyond.empty() ? "" : " || ",
                     "r >= rows || c >= columns", beyond_batches(), ") continue;");
      source_.line("u8* const at = ", address(k, "r < rows ? r : rows - 1", "c < columns ? c : 0"),
                   ";");
      emit_row_of(k, stores);
      source_.close();
    });
  }

  void emit_row_of(std::size_t k, bool stores) {
    const bool is_wide = items_ > 1 && is_dense(kernel_.operands[k]);
    const std::string item = detail::concat(stores ? "y" : "x", k, "[s][vr][vc]");
    const std::string at = detail::concat("at + stepped(Index(vc), ", stride(inner(), k), ")");
    if (is_wide && stores) source_.line(group_type(k), " part;");
    if (is_wide && !stores)
      source_.line("const ", group_type(k), " part = load<", group_type(k), ">(at);");
    source_.open_unrolled("vc", items_);
    if (is_wide)
      source_.line(stores ? "part.item[vc]" : item, " = ", stores ? item : "part.item[vc]", ";");
    else if (stores)
      source_.line(element("store", k), "(", at, ", ", item, ");");
    else
      source_.line(item, " = ", element("load", k), "<", squares_type(k), ">(", at, ");");
    source_.close();
    if (is_wide && stores) source_.line("store(at, part);");
  }

  void emit_compute() {
    source_.open_unrolled("s", squares_a_thread_);
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
  TileShape shape_;
  int items_;
  int num_groups_;  ///< of a transposed operand's part in a block's tiles
  int groups_a_thread_, squares_a_thread_;
  int num_thread_reads_ = 0;
  Body body_;
};

}  // namespace

void emit_tiles(Source& source, const Kernel& kernel, const Variant& variant) {
  TilesEmitter(source, kernel, variant).run();
}

}  // namespace weft::jit::nvrtc
