// Hashes: stable, sensitive to everything, without collisions where none may be.
#include "runtime/hash.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include <bit>
#include <cstdint>
#include <string>
#include <unordered_set>

namespace weft {
namespace {

TEST(HashBytes, IsXxh3) {
  // The published values of XXH3_64bits for the empty input.
  EXPECT_EQ(hash_bytes("", 0), 0x2d06800538d394c2u);
  EXPECT_NE(hash_bytes("", 0, 1), hash_bytes("", 0));
  const std::string text = "f32[3,4]{4,1}";
  std::unordered_set<std::uint64_t> hashes;
  for (std::size_t i = 0; i <= text.size(); ++i) hashes.insert(hash_bytes(text.data(), i));
  EXPECT_EQ(hashes.size(), text.size() + 1);
}

TEST(WordHasher, CountsOrderNumberAndSeed) {
  EXPECT_EQ(WordHasher().add(1).add(2).hash(), WordHasher().add(1).add(2).hash());
  EXPECT_NE(WordHasher().add(1).add(2).hash(), WordHasher().add(2).add(1).hash());
  EXPECT_NE(WordHasher().add(0).hash(), WordHasher().add(0).add(0).hash());
  EXPECT_NE(WordHasher(1).add(1).hash(), WordHasher(2).add(1).hash());
}

TEST(WordHasher, SpreadsSmallWords) {
  std::unordered_set<std::uint64_t> hashes;
  std::unordered_set<std::uint64_t> low_bits;
  for (std::uint64_t i = 0; i < 256; ++i) {
    for (std::uint64_t j = 0; j < 256; ++j) {
      const std::uint64_t hash = WordHasher().add(i).add(j).hash();
      hashes.insert(hash);
      low_bits.insert(hash & 0xffff);
    }
  }
  EXPECT_EQ(hashes.size(), 65536u);
  // Of 65536 random values of 16 bits, 1 - 1/e are different: 41427, give or take a few hundred.
  EXPECT_NEAR(static_cast<double>(low_bits.size()), 41427, 1000);
}

TEST(WordHasher, OneBitOfAWordChangesHalfOfTheHash) {
  int changed_bits = 0;
  for (int bit = 0; bit < 64; ++bit)
    changed_bits += std::popcount(WordHasher().add(42).hash() ^
                                  WordHasher().add(42 ^ (std::uint64_t{1} << bit)).hash());
  EXPECT_NEAR(changed_bits / 64.0, 32, 3);
}

TEST(HashPairs, TellsLayoutsApart) {
  // Words as keys of calls have them: small numbers, most of them equal.
  std::set<std::uint64_t> hashes;
  std::vector<int> low_bits(256);
  std::size_t count = 0;
  for (std::uint64_t a = 0; a < 16; ++a)
    for (std::uint64_t b = 0; b < 16; ++b)
      for (std::uint64_t c = 0; c < 16; ++c)
        for (const std::size_t place : {0u, 3u, 11u, 17u, 30u}) {
          std::vector<std::uint64_t> words(place + 3 + c % 3, 1);
          words[place] = a + 2;
          words[place + 1] = b + 2;
          words[place + 2] = c + 2;
          const std::uint64_t hash = hash_pairs(words.data(), words.size());
          hashes.insert(hash);
          ++low_bits[hash % 256];
          ++count;
        }
  EXPECT_EQ(hashes.size(), count);
  const int expected = static_cast<int>(count / 256);
  for (const int bucket : low_bits) EXPECT_NEAR(bucket, expected, expected / 2 + 30);
}

TEST(HashPairs, CountsWordsAndPlaces) {
  const std::uint64_t words[40] = {1, 2, 0, 0};
  std::set<std::uint64_t> hashes;
  for (std::size_t count = 0; count <= 40; ++count) hashes.insert(hash_pairs(words, count));
  EXPECT_EQ(hashes.size(), 41u);
  const std::uint64_t swapped[4] = {2, 1, 0, 0};
  EXPECT_NE(hash_pairs(words, 4), hash_pairs(swapped, 4));
}

}  // namespace
}  // namespace weft
