// Stores past the caches: heads up to the alignment, unaligned outputs, tails, several outputs.
#include "tests/jit/xbyak/harness.h"
#include "tests/required_backends.h"

#include <weft/dtype.h>
#include <weft/op.h>

#include <tuple>

namespace weft::jit::testing {
namespace {

using ir::no_value;
using ir::StrideClass;

/// The backend, the instructions, and whether loops walk several pages at once.
class Streaming : public ::testing::TestWithParam<std::tuple<std::string_view, Isa, bool>> {
 protected:
  Random random_{seed()};

  void SetUp() override {
    const std::string reason = unavailable_reason(backend());
    if (!reason.empty()) leave_out_without(backend(), reason);
  }

  static std::string_view backend() { return std::get<0>(GetParam()); }
  static Isa isa() { return std::get<1>(GetParam()); }
  static Target target() {
    Target result = target_for(isa());
    result.features.pages_in_turn = std::get<2>(GetParam());
    return result;
  }

  /// All sizes and both ends of the guarded regions: at_end leaves the output at any multiple of
  /// its items, at_start aligns it.
  void agree_everywhere(const ir::Kernel& kernel, testing::Run run = {}) {
    const Comparison comparison(kernel, target(), backend());
    run.extents.push_back(0);
    for (const std::int64_t size : interesting_sizes(kernel))
      for (const Placement placement : {Placement::at_end, Placement::at_start}) {
        run.extents.back() = size;
        run.placement = placement;
        ASSERT_TRUE(comparison.agree(run, random_));
      }
  }
};

TEST_P(Streaming, ItemsOfAllSizes) {
  for (const DType from : {DType::boolean, DType::u8, DType::i16, DType::f32, DType::i64})
    for (const DType to :
         {DType::boolean, DType::u8, DType::i16, DType::f16, DType::f32, DType::f64}) {
      ir::Kernel kernel = cast_kernel(from, to);
      kernel.is_streaming = true;
      agree_everywhere(scheduled(kernel, isa()), {.compares_nans = true});
    }
}

TEST_P(Streaming, InputsThatDoNotAdvanceAsTheOutputDoes) {
  for (const DType dtype : {DType::u8, DType::f32, DType::f64})
    for (const StrideClass stride : {-1, 0, 2, 3, int{ir::stride_any}}) {
      ir::Kernel kernel = op_kernel(Op::add, dtype, dtype);
      kernel.operands[1].strides[0] = static_cast<StrideClass>(stride);
      kernel.is_streaming = true;
      agree_everywhere(scheduled(kernel, isa()));
    }
}

// They are sums of twice as many real numbers, but for those of several loops.
TEST_P(Streaming, SumsOfComplexNumbers) {
  for (const DType dtype : {DType::c64, DType::c128})
    for (const StrideClass outer : {StrideClass{0}, StrideClass{3}, ir::stride_any})
      for (const bool is_streaming : {false, true}) {
        const std::size_t num_loops = outer == 0 ? 1 : 2;
        ir::Kernel kernel = make_kernel({dtype, dtype, DType::c64}, num_loops);
        for (ir::Operand& operand : kernel.operands)
          if (num_loops == 2) operand.strides[0] = outer;
        kernel.body = {
            {.op = Op::load, .dtype = dtype, .operand = 1},
            {.op = Op::load, .dtype = DType::c64, .operand = 2},
            {.op = Op::cast, .dtype = dtype, .args = {1, no_value, no_value, no_value}},
            {.op = Op::sub, .dtype = dtype, .args = {0, 2, no_value, no_value}},
            {.op = Op::store, .dtype = dtype, .args = {3, no_value, no_value, no_value}}};
        kernel.is_streaming = is_streaming;
        const Comparison comparison(scheduled(kernel, isa()), target(), backend());
        for (const std::int64_t size : {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33, 64, 100, 260})
          for (const Placement placement : {Placement::at_end, Placement::at_start}) {
            testing::Run run{.placement = placement};
            run.extents.assign(num_loops, 3);
            run.extents.back() = size;
            run.open_stride = size + 1;
            ASSERT_TRUE(comparison.agree(run, random_)) << name(dtype) << " " << size;
          }
      }
}

TEST_P(Streaming, OutputsThatAreNotDense) {
  for (const StrideClass stride : {-1, 2, int{ir::stride_any}}) {
    ir::Kernel kernel = op_kernel(Op::mul, DType::f32, DType::f32);
    kernel.operands[0].strides[0] = static_cast<StrideClass>(stride);
    kernel.is_streaming = true;
    agree_everywhere(scheduled(kernel, isa()));
  }
}

// Rows start wherever the one before ended, so every alignment occurs.
TEST_P(Streaming, RowsOfAllAlignments) {
  for (const DType dtype : {DType::i8, DType::u16, DType::f32, DType::f64}) {
    ir::Kernel kernel = make_kernel({dtype, dtype, dtype}, 3, ir::stride_any);
    for (ir::Operand& operand : kernel.operands) operand.strides.back() = 1;
    kernel.body = op_kernel(Op::add, dtype, dtype).body;
    kernel.is_streaming = true;
    kernel = scheduled(kernel, isa());
    agree_everywhere(kernel, {.extents = {3, 5}});
    // Long enough to begin and to end with lines that are not theirs alone.
    const Comparison comparison(kernel, target(), backend());
    const auto lanes = std::int64_t{kernel.loops.back().lanes};
    const std::int64_t least = 512 / static_cast<std::int64_t>(itemsize_bytes(dtype));
    for (const std::int64_t size : {least - 1, least, least + 1, least + lanes, 2 * least + 3,
                                    2 * least + 3 * lanes - 1, 5 * least + lanes / 2 + 1})
      for (const Placement placement : {Placement::at_end, Placement::at_start})
        ASSERT_TRUE(comparison.agree({.extents = {3, 5, size}, .placement = placement}, random_));
  }
}

TEST_P(Streaming, TwoOutputs) {
  ir::Kernel kernel = make_kernel({DType::f32, DType::u8, DType::f32}, 2, ir::stride_any);
  for (ir::Operand& operand : kernel.operands) operand.strides.back() = 1;
  kernel.operands[1].role = ir::Role::output;
  kernel.body = {{.op = Op::load, .dtype = DType::f32, .operand = 2},
                 {.op = Op::cast, .dtype = DType::u8, .args = {0, no_value, no_value, no_value}},
                 {.op = Op::store,
                  .dtype = DType::f32,
                  .operand = 0,
                  .args = {0, no_value, no_value, no_value}},
                 {.op = Op::store,
                  .dtype = DType::u8,
                  .operand = 1,
                  .args = {1, no_value, no_value, no_value}}};
  kernel.is_streaming = true;
  agree_everywhere(scheduled(kernel, isa()), {.extents = {4}});
}

// where(m, a, b) + c, of which a and b may be narrower than what vectors are as long as.
TEST_P(Streaming, ChoicesOfItemsOfAllSizes) {
  for (const DType chosen : {DType::u8, DType::i16, DType::f16, DType::f32, DType::i64})
    for (const DType sum : {DType::i16, DType::f32, DType::f64}) {
      ir::Kernel kernel = make_kernel({sum, DType::boolean, chosen, chosen, sum}, 1);
      kernel.body = {
          {.op = Op::load, .dtype = DType::boolean, .operand = 1},
          {.op = Op::load, .dtype = chosen, .operand = 2},
          {.op = Op::load, .dtype = chosen, .operand = 3},
          {.op = Op::where, .dtype = chosen, .args = {0, 1, 2, no_value}},
          {.op = Op::cast, .dtype = sum, .args = {3, no_value, no_value, no_value}},
          {.op = Op::load, .dtype = sum, .operand = 4},
          {.op = Op::maximum, .dtype = sum, .args = {4, 5, no_value, no_value}},
          {.op = Op::store, .dtype = sum, .operand = 0, .args = {6, no_value, no_value, no_value}}};
      kernel.is_streaming = true;
      agree_everywhere(scheduled(kernel, isa()));
    }
}

// Long enough for several blocks of pages, and for what is left of one.
TEST_P(Streaming, ManyPages) {
  for (const auto& [from, to] : {std::pair{DType::f32, DType::f32},
                                 {DType::u8, DType::f32},
                                 {DType::f32, DType::f16},
                                 {DType::u8, DType::i8}})
    for (const StrideClass stride : {1, 2, 3, 4, -1}) {
      ir::Kernel kernel = cast_kernel(from, to);
      kernel.operands[1].strides[0] = stride;
      kernel.is_streaming = true;
      kernel = scheduled(kernel, isa());
      const Comparison comparison(kernel, target(), backend());
      const std::int64_t page_bytes = stride >= 2 ? 2048 : 4096;  // of the output
      const std::int64_t block = 4 * page_bytes / kernel.vector_bytes * kernel.loops.back().lanes;
      for (const std::int64_t size : {block - 1, block, block + 1, 2 * block + 100})
        for (const Placement placement : {Placement::at_end, Placement::at_start})
          ASSERT_TRUE(comparison.agree({.extents = {size}, .placement = placement}, random_));
    }
}

// Bodies that ask for lines ahead, also behind the last of them.
TEST_P(Streaming, LongBodies) {
  for (const DType other : {DType::f32, DType::u8}) {
    ir::Kernel kernel = make_kernel({DType::f32, DType::f32, other}, 1, 1);
    kernel.body = {
        {.op = Op::load, .dtype = DType::f32, .operand = 1},
        {.op = Op::load, .dtype = other, .operand = 2},
        {.op = Op::cast, .dtype = DType::f32, .args = {1, no_value, no_value, no_value}}};
    for (ir::ValueId id = 2; id < 16; ++id)
      kernel.body.push_back({.op = id % 2 == 0 ? Op::mul : Op::sub,
                             .dtype = DType::f32,
                             .args = {id, id % 3 == 0 ? 0U : 2U, no_value, no_value}});
    kernel.body.push_back({.op = Op::store,
                           .dtype = DType::f32,
                           .operand = 0,
                           .args = {16, no_value, no_value, no_value}});
    kernel.is_streaming = true;
    kernel = scheduled(kernel, isa());
    const Comparison comparison(kernel, target(), backend());
    const std::int64_t block = 4 * 4096 / kernel.vector_bytes * kernel.loops.back().lanes;
    for (const std::int64_t size : {block - 1, block, 2 * block + 100})
      for (const Placement placement : {Placement::at_end, Placement::at_start})
        ASSERT_TRUE(comparison.agree({.extents = {size}, .placement = placement}, random_));
  }
}

// Not only that the results are right: a streaming kernel's code has the stores and the fence, for
// every target, and no other kernel's has.
TEST_P(Streaming, TheCodeHasStoresPastTheCachesAndAFence) {
  for (const Isa other : {Isa::avx2, Isa::avx512})
    for (const bool streams : {false, true}) {
      ir::Kernel kernel = op_kernel(Op::add, DType::f32, DType::f32);
      kernel.is_streaming = streams;
      Target texts = target();
      texts.features = target_features(other);
      texts.features.pages_in_turn = std::get<2>(GetParam());
      texts.keep_texts = true;
      texts.run = false;
      const std::string code =
          find_backend(backend())->compile(scheduled(kernel, other), texts)->texts.at("asm");
      if (code.find("; no disassembler") != std::string::npos)
        return leave_out_without("llvm", code.substr(0, 80));
      const std::string store = other == Isa::avx512 ? "vmovntps zmmword" : "vmovntps ymmword";
      std::size_t num_stores = 0;
      for (std::size_t at = code.find(store); at != code.npos; at = code.find(store, at + 1))
        ++num_stores;
      EXPECT_EQ(num_stores > 0, streams) << code;
      // One loop of four vectors and one of one; with pages in turn, a line of each of four.
      EXPECT_EQ(num_stores > 8, streams && texts.features.pages_in_turn) << code;
      EXPECT_EQ(code.find("sfence") != std::string::npos, streams) << code;
    }
}

INSTANTIATE_TEST_SUITE_P(Targets, Streaming,
                         ::testing::Combine(::testing::Values("xbyak", "llvm"),
                                            ::testing::ValuesIn(runnable_isas()),
                                            ::testing::Bool()),
                         [](const auto& param) {
                           return std::string(std::get<0>(param.param)) + "_" +
                                  std::string(name(std::get<1>(param.param))) +
                                  (std::get<2>(param.param) ? "_pages_in_turn" : "_page_by_page");
                         });

}  // namespace
}  // namespace weft::jit::testing
