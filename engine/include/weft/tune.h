// Measuring the thresholds of this machine: what `weft tune` does.
#pragma once

#include <weft/tuning.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] weft {

struct TuneOptions {
  std::int64_t most_bytes = std::int64_t{256} << 20;  ///< moved by the largest call that is timed
  int rounds = 9;                                     ///< a comparison is the median of so many
  /// Told before and while a threshold is measured; may be empty.
  std::function<void(std::string_view threshold, double fraction)> progress = {};
};

struct TuneReport {
  struct Finding {
    std::string threshold;  ///< a TuningField's name
    std::int64_t measured = 0;
    std::string how;  ///< what was seen, in words
  };
  Tuning tuning;
  std::vector<Finding> findings;  ///< in the order of tuning_fields()
};

/// Times calls of both kinds on either side of each threshold, in turn, and takes the sizes from
/// which on one kind is faster.  Some seconds on an idle machine; on a busy one what can't be told
/// apart keeps its default.
///
/// Threads: one measurement at a time in a process, or they measure each other.
///
/// Errors:  ArgumentError if most_bytes or rounds are not positive; DeviceError if there is no
///          memory for calls of that size.
TuneReport measure_tuning(const TuneOptions& options = {});

}  // namespace weft
