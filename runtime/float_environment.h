// How a thread's floating point arithmetic rounds, and whether it takes subnormal numbers for
// zeros.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace weft {

/// MXCSR without the flags that tell what has happened; 0 where there is none.
class FloatEnvironment {
 public:
  /// The caller's.
  static FloatEnvironment current() {
#if defined(__x86_64__)
    return FloatEnvironment(_mm_getcsr() & ~flags);
#else
    return FloatEnvironment(0);
#endif
  }
  /// To nearest, with subnormal numbers, no exception a signal.
  static constexpr FloatEnvironment standard() { return FloatEnvironment(0x1f80); }

 private:
  friend class FloatEnvironmentScope;
  static constexpr unsigned flags = 0x3f;
  explicit constexpr FloatEnvironment(unsigned control) : control_(control) {}

  unsigned control_;
};

/// The thread computes in this environment until the scope ends; it then has its own again, flags
/// and all.
class FloatEnvironmentScope {
 public:
#if defined(__x86_64__)
  explicit FloatEnvironmentScope(FloatEnvironment environment) : before_(_mm_getcsr()) {
    is_other_ = (before_ & ~FloatEnvironment::flags) != environment.control_;
    if (is_other_) _mm_setcsr(environment.control_);
  }
  ~FloatEnvironmentScope() {
    if (is_other_) _mm_setcsr(before_);
  }
#else
  explicit FloatEnvironmentScope(FloatEnvironment) {}
#endif
  FloatEnvironmentScope(const FloatEnvironmentScope&) = delete;
  FloatEnvironmentScope& operator=(const FloatEnvironmentScope&) = delete;

 private:
  unsigned before_ = 0;
  bool is_other_ = false;
};

}  // namespace weft
