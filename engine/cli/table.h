// Columns that line up.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace weft::cli {

/// Rows of cells, printed with every column as wide as its widest cell.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  void print(std::ostream& out) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// Three significant digits and more where the number is large: 0.0123, 1.23, 12345.
std::string short_number(double value);

}  // namespace weft::cli
