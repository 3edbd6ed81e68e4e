#include "engine/cli/progress.h"

#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string_view>
#include <utility>

namespace weft::cli {
namespace {

bool is_terminal() {
  const char* const terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

}  // namespace

Progress::Progress(int num_steps) : is_shown_(is_terminal()), num_steps_(num_steps) {}

Progress::~Progress() { show({}); }

void Progress::begin(std::string step) {
  step_ = std::move(step);
  ++step_index_;
  last_ = std::chrono::steady_clock::now();
  show(std::to_string(step_index_) + " of " + std::to_string(num_steps_) + ": " + step_);
}

void Progress::at(double fraction) {
  constexpr std::chrono::milliseconds interval(100);  // a terminal may be slow, or far away
  const auto now = std::chrono::steady_clock::now();
  if (!is_shown_ || (now - last_ < interval && fraction < 1)) return;
  last_ = now;
  show(std::to_string(step_index_) + " of " + std::to_string(num_steps_) + ": " + step_ + ", " +
       std::to_string(static_cast<int>(fraction * 100)) + " %");
}

void Progress::show(const std::string& text) {
  if (is_shown_) std::cerr << "\r\033[K" << text << std::flush;
}

}  // namespace weft::cli
