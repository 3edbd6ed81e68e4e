#include "jit/llvm/library.h"

#include "ir/evaluate.h"
#include "ir/vector_math.h"
#include "jit/llvm/support.h"
#include "jit/llvm/tile_symbols.h"

#include <cstddef>
#include <cstring>

namespace weft::jit {

namespace {

void copy_row(void* to, const void* from, std::size_t size_bytes) {
#if defined(__x86_64__)
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size_bytes) : : "memory");
#else
  std::memmove(to, from, size_bytes);
#endif
}

}  // namespace

const void* find_library_function(std::string_view symbol) {
  if (symbol == run_tiles_symbol) return reinterpret_cast<const void*>(&tiles::run_tiles);
  if (symbol == copy_row_symbol) return reinterpret_cast<const void*>(&copy_row);
  if (const auto row = parse_row_symbol(symbol))
    return reinterpret_cast<const void*>(ir::block_function(row->first, row->second));
  return ir::sleef_function(symbol);
}

}  // namespace weft::jit
