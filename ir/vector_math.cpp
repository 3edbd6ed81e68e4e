#include "ir/vector_math.h"

#include "ir/library_repairs.h"

#include <dlfcn.h>

namespace weft::ir {
namespace {

struct Row {
  Op op;
  std::string_view stem;
  std::string_view accuracy;
};

constexpr Row rows[] = {
#define WEFT_VECTOR_MATH(op, arity, stem, accuracy) {Op::op, #stem, #accuracy},
    WEFT_VECTOR_MATH_ROWS(WEFT_VECTOR_MATH)
#undef WEFT_VECTOR_MATH
};

const Row* find_row(Op op) {
  for (const Row& row : rows)
    if (row.op == op) return &row;
  return nullptr;
}

std::string_view suffix(std::size_t vector_bytes) {
  switch (vector_bytes) {
    case 16: return "avx2128";
    case 32: return "avx2";
    case 64: return "avx512f";
    default: return {};
  }
}

}  // namespace

std::string_view sleef_stem(Op op) {
  const Row* row = find_row(op);
  return row == nullptr ? std::string_view{} : row->stem;
}

std::string sleef_symbol(Op op, DType dtype, int lanes) {
  const Row* row = find_row(op);
  if (row == nullptr || (dtype != DType::f32 && dtype != DType::f64) || lanes < 1) return {};
  const auto count = static_cast<std::size_t>(lanes);
  const std::string_view target = lanes == 1 ? "purecfma" : suffix(count * itemsize_bytes(dtype));
  if (target.empty()) return {};
  std::string symbol = "Sleef_finz_";
  symbol += row->stem;
  symbol += dtype == DType::f32 ? 'f' : 'd';
  symbol += std::to_string(lanes);
  symbol += '_';
  symbol += row->accuracy;
  symbol += target;
  return symbol;
}

const void* sleef_function(Op op, DType dtype, int lanes) {
  const std::string symbol = sleef_symbol(op, dtype, lanes);
  return symbol.empty() ? nullptr : sleef_function(symbol);
}

const void* sleef_function(std::string_view symbol) {
  // Vector functions are called by generated code only, so that no linker knows of them; the name
  // is that of the library's binary interface.
  static void* const library = dlopen("libsleef.so.3", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr || !symbol.starts_with("Sleef_finz_")) return nullptr;
  const void* const function = dlsym(library, std::string(symbol).c_str());
  const void* const repaired = function == nullptr ? nullptr : repaired_function(symbol, function);
  return repaired != nullptr ? repaired : function;
}

}  // namespace weft::ir
