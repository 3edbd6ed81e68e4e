#include "engine/cli/bench_report.h"

#include "engine/cli/table.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>

namespace weft::cli {

double BenchReport::ns_of(std::string_view variant) const {
  const auto row = std::ranges::find(rows, variant, &Row::variant);
  return row == rows.end() ? 0 : row->ns;
}

std::optional<double> BenchReport::ratio(const Row& row, std::string_view variant) const {
  const double ns = ns_of(variant);
  return ns == 0 ? std::nullopt : std::optional(ns / row.ns);
}

void print_json(const BenchReport& report) {
  using nlohmann::ordered_json;
  const auto number = [](const std::optional<double>& value) {
    return value ? ordered_json(*value) : ordered_json();
  };
  ordered_json json;
  json["expression"] = report.expression;
  json["threads"] = report.threads;
  json["bytes"] = report.bytes;
  json["rows"] = ordered_json::array();
  for (const BenchReport::Row& row : report.rows) {
    json["rows"].push_back({{"variant", row.variant},
                            {"ns", row.ns},
                            {"gbps", row.gbps},
                            {"ratio_to_interp", number(report.ratio(row, "interp"))},
                            {"fraction_of_memcpy", number(report.ratio(row, "memcpy"))}});
  }
  json["skipped"] = ordered_json::array();
  for (const BenchReport::Skipped& skipped : report.skipped) {
    json["skipped"].push_back({{"variant", skipped.variant}, {"reason", skipped.reason}});
  }
  std::cout << json.dump(2, ' ', false, ordered_json::error_handler_t::replace) << '\n';
}

void print_table(const BenchReport& report) {
  std::cout << report.expression << ": " << report.bytes << " bytes a call, " << report.threads
            << (report.threads == 1 ? " thread" : " threads") << " (naive and memcpy: always 1)\n";
  const auto number = [](const std::optional<double>& value) {
    return value ? short_number(*value) : "-";
  };
  Table table({"variant", "ns/call", "GB/s", "x interp", "of memcpy"});
  for (const BenchReport::Row& row : report.rows) {
    table.add({row.variant, short_number(row.ns), short_number(row.gbps),
               number(report.ratio(row, "interp")), number(report.ratio(row, "memcpy"))});
  }
  table.print(std::cout);
  for (const BenchReport::Skipped& skipped : report.skipped) {
    std::cout << skipped.variant << ": left out: " << skipped.reason << '\n';
  }
}

}  // namespace weft::cli
