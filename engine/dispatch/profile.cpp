#include <weft/dispatch.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>

namespace weft {
namespace {

using Clock = std::chrono::steady_clock;

// The innermost profiled call of this thread, to which its callees report their time.
struct Frame {
  Frame* caller;
  Clock::duration callees{};
};
thread_local Frame* innermost_frame = nullptr;

std::uint64_t nanoseconds(Clock::duration duration) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count());
}

}  // namespace

struct Profile::Counters {
  struct Times {
    std::uint64_t calls = 0;
    Clock::duration total{};
    Clock::duration self{};
  };
  std::mutex mutex;
  std::map<OperatorName, Times> times;

  /// Stays where it is.
  Times& row_of(const OperatorHandle& op) {
    const std::lock_guard lock(mutex);
    return times[op.name()];
  }

  /// Runs the rest of a call and counts it, also when it ends in an exception.
  void run(const OperatorHandle& op, DispatchKeySet keys, ValueStack& stack) {
    struct Stopwatch {
      Counters& counters;
      Times& row;
      Frame frame{innermost_frame};
      Clock::time_point start = Clock::now();
      Stopwatch(Counters& counters, Times& row) : counters(counters), row(row) {
        innermost_frame = &frame;
      }
      ~Stopwatch() {
        const Clock::duration total = Clock::now() - start;
        innermost_frame = frame.caller;
        if (frame.caller != nullptr) frame.caller->callees += total;
        const std::lock_guard lock(counters.mutex);
        ++row.calls;
        row.total += total;
        row.self += total - frame.callees;
      }
    };
    const Stopwatch stopwatch(*this, row_of(op));  // the row first, which may lack memory
    op.redispatch_boxed(keys.below(DispatchKey::profile), stack);
  }
};

Profile::Profile(Registry& registry)
    : counters_(std::make_shared<Counters>()),
      fallback_(registry.fallback(
          DispatchKey::profile,
          KernelFunction::boxed(
              [counters = counters_](const OperatorHandle& op, DispatchKeySet keys,
                                     ValueStack& stack) { counters->run(op, keys, stack); }))),
      include_(DispatchKey::profile) {}

std::vector<ProfileRow> Profile::rows() const {
  std::vector<ProfileRow> rows;
  const std::lock_guard lock(counters_->mutex);
  for (const auto& [name, row] : counters_->times)
    if (row.calls != 0)  // else the first has not ended
      rows.push_back({name.text(), row.calls, nanoseconds(row.total), nanoseconds(row.self)});
  std::ranges::stable_sort(rows, std::ranges::greater(), &ProfileRow::self_ns);
  return rows;
}

std::string Profile::text() const {
  std::string result = "       calls      total us       self us  operator\n";
  for (const ProfileRow& row : rows()) {
    std::array<char, 64> numbers;
    std::snprintf(numbers.data(), numbers.size(), "%12llu  %12.3f  %12.3f  ",
                  static_cast<unsigned long long>(row.calls),
                  static_cast<double>(row.total_ns) * 1e-3,
                  static_cast<double>(row.self_ns) * 1e-3);
    result += numbers.data() + row.op + "\n";
  }
  return result;
}

}  // namespace weft
