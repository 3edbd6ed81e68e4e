// What weft bench measured, and how it is shown: a table, JSON; plot.h has the picture.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::cli {

struct BenchReport {
  struct Row {
    std::string variant;
    double ns = 0;    ///< a call
    double gbps = 0;  ///< of what a call reads and writes
  };
  struct Skipped {
    std::string variant;
    std::string reason;
  };

  std::string expression;
  int threads = 1;
  std::int64_t bytes = 0;  ///< read and written by one call
  std::vector<Row> rows;
  std::vector<Skipped> skipped;

  /// 0 if the variant was not timed.
  double ns_of(std::string_view variant) const;
  /// Speed against another variant's, if that was timed.
  std::optional<double> ratio(const Row& row, std::string_view variant) const;
};

void print_json(const BenchReport& report);
void print_table(const BenchReport& report);

}  // namespace weft::cli
