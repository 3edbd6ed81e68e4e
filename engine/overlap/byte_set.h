// Sets of bytes of a span of memory, a bit for each: what a strided view occupies, built in as many
// steps as its sizes have binary digits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft {

class ByteSet {
 public:
  /// Empty, of bytes with numbers below `num_bytes`.  What is moved beyond them may be gone.
  explicit ByteSet(std::size_t num_bytes) : words_(num_bytes / word_bits + 1) {}

  void add(std::size_t first, std::size_t count) {
    for (std::size_t byte = first; byte < first + count; ++byte)
      words_[byte / word_bits] |= std::uint64_t{1} << byte % word_bits;
  }
  /// Those of a set of no more bytes than this one.
  void add(const ByteSet& other) {
    for (std::size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
  }

  /// Moves all by `distance`.
  void shift(std::size_t distance) {
    for (std::size_t i = words_.size(); i-- > 0;) words_[i] = moved_word(i, distance);
  }
  /// Makes it the union of `count` copies (1 or more), each `distance` beyond the one before.
  void repeat(std::size_t distance, std::size_t count) {
    if (distance == 0) return;
    for (std::size_t copies = 1; copies < count;) {
      const std::size_t more = std::min(copies, count - copies);
      for (std::size_t i = words_.size(); i-- > 0;) words_[i] |= moved_word(i, more * distance);
      copies += more;
    }
  }

  bool intersects(const ByteSet& other) const {
    const std::size_t common = std::min(words_.size(), other.words_.size());
    for (std::size_t i = 0; i < common; ++i)
      if ((words_[i] & other.words_[i]) != 0) return true;
    return false;
  }

 private:
  static constexpr std::size_t word_bits = 64;

  /// Word `i` of this moved up, which takes words up to `i` alone: from the last on in place.
  std::uint64_t moved_word(std::size_t i, std::size_t distance) const {
    const std::size_t words = distance / word_bits, bits = distance % word_bits;
    if (words > i) return 0;
    std::uint64_t word = words_[i - words] << bits;
    if (bits != 0 && words < i) word |= words_[i - words - 1] >> (word_bits - bits);
    return word;
  }

  std::vector<std::uint64_t> words_;
};

}  // namespace weft
