// contiguous -> clone -> empty_like -> copy_ through a registry, with kernels of a few lines.
#include "tests/matchers.h"

#include <weft/dispatch.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace weft {
namespace {

using matchers::ElementsAre;
using Key = DispatchKey;

/// The four operators, and a log of the kernels that ran.
class DispatchChain : public testing::Test {
 protected:
  using Format = std::optional<MemoryFormat>;

  DispatchChain() {
    library_.def("contiguous(Tensor self, *, MemoryFormat memory_format=contiguous) -> Tensor")
        .def("clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor")
        .def("empty_like(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor")
        .def("copy_(Tensor(a!) self, Tensor src) -> Tensor(a!)");
    library_.impl("contiguous", Key::composite_implicit_autograd,
                  [this](const Tensor& self, MemoryFormat format) {
                    log_.emplace_back("contiguous");
                    return self.is_contiguous(format) ? self : clone().call(self, format);
                  });
    library_.impl("clone", Key::composite_explicit_autograd,
                  [this](const Tensor& self, Format format) {
                    log_.emplace_back("clone");
                    return copy().call(like().call(self, format), self);
                  });
    library_.impl("empty_like", Key::composite_explicit_autograd,
                  [this](const Tensor& self, Format format) {
                    log_.emplace_back("empty_like");
                    return empty_like(self, {}, format.value_or(MemoryFormat::preserve));
                  });
    library_.impl("copy_", Key::cpu, [this](const Tensor& self, const Tensor& src) {
      log_.emplace_back("copy_[CPU]");
      for (std::int64_t i = 0; i < self.size(0); ++i) {
        for (std::int64_t j = 0; j < self.size(1); ++j)
          self.data_as<float>()[i * self.stride(0) + j * self.stride(1)] =
              src.data_as<float>()[i * src.stride(0) + j * src.stride(1)];
      }
      return self;
    });
    library_.impl("copy_", Key::meta, [this](const Tensor& self, const Tensor&) {
      log_.emplace_back("copy_[Meta]");
      return self;
    });
  }

  TypedOperatorHandle<Tensor(const Tensor&, Format)> clone() const {
    return registry_.op("t::clone").typed<Tensor(const Tensor&, Format)>();
  }
  TypedOperatorHandle<Tensor(const Tensor&, Format)> like() const {
    return registry_.op("t::empty_like").typed<Tensor(const Tensor&, Format)>();
  }
  TypedOperatorHandle<Tensor(const Tensor&, const Tensor&)> copy() const {
    return registry_.op("t::copy_").typed<Tensor(const Tensor&, const Tensor&)>();
  }
  TypedOperatorHandle<Tensor(const Tensor&, MemoryFormat)> contiguous() const {
    return registry_.op("t::contiguous").typed<Tensor(const Tensor&, MemoryFormat)>();
  }
  /// Autograd's part in clone: a node for the graph, then whatever computes.
  Registration record_clones() {
    return registry_.impl(
        "t::clone", Key::autograd,
        KernelFunction::typed([this](DispatchKeySet keys, const Tensor& self, Format format) {
          log_.push_back("clone[" + std::string(name(keys.highest())) + "]");
          const Tensor result = clone().redispatch(keys.below(Key::autograd), self, format);
          nodes_.emplace_back("CloneBackward");
          return result;
        }));
  }

  Registry registry_;
  Library library_{registry_, LibraryKind::definitions, "t"};
  std::vector<std::string> log_;
  std::vector<std::string> nodes_;
};

TEST_F(DispatchChain, Example11RecordsANodeAndRedispatchesBelowItself) {
  const Registration autograd = record_clones();
  const Tensor base = empty({3, 4});
  std::iota(base.data_as<float>(), base.data_as<float>() + 12, 0.0f);
  const Tensor x = base.t();
  const Tensor y = contiguous().call(x, MemoryFormat::contiguous);
  EXPECT_THAT(log_,
              ElementsAre("contiguous", "clone[AutogradCPU]", "clone", "empty_like", "copy_[CPU]"));
  EXPECT_THAT(nodes_, ElementsAre("CloneBackward"));
  EXPECT_TRUE(y.is_contiguous());
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 3; ++j)
      EXPECT_EQ(y.data_as<float>()[i * 3 + j], static_cast<float>(j * 4 + i));
  }
  log_.clear();
  EXPECT_TRUE(contiguous().call(y, MemoryFormat::contiguous).is_same(y));
  EXPECT_THAT(log_, ElementsAre("contiguous"));
}

TEST_F(DispatchChain, Example11WithoutAutogradAndBelowIt) {
  const Tensor x = empty({3, 4}).t();
  const std::vector<std::string> plain{"contiguous", "clone", "empty_like", "copy_[CPU]"};
  contiguous().call(x, MemoryFormat::contiguous);
  EXPECT_EQ(log_, plain);
  log_.clear();
  {
    const Registration autograd = record_clones();
    const ExcludeDispatchKeyGuard below_autograd(autograd_keys);
    contiguous().call(x, MemoryFormat::contiguous);
    EXPECT_EQ(log_, plain);
    log_.clear();
  }
  contiguous().call(x, MemoryFormat::contiguous);  // the kernel's registration has ended
  EXPECT_EQ(log_, plain);
  EXPECT_TRUE(nodes_.empty());
}

TEST_F(DispatchChain, Example11OnMetaTensorsAndBoxed) {
  const Registration autograd = record_clones();
  const Tensor x = empty({3, 4}, TensorOptions{DType::f32, Device{DeviceType::meta}}).t();
  ValueStack stack{x, MemoryFormat::contiguous};
  registry_.op("t::contiguous").call_boxed(stack);
  EXPECT_THAT(
      log_, ElementsAre("contiguous", "clone[AutogradMeta]", "clone", "empty_like", "copy_[Meta]"));
  EXPECT_TRUE(std::get<Tensor>(stack.at(0)).is_contiguous());
}

TEST_F(DispatchChain, Example11Profiled) {
  const Registration autograd = record_clones();
  const Profile profile(registry_);
  contiguous().call(empty({3, 4}).t(), MemoryFormat::contiguous);
  std::multiset<std::string> counted;
  for (const ProfileRow& row : profile.rows())
    counted.insert(row.op + " " + std::to_string(row.calls));
  EXPECT_EQ(counted, (std::multiset<std::string>{"t::contiguous 1", "t::clone 1", "t::empty_like 1",
                                                 "t::copy_ 1"}));
  EXPECT_THAT(log_,
              ElementsAre("contiguous", "clone[AutogradCPU]", "clone", "empty_like", "copy_[CPU]"));
}

}  // namespace
}  // namespace weft
