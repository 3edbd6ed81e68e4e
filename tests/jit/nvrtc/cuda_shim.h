// What generated CUDA source means, on a CPU: blocks one after the other, the threads of a block as
// fibers that run from barrier to barrier, of the block or of a warp, in another order each time.
// Included by the programs that batch.cpp and fake_nvrtc.cpp write, not by weft.
#pragma once

#include <ucontext.h>

#include <cmath>
#include <cstdint>
#include <cstring>

#define __global__
#define __device__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __shared__ static

namespace shim {

struct Position {
  unsigned x;
};

constexpr unsigned threads_per_block = 256;
constexpr unsigned warp_size = 32;
constexpr std::size_t stack_bytes = 128 << 10;

/// What a thread waits for.
enum class Wait { nothing, warp, block, done };

/// Where a thread goes on.  The compiler's own, as the sanitizers know no jump from stack to stack.
using Rest = void* [5];

struct Fiber {
  ucontext_t start;  ///< for the first time; each swapcontext() is a system call
  Rest rest;
  bool has_started;
  Wait wait;
  std::uint32_t word;  ///< that it shows to its warp
  alignas(16) char stack[stack_bytes];
};

inline Fiber fibers[threads_per_block];
inline Rest scheduler;
inline Fiber* current = nullptr;
inline bool has_diverged = false;   ///< some threads were at a barrier that others never reach
inline bool is_misaligned = false;  ///< an access that is an error on a device
inline void (*kernel)(const void*) = nullptr;
inline const void* kernel_arguments = nullptr;

}  // namespace shim

static shim::Position threadIdx, blockIdx, gridDim;

namespace shim {

/// A function of its own, as one that may be jumped to must not jump itself.
[[gnu::noinline]] inline void go_on(Rest& rest) { __builtin_longjmp(rest, 1); }

/// Lets others run until all that have to come to the barrier are there.
inline void wait_for(Wait wait) {
  Fiber* const self = current;
  const unsigned thread = threadIdx.x;
  self->wait = wait;
  if (__builtin_setjmp(self->rest) == 0) go_on(scheduler);
  threadIdx.x = thread;
  current = self;
}

}  // namespace shim

inline void __syncthreads() { shim::wait_for(shim::Wait::block); }

namespace shim {

/// What the thread in `lane` of the warp shows; if there is none, the thread's own.
inline std::uint32_t shown_by(unsigned mask, std::uint32_t word, unsigned lane) {
  if (mask != 0xffffffffu) has_diverged = true;
  current->word = word;
  wait_for(Wait::warp);
  const unsigned first = threadIdx.x - threadIdx.x % warp_size;
  const std::uint32_t other = lane < warp_size ? fibers[first + lane].word : word;
  wait_for(Wait::warp);
  return other;
}

}  // namespace shim

inline std::uint32_t __shfl_sync(unsigned mask, std::uint32_t word, unsigned lane) {
  return shim::shown_by(mask, word, lane);
}
inline std::uint32_t __shfl_down_sync(unsigned mask, std::uint32_t word, unsigned apart) {
  return shim::shown_by(mask, word, threadIdx.x % shim::warp_size + apart);
}
inline std::uint32_t __shfl_up_sync(unsigned mask, std::uint32_t word, unsigned apart) {
  return shim::shown_by(mask, word, threadIdx.x % shim::warp_size - apart);
}

