// A plan's way from its kernel's code to code for its shape, with code and a clock of our own:
// nothing here depends on time.
#include "jit/shaped_kernel.h"

#include <weft/error.h>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <semaphore>
#include <thread>
#include <vector>

namespace weft::jit {
namespace {

std::atomic<std::uint64_t> clock_ticks{0};
std::atomic<std::uint64_t> kernel_calls{0}, shape_calls{0}, num_compiled{0};
std::atomic<std::uint64_t> shape_ticks{100};
LaunchShape compiled_shape;  // written in calls of one thread only

void kernel_code(const KernelArgs* args) {
  clock_ticks += 1000;
  ++kernel_calls;
  *args->base[0] = std::byte{7};
}
void shape_code(const KernelArgs* args) {
  clock_ticks += shape_ticks;
  ++shape_calls;
  *args->base[0] = std::byte{7};
}

std::shared_ptr<CodeObject> code_of(KernelFunction entry, const char* backend) {
  auto code = std::make_shared<CodeObject>();
  code->entry = entry;
  code->backend = backend;
  return code;
}

std::shared_ptr<const CodeObject> compile_shape(const ir::Kernel&, const Target& target) {
  compiled_shape = target.shape;
  ++num_compiled;
  return code_of(shape_code, "shape");
}
std::shared_ptr<const CodeObject> fail(const ir::Kernel&, const Target&) {
  throw CompileError("not today");
}
std::counting_semaphore<> may_compile{0};
std::shared_ptr<const CodeObject> compile_when_allowed(const ir::Kernel&, const Target&) {
  may_compile.acquire();
  return code_of(shape_code, "shape");
}
std::shared_ptr<const CodeObject> compile_kernel(const ir::Kernel&, const Target&) {
  return code_of(kernel_code, "new");
}

class ShapedKernels : public testing::Test {
 protected:
  ShapedKernels() {
    Trial::clock = [] { return clock_ticks.load(); };
    clock_ticks = kernel_calls = shape_calls = num_compiled = 0;
    shape_ticks = 100;
    while (may_compile.try_acquire()) {
    }  // what a test before this one left
  }
  ~ShapedKernels() override { Trial::clock = real_clock_; }

  static std::shared_ptr<TierControl> control(bool in_background = false,
                                              std::uint32_t max_shapes = 2) {
    TierOptions options;
    options.threshold = 20;
    options.shape_threshold = 50;
    options.max_shapes = max_shapes;
    options.in_background = in_background;
    return std::make_shared<TierControl>(options);
  }

  /// A kernel of two loops and two operands.
  static std::shared_ptr<TieredKernel> kernel(const std::shared_ptr<TierControl>& control,
                                              TieredKernel::Compile next = nullptr,
                                              const void* context = nullptr) {
    CompiledKernel compiled;
    compiled.kernel.loops.resize(2);
    compiled.kernel.operands.resize(2);
    auto code = code_of(kernel_code, "old");
    code->context = context;
    compiled.code = std::move(code);
    return std::make_shared<TieredKernel>(std::move(compiled), control, next, Target());
  }
  static std::shared_ptr<ShapedKernel> shaped(const std::shared_ptr<TierControl>& control,
                                              TieredKernel::Compile compile = compile_shape,
                                              bool is_whole = true) {
    return std::make_shared<ShapedKernel>(kernel(control), compile, is_whole);
  }

  static void call(const EntryPoint& code, std::int64_t rows = 3) {
    std::byte result{};
    std::byte* const base[] = {&result};
    const std::int64_t extents[] = {rows, 5}, stride_bytes[] = {20, 40, 4, 8};
    const KernelArgs args{base, extents, stride_bytes, nullptr, code.context()};
    code.entry()(&args);
    EXPECT_EQ(result, std::byte{7});
  }
  static void call_often(const EntryPoint& code, int times) {
    for (int i = 0; i < times; ++i) call(code);
  }

