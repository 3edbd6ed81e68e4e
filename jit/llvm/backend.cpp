// The LLVM tier: what it refuses, and the way of a kernel through the module.  No LLVM header here.

#include "jit/llvm/backend.h"

#include "ir/text.h"
#include "jit/complex_parts.h"
#include "jit/fold/reduction.h"
#include "jit/llvm/code_version.h"
#include "jit/llvm/object.h"
#include "jit/llvm/support.h"
#include "jit/llvm/tile_symbols.h"

#include <weft/error.h>

#include <algorithm>
#include <bit>
#include <span>
#include <string_view>
#include <utility>

namespace weft::jit {
namespace {

WeftText text(std::string_view view) { return {view.data(), view.size()}; }
std::string text(WeftText text) { return std::string(text.data, text.size); }

std::string refuse(const ir::Kernel& kernel, ir::ValueId id, std::string_view why) {
  const ir::Inst& inst = kernel.body[id];
  return detail::concat("%", id, " ", name(inst.op), " ", name(inst.dtype), " ", why);
}

/// What is refused of an instruction that accumulates.
std::string refuses_accumulation(const ir::Kernel& kernel, ir::ValueId id) {
  const ir::Inst& inst = kernel.body[id];
  if (info(inst.combine).form == Form::composite || !has_operator(inst.combine, inst.dtype))
    return refuse(kernel, id, detail::concat("by ", name(inst.combine), " has no lowering"));
  const ir::Loop& inner = kernel.loops.back();
  const auto lanes = static_cast<std::size_t>(inner.lanes);
  // Strips of columns end in whole vectors: CodeObject::leaf has room for them.
  if (inner.kind == ir::LoopKind::vector && 64 % (lanes * itemsize_bytes(inst.dtype)) != 0)
    return refuse(kernel, id, detail::concat("of ", lanes, " columns is no part of 64 bytes"));
  return {};
}

/// Whether nothing but the size of the items matters, so that they may be of any dtype.
bool moves_items(const ir::Kernel& kernel) {
  return walks_in_tiles(kernel) && tiles::is_transposing_copy(kernel);
}

std::string refuses_whole(const ir::Kernel& kernel, const Target& target) {
  if (target.features.isa == Isa::generic) return "the target lacks AVX2";
  if (ir::has_places(kernel)) return "places are loaded or accumulated";
  if (ir::is_scan(kernel) && kernel.operands[1].role == ir::Role::output)
    return "several outputs are scanned";
  if (moves_items(kernel)) return {};
  for (ir::ValueId id = 0; id < kernel.body.size(); ++id) {
    const ir::Inst& inst = kernel.body[id];
    if (is_complex(inst.dtype)) return refuse(kernel, id, "is complex");
    if (is_call(inst.op, inst.dtype) &&
        !std::has_single_bit(static_cast<unsigned>(kernel.loops.back().lanes)))
      return refuse(kernel, id, "is a call of lanes that are no power of two");
    if (info(inst.op).form == Form::composite) return refuse(kernel, id, "is a composite op");
    if (inst.op == Op::accumulate)
      if (std::string reason = refuses_accumulation(kernel, id); !reason.empty()) return reason;
    if (inst.op == Op::cast) {
      const DType from = ir::result_dtype(kernel.body[inst.args[0]]);
      if (!has_cast(from, inst.dtype))
        return refuse(kernel, id, detail::concat("from ", name(from), " has no lowering"));
    } else if (info(inst.op).form == Form::primitive && !has_operator(inst.op, inst.dtype)) {
      return refuse(kernel, id, "has no lowering");
    }
  }
  return {};
}

std::string refuses(const ir::Kernel& kernel, const Target& target) {
  if (ir::has_complex(kernel) && ir::is_reduction(kernel)) return "complex numbers are reduced";
  if (ir::has_complex(kernel) && ir::is_scan(kernel)) return "complex numbers are scanned";
  return refuses_parts(kernel, target, refuses_whole(kernel, target),
                       [&](const ir::Kernel& parts) { return refuses_whole(parts, target); });
}

using Bytes = std::span<const std::byte>;

Bytes bytes(std::string_view view) { return std::as_bytes(std::span(view.data(), view.size())); }

/// A kernel as its text and what that leaves out.
struct Source {
  std::string kernel;
  std::uint64_t imaginary_operands = 0;  ///< a bit for each with ir::Operand::is_imaginary
};

Source source_of(const ir::Kernel& kernel) {
  Source source{ir::print(kernel)};
  for (std::size_t i = 0; i < kernel.operands.size(); ++i)
    source.imaginary_operands |= std::uint64_t{kernel.operands[i].is_imaginary} << i;
  return source;
}

WeftLlvmRequest request(const Source& source, const Target& target) {
  WeftLlvmRequest request{};
  request.kernel = text(source.kernel);
  request.imaginary_operands = source.imaginary_operands;
  request.isa = static_cast<std::uint8_t>(target.features.isa);
  request.avx512_vbmi = target.features.avx512_vbmi;
  request.avx512_bf16 = target.features.avx512_bf16;
  request.avx512_fp16 = target.features.avx512_fp16;
  request.pages_in_turn = target.features.pages_in_turn;
  request.amd_family = static_cast<std::uint8_t>(target.features.amd_family);
  request.keep_texts = target.keep_texts;
  request.num_extents = target.shape.extents.size();
  request.num_strides = target.shape.stride_bytes.size();
  request.extents = target.shape.extents.data();
  request.stride_bytes = target.shape.stride_bytes.data();
  return request;
}

/// Nothing for code that serves every shape.
std::string text_of(const LaunchShape& shape) {
  if (shape.empty()) return {};
  std::string result = "; extents";
  for (const std::int64_t extent : shape.extents) result += " " + std::to_string(extent);
  result += "; strides";
  for (const std::int64_t stride : shape.stride_bytes) result += " " + std::to_string(stride);
  return result;
}

/// Everything that the module's answer depends on: what it is asked, its sources, and its LLVM.
std::string cache_key(const Source& source, const Target& target) {
  const WeftLlvmRequest asked = request(source, target);
  return detail::concat("llvm object; code ", code_version, "; LLVM ", llvm_version(), "; isa ",
                        name(target.features.isa), "; vbmi ", int{asked.avx512_vbmi}, "; bf16 ",
                        int{asked.avx512_bf16}, "; fp16 ", int{asked.avx512_fp16}, "; pages ",
                        int{asked.pages_in_turn}, "; amd family ", int{asked.amd_family},
                        "; imaginary ", asked.imaginary_operands, text_of(target.shape), "\n",
                        source.kernel);
}

/// An object file and what it lives in.
struct Object {
  Bytes bytes;
  WeftLlvmResult result;
  std::shared_ptr<const void> owner;
};

Object compile_object(const Source& source, const Target& target) {
  std::string reason;
  const LlvmModule* module = llvm_module(reason);
  WEFT_CHECK(module != nullptr, CompileError, "llvm: ", reason);
  const WeftLlvmRequest asked = request(source, target);
  Object object{};
  module->compile(&asked, &object.result);
  object.owner = std::shared_ptr<const void>(object.result.owner, module->release);
  WEFT_CHECK(object.result.error.size == 0, CompileError, "llvm: ", text(object.result.error));
  object.bytes = bytes({object.result.object.data, object.result.object.size});
  return object;
}

/// Finds the functions of a tile kernel in its object.
class LoadedFunctions final : public tiles::Functions {
 public:
  explicit LoadedFunctions(const LoadedObject& object) : object_(object) {}

