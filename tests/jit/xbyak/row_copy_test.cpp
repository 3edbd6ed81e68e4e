// Rows that are copied as they are, some of them by the processor's own loop.
#include "tests/jit/xbyak/harness.h"

#include <weft/dtype.h>

#include <algorithm>
#include <array>
#include <span>

namespace weft::jit::testing {
namespace {

using ir::no_value;

class RowCopy : public ::testing::TestWithParam<Isa> {
 protected:
  Random random_{seed()};

  static Target target(int amd_family) {
    Target result = target_for(GetParam());
    result.features.amd_family = amd_family;
    return result;
  }

  static ir::Kernel copy_kernel(DType dtype, std::size_t num_loops) {
    ir::Kernel kernel = make_kernel({dtype, dtype}, num_loops, ir::stride_any);
    for (ir::Operand& operand : kernel.operands) operand.strides.back() = 1;
    kernel.body = {
        {.op = Op::load, .dtype = dtype, .operand = 1},
        {.op = Op::store, .dtype = dtype, .operand = 0, .args = {0, no_value, no_value, no_value}}};
    return scheduled(kernel, GetParam());
  }

  void agree(DType dtype, const std::vector<std::int64_t>& extents) {
    const ir::Kernel kernel = copy_kernel(dtype, extents.size());
    for (const char* backend : {"xbyak", "llvm"})
      for (const int amd_family : {0, 26}) {
        if (!unavailable_reason(backend).empty()) continue;
        const Comparison comparison(kernel, target(amd_family), backend);
        for (const Placement placement : {Placement::at_end, Placement::at_start})
          ASSERT_TRUE(comparison.agree(
              {.extents = extents, .placement = placement, .compares_nans = true}, random_))
              << "rows of " << extents.back() << ", family " << amd_family << ", " << backend;
      }
  }
};

TEST_P(RowCopy, RowsAroundWhatIsLong) {
  for (const DType dtype : {DType::u8, DType::u16, DType::u32, DType::u64}) {
    const std::int64_t least = (28 << 10) / static_cast<std::int64_t>(itemsize_bytes(dtype));
    for (const std::int64_t size : {least - 1, least, least + 1, 2 * least + 77})
      agree(dtype, {size});
  }
}

// Rows of 4 KiB and more, if all of them together are long.
TEST_P(RowCopy, SeveralRows) {
  for (const DType dtype : {DType::u8, DType::u16, DType::u32, DType::u64}) {
    const std::int64_t least = (4 << 10) / static_cast<std::int64_t>(itemsize_bytes(dtype));
    for (const std::int64_t size : {least - 1, least, least + 3})
      for (const auto& [first, second] : {std::pair{2, 2}, {2, 3}, {3, 3}, {1, 7}, {7, 1}}) {
        agree(dtype, {first, second, size});
        agree(dtype, {std::int64_t{first} * second, size});
      }
  }
}

// The same row again and again, and rows from the last to the first.
TEST_P(RowCopy, RowsThatStandStillOrGoBackwards) {
  const ir::Kernel kernel = copy_kernel(DType::u32, 2);
  const Comparison comparison(kernel, target(26));
  const std::int64_t size = 2000, row_bytes = 4 * size;
  for (const std::int64_t step : {std::int64_t{0}, -row_bytes - 12})
    ASSERT_TRUE(comparison.agree(
        {.extents = {5, size}, .stride_bytes = {{row_bytes + 8, 4}, {step, 4}}}, random_))
        << step;
}

TEST_P(RowCopy, OntoItself) {
  std::vector<std::uint32_t> data(20'000);
  std::ranges::generate(data, [&] { return static_cast<std::uint32_t>(random_()); });
  const std::vector<std::uint32_t> before = data;
  auto* const bytes = reinterpret_cast<std::byte*>(data.data());
  const std::array<std::byte*, 2> base{bytes, bytes};
  const std::array<std::int64_t, 1> extents{20'000};
  const std::array<std::int64_t, 2> stride_bytes{4, 4};
  const KernelArgs args{base.data(), extents.data(), stride_bytes.data(), nullptr, nullptr};
  for (const char* backend : {"xbyak", "llvm"}) {
    if (!unavailable_reason(backend).empty()) continue;
    const auto code = find_backend(backend)->compile(copy_kernel(DType::u32, 1), target(26));
    code->entry(&args);
    EXPECT_EQ(data, before) << backend;
  }
}

TEST_P(RowCopy, LongRowsAreCopiedByTheProcessor) {
  const auto has_own_loop = [](const ir::Kernel& kernel, const Target& target) {
    const auto code = find_backend("xbyak")->compile(kernel, target);
    const std::array rep_movsb{std::byte{0xf3}, std::byte{0xa4}};
    return !std::ranges::search(std::span(code->instructions(), code->instruction_bytes), rep_movsb)
                .empty();
  };
  const ir::Kernel copy = copy_kernel(DType::f32, 1);
  EXPECT_TRUE(has_own_loop(copy, target(26)));
  EXPECT_TRUE(has_own_loop(copy_kernel(DType::f32, 2), target(26)));
  EXPECT_FALSE(has_own_loop(copy, target(25)));
  EXPECT_FALSE(has_own_loop(copy_kernel(DType::boolean, 1), target(26)));
  EXPECT_FALSE(has_own_loop(scheduled(cast_kernel(DType::u8, DType::f32), GetParam()), target(26)));
  ir::Kernel streaming = copy;
  streaming.is_streaming = true;
  EXPECT_FALSE(has_own_loop(streaming, target(26)));
  // Two instructions and no arithmetic, but no copy.
  ir::Kernel fill = copy;
  fill.body[0] = {.op = Op::constant, .dtype = DType::f32, .bits = {7, 0}};
  EXPECT_FALSE(has_own_loop(fill, target(26)));
}

TEST_P(RowCopy, LlvmCallsWhatCopiesThem) {
  if (!unavailable_reason("llvm").empty()) return;
  const auto calls_it = [](const ir::Kernel& kernel, Target target) {
    target.keep_texts = true;
    const auto code = find_backend("llvm")->compile(kernel, target);
    return code->texts.at("asm").find("weft_copy_row") != std::string::npos;
  };
  EXPECT_TRUE(calls_it(copy_kernel(DType::f32, 1), target(26)));
  EXPECT_TRUE(calls_it(copy_kernel(DType::f32, 2), target(26)));
  EXPECT_FALSE(calls_it(copy_kernel(DType::f32, 1), target(25)));
  EXPECT_FALSE(calls_it(copy_kernel(DType::boolean, 1), target(26)));
}

INSTANTIATE_TEST_SUITE_P(Targets, RowCopy, ::testing::ValuesIn(runnable_isas()),
                         [](const auto& param) { return std::string(name(param.param)); });

}  // namespace
}  // namespace weft::jit::testing
