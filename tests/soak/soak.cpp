// weft_soak SECONDS [THREADS]: calls of all kinds on one engine and on engines that come and go,
// and whether the process grows.  Exit code 1 if a result is wrong or memory grows.
#include "tests/engine/support/mixed_calls.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr int num_threads = 8;

std::int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t size = 0, resident = 0;
  statm >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

struct Load {
  const weft::testing::MixedCalls calls{120};
  weft::Engine engine{[] {
    weft::EngineOptions options;
    options.threshold = 16;
    return options;
  }()};
  std::atomic<bool> is_over{false};
  std::atomic<std::uint64_t> num_calls{0}, num_wrong{0};

  void run(int thread) {
    for (int i = thread * 17; !is_over; ++i) {
      std::unique_ptr<weft::Engine> own;
      if (i % 500 == 0) own = std::make_unique<weft::Engine>();
      weft::Engine& used = own != nullptr ? *own : engine;
      if (!calls.is_right(used, i % calls.size())) ++num_wrong;
      if (i % 1000 == 1) engine.set_num_threads(i / 1000 % 3);
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
  std::int64_t warm_bytes = 0, last_bytes = 0;
  while (elapsed() < seconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    const std::int64_t bytes = resident_bytes();
    // The second sixth is what the last sixth is compared with: peaks of both.
    if (elapsed() > seconds / 6 && elapsed() < seconds / 3)
      warm_bytes = std::max(warm_bytes, bytes);
    if (elapsed() > seconds * 5 / 6) last_bytes = std::max(last_bytes, bytes);
  }
  load.is_over = true;
  for (std::thread& thread : threads) thread.join();
  const double growth = static_cast<double>(last_bytes - warm_bytes) /
                        static_cast<double>(std::max<std::int64_t>(warm_bytes, 1));
  std::printf(
      "%llu calls on %d threads in %.0f s, %llu wrong; resident %.1f MB, then %.1f MB: %+.2f %%\n",
      static_cast<unsigned long long>(load.num_calls.load()), num_threads, elapsed(),
      static_cast<unsigned long long>(load.num_wrong.load()), static_cast<double>(warm_bytes) / 1e6,
      static_cast<double>(last_bytes) / 1e6, 100 * growth);
  return load.num_wrong == 0 && 100 * growth <= most_percent ? 0 : 1;
}
