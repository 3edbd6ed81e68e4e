#include "jit/llvm/support.h"

#include "ir/vector_math.h"

namespace weft::jit {
namespace {

bool is_wide_float(DType dtype) { return dtype == DType::f32 || dtype == DType::f64; }

bool is_computable(DType dtype) { return is_integral(dtype) || is_wide_float(dtype); }

/// Whether every value of `dtype` is exact in f32, so that going through it rounds no more than
/// once.
bool is_exact_in_f32(DType dtype) {
  return dtype == DType::f32 || (is_integral(dtype) && itemsize_bytes(dtype) <= 2);
}

}  // namespace

bool has_operator(Op op, DType dtype) {
  switch (op) {
    case Op::where:
    case Op::real:
    case Op::conj: return !is_complex(dtype);
    case Op::add:
    case Op::mul:
    case Op::eq:
    case Op::ne:
    case Op::lt:
    case Op::le:
    case Op::gt:
    case Op::ge:
    case Op::maximum:
    case Op::minimum: return is_computable(dtype);
    case Op::sub:
    case Op::neg:
    case Op::abs:
    case Op::floor:
    case Op::ceil:
    case Op::trunc:
    case Op::round: return is_computable(dtype) && !is_boolean(dtype);
    case Op::bitwise_and:
    case Op::bitwise_or:
    case Op::bitwise_xor:
    case Op::bitwise_not: return is_integral(dtype);
    case Op::bitwise_left_shift:
    case Op::bitwise_right_shift:
    case Op::gcd:
    case Op::quotient: return is_integer(dtype);
    case Op::div:
    case Op::fma:
    case Op::sqrt:
    case Op::angle: return is_wide_float(dtype);
    case Op::library_pow: return is_integer(dtype) || is_wide_float(dtype);
    default: return is_call(op, dtype);
  }
}

bool is_call(Op op, DType dtype) {
  return is_wide_float(dtype) && (op == Op::c_fmod || !ir::sleef_stem(op).empty());
}

bool has_cast(DType from, DType to) {
  if (from == to) return true;
  const auto is_plain = [](DType dtype) { return is_integral(dtype) || is_wide_float(dtype); };
  if (is_plain(from) && is_plain(to)) return true;
  if (from == DType::f16) return is_plain(to);
  return to == DType::f16 && is_exact_in_f32(from);
}

}  // namespace weft::jit
