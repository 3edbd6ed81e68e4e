// Statics of functions that calls need while the process exits, when others are gone.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace weft {

/// Holds what `make` returns, for ever: other statics' destructors, and threads that outlive
/// main(), may still make calls.
template <class T>
class NeverDestroyed {
 public:
  template <class Make>
  explicit NeverDestroyed(Make&& make) {
    ::new (memory_) T(std::forward<Make>(make)());
  }
  NeverDestroyed(const NeverDestroyed&) = delete;
  NeverDestroyed& operator=(const NeverDestroyed&) = delete;

  const T& operator*() const { return *std::launder(reinterpret_cast<const T*>(memory_)); }

 private:
  alignas(T) std::byte memory_[sizeof(T)];
};

}  // namespace weft
