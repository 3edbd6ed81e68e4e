// From extents, strides and addresses to variants, grids and arguments; and the index arithmetic of
// generated source for tensors that no test could hold.
#include "jit/nvrtc/launch.h"
#include "jit/nvrtc/operators.h"
#include "tests/jit/nvrtc/batch.h"

#include <weft/error.h>

#include <dlfcn.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace weft::jit::test {
namespace {

using nvrtc::Divisor;
using nvrtc::Launch;
using nvrtc::Nest;
using nvrtc::Variant;

constexpr ir::StrideClass any = ir::stride_any;

TEST(NvrtcLaunch, DivisorsAreExact) {
  void* const library =
      build_library("#include \"tests/jit/nvrtc/cuda_shim.h\"\n" + nvrtc::prelude_for("quotient") +
                    "extern \"C\" u64 divide(u64 n, const Divisor& by, bool is_wide) {\n"
                    "  return is_wide ? quotient(n, by) : quotient(u32(n), by);\n}\n");
  ASSERT_NE(library, nullptr);
  const auto divide = reinterpret_cast<std::uint64_t (*)(std::uint64_t, const Divisor&, bool)>(
      dlsym(library, "divide"));
  std::mt19937_64 random(3);
  for (int i = 0; i < 200000; ++i) {
    const int bits = i % 2 == 0 ? 32 : 64;
    const std::uint64_t limit = std::uint64_t{1} << (bits - 1);
    const std::uint64_t divisor =
        std::max<std::uint64_t>(1, (random() % limit) >> (random() % static_cast<unsigned>(bits)));
    const Divisor by = nvrtc::make_divisor(divisor, bits);
    // Multiples and their neighbours are where a wrong factor shows.
    const std::uint64_t multiple = random() % limit / divisor * divisor;
    for (const std::uint64_t n :
         {multiple, multiple + 1, multiple - 1, limit - 1, random() % limit}) {
      if (n >= limit) continue;
      ASSERT_EQ(divide(n, by, bits == 64), n / divisor) << n << " / " << divisor;
      ASSERT_LE(by.magic, std::numeric_limits<std::uint64_t>::max() >> (64 - bits));
    }
  }
}

TEST(NvrtcLaunch, QuotientsByOneNumberAreRoundedCorrectly) {
  void* const library = build_library(
      "#include \"tests/jit/nvrtc/cuda_shim.h\"\n" + nvrtc::prelude_for("FloatDivider") +
      "extern \"C\" void divide_all(float by, const float* x, float* y, int count) {\n"
      "  const FloatDivider d = float_divider(by);\n"
      "  for (int i = 0; i < count; ++i) y[i] = divided(x[i], d);\n}\n");
  ASSERT_NE(library, nullptr);
  const auto divide_all =
      reinterpret_cast<void (*)(float, const float*, float*, int)>(dlsym(library, "divide_all"));
  std::mt19937 random(4);
  const auto bits = [](float x) { return std::bit_cast<std::uint32_t>(x); };
  constexpr float edges[] = {0,       -0.0F,         1,        3,        255,
                             0.225F,  0x1.fffffep0F, 0x1p-60F, 0x1p60F,  0x1p-61F,
                             0x1p61F, 0x1p-149F,     0x1p127F, INFINITY, NAN};
  std::vector<float> dividends(std::begin(edges), std::end(edges)), divisors = dividends;
  for (int i = 0; i < 3000; ++i) {
    dividends.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
    // Of a middling size, and with mantissas of few ones, whose quotients come close to halves.
    dividends.push_back(
        std::ldexp(static_cast<float>(random() % (1u << (1 + i % 24))), i % 40 - 30));
    if (i % 3 == 0)
      divisors.push_back(std::ldexp(static_cast<float>(1 + random() % (1u << 24)), i % 80 - 60));
    if (i % 10 == 0) divisors.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
  }
  std::vector<float> quotients(dividends.size());
  for (const float by : divisors) {
    divide_all(by, dividends.data(), quotients.data(), static_cast<int>(dividends.size()));
    for (std::size_t i = 0; i < dividends.size(); ++i) {
      const float expected = dividends[i] / by;
      ASSERT_TRUE(bits(quotients[i]) == bits(expected) ||
                  (std::isnan(quotients[i]) && std::isnan(expected)))
          << dividends[i] << " / " << by << " is " << expected << ", not " << quotients[i];
    }
  }
}

/// A nest of extents and, an operand after the other, strides in bytes.
Nest nest_of(const std::vector<std::int64_t>& extents,
             const std::vector<std::vector<std::int64_t>>& strides, std::uint64_t base = 0) {
  Nest nest;
  nest.extents = extents;
  for (std::size_t loop = 0; loop < extents.size(); ++loop)
    for (const auto& stride : strides) nest.stride_bytes.push_back(stride[loop]);
  nest.base.assign(strides.size(), base);
  return nest;
}

TEST(NvrtcLaunch, IndicesGetWideWhereTheyMust) {
  const ir::Kernel line = nvrtc::prepare(cuda_copy(DType::f64, DType::f64, {1}, {1})).kernel;
  const std::int64_t two31 = std::int64_t{1} << 31;
  EXPECT_EQ(nvrtc::choose_variant(line, nest_of({two31 - 1}, {{8}, {8}})),
            (Variant{.items = 2, .index_bits = 32}));  // 16 GiB
  EXPECT_EQ(nvrtc::choose_variant(line, nest_of({two31}, {{8}, {8}})).index_bits, 64);
  const ir::Kernel rows =
      nvrtc::prepare(cuda_copy(DType::u8, DType::u8, {any, any}, {any, 1})).kernel;
  EXPECT_EQ(nvrtc::choose_variant(rows, nest_of({3, 5}, {{8, 1}, {two31, 2}})).index_bits, 64);
  EXPECT_EQ(nvrtc::choose_variant(rows, nest_of({3, 5}, {{8, 1}, {two31 - 1, 2}})).index_bits, 32);
  EXPECT_EQ(nvrtc::choose_variant(rows, nest_of({1 << 16, 1 << 15}, {{1 << 15, 1}, {8, 9}})),
            (Variant{.items = 16, .index_bits = 32}));
  EXPECT_EQ(nvrtc::choose_variant(rows, nest_of({1 << 16, (1 << 15) - 1}, {{1 << 15, 1}, {8, 9}})),
            (Variant{.items = 1, .index_bits = 32}));
  EXPECT_EQ(nvrtc::choose_variant(rows, nest_of({1 << 16, 1 << 19}, {{1 << 19, 1}, {8, 9}})),
            (Variant{.items = 16, .index_bits = 64}));
}

TEST(NvrtcLaunch, GridsAreNoLargerThanTheWork) {
  const ir::Kernel add = nvrtc::prepare(cuda_kernel(Op::add, DType::f32)).kernel;
  const Nest nest = nest_of({10000}, {{4}, {4}, {4}});
  const Variant variant = nvrtc::choose_variant(add, nest);
  EXPECT_EQ(variant, (Variant{.items = 4, .index_bits = 32}));
  EXPECT_EQ(nvrtc::vectors_in_flight(add, variant.items), 1);
  EXPECT_EQ(nvrtc::plan_launch(add, variant, nest).blocks, 10u);  // of 1024 items
  EXPECT_EQ(nvrtc::plan_launch(add, variant, nest, 2).blocks, 2u);
  // Fewer items than a vector: there is a block for them.
  EXPECT_EQ(nvrtc::plan_launch(add, variant, nest_of({3}, {{4}, {4}, {4}})).blocks, 1u);
}

TEST(NvrtcLaunch, ElementsAtOddAddressesAreRefused) {
  const auto variant_at = [](std::uint64_t base, ir::StrideClass known, std::int64_t stride) {
    const ir::Kernel add =
        nvrtc::prepare(cuda_kernel(Op::add, DType::f32, 1, {{1}, {1}, {known}})).kernel;
    Nest nest = nest_of({10}, {{4}, {4}, {stride}});
    nest.base[2] = base;
    return nvrtc::choose_variant(add, nest);
  };
  EXPECT_EQ(variant_at(4, 0, 0), (Variant{.items = 4}));
  EXPECT_EQ(variant_at(6, 0, 0), (Variant{.items = 4, .halves = true}));
  EXPECT_EQ(variant_at(4, any, 12), (Variant{.items = 4}));
  EXPECT_EQ(variant_at(4, any, 14), (Variant{.items = 4, .halves = true}));
  try {
    variant_at(9, 1, 4);
    FAIL() << "nothing is thrown";
  } catch (const UnsupportedError& error) {
    EXPECT_STREQ(error.what(), "$2 has f32 elements at multiples of 1 bytes; devices need 2 or 4");
  }
}

TEST(NvrtcLaunch, NoWorkIsABlockThatDoesNothing) {
  const ir::Kernel rows =
      nvrtc::prepare(cuda_kernel(Op::add, DType::f32, 2, {{any, 1}, {any, 1}, {0, 1}})).kernel;
  for (const auto& [outer, inner] : {std::pair{0, 16}, {3, 0}, {0, 0}}) {
    const Nest nest = nest_of({outer, inner}, {{64, 4}, {64, 4}, {0, 4}});
    const Launch launch = nvrtc::plan_launch(rows, nvrtc::choose_variant(rows, nest), nest);
    EXPECT_EQ(launch.blocks, 1u);
    EXPECT_EQ(launch.arguments[3 + 6], 0u);  // behind bases and strides: the work
  }
  const ir::Kernel tiles =
      nvrtc::prepare(cuda_copy(DType::u8, DType::u8, {1, any}, {any, 1})).kernel;
  const Nest nest = nest_of({5, 0}, {{64, 1}, {1, 64}});
  EXPECT_EQ(nvrtc::plan_launch(tiles, nvrtc::choose_variant(tiles, nest), nest).blocks, 1u);
}

/// The function `locate` of a kernel's source, to be run on the CPU.
class Locator {
 public:
  Locator(const ir::Kernel& kernel, const Nest& nest)
      : kernel_(nvrtc::prepare(kernel).kernel), nest_(nest) {
    variant_ = nvrtc::choose_variant(kernel_, nest);
    launch_ = nvrtc::plan_launch(kernel_, variant_, nest);
  }

