// The backend's two functions: what it refuses, and how it compiles.
#include "jit/xbyak/backend.h"

#include "ir/pass.h"
#include "jit/bf16.h"
#include "jit/complex_parts.h"
#include "jit/disassemble.h"
#include "jit/fold/reduction.h"
#include "jit/xbyak/calls.h"
#include "jit/xbyak/emit.h"
#include "jit/xbyak/reduce.h"
#include "jit/xbyak/tile.h"
#include "runtime/exec_memory.h"
#include "runtime/thread_owned.h"

#include <weft/error.h>
#include <weft/parallel.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

namespace weft::jit {
namespace {

using namespace xbyak;

constexpr std::size_t max_buffer_bytes = std::size_t{16} << 20;

bool is_moved(Op op) {
  return op == Op::load || op == Op::store || op == Op::accumulate || op == Op::constant ||
         op == Op::param;
}

bool is_refused(const ir::Kernel& kernel, const ir::Inst& inst, const CpuFeatures& features) {
  if (is_moved(inst.op)) return itemsize_bytes(inst.dtype) > 8;
  if (bf16_rounding::is_cast(kernel, inst)) return !features.avx512_bf16;
  return !has_row(kernel, inst, features.isa) && !has_call(kernel, inst);
}

std::string describe(const ir::Kernel& kernel, ir::ValueId id) {
  const ir::Inst& inst = kernel.body[id];
  const bool converts = inst.op == Op::cast || inst.op == Op::bitcast;
  const std::string_view from = converts ? name(result_dtype(kernel.body[inst.args[0]])) : "";
  return detail::concat("%", id, ": ", name(inst.op), " ", from, converts ? " to " : "",
                        name(inst.dtype), " has no row");
}

std::string refuses_whole(const ir::Kernel& kernel, const Target& target) {
  const int widest = target.vector_bytes();
  if (widest == 0) return "the target has neither AVX2 nor AVX-512";
  const bool is_reduction = ir::is_reduction(kernel);
  if (kernel.schedule != ir::Schedule::linear && kernel.schedule != ir::Schedule::strided &&
      kernel.schedule != ir::Schedule::tile && !is_reduction)
    return "the schedule is " + std::string(name(kernel.schedule)) +
           ", not linear, strided or tile";
  if (kernel.vector_bytes != widest ||
      (kernel.loops.back().kind != ir::LoopKind::vector && !is_reduction))
    return "the kernel is not vectorised for " + std::to_string(widest) + "-byte registers";
  if (kernel.operands.size() > ir::max_launch_operands)
    return std::to_string(kernel.operands.size()) + " operands are more than " +
           std::to_string(ir::max_launch_operands);
  if (ir::has_places(kernel)) return "places are loaded or accumulated";
  if (tiles::is_transposing_copy(kernel)) return {};
  for (const ir::Operand& operand : kernel.operands)
    if (itemsize_bytes(operand.dtype) > 8)
      return "items of " + std::string(name(operand.dtype)) + " are too wide";
  const int lanes = kernel.loops.back().lanes;
  if (lanes < 4) return "fewer than 4 lanes";
  std::size_t item_bytes = 1;
  for (const ir::Inst& inst : kernel.body)
    item_bytes =
        std::max({item_bytes, itemsize_bytes(inst.dtype), itemsize_bytes(ir::result_dtype(inst))});
  if (!std::has_single_bit(static_cast<unsigned>(lanes)) ||
      item_bytes * static_cast<std::size_t>(lanes) > static_cast<std::size_t>(widest))
    return detail::concat("vectors of ", lanes, " lanes are no registers");
  for (ir::ValueId id = 0; id < kernel.body.size(); ++id)
    if (is_refused(kernel, kernel.body[id], target.features)) return describe(kernel, id);
  return is_reduction ? refuses_reduction(kernel, target.features.isa) : std::string();
}

struct FreeBuffer {
  void operator()(std::byte* buffer) const { std::free(buffer); }
};

/// Where code is emitted before it is published; each thread keeps one, as large as it ever needed.
class Buffer {
 public:
  std::span<std::byte> get(std::size_t size_bytes) {
    if (size_bytes > size_bytes_) {
      memory_.reset(static_cast<std::byte*>(std::aligned_alloc(64, size_bytes)));
      size_bytes_ = memory_ != nullptr ? size_bytes : 0;
      if (memory_ == nullptr) throw CompileError("No memory for a buffer to emit code in.");
    }
    return {memory_.get(), size_bytes_};
  }
  std::size_t size_bytes() const { return size_bytes_; }

