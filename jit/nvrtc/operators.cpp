#include "jit/nvrtc/operators.h"

#include "ir/vector_math.h"

#include <weft/error.h>

#include <algorithm>
#include <string_view>

namespace weft::jit::nvrtc {
namespace {

/// The expressions of one row of operators.def.
struct Row {
  Op op;
  std::string_view boolean, integer, floating;
};

constexpr Row rows[] = {
#define WEFT_CUDA(op, boolean, integer, floating) {Op::op, boolean, integer, floating},
#include "jit/nvrtc/operators.def"
};

/// What a function is off by on a device.
struct Error {
  Op op;
  double ulps_f64, ulps_f32;
};

constexpr Error errors[] = {
#define WEFT_CUDA_ULPS(op, ulps_f64, ulps_f32) {Op::op, ulps_f64, ulps_f32},
#include "jit/nvrtc/operators.def"
};

static_assert(ir::largest_reduced(DType::f32) == 0x1p13 &&
                  ir::largest_reduced(DType::f64) == 0x1p20,
              "what sin_beyond, cos_beyond and tan_beyond are written with");

bool is_wide_float(DType dtype) { return dtype == DType::f32 || dtype == DType::f64; }

const Row* find_row(Op op) {
  for (const Row& row : rows)
    if (row.op == op) return &row;
  return nullptr;
}

/// What whole complex numbers are combined by; the rest is computed in parts.
std::string_view complex_expression(Op op, DType dtype) {
  if (dtype == DType::c32) return {};
  if (op == Op::add) return "complex_sum($x, $y)";
  return op == Op::mul ? "complex_product($x, $y)" : std::string_view{};
}

std::string_view expression(Op op, DType dtype) {
  const Row* const row = find_row(op);
  if (is_complex(dtype)) return complex_expression(op, dtype);
  if (row == nullptr) return {};
  if (is_boolean(dtype)) return row->boolean;
  if (is_integer(dtype)) return row->integer;
  // Small floats are only moved and chosen from.
  return is_wide_float(dtype) || op == Op::where || op == Op::real || op == Op::conj
             ? row->floating
             : std::string_view{};
}

std::string_view unsigned_of_size(std::size_t size_bytes) {
  switch (size_bytes) {
    case 1: return "u8";
    case 2: return "u16";
    case 4: return "u32";
    default: return "u64";
  }
}

}  // namespace

std::string_view value_type(DType dtype) {
  switch (dtype) {
    case DType::boolean: return "bool";
    case DType::f16:
    case DType::bf16: return "u16";
    case DType::f8e4m3fn:
    case DType::f8e5m2: return "u8";
    case DType::c32: return "u32";
    case DType::c64: return "u64";
    case DType::c128: return "u128";
    default: return name(dtype);
  }
}

std::string_view memory_type(DType dtype) {
  return is_boolean(dtype) ? std::string_view("u8") : value_type(dtype);
}

bool has_operator(Op op, DType dtype) { return !expression(op, dtype).empty(); }

double ulps_apart(Op op, DType dtype) {
  const auto* const error = std::ranges::find(errors, op, &Error::op);
  if (error == std::end(errors) || !is_wide_float(dtype)) return 0;
  if (is_part_function(op)) return dtype == DType::f64 ? 2 * error->ulps_f64 : error->ulps_f32;
  // The interpreter's are off by 1, and by 1.5 at most.
  constexpr double of_interpreter = 1.5;
  return (dtype == DType::f64 ? error->ulps_f64 : error->ulps_f32) + of_interpreter;
}

std::string operator_text(Op op, DType dtype, std::span<const std::string> args) {
  const std::string_view pattern = expression(op, dtype);
  WEFT_ASSERT(!pattern.empty(), name(op), " ", name(dtype));
  const std::size_t size = itemsize_bytes(dtype);
  std::string text;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] != '$') {
      text += pattern[at];
      continue;
    }
    switch (pattern[++at]) {
      case 'x': text += args[0]; break;
      case 'y': text += args[1]; break;
      case 'z': text += args[2]; break;
      case 'w': text += args[3]; break;
      case 'T': text += value_type(dtype); break;
      case 'U': text += size == 8 ? "u64" : "u32"; break;
      case 'M': text += unsigned_of_size(size); break;
      case 'W': text += std::to_string(8 * size); break;
      default: text += dtype == DType::f32 ? "f" : ""; break;
    }
  }
  return text;
}

}  // namespace weft::jit::nvrtc
