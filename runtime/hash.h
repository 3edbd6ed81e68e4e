// Fast 64-bit hashes for keys that live in this process or on this machine's disk; not for
// security.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace weft {

/// XXH3 of `size_bytes` bytes.
inline std::uint64_t hash_bytes(const void* data, std::size_t size_bytes, std::uint64_t seed = 0) {
  return XXH3_64bits_withSeed(data, size_bytes, seed);
}

/// Hash of `count` words that are there already.  Order and number of words count.
///
/// The products of a block don't wait for each other, which makes this several times as fast as
/// hash_bytes() on the dozen words of a layout.
inline std::uint64_t hash_pairs(const std::uint64_t* words, std::size_t count) {
  // Digits of pi: each word of a block is added to a number of its own, so that places count.
  constexpr std::uint64_t keys[] = {
      0x243f6a8885a308d3u, 0x13198a2e03707345u, 0xa4093822299f31d1u, 0x082efa98ec4e6c89u,
      0x452821e638d01377u, 0xbe5466cf34e90c6du, 0xc0ac29b7c97c50ddu, 0x3f84d5b5b5470917u,
      0x9216d5d98979fb1bu, 0xd1310ba698dfb5adu, 0x2ffd72dbd01adfb7u, 0xb8e1afed6a267e97u,
      0xba7c9045f12c7f99u, 0x24a19947b3916cf7u, 0x0801f2e2858efc17u, 0x636920d871574e69u};
  constexpr std::size_t block = std::size(keys);
  // Both halves of a product, which also keeps compilers from vectorising what SSE2 has no
  // multiplication for.
  const auto product = [](std::uint64_t a, std::uint64_t b) {
    const unsigned __int128 wide = static_cast<unsigned __int128>(a) * b;
    return static_cast<std::uint64_t>(wide) ^ static_cast<std::uint64_t>(wide >> 64);
  };
  std::uint64_t hash = count;
  for (; count > block; words += block, count -= block) {
    for (std::size_t i = 0; i < block; i += 2)
      hash += product(words[i] + keys[i], words[i + 1] + keys[i + 1]);
    hash = (hash ^ (hash >> 32)) * 0xd6e8feb86659fd93u;
  }
  std::size_t i = 0;
  for (; i + 1 < count; i += 2) hash += product(words[i] + keys[i], words[i + 1] + keys[i + 1]);
  if (i < count) hash += product(words[i] + keys[i], keys[i + 1]);
  hash = (hash ^ (hash >> 32)) * 0xff51afd7ed558ccdu;
  return hash ^ (hash >> 29);
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
