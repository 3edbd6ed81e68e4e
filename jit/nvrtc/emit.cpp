// The walk along rows: linear, strided and scalar schedules.  A thread has several vectors on the
// way at once, a block's width apart, so that neighbouring threads access neighbouring vectors.
#include "jit/nvrtc/emit.h"

#include "ir/text.h"
#include "jit/nvrtc/body.h"
#include "jit/nvrtc/operators.h"
#include "jit/nvrtc/reduce.h"

#include <algorithm>
#include <bit>

namespace weft::jit::nvrtc {
namespace {

using ir::Kernel;
using ir::Schedule;

constexpr int widest_access_bytes = 16;

/// Bytes of the widest (narrowest) operand that is moved.
int extreme_itemsize(const Kernel& kernel, bool wants_widest) {
  int extreme = wants_widest ? 1 : widest_access_bytes;
  for (const ir::Operand& operand : kernel.operands) {
    const auto size = static_cast<int>(itemsize_bytes(operand.dtype));
    extreme = wants_widest ? std::max(extreme, size) : std::min(extreme, size);
  }
  return extreme;
}

bool is_reversed(const ir::Operand& operand) {
  const std::size_t inner = operand.strides.size() - 1;
  return operand.strides[inner] == -1 || (inner > 0 && operand.strides[inner - 1] == -1);
}

/// The kernel's IR as a comment.
std::string comment(const Kernel& kernel) {
  std::string text = "//   ";
  for (const char c : ir::print(kernel)) {
    text += c;
    if (c == '\n') text += "//   ";
  }
  text.resize(text.find_last_of('\n') + 1);
  return text;
}

class RowsEmitter {
 public:
  RowsEmitter(Source& source, const Kernel& kernel, const Variant& variant)
      : source_(source), kernel_(kernel), variant_(variant), body_(kernel, true) {}

  void run() {
    const int unroll = vectors_in_flight(kernel_, variant_.items);
    const int stride = threads_per_block * unroll;
    source_.open("extern \"C\" __global__ void __launch_bounds__(", threads_per_block,
                 ") weft_kernel(const __grid_constant__ Args args)");
    body_.emit(source_, Body::Level::kernel, {}, {});
    source_.line("const Index work = Index(args.work), step = Index(gridDim.x) * ", stride, "u;");
    source_.open("for (Index first = Index(blockIdx.x) * ", stride,
                 "u + threadIdx.x; first < work; first += step)");
    source_.line("i64 offset[", unroll, "][", kernel_.operands.size(), "];");
    for_operands(ir::Role::input,
                 [&](std::size_t k) { source_.line(part_type(k), " x", k, "[", unroll, "];"); });
    source_.open_unrolled("u", unroll);
    emit_loads();
    source_.close();
    source_.open_unrolled("u", unroll);
    emit_stores();
    source_.close();
    source_.close();
    if (variant_.items > 1 && kernel_.loops.size() == 1) emit_rest();
    source_.close();
  }

 private:
  bool is_vector(std::size_t operand) const {
    return variant_.items > 1 && is_dense(kernel_.operands[operand]);
  }
  /// Whether a thread's items lie apart, so that it moves them one by one.
  bool is_apart(std::size_t operand) const {
    return variant_.items > 1 && !is_vector(operand) &&
           kernel_.operands[operand].strides.back() != 0;
  }
  /// Whether a thread has an item of it for each item of a vector.
  bool has_items(std::size_t operand) const { return is_vector(operand) || is_apart(operand); }
  std::string element_type(std::size_t operand) const {
    return std::string(memory_type(kernel_.operands[operand].dtype));
  }
  std::string part_type(std::size_t operand) const {
    if (!has_items(operand)) return element_type(operand);
    return detail::concat("Vector<", element_type(operand), ", ", variant_.items, ">");
  }
  std::string element(const char* access, std::size_t operand) const {
    return element_access(access, kernel_, variant_, operand);
  }
  std::string inner_stride(std::size_t operand) const {
    return stride_text(kernel_, kernel_.loops.size() - 1, operand);
  }
  std::string part(const char* access, std::size_t operand) const {
    return is_vector(operand) ? access : element(access, operand);
  }
  /// Calls `write` for all outputs, or for the inputs that are loaded.
  template <class Write>
  void for_operands(ir::Role role, const Write& write) const {
    for (std::size_t k = 0; k < kernel_.operands.size(); ++k)
      if (kernel_.operands[k].role == role && (role == ir::Role::output || is_loaded(kernel_, k)))
        write(k);
  }

  /// Nothing but stores asks whether there is so much work, so that all loads are on the way at
  /// once; those beyond the end load the last vector again.
  void emit_loads() {
    source_.line("const Index at = first + u * ", threads_per_block, "u;");
    source_.line("locate(args, at < work ? at : work - 1, offset[u]);");
    for_operands(ir::Role::input, [&](std::size_t k) {
      if (is_apart(k)) return emit_apart(k, "load");
      source_.line("x", k, "[u] = ", part("load", k), "<", part_type(k), ">(args.base[", k,
                   "] + offset[u][", k, "]);");
    });
  }

