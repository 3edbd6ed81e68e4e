// The module that holds LLVM, but of another release: all but the version is that of the real one.
#include "jit/llvm/module.h"

#include <dlfcn.h>

#include <cstdlib>

namespace {

template <class Function>
Function real(const char* symbol) {
  static void* const module = dlopen(WEFT_REAL_LLVM_MODULE, RTLD_NOW | RTLD_LOCAL);
  void* const found = module == nullptr ? nullptr : dlsym(module, symbol);
  if (found == nullptr) std::abort();
  return reinterpret_cast<Function>(found);
}

}  // namespace

using weft::jit::llvm_symbols;

extern "C" {

std::uint32_t weft_llvm_get_interface() {
  return real<WeftLlvmInterface>(llvm_symbols.interface)();
}
const char* weft_llvm_get_version() { return "99.8.7"; }
void weft_llvm_compile(const WeftLlvmRequest* request, WeftLlvmResult* result) {
  real<WeftLlvmCompile>(llvm_symbols.compile)(request, result);
}
void weft_llvm_disassemble(const void* code, std::size_t size, std::uint64_t display_base,
                           WeftLlvmResult* result) {
  real<WeftLlvmDisassemble>(llvm_symbols.disassemble)(code, size, display_base, result);
}
void weft_llvm_disassemble_function(const void* code, std::size_t size, std::size_t entry,
                                    std::uint64_t display_base, WeftLlvmResult* result) {
  real<WeftLlvmDisassembleFunction>(llvm_symbols.disassemble_function)(code, size, entry,
                                                                       display_base, result);
}
void weft_llvm_throughput(const void* loop, std::size_t size, double* cycles,
                          WeftLlvmResult* result) {
  real<WeftLlvmThroughput>(llvm_symbols.throughput)(loop, size, cycles, result);
}
void weft_llvm_release(void* owner) { real<WeftLlvmRelease>(llvm_symbols.release)(owner); }
}