  tiles::FunctionOffset rows(tiles::RowKind kind, const ir::Kernel&) override {
    return find(tile_symbol(kind));
  }
  tiles::FunctionOffset fused_rows(tiles::RowKind kind, const ir::Kernel&) override {
    return find_if_there(tile_symbol(kind));
  }
  tiles::FunctionOffset transpose(const tiles::TransposeShape& shape) override {
    return find(tile_symbol(shape));
  }
  tiles::FunctionOffset interleave(const tiles::InterleaveShape& shape) override {
    return find(tile_symbol(shape));
  }
  tiles::FunctionOffset short_transpose(int) override { return find(short_transpose_symbol); }

 private:
  /// Errors: CompileError if it is not there.
  tiles::FunctionOffset find(const std::string& symbol) const {
    const tiles::FunctionOffset found = find_if_there(symbol);
    WEFT_CHECK(found != 0, CompileError, "the object has no ", symbol, " behind its entry");
    return found;
  }

  /// 0 if it is not.
  tiles::FunctionOffset find_if_there(const std::string& symbol) const {
    for (const auto& [name, address] : object_.others)
      if (const std::ptrdiff_t offset = address - static_cast<const std::byte*>(object_.entry);
          name == symbol && offset > 0)
        return static_cast<tiles::FunctionOffset>(offset);
    return 0;
  }

