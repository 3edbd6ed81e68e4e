#include "jit/backend.h"

#include "jit/interp/backend.h"
#if WEFT_HAS_XBYAK
#include "jit/xbyak/backend.h"
#endif
#if WEFT_HAS_LLVM
#include "jit/llvm/backend.h"
#endif
#include "runtime/cuda_libraries.h"
#include "runtime/exec_memory.h"
#include "runtime/never_destroyed.h"

#include <weft/cuda.h>
#include <weft/error.h>

#include <vector>

namespace weft::jit {

int Target::vector_bytes() const {
  switch (features.isa) {
    case Isa::avx512: return 64;
    case Isa::avx2: return 32;
    case Isa::generic: return 0;
  }
  return 0;
}

std::string unavailable_reason(std::string_view name) {
  if (name == "interp") return {};
  if (name == "xbyak") {
#if WEFT_HAS_XBYAK
    if (host_features().isa == Isa::generic) return "it needs a processor with AVX2";
    return code_memory_refusal();
#else
    return "this build was configured with WEFT_XBYAK=OFF";
#endif
  }
  if (name == "llvm") {
#if WEFT_HAS_LLVM
    const std::string refusal = code_memory_refusal();
    return refusal.empty() ? llvm_unavailable_reason() : refusal;
#else
    return "this build was configured with WEFT_LLVM=OFF";
#endif
  }
  if (name == "nvrtc") {
    const std::string reason = cuda::unavailable_reason();
    if (!reason.empty()) return reason;
    return nvrtc().library.reason.empty() ? "" : "NVRTC is " + nvrtc().library.reason;
  }
  throw ArgumentError(detail::concat("unknown backend '", name,
                                     "'; the backends are auto, interp, xbyak, llvm and nvrtc"));
}

void check_usable(std::string_view name) {
  const std::string reason = unavailable_reason(name);
  WEFT_CHECK(reason.empty(), UnsupportedError, "backend '", name, "' is not usable: ", reason);
}

const Backend* find_backend(std::string_view name) {
#if WEFT_HAS_LLVM
  // Asking whether LLVM is usable opens its module; do so only for those who want it.
  if (name == "llvm" && unavailable_reason(name).empty()) return &llvm_backend();
#endif
  for (const Backend* backend : backends())
    if (backend->name == name && name != "llvm") return backend;
  return nullptr;
}

std::span<const Backend* const> backends() {
  static const NeverDestroyed<std::vector<const Backend*>> usable([] {
    std::vector<const Backend*> found;
#if WEFT_HAS_XBYAK
    if (unavailable_reason("xbyak").empty()) found.push_back(&xbyak_backend());
#endif
#if WEFT_HAS_LLVM
    if (code_memory_refusal().empty()) found.push_back(&llvm_backend());
#endif
    found.push_back(&interp_backend());
    return found;
  });
  return *usable;
}

}  // namespace weft::jit