  /// A thread's items of an operand that lie apart.
  void emit_apart(std::size_t k, const char* access) {
    const std::string address = detail::concat("args.base[", k, "] + offset[u][", k,
                                               "] + stepped(Index(j), ", inner_stride(k), ")");
    source_.open_unrolled("j", variant_.items);
    if (kernel_.operands[k].role == ir::Role::output)
      source_.line(element(access, k), "(", address, ", y", k, ".item[j]);");
    else
      source_.line("x", k, "[u].item[j] = ", element(access, k), "<", element_type(k), ">(",
                   address, ");");
    source_.close();
  }

  void emit_stores() {
    const auto load = [&](std::size_t k) {
      return detail::concat("x", k, "[u]", has_items(k) ? ".item[j]" : "");
    };
    const auto store = [&](std::size_t k, const std::string& element) {
      source_.line("y", k, has_items(k) ? ".item[j]" : "", " = ", element, ";");
    };
    for_operands(ir::Role::output,
                 [&](std::size_t k) { source_.line(part_type(k), " y", k, ";"); });
    body_.emit(source_, Body::Level::vector, load, {});
    if (variant_.items > 1) source_.open_unrolled("j", variant_.items);
    body_.emit(source_, Body::Level::item, load, store);
    if (variant_.items > 1) source_.close();
    source_.line("if (first + u * ", threads_per_block, "u >= work) continue;");
    for_operands(ir::Role::output, [&](std::size_t k) {
      if (is_apart(k)) return emit_apart(k, "store");
      source_.line(part("store", k), "(args.base[", k, "] + offset[u][", k, "], y", k, ");");
    });
  }

  /// The items of a row that fill no vector.
  void emit_rest() {
    source_.line("const Index rest = work * ", variant_.items, "u + threadIdx.x;");
    source_.open("if (blockIdx.x == 0 && rest < Index(args.inner))");
    const auto address = [&](std::size_t k) {
      return detail::concat("args.base[", k, "] + stepped(rest, ", inner_stride(k), ")");
    };
    const auto load = [&](std::size_t k) {
      return detail::concat(element("load", k), "<", element_type(k), ">(", address(k), ")");
    };
    const auto store = [&](std::size_t k, const std::string& value) {
      source_.line(element("store", k), "(", address(k), ", ", element_type(k), "(", value, "));");
    };
    body_.emit(source_, Body::Level::vector, load, {});
    body_.emit(source_, Body::Level::item, load, store);
    source_.close();
  }

