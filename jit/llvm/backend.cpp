// The LLVM tier: what it refuses, and the way of a kernel through the module.  No LLVM header here.

#include "jit/llvm/backend.h"

#include "ir/text.h"
#include "jit/llvm/support.h"

#include <weft/error.h>

#include <string_view>

namespace weft::jit {
namespace {

WeftText text(std::string_view view) { return {view.data(), view.size()}; }
std::string text(WeftText text) { return std::string(text.data, text.size); }

std::string refuse(const ir::Kernel& kernel, ir::ValueId id, std::string_view why) {
  const ir::Inst& inst = kernel.body[id];
  return detail::concat("%", id, " ", name(inst.op), " ", name(inst.dtype), " ", why);
}

std::string refuses(const ir::Kernel& kernel, const Target& target) {
  if (target.features.isa == Isa::generic) return "the target lacks AVX2";
  for (ir::ValueId id = 0; id < kernel.body.size(); ++id) {
    const ir::Inst& inst = kernel.body[id];
    if (is_complex(inst.dtype)) return refuse(kernel, id, "is complex");
    if (info(inst.op).form == Form::composite) return refuse(kernel, id, "is a composite op");
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

WeftLlvmRequest request(std::string_view kernel, const Target& target) {
  WeftLlvmRequest request{};
  request.kernel = text(kernel);
  request.isa = static_cast<std::uint8_t>(target.features.isa);
  request.avx512_vbmi = target.features.avx512_vbmi;
  request.avx512_bf16 = target.features.avx512_bf16;
  request.avx512_fp16 = target.features.avx512_fp16;
  request.keep_texts = target.keep_texts;
  request.run = target.run;
  return request;
}

std::shared_ptr<const CodeObject> compile(const ir::Kernel& kernel, const Target& target) {
  std::string reason;
  const LlvmModule* module = llvm_module(reason);
  WEFT_CHECK(module != nullptr, CompileError, "llvm: ", reason);

  const std::string kernel_text = ir::print(kernel);
  const WeftLlvmRequest asked = request(kernel_text, target);
  WeftLlvmResult result{};
  module->compile(&asked, &result);
  const std::shared_ptr<const void> owner(result.owner, module->release);
  WEFT_CHECK(result.error.size == 0, CompileError, "llvm: ", text(result.error));

  auto code = std::make_shared<CodeObject>();
  code->entry = reinterpret_cast<KernelFunction>(const_cast<void*>(result.entry));
  code->memory = owner;
  code->backend = "llvm";
  code->code_bytes = result.code_bytes;
  if (target.keep_texts) {
    code->texts["llvm"] = text(result.llvm);
    code->texts["asm"] = text(result.assembly);
  }
  return code;
}

}  // namespace

const Backend& llvm_backend() {
  static constexpr Backend backend{"llvm", refuses, compile};
  return backend;
}

}  // namespace weft::jit
