#include "jit/throughput.h"

#if WEFT_HAS_LLVM
#include "jit/llvm/backend.h"
#endif

#include <memory>

namespace weft::jit {

Throughput loop_throughput([[maybe_unused]] std::span<const std::byte> loop) {
  Throughput found;
#if WEFT_HAS_LLVM
  const LlvmModule* module = llvm_module(found.reason);
  if (module == nullptr) return found;
  WeftLlvmResult result{};
  module->throughput(loop.data(), loop.size(), &found.cycles, &result);
  const std::shared_ptr<const void> owner(result.owner, module->release);
  if (result.error.size != 0)
    found.reason.assign(result.error.data, result.error.size);
  else
    found.processor.assign(result.assembly.data, result.assembly.size);
#else
  found.reason = "this build was configured with WEFT_LLVM=OFF";
#endif
  return found;
}

}  // namespace weft::jit
