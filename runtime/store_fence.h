// For stores past the caches, which others may see in another order than that of the program.
#pragma once

#include <atomic>

namespace weft {

/// What this thread has written past the caches is seen by whom it tells from here on.
inline void store_fence() {
#if defined(__x86_64__)
  __builtin_ia32_sfence();
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace weft