 private:
  std::unique_ptr<std::byte, FreeBuffer> memory_;
  std::size_t size_bytes_ = 0;
};

/// Runs `emit` with an assembler over the thread's buffer, and again over a larger one until there
/// is room for the code.
///
/// Errors: CompileError without memory, Xbyak::Error for what is no matter of room.
void emit_into_buffer(const Target& target, FunctionRef<void(Assembler&)> emit) {
  Buffer own;
  Buffer* const kept = thread_owned<Buffer>();
  Buffer& buffer = kept != nullptr ? *kept : own;
  std::size_t size_bytes = std::max<std::size_t>(buffer.size_bytes(), 32 << 10);
  for (;;) {
    try {
      const std::span<std::byte> memory = buffer.get(size_bytes);
      Assembler code(memory, (memory.size() / 4) & ~std::size_t{63}, target.features);
      return emit(code);
    } catch (const Xbyak::Error& error) {
      if (static_cast<int>(error) != Xbyak::ERR_CODE_IS_TOO_BIG || size_bytes >= max_buffer_bytes)
        throw;
      size_bytes *= 2;
    }
  }
}

std::shared_ptr<const CodeObject> publish(const Assembler& code, const ir::Kernel& kernel,
                                          const Target& target) {
  const std::span<const std::byte> blob = code.blob();
  CodeBlock block = allocate_code(blob.size());
  std::memcpy(block.write, blob.data(), blob.size());
  auto object = std::make_shared<CodeObject>();
  // POSIX allows the conversion of an object pointer to a function pointer that C++ leaves open.
  object->entry = reinterpret_cast<KernelFunction>(
      reinterpret_cast<std::uintptr_t>(block.run + code.code_offset()));
  object->memory = std::move(block.owner);
  object->backend = "xbyak";
  object->code_bytes = blob.size();
  object->instruction_bytes = blob.size() - code.code_offset();
  if (target.keep_texts)
    object->texts["asm"] =
        annotate(disassemble(blob.subspan(code.code_offset())), kernel, code.marks());
  return object;
}

/// The code together with the context that it points to.
std::shared_ptr<const CodeObject> publish_tile(const Assembler& code, const ir::Kernel& kernel,
                                               const Target& target,
                                               std::shared_ptr<tiles::TileCode> tile) {
  const auto object = std::make_shared<CodeObject>(*publish(code, kernel, target));
  tile->code = reinterpret_cast<const std::byte*>(object->entry);
  object->walks_in_blocks = true;
  using Owners = std::pair<std::shared_ptr<const void>, std::shared_ptr<const tiles::TileCode>>;
  object->memory = std::make_shared<const Owners>(object->memory, std::move(tile));
  return object;
}

/// The code as what folds leaves.
std::shared_ptr<const CodeObject> publish_leaf(const Assembler& code, const ir::Kernel& kernel,
                                               const Target& target, std::size_t rows_at) {
  CodeObject object = *publish(code, kernel, target);
  object.leaf = object.entry;
  if (rows_at != 0)
    object.rows =
        reinterpret_cast<KernelFunction>(reinterpret_cast<std::uintptr_t>(object.entry) + rows_at);
  return reduction_code(kernel, object);
}

/// Whether there is code for rows that are each a leaf (CodeObject::rows).
bool reduces_to_results(const ir::Kernel& kernel, const Target& target) {
  return ir::reduces_rows(kernel) && holds_whole_tree(kernel, target.features.isa);
}

std::shared_ptr<const CodeObject> emit_whole_tile(Assembler& code, const ir::Kernel& kernel,
                                                  const Target& target, bool may_fuse) {
  auto tile = std::make_shared<tiles::TileCode>();
  tiles::set_thresholds(*tile, target.features);
  emit_tile(code, kernel, *tile, may_fuse);
  return publish_tile(code, kernel, target, std::move(tile));
}

std::shared_ptr<const CodeObject> compile_tile(const ir::Kernel& kernel, const Target& target) {
  std::shared_ptr<const CodeObject> object;
  const auto emit = [&](bool may_fuse) {
    emit_into_buffer(target, [&](Assembler& code) {
      if (target.keep_texts) code.keep_marks();
      object = emit_whole_tile(code, kernel, target, may_fuse);
    });
  };
  try {
    emit(true);
  } catch (const NoRegister&) {  // of a long body, such as a division of integers
    emit(false);
  }
  return object;
}

/// Null if the code turned out to need the frame that it was to do without.
std::shared_ptr<const CodeObject> emit(Assembler& code, const ir::Kernel& kernel,
                                       const Target& target, bool with_frame) {
  emit_kernel(code, kernel, with_frame);
  if (!with_frame && code.frame_bytes() != 0) return nullptr;
  if (ir::is_reduction(kernel)) {
    if (!reduces_to_results(kernel, target)) return publish_leaf(code, kernel, target, 0);
    code.align(32);
    const std::size_t rows_at = code.getSize();
    emit_rows(code, kernel);
    return publish_leaf(code, kernel, target, rows_at);
  }
  return publish(code, kernel, target);
}

std::shared_ptr<const CodeObject> compile_whole(const ir::Kernel& kernel, const Target& target) {
  std::shared_ptr<const CodeObject> object;
  bool with_frame = needs_frame(kernel, target.features);
  try {
    if (kernel.schedule == ir::Schedule::tile) return compile_tile(kernel, target);
    while (object == nullptr) {
      emit_into_buffer(target, [&](Assembler& code) {
        if (target.keep_texts) code.keep_marks();
        object = emit(code, kernel, target, with_frame);
      });
      with_frame = true;  // where there is none yet, a value had to be spilled after all
    }
  } catch (const Xbyak::Error& error) {
    throw CompileError(std::string("The xbyak backend failed: ") + error.what() + ".");
  }
  return object;
}

/// Whether emitting a reduction finds no register for a value.
bool lacks_registers(const ir::Kernel& kernel, const Target& target) {
  try {
    emit_into_buffer(target, [&](Assembler& code) {
      emit_kernel(code, kernel, true);
      if (reduces_to_results(kernel, target)) emit_rows(code, kernel);
    });
    return false;
  } catch (const NoRegister&) {
    return true;
  }
}

/// Whether complex values go through calls, which cost more than computing in parts.
bool calls_for_complex(const ir::Kernel& kernel, const Target& target) {
  return std::ranges::any_of(kernel.body, [&](const ir::Inst& inst) {
    const bool is_real = !is_complex(inst.dtype) && !is_complex(ir::result_dtype(inst));
    return !is_real && !is_moved(inst.op) && !has_row(kernel, inst, target.features.isa);
  });
}

std::string refuses(const ir::Kernel& kernel, const Target& target) {
  if (ir::is_scan(kernel)) return "a loop scans";
  if (ir::is_reduction(kernel)) {
    if (ir::has_complex(kernel)) return "complex numbers are reduced";
    const std::string reason = refuses_whole(kernel, target);
    const bool is_refused = reason.empty() && may_lack_registers(kernel, target.features.isa) &&
                            lacks_registers(kernel, target);
    return is_refused ? "values find no registers beside the partial results" : reason;
  }
  return refuses_parts(kernel, target, refuses_whole(kernel, target),
                       [&](const ir::Kernel& parts) { return refuses_whole(parts, target); });
}

bool makes_bf16(const ir::Kernel& kernel) {
  return std::ranges::any_of(kernel.body, [](const ir::Inst& inst) {
    return inst.op == Op::bitcast && inst.dtype == DType::bf16;
  });
}

std::shared_ptr<const CodeObject> compile(const ir::Kernel& kernel, const Target& target) {
  const auto compile_real = [&](const ir::Kernel& reals) {
    if (!target.features.avx512_bf16 || !makes_bf16(reals)) return compile_whole(reals, target);
    ir::Kernel native = reals;
    ir::restore_bf16_casts(native);
    return compile_whole(native, target);
  };
  if (!ir::has_complex(kernel)) return compile_real(kernel);
  const bool is_whole = refuses_whole(kernel, target).empty();
  if (is_whole && !calls_for_complex(kernel, target)) return compile_real(kernel);
  const ir::SplitKernel split = parts_of(kernel);
  const bool is_better_split =
      !split.has_functions && split.reason.empty() && refuses_whole(split.kernel, target).empty();
  return is_better_split || !is_whole ? compile_parts(kernel, split, compile_real)
                                      : compile_real(kernel);
}

constexpr Backend backend{"xbyak", refuses, compile};

}  // namespace

const Backend& xbyak_backend() { return backend; }

bool xbyak_calls_functions(const ir::Kernel& kernel, const Target& target) {
  return std::ranges::any_of(kernel.body, [&](const ir::Inst& inst) {
    return !is_moved(inst.op) && !has_row(kernel, inst, target.features.isa);
  });
}

bool xbyak_converts_one_by_one(const ir::Kernel& kernel, const Target& target) {
  const auto is_wide = [](DType dtype) {
    return is_integral(dtype) && (itemsize_bytes(dtype) == 8 || dtype == DType::u32);
  };
  return target.features.isa != Isa::avx512 &&
         std::ranges::any_of(kernel.body, [&](const ir::Inst& inst) {
           if (inst.op != Op::cast) return false;
           const DType from = result_dtype(kernel.body[inst.args[0]]);
           return (is_wide(from) && is_floating(inst.dtype)) ||
                  (is_floating(from) && is_wide(inst.dtype));
         });
}

}  // namespace weft::jit
