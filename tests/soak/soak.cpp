// weft_soak SECONDS [PERCENT]: calls of all kinds on one engine and on engines that come and go,
// operators that are defined meanwhile, and whether the process grows.  Exit code 1 if a result is
// wrong or memory grows by more than PERCENT.
#include "tests/engine/support/mixed_calls.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr int num_threads = 8;
constexpr int num_parts = 6;  ///< of the time; of each the peak counts
// A kernel that lasts may keep a chunk of code memory that is otherwise of engines that are gone:
// the common engine has all of its kernels when the process is warm, and what is new comes to the
// others.
constexpr int num_common_calls = 120;
constexpr int num_all_calls = 480;

std::int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t size = 0, resident = 0;
  statm >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

weft::EngineOptions options(int threshold) {
  weft::EngineOptions options;
  options.threshold = threshold;
  return options;
}

/// Of all arenas; 0 where a sanitizer's malloc() serves.
std::size_t allocated_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

struct Load {
  const weft::testing::MixedCalls calls{num_all_calls};
  weft::Engine engine{options(16)};
  std::atomic<bool> is_over{false};
  std::atomic<std::uint64_t> num_calls{0}, num_wrong{0};

  void run(int thread) {
    for (int i = thread * 17; !is_over; ++i) {
      if (i % 500 == 0) {
        // Half of these engines die while LLVM compiles for them, or before it begins.
        weft::Engine own(options(i % 1000 == 0 ? 0 : 64));
        if (!calls.is_right(own, (i / 500 * num_threads + thread) % num_all_calls)) ++num_wrong;
        if (!calls.is_defined(own, i / 500 % 100)) ++num_wrong;
      }
      if (!calls.is_right(engine, i % num_common_calls)) ++num_wrong;
      if (i % 100 == 3 && !calls.is_defined(engine, i / 100 % 10)) ++num_wrong;
      if (i % 1000 == 1) engine.set_num_threads(i / 1000 % 3);
      if (i % 5000 == 2) engine.wait_optimised();
      ++num_calls;
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 60;
  const double most_percent = argc > 2 ? std::atof(argv[2]) : 1;
  if (seconds <= 0) {
    std::fprintf(stderr, "usage: weft_soak SECONDS [PERCENT]\n");
    return 2;
  }
  Load load;
  std::vector<std::thread> threads;
  for (int i = 0; i < num_threads; ++i) threads.emplace_back([&load, i] { load.run(i); });
  const auto start = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  std::int64_t peaks[num_parts] = {};
  for (int part = 0; part < num_parts; ++part) {
    while (elapsed() < seconds * (part + 1) / num_parts) {
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
      peaks[part] = std::max(peaks[part], resident_bytes());
    }
    const weft::EngineStats stats = load.engine.stats();
    std::printf("%6.0f s: resident %.2f MB, allocated %.2f MB, %llu kernels hot, %llu promoted\n",
                elapsed(), static_cast<double>(peaks[part]) / 1e6,
                static_cast<double>(allocated_bytes()) / 1e6,
                static_cast<unsigned long long>(stats.hot_kernels),
                static_cast<unsigned long long>(stats.promoted_kernels));
    std::fflush(stdout);
  }
  load.is_over = true;
  for (std::thread& thread : threads) thread.join();
  // The first part warms up.
  const std::int64_t warm_bytes = peaks[1], last_bytes = peaks[num_parts - 1];
  const double growth = static_cast<double>(last_bytes - warm_bytes) /
                        static_cast<double>(std::max<std::int64_t>(warm_bytes, 1));
  std::printf(
      "%llu calls on %d threads in %.0f s, %llu wrong; resident %.1f MB, then %.1f MB: %+.2f %%\n",
      static_cast<unsigned long long>(load.num_calls.load()), num_threads, elapsed(),
      static_cast<unsigned long long>(load.num_wrong.load()), static_cast<double>(warm_bytes) / 1e6,
      static_cast<double>(last_bytes) / 1e6, 100 * growth);
  return load.num_wrong == 0 && 100 * growth <= most_percent ? 0 : 1;
}
