// The CUDA tier on a real device: streams, graphs, pinned memory, memory that is used again, copies
// of any layouts, errors of the driver, kernels from the disk.  What kernels compute is compared by
// weft_conformance and weft fuzz (tools/device_check.sh).
#include "runtime/cuda_device.h"
#include "runtime/cuda_driver.h"
#include "tests/device_tensors.h"
#include "tests/matchers.h"
#include "tests/message_of.h"
#include "tests/temporary_folder.h"

#include <weft/cuda.h>
#include <weft/dlpack.h>
#include <weft/engine.h>
#include <weft/error.h>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

namespace weft {
namespace {

using matchers::HasSubstr;
using test::message_of;

constexpr Device gpu{DeviceType::cuda, 0}, cpu{};

class OnDevice : public test::WithTensors<testing::Test> {
 protected:
  void SetUp() override {
    const std::string reason = cuda::unavailable_reason();
    if (!reason.empty()) GTEST_SKIP() << "no device to test on: " << reason;
  }

  Tensor empty_there(std::vector<std::int64_t> sizes, DType dtype = DType::f32) {
    return empty(sizes, {.dtype = dtype, .device = gpu});
  }
};

/// A function of the driver's that weft itself has no use for.
template <class Function>
Function* driver_function(const char* name) {
  void* const library = dlopen(cuda_driver().library.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  return library == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library, name));
}

TEST_F(OnDevice, CopiesOfAnyLayoutsAndDtypes) {
  const Tensor whole = numbers({6, 5, 8, 7});
  const std::vector<Tensor> sources = {
      whole,
      whole.permute({0, 3, 1, 2}),
      whole.narrow(3, 1, 4),
      whole.flip({1}),
      whole.select(2, 3),
      whole.narrow(0, 2, 1).expand({3, 5, 8, 7}),
      engine_.contiguous(whole, MemoryFormat::channels_last),
  };
  for (const Tensor& source : sources)
    for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::i16, DType::u8}) {
      const Tensor expected = engine_.to(source, dtype);
      const Tensor there = on(gpu, source);
      expect_same(engine_.to(there, dtype), expected);
      // Into memory that is there, transposed and with gaps, in all directions.
      std::vector<std::int64_t> wide(source.sizes().begin(), source.sizes().end());
      for (std::int64_t& size : wide) size += 1;
      std::swap(wide.front(), wide.back());
      for (const Device to : {gpu, cpu})
        for (const Tensor& from : {there, source}) {
          Tensor target = empty(wide, {.dtype = dtype, .device = to}).transpose(0, -1);
          for (int dim = 0; dim < target.dim(); ++dim)
            target = target.narrow(dim, 1, source.size(dim));
          engine_.copy(target, from);
          expect_same(target, expected);
        }
    }
}

TEST_F(OnDevice, PinnedCopiesDontWaitAndArriveInOrder) {
  TensorOptions pinned;
  pinned.pin_memory = true;
  const Tensor host = empty({1 << 22}, pinned), back = empty({1 << 22}, pinned);
  const Tensor expected = numbers({1 << 22});
  engine_.copy(host, expected);
  const cuda::Stream stream;
  {
    const cuda::StreamGuard guard(stream.handle());
    const Tensor there = on(gpu, host, true);
    engine_.copy(back, engine_.binary(Op::add, there, there), true);
  }
  stream.synchronize();
  expect_same(back, engine_.binary(Op::add, expected, expected));
}

TEST_F(OnDevice, StreamsWaitForEvents) {
  const Tensor a = on(gpu, numbers({1 << 24}));
  const cuda::Stream first, second;
  cuda::Event done(0, true), after(0, true);
  const Tensor out = empty_there({1 << 24}), sum = empty_there({1 << 24});
  cuda::synchronize();
  {
    const cuda::StreamGuard guard(first.handle());
    for (int i = 0; i < 20; ++i) engine_.binary(Op::add, a, a, out);
    done.record();
  }
  {
    const cuda::StreamGuard guard(second.handle());
    done.wait();
    engine_.binary(Op::add, out, a, sum);
    after.record();
  }
  after.synchronize();
  EXPECT_TRUE(done.is_done());
  EXPECT_GE(done.elapsed_ms(after), 0);
  const Tensor here = on(cpu, a);
  expect_same(sum, engine_.eval(Expr(here) + Expr(here) + Expr(here)));
}

TEST_F(OnDevice, MemoryUsedByAnotherStreamIsNotOverwritten) {
  const Tensor a = numbers({1 << 22});
  const cuda::Stream reader;
  const Tensor result = empty_there({1 << 22}), large = empty_there({1 << 26});
  for (int round = 0; round < 5; ++round) {
    {
      const Tensor x = on(gpu, a);
      cuda::synchronize();
      const cuda::StreamGuard guard(reader.handle());
      for (int i = 0; i < 10; ++i) engine_.fill(large, i);  // the reader is busy for a while
      engine_.unary(Op::neg, x, result);
    }
    const Tensor next = empty_there({1 << 22});  // where x was
    engine_.fill(next, 77);
    cuda::synchronize();
    reader.synchronize();
    expect_same(result, engine_.unary(Op::neg, a));
    engine_.fill(result, 0);
  }
}

