// Says what was being done when a signal ends the process.
#pragma once

#include <string>

namespace weft::fuzzing {

/// While it lives, SIGSEGV and the like print the last description to stderr before they end the
/// process.  One at a time.
class CrashReport {
 public:
  explicit CrashReport(bool is_on);
  ~CrashReport();
  CrashReport(const CrashReport&) = delete;
  CrashReport& operator=(const CrashReport&) = delete;

  void describe(const std::string& text) const;

 private:
  bool is_on_;
};

}  // namespace weft::fuzzing
