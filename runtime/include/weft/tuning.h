// Thresholds that suit one machine better than another.  They decide how a call is carried out,
// never what it computes: under any of them results have the same bits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] weft {

/// The defaults suit most machines; `weft tune` measures this one.  Units: bytes, ns.
struct Tuning {
  /// Calls that move so many bytes, read and written together, write past the caches; 0: by the
  /// sizes of the caches.
  std::int64_t streaming_bytes = 0;
  /// The same for what one thread moves in a call that transposes; 0: by the processor.
  std::int64_t tile_streaming_bytes = 0;
  /// Transposing calls that move so much take larger tiles.
  std::int64_t tile_large_bytes = std::int64_t{1} << 20;
  /// What one core moves in a microsecond within its own caches, and beyond them.
  std::int64_t near_bytes_per_us = 160'000;
  std::int64_t far_bytes_per_us = 25'000;
  /// Estimated work that is worth handing to a thread that is awake.
  std::int64_t thread_work_ns = 400;

  friend bool operator==(const Tuning&, const Tuning&) = default;
};

/// One threshold, as files and explanations spell it.
struct TuningField {
  std::string_view name;  ///< "thread_work_ns"
  std::int64_t Tuning::*value;
  std::int64_t least;  ///< what a file may say
  std::int64_t most;
};
const std::vector<TuningField>& tuning_fields();

/// Where thresholds were looked for, and what was found.
struct StoredTuning {
  Tuning tuning;      ///< the file's, or the defaults
  std::string file;   ///< that was looked for; empty: none, WEFT_TUNE is off or there is no home
  std::string fault;  ///< why the file is ignored: "is damaged: ..."; empty if it is not
  bool is_stored = false;  ///< `tuning` is the file's
};

/// The file for this process: WEFT_TUNE names it or is "off"; else $XDG_CONFIG_HOME/weft/tuning, or
/// ~/.config/weft/tuning.  Empty if there is none, and in programs with more rights than their
/// caller.
std::string tuning_file();

/// Reads a file that store_tuning() wrote.  One that is damaged, was made on another processor or
/// by another version, or that other users can write, is not used, and `fault` says why.  A file
/// that is not there is no fault.  Never throws for what a file holds.
StoredTuning load_tuning(const std::string& file);

/// Makes the folder of a file that is to be stored.
///
/// Errors: DeviceError, which names the file, if store_tuning() would fail.
void check_tuning_file(const std::string& file);

/// Writes a file for this processor, with its folder, in one step.
///
/// Errors: DeviceError, which names the file.
void store_tuning(const std::string& file, const Tuning& tuning);

/// load_tuning(tuning_file()), once a process; a fault is logged (WEFT_LOG=tune).
const StoredTuning& machine_tuning();

/// As long as it lives, what this thread plans and compiles goes by other thresholds: for
/// measurements.  Plans and kernels that engines have keep theirs, so give each choice an engine of
/// its own.
class TuningScope {
 public:
  /// `tuning` must outlive the scope.
  explicit TuningScope(const Tuning& tuning);
  ~TuningScope();
  TuningScope(const TuningScope&) = delete;
  TuningScope& operator=(const TuningScope&) = delete;

 private:
  const Tuning* before_;
};

/// The thresholds of this thread's innermost TuningScope, else the machine's.
const Tuning& current_tuning();

}  // namespace weft
