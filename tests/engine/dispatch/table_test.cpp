// Which kernel a row of the dispatch table holds: the rules of precedence one by one, what is
// re-exposed, and an independent model of the rules under random registrations.
#include "tests/matchers.h"

#include <weft/dispatch.h>

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace weft {
namespace {

using matchers::HasSubstr;
using Key = DispatchKey;

/// An operator without arguments whose kernels say their name, called with any keys.
struct Probe {
  Registry registry;
  std::vector<std::string> warnings;
  Registration schema = registry.def("t::probe() -> str");
  OperatorHandle op = registry.op("t::probe");
  TypedOperatorHandle<std::string()> typed = op.typed<std::string()>();

  Probe() {
    registry.set_warning_handler([this](const std::string& text) { warnings.push_back(text); });
  }
  Registration impl(Key key, std::string says) {
    return registry.impl("t::probe", key, KernelFunction::typed([says] { return says; }));
  }
  Registration fallthrough(Key key) {
    return registry.impl("t::probe", key, KernelFunction::fallthrough());
  }
  Registration fallback(Key key, std::string says) {
    return registry.fallback(
        key, KernelFunction::boxed([says](const OperatorHandle&, DispatchKeySet,
                                          ValueStack& stack) { stack.push_back(says); }));
  }
  /// What a call finds when exactly this key is asked for.
  std::string at(DispatchKeySet keys) {
    const ForceDispatchKeyGuard guard({keys, {}});
    try {
      return typed.call();
    } catch (const UnsupportedError& error) {
      const std::string text = error.what();
      return text.find("AutogradOther. This makes") != text.npos ? "ambiguous" : "missing";
    }
  }
};

TEST(DispatchTable, Rule1DirectKernelWins) {
  Probe probe;
  const auto implicit = probe.impl(Key::composite_implicit_autograd, "implicit");
  const auto explicit_ = probe.impl(Key::composite_explicit_autograd, "explicit");
  const auto non_functional =
      probe.impl(Key::composite_explicit_autograd_non_functional, "non functional");
  const auto fallback = probe.fallback(Key::cpu, "fallback");
  EXPECT_EQ(probe.at(Key::cpu), "non functional");
  const auto direct = probe.impl(Key::cpu, "direct");
  EXPECT_EQ(probe.at(Key::cpu), "direct");
  EXPECT_EQ(probe.at(Key::cuda), "non functional");
}

TEST(DispatchTable, Rule21NonFunctionalServesAllBackendsButFunctionalOnes) {
  Probe probe;
  const auto explicit_ = probe.impl(Key::composite_explicit_autograd, "explicit");
  const auto non_functional =
      probe.impl(Key::composite_explicit_autograd_non_functional, "non functional");
  EXPECT_EQ(probe.at(Key::cpu), "non functional");
  EXPECT_EQ(probe.at({}), "non functional");
  EXPECT_EQ(probe.at(Key::lazy), "explicit");
  EXPECT_EQ(probe.at(Key::autograd_cpu), "non functional");  // falls through to the empty set
  EXPECT_EQ(probe.at({Key::lazy, Key::autograd_lazy}), "explicit");
}

TEST(DispatchTable, Rule22CompositeExplicitServesBackendsAndUndefined) {
  Probe probe;
  const auto implicit = probe.impl(Key::composite_implicit_autograd, "implicit");
  const auto explicit_ = probe.impl(Key::composite_explicit_autograd, "explicit");
  EXPECT_EQ(probe.at(Key::meta), "explicit");
  EXPECT_EQ(probe.at({}), "explicit");
  // Autograd must not jump over the explicit kernel to the decomposition: it falls through.
  EXPECT_EQ(probe.at({Key::meta, Key::autograd_meta}), "explicit");
  EXPECT_EQ(probe.at({Key::other1, Key::autograd_other}), "explicit");
}

TEST(DispatchTable, Rule23CompositeImplicitServesBackendsAndAutograd) {
  Probe probe;
  const auto implicit = probe.impl(Key::composite_implicit_autograd, "implicit");
  const auto autograd = probe.impl(Key::autograd, "autograd");
  EXPECT_EQ(probe.at(Key::cpu), "implicit");
  EXPECT_EQ(probe.at(Key::autograd_cpu), "implicit");
  EXPECT_EQ(probe.at({}), "implicit");
  EXPECT_EQ(probe.at(Key::batched), "implicit");  // falls through to the empty set
  const auto direct = probe.impl(Key::cpu, "direct");
  EXPECT_EQ(probe.at({Key::cpu, Key::autograd_cpu}), "autograd");
  EXPECT_EQ(probe.at({Key::cuda, Key::autograd_cuda}), "implicit");
}

TEST(DispatchTable, Rule23AutogradOtherIsAmbiguous) {
  Probe probe;
  const auto implicit = probe.impl(Key::composite_implicit_autograd, "implicit");
  EXPECT_EQ(probe.at({Key::other1, Key::autograd_other}), "implicit");
  const auto backend = probe.impl(Key::other2, "other2");
  EXPECT_EQ(probe.at({Key::other1, Key::autograd_other}), "ambiguous");
  EXPECT_EQ(probe.at(Key::other2), "other2");
  EXPECT_EQ(probe.at({Key::cpu, Key::autograd_cpu}), "implicit");
  const auto autograd = probe.impl(Key::autograd, "autograd");
  EXPECT_EQ(probe.at(Key::autograd_other), "ambiguous");
  const auto direct = probe.impl(Key::autograd_other, "direct");
  EXPECT_EQ(probe.at(Key::autograd_other), "direct");
}

TEST(DispatchTable, Rule24AutogradAliasServesAllAutogradKeys) {
  Probe probe;
  const auto backend = probe.impl(Key::cpu, "cpu");
  EXPECT_EQ(probe.at({Key::cpu, Key::autograd_cpu}), "cpu");
  const auto autograd = probe.impl(Key::autograd, "autograd");
  EXPECT_EQ(probe.at({Key::cpu, Key::autograd_cpu}), "autograd");
  EXPECT_EQ(probe.at({Key::other1, Key::autograd_other}), "autograd");
  EXPECT_EQ(probe.at(Key::cpu), "cpu");
  EXPECT_EQ(probe.at(Key::cuda), "missing");
}

TEST(DispatchTable, Rule25BatchedDecompositionServesBatched) {
  Probe probe;
  const auto decomposition = probe.impl(Key::batched_decomposition, "decomposition");
  const auto fallback = probe.fallback(Key::batched, "fallback");
  EXPECT_EQ(probe.at({Key::cpu, Key::batched}), "decomposition");
  EXPECT_EQ(probe.at(Key::cpu), "missing");
  const auto direct = probe.impl(Key::batched, "direct");
  EXPECT_EQ(probe.at(Key::batched), "direct");
}

TEST(DispatchTable, Rule3BackendFallback) {
  Probe probe;
  const auto fallback = probe.fallback(Key::private_use1, "fallback");
  EXPECT_EQ(probe.at(Key::private_use1), "fallback");
  EXPECT_EQ(probe.at(Key::private_use2), "missing");
  {
    const auto newer = probe.fallback(Key::private_use1, "newer fallback");
    EXPECT_EQ(probe.at(Key::private_use1), "newer fallback");
  }
  EXPECT_EQ(probe.at(Key::private_use1), "fallback");
  const auto implicit = probe.impl(Key::composite_implicit_autograd, "implicit");
  EXPECT_EQ(probe.at(Key::private_use1), "implicit");
  EXPECT_THROW(probe.fallback(Key::autograd, "alias").reset(), ArgumentError);
  EXPECT_THROW(
      probe.registry.fallback(Key::cpu, KernelFunction::typed([] { return true; })).reset(),
      ArgumentError);
}

TEST(DispatchTable, FallthroughLeavesTheKeySetOfACall) {
  Probe probe;
  DispatchKeySet seen;
  const auto cpu =
      probe.registry.impl("t::probe", Key::cpu, KernelFunction::typed([&seen](DispatchKeySet keys) {
                            seen = keys;
                            return std::string("cpu");
                          }));
  const DispatchKeySet keys{Key::cpu, Key::user_inner1, Key::autograd_cpu, Key::profile};
  EXPECT_EQ(probe.at(keys), "cpu");
  EXPECT_EQ(seen, DispatchKeySet(Key::cpu));
  const auto inner = probe.impl(Key::user_inner1, "inner");
  EXPECT_EQ(probe.at(keys), "inner");
  {
    const auto masked = probe.fallthrough(Key::user_inner1);
    EXPECT_EQ(probe.at(keys), "cpu");
    probe.registry.check_invariants();
  }
  EXPECT_EQ(probe.at(keys), "inner");
}

TEST(DispatchTable, Rule4MissingKernelTellsWhatThereIs) {
  Registry registry;
  Library library(registry, LibraryKind::definitions, "weft");
  library.def("x(Tensor self) -> Tensor").impl("x", Key::meta, [](const Tensor& x) { return x; });
  const auto x = registry.op("weft::x").typed<Tensor(const Tensor&)>();
  try {
    x.call(empty({2}));
    FAIL();
  } catch (const UnsupportedError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("Could not run 'weft::x' with arguments from the 'CPU' backend."));
    EXPECT_THAT(error.what(), HasSubstr("'weft::x' is only available for these backends: [Meta]."));
    EXPECT_THAT(error.what(), HasSubstr("\n\nMeta: registered at " __FILE__ ":"));
    EXPECT_THAT(error.what(), HasSubstr("AutogradCPU: fallthrough registered at"));
  }
  try {
    x.call(Tensor());
    FAIL();
  } catch (const UnsupportedError& error) {
    EXPECT_THAT(error.what(), HasSubstr("There were no tensor arguments to this function"));
    EXPECT_THAT(error.what(), HasSubstr("registered for schema weft::x."));
  }
}

TEST(DispatchTable, NewestRegistrationWinsAndTheOlderComesBack) {
  Probe probe;
  auto first = probe.impl(Key::cpu, "first");
  auto second = probe.impl(Key::cpu, "second");
  auto third = probe.impl(Key::cpu, "third");
  ASSERT_EQ(probe.warnings.size(), 2u);
  EXPECT_THAT(probe.warnings[0],
              HasSubstr("Overriding a previously registered kernel for the same operator and the "
                        "same dispatch key\n  operator: t::probe() -> str\n"));
  EXPECT_THAT(probe.warnings[0], HasSubstr("dispatch key: CPU"));
  EXPECT_EQ(probe.at(Key::cpu), "third");
  second.reset();  // out of order: nothing visible changes
  EXPECT_EQ(probe.at(Key::cpu), "third");
  third.reset();
  EXPECT_EQ(probe.at(Key::cpu), "first");
  first = Registration();
  EXPECT_EQ(probe.at(Key::cpu), "missing");
  probe.registry.check_invariants();
}

TEST(DispatchTable, AnOperatorHasASchemaWhileItIsDefined) {
  Probe probe;
  EXPECT_TRUE(probe.op.has_schema());
  probe.schema.reset();
  EXPECT_FALSE(probe.op.has_schema());
  EXPECT_EQ(probe.op.schema().name.text(), "t::probe");  // still readable
}

TEST(DispatchTable, DumpsShowRegistrationsAndRows) {
  Registry registry;
  registry.set_warning_handler([](const std::string&) {});
  const auto kernel = [](const Tensor& x) { return x; };
  const auto def = registry.def("a::f(Tensor x) -> Tensor", {"def.cpp", 1});
  const auto old = registry.impl("a::f", Key::cpu, KernelFunction::typed(kernel), {"old.cpp", 2});
  const auto cpu = registry.impl("a::f", Key::cpu, KernelFunction::typed(kernel), {"new.cpp", 3});
  const auto alias =
      registry.impl("a::f", Key::autograd, KernelFunction::typed(kernel), {"a.cpp", 4});
  const auto meta = registry.impl("a::f", Key::meta, KernelFunction::fallthrough(), {"m.cpp", 5});
  EXPECT_EQ(registry.op("a::f").dump_state(),
            "name: a::f\n"
            "schema: a::f(Tensor x) -> Tensor\n"
            "debug: registered at def.cpp:1\n"
            "C++ signature: Tensor (Tensor const&), registered at old.cpp:2\n"
            "CPU: registered at new.cpp:3\n"
            "CPU (inactive): registered at old.cpp:2\n"
            "Meta: fallthrough registered at m.cpp:5\n"
            "Autograd[alias]: registered at a.cpp:4\n");
  const std::string table = registry.op("a::f").dump_computed_table();
  EXPECT_THAT(table, matchers::StartsWith("CPU: registered at new.cpp:3 [kernel]\n"
                                          "Meta: fallthrough registered at m.cpp:5 [kernel]\n"
                                          "UserInner1: fallthrough registered at "));
  EXPECT_THAT(table, HasSubstr("\nAutogradCUDA: registered at a.cpp:4 [Autograd]\n"));
  EXPECT_THAT(table, matchers::Not(HasSubstr("CUDA: registered at new")));
  EXPECT_THAT(
      registry.text(),
      matchers::StartsWith("a::f(Tensor x) -> Tensor\n  CPU: registered at new.cpp:3 [kernel]\n"));
  EXPECT_TRUE(registry.op("a::f").has_kernel_for(Key::autograd));
  EXPECT_FALSE(registry.op("a::f").has_kernel_for(Key::autograd_cpu));
  EXPECT_TRUE(registry.op("a::f").has_computed_kernel_for(Key::autograd_cpu));
  EXPECT_FALSE(registry.op("a::f").has_computed_kernel_for(Key::cuda));
}

/// The rules once more, as sets: an alias that serves a key, in order.
std::string model(const std::map<Key, std::vector<std::string>>& kernels,
                  const std::map<Key, std::vector<std::string>>& fallbacks, DispatchKeySet keys) {
  const auto newest = [](const auto& from, Key key) {
    const auto found = from.find(key);
    return found == from.end() || found->second.empty() ? std::string() : found->second.back();
  };
  for (int index = static_cast<int>(num_runtime_keys) - 1; index >= 0; --index) {
    const Key key = static_cast<Key>(index);
    if (key != Key::undefined && !keys.has(key)) continue;
    const bool is_autograd = name(key).starts_with("Autograd");
    const bool is_composite = index <= static_cast<int>(Key::other2);
    std::vector<Key> backends;
    if (key == Key::autograd_other)
      backends = {Key::other1, Key::other2};
    else if (is_autograd)
      backends = {*parse_dispatch_key(name(key).substr(8))};
    bool has_backend = false;
    for (const Key backend : backends) has_backend |= !newest(kernels, backend).empty();

    std::vector<std::string> candidates{newest(kernels, key)};
    if (is_composite && key != Key::lazy)
      candidates.push_back(newest(kernels, Key::composite_explicit_autograd_non_functional));
    if (is_composite) candidates.push_back(newest(kernels, Key::composite_explicit_autograd));
    const std::string implicit = newest(kernels, Key::composite_implicit_autograd);
    const bool is_hidden =
        is_autograd && (has_backend || !newest(kernels, Key::composite_explicit_autograd).empty());
    if (!implicit.empty() && key == Key::autograd_other && has_backend)
      candidates.push_back("ambiguous");
    else if ((is_composite || is_autograd) && !is_hidden)
      candidates.push_back(implicit);
    if (is_autograd) candidates.push_back(newest(kernels, Key::autograd));
    if (key == Key::batched) candidates.push_back(newest(kernels, Key::batched_decomposition));
    candidates.push_back(newest(fallbacks, key));
    if (!is_composite) candidates.push_back("fallthrough");
    candidates.push_back("missing");
    std::erase(candidates, "");
    if (candidates.front() != "fallthrough") return candidates.front();
  }
  return "missing";
}

TEST(DispatchTable, AgreesWithAModelUnderRandomRegistrations) {
  std::mt19937 random(11);
  for (int round = 0; round < 40; ++round) {
    Probe probe;
    std::map<Key, std::vector<std::string>> kernels, fallbacks;
    struct Live {
      Registration registration;
      std::vector<std::string>* stack;
      std::string says;
    };
    std::vector<Live> live;
    for (int step = 0; step < 40; ++step) {
      if (!live.empty() && random() % 3 == 0) {
        const std::size_t index = random() % live.size();
        std::erase(*live[index].stack, live[index].says);
        std::swap(live[index], live.back());
        live.pop_back();
      } else {
        const bool is_fallback = random() % 4 == 0;
        const Key key =
            static_cast<Key>(random() % (is_fallback ? num_runtime_keys : num_dispatch_keys));
        const bool falls_through = key != Key::undefined && !is_fallback && !is_alias(key) &&
                                   !is_backend(key) && random() % 4 == 0;
        const std::string says =
            falls_through ? "fallthrough" : std::to_string(round) + "." + std::to_string(step);
        auto& stack = (is_fallback ? fallbacks : kernels)[key];
        if (falls_through && !stack.empty()) continue;  // the model erases by name
        live.push_back({is_fallback     ? probe.fallback(key, says)
                        : falls_through ? probe.fallthrough(key)
                                        : probe.impl(key, says),
                        &stack, says});
        stack.push_back(says);
      }
      probe.registry.check_invariants();
      for (int call = 0; call < 10; ++call) {
        const auto keys =
            DispatchKeySet::from_bits(random() & random() & DispatchKeySet::all().bits());
        ASSERT_EQ(probe.at(keys), model(kernels, fallbacks, keys))
            << text(keys) << probe.op.dump_state();
      }
    }
  }
}

}  // namespace
}  // namespace weft