  Source& source_;
  const Kernel& kernel_;
  const Variant& variant_;
  Body body_;
};

}  // namespace

std::string text(const Variant& variant) {
  const TileShape& tile = variant.tile;
  return detail::concat(variant.items, " items, ", variant.index_bits, "-bit indices",
                        variant.halves ? ", in halves" : "",
                        tile == TileShape()
                            ? std::string()
                            : detail::concat(", tiles of ", tile.row_groups, " x ",
                                             tile.column_groups, " x ", tile.batch));
}

namespace {

/// Bytes of a thread's operands, and instructions, that fit its registers and compile in time.
constexpr std::size_t most_thread_bytes = 256, most_thread_instructions = 512;

/// Whether code for so many items at once fits a thread.
bool fits_thread(const Kernel& kernel, std::size_t items) {
  std::size_t item_bytes = 0;
  for (const ir::Operand& operand : kernel.operands) item_bytes += itemsize_bytes(operand.dtype);
  return items * item_bytes <= most_thread_bytes &&
         items * kernel.body.size() <= most_thread_instructions;
}

}  // namespace

int vectors_in_flight(const Kernel& kernel, int items) {
  // Enough that a thread stores 16 bytes.  More would keep it longer, so that fewer warps begin
  // while it waits (docs/decisions/cuda.md).
  int narrowest = widest_access_bytes;
  for (const ir::Operand& operand : kernel.operands)
    if (operand.role == ir::Role::output)
      narrowest = std::min(narrowest, static_cast<int>(itemsize_bytes(operand.dtype)));
  int count = std::clamp(widest_access_bytes / (narrowest * items), 1, 4);
  if (kernel.schedule == Schedule::strided) count = 4;  // lanes share what they load
  while (count > 1 && !fits_thread(kernel, static_cast<std::size_t>(count * items))) count /= 2;
  return count;
}

int most_items(const Kernel& kernel) {
  const int widest = extreme_itemsize(kernel, true);
  if (std::ranges::any_of(kernel.operands, is_reversed)) return 1;
  if (reduces_or_scans(kernel)) return most_accumulated_items(kernel);
  constexpr int most_tile_items = 8;
  const bool is_tile = kernel.schedule == Schedule::tile;
  const bool has_vectors = std::ranges::any_of(kernel.operands, is_dense);
  int items = 1;
  if (is_tile)
    items = std::min(widest_access_bytes / widest, most_tile_items);
  else if (kernel.schedule != Schedule::scalar && has_vectors)
    items = widest_access_bytes / widest;
  const auto copies = [&] { return static_cast<std::size_t>(is_tile ? items * items : items); };
  while (items > 1 && !fits_thread(kernel, copies())) items /= 2;
  return items;
}

int loop_step(const Kernel& kernel, const Variant& variant, std::size_t loop) {
  const std::size_t from_inner = kernel.loops.size() - 1 - loop;
  if (kernel.schedule != Schedule::tile) return from_inner == 0 ? variant.items : 1;
  switch (from_inner) {
    case 0: return variant.items * variant.tile.column_groups;
    case 1: return variant.items * variant.tile.row_groups;
    case 2: return variant.tile.batch;
    default: return 1;
  }
}

TileShape choose_tile(const Kernel& kernel, int items, std::uint64_t rows, std::uint64_t columns,
                      std::uint64_t batches) {
  const int item_bytes = extreme_itemsize(kernel, true);
  // A thread that loads fewer than 32 bytes has too little on the way, one that turns many
  // squares lets others wait; of single bytes runs have to be longer (docs/decisions/cuda.md).
  const int least_bytes = item_bytes == 1 ? 128 : 32;
  int squares_a_thread = std::clamp(least_bytes / (items * items * item_bytes), 1, 16);
  while (squares_a_thread > 1 &&
         !fits_thread(kernel, static_cast<std::size_t>(squares_a_thread * items * items)))
    squares_a_thread /= 2;
  int row_groups = 16, column_groups = 16;
  for (int factor = squares_a_thread; factor > 1; factor /= 2)
    (row_groups <= column_groups ? row_groups : column_groups) *= 2;
  const int num_squares = row_groups * column_groups;
  // Short sides are what they are, and others, or more tiles, fill the block.
  const auto groups = [&](std::uint64_t extent) {
    const auto count = static_cast<std::uint64_t>(items);
    return static_cast<int>(std::clamp<std::uint64_t>((extent + count - 1) / count, 1, 256));
  };
  const int all_rows = groups(rows), all_columns = groups(columns);
  const auto longer = [&](int other) {
    return static_cast<int>(std::bit_floor(static_cast<unsigned>(num_squares / other)));
  };
  if (all_rows < row_groups) column_groups = longer(row_groups = all_rows);
  if (all_columns < column_groups) {
    column_groups = all_columns;
    row_groups = std::min(all_rows, std::max(row_groups, longer(column_groups)));
  }
  TileShape shape{row_groups, column_groups, 1};
  const auto fits = [&] {
    constexpr int most_shared_bytes = 48 << 10;
    return shared_tile(item_bytes, items, shape).size_bytes() <= most_shared_bytes;
  };
  while (!fits() && shape.column_groups > 1) shape.column_groups /= 2;
  while (!fits() && shape.row_groups > 1) shape.row_groups /= 2;
  const auto most = static_cast<std::uint64_t>(num_squares / shape.num_squares());
  if (kernel.loops.size() > 2 && most > 1 && batches > 1) {
    // As many each time, rather than many and a rest.
    const std::uint64_t times = (batches + most - 1) / most;
    shape.batch = static_cast<int>((batches + times - 1) / times);
    while (!fits() && shape.batch > 1) --shape.batch;
  }
  return shape;
}

SharedTile shared_tile(int item_bytes, int items, const TileShape& shape) {
  // From one row to the next an odd number of banks, or of groups that are wider.
  const int group_bytes = item_bytes * items;
  const int unit = std::max(1, 4 / group_bytes);
  const int row_groups = ((shape.row_groups + unit - 1) / unit | 1) * unit;
  return {group_bytes, row_groups, shape.column_groups * items * shape.batch};
}

void emit_rows(Source& source, const Kernel& kernel, const Variant& variant) {
  RowsEmitter(source, kernel, variant).run();
}

std::string emit_source(const Kernel& kernel, const Variant& variant) {
  Source code;
  if (ir::is_reduction(kernel)) {
    emit_reduction(code, kernel, variant);
  } else if (ir::is_scan(kernel)) {
    emit_scan(code, kernel, variant);
  } else {
    emit_arguments(code, kernel, variant);
    emit_locate(code, kernel, variant);
    if (kernel.schedule == Schedule::tile)
      emit_tiles(code, kernel, variant);
    else
      emit_rows(code, kernel, variant);
  }
  return detail::concat("// Items at once: ", variant.items, ".  The kernel that this computes:\n",
                        comment(kernel), prelude_for(code.text()), "\n", code.text());
}

}  // namespace weft::jit::nvrtc
