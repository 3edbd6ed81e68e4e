// Is the new code of a kernel faster than the old?  Told from the first calls of it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace weft::jit {

/// Ticks an element, times 2^10: calls of many elements take less than one.
std::uint64_t time_an_element(std::uint64_t ticks, std::uint64_t elements);

/// The least of the times of some calls.
class LeastTime {
 public:
  /// Returns the least time so far, with this one.
  std::uint64_t add(std::uint64_t time);
  std::uint64_t get() const { return least_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> least_{~std::uint64_t{0}};
};

/// Compares the times of calls.  Calls differ in size, and time an element depends on it, so times
/// are compared within classes of calls whose numbers of elements have the same magnitude; the
/// least time of a class counts, because all that disturbs a call makes it longer.
///
/// Threads: all functions may be called by many threads at once; none waits.
class Trial {
 public:
  enum class Verdict : std::uint8_t { none, faster, slower };

  /// `old_calls`: how many calls of the old code in a class a comparison takes, besides as many or
  /// more of the new.
  explicit Trial(int old_calls) : old_calls_(old_calls) {}

  /// Whether the next call is one of the old code: every other one, if more times of it are needed.
  bool takes_old() { return old_calls_ > 1 && calls_.fetch_add(1, std::memory_order_relaxed) % 2; }

  void add_old(std::uint64_t elements, std::uint64_t ticks) {
    class_of(elements).current.add(ticks, elements);
  }
  /// Not `none` once there is enough to compare, or too many calls have passed without.
  Verdict add_new(std::uint64_t elements, std::uint64_t ticks);

  /// A clock that is read in some 20 cycles; what a tick is doesn't matter.
  static std::uint64_t now() { return clock.load(std::memory_order_relaxed)(); }
  using Clock = std::uint64_t (*)();
  static std::atomic<Clock> clock;  ///< for tests, which bring their own

 private:
  static constexpr int min_new_calls = 9;
  static constexpr int max_new_calls = 256;

  /// Of one code, in a class.
  struct Times {
    LeastTime least;
    std::atomic<int> calls{0};
    void add(std::uint64_t ticks, std::uint64_t elements);
  };
  struct Class {
    Times current, candidate;
  };
  Class& class_of(std::uint64_t elements);

  int old_calls_;
  std::atomic<std::uint32_t> calls_{0};
  std::atomic<int> new_calls_{0};
  std::array<Class, 40> classes_;
};

}  // namespace weft::jit