namespace shim {

inline void fiber_main() {
  kernel(kernel_arguments);
  current->wait = Wait::done;
  go_on(scheduler);
}

/// Whether so many threads all wait for the same, which is over for them then.
inline bool release(Fiber* first, unsigned count, Wait wait) {
  for (unsigned i = 0; i < count; ++i)
    if (first[i].wait != wait) return false;
  for (unsigned i = 0; i < count; ++i) first[i].wait = Wait::nothing;
  return true;
}

/// Lets it run until it waits or is done.
inline void resume(Fiber& fiber) {
  current = &fiber;
  if (__builtin_setjmp(scheduler) != 0) return;
  if (fiber.has_started) go_on(fiber.rest);
  fiber.has_started = true;
  setcontext(&fiber.start);
}

/// Runs all threads that wait for nothing.
inline void run_phase(unsigned phase) {
  for (unsigned i = 0; i < threads_per_block; ++i) {
    // 37 has no factor in common with the number of threads.
    const unsigned thread = phase % 2 == 0 ? i : (i * 37 + phase) % threads_per_block;
    if (fibers[thread].wait != Wait::nothing) continue;
    threadIdx.x = thread;
    resume(fibers[thread]);
  }
}

inline void run_block() {
  for (Fiber& fiber : fibers) {
    getcontext(&fiber.start);
    fiber.start.uc_stack.ss_sp = fiber.stack;
    fiber.start.uc_stack.ss_size = stack_bytes;
    fiber.has_started = false;
    fiber.wait = Wait::nothing;
    makecontext(&fiber.start, fiber_main, 0);
  }
  for (unsigned phase = 0;; ++phase) {
    run_phase(phase);
    bool goes_on = release(fibers, threads_per_block, Wait::block);
    for (unsigned warp = 0; warp < threads_per_block; warp += warp_size)
      goes_on |= release(fibers + warp, warp_size, Wait::warp);
    if (goes_on) continue;
    for (const Fiber& fiber : fibers) has_diverged |= fiber.wait != Wait::done;
    return;
  }
}

/// Returns what no device would have done; null if all is well.
inline const char* launch(void (*function)(const void*), const void* arguments, unsigned blocks,
                          bool has_barriers) {
  kernel = function;
  kernel_arguments = arguments;
  has_diverged = is_misaligned = false;
  gridDim.x = blocks;
  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) {
    if (has_barriers) {
      run_block();
      continue;
    }
    for (threadIdx.x = 0; threadIdx.x < threads_per_block; ++threadIdx.x) function(arguments);
  }
  return has_diverged    ? "threads of a block come to different barriers"
         : is_misaligned ? "an access at no multiple of its size"
                         : nullptr;
}

template <class To, class From>
To same_bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

}  // namespace shim

// How generated code accesses memory; what a recorder is told.
namespace shim {

struct Access {
  unsigned thread;
  const void* address;
  unsigned bytes;
};
// Not inline, as libraries that are loaded later would share it, and record all that they do.
static void (*record)(const Access&) = nullptr;

inline void note(const void* address, std::size_t bytes) {
  if (record != nullptr) record({threadIdx.x, address, static_cast<unsigned>(bytes)});
  if (reinterpret_cast<std::uintptr_t>(address) % bytes != 0) is_misaligned = true;
}

}  // namespace shim

template <class T>
T load(const void* from) {
  shim::note(from, sizeof(T));
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}
template <class T>
void store(void* to, const T& value) {
  shim::note(to, sizeof(T));
  std::memcpy(to, &value, sizeof(T));
}

inline unsigned thread_again() { return threadIdx.x; }

// Functions that NVRTC knows by itself.
inline std::uint32_t __umulhi(std::uint32_t x, std::uint32_t y) {
  return static_cast<std::uint32_t>((static_cast<std::uint64_t>(x) * y) >> 32);
}
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return static_cast<unsigned long long>((static_cast<unsigned __int128>(x) * y) >> 64);
}
inline float __uint_as_float(std::uint32_t bits) { return shim::same_bits<float>(bits); }
inline std::uint32_t __float_as_uint(float x) { return shim::same_bits<std::uint32_t>(x); }
inline double __longlong_as_double(long long bits) { return shim::same_bits<double>(bits); }
inline long long __double_as_longlong(double x) { return shim::same_bits<long long>(x); }

// The instructions behind conversions.  All NaNs become the same one.
inline float cvt_f32_f64(double wide) {
  return std::isnan(wide) ? __uint_as_float(0x7fffffff) : static_cast<float>(wide);
}
inline double cvt_f64_f32(float narrow) {
  return std::isnan(narrow) ? __longlong_as_double(0x7fffffffffffffff) : narrow;
}
inline float cvt_f32_f16(std::uint16_t half) {
  const int exponent = half >> 10 & 31, fraction = half & 1023;
  const double magnitude = exponent == 31  ? (fraction != 0 ? NAN : INFINITY)
                           : exponent == 0 ? std::ldexp(fraction, -24)
                                           : std::ldexp(fraction + 1024, exponent - 25);
  return static_cast<float>((half & 0x8000) != 0 ? -magnitude : magnitude);
}
inline std::uint16_t cvt_f16_f32(float wide) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(wide) ? 0x8000 : 0);
  const double magnitude = std::fabs(static_cast<double>(wide));
  if (std::isnan(wide)) return 0x7fff;
  if (magnitude >= 65520.0) return sign | 0x7c00;
  if (magnitude < std::ldexp(1.0, -14))
    return static_cast<std::uint16_t>(sign | int(std::nearbyint(std::ldexp(magnitude, 24))));
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const double steps = std::nearbyint(std::ldexp(magnitude, 11 - exponent));  // 1024 ... 2048
  return static_cast<std::uint16_t>(sign + ((exponent + 13) << 10) + int(steps));
}
