#include "jit/llvm/builder.h"

#include <weft/error.h>

#include <llvm/IR/InlineAsm.h>

namespace weft::jit {
namespace {

std::string feature_text(const CpuFeatures& features) {
  std::string text = "+sse4.2,+popcnt,+avx,+avx2,+fma,+f16c,+bmi,+bmi2,+lzcnt";
  if (features.amd_family >= zen3_family) text += ",+prfchw";
  if (features.isa != Isa::avx512) return text;
  text += ",+avx512f,+avx512bw,+avx512dq,+avx512vl,+avx512cd";
  if (features.avx512_vbmi) text += ",+avx512vbmi";
  if (features.avx512_bf16) text += ",+avx512bf16";
  return text;
}

}  // namespace

llvm::Type* Builder::element_type(DType dtype) {
  switch (dtype) {
    case DType::boolean: return getInt1Ty();
    case DType::f32: return getFloatTy();
    case DType::f64: return getDoubleTy();
    default: break;
  }
  WEFT_ASSERT(!is_complex(dtype), "a value of ", name(dtype));
  return getIntNTy(static_cast<unsigned>(8 * itemsize_bytes(dtype)));
}

llvm::Type* Builder::memory_type(DType dtype) {
  return is_boolean(dtype) ? getInt8Ty() : element_type(dtype);
}

llvm::Value* keep_in_register(Builder& builder, llvm::Value* value) {
  llvm::Type* type = value->getType();
  const std::uint64_t most_bits = builder.has_avx512() ? 512 : 256;
  const std::uint64_t bits = type->getPrimitiveSizeInBits().getFixedValue();
  const bool fills_register = bits == 128 || bits == 256 || bits == 512;
  if (!type->isVectorTy() || type->getScalarSizeInBits() < 8 || !fills_register || bits > most_bits)
    return value;
  auto* function = llvm::FunctionType::get(type, {type}, false);
  const char* any_register = builder.has_avx512() ? "=v,0" : "=x,0";
  return builder.CreateCall(llvm::InlineAsm::get(function, "", any_register, false), {value});
}

llvm::Function* add_function(const CpuFeatures& features, llvm::Module& module,
                             const std::string& symbol, llvm::ArrayRef<llvm::Type*> arguments) {
  auto* type =
      llvm::FunctionType::get(llvm::Type::getVoidTy(module.getContext()), arguments, false);
  auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol, module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  // Scans keep what has accumulated on the stack, which is not to step over a guard page.
  function->addFnAttr("probe-stack", "inline-asm");
  function->addFnAttr("target-features", feature_text(features));
  const std::string width = features.isa == Isa::avx512 ? "512" : "256";
  function->addFnAttr("prefer-vector-width", width);
  function->addFnAttr("min-legal-vector-width", width);
  return function;
}

}  // namespace weft::jit
