#include "bench/instructions.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace weft::bench {

InstructionCounter::InstructionCounter() {
  perf_event_attr event{};
  event.size = sizeof event;
  event.type = PERF_TYPE_HARDWARE;
  event.config = PERF_COUNT_HW_INSTRUCTIONS;
  event.disabled = 1;
  event.exclude_kernel = 1;
  event.exclude_hv = 1;
  constexpr pid_t this_thread = 0;
  constexpr int any_core = -1, no_group = -1;
  file_ = static_cast<int>(
      syscall(SYS_perf_event_open, &event, this_thread, any_core, no_group, PERF_FLAG_FD_CLOEXEC));
}

InstructionCounter::~InstructionCounter() {
  if (file_ >= 0) close(file_);
}

void InstructionCounter::start() const {
  if (file_ < 0) return;
  ioctl(file_, PERF_EVENT_IOC_RESET, 0);
  ioctl(file_, PERF_EVENT_IOC_ENABLE, 0);
}

std::optional<std::uint64_t> InstructionCounter::stop() const {
  if (file_ < 0) return {};
  ioctl(file_, PERF_EVENT_IOC_DISABLE, 0);
  std::uint64_t count = 0;
  if (read(file_, &count, sizeof count) != sizeof count || count == 0) return {};
  return count;
}

}  // namespace weft::bench
