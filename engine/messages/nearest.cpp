#include "engine/messages/nearest.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace weft {
namespace {

// Levenshtein's distance, one row of the table at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::size_t unlikeness(std::string_view word, std::string_view known) {
  // A shortened or lengthened word is nearer than its edits say: max -> maximum.
  const bool extends = known.starts_with(word) || word.starts_with(known);
  return 2 * edit_distance(word, known) / (extends ? 4 : 1);
}

}  // namespace

std::string nearest_first(std::string_view word, std::vector<std::string> known,
                          std::size_t limit) {
  // Names are short; the head of a huge word tells enough.
  word = word.substr(0, 64);
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (std::string& candidate : known) {
    const std::size_t rank = unlikeness(word, candidate);
    ranked.emplace_back(rank, std::move(candidate));
  }
  std::ranges::stable_sort(ranked, {}, &std::pair<std::size_t, std::string>::first);
  std::string result;
  for (std::size_t i = 0; i < std::min(limit, ranked.size()); ++i) {
    if (i > 0) result += ", ";
    result += ranked[i].second;
  }
  if (ranked.size() > limit) result += ", ...";
  return result;
}

}  // namespace weft
