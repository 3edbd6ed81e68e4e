// The loops of scans, of each instruction set that the machine has, against plain C++.
#include "jit/fold/scan.h"
#include "tests/jit/xbyak/harness.h"

#include <weft/dtype.h>
#include <weft/op.h>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace weft::jit::testing {
namespace {

/// Rows whose elements lie behind one another, or whose neighbours do, with room around them.
template <class T>
struct Plane {
  static constexpr std::int64_t margin = 24;

  Plane(std::int64_t rows, std::int64_t count, bool are_neighbours, std::int64_t first)
      : row_step(are_neighbours ? 1 : count + 3),
        step(are_neighbours ? rows + 3 : 1),
        at_first(margin + first),
        memory(static_cast<std::size_t>(2 * margin + 8 + (rows + 3) * (count + 3)), T(77)) {}

  std::size_t place(std::int64_t row, std::int64_t i) const {
    return static_cast<std::size_t>(at_first + row * row_step + i * step);
  }
  ScanOperand operand(std::int64_t begin) {
    constexpr auto itemsize = static_cast<std::int64_t>(sizeof(T));
    return {reinterpret_cast<std::byte*>(&memory[place(0, begin)]), row_step * itemsize,
            step * itemsize};
  }

  std::int64_t row_step, step, at_first;
  std::vector<T> memory;
};

/// f32 accumulates in f64, integers wrap.
template <class T>
Plane<T> scanned(const Plane<T>& from, Plane<T> to, std::int64_t rows, std::int64_t count, Op op) {
  using Kept = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;
  for (std::int64_t row = 0; row < rows; ++row) {
    Kept kept = op == Op::add ? 0 : 1;
    for (std::int64_t i = 0; i < count; ++i) {
      const Kept x = static_cast<Kept>(from.memory[from.place(row, i)]);
      kept = op == Op::add ? kept + x : kept * x;
      to.memory[to.place(row, i)] = static_cast<T>(kept);
    }
  }
  return to;
}

template <class T>
void agree(DType dtype, Isa isa, Random& random) {
  // Few rows and many, of fewer elements than a vector has and of more than a cache line or a
  // square; from 2 KB of neighbours on lines go past the caches.
  constexpr std::array<std::array<std::int64_t, 2>, 10> sizes{{{1, 40},
                                                               {2, 1},
                                                               {3, 19},
                                                               {7, 8},
                                                               {8, 64},
                                                               {21, 33},
                                                               {515, 6},
                                                               {1031, 5},
                                                               {2050, 9},
                                                               {9001, 3}}};
  for (const auto& [rows, count] : sizes)
    for (const Op op : {Op::add, Op::mul})
      for (const bool are_neighbours : {false, true})
        for (const bool streams : {false, true})
          for (const bool in_parts : {false, true}) {
            if (in_parts && count <= ScanParts::unit) continue;
            const auto first = static_cast<std::int64_t>(random() % 8);
            Plane<T> from(rows, count, are_neighbours, 0);
            Plane<T> to(rows, count, are_neighbours, first);
            for (T& x : from.memory)
              x = static_cast<T>((static_cast<double>(random() % 4001) - 2000) / 1000);
            const Plane<T> expected = scanned(from, to, rows, count, op);
            Scan scan = make_scan(op, dtype, isa);
            ASSERT_EQ(scan.isa, isa);
            scan.streams = streams;
            scan.ahead_bytes = streams ? 256 : 0;
            if (in_parts) {
              std::vector<std::byte> kept(static_cast<std::size_t>(rows * ScanParts::bytes_a_row));
              constexpr std::int64_t part = ScanParts::unit;
              scan.run(scan, to.operand(0), from.operand(0), rows, part, {kept.data(), true},
                       nullptr);
              scan.run(scan, to.operand(part), from.operand(part), rows, count - part,
                       {kept.data(), false}, nullptr);
            } else {
              scan.run(scan, to.operand(0), from.operand(0), rows, count, {}, nullptr);
            }
            ASSERT_EQ(to.memory, expected.memory)
                << name(op) << " " << name(dtype) << " " << name(isa) << ", " << rows << " rows of "
                << count << (are_neighbours ? ", neighbours" : "") << (streams ? ", streamed" : "")
                << (in_parts ? ", in parts" : "");
          }
}

class ScanLoops : public ::testing::TestWithParam<Isa> {};

TEST_P(ScanLoops, AgreeWithPlainOnes) {
  Random random(seed());
  agree<float>(DType::f32, GetParam(), random);
  agree<double>(DType::f64, GetParam(), random);
  agree<std::int64_t>(DType::i64, GetParam(), random);
}

INSTANTIATE_TEST_SUITE_P(Targets, ScanLoops, ::testing::ValuesIn(runnable_isas()),
                         [](const auto& param) { return std::string(name(param.param)); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ScanLoops);

}  // namespace
}  // namespace weft::jit::testing