  /// The source in a namespace, with a C function of the same name to call it by.
  std::string source(const std::string& name) const {
    const bool is_tile = kernel_.schedule == ir::Schedule::tile;
    return detail::concat("#define weft_kernel weft_kernel_", name, "\nnamespace ", name, " {\n",
                          nvrtc::emit_source(kernel_, variant_),
                          "}\n#undef weft_kernel\nextern \"C\" void locate_", name,
                          "(const void* args, unsigned long long at, long long* offsets) {\n  ",
                          name, "::i64 found[", kernel_.operands.size(), "];\n  ", name,
                          "::Index column = 0, row = 0, batch = 0;\n  ", name, "::locate(*(const ",
                          name, "::Args*)args, ", name, "::Index(at), ",
                          is_tile ? "column, row, batch, " : "", "found);\n  for (int k = 0; k < ",
                          kernel_.operands.size(), "; ++k) offsets[k] = found[k];\n}\n");
  }

  const Variant& variant() const { return variant_; }

  using Locate = void (*)(const void* args, unsigned long long at, long long* offsets);
  /// Compares `count` random numbers of vectors or tiles with what long division gives.
  void check(Locate locate, int count) const {
    ASSERT_NE(locate, nullptr);
    std::mt19937_64 random(8);
    const std::uint64_t work = launch_.arguments[nest_.base.size() + nest_.stride_bytes.size()];
    for (int i = 0; i < count; ++i) {
      const std::uint64_t at = i == 0 ? work - 1 : i == 1 ? 0 : random() % work;
      std::vector<long long> offsets(nest_.base.size());
      locate(launch_.arguments.data(), at, offsets.data());
      for (std::size_t k = 0; k < offsets.size(); ++k)
        ASSERT_EQ(offsets[k], expected(at, k)) << "vector " << at << ", operand " << k;
    }
  }

