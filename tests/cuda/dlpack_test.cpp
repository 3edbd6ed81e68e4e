// Tensors of a device lent and borrowed by DLPack's structs, on the stand-in for a GPU.
#include "engine/exchange/dlpack_abi.h"
#include "tests/cuda/engine_fixture.h"
#include "tests/matchers.h"

#include <weft/dlpack.h>
#include <weft/error.h>

#include <cstdint>

namespace weft {
namespace {

using matchers::HasSubstr;
using test::gpu0;
using test::gpu1;
using test::message_of;

using CudaDlpack = test::EngineOnFakeGpu;

dlpack::Managed& managed_of(DLManagedTensor* lent) {
  return *reinterpret_cast<dlpack::Managed*>(lent);
}
dlpack::ManagedVersioned& managed_of(DLManagedTensorVersioned* lent) {
  return *reinterpret_cast<dlpack::ManagedVersioned*>(lent);
}

TEST_F(CudaDlpack, LendsAddressAndDeviceAndTakesThemBack) {
  for (const Device device : {gpu0, gpu1}) {
    const Tensor whole = on(device, numbers({3, 4}));
    const Tensor view = whole.t().narrow(0, 1, 2);
    const auto check = [&](auto* lent) {
      const dlpack::Tensor& tensor = managed_of(lent).tensor;
      EXPECT_EQ(tensor.device.type, dlpack::device_cuda);
      EXPECT_EQ(tensor.device.id, device.index);
      EXPECT_EQ(tensor.data, view.data());
      const Tensor back = from_dlpack(lent);
      EXPECT_EQ(back.device(), device);
      EXPECT_EQ(back.data(), view.data());
      EXPECT_TRUE(std::ranges::equal(back.strides(), view.strides()));
      expect_same(engine_.binary(Op::add, back, view),
                  engine_.binary(Op::add, on(test::cpu, view), on(test::cpu, view)));
    };
    check(to_dlpack(view));
    check(to_dlpack_versioned(view));
  }
}

TEST_F(CudaDlpack, WritesReachTheLenderAndTheMemoryLivesAsLongAsTheLoan) {
  Tensor lender = on(gpu1, numbers({100}));
  const Tensor back = from_dlpack(to_dlpack(lender));
  engine_.fill(back.narrow(0, 10, 5), Scalar(7));
  expect_same(lender.narrow(0, 9, 7), engine_.to(back.narrow(0, 9, 7), ToOptions{}));
  EXPECT_EQ(lender.select(0, 14).item(), Scalar(7.0));
  lender = Tensor();
  EXPECT_EQ(back.select(0, 99).item(), Scalar(99.0)) << "the loan has ended with its lender";
}

TEST_F(CudaDlpack, ReadOnlyMemoryStaysSo) {
  const Tensor lender = on(gpu0, numbers({8})).as_read_only();
  EXPECT_THAT(message_of<ArgumentError>([&] { to_dlpack(lender); }), HasSubstr("only to be read"));
  const Tensor back = from_dlpack(to_dlpack_versioned(lender));
  EXPECT_TRUE(back.is_read_only());
  EXPECT_THROW(engine_.fill(back, Scalar(1)), ArgumentError);
}

// What is refused is still its owner's.
TEST_F(CudaDlpack, RefusesDevicesThatAreNotThere) {
  float on_the_cpu[4] = {};
  std::int64_t sizes[] = {4};
  int num_deleted = 0;
  dlpack::ManagedVersioned foreign{};
  foreign.major = 1;
  foreign.context = &num_deleted;
  foreign.deleter = [](dlpack::ManagedVersioned* self) { ++*static_cast<int*>(self->context); };
  foreign.tensor.ndim = 1;
  foreign.tensor.shape = sizes;
  foreign.tensor.dtype = {dlpack::code_float, 32, 1};
  const auto refusal = [&](void* data, std::int32_t index) {
    foreign.tensor.data = data;
    foreign.tensor.device = {dlpack::device_cuda, index};
    return message_of<Error>(
        [&] { from_dlpack(reinterpret_cast<DLManagedTensorVersioned*>(&foreign)); });
  };
  const Tensor x = on(gpu0, numbers({4}));
  EXPECT_THAT(refusal(x.data(), -1), HasSubstr("there is no device cuda:-1"));
  EXPECT_THAT(refusal(x.data(), 70000), HasSubstr("there is no device cuda:70000"));
  EXPECT_THAT(refusal(x.data(), 9), HasSubstr("cuda:9"));
  EXPECT_THAT(refusal(on_the_cpu, 0), HasSubstr("cuda:0"));
  EXPECT_THAT(refusal(x.data(), 1), HasSubstr("cuda:1"));
  EXPECT_EQ(num_deleted, 0);
}

}  // namespace
}  // namespace weft
