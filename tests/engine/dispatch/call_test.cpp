// Calls: key sets from arguments and threads, typed and boxed kernels either way round, handles,
// libraries, listeners and the profile.
#include "tests/matchers.h"

#include <weft/dispatch.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace weft {
namespace {

using matchers::ElementsAre;
using matchers::HasSubstr;
using Key = DispatchKey;

template <class Function>
std::string error_of(Function function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

Tensor meta_tensor() { return empty({2}, TensorOptions{DType::f32, Device{DeviceType::meta}}); }

TEST(DispatchKeys, SetsAreOrdered) {
  const DispatchKeySet keys{Key::cpu, Key::autograd_cpu, Key::profile};
  EXPECT_EQ(keys.highest(), Key::profile);
  EXPECT_EQ(keys.below(Key::profile).highest(), Key::autograd_cpu);
  EXPECT_EQ(keys.below(Key::autograd), DispatchKeySet(Key::cpu));
  EXPECT_EQ(keys.below(Key::cpu), DispatchKeySet());
  EXPECT_EQ(keys.below(Key::undefined), DispatchKeySet());
  EXPECT_EQ(DispatchKeySet().highest(), Key::undefined);
  EXPECT_TRUE(DispatchKeySet({Key::undefined, Key::autograd}).empty());
  EXPECT_EQ(text(keys), "{CPU, AutogradCPU, Profile}");
  EXPECT_EQ(DispatchKeySet::all().highest_index() + 1, num_runtime_keys);
}

TEST(DispatchKeys, NamesReadBack) {
  for (std::size_t index = 0; index < num_dispatch_keys; ++index) {
    const auto key = static_cast<Key>(index);
    EXPECT_EQ(parse_dispatch_key(name(key)), key);
    EXPECT_EQ(is_alias(key), index >= num_runtime_keys);
    EXPECT_EQ(is_backend(key), backend_keys.has(key));
    EXPECT_EQ(autograd_keys.has(key), !is_alias(key) && name(key).starts_with("Autograd"));
    if (is_backend(key)) {
      EXPECT_TRUE(backends_of(autograd_of(key)).has(key));
    }
  }
  EXPECT_FALSE(parse_dispatch_key("XPU").has_value());
}

TEST(DispatchKeys, ComeFromTensors) {
  EXPECT_EQ(dispatch_keys_of(empty({2})), DispatchKeySet({Key::cpu, Key::autograd_cpu}));
  EXPECT_EQ(dispatch_keys_of(meta_tensor()), DispatchKeySet({Key::meta, Key::autograd_meta}));
  EXPECT_EQ(dispatch_keys_of(Tensor()), DispatchKeySet());
}

/// An operator whose kernel tells the keys that it was called with.
class DispatchCall : public testing::Test {
 protected:
  template <class... Args>
  DispatchKeySet keys_of_call(const std::string& arguments, Args... args) {
    Registry registry;
    const auto def = registry.def("t::f(" + arguments + ") -> ()");
    DispatchKeySet seen;
    std::vector<Registration> kernels;
    for (std::size_t index = 0; index < num_runtime_keys; ++index)
      kernels.push_back(
          registry.impl("t::f", static_cast<Key>(index),
                        KernelFunction::typed([&](DispatchKeySet keys, Args...) { seen = keys; })));
    const auto op = registry.op("t::f");
    op.typed<void(Args...)>().call(args...);
    const DispatchKeySet typed = seen;
    seen = {};
    ValueStack stack{detail::Boxing<Args>::box(args)...};
    op.call_boxed(stack);
    EXPECT_EQ(seen, typed);
    EXPECT_TRUE(stack.empty());
    return typed;
  }
  const DispatchKeySet cpu_ = dispatch_keys_of(empty({1}));
  const DispatchKeySet meta_ = dispatch_keys_of(meta_tensor());
};

TEST_F(DispatchCall, UnitesTheKeysOfAllTensorArguments) {
  const Tensor cpu = empty({2});
  EXPECT_EQ(keys_of_call("Tensor a, Tensor b", cpu, cpu), cpu_);
  EXPECT_EQ(keys_of_call("Tensor a, Tensor b", cpu, meta_tensor()), cpu_ | meta_);
  EXPECT_EQ(keys_of_call("int a, Tensor? b", std::int64_t{1}, std::optional(cpu)), cpu_);
  EXPECT_EQ(keys_of_call("Tensor? b", std::optional<Tensor>()), DispatchKeySet());
  EXPECT_EQ(keys_of_call("Tensor[] a, Tensor b", std::vector<Tensor>{meta_tensor(), Tensor()}, cpu),
            cpu_ | meta_);
  EXPECT_EQ(keys_of_call("Tensor[] a", std::vector<Tensor>{}), DispatchKeySet());
  EXPECT_EQ(keys_of_call("Tensor a", Tensor()), DispatchKeySet());
  EXPECT_EQ(keys_of_call("int[] a, str s", std::vector<std::int64_t>{1}, std::string("x")),
            DispatchKeySet());
}

TEST_F(DispatchCall, ThreadsIncludeAndExclude) {
  const Tensor cpu = empty({2});
  const IncludeDispatchKeyGuard include({Key::profile, Key::user_outer1});
  EXPECT_EQ(keys_of_call("Tensor a", cpu), cpu_ | Key::profile | Key::user_outer1);
  {
    const ExcludeDispatchKeyGuard exclude(autograd_keys | Key::profile);
    EXPECT_EQ(keys_of_call("Tensor a", cpu), DispatchKeySet({Key::cpu, Key::user_outer1}));
    {
      // Nested guards undo only what they changed themselves.
      const ExcludeDispatchKeyGuard again({Key::profile, Key::cpu});
      const IncludeDispatchKeyGuard twice(Key::user_outer1);
      EXPECT_EQ(keys_of_call("Tensor a", cpu), DispatchKeySet(Key::user_outer1));
    }
    EXPECT_EQ(keys_of_call("Tensor a", cpu), DispatchKeySet({Key::cpu, Key::user_outer1}));
    const LocalDispatchKeys here = local_dispatch_keys();
    std::thread([&] {
      EXPECT_EQ(keys_of_call("Tensor a", cpu), cpu_);  // another thread has sets of its own
      const ForceDispatchKeyGuard handed_over(here);
      EXPECT_EQ(keys_of_call("Tensor a", cpu), DispatchKeySet({Key::cpu, Key::user_outer1}));
    }).join();
  }
  EXPECT_EQ(keys_of_call("Tensor a", cpu), cpu_ | Key::profile | Key::user_outer1);
}

TEST_F(DispatchCall, RedispatchTakesKeysAsTheyAre) {
  Registry registry;
  Library library(registry, LibraryKind::definitions, "t");
  std::vector<std::string> path;
  using Signature = void(const Tensor&);
  library.def("f(Tensor x) -> ()");
  const auto op = registry.op("t::f").typed<Signature>();
  const auto step = [&](Key key) {
    library.impl("f", key, [&path, op, key](DispatchKeySet keys, const Tensor& x) {
      path.emplace_back(name(key));
      if (!is_backend(key)) op.redispatch(keys.below(key), x);
    });
  };
  for (const Key key : {Key::cpu, Key::user_inner1, Key::autograd, Key::user_outer2}) step(key);
  const IncludeDispatchKeyGuard include({Key::user_inner1, Key::user_outer2, Key::user_outer1});
  op.call(empty({2}));
  EXPECT_THAT(path, ElementsAre("UserOuter2", "Autograd", "UserInner1", "CPU"));
  path.clear();
  const ExcludeDispatchKeyGuard exclude(DispatchKeySet::all());
  op.redispatch({Key::user_inner1, Key::cpu, Key::user_outer1}, Tensor());  // outer1 falls through
  EXPECT_THAT(path, ElementsAre("UserInner1", "CPU"));
}

TEST_F(DispatchCall, BoxedAndTypedKernelsServeBothKindsOfCall) {
  Registry registry;
  Library library(registry, LibraryKind::definitions, "t");
  const auto typed = [](const Tensor& x, std::int64_t n, const Scalar& s) {
    return std::tuple(x.numel() * n, s.as_double());
  };
  library.def("typed(Tensor x, int n, Scalar s) -> (int, float)").impl("typed", Key::cpu, typed);
  library.def("boxed(Tensor x, int n, Scalar s) -> (int, float)")
      .impl("boxed", Key::cpu,
            KernelFunction::boxed(
                [&](const OperatorHandle& op, DispatchKeySet keys, ValueStack& stack) {
                  EXPECT_EQ(op.name().text(), "t::boxed");
                  EXPECT_EQ(keys, DispatchKeySet(Key::cpu));
                  EXPECT_EQ(stack.size(), 3u);
                  const auto [n, s] =
                      typed(std::get<Tensor>(stack[0]), std::get<std::int64_t>(stack[1]),
                            std::get<Scalar>(stack[2]));
                  stack = {n, s};
                }));
  for (const char* op_name : {"t::typed", "t::boxed"}) {
    const auto op = registry.op(op_name);
    using Signature = std::tuple<std::int64_t, double>(const Tensor&, std::int64_t, const Scalar&);
    EXPECT_EQ(op.typed<Signature>().call(empty({2, 3}), 7, 0.5), std::tuple(42, 0.5));
    ValueStack stack{empty({2, 3}), std::int64_t{7}, Scalar(0.5)};
    op.call_boxed(stack);
    ASSERT_EQ(stack.size(), 2u);
    EXPECT_EQ(std::get<std::int64_t>(stack[0]), 42);
    EXPECT_EQ(std::get<double>(stack[1]), 0.5);
  }
}

TEST_F(DispatchCall, BoxedCallsAreChecked) {
  Registry registry;
  Library library(registry, LibraryKind::definitions, "t");
  library.def("f(Tensor x, int[] dims) -> ()", [](const Tensor&, IntSpan) {});
  const auto op = registry.op("t::f");
  ValueStack few{empty({2})};
  EXPECT_EQ(error_of([&] { op.call_boxed(few); }),
            "t::f(Tensor x, int[] dims) -> () takes 2 arguments, got 1");
  ValueStack wrong{empty({2}), std::int64_t{3}};
  EXPECT_EQ(error_of([&] { op.call_boxed(wrong); }),
            "t::f: argument 2 (dims) must be int[], got 3");
  EXPECT_EQ(error_of([&] { op.redispatch_boxed(Key::cpu, wrong); }),
            "t::f: argument 2 (dims) must be int[], got 3");
  ValueStack none;
  EXPECT_EQ(error_of([&] { op.redispatch_boxed(Key::cpu, none); }),
            "t::f(Tensor x, int[] dims) -> () takes 2 arguments, got 0");
  library.def("bad() -> int").impl("bad", Key::undefined, KernelFunction::boxed([](auto&&...) {}));
  EXPECT_THAT(error_of([&] { registry.op("t::bad").typed<std::int64_t()>().call(); }),
              HasSubstr("a boxed kernel of t::bad left 0 values on the stack, expected 1"));
}

TEST_F(DispatchCall, SignaturesAreChecked) {
  Registry registry;
  const auto kernel = [](const Tensor& x, std::int64_t) { return x; };
  const auto impl =
      registry.impl("t::f", Key::cpu, KernelFunction::typed(kernel), SourceLine{"cpu.cpp", 7});
  const auto def = registry.def("t::f(Tensor x, int n) -> Tensor", SourceLine{"def.cpp", 8});
  const auto op = registry.op("t::f");
  EXPECT_EQ(error_of([&] { op.typed<Tensor(Tensor, std::int64_t)>(); }),
            "Tried to access or call an operator with a wrong signature.\n"
            "  operator: t::f(Tensor x, int n) -> Tensor\n"
            "    registered at def.cpp:8\n"
            "  correct signature:  Tensor (Tensor const&, long)\n"
            "    registered at cpu.cpp:7\n"
            "  accessed/called as: Tensor (Tensor, long)");
  const auto by_value = [](Tensor x, std::int64_t) { return x; };
  const std::string mismatch = error_of([&] {
    registry.impl("t::f", Key::cuda, KernelFunction::typed(by_value), {"cuda.cpp", 9}).reset();
  });
  EXPECT_THAT(mismatch, HasSubstr("Mismatch in kernel C++ signatures\n  operator: t::f("));
  EXPECT_THAT(mismatch, HasSubstr("kernel 2: Tensor (Tensor, long)\n    dispatch key: CUDA\n"
                                  "    registered at cuda.cpp:9"));
  EXPECT_EQ(op.typed<Tensor(const Tensor&, std::int64_t)>().call(empty({3}), 1).numel(), 3);
}

// A handle trusts its signature for ever: kernels that come later must have it too.
TEST_F(DispatchCall, HandlesPinTheSignature) {
  Registry registry;
  const auto def = registry.def("t::f(Tensor x) -> Tensor");
  const auto op = registry.op("t::f");
  EXPECT_THAT(error_of([&] { op.typed<Tensor(const Tensor&, bool)>(); }),
              HasSubstr("reason: The number of arguments is different. 1 vs 2."));
  const auto by_value = KernelFunction::typed([](Tensor x) { return x; });
  registry.impl("t::f", Key::cpu, by_value).reset();  // gone without a trace
  std::ignore = op.typed<Tensor(const Tensor&)>();
  EXPECT_THAT(error_of([&] { registry.impl("t::f", Key::cpu, by_value).reset(); }),
              HasSubstr("first accessed with typed()"));
}

TEST_F(DispatchCall, KernelsMayComeBeforeTheSchema) {
  Registry registry;
  auto impl = registry.impl("t::later", Key::composite_explicit_autograd,
                            KernelFunction::typed([](const Tensor& x) { return x; }));
  EXPECT_FALSE(registry.find("t::later").has_value());
  ASSERT_EQ(registry.dangling_impls().size(), 1u);
  EXPECT_EQ(registry.dangling_impls()[0].name().text(), "t::later");
  EXPECT_THROW(registry.dangling_impls()[0].schema(), ArgumentError);
  EXPECT_THAT(registry.dangling_impls()[0].dump_state(), HasSubstr("schema: (none)"));
  {
    const auto def = registry.def("t::later(Tensor x) -> Tensor");
    EXPECT_TRUE(registry.dangling_impls().empty());
    const auto op = registry.op("t::later").typed<Tensor(const Tensor&)>();
    EXPECT_EQ(op.call(empty({5})).numel(), 5);
  }
  EXPECT_EQ(registry.dangling_impls().size(), 1u);
  impl.reset();
  EXPECT_TRUE(registry.dangling_impls().empty());
}

TEST_F(DispatchCall, SchemasAndNamespacesAreDefinedOnce) {
  Registry registry;
  auto def = registry.def("t::f() -> ()", {"a.cpp", 1});
  const std::string twice = error_of([&] { registry.def("t::f() -> ()", {"b.cpp", 2}).reset(); });
  EXPECT_THAT(twice, HasSubstr("with the same name and overload name multiple times"));
  EXPECT_THAT(twice, HasSubstr("b.cpp:2. Original registration: registered at a.cpp:1."));
  def.reset();
  registry.def("t::f() -> ()").reset();

  {
    Library library(registry, LibraryKind::definitions, "t", {"one.cpp", 3});
    const std::string second = error_of([&] {
      Library(registry, LibraryKind::definitions, "t", {"two.cpp", 4});
    });
    EXPECT_THAT(second, HasSubstr("Only a single library can define the namespace t"));
    EXPECT_THAT(second, HasSubstr("one.cpp:3"));
    EXPECT_THAT(second, HasSubstr("two.cpp:4"));
    Library fragment(registry, LibraryKind::fragment, "t");
    fragment.def("g() -> ()");
    EXPECT_TRUE(registry.find("t::g").has_value());
    Library kernels(registry, LibraryKind::kernels, "t");
    EXPECT_THAT(error_of([&] { kernels.def("h() -> ()"); }),
                HasSubstr("not for a library of kernels"));
    EXPECT_THAT(error_of([&] { fragment.def("other::h() -> ()"); }),
                HasSubstr("\"other::h\" is not in the namespace t"));
    EXPECT_THROW(library.def("bad(Tensor x) -> ()", [](bool) {}), ArgumentError);
    EXPECT_FALSE(registry.find("t::bad").has_value());
  }
  EXPECT_FALSE(registry.find("t::g").has_value());
  Library again(registry, LibraryKind::definitions, "t");
  again.def("empty_like() -> ()");
  EXPECT_THAT(error_of([&] { registry.op("t::empty_lik"); }),
              HasSubstr("Could not find schema for t::empty_lik; did you mean: t::empty_like"));
}

TEST_F(DispatchCall, ListenersHearOfOperators) {
  Registry registry;
  std::vector<std::string> heard;
  const auto before = registry.def("t::before() -> ()");
  auto listener = registry.add_listener(
      {[&](const OperatorHandle& op) {
         heard.push_back(op.schema().name.text() + " came");
         EXPECT_TRUE(registry.find(op.name().text()).has_value());  // may ask the registry
       },
       [&](const OperatorHandle& op) { heard.push_back(op.name().text() + " went"); }});
  auto impl = registry.impl("t::a", Key::cpu, KernelFunction::typed([] {}));
  auto def = registry.def("t::a() -> ()");
  impl.reset();
  def.reset();
  EXPECT_THAT(heard, ElementsAre("t::before came", "t::a came", "t::a went"));
  listener.reset();
  registry.def("t::b() -> ()").reset();
  EXPECT_EQ(heard.size(), 3u);
}

TEST_F(DispatchCall, ListenersMayStopListeningWhenTheyAreTold) {
  Registry registry;
  int told = 0;
  Registration listener = registry.add_listener({[&](const OperatorHandle&) {
                                                   ++told;
                                                   listener.reset();
                                                 },
                                                 {}});
  const auto first = registry.def("t::first() -> ()");
  const auto second = registry.def("t::second() -> ()");
  EXPECT_EQ(told, 1);
}

TEST_F(DispatchCall, ProfileCountsAndTimesWithoutAnEditOfAnOperator) {
  Registry registry;
  Library library(registry, LibraryKind::definitions, "t");
  using namespace std::chrono_literals;
  library.def("inner(Tensor x) -> Tensor").impl("inner", Key::cpu, [](const Tensor& x) {
    std::this_thread::sleep_for(4ms);
    return x;
  });
  const auto inner = registry.op("t::inner").typed<Tensor(const Tensor&)>();
  library.def("outer(Tensor x) -> Tensor", [inner](const Tensor& x) {
    std::this_thread::sleep_for(1ms);
    return inner.call(inner.call(x));
  });
  library.def("fails() -> ()", [] { throw std::runtime_error("no"); });
  const auto outer = registry.op("t::outer").typed<Tensor(const Tensor&)>();
  const Tensor x = empty({2});
  outer.call(x);
  const std::string table = registry.text();
  {
    const Profile profile(registry);
    EXPECT_TRUE(outer.call(x).is_same(x));
    inner.call(x);
    EXPECT_THROW(registry.op("t::fails").typed<void()>().call(), std::runtime_error);
    const std::vector<ProfileRow> rows = profile.rows();
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_TRUE(std::ranges::is_sorted(rows, std::ranges::greater(), &ProfileRow::self_ns));
    const auto row_of = [](const std::vector<ProfileRow>& all, const std::string& op) {
      return *std::ranges::find(all, op, &ProfileRow::op);
    };
    const ProfileRow inner_row = row_of(rows, "t::inner"), outer_row = row_of(rows, "t::outer");
    EXPECT_EQ(inner_row.calls, 3u);
    EXPECT_GE(inner_row.total_ns, 12'000'000u);
    EXPECT_EQ(inner_row.self_ns, inner_row.total_ns);
    EXPECT_EQ(outer_row.calls, 1u);
    EXPECT_GE(outer_row.self_ns, 1'000'000u);
    EXPECT_GE(outer_row.total_ns, outer_row.self_ns + 8'000'000u);
    EXPECT_EQ(row_of(rows, "t::fails").calls, 1u);
    EXPECT_THAT(profile.text(), HasSubstr("t::outer\n"));
    std::thread([&] { inner.call(x); }).join();  // a thread that doesn't include the key
    EXPECT_EQ(row_of(profile.rows(), "t::inner").calls, 3u);
  }
  EXPECT_EQ(registry.text(), table);
  outer.call(x);
}

}  // namespace
}  // namespace weft
