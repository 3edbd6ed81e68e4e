#include "ir/vector_math.h"

#include "ir/library_repairs.h"

#include <dlfcn.h>

#include <atomic>

namespace weft::ir {
namespace {

struct Row {
  Op op;
  std::string_view stem;
  std::string_view accuracy;
};

constexpr Row rows[] = {
#define WEFT_VECTOR_MATH(op, stem, accuracy) {Op::op, #stem, #accuracy},
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

/// Vector functions are called by generated code only, so that no linker knows of them; the name is
/// that of the library's binary interface.  No static that is made under a lock: a child of fork()
/// would wait for ever for the thread that was making it.  Two threads may open it at once, which
/// gives both the same.
void* sleef_library() {
  static constinit std::atomic<void*> opened = nullptr;
  static constinit std::atomic<bool> is_missing = false;
  void* library = opened.load(std::memory_order_acquire);
  if (library != nullptr || is_missing.load(std::memory_order_relaxed)) return library;
  library = dlopen("libsleef.so.3", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) is_missing.store(true, std::memory_order_relaxed);
  opened.store(library, std::memory_order_release);
  return library;
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
  void* const library = sleef_library();
  if (library == nullptr || !symbol.starts_with("Sleef_finz_")) return nullptr;
  const void* const function = dlsym(library, std::string(symbol).c_str());
  const void* const repaired = function == nullptr ? nullptr : repaired_function(symbol, function);
  return repaired != nullptr ? repaired : function;
}

}  // namespace weft::ir
