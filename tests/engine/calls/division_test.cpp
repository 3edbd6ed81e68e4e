// Quotients and rests of 64-bit integers, which have a fast way where both have few bits.
#include "tests/engine/support/elements.h"
#include "tests/engine/support/engines.h"
#include "tests/ir/random_kernel.h"

#include <weft/engine.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace weft::testing {
namespace {

/// As the op table has it: 0 by 0, and the smallest by -1 wraps.
template <class T>
T quotient(T x, T y) {
  if (y == 0) return 0;
  if (std::is_signed_v<T> && y == static_cast<T>(-1))
    return static_cast<T>(0 - static_cast<std::uint64_t>(x));
  return static_cast<T>(x / y);
}

/// Of at most so many bits, next to powers of two and multiples among them.
template <class T>
std::vector<std::pair<T, T>> random_pairs(int bits, Random& random) {
  const auto number = [&] {
    std::uint64_t value = random() | static_cast<std::uint64_t>(random()) << 32;
    const int kept = 1 + static_cast<int>(ir::pick(random, static_cast<std::size_t>(bits)));
    value >>= 64 - kept;
    if (ir::pick(random, 4) == 0)
      value = (std::uint64_t{1} << (kept - 1)) - 2 + ir::pick(random, 4);
    const bool is_negative = std::is_signed_v<T> && ir::pick(random, 2) == 0;
    return static_cast<T>(is_negative ? 0 - value : value);
  };
  std::vector<std::pair<T, T>> pairs;
  for (int i = 0; i < 4003; ++i) {
    T x = number(), y = number();
    if (y == 0) y = 1;
    if (const std::uint64_t near = ir::pick(random, 6); near < 3)
      x = static_cast<T>(
          static_cast<std::uint64_t>(quotient(x, y)) * static_cast<std::uint64_t>(y) + near - 1);
    pairs.emplace_back(x, y);
  }
  return pairs;
}

template <class T>
class LongDivision : public ::testing::Test {};
using Longs = ::testing::Types<std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(LongDivision, Longs);

TYPED_TEST(LongDivision, IsThatOfOneByOne) {
  using T = TypeParam;
  Random random(51);
  for (const int bits : {8, 31, 50, 51, 52, 53, 64}) {
    const auto pairs = random_pairs<T>(bits, random);
    const auto count = static_cast<std::int64_t>(pairs.size());
    const Tensor a = new_tensor({count}, dtype_of<T>), b = new_tensor({count}, dtype_of<T>);
    for (std::int64_t i = 0; i < count; ++i) {
      put<T>(a, i, pairs[static_cast<std::size_t>(i)].first);
      put<T>(b, i, pairs[static_cast<std::size_t>(i)].second);
    }
    for (const auto& engine : engines({"interp", "xbyak", "llvm"})) {
      const Tensor quotients = engine->binary(Op::div_trunc, a, b);
      const Tensor rests = engine->binary(Op::fmod, a, b);
      for (std::int64_t i = 0; i < count; ++i) {
        const auto [x, y] = pairs[static_cast<std::size_t>(i)];
        const T expected = quotient(x, y);
        ASSERT_EQ(get<T>(quotients, i), expected)
            << x << " / " << y << " by " << engine->options().backend;
        ASSERT_EQ(get<T>(rests, i), static_cast<T>(static_cast<std::uint64_t>(x) -
                                                   static_cast<std::uint64_t>(expected) *
                                                       static_cast<std::uint64_t>(y)));
      }
    }
  }
}

}  // namespace
}  // namespace weft::testing