 private:
  Trial::Clock real_clock_ = Trial::clock;
};

TEST_F(ShapedKernels, FasterCodeIsKept) {
  const auto tiers = control();
  const auto hot = shaped(tiers);
  call_often(*hot, 49);
  EXPECT_EQ(tiers->stats().shapes_requested, 0u);
  call(*hot);
  EXPECT_EQ(tiers->stats().shapes_requested, 1u);
  EXPECT_EQ(compiled_shape, (LaunchShape{{3, 5}, {20, 40, 4, 8}}));
  EXPECT_FALSE(hot->is_promoted());  // not before it was measured
  call_often(*hot, 1000);
  EXPECT_TRUE(hot->is_promoted());
  EXPECT_EQ(hot->entry(), &shape_code);
  const TierStats stats = tiers->stats();
  EXPECT_EQ(stats.shapes_promoted, 1u);
  EXPECT_EQ(stats.shapes_demoted + stats.shapes_failed, 0u);
  EXPECT_EQ(stats.requested, 0u);  // of kernels
  EXPECT_EQ(num_compiled, 1u);
}

TEST_F(ShapedKernels, CodeThatIsNotFasterIsNotKept) {
  for (const std::uint64_t ticks : {5000, 1000, 950}) {
    shape_ticks = ticks;
    const auto tiers = control();
    const auto hot = shaped(tiers);
    call_often(*hot, 1000);
    EXPECT_EQ(hot->entry(), &kernel_code);  // and nothing is in front of the kernel's
    EXPECT_FALSE(hot->is_promoted());
    EXPECT_EQ(tiers->stats().shapes_promoted, 0u);
    EXPECT_EQ(tiers->stats().shapes_demoted, 1u);
  }
}

TEST_F(ShapedKernels, OfPartsTheRowsAreKnown) {
  const auto tiers = control();
  const auto hot = shaped(tiers, compile_shape, false);
  for (int i = 0; i < 60; ++i) call(*hot, 1 + i % 4);
  EXPECT_EQ(compiled_shape, (LaunchShape{{0, 5}, {20, 40, 4, 8}}));
}

TEST_F(ShapedKernels, CallsOfManyElementsCountMore) {
  const auto tiers = control();
  call(*shaped(tiers, compile_shape, false), 50 * 4096 / 5);
  EXPECT_EQ(tiers->stats().shapes_requested, 1u);
}

TEST_F(ShapedKernels, InterruptionsDoNotCount) {
  const auto tiers = control();
  const auto hot = shaped(tiers);
  call_often(*hot, 50);
  for (int i = 0; i < 1000; ++i) {
    // Every hundredth call of the code of the shape, and none of the kernel's.
    shape_ticks = shape_calls % 100 == 99 ? 1'000'000 : 100;
    call(*hot);
  }
  EXPECT_EQ(tiers->stats().shapes_promoted, 1u);
}

TEST_F(ShapedKernels, TrialsComeToAnEnd) {
  const auto tiers = control();
  const auto hot = shaped(tiers);
  call_often(*hot, 50);
  call_often(*hot, 9);
  for (int i = 0; i < 40000; ++i) {
    shape_ticks = 10'000'000;  // never again as short as the first ones
    call(*hot);
  }
  EXPECT_EQ(tiers->stats().shapes_demoted, 1u);
}

TEST_F(ShapedKernels, AKernelThatHasNotSettledIsWaitedFor) {
  const auto tiers = control();
  const auto base = kernel(tiers, compile_kernel);
  const auto hot = std::make_shared<ShapedKernel>(base, compile_shape, true);
  int calls = 0;
  while (!base->is_settled()) {
    call(*hot);
    ++calls;
    ASSERT_LT(calls, 1000);
    if (base->is_settled()) break;
    EXPECT_EQ(num_compiled, 0u);
  }
  call_often(*hot, 1000);
  EXPECT_TRUE(hot->is_promoted());
}

TEST_F(ShapedKernels, ACodesContextFindsItsWay) {
  static const int context = 0;
  shape_ticks = 5000;
  const auto tiers = control();
  const auto base = kernel(tiers, nullptr, &context);
  const auto hot = std::make_shared<ShapedKernel>(base, compile_shape, true);
  call_often(*hot, 1000);
  EXPECT_EQ(tiers->stats().shapes_demoted, 1u);
  EXPECT_EQ(base->settled_entry(), nullptr);
}

TEST_F(ShapedKernels, FailuresLeaveTheKernel) {
  const auto tiers = control();
  const auto hot = shaped(tiers, fail);
  call_often(*hot, 1000);
  EXPECT_EQ(hot->entry(), &kernel_code);
  EXPECT_EQ(tiers->stats().shapes_requested, 1u);
  EXPECT_EQ(tiers->stats().shapes_failed, 1u);
}

TEST_F(ShapedKernels, ThereIsRoomForSoMany) {
  const auto tiers = control();
  std::vector<std::shared_ptr<ShapedKernel>> all;
  for (int i = 0; i < 10; ++i) {
    all.push_back(shaped(tiers));
    call_often(*all.back(), 1000);
  }
  EXPECT_EQ(num_compiled, 2u);
  EXPECT_TRUE(all[0]->is_promoted() && all[1]->is_promoted());
  EXPECT_EQ(all[2]->entry(), &kernel_code);
  // Room is given back, and who came too late stays without.
  all.erase(all.begin());
  call_often(*all[1], 1000);
  EXPECT_EQ(num_compiled, 2u);
  all.push_back(shaped(tiers));
  call_often(*all.back(), 1000);
  EXPECT_EQ(num_compiled, 3u);
  EXPECT_TRUE(all.back()->is_promoted());
}

TEST_F(ShapedKernels, WhatIsNotCompiledTakesNoRoom) {
  const auto tiers = control();
  std::vector<std::shared_ptr<ShapedKernel>> failed;
  for (int i = 0; i < 5; ++i) {
    failed.push_back(shaped(tiers, fail));
    call_often(*failed.back(), 100);
  }
  EXPECT_EQ(tiers->stats().shapes_failed, 5u);
  const auto first = shaped(tiers), second = shaped(tiers), third = shaped(tiers);
  failed.clear();  // gives nothing back a second time
  for (const auto& hot : {first, second, third}) call_often(*hot, 1000);
  EXPECT_TRUE(first->is_promoted() && second->is_promoted());
  EXPECT_FALSE(third->is_promoted());
}

TEST_F(ShapedKernels, CallsGoOnWhileItIsCompiled) {
  const auto tiers = control(true);
  const auto hot = shaped(tiers, compile_when_allowed);
  call_often(*hot, 500);
  EXPECT_EQ(kernel_calls, 500u);
  EXPECT_EQ(hot->entry(), &kernel_code);
  may_compile.release();
  tiers->wait();
  call_often(*hot, 1000);
  EXPECT_TRUE(hot->is_promoted());
}

TEST_F(ShapedKernels, ManyThreadsCallAcrossTheSwap) {
  const auto tiers = control(true);
  const auto hot = shaped(tiers, compile_when_allowed);
  std::atomic<bool> is_done{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      while (!is_done) call(*hot);
    });
  while (tiers->stats().shapes_requested == 0) std::this_thread::yield();
  may_compile.release();
  const auto is_settled = [&] {
    const TierStats stats = tiers->stats();
    return stats.shapes_promoted + stats.shapes_demoted != 0;
  };
  while (!is_settled()) std::this_thread::yield();
  is_done = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(tiers->stats().shapes_requested, 1u);
}

TEST_F(ShapedKernels, ItMayDieAndBeCancelledWhileItIsCompiled) {
  const auto tiers = control(true);
  auto doomed = shaped(tiers, compile_when_allowed);
  auto cancelled = shaped(tiers, fail);  // would be counted
  call_often(*doomed, 50);
  call_often(*cancelled, 50);
  doomed.reset();
  tiers->cancel();
  may_compile.release();
  tiers->wait();
  EXPECT_EQ(tiers->stats().shapes_failed, 0u);
  call_often(*cancelled, 100);
  EXPECT_EQ(cancelled->entry(), &kernel_code);
}

TEST(GainsFromShape, WhereRowsAreShort) {
  const auto gains = [](ir::Schedule schedule, ir::StrideClass stride, std::int64_t extent) {
    ir::Kernel kernel;
    kernel.schedule = schedule;
    kernel.loops.resize(1);
    kernel.operands = {{DType::f32, ir::Role::output, {1}},
                       {DType::f32, ir::Role::input, {stride}}};
    return gains_from_shape(kernel, std::span(&extent, 1));
  };
  EXPECT_TRUE(gains(ir::Schedule::linear, 1, 7));
  EXPECT_TRUE(gains(ir::Schedule::linear, 0, 128));
  EXPECT_FALSE(gains(ir::Schedule::linear, 1, 129));
  EXPECT_TRUE(gains(ir::Schedule::strided, ir::stride_any, 100));
  EXPECT_FALSE(gains(ir::Schedule::strided, 3, 100));
  EXPECT_FALSE(gains(ir::Schedule::tile, 1, 7));
  ir::Kernel fold;
  fold.schedule = ir::Schedule::inner_reduce;
  fold.loops = {{.kind = ir::LoopKind::parallel}, {.kind = ir::LoopKind::reduce}};
  fold.tree.lanes = 32;
  fold.operands = {{DType::f32, ir::Role::output, {1, 0}},
                   {DType::f32, ir::Role::input, {ir::stride_any, 1}}};
  const std::int64_t rows[] = {1000, 20};
  EXPECT_TRUE(gains_from_shape(fold, rows));
  std::swap(fold.loops[0].kind, fold.loops[1].kind);
  EXPECT_FALSE(gains_from_shape(fold, rows));
  ir::Kernel complex;
  complex.schedule = ir::Schedule::linear;
  complex.loops.resize(1);
  complex.operands = {{DType::c64, ir::Role::output, {1}}, {DType::c64, ir::Role::input, {1}}};
  complex.body = {{.op = Op::load, .dtype = DType::c64, .operand = 1}};
  const std::int64_t extent = 7;
  EXPECT_FALSE(gains_from_shape(complex, std::span(&extent, 1)));
}

}  // namespace
}  // namespace weft::jit
