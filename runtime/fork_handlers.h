// What a process does around fork(), so that its child finds everything whole.
#pragma once

#include <pthread.h>

#include <new>

namespace weft {

/// Registers functions for before the fork, and for after it in the parent and in the child; null
/// ones do nothing.  They stay for good: make what they look at before.
///
/// Errors: std::bad_alloc, with nothing registered.
inline void around_fork(void (*before)(), void (*after_in_parent)(), void (*after_in_child)()) {
  if (pthread_atfork(before, after_in_parent, after_in_child) != 0) throw std::bad_alloc();
}

}  // namespace weft
