// DLPack structs in and out: layouts, dtypes, ownership, and structs that describe no tensor.
#include <weft/dlpack.h>
#include <weft/engine.h>
#include <weft/error.h>
#include <weft/iterator.h>
#include <weft/naive.h>

#include "engine/exchange/dlpack_abi.h"
#include "tests/matchers.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace weft {
namespace {

using matchers::AllOf;
using matchers::ElementsAreArray;
using matchers::HasSubstr;
using matchers::StartsWith;

/// A struct as another library would make it, which counts how often it is deleted.
template <class Managed>
class Foreign {
 public:
  explicit Foreign(std::vector<std::int64_t> sizes = {2, 3}) : sizes_(std::move(sizes)) {
    for (int i = 0; i < 64; ++i) values_[i] = static_cast<float>(i);
    dlpack::Tensor& tensor = managed.tensor;
    tensor.data = values_;
    tensor.device = {dlpack::device_cpu, 0};
    tensor.ndim = static_cast<std::int32_t>(sizes_.size());
    tensor.dtype = {dlpack::code_float, 32, 1};
    tensor.shape = sizes_.data();
    managed.context = this;
    managed.deleter = [](Managed* self) { ++static_cast<Foreign*>(self->context)->deletions; };
    if constexpr (std::is_same_v<Managed, dlpack::ManagedVersioned>) managed.major = 1;
  }

  Tensor import() { return from_dlpack(pointer()); }
  auto pointer() {
    if constexpr (std::is_same_v<Managed, dlpack::ManagedVersioned>)
      return reinterpret_cast<DLManagedTensorVersioned*>(&managed);
    else
      return reinterpret_cast<DLManagedTensor*>(&managed);
  }
  float* values() { return values_; }

  Managed managed{};
  int deletions = 0;

 private:
  alignas(16) float values_[64];
  std::vector<std::int64_t> sizes_;
};

template <class Managed>
class DlpackImport : public testing::Test {};
using BothStructs = testing::Types<dlpack::Managed, dlpack::ManagedVersioned>;
TYPED_TEST_SUITE(DlpackImport, BothStructs);

TYPED_TEST(DlpackImport, SharesTheMemoryAndDeletesOnce) {
  Foreign<TypeParam> foreign;
  {
    Tensor row;
    {
      const Tensor x = foreign.import();
      EXPECT_EQ(layout_text(x), "f32[2,3]");
      EXPECT_EQ(x.data(), reinterpret_cast<std::byte*>(foreign.values()));
      EXPECT_FALSE(x.is_read_only());
      EXPECT_FALSE(x.storage()->is_resizable());
      row = x.select(0, 1);
    }
    EXPECT_EQ(foreign.deletions, 0) << "a view is left";
    Engine engine;
    engine.fill(row, Scalar(7));
    EXPECT_THAT(std::vector<float>(foreign.values(), foreign.values() + 7),
                ElementsAreArray({0, 1, 2, 7, 7, 7, 6}));
  }
  EXPECT_EQ(foreign.deletions, 1);
}

TYPED_TEST(DlpackImport, TakesStridesAndOffsets) {
  Foreign<TypeParam> foreign;
  std::vector<std::int64_t> strides = {-8, 2};
  foreign.managed.tensor.strides = strides.data();
  foreign.managed.tensor.byte_offset = 20 * sizeof(float);
  const Tensor x = foreign.import();
  EXPECT_THAT(x.strides(), ElementsAreArray({-8, 2}));
  EXPECT_EQ(x.select(0, 1).select(0, 2).item().as_double(), 20 - 8 + 4);
  EXPECT_EQ(x.select(0, 0).select(0, 1).item().as_double(), 22);
  strides = {0, 1};
  EXPECT_THAT(foreign.import().strides(), ElementsAreArray({0, 1}));
}

TYPED_TEST(DlpackImport, TakesScalarsAndEmptyTensors) {
  Foreign<TypeParam> scalar(std::vector<std::int64_t>{});
  scalar.managed.tensor.shape = nullptr;
  EXPECT_EQ(scalar.import().item().as_double(), 0);
  Foreign<TypeParam> empty({4, 0});
  empty.managed.tensor.data = nullptr;
  EXPECT_EQ(empty.import().numel(), 0);
  EXPECT_EQ(empty.deletions, 1);
  Foreign<TypeParam> elsewhere({0, 3});
  elsewhere.managed.tensor.byte_offset = 1;
  EXPECT_EQ(elsewhere.import().numel(), 0);
}

TYPED_TEST(DlpackImport, DeletesWhereTheLastViewGoes) {
  Foreign<TypeParam> foreign;
  std::optional<Tensor> x = foreign.import();
  std::thread([&] { x.reset(); }).join();
  EXPECT_EQ(foreign.deletions, 1);
  foreign.managed.deleter = nullptr;
  EXPECT_EQ(foreign.import().numel(), 6);
  EXPECT_EQ(foreign.deletions, 1);
}

using Change = std::function<void(dlpack::Tensor&)>;

/// A struct with this change is refused, and stays the caller's to delete.
template <class Managed, class Refusal>
void expect_refused(const Change& change, const std::string& text, const std::string& start = "") {
  Foreign<Managed> foreign;
  change(foreign.managed.tensor);
  try {
    foreign.import();
    ADD_FAILURE() << "nothing was thrown: " << text;
  } catch (const Refusal& error) {
    EXPECT_THAT(error.what(), AllOf(StartsWith(start), HasSubstr(text)));
  }
  EXPECT_EQ(foreign.deletions, 0) << text;
}

TYPED_TEST(DlpackImport, RefusesWhatIsNoTensorAndLeavesItToTheCaller) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> strides = {most / 2, most / 2};
  std::vector<std::int64_t> far = {-(most / 16), 1};
  std::vector<std::int64_t> negative = {2, -3};
  std::vector<std::int64_t> huge = {most, most};
  const std::vector<std::pair<Change, std::string>> cases = {
      {[](auto& t) { t.data = nullptr; }, "expected the address of 24 bytes, got null"},
      {[](auto& t) { t.ndim = -1; }, "expected 0 to 64 dimensions, got -1"},
      {[](auto& t) { t.ndim = 65; }, "expected 0 to 64 dimensions, got 65"},
      {[](auto& t) { t.shape = nullptr; }, "a tensor of 2 dimensions has no shape"},
      {[&](auto& t) { t.shape = negative.data(); }, "negative dimension -3"},
      {[&](auto& t) { t.shape = huge.data(); }, "overflow"},
      {[&](auto& t) { t.strides = strides.data(); }, "overflow"},
      {[&](auto& t) { t.strides = far.data(); }, "beyond the address space"},
      {[](auto& t) { t.byte_offset = ~std::uint64_t{0} - 64; }, "leaves the address space"},
  };
  for (const auto& [change, text] : cases) expect_refused<TypeParam, ArgumentError>(change, text);
}

