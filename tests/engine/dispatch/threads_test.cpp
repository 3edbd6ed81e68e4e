// Calls while kernels come and go in other threads.  Of most use under ThreadSanitizer.
#include <weft/dispatch.h>

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace weft {
namespace {

using Key = DispatchKey;

TEST(DispatchThreads, CallsFindAKernelWhileRegistrationsComeAndGo) {
  Registry registry;
  registry.set_warning_handler([](const std::string&) {});
  Library library(registry, LibraryKind::definitions, "t");
  using Signature = std::int64_t(const Tensor&, std::int64_t);
  library.def("f(Tensor x, int n) -> int").impl("f", Key::cpu, [](const Tensor&, std::int64_t n) {
    return n;
  });
  const auto op = registry.op("t::f").typed<Signature>();
  const Tensor x = empty({2});
  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> calls{0}, wrong{0};

  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&, thread] {
      const IncludeDispatchKeyGuard include(thread == 0 ? DispatchKeySet(Key::profile)
                                                        : DispatchKeySet(Key::user_outer1));
      for (std::int64_t n = 0; !stop || n < 100; ++n) {
        if (thread == 2) {
          ValueStack stack{x, n};
          op.untyped().call_boxed(stack);
          wrong += std::get<std::int64_t>(stack.at(0)) != n;
        } else {
          wrong += op.call(x, n) != n;
        }
        ++calls;
      }
    });
  }
  // Every kernel gives the same answer; what differs is the way there.
  const auto pass_on = [&](Key key) {
    return KernelFunction::typed(
        [op, key](DispatchKeySet keys, const Tensor& tensor, std::int64_t n) {
          return op.redispatch(keys.below(key), tensor, n);
        });
  };
  for (int round = 0; round < 200 || calls < 1000; ++round) {
    const auto outer = registry.impl("t::f", Key::user_outer1, pass_on(Key::user_outer1));
    const auto autograd = registry.impl("t::f", Key::autograd, pass_on(Key::autograd));
    const auto masked = registry.impl("t::f", Key::user_outer1, KernelFunction::fallthrough());
    const auto backend = registry.impl(
        "t::f", Key::cpu, KernelFunction::typed([](const Tensor&, std::int64_t n) { return n; }));
    const Profile profile(registry);
    const auto other = registry.def("t::other" + std::to_string(round % 10) + "() -> ()");
    EXPECT_TRUE(registry.find("t::f").has_value());
    if (round % 20 == 0) registry.check_invariants();
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(DispatchThreads, RegistrationsFromManyThreadsAddUp) {
  Registry registry;
  constexpr int num_threads = 4, ops_each = 25;
  std::vector<std::vector<Registration>> kept(num_threads);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < num_threads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < ops_each; ++i) {
        const std::string name = "t::op" + std::to_string(thread) + "_" + std::to_string(i);
        kept[static_cast<std::size_t>(thread)].push_back(
            registry.impl(name, Key::composite_implicit_autograd,
                          KernelFunction::typed([i] { return std::int64_t{i}; })));
        kept[static_cast<std::size_t>(thread)].push_back(registry.def(name + "() -> int"));
        EXPECT_EQ(registry.op(name).typed<std::int64_t()>().call(), i);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(registry.operators().size(), static_cast<std::size_t>(num_threads * ops_each));
  registry.check_invariants();
  kept.clear();
  EXPECT_TRUE(registry.operators().empty());
  EXPECT_TRUE(registry.dangling_impls().empty());
}

}  // namespace
}  // namespace weft
