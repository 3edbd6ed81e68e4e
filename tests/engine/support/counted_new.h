// What a thread takes from the heap by operator new, counted.  For programs of their own, in one
// file of each: it replaces the operators.
#pragma once

#include <cstdlib>
#include <new>

namespace weft {
inline thread_local int num_allocations = 0;
}  // namespace weft

// Not inlined: the compiler would see free() meet new, and warn.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++weft::num_allocations;
  if (void* block = std::malloc(size)) return block;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++weft::num_allocations;
  return std::malloc(size);
}
[[gnu::noinline]] void operator delete(void* block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, const std::nothrow_t&) noexcept {
  std::free(block);
}