TYPED_TEST(DlpackImport, RefusesWhatWeftLacks) {
  const std::vector<std::pair<Change, std::string>> cases = {
      {[](auto& t) { t.device.type = 10; }, "or a CUDA device (2), got device type 10"},
      {[](auto& t) { t.dtype.lanes = 4; }, "one lane, got one of 4"},
      {[](auto& t) { t.dtype.lanes = 0; }, "one lane, got one of 0"},
      {[](auto& t) { t.dtype.bits = 8; }, "code 2 and 8 bits"},
      {[](auto& t) {
         t.dtype = {3, 64, 1};
       },
       "code 3 and 64 bits"},
      {[](auto& t) {
         t.dtype = {17, 4, 1};
       },
       "code 17 and 4 bits"},
      {[](auto& t) {
         t.dtype = {255, 32, 1};
       },
       "code 255"},
      {[](auto& t) { t.byte_offset = 2; }, "multiple of 4 bytes"},
  };
  for (const auto& [change, text] : cases)
    expect_refused<TypeParam, UnsupportedError>(change, text, "DLPack: ");
}

TEST(Dlpack, RefusesNullAndOtherVersions) {
  EXPECT_THROW(from_dlpack(static_cast<DLManagedTensor*>(nullptr)), ArgumentError);
  EXPECT_THROW(from_dlpack(static_cast<DLManagedTensorVersioned*>(nullptr)), ArgumentError);
  Foreign<dlpack::ManagedVersioned> foreign;
  foreign.managed.major = 2;
  EXPECT_THROW(foreign.import(), UnsupportedError);
  foreign.managed.major = 1;
  foreign.managed.minor = 99;
  EXPECT_EQ(foreign.import().numel(), 6) << "minor versions don't change the layout";
  EXPECT_EQ(foreign.deletions, 1);
}

