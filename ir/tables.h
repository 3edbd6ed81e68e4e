// Tables of 16 numbers, each of which a register of AVX-512 holds: what functions of f32 look up in
// place of half their polynomial.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

namespace weft::ir {

/// Which table: as a constant, the second argument of table_entry.
enum class Table {
#define WEFT_TABLE(name, ...) name,
#include "ir/tables.def"
#undef WEFT_TABLE
};

using TableEntries = std::array<float, 16>;

inline constexpr TableEntries tables[] = {
#define WEFT_TABLE(name, ...) TableEntries{__VA_ARGS__},
#include "ir/tables.def"
#undef WEFT_TABLE
};

/// The table of that number, or the first or last where there is none.
inline const TableEntries& table_of(double number) {
  constexpr std::size_t last = std::size(tables) - 1;
  return tables[number > 0 ? static_cast<std::size_t>(std::min(number, static_cast<double>(last)))
                           : 0];
}

}  // namespace weft::ir
