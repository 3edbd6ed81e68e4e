// The LLVM tier: what it refuses, and the way of a kernel through the module.  No LLVM header here.

#include "jit/llvm/backend.h"

#include "ir/text.h"
#include "jit/complex_parts.h"
#include "jit/fold/reduction.h"
#include "jit/llvm/code_version.h"
#include "jit/llvm/object.h"
#include "jit/llvm/support.h"

#include <weft/error.h>

#include <algorithm>
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

std::string refuses_whole(const ir::Kernel& kernel, const Target& target) {
  if (target.features.isa == Isa::generic) return "the target lacks AVX2";
  for (ir::ValueId id = 0; id < kernel.body.size(); ++id) {
    const ir::Inst& inst = kernel.body[id];
    if (is_complex(inst.dtype)) return refuse(kernel, id, "is complex");
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
  if (ir::is_reduction(kernel) && ir::has_complex(kernel)) return "complex numbers are reduced";
  return refuses_parts(kernel, target, refuses_whole(kernel, target),
                       [&](const ir::Kernel& parts) { return refuses_whole(parts, target); });
}

using Bytes = std::span<const std::byte>;

Bytes bytes(std::string_view view) { return std::as_bytes(std::span(view.data(), view.size())); }

WeftLlvmRequest request(std::string_view kernel, const Target& target) {
  WeftLlvmRequest request{};
  request.kernel = text(kernel);
  request.isa = static_cast<std::uint8_t>(target.features.isa);
  request.avx512_vbmi = target.features.avx512_vbmi;
  request.avx512_bf16 = target.features.avx512_bf16;
  request.avx512_fp16 = target.features.avx512_fp16;
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
std::string cache_key(std::string_view kernel, const Target& target) {
  const WeftLlvmRequest asked = request(kernel, target);
  return detail::concat("llvm object; code ", code_version, "; LLVM ", llvm_version(), "; isa ",
                        name(target.features.isa), "; vbmi ", int{asked.avx512_vbmi}, "; bf16 ",
                        int{asked.avx512_bf16}, "; fp16 ", int{asked.avx512_fp16},
                        text_of(target.shape), "\n", kernel);
}

/// An object file and what it lives in.
struct Object {
  Bytes bytes;
  WeftLlvmResult result;
  std::shared_ptr<const void> owner;
};

Object compile_object(std::string_view kernel, const Target& target) {
  std::string reason;
  const LlvmModule* module = llvm_module(reason);
  WEFT_CHECK(module != nullptr, CompileError, "llvm: ", reason);
  const WeftLlvmRequest asked = request(kernel, target);
  Object object{};
  module->compile(&asked, &object.result);
  object.owner = std::shared_ptr<const void>(object.result.owner, module->release);
  WEFT_CHECK(object.result.error.size == 0, CompileError, "llvm: ", text(object.result.error));
  object.bytes = bytes({object.result.object.data, object.result.object.size});
  return object;
}

std::shared_ptr<CodeObject> code_of(Bytes object) {
  LoadedObject loaded = load_object(object);
  auto code = std::make_shared<CodeObject>();
  code->backend = "llvm";
  code->entry = reinterpret_cast<KernelFunction>(const_cast<void*>(loaded.entry));
  code->rows = reinterpret_cast<KernelFunction>(const_cast<void*>(loaded.rows));
  code->memory = std::move(loaded.memory);
  code->code_bytes = loaded.size_bytes;
  code->instruction_bytes = loaded.instruction_bytes;
  return code;
}

bool uses_disk(const Target& target) {
  return target.disk != nullptr && target.run && !target.keep_texts;
}

/// CacheMode::check: whether an object is what LLVM makes now.
DiskCache::Verdict check(std::string_view kernel, Bytes object, const Target& target) {
  try {
    if (std::ranges::equal(compile_object(kernel, target).bytes, object)) return {};
    return {DiskCache::Outcome::outdated,
            detail::concat("is not what LLVM makes now of\n", kernel)};
  } catch (const Error& error) {
    return {DiskCache::Outcome::unusable, detail::concat("can't be checked: ", error.what())};
  }
}

/// Says that code lies on the disk.
void mark_as_stored(CodeObject& code, std::string_view key, const Target& target) {
  code.forget_on_disk = [disk = target.disk, key = std::string(key)] { disk->remove(bytes(key)); };
}

/// Makes `code` of an object from the disk.
DiskCache::Verdict use(Bytes object, std::shared_ptr<CodeObject>& code) {
  try {
    code = code_of(object);
    code->is_from_disk = true;
    return {};
  } catch (const CompileError& error) {  // or it calls what this machine does not have
    return {DiskCache::Outcome::damaged, detail::concat("can't be loaded: ", error.what())};
  } catch (const DeviceError& error) {  // no code memory
    return {DiskCache::Outcome::unusable, detail::concat("can't be loaded: ", error.what())};
  }
}

/// Null if the disk has no code for the key that can be used, or other code than is made now.
std::shared_ptr<CodeObject> load(std::string_view kernel, std::string_view key,
                                 const Target& target, DiskCache::Ask ask) {
  std::shared_ptr<CodeObject> code;
  const auto use_or_check = [&](Bytes object) {
    if (target.disk->options().mode == CacheMode::check)
      if (DiskCache::Verdict verdict = check(kernel, object, target);
          verdict.outcome != DiskCache::Outcome::used)
        return verdict;
    return use(object, code);
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
  const std::string kernel_text = ir::print(kernel);
  if (uses_disk(target))
    if (auto code = load(kernel_text, cache_key(kernel_text, target), target, ask))
      return with_tree(kernel, std::move(code));
  const Object object = compile_object(kernel_text, target);
  auto code = std::make_shared<CodeObject>();
  if (target.run) code = code_of(object.bytes);
  if (uses_disk(target)) {
    const std::string key = cache_key(kernel_text, target);  // with the version that made it
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
  if (!ir::has_complex(kernel)) return make(kernel);
  return compile_parts(kernel, ir::split_complex(kernel), make);
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
    const std::string kernel_text = ir::print(reals);
    return with_tree(
        reals, load(kernel_text, cache_key(kernel_text, target), target, DiskCache::Ask::first));
  });
}

std::shared_ptr<const CodeObject> compile_missed_llvm_code(const ir::Kernel& kernel,
                                                           const Target& target) {
  return compile(kernel, target, DiskCache::Ask::again);
}

}  // namespace weft::jit
