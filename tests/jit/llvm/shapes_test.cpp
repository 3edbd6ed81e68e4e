// Code with extents and strides as constants, against the interpreter.
#include "ir/pass.h"
#include "jit/llvm/backend.h"
#include "tests/jit/llvm/support.h"
#include "tests/temporary_folder.h"

#include <string>

namespace weft::jit::test {
namespace {

constexpr ir::StrideClass classes[] = {-1, 0, 1, 2, 4, ir::stride_any};

class LlvmShapes : public testing::Test {
 protected:
  void SetUp() override { need_llvm(); }

  static ir::Kernel kernel_of_loops(std::size_t num_loops, Op op, DType dtype, Isa isa) {
    ir::Kernel kernel = kernel_of(op, dtype, isa);
    kernel.loops.resize(num_loops);
    for (ir::Operand& operand : kernel.operands)
      operand.strides.insert(operand.strides.begin(), num_loops - 1, ir::stride_any);
    return kernel;
  }
};

TEST_F(LlvmShapes, EveryLengthOfARow) {
  std::vector<std::vector<std::int64_t>> lengths;
  for (std::int64_t length = 1; length <= 70; ++length) lengths.push_back({length});
  lengths.push_back({1000});
  for (Isa isa : isas())
    for (DType dtype : {DType::u8, DType::f16, DType::f32, DType::f64, DType::boolean}) {
      ir::Kernel kernel = kernel_of(Op::add, dtype, isa);
      ir::run_pipeline(kernel);
      expect_same_shapes(kernel, target_for(isa), lengths);
    }
}

TEST_F(LlvmShapes, EveryStride) {
  for (Isa isa : isas())
    for (DType dtype : {DType::u8, DType::f32, DType::i64})
      for (std::size_t operand : {0, 1})
        for (ir::StrideClass stride : classes) {
          ir::Kernel kernel = kernel_of(Op::maximum, dtype, isa);
          kernel.operands[operand].strides = {stride};
          ir::run_pipeline(kernel);
          expect_same_shapes(kernel, target_for(isa), {{1}, {3}, {8}, {31}, {129}, {600}});
        }
}

TEST_F(LlvmShapes, NestsOfUpToFourLoops) {
  for (Isa isa : isas())
    for (std::size_t num_loops : {2, 3, 4})
      for (ir::StrideClass inner : {ir::StrideClass{1}, ir::StrideClass{0}, ir::stride_any}) {
        ir::Kernel kernel = kernel_of_loops(num_loops, Op::sub, DType::f32, isa);
        kernel.operands[1].strides.back() = inner;
        kernel.operands[2].strides[0] = 0;  // broadcast along the outermost loop
        ir::run_pipeline(kernel);
        std::vector<std::int64_t> ones(num_loops, 1), small(num_loops, 3), ragged(num_loops, 2);
        small.back() = 70;
        ragged[0] = 5;
        ragged.back() = 7;
        expect_same_shapes(kernel, target_for(isa), {ones, small, ragged});
      }
}

TEST_F(LlvmShapes, LongBodiesCallsAndMixedSizes) {
  for (Isa isa : isas()) {
    for (Op op : {Op::gelu, Op::logaddexp, Op::library_tan, Op::nextafter}) {
      ir::Kernel kernel = kernel_of_loops(2, op, DType::f32, isa);
      ir::run_pipeline(kernel);
      expect_same_shapes(kernel, target_for(isa), {{4, 1}, {3, 9}, {2, 40}});
    }
    for (const auto& [from, to] : {std::pair{DType::u8, DType::f32}, {DType::f64, DType::i8}}) {
      ir::Kernel kernel = cast_kernel(from, to, isa);
      ir::run_pipeline(kernel);
      expect_same_shapes(kernel, target_for(isa), {{1}, {7}, {17}, {100}});
    }
  }
}

TEST_F(LlvmShapes, ScalarsAndTiles) {
  for (Isa isa : isas()) {
    ir::Kernel scalar = kernel_of(Op::library_tan, DType::f64, isa);
    scalar.vector_bytes = 0;
    ir::run_pipeline(scalar);
    expect_same_shapes(scalar, target_for(isa), {{1}, {5}, {300}});
    ir::Kernel tile = kernel_of_loops(2, Op::add, DType::f32, isa);
    tile.operands[2].strides = {1, ir::stride_any};
    ir::run_pipeline(tile);
    ASSERT_EQ(tile.schedule, ir::Schedule::tile);
    expect_same_shapes(tile, target_for(isa), {{3, 4}, {9, 17}});
  }
}

/// Rows of a length that is known, with heads whose length is not.
TEST_F(LlvmShapes, Streams) {
  for (Isa isa : isas())
    for (DType dtype : {DType::u8, DType::f32, DType::f64})
      for (std::size_t num_loops : {1, 2, 3})
        for (bool pages_in_turn : {false, true}) {
          ir::Kernel kernel = kernel_of_loops(num_loops, Op::add, dtype, isa);
          kernel.is_streaming = true;
          ir::run_pipeline(kernel);
          Target target = target_for(isa);
          target.features.pages_in_turn = pages_in_turn;
          std::vector<std::int64_t> row(num_loops, 3), vectors(num_loops, 2), lines(num_loops, 2);
          row.back() = 7;
          vectors.back() = 100;
          lines.back() = 700;
          expect_same_shapes(kernel, target, {row, vectors, lines});
        }
}

/// What is kept of a shape is found by that shape alone.
TEST_F(LlvmShapes, OnDiskEachIsItsOwn) {
  const TemporaryFolder folder;
  DiskCacheOptions options;
  options.mode = CacheMode::on;
  options.folder = folder.path();
  Target target = target_for(isas().front());
  target.disk = std::make_shared<DiskCache>(options);
  ir::Kernel kernel = kernel_of(Op::add, DType::f32, isas().front());
  ir::run_pipeline(kernel);
  const auto is_found = [&](LaunchShape shape) {
    target.shape = std::move(shape);
    return load_llvm_code(kernel, target) != nullptr;
  };
  target.shape = {{7}, {4, 4, 4}};
  const auto seven = llvm_backend().compile(kernel, target);
  EXPECT_TRUE(is_found({{7}, {4, 4, 4}}));
  EXPECT_FALSE(is_found({}));
  EXPECT_FALSE(is_found({{8}, {4, 4, 4}}));
  EXPECT_FALSE(is_found({{7}, {4, 4, 8}}));
  EXPECT_FALSE(is_found({{0}, {4, 4, 4}}));
  EXPECT_EQ(target.disk->content().num_entries, 1u);
  seven->forget_on_disk();
  EXPECT_FALSE(is_found({{7}, {4, 4, 4}}));
}

/// What it is for: no argument but the addresses is read, and nothing is tested.
TEST_F(LlvmShapes, AreStraightWhereTheyAreShort) {
  for (Isa isa : isas()) {
    Target target = target_for(isa);
    target.keep_texts = true;
    ir::Kernel kernel = kernel_of(Op::add, DType::f32, isa);
    ir::run_pipeline(kernel);
    const auto has_branches = [&] {
      return llvm_backend().compile(kernel, target)->texts.at("llvm").find(" br ") !=
             std::string::npos;
    };
    EXPECT_TRUE(has_branches());
    target.shape = {{23}, {4, 4, 4}};
    EXPECT_FALSE(has_branches());
  }
}

}  // namespace
}  // namespace weft::jit::test