TEST(Dlpack, ReadOnlyMemoryIsNeverWritten) {
  Foreign<dlpack::ManagedVersioned> foreign;
  foreign.managed.flags = dlpack::flag_read_only;
  const Tensor x = foreign.import();
  EXPECT_TRUE(x.is_read_only());
  EXPECT_TRUE(x.select(0, 1).flip({0}).view(DType::i32).is_read_only());
  Engine engine;
  const Tensor y = engine.binary(Op::add, x, x);
  EXPECT_FALSE(y.is_read_only());
  EXPECT_EQ(y.data_as<float>()[5], 10);
  // The writable twin of each call first, so that what is cached for it must not serve the other.
  const auto refuses = [](const auto& call) {
    try {
      call();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const ArgumentError& error) {
      EXPECT_THAT(error.what(), HasSubstr("lent for reading only"));
    }
  };
  const Tensor a = zeros(x.sizes());
  const auto write_all = [&](const Tensor& out, const auto& wrap) {
    wrap([&] { engine.fill(out, Scalar(1)); });
    wrap([&] { engine.copy(out, a); });
    wrap([&] { engine.binary(Op::add, a, a, out); });
    wrap([&] { engine.eval(Expr(a) * 2 + a, out); });
    wrap([&] {
      engine.reduce(Reduction::sum, a, {.dims = {1}, .keepdim = true}, out.narrow(1, 0, 1));
    });
    wrap([&] { engine.prepare(Expr(a) + a, out); });
    wrap([&] { naive_eval(Expr(a) + a, out); });
    wrap([&] { TensorIteratorConfig().add_output(out).add_input(a).build(); });
  };
  write_all(empty_like(x), [](const auto& call) { call(); });
  write_all(x, refuses);
  write_all(x, refuses);
  EXPECT_THROW(to_dlpack(x), ArgumentError);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(foreign.values()[i], i);
}

TEST(Dlpack, EveryDtypeGoesOutAndComesBack) {
  for (DType dtype : all_dtypes) {
    const Tensor x = zeros(std::vector<std::int64_t>{3, 2}, {dtype, {}, {}}).t();
    const Tensor back = from_dlpack(to_dlpack(x));
    const Tensor versioned = from_dlpack(to_dlpack_versioned(x));
    for (const Tensor& y : {back, versioned}) {
      EXPECT_EQ(y.dtype(), dtype);
      EXPECT_EQ(layout_text(y), layout_text(x));
      EXPECT_EQ(y.data(), x.data());
    }
  }
}

TEST(Dlpack, ExportSaysTheWholeLayout) {
  const Tensor x = arange(24).view({4, 6}).slice(1, 1, 6, 2).slice(0, 3, std::nullopt, -2);
  auto* const lent = reinterpret_cast<dlpack::ManagedVersioned*>(to_dlpack_versioned(x));
  EXPECT_EQ(lent->major, 1u);
  EXPECT_EQ(lent->flags, 0u);
  EXPECT_EQ(lent->tensor.byte_offset, 0u);
  EXPECT_EQ(lent->tensor.ndim, 2);
  EXPECT_EQ(lent->tensor.device.type, 1);
  EXPECT_EQ(lent->tensor.dtype.bits, 64);
  EXPECT_THAT(std::vector<std::int64_t>(lent->tensor.shape, lent->tensor.shape + 2),
              ElementsAreArray({2, 3}));
  EXPECT_THAT(std::vector<std::int64_t>(lent->tensor.strides, lent->tensor.strides + 2),
              ElementsAreArray({-12, 2}));
  EXPECT_EQ(*static_cast<std::int64_t*>(lent->tensor.data), 19);
  lent->deleter(lent);
  auto* const zeros = reinterpret_cast<dlpack::ManagedVersioned*>(
      to_dlpack_versioned(zero_tensor(std::vector<std::int64_t>{2})));
  EXPECT_EQ(zeros->flags, dlpack::flag_read_only);
  zeros->deleter(zeros);
}

TEST(Dlpack, ExportKeepsTheBytesAliveAndInPlace) {
  auto x = std::make_optional(arange(6));
  const std::weak_ptr<Storage> storage = x->storage();
  auto* const lent = reinterpret_cast<dlpack::Managed*>(to_dlpack(*x));
  EXPECT_THROW(x->resize_({100}), ArgumentError);
  x.reset();
  ASSERT_FALSE(storage.expired());
  EXPECT_EQ(static_cast<std::int64_t*>(lent->tensor.data)[5], 5);
  std::thread([&] { lent->deleter(lent); }).join();
  EXPECT_TRUE(storage.expired());
  const Tensor y = arange(6);
  auto* const again = reinterpret_cast<dlpack::Managed*>(to_dlpack(y));
  again->deleter(again);
  y.resize_({100});
  EXPECT_EQ(y.numel(), 100) << "nobody holds its address any more";
}

TEST(Dlpack, ExportRefusesWhatTheStructCantSay) {
  const Tensor complex = zeros(std::vector<std::int64_t>{2}, {DType::c64, {}, {}});
  for (const Tensor& x : {complex.conj(), complex.conj().imag(), parse_layout("f32[3]"), Tensor(),
                          empty({2}, {DType::f32, {DeviceType::meta, 0}, {}})}) {
    EXPECT_THROW(to_dlpack(x), ArgumentError);
    EXPECT_THROW(to_dlpack_versioned(x), ArgumentError);
  }
}

}  // namespace
}  // namespace weft
