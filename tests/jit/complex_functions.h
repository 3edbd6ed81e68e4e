// Which ops on complex numbers compiled code leaves to the interpreter's functions.
#pragma once

#include <weft/op.h>

namespace weft::jit {

/// Functions of the complex plane: they have no expression in real and imaginary parts.
inline bool is_complex_function(Op op) {
  switch (op) {
    case Op::sqrt:
    case Op::sin:
    case Op::cos:
    case Op::tan:
    case Op::asin:
    case Op::acos:
    case Op::atan: return true;
    default: return name(op).starts_with("library_");
  }
}

}  // namespace weft::jit
