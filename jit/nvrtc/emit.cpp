// The walk along rows: linear, strided and scalar schedules.  A thread has several vectors on the
// way at once, a block's width apart, so that neighbouring threads access neighbouring vectors.
#include "jit/nvrtc/emit.h"

#include "ir/text.h"
#include "jit/nvrtc/body.h"
#include "jit/nvrtc/operators.h"
#include "jit/nvrtc/reduce.h"

#include <algorithm>

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
    const int unroll = vectors_in_flight(kernel_);
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
  std::string element_type(std::size_t operand) const {
    return std::string(memory_type(kernel_.operands[operand].dtype));
  }
  std::string part_type(std::size_t operand) const {
    if (!is_vector(operand)) return element_type(operand);
    return detail::concat("Vector<", element_type(operand), ", ", variant_.items, ">");
  }
  std::string element(const char* access, std::size_t operand) const {
    return element_access(access, kernel_, variant_, operand);
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
      source_.line("x", k, "[u] = ", part("load", k), "<", part_type(k), ">(args.base[", k,
                   "] + offset[u][", k, "]);");
    });
  }

  void emit_stores() {
    const auto load = [&](std::size_t k) {
      return detail::concat("x", k, "[u]", is_vector(k) ? ".item[j]" : "");
    };
    const auto store = [&](std::size_t k, const std::string& element) {
      source_.line("y", k, is_vector(k) ? ".item[j]" : "", " = ", element, ";");
    };
    for_operands(ir::Role::output,
                 [&](std::size_t k) { source_.line(part_type(k), " y", k, ";"); });
    body_.emit(source_, Body::Level::vector, load, {});
    if (variant_.items > 1) source_.open_unrolled("j", variant_.items);
    body_.emit(source_, Body::Level::item, load, store);
    if (variant_.items > 1) source_.close();
    source_.line("if (first + u * ", threads_per_block, "u >= work) continue;");
    for_operands(ir::Role::output, [&](std::size_t k) {
      source_.line(part("store", k), "(args.base[", k, "] + offset[u][", k, "], y", k, ");");
    });
  }

  /// The items of a row that fill no vector.
  void emit_rest() {
    source_.line("const Index rest = work * ", variant_.items, "u + threadIdx.x;");
    source_.open("if (blockIdx.x == 0 && rest < Index(args.inner))");
    const auto address = [&](std::size_t k) {
      return detail::concat("args.base[", k, "] + stepped(rest, ", stride_text(kernel_, 0, k), ")");
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
  return detail::concat(variant.items, " items, ", variant.index_bits, "-bit indices",
                        variant.halves ? ", in halves" : "");
}

int vectors_in_flight(const Kernel& kernel) {
  // As the passes have it for CPUs: short bodies leave registers for more loads.
  return kernel.schedule == Schedule::tile ? 1 : std::max(kernel.loops.back().unroll, 1);
}

namespace {

/// Whether code for so many items at once fits the registers of a thread, and compiles in time.
bool fits_thread(const Kernel& kernel, int items) {
  constexpr std::size_t most_bytes = 256, most_instructions = 512;
  const auto count = static_cast<std::size_t>(items);
  std::size_t item_bytes = 0;
  for (const ir::Operand& operand : kernel.operands) item_bytes += itemsize_bytes(operand.dtype);
  const std::size_t copies = kernel.schedule == Schedule::tile
                                 ? count * count * warp_size / warps_per_block
                                 : count * static_cast<std::size_t>(vectors_in_flight(kernel));
  return copies * item_bytes <= most_bytes && copies * kernel.body.size() <= most_instructions;
}

}  // namespace

int most_items(const Kernel& kernel) {
  const int widest = extreme_itemsize(kernel, true);
  if (std::ranges::any_of(kernel.operands, is_reversed)) return 1;
  if (reduces_or_scans(kernel)) return most_accumulated_items(kernel);
  int items = 1;
  if (kernel.schedule == Schedule::linear) items = widest_access_bytes / widest;
  // A word for a lane is enough.
  if (kernel.schedule == Schedule::tile)
    items = std::clamp(4 / extreme_itemsize(kernel, false), 1, widest_access_bytes / widest);
  while (items > 1 && !fits_thread(kernel, items)) items /= 2;
  return items;
}

SharedTile shared_tile(int item_bytes, const Variant& variant) {
  const int group_bytes = item_bytes * variant.items;
  constexpr int bank_bytes = 4;
  return {group_bytes, warp_size + std::max(1, bank_bytes / group_bytes),
          warp_size * variant.items};
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
