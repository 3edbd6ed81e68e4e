// Says what was being done when a signal ends the process.
#pragma once

#include <csignal>
#include <string>
#include <vector>

namespace weft::fuzzing {

/// While it lives, SIGSEGV and the like print the last description to stderr before they end the
/// process; then what was done before is done again.  One at a time.
class CrashReport {
 public:
  explicit CrashReport(bool is_on);
  ~CrashReport();
  CrashReport(const CrashReport&) = delete;
  CrashReport& operator=(const CrashReport&) = delete;

  void describe(const std::string& text) const;

 private:
  std::vector<struct sigaction> before_;  ///< what else would be done; empty: the report is off
};

}  // namespace weft::fuzzing