  const LoadedObject& object_;
};

/// Makes the code that of a tile kernel.
void add_tile(CodeObject& code, const LoadedObject& object, const ir::Kernel& kernel,
              const Target& target) {
  auto tile = std::make_shared<tiles::TileCode>();
  tile->code = static_cast<const std::byte*>(object.entry);
  tiles::set_thresholds(*tile, target.features);
  LoadedFunctions functions(object);
  tiles::describe_tile(kernel, target.features, functions, *tile);
  code.context = tile.get();
  code.walks_in_blocks = true;
  using Owners = std::pair<std::shared_ptr<const void>, std::shared_ptr<const tiles::TileCode>>;
  code.memory = std::make_shared<const Owners>(std::move(code.memory), std::move(tile));
}

std::shared_ptr<CodeObject> code_of(Bytes object, const ir::Kernel& kernel, const Target& target) {
  LoadedObject loaded = load_object(object);
  auto code = std::make_shared<CodeObject>();
  code->backend = "llvm";
  code->entry = reinterpret_cast<KernelFunction>(const_cast<void*>(loaded.entry));
  code->rows = reinterpret_cast<KernelFunction>(const_cast<void*>(loaded.rows));
  code->memory = loaded.memory;
  code->code_bytes = loaded.size_bytes;
  code->instruction_bytes = loaded.instruction_bytes;
  if (walks_in_tiles(kernel)) add_tile(*code, loaded, kernel, target);
  return code;
}

bool uses_disk(const Target& target) {
  return target.disk != nullptr && target.run && !target.keep_texts;
}

/// CacheMode::check: whether an object is what LLVM makes now.
DiskCache::Verdict check(const Source& source, Bytes object, const Target& target) {
  try {
    if (std::ranges::equal(compile_object(source, target).bytes, object)) return {};
    return {DiskCache::Outcome::outdated,
            detail::concat("is not what LLVM makes now of\n", source.kernel)};
  } catch (const Error& error) {
    return {DiskCache::Outcome::unusable, detail::concat("can't be checked: ", error.what())};
  }
}

/// Says that code lies on the disk.
void mark_as_stored(CodeObject& code, std::string_view key, const Target& target) {
  code.forget_on_disk = [disk = target.disk, key = std::string(key)] { disk->remove(bytes(key)); };
}

/// Makes `code` of an object from the disk.
DiskCache::Verdict use(Bytes object, const ir::Kernel& kernel, const Target& target,
                       std::shared_ptr<CodeObject>& code) {
  try {
    code = code_of(object, kernel, target);
    code->is_from_disk = true;
    return {};
  } catch (const CompileError& error) {  // or it calls what this machine does not have
    return {DiskCache::Outcome::damaged, detail::concat("can't be loaded: ", error.what())};
  } catch (const DeviceError& error) {  // no code memory
    return {DiskCache::Outcome::unusable, detail::concat("can't be loaded: ", error.what())};
  }
}

/// Null if the disk has no code for the key that can be used, or other code than is made now.
std::shared_ptr<CodeObject> load(const ir::Kernel& kernel, const Source& source,
                                 const Target& target, DiskCache::Ask ask) {
  const std::string key = cache_key(source, target);
  std::shared_ptr<CodeObject> code;
  const auto use_or_check = [&](Bytes object) {
    if (target.disk->options().mode == CacheMode::check)
      if (DiskCache::Verdict verdict = check(source, object, target);
          verdict.outcome != DiskCache::Outcome::used)
        return verdict;
    return use(object, kernel, target, code);
  };
  if (target.disk->find(bytes(key), use_or_check, ask)) mark_as_stored(*code, key, target);
  return code;
}

/// What folds leaves, as code for all of a kernel that reduces; other code as it is.  Null is none.
std::shared_ptr<const CodeObject> with_tree(const ir::Kernel& kernel,
                                            std::shared_ptr<CodeObject> code) {
  if (code == nullptr || code->entry == nullptr || !ir::is_reduction(kernel)) return code;
  code->leaf = code->entry;
  return reduction_code(kernel, *code);
}

std::shared_ptr<const CodeObject> compile_real(const ir::Kernel& kernel, const Target& target,
                                               DiskCache::Ask ask) {
  const Source source = source_of(kernel);
  if (uses_disk(target))
    if (auto code = load(kernel, source, target, ask)) return with_tree(kernel, std::move(code));
  const Object object = compile_object(source, target);
  auto code = std::make_shared<CodeObject>();
  if (target.run) code = code_of(object.bytes, kernel, target);
  if (uses_disk(target)) {
    const std::string key = cache_key(source, target);  // with the version that made it
    target.disk->store(bytes(key), object.bytes);
    mark_as_stored(*code, key, target);
  }
  code->backend = "llvm";
  if (target.keep_texts) {
    code->texts["llvm"] = text(object.result.llvm);
    code->texts["asm"] = text(object.result.assembly);
  }
  return with_tree(kernel, std::move(code));
}

/// `make` code of the kernel or, if it is of complex numbers, of its parts.
template <class Make>
std::shared_ptr<const CodeObject> of_reals(const ir::Kernel& kernel, const Make& make) {
  if (!ir::has_complex(kernel) || moves_items(kernel)) return make(kernel);
  return compile_parts(kernel, parts_of(kernel), make);
}

std::shared_ptr<const CodeObject> compile(const ir::Kernel& kernel, const Target& target,
                                          DiskCache::Ask ask) {
  return of_reals(kernel,
                  [&](const ir::Kernel& reals) { return compile_real(reals, target, ask); });
}

std::shared_ptr<const CodeObject> compile(const ir::Kernel& kernel, const Target& target) {
  return compile(kernel, target, DiskCache::Ask::first);
}

}  // namespace

const Backend& llvm_backend() {
  static constexpr Backend backend{"llvm", refuses, compile};
  return backend;
}

std::shared_ptr<const CodeObject> load_llvm_code(const ir::Kernel& kernel, const Target& target) {
  if (!uses_disk(target)) return nullptr;
  return of_reals(kernel, [&](const ir::Kernel& reals) -> std::shared_ptr<const CodeObject> {
    return with_tree(reals, load(reals, source_of(reals), target, DiskCache::Ask::first));
  });
}

std::shared_ptr<const CodeObject> compile_missed_llvm_code(const ir::Kernel& kernel,
                                                           const Target& target) {
  return compile(kernel, target, DiskCache::Ask::again);
}

}  // namespace weft::jit
