// Copies between the CPU and devices, of every dtype and layout, on the stand-in for a GPU.
#include "tests/cuda/engine_fixture.h"
#include "tests/matchers.h"

#include <cstring>
#include <vector>

namespace weft {
namespace {

using matchers::AllOf;
using matchers::HasSubstr;
using test::cpu;
using test::fake_gpu;
using test::gpu0;
using test::gpu1;
using test::message_of;

using CudaCopy = test::EngineOnFakeGpu;

TEST_F(CudaCopy, MovesDenseTensorsOfEveryDTypeAsTheyAre) {
  for (const DType dtype : all_dtypes) {
    const Tensor a = numbers({3, 5}, dtype);
    const Tensor there = on(gpu0, a);
    EXPECT_EQ(there.device(), gpu0);
    expect_same(a, there);
  }
  EXPECT_EQ(num_launches(), 0);
}

TEST_F(CudaCopy, KeepsThePermutationOfDenseTensors) {
  const Tensor a = numbers({2, 3, 4, 5}).permute({0, 3, 1, 2});
  const Tensor there = on(gpu0, a);
  EXPECT_TRUE(std::ranges::equal(there.strides(), a.strides()));
  expect_same(a, there);
  EXPECT_EQ(num_launches(), 0);
}

TEST_F(CudaCopy, PacksWhatIsNotDenseOnItsOwnSide) {
  const Tensor a = numbers({6, 8});
  const Tensor columns = a.slice(1, 1, {}, 2);
  const Tensor there = on(gpu0, columns);
  expect_same(columns, there);
  EXPECT_EQ(num_launches(), 0);  // the CPU packed it
  const Tensor all = on(gpu0, a);
  const Tensor target = zeros({6, 4});
  engine_.copy(target, all.slice(1, 1, {}, 2));
  expect_same(target, columns);
  EXPECT_EQ(num_launches(), 1);  // the device packed it
  // Into what is not dense: the device takes it apart.
  const Tensor gaps = zeros({6, 8}, {.dtype = DType::f32, .device = gpu0});
  engine_.copy(gaps.slice(1, 1, {}, 2), columns);
  expect_same(gaps.slice(1, 1, {}, 2), columns);
  expect_same(gaps.slice(1, 0, {}, 2), zeros({6, 4}));
}

TEST_F(CudaCopy, ConvertsWhereFewerBytesAreMoved) {
  const Tensor a = numbers({64}, DType::f32);
  const Tensor halves = empty({64}, {.dtype = DType::bf16, .device = gpu0});
  engine_.copy(halves, a);
  EXPECT_THAT(fake_gpu().log(), HasSubstr("HtoD 128\n"));
  expect_same(halves, engine_.to(a, DType::bf16));
  fake_gpu().reset();
  const Tensor wide = empty({64}, {.dtype = DType::f64, .device = gpu0});
  engine_.copy(wide, a);
  EXPECT_THAT(fake_gpu().log(), HasSubstr("HtoD 256\n"));
  EXPECT_THAT(fake_gpu().log(), HasSubstr("launch"));
  expect_same(wide, engine_.to(a, DType::f64));
  fake_gpu().reset();
  const Tensor back = empty({64}, DType::bf16);
  engine_.copy(back, wide);
  EXPECT_THAT(fake_gpu().log(), HasSubstr("DtoH 128\n"));
  expect_same(back, engine_.to(a, DType::bf16));
}

TEST_F(CudaCopy, BroadcastsAfterMovingEachElementOnce) {
  const Tensor row = numbers({1, 4});
  const Tensor target = empty({3, 4}, {.dtype = DType::f32, .device = gpu0});
  engine_.copy(target, row.expand({3, 4}));
  EXPECT_THAT(fake_gpu().log(), HasSubstr("HtoD 16\n"));
  expect_same(target, row.expand({3, 4}));
}

TEST_F(CudaCopy, AppliesLazyBits) {
  const Tensor a = numbers({2, 4}, DType::c64);
  expect_same(on(gpu0, a.conj()), engine_.resolve_conj(a.conj()));
  const Tensor imaginary = a.conj().imag();
  expect_same(on(gpu0, imaginary), engine_.resolve_neg(imaginary));
}

TEST_F(CudaCopy, CopiesOnTheDeviceByMemcpyOrAKernel) {
  const Tensor a = on(gpu0, numbers({4, 6}));
  const Tensor same = empty_like(a);
  engine_.copy(same, a);
  EXPECT_EQ(num_launches(), 0);
  EXPECT_THAT(fake_gpu().log(), HasSubstr("DtoD 96\n"));
  expect_same(same, a);
  const Tensor turned = engine_.contiguous(a.t());
  EXPECT_EQ(num_launches(), 1);
  EXPECT_TRUE(turned.is_contiguous());
  expect_same(turned, a.t());
  expect_same(engine_.clone(a.flip({0})), a.flip({0}));
}

TEST_F(CudaCopy, CopiesFromDeviceToDevice) {
  const Tensor a = numbers({4, 6});
  const Tensor first = on(gpu0, a);
  const Tensor second = on(gpu1, first);
  EXPECT_EQ(second.device(), gpu1);
  expect_same(second, a);
  const Tensor turned = empty({6, 4}, {.dtype = DType::f64, .device = gpu1});
  engine_.copy(turned, first.t());
  expect_same(turned, engine_.to(a.t(), DType::f64));
}

TEST_F(CudaCopy, NonBlockingCopiesFromPinnedMemoryDontWait) {
  const Tensor a = numbers({1000});
  TensorOptions pinned;
  pinned.pin_memory = true;
  const Tensor host = empty({1000}, pinned);
  EXPECT_TRUE(host.is_pinned());
  EXPECT_FALSE(a.is_pinned());
  engine_.copy(host, a);
  ToOptions options;
  options.device = gpu0;
  options.non_blocking = true;
  const Tensor there = engine_.to(host, options);
  EXPECT_EQ(fake_gpu().count("cuStreamSynchronize"), 0);
  EXPECT_GT(fake_gpu().pending(), 0);
  options.device = cpu;
  const Tensor back = engine_.to(there, options);
  EXPECT_TRUE(back.is_pinned());
  EXPECT_EQ(fake_gpu().count("cuStreamSynchronize"), 0);
  cuda::synchronize();
  expect_same(back, a);
  // With a conversion on the way, which the device does.
  options.device = gpu0;
  options.dtype = DType::bf16;
  const Tensor halves = engine_.to(host, options);
  EXPECT_EQ(fake_gpu().count("cuStreamSynchronize"), 1);
  expect_same(halves, engine_.to(a, DType::bf16));
}

TEST_F(CudaCopy, NonBlockingCopiesToPageableMemoryWait) {
  const Tensor a = numbers({100});
  const Tensor there = on(gpu0, a);
  const Tensor back = empty({100}, DType::f32);
  engine_.copy(back, there, true);
  expect_same(back, a);
}

TEST_F(CudaCopy, ACaptureTakesOnlyWhatNeitherWaitsNorAllocates) {
  const Tensor a = numbers({16});
  const Tensor there = on(gpu0, a);
  TensorOptions pinned;
  pinned.pin_memory = true;
  const Tensor host = empty({16}, pinned);
  const cuda::Stream stream;
  const cuda::StreamGuard guard(stream.handle());
  fake_gpu().capture(stream.handle(), 1);
  EXPECT_THAT(message_of<UnsupportedError>([&] { engine_.copy(there, a, true); }),
              AllOf(HasSubstr("captured"), HasSubstr("pinned memory")));
  EXPECT_THAT(message_of<UnsupportedError>([&] { engine_.copy(there, host); }),
              HasSubstr("non_blocking"));
  engine_.copy(there, host, true);
  fake_gpu().capture(stream.handle(), 0);
}

TEST_F(CudaCopy, RefusesWhatHasNoMeaning) {
  const Tensor a = numbers({3});
  const Tensor there = on(gpu0, a);
  EXPECT_THAT(message_of<ArgumentError>([&] { engine_.copy(there, numbers({4})); }),
              HasSubstr("expanded size"));
  EXPECT_THAT(message_of<ArgumentError>([&] {
                engine_.copy(there.expand({2, 3}), a);
              }),
              HasSubstr("more than one element"));
  EXPECT_THAT(message_of<ArgumentError>([&] { engine_.copy(a.as_read_only(), there); }),
              HasSubstr("reading only"));
  expect_same(there, a);
}

TEST_F(CudaCopy, SingleElementsCanBeAskedFor) {
  const Tensor a = on(gpu0, numbers({4}));
  EXPECT_EQ(a.select(0, 3).item().as_double(), 3.0);
  EXPECT_EQ(full({2}, 2.5, {.dtype = DType::f64, .device = gpu0}).select(0, 1).item().as_double(),
            2.5);
}

}  // namespace
}  // namespace weft
