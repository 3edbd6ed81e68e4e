#include "jit/llvm/library.h"

#include "ir/vector_math.h"

#include <cmath>

namespace weft::jit {

const void* find_library_function(std::string_view symbol) {
  if (symbol == "fmod")
    return reinterpret_cast<const void*>(static_cast<double (*)(double, double)>(&std::fmod));
  if (symbol == "fmodf")
    return reinterpret_cast<const void*>(static_cast<float (*)(float, float)>(&std::fmod));
  return ir::sleef_function(symbol);
}

}  // namespace weft::jit
