// Objects that each thread has of its own.
#pragma once

namespace weft {

/// The calling thread's T, made when it first asks; null once the thread's end has destroyed it.
/// Destructors of other objects of the thread, and on the main thread of statics, may still call:
/// they go without.
///
/// Every user has a T of its own.
template <class T>
T* thread_owned() {
  static constinit thread_local bool has_ended = false;
  struct Owner {
    T value;
    ~Owner() { has_ended = true; }
  };
  if (has_ended) return nullptr;
  static thread_local Owner owner;
  return &owner.value;
}

}  // namespace weft