TEST_F(OnDevice, GraphsReplayCalls) {
  using Begin = int(void* stream, int mode);
  using End = int(void* stream, void** graph);
  using Instantiate = int(void** executable, void* graph, unsigned long long flags);
  using Run = int(void* executable, void* stream);
  using Destroy = int(void* object);
  auto* const begin = driver_function<Begin>("cuStreamBeginCapture_v2");
  auto* const end = driver_function<End>("cuStreamEndCapture");
  auto* const instantiate = driver_function<Instantiate>("cuGraphInstantiateWithFlags");
  auto* const run = driver_function<Run>("cuGraphLaunch");
  auto* const destroy = driver_function<Destroy>("cuGraphDestroy");
  auto* const destroy_executable = driver_function<Destroy>("cuGraphExecDestroy");
  if (begin == nullptr || instantiate == nullptr) GTEST_SKIP() << "the driver knows no graphs";

  const Tensor a = on(gpu, numbers({1000})), turned = on(gpu, numbers({40, 25}));
  const Tensor out = empty_there({1000}), matrix = empty_there({25, 40});
  const auto calls = [&] {
    engine_.binary(Op::mul, a, a, out);
    engine_.copy(matrix, turned.t());
  };
  const cuda::Stream stream;
  const cuda::StreamGuard guard(stream.handle());
  const CudaCurrent current(CudaDevice::get(0));  // graphs are made in a context
  calls();
  stream.synchronize();
  ASSERT_EQ(begin(stream.handle(), 2), 0);
  EXPECT_TRUE(cuda::is_capturing());
  calls();
  // What can't be part of a graph is refused, and the capture goes on.
  EXPECT_THAT(message_of<UnsupportedError>([&] { engine_.unary(Op::erf, a, out); }),
              HasSubstr("captured"));
  EXPECT_THAT(message_of<UnsupportedError>([&] { cuda::synchronize(); }), HasSubstr("captured"));
  void *graph = nullptr, *executable = nullptr;
  ASSERT_EQ(end(stream.handle(), &graph), 0);
  ASSERT_EQ(instantiate(&executable, graph, 0), 0);
  for (const double value : {3.0, -4.0}) {
    engine_.fill(a, value);
    engine_.fill(out, 0);
    engine_.fill(turned, value);
    ASSERT_EQ(run(executable, stream.handle()), 0);
    stream.synchronize();
    expect_same(out, full({1000}, value * value, {.dtype = DType::f32}));
    expect_same(matrix, full({25, 40}, value, {.dtype = DType::f32}));
  }
  destroy_executable(executable);
  destroy(graph);
}

TEST_F(OnDevice, ThreadsHaveStreamsOfTheirOwn) {
  const Tensor a = numbers({50000});
  std::vector<Tensor> results(8);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < results.size(); ++i)
    threads.emplace_back([&, i] {
      const Tensor x = on(gpu, a);
      for (int call = 0; call < 50; ++call)
        results[i] = engine_.eval(Expr(x) * static_cast<double>(i + 1) + Expr(x));
      cuda::synchronize();
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < results.size(); ++i)
    expect_same(results[i], engine_.eval(Expr(a) * static_cast<double>(i + 1) + Expr(a)));
}

TEST_F(OnDevice, ErrorsLeaveTheDeviceWorking) {
  const Tensor x = on(gpu, numbers({64}));
  EXPECT_THAT(message_of<DeviceError>([&] { empty_there({std::int64_t{1} << 45}); }),
              HasSubstr("memory"));
  EXPECT_THAT(message_of<ArgumentError>([&] { engine_.binary(Op::add, x, numbers({64})); }),
              HasSubstr("cpu"));
  float here[4] = {};
  const std::int64_t sizes[] = {4}, strides[] = {1};
  EXPECT_THROW(from_blob(here, sizes, strides, DType::f32, gpu), ArgumentError);
  EXPECT_THROW(empty({1}, {.device = {DeviceType::cuda, cuda::max_devices - 1}}), ArgumentError);
  expect_same(engine_.binary(Op::add, x, x), engine_.binary(Op::add, numbers({64}), numbers({64})));
}

TEST_F(OnDevice, MemoryIsSharedWithOtherLibraries) {
  const Tensor lender = on(gpu, numbers({12, 5}));
  const Tensor back = from_dlpack(to_dlpack(lender.t()));
  EXPECT_EQ(back.device(), gpu);
  EXPECT_EQ(back.data(), lender.data());
  engine_.fill(back.narrow(0, 1, 2), 7);
  const Tensor expected = numbers({12, 5});
  engine_.fill(expected.narrow(1, 1, 2), 7);
  expect_same(lender, expected);
}

TEST_F(OnDevice, KernelsComeFromTheDisk) {
  const TemporaryFolder folder;
  const Tensor x = on(gpu, numbers({4096}));
  const auto call = [&] {
    Engine engine({.disk_cache = DiskCacheOptions{CacheMode::on, folder.path(), 1 << 24}});
    expect_same(engine.eval(Expr(x) * 3 + 1), engine_.eval(Expr(on(cpu, x)) * 3 + 1));
    return engine.stats();
  };
  EXPECT_EQ(call().disk_loads, 0u);
  EXPECT_EQ(call().disk_loads, 1u);
}

}  // namespace
}  // namespace weft
