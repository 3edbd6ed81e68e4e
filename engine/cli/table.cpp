#include "engine/cli/table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ostream>

namespace weft::cli {

void Table::print(std::ostream& out) const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] - row[i].size() + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  }
}

std::string short_number(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, std::fabs(value) >= 100 ? "%.0f" : "%.3g", value);
  return buffer;
}

}  // namespace weft::cli
