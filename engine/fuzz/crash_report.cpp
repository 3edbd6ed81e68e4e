#include "engine/fuzz/crash_report.h"

#include <unistd.h>
#include <csignal>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

namespace weft::fuzzing {
namespace {

constexpr auto signals = std::to_array<int>({SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT});

// A signal handler reaches nothing but objects like these; only the thread that fuzzes writes them.
std::array<char, 1 << 14> text_buffer;
std::atomic<std::size_t> text_size{0};

extern "C" void print_description(int signal) {
  constexpr char start[] = "weft fuzz: this case ended the process:\n";
  static_cast<void>(!write(STDERR_FILENO, start, sizeof start - 1));
  static_cast<void>(!write(STDERR_FILENO, text_buffer.data(), text_size.load()));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

CrashReport::CrashReport(bool is_on) {
  if (!is_on) return;
  struct sigaction action = {};
  action.sa_handler = print_description;
  for (const int signal : signals) sigaction(signal, &action, &before_.emplace_back());
}

CrashReport::~CrashReport() {
  for (std::size_t i = 0; i < before_.size(); ++i) sigaction(signals[i], &before_[i], nullptr);
}

void CrashReport::describe(const std::string& text) const {
  text_size = 0;
  const std::size_t size = std::min(text.size(), text_buffer.size() - 1);
  std::memcpy(text_buffer.data(), text.data(), size);
  text_buffer[size] = '\n';
  text_size = size + 1;
}

}  // namespace weft::fuzzing
