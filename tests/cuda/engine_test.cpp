// Calls on tensors of a device, from plan to launch, on the stand-in for a GPU.
#include "tests/cuda/engine_fixture.h"
#include "tests/matchers.h"
#include "tests/temporary_folder.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <thread>
#include <vector>

namespace weft {
namespace {

using matchers::AllOf;
using matchers::HasSubstr;
using test::fake_gpu;
using test::gpu0;
using test::gpu1;
using test::message_of;

using CudaEngine = test::EngineOnFakeGpu;

TEST_F(CudaEngine, GivesTheCpusValuesAndLayouts) {
  const Tensor a = numbers({2, 3, 4, 5}), b = numbers({3, 1, 5});
  const Tensor last = a.permute({0, 3, 1, 2});
  for (const Tensor& x : {a, last}) {
    const Tensor y = x.is_same(a) ? b : numbers({5, 3, 4});
    const Tensor expected = engine_.binary(Op::mul, x, y);
    const Tensor result = engine_.binary(Op::mul, on(gpu0, x), on(gpu0, y));
    EXPECT_EQ(result.device(), gpu0);
    EXPECT_TRUE(std::ranges::equal(result.strides(), expected.strides()));
    expect_same(result, expected);
  }
}

TEST_F(CudaEngine, RepeatedCallsReuseThePlanTheCodeAndTheMemory) {
  const Tensor a = on(gpu0, numbers({100})), b = on(gpu0, numbers({100}));
  engine_.binary(Op::add, a, b);
  const std::uint64_t hits = engine_.stats().plan_hits;
  const int compiled = fake_gpu().count("nvrtcCompileProgram");
  const int asked = fake_gpu().count("cuMemAllocAsync");
  const Tensor c = engine_.binary(Op::add, a, b);
  EXPECT_EQ(engine_.stats().plan_hits, hits + 1);
  EXPECT_EQ(fake_gpu().count("nvrtcCompileProgram"), compiled);
  EXPECT_EQ(fake_gpu().count("cuMemAllocAsync"), asked);
  EXPECT_EQ(fake_gpu().count("cuModuleLoadDataEx"), compiled);
  EXPECT_EQ(engine_.stats().compiles_by_backend.at("nvrtc"), 1u);
  expect_same(c, engine_.binary(Op::add, numbers({100}), numbers({100})));
  // Other sizes of the layout need no other code; other alignments do.
  engine_.binary(Op::add, on(gpu0, numbers({77})), on(gpu0, numbers({77})));
  EXPECT_EQ(fake_gpu().count("nvrtcCompileProgram"), compiled);
  const Tensor shifted = a.slice(0, 1, {});
  const Tensor sum = engine_.binary(Op::add, shifted, shifted);
  EXPECT_EQ(fake_gpu().count("nvrtcCompileProgram"), compiled + 1);
  const Tensor here = on({}, shifted);
  expect_same(sum, engine_.binary(Op::add, here, here));
}

TEST_F(CudaEngine, EvaluatesExpressionsWithNumbersAndSeveralResults) {
  const Tensor a = numbers({4, 9}), b = numbers({9}, DType::i32);
  const Tensor x = on(gpu0, a), y = on(gpu0, b);
  const auto exprs = [](const Tensor& p, const Tensor& q) {
    const Expr sum = Expr(p) * 0.5 + Expr(q);
    return std::vector<Expr>{sum, ops::where(Expr(p) > 7, sum, Expr(-1.0))};
  };
  const std::vector<Tensor> expected = engine_.eval(exprs(a, b)),
                            results = engine_.eval(exprs(x, y));
  ASSERT_EQ(results.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) expect_same(results[i], expected[i]);
  EXPECT_EQ(num_launches(), 1);
}

TEST_F(CudaEngine, LiftsCpuTensorsWithoutDimensions) {
  const Tensor a = numbers({5}), two = full(IntSpan(), 2.0, {.dtype = DType::f64});
  const Tensor x = on(gpu0, a);
  const Tensor result = engine_.binary(Op::mul, x, two);
  EXPECT_EQ(result.dtype(), DType::f32);
  expect_same(result, engine_.binary(Op::mul, a, two));
  // Its value is read at each call, and may be the whole input.
  engine_.fill(two, 3.0);
  expect_same(engine_.binary(Op::mul, x, two), engine_.binary(Op::mul, a, two));
  const Tensor filled = empty({7}, {.dtype = DType::i16, .device = gpu0});
  engine_.fill(filled, 12);
  expect_same(filled, full({7}, 12, {.dtype = DType::i16}));
  const Tensor complex = full(IntSpan(), c128(1, -2), {.dtype = DType::c64});
  const Tensor z = numbers({3}, DType::c64);
  expect_same(engine_.binary(Op::mul, on(gpu0, z), complex.conj()),
              engine_.binary(Op::mul, z, complex.conj()));
}

TEST_F(CudaEngine, WritesGivenOutputsInPlaceAndThroughTemporaries) {
  const Tensor a = numbers({12}), x = on(gpu0, a);
  const Tensor out = empty({1}, {.dtype = DType::f32, .device = gpu0});
  engine_.binary(Op::add, x, x, out);
  expect_same(out, engine_.binary(Op::add, a, a));
  engine_.binary(Op::mul, x, x, x);
  engine_.binary(Op::mul, a, a, a);
  expect_same(x, a);
  // Views that overlap: computed as if every input had been read before the first write.
  for (const Tensor& all : {x, a}) {
    const Tensor read = all.slice(0, 0, 8, 2), written = all.slice(0, 2, 10, 2);
    engine_.binary(Op::add, written, read, written);
  }
  expect_same(x, a);
}

/// More tensors than a kernel has operands for.
TEST_F(CudaEngine, EvaluatesLargeExpressionsInParts) {
  Expr here(numbers({30})), there(on(gpu0, numbers({30})));
  for (int i = 0; i < 99; ++i) {
    const Tensor x = numbers({30});
    here = here * Expr(0.5) + Expr(x);
    there = there * Expr(0.5) + Expr(on(gpu0, x));
  }
  const Tensor result = engine_.eval(there);
  EXPECT_EQ(result.device(), gpu0);
  expect_same(result, engine_.eval(here));
  EXPECT_THAT(message_of<UnsupportedError>([&] { engine_.prepare(there); }),
              HasSubstr("64 tensors"));
}

TEST_F(CudaEngine, TurnsTilesInSharedMemory) {
  const Tensor a = numbers({70, 50}), x = on(gpu0, a);
  const Tensor b = numbers({50, 70}), y = on(gpu0, b);
  expect_same(engine_.binary(Op::add, x.t(), y), engine_.binary(Op::add, a.t(), b));
}

TEST_F(CudaEngine, PreparedPlansRunOnTheDevice) {
  const Tensor a = numbers({10}), x = on(gpu0, a);
  const Tensor out = empty({10}, {.dtype = DType::f32, .device = gpu0});
  const PreparedPlan plan = engine_.prepare(Expr(x) + 1.5, out);
  plan.run();
  plan.run();
  EXPECT_EQ(num_launches(), 2);
  expect_same(out, engine_.eval(Expr(a) + 1.5));
}

TEST_F(CudaEngine, WorksInTheStreamThatIsGiven) {
  const Tensor a = numbers({64});
  const cuda::Stream stream;
  Tensor result;
  {
    const cuda::StreamGuard guard(stream.handle());
    const Tensor x = on(gpu0, a);
    result = engine_.binary(Op::add, x, x);
  }
  stream.synchronize();
  EXPECT_EQ(fake_gpu().pending(), 0);
  expect_same(result, engine_.binary(Op::add, a, a));
}

TEST_F(CudaEngine, MemoryUsedByAnotherStreamIsNotOverwritten) {
  const Tensor a = numbers({256});
  const cuda::Stream reader;
  const Tensor result = empty({256}, {.dtype = DType::f32, .device = gpu0});
  {
    const Tensor x = on(gpu0, a);
    cuda::synchronize();
    const cuda::StreamGuard guard(reader.handle());
    engine_.unary(Op::neg, x, result);
  }
  const Tensor next = zeros({256}, {.dtype = DType::f32, .device = gpu0});  // where x was
  cuda::synchronize();
  expect_same(result, engine_.unary(Op::neg, a));
}

TEST_F(CudaEngine, ThreadsCallAtTheSameTime) {
  const Tensor a = numbers({200});
  std::vector<std::thread> threads;
  std::vector<Tensor> results(4);
  for (std::size_t i = 0; i < results.size(); ++i)
    threads.emplace_back([&, i] {
      const Tensor x = on(gpu0, a);
      for (int call = 0; call < 5; ++call)
        results[i] = engine_.eval(Expr(x) * static_cast<double>(i));
      cuda::synchronize();
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < results.size(); ++i)
    expect_same(results[i], engine_.eval(Expr(a) * static_cast<double>(i)));
}

TEST_F(CudaEngine, ComputesOnTheDeviceOfItsTensors) {
  const Tensor a = numbers({33});
  const Tensor first = engine_.unary(Op::neg, on(gpu0, a)),
               second = engine_.unary(Op::neg, on(gpu1, a));
  EXPECT_EQ(first.device(), gpu0);
  EXPECT_EQ(second.device(), gpu1);
  expect_same(second, first);
  EXPECT_THAT(message_of<ArgumentError>([&] { engine_.binary(Op::add, first, second); }),
              AllOf(HasSubstr("cuda:0"), HasSubstr("cuda:1")));
  EXPECT_THAT(message_of<ArgumentError>([&] { engine_.binary(Op::add, first, a); }),
              AllOf(HasSubstr("cuda:0"), HasSubstr("cpu")));
}

TEST_F(CudaEngine, Reduces) {
  const Tensor a = numbers({5, 7, 3}), x = on(gpu0, a);
  for (const std::vector<std::int64_t>& dims :
       {std::vector<std::int64_t>{}, {0}, {1}, {2}, {0, 2}}) {
    ReduceOptions options;
    options.dims = dims;
    const Tensor sum = engine_.reduce(Reduction::sum, x, options);
    EXPECT_EQ(sum.device(), gpu0);
    expect_same(sum, engine_.reduce(Reduction::sum, a, options));
  }
  ReduceOptions along;
  along.dims = {1};
  along.keepdim = true;
  expect_same(engine_.reduce(Reduction::argmax, x, along),
              engine_.reduce(Reduction::argmax, a, along));
  const Tensor repeated = numbers({4, 9}, DType::u8), y = on(gpu0, repeated);
  engine_.eval(apply(Op::remainder, {Expr(repeated), Expr(5)}), repeated);
  engine_.copy(y, repeated);
  expect_same(engine_.reduce(Reduction::argmin, y), engine_.reduce(Reduction::argmin, repeated));
  // In an expression, with an elementwise argument and a number of the CPU in it.
  const Tensor half = full(IntSpan(), 0.5, {.dtype = DType::f32});
  const auto centred = [&](const Tensor& t) {
    return Expr(t) - ops::mean(Expr(t) * Expr(half), {.dims = {0}, .keepdim = true});
  };
  const Tensor b = numbers({8, 6});
  expect_same(engine_.eval(centred(on(gpu0, b))), engine_.eval(centred(b)));
  // Of nothing, and into a given output.
  const Tensor out = empty({3}, {.dtype = DType::f32, .device = gpu0});
  engine_.reduce(Reduction::prod, on(gpu0, numbers({3, 0})), ReduceOptions{.dims = {1}}, out);
  expect_same(out, full({3}, 1.0, {.dtype = DType::f32}));
}

TEST_F(CudaEngine, Scans) {
  const Tensor a = numbers({3, 11}), x = on(gpu0, a);
  for (const bool is_reverse : {false, true}) {
    ReduceOptions options;
    options.dims = {1};
    options.reverse = is_reverse;
    expect_same(engine_.eval(ops::cumsum(x, options)), engine_.eval(ops::cumsum(a, options)));
  }
  const Tensor uneven = engine_.eval(apply(Op::remainder, {Expr(a) * 5, Expr(7)}));
  const auto [values, at] = engine_.cummax(on(gpu0, uneven), 1);
  const auto [expected, expected_at] = engine_.cummax(uneven, 1);
  expect_same(values, expected);
  expect_same(at, expected_at);
}

TEST_F(CudaEngine, RefusesOtherBackends) {
  const Tensor x = on(gpu0, numbers({8}));
  EXPECT_THAT(message_of<UnsupportedError>([&] { engine_.prepare(ops::sum(x)); }),
              HasSubstr("use eval()"));
  Engine interpreter({.backend = "interp"});
  EXPECT_THAT(message_of<UnsupportedError>([&] { interpreter.unary(Op::neg, x); }),
              AllOf(HasSubstr("interp"), HasSubstr("cuda:0")));
}

TEST_F(CudaEngine, DivisionByZeroOnTheDeviceIsZero) {
  const Tensor a = numbers({4}, DType::i32);
  const Tensor x = on(gpu0, a);
  const Tensor result = engine_.binary(Op::div_floor, x, x);
  expect_same(result.slice(0, 1, {}), full({3}, 1, {.dtype = DType::i32}));
  EXPECT_EQ(result.select(0, 0).item().as_integer(), 0);
  EXPECT_THROW(engine_.eval(ops::div_floor(Expr(x), Expr(0))), ArithmeticError);
}

TEST_F(CudaEngine, ErrorsOfTheCompilerAndTheDriverLeaveTheCpuWorking) {
  const Tensor a = numbers({9}), x = on(gpu0, a);
  fake_gpu().fail("nvrtcCompileProgram", 6);
  EXPECT_THAT(message_of<CompileError>([&] { engine_.unary(Op::abs, x); }),
              AllOf(HasSubstr("NVRTC_ERROR_COMPILATION"), HasSubstr("told to fail")));
  fake_gpu().fail("cuModuleLoadDataEx", 209);
  EXPECT_THAT(
      message_of<CompileError>([&] { engine_.unary(Op::abs, x); }),
      AllOf(HasSubstr("loading weft:abs.f32.linear"), HasSubstr("CUDA_ERROR_NO_BINARY"),
            HasSubstr("NVRTC 12.8"), HasSubstr("CUDA up to 12.8"), HasSubstr("WEFT_NVRTC")));
  engine_.unary(Op::abs, x);
  fake_gpu().fail("cuLaunchKernel", 719);
  EXPECT_THAT(message_of<DeviceError>([&] { engine_.unary(Op::abs, x); }),
              AllOf(HasSubstr("launching weft:abs.f32.linear"), HasSubstr("cuLaunchKernel"),
                    HasSubstr("CUDA_ERROR_LAUNCH_FAILED")));
  EXPECT_EQ(engine_.unary(Op::neg, a).select(0, 3).item().as_double(), -3.0);
}

TEST_F(CudaEngine, ACaptureTakesCallsThatAreReady) {
  const Tensor a = numbers({50}), x = on(gpu0, a);
  const Tensor out = empty({50}, {.dtype = DType::f32, .device = gpu0});
  engine_.unary(Op::neg, x, out);
  const cuda::Stream stream;
  const cuda::StreamGuard guard(stream.handle());
  fake_gpu().capture(stream.handle(), 1);
  engine_.unary(Op::neg, x, out);
  EXPECT_THAT(message_of<UnsupportedError>([&] { engine_.unary(Op::neg, x); }),
              HasSubstr("give the outputs"));
  EXPECT_THAT(message_of<UnsupportedError>([&] { engine_.unary(Op::sqrt, x, out); }),
              HasSubstr("compiling a kernel"));
  fake_gpu().capture(stream.handle(), 0);
}

TEST_F(CudaEngine, FindsDeviceCodeOnTheDisk) {
  const TemporaryFolder folder;
  EngineOptions options;
  options.disk_cache = DiskCacheOptions{.folder = folder.path()};
  const Tensor a = numbers({30}), x = on(gpu0, a);
  Engine(options).eval(Expr(x) - 3.0);
  fake_gpu().reset();
  Engine next(options);
  const Tensor result = next.eval(Expr(x) - 3.0);
  EXPECT_EQ(fake_gpu().count("nvrtcCompileProgram"), 0);
  EXPECT_EQ(next.stats().disk_loads, 1u);
  expect_same(result, engine_.eval(Expr(a) - 3.0));
  // What the driver can't load is compiled again.
  fake_gpu().fail("cuModuleLoadDataEx", 200);
  Engine third(options);
  expect_same(third.eval(Expr(x) - 3.0), engine_.eval(Expr(a) - 3.0));
  EXPECT_EQ(fake_gpu().count("nvrtcCompileProgram"), 1);
}

TEST_F(CudaEngine, BackendNvrtcComputesTensorsOfTheCpuByWayOfCopies) {
  Engine device({.backend = "nvrtc"});
  const Tensor a = numbers({6, 7}), b = numbers({7, 6}, DType::f64).t();
  expect_same(device.binary(Op::add, a, b), engine_.binary(Op::add, a, b));
  EXPECT_EQ(num_launches(), 1);
  const Tensor x = engine_.clone(a), y = engine_.clone(a);
  device.binary(Op::mul, x.flip({1}), x, x.flip({1}));
  engine_.binary(Op::mul, y.flip({1}), y, y.flip({1}));
  expect_same(x, y);
  expect_same(device.reduce(Reduction::amax, a), engine_.reduce(Reduction::amax, a));
}

TEST_F(CudaEngine, CopiesLeaveWhatLiesBetweenTheElementsOfOutputsAlone) {
  Engine device({.backend = "nvrtc"});
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const pages =
      mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  auto* const first = static_cast<std::byte*>(pages);
  ASSERT_EQ(mprotect(first + page, page, PROT_READ), 0);
  const auto row_stride = static_cast<std::int64_t>(2 * page / sizeof(float));
  // Two rows, with a page between them that nothing may write; then every third number, backwards.
  const Tensor rows = from_blob(first, {2, 8}, {row_stride, 1}, DType::f32);
  const Tensor a = numbers({2, 8});
  device.eval(Expr(a) * 2.0, rows);
  expect_same(engine_.clone(rows), engine_.eval(Expr(a) * 2.0));
  const Tensor thirds = rows.slice(1, 1, 8, 3).flip({1}), b = a.slice(1, 0, 3);
  device.copy(thirds, b);
  expect_same(engine_.clone(thirds), engine_.clone(b));
  expect_same(engine_.clone(rows.select(1, 2)), engine_.eval(Expr(a.select(1, 2)) * 2.0));
  munmap(pages, 3 * page);
}

}  // namespace
}  // namespace weft
