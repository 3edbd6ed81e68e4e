// A picture of what weft bench measured.
#pragma once

#include "engine/cli/bench_report.h"

#include <string>

namespace weft::cli {

/// A file for a picture.  Everything that would keep it from being written is found out when this
/// is made, before anything is measured.
///
/// Errors: ArgumentError unless the name ends in .svg or .png; DeviceError if there can be no such
///         file; UnsupportedError for .png without python3 and matplotlib, which draw it.
class PlotFile {
 public:
  explicit PlotFile(std::string path);

  /// Bars of GB/s, a variant each, with a line where memcpy is.
  ///
  /// Errors: DeviceError if the file can't be written after all.
  void write(const BenchReport& report) const;

 private:
  std::string path_;
};

/// The picture as SVG, which needs nothing.
std::string svg_of(const BenchReport& report);

// What both pictures say.  The limit is memcpy's speed, 0 if it was not timed.
std::string plot_title(const BenchReport& report);
std::string bar_label(const BenchReport::Row& row);
double limit_gbps(const BenchReport& report);

}  // namespace weft::cli
