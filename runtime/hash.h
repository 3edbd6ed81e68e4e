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