 private:
  std::int64_t expected(std::uint64_t at, std::size_t operand) const {
    const std::size_t num_loops = nest_.extents.size();
    const bool is_tile = kernel_.schedule == ir::Schedule::tile;
    std::int64_t offset = 0;
    for (std::size_t loop = num_loops; loop-- > 0;) {
      const std::int64_t step = nvrtc::loop_step(kernel_, variant_, loop);
      const auto count = static_cast<std::uint64_t>(
          is_tile ? (nest_.extents[loop] + step - 1) / step : nest_.extents[loop] / step);
      const auto index = static_cast<std::int64_t>(loop == 0 ? at : at % count);
      at /= count;
      offset += index * step * nest_.stride_bytes[loop * nest_.base.size() + operand];
    }
    return offset;
  }

  ir::Kernel kernel_;
  Nest nest_;
  Variant variant_;
  Launch launch_;
};

void check_all(const std::vector<const Locator*>& locators) {
  const auto name = [](std::size_t i) { return "k" + std::to_string(i); };
  std::string source = "#include \"tests/jit/nvrtc/cuda_shim.h\"\n";
  for (std::size_t i = 0; i < locators.size(); ++i) source += locators[i]->source(name(i));
  void* const library = build_library(source);
  ASSERT_NE(library, nullptr);
  for (std::size_t i = 0; i < locators.size(); ++i)
    locators[i]->check(
        reinterpret_cast<Locator::Locate>(dlsym(library, ("locate_" + name(i)).c_str())), 2000);
}

TEST(NvrtcLaunch, OffsetsBeyond32BitsOfItems) {
  const std::int64_t rows = 70001, columns = 90001;  // 6.3e9 items
  const Locator strided(
      cuda_copy(DType::f32, DType::f32, {any, any, any}, {any, any, 1}),
      nest_of({3, rows, columns}, {{rows * columns * 4, columns * 4, 4}, {4, 12, 12 * rows}}));
  EXPECT_EQ(strided.variant().index_bits, 64);
  const Locator line(cuda_copy(DType::u8, DType::u8, {1}, {1}),
                     nest_of({std::int64_t{1} << 40}, {{1}, {1}}));
  EXPECT_EQ(line.variant(), (Variant{.items = 16, .index_bits = 64}));
  const Locator tiles(cuda_copy(DType::u16, DType::u16, {any, 1, any}, {any, any, 1}),
                      nest_of({5, 70000, 90000}, {{70000ll * 90000 * 2, 180000, 2},
                                                  {70000ll * 90000 * 2, 2, 140000}}));
  EXPECT_EQ(tiles.variant().index_bits, 64);  // the stride of the outermost loop
  check_all({&strided, &line, &tiles});
}

TEST(NvrtcLaunch, OffsetsBeyond32BitsOfBytes) {
  // 2^31 - 1 items at most, and offsets of tens of GiB.
  const Locator rows(cuda_copy(DType::f64, DType::f64, {any, any}, {any, 1}),
                     nest_of({40000, 50000}, {{400000, 8}, {-8, 320000}}));
  EXPECT_EQ(rows.variant().index_bits, 32);
  const Locator tiles(cuda_copy(DType::f64, DType::f64, {1, any}, {any, 1}),
                      nest_of({40000, 50000}, {{400000, 8}, {8, 320000}}));
  EXPECT_EQ(tiles.variant().index_bits, 32);
  check_all({&rows, &tiles});
}

}  // namespace
}  // namespace weft::jit::test
