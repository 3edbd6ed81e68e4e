#include "jit/llvm/library.h"

#include <dlfcn.h>

#include <cmath>
#include <string>

namespace weft::jit {

const void* find_library_function(std::string_view symbol) {
  if (symbol == "fmod")
    return reinterpret_cast<const void*>(static_cast<double (*)(double, double)>(&std::fmod));
  if (symbol == "fmodf")
    return reinterpret_cast<const void*>(static_cast<float (*)(float, float)>(&std::fmod));
  // Only generated code calls it, so a linker would drop it; the name is that of its binary
  // interface.
  static void* const sleef = dlopen("libsleef.so.3", RTLD_NOW | RTLD_LOCAL);
  if (sleef == nullptr || !symbol.starts_with("Sleef_finz_")) return nullptr;
  return dlsym(sleef, std::string(symbol).c_str());
}

}  // namespace weft::jit
