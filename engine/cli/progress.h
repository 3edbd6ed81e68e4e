// How far a long run is, on a terminal.
#pragma once

#include <chrono>
#include <string>

namespace weft::cli {

/// One line on stderr that is written over and erased at the end: "3 of 6: xbyak, 40 %".  Nothing
/// where stderr is no terminal.
class Progress {
 public:
  explicit Progress(int num_steps);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void begin(std::string step);
  /// How much of the step is done, from 0 to 1.  Shown every 100 ms, and at 1.
  void at(double fraction);

 private:
  void show(const std::string& text);

  bool is_shown_;
  int num_steps_;
  int step_index_ = 0;
  std::string step_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace weft::cli
