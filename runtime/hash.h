// Fast 64-bit hashes for keys that live in this process or on this machine's disk; not for
// security.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <bit>
#include <cstddef>
#include <cstdint>

namespace weft {

/// XXH3 of `size_bytes` bytes.
inline std::uint64_t hash_bytes(const void* data, std::size_t size_bytes, std::uint64_t seed = 0) {
  return XXH3_64bits_withSeed(data, size_bytes, seed);
}

/// Hash of a sequence of pairs of words.  Order and number of pairs count.
///
/// The products don't wait for each other, which makes this several times as fast as hash_bytes()
/// on the dozen words of a layout.
class PairHasher {
 public:
  void add(std::uint64_t a, std::uint64_t b) {
    // Numbers of their own for both words of each place; with one for both, (1, 1) would be (0, 0).
    first_ += 0x9e3779b97f4a7c15u;
    second_ += 0xd6e8feb86659fd93u;
    // Both halves of the product, which also keeps compilers from vectorising what SSE2 has no
    // multiplication for.
    const unsigned __int128 product = static_cast<unsigned __int128>(a + first_) * (b + second_);
    sum_ += static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }
  std::uint64_t hash() const {
    const std::uint64_t mixed = (sum_ ^ (sum_ >> 32)) * 0xff51afd7ed558ccdu;
    return mixed ^ (mixed >> 29);
  }

 private:
  std::uint64_t first_ = 0x243f6a8885a308d3u;
  std::uint64_t second_ = 0x13198a2e03707345u;
  std::uint64_t sum_ = 0;
};

/// The same of words that are there already.
inline std::uint64_t hash_pairs(const std::uint64_t* words, std::size_t count) {
  PairHasher hasher;
  std::size_t i = 0;
  for (; i + 1 < count; i += 2) hasher.add(words[i], words[i + 1]);
  hasher.add(i < count ? words[i] : 0, count);
  return hasher.hash();
}

/// Hash of a sequence of 64-bit words that are made one by one.  Order and number of words count.
///
/// XXH3's own streaming state is 576 bytes to clear, which costs more than hashing a layout.  Here
/// a word is one multiply, rotate and multiply; each step is a bijection of state and of word, so
/// sequences that differ in one word never collide.
class WordHasher {
 public:
  constexpr explicit WordHasher(std::uint64_t seed = 0) : state_(seed ^ 0x9e3779b97f4a7c15u) {}

  constexpr WordHasher& add(std::uint64_t word) {
    state_ ^= std::rotl(word * 0xbf58476d1ce4e5b9u, 29) * 0x94d049bb133111ebu;
    state_ = std::rotl(state_, 27) * 0xd6e8feb86659fd93u + num_words_++;
    return *this;
  }

  constexpr std::uint64_t hash() const {
    std::uint64_t result = (state_ ^ num_words_) * 0xff51afd7ed558ccdu;
    result = (result ^ (result >> 32)) * 0xc4ceb9fe1a85ec53u;
    return result ^ (result >> 29);
  }

 private:
  std::uint64_t state_;
  std::uint64_t num_words_ = 0;
};

}  // namespace weft
