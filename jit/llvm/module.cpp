// The functions that libweft_llvm.so exports.  No exception leaves them.

#include "jit/llvm/module.h"

#include "ir/text.h"
#include "jit/llvm/compiler.h"
#include "jit/llvm/disassembler.h"
#include "jit/llvm/throughput.h"

#include <llvm-c/Core.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace {

using weft::jit::CompiledCode;

/// What a result's texts and code live in.
struct Owner {
  CompiledCode code;
  std::string error;
};

WeftText text(const std::string& string) { return {string.data(), string.size()}; }

/// Fills in a result with what `make` returns or throws.
template <class Function>
void guard(WeftLlvmResult* result, Function&& make) noexcept {
  *result = {};
  try {
    auto owner = std::make_unique<Owner>();
    try {
      owner->code = make();
    } catch (const std::exception& error) {
      owner->code = {};
      owner->error = error.what();
      if (owner->error.empty()) owner->error = "unknown error";
    }
    const CompiledCode& code = owner->code;
    *result = {nullptr, text(owner->error), text(code.object), text(code.llvm_text),
               text(code.assembly_text)};
    result->owner = owner.release();
  } catch (const std::bad_alloc&) {  // not even for a message
    static constexpr std::string_view message = "out of memory";
    result->error = {message.data(), message.size()};
  }
}

weft::jit::Target target_of(const WeftLlvmRequest& request) {
  weft::jit::Target target;
  target.features.isa = static_cast<weft::Isa>(request.isa);
  target.features.avx512_vbmi = request.avx512_vbmi != 0;
  target.features.avx512_bf16 = request.avx512_bf16 != 0;
  target.features.avx512_fp16 = request.avx512_fp16 != 0;
  target.features.pages_in_turn = request.pages_in_turn != 0;
  target.features.amd_family = request.amd_family;
  target.keep_texts = request.keep_texts != 0;
  target.shape.extents.assign(request.extents, request.extents + request.num_extents);
  target.shape.stride_bytes.assign(request.stride_bytes,
                                   request.stride_bytes + request.num_strides);
  return target;
}

}  // namespace

#define WEFT_EXPORT extern "C" __attribute__((visibility("default")))

WEFT_EXPORT std::uint32_t weft_llvm_get_interface() { return weft_llvm_interface; }

WEFT_EXPORT const char* weft_llvm_get_version() {
  // The library's own word: it may be another release than the headers that this was built with.
  static const auto version = [] {
    unsigned major = 0, minor = 0, patch = 0;
    LLVMGetVersion(&major, &minor, &patch);
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%u.%u.%u", major, minor, patch);
    return text;
  }();
  return version.data();
}

WEFT_EXPORT void weft_llvm_compile(const WeftLlvmRequest* request, WeftLlvmResult* result) {
  guard(result, [&] {
    weft::ir::Kernel kernel = weft::ir::parse({request->kernel.data, request->kernel.size});
    for (std::size_t i = 0; i < std::min(kernel.operands.size(), weft::ir::max_launch_operands);
         ++i)
      kernel.operands[i].is_imaginary = (request->imaginary_operands >> i & 1) != 0;
    return weft::jit::compile_with_llvm(kernel, target_of(*request));
  });
}

WEFT_EXPORT void weft_llvm_disassemble(const void* code, std::size_t size,
                                       std::uint64_t display_base, WeftLlvmResult* result) {
  guard(result, [&] {
    weft::jit::initialise_llvm();
    CompiledCode texts;
    texts.assembly_text =
        weft::jit::disassemble_x86({static_cast<const std::byte*>(code), size}, display_base);
    return texts;
  });
}

WEFT_EXPORT void weft_llvm_disassemble_function(const void* code, std::size_t size,
                                                std::size_t entry, std::uint64_t display_base,
                                                WeftLlvmResult* result) {
  guard(result, [&] {
    weft::jit::initialise_llvm();
    CompiledCode texts;
    texts.assembly_text = weft::jit::disassemble_x86_function(
        {static_cast<const std::byte*>(code), size}, entry, display_base);
    return texts;
  });
}

WEFT_EXPORT void weft_llvm_throughput(const void* loop, std::size_t size, double* cycles,
                                      WeftLlvmResult* result) {
  *cycles = 0;
  guard(result, [&] {
    weft::jit::initialise_llvm();
    CompiledCode texts;
    weft::jit::ModelCycles found =
        weft::jit::loop_cycles({static_cast<const std::byte*>(loop), size});
    *cycles = found.cycles;
    texts.assembly_text = std::move(found.processor);
    return texts;
  });
}

WEFT_EXPORT void weft_llvm_release(void* owner) { delete static_cast<Owner*>(owner); }
