#include "jit/llvm/support.h"

#include "ir/vector_math.h"

#include <weft/error.h>

namespace weft::jit {
namespace {

constexpr std::string_view row_prefix = "weft_row.";

bool is_wide_float(DType dtype) { return dtype == DType::f32 || dtype == DType::f64; }

bool is_computable(DType dtype) { return is_integral(dtype) || is_wide_float(dtype); }

bool is_number(DType dtype) { return is_computable(dtype) && !is_boolean(dtype); }

bool is_single(DType dtype) { return dtype == DType::f32; }

bool is_real(DType dtype) { return !is_complex(dtype); }

/// Whether every value of `dtype` is exact in f32, so that going through it rounds no more than
/// once.
bool is_exact_in_f32(DType dtype) {
  return dtype == DType::f32 || (is_integral(dtype) && itemsize_bytes(dtype) <= 2);
}

}  // namespace

bool has_operator(Op op, DType dtype) {
  switch (op) {
#define WEFT_LLVM(op, takes, ...) \
  case Op::op:                    \
    return takes(dtype);
#include "jit/llvm/operators.def"
#undef WEFT_LLVM
    default: return is_call(op, dtype);
  }
}

bool is_call(Op op, DType dtype) {
  return is_wide_float(dtype) &&
         (op == Op::fmod_beyond || is_part_function(op) || !ir::sleef_stem(op).empty());
}

std::string row_symbol(Op op, DType dtype) {
  return detail::concat(row_prefix, name(op), ".", name(dtype));
}

std::optional<std::pair<Op, DType>> parse_row_symbol(std::string_view symbol) {
  const std::size_t dot = symbol.rfind('.');
  if (!symbol.starts_with(row_prefix) || dot < row_prefix.size()) return std::nullopt;
  const std::optional<Op> op = parse_op(symbol.substr(row_prefix.size(), dot - row_prefix.size()));
  const std::optional<DType> dtype = parse_dtype(symbol.substr(dot + 1));
  if (!op || !dtype || (!is_part_function(*op) && *op != Op::fmod_beyond)) return std::nullopt;
  return std::pair(*op, *dtype);
}

bool has_cast(DType from, DType to) {
  if (from == to) return true;
  if (from == DType::f64 && to == DType::u8) return false;  // what goes by way of i64 is two
  const auto is_plain = [](DType dtype) { return is_integral(dtype) || is_wide_float(dtype); };
  if (is_plain(from) && is_plain(to)) return true;
  if (from == DType::f16) return is_plain(to);
  return to == DType::f16 && is_exact_in_f32(from);
}

}  // namespace weft::jit
