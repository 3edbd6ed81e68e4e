// The engine's public calls through the dispatcher.
#include "tests/matchers.h"

#include <weft/dispatch.h>
#include <weft/engine.h>
#include <weft/error.h>

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace weft {
namespace {

using matchers::ElementsAre;
using matchers::ElementsAreArray;
using matchers::HasSubstr;
using Key = DispatchKey;
using Calls = std::map<std::string, std::uint64_t>;
using Binary = TypedOperatorHandle<Tensor(const Tensor&, const Tensor&)>;

class engine_dispatch : public testing::Test {
 protected:
  static Tensor values(float first) {
    const Tensor tensor = empty({3}, {DType::f32, {}, MemoryFormat::contiguous});
    for (int i = 0; i < 3; ++i) tensor.data_as<float>()[i] = first + static_cast<float>(i);
    return tensor;
  }
  static std::vector<float> read(const Tensor& tensor) {
    return {tensor.data_as<float>(), tensor.data_as<float>() + tensor.numel()};
  }
  static Tensor empty(std::vector<std::int64_t> sizes, const TensorOptions& options) {
    return weft::empty(sizes, options);
  }
  static Tensor meta(std::vector<std::int64_t> sizes,
                     MemoryFormat format = MemoryFormat::contiguous) {
    return weft::empty(sizes, {DType::f32, {DeviceType::meta, 0}, format});
  }
  static std::vector<std::int64_t> list(IntSpan dims) { return {dims.begin(), dims.end()}; }

  Engine engine_;
};

/// Negates the result of whatever computes below.
KernelFunction negated(int& calls, Key key) {
  return KernelFunction::typed(
      [&calls, key](DispatchKeySet keys, const Tensor& x, const Tensor& y) {
        ++calls;
        const Tensor sum = registry()
                               .op("weft::add")
                               .typed<Tensor(const Tensor&, const Tensor&)>()
                               .redispatch(keys.below(key), x, y);
        Engine other;
        return other.unary(Op::neg, sum);
      });
}

TEST_F(engine_dispatch, user_kernel_is_called_where_its_key_is_included) {
  int calls = 0;
  const Registration kernel =
      registry().impl("weft::add", Key::user_outer1, negated(calls, Key::user_outer1));
  EXPECT_THAT(read(engine_.binary(Op::add, values(1), values(10))), ElementsAreArray({11, 13, 15}));
  EXPECT_EQ(calls, 0);
  const IncludeDispatchKeyGuard include(Key::user_outer1);
  EXPECT_THAT(read(engine_.binary(Op::add, values(1), values(10))),
              ElementsAreArray({-11, -13, -15}));
  EXPECT_EQ(calls, 1);
  EXPECT_THAT(read(engine_.binary(Op::mul, values(1), values(10))), ElementsAreArray({10, 22, 36}));
  EXPECT_EQ(calls, 1);
}

TEST_F(engine_dispatch, autograd_kernel_is_called_for_every_tensor_until_it_ends) {
  int calls = 0;
  Registration kernel = registry().impl("weft::add", Key::autograd, negated(calls, Key::autograd));
  EXPECT_THAT(read(engine_.binary(Op::add, values(1), values(10))),
              ElementsAreArray({-11, -13, -15}));
  {
    const ExcludeDispatchKeyGuard exclude(autograd_keys);
    EXPECT_THAT(read(engine_.binary(Op::add, values(1), values(10))),
                ElementsAreArray({11, 13, 15}));
  }
  kernel.reset();
  EXPECT_THAT(read(engine_.binary(Op::add, values(1), values(10))), ElementsAreArray({11, 13, 15}));
  EXPECT_EQ(calls, 1);
}

TEST_F(engine_dispatch, eval_can_be_observed_and_gets_its_leaves) {
  std::vector<std::size_t> leaves;
  const Registration kernel = registry().impl(
      "weft::eval", Key::user_inner1,
      KernelFunction::typed([&](DispatchKeySet keys, std::span<const Tensor> inputs) {
        leaves.push_back(inputs.size());
        return registry()
            .op("weft::eval")
            .typed<std::vector<Tensor>(std::span<const Tensor>)>()
            .redispatch(keys.below(Key::user_inner1), inputs);
      }));
  const Expr a(values(1));
  const Expr b(values(2));
  const IncludeDispatchKeyGuard include(Key::user_inner1);
  EXPECT_THAT(read(engine_.eval(a * b + a)), ElementsAreArray({3, 8, 15}));
  const Tensor out = values(0);
  engine_.eval(Expr(2) * a, out);
  EXPECT_THAT(read(out), ElementsAreArray({2, 4, 6}));
  engine_.eval(Expr(2) + Expr(3));
  EXPECT_THAT(leaves, ElementsAreArray({2, 1, 0}));
}

TEST_F(engine_dispatch, eval_refuses_to_be_called_without_an_engine) {
  const auto eval =
      registry().op("weft::eval").typed<std::vector<Tensor>(std::span<const Tensor>)>();
  EXPECT_THROW(eval.call(std::vector<Tensor>{values(1)}), ArgumentError);
}

TEST_F(engine_dispatch, copies_of_nothing_are_refused_by_the_operator_too) {
  const OperatorHandle copy = registry().op("weft::copy_");
  for (const Tensor& other : {ones({2, 3}), meta({2, 3})}) {
    ValueStack from_nothing{other, Tensor()}, to_nothing{Tensor(), other};
    EXPECT_THROW(copy.call_boxed(from_nothing), ArgumentError);
    EXPECT_THROW(copy.call_boxed(to_nothing), ArgumentError);
  }
}

TEST_F(engine_dispatch, operators_can_be_called_by_their_handles) {
  const Binary add = registry().op("weft::add").typed<Tensor(const Tensor&, const Tensor&)>();
  EXPECT_THAT(read(add.call(values(1), values(10))), ElementsAreArray({11, 13, 15}));
  ValueStack stack{values(1), values(10), values(0)};
  const Tensor out = std::get<Tensor>(stack[2]);
  registry().op("weft::add.out").call_boxed(stack);
  EXPECT_THAT(read(out), ElementsAreArray({11, 13, 15}));
  ASSERT_EQ(stack.size(), 1U);
  EXPECT_TRUE(std::get<Tensor>(stack[0]).is_same(out));
}

TEST_F(engine_dispatch, profile_counts_every_call) {
  const Tensor a = values(1);
  const Tensor b = values(2);
  const Tensor out = values(0);
  const auto profile = std::make_unique<Profile>();
  engine_.binary(Op::add, a, b);
  engine_.binary(Op::add, a, b);
  engine_.binary(Op::add, a, b, out);
  engine_.unary(Op::exp, a);
  engine_.ternary(Op::fma, a, b, b);
  engine_.eval(Expr(a) + Expr(b) * Expr(2));
  engine_.copy(out, b);
  engine_.clone(a);
  engine_.to(a, DType::f64);
  engine_.contiguous(a);
  Calls calls;
  for (const ProfileRow& row : profile->rows()) {
    calls[row.op] = row.calls;
    EXPECT_GE(row.total_ns, row.self_ns);
  }
  EXPECT_EQ(calls, (Calls{{"weft::add", 2},
                          {"weft::add.out", 1},
                          {"weft::exp", 1},
                          {"weft::fma", 1},
                          {"weft::eval", 1},
                          {"weft::copy_", 3},
                          {"weft::empty_like", 2},
                          {"weft::clone", 1},
                          {"weft::to", 1},
                          {"weft::contiguous", 1}}));
  EXPECT_THAT(read(out), ElementsAreArray({2, 3, 4}));
}

TEST_F(engine_dispatch, reductions_are_operators_with_outputs_and_pairs_too) {
  const Tensor a = values(1);
  const Tensor out = empty(std::initializer_list<std::int64_t>{}, {.dtype = DType::f32});
  const auto profile = std::make_unique<Profile>();
  engine_.reduce(Reduction::sum, a);
  engine_.reduce(Reduction::sum, a, {}, out);
  engine_.aminmax(a);
  engine_.var_mean(a);
  const auto [largest, place] = engine_.max(a, 0);
  engine_.min(a, 0);
  const auto [running, places] = engine_.cummax(a, 0);
  engine_.cummin(a, 0);
  Calls calls;
  for (const ProfileRow& row : profile->rows()) calls[row.op] = row.calls;
  EXPECT_EQ(calls, (Calls{{"weft::sum", 1},
                          {"weft::sum.out", 1},
                          {"weft::aminmax", 1},
                          {"weft::var_mean", 1},
                          {"weft::max.dim", 1},
                          {"weft::min.dim", 1},
                          {"weft::cummax.dim", 1},
                          {"weft::cummin.dim", 1}}));
  EXPECT_THAT(read(out), ElementsAre(6));
  EXPECT_THAT(read(largest), ElementsAre(3));
  EXPECT_EQ(place.dtype(), DType::i64);
  EXPECT_THAT(read(running), ElementsAreArray({1, 2, 3}));
  EXPECT_THAT(list(places.sizes()), ElementsAre(3));
}

TEST_F(engine_dispatch, two_results_of_reductions_are_inferred_on_meta) {
  const Tensor a = empty(std::initializer_list<std::int64_t>{2, 3},
                         {.dtype = DType::f32, .device = {DeviceType::meta, 0}});
  const auto [values, indices] = engine_.max(a, 1, true);
  EXPECT_THAT(list(values.sizes()), ElementsAreArray({2, 1}));
  EXPECT_THAT(list(indices.sizes()), ElementsAreArray({2, 1}));
  EXPECT_EQ(indices.dtype(), DType::i64);
}

TEST_F(engine_dispatch, meta_tensors_give_the_layout_alone) {
  const Tensor a = meta({2, 3, 4, 5}, MemoryFormat::channels_last);
  const Tensor sum = engine_.binary(Op::add, a, a);
  EXPECT_EQ(sum.device().type, DeviceType::meta);
  EXPECT_THAT(list(sum.sizes()), ElementsAreArray({2, 3, 4, 5}));
  EXPECT_THAT(list(sum.strides()), ElementsAreArray({60, 1, 15, 3}));
  const Tensor less = engine_.binary(Op::lt, meta({3, 1}), meta({4}));
  EXPECT_EQ(less.dtype(), DType::boolean);
  EXPECT_THAT(list(less.sizes()), ElementsAreArray({3, 4}));
  const Tensor fused = engine_.eval(Expr(a) * Expr(2) + Expr(a));
  EXPECT_EQ(fused.device().type, DeviceType::meta);
  EXPECT_THAT(list(fused.strides()), ElementsAreArray({60, 1, 15, 3}));
  const Tensor clone = engine_.contiguous(a);
  EXPECT_EQ(clone.device().type, DeviceType::meta);
  EXPECT_THAT(list(clone.strides()), ElementsAreArray({60, 20, 5, 1}));
  EXPECT_THROW(engine_.binary(Op::add, meta({3}), meta({4})), ArgumentError);
  EXPECT_THROW(engine_.copy(values(0), meta({3})), UnsupportedError);
}

TEST_F(engine_dispatch, backends_without_kernels_are_named_with_those_that_have_some) {
  const IncludeDispatchKeyGuard include(Key::lazy);
  const Tensor a = values(1);
  const Tensor out = values(7);
  const std::vector<std::pair<std::string, std::function<void()>>> calls = {
      {"weft::add", [&] { engine_.binary(Op::add, a, a); }},
      {"weft::add.out", [&] { engine_.binary(Op::add, a, a, out); }},
      {"weft::copy_", [&] { engine_.copy(out, a); }},
      {"weft::eval", [&] { engine_.eval(Expr(a) * Expr(2)); }},
  };
  for (const auto& [op, call] : calls) {
    try {
      call();
      ADD_FAILURE() << op << " ran";
    } catch (const UnsupportedError& error) {
      EXPECT_THAT(error.what(),
                  HasSubstr(detail::concat("Could not run '", op,
                                           "' with arguments from the 'Lazy' backend. This could "
                                           "be because the operator doesn't exist for this "
                                           "backend. '",
                                           op, "' is only available for these backends: [")));
      EXPECT_THAT(error.what(), HasSubstr("[CPU, CUDA, Meta"));
      EXPECT_THAT(error.what(), HasSubstr("\nCPU: registered at "));
    }
  }
  EXPECT_THAT(read(out), ElementsAreArray({7, 8, 9}));
}

TEST_F(engine_dispatch, inference_takes_meta_tensors) {
  const Tensor image = meta({2, 3, 4, 5}, MemoryFormat::channels_last);
  const Tensor colours = meta({3, 1, 1});
  const Inferred sum = engine_.infer(Expr(image) + Expr(colours));
  EXPECT_EQ(sum.dtype, DType::f32);
  EXPECT_THAT(sum.sizes, ElementsAreArray({2, 3, 4, 5}));
  EXPECT_THAT(sum.strides, ElementsAreArray({60, 1, 15, 3}));
  const Inferred compared = engine_.infer(apply(Op::lt, {Expr(image), Expr(0.5)}));
  EXPECT_EQ(compared.dtype, DType::boolean);
  EXPECT_THAT(compared.strides, ElementsAreArray({60, 1, 15, 3}));
  const Tensor numbers = weft::empty({4, 5}, {DType::i32, {DeviceType::meta, 0}});
  const Inferred mixed = engine_.infer(Expr(colours) * Expr(numbers));
  EXPECT_EQ(mixed.dtype, DType::f32);
  EXPECT_THAT(mixed.sizes, ElementsAreArray({3, 4, 5}));
  // A given output of the wrong size is what would be resized; it stays as it is.
  const Tensor out = weft::empty({1}, {DType::f64, {DeviceType::meta, 0}});
  const Inferred resized = engine_.infer(Expr(colours) * Expr(numbers), out);
  EXPECT_EQ(resized.dtype, DType::f64);
  EXPECT_THAT(resized.sizes, ElementsAreArray({3, 4, 5}));
  EXPECT_THAT(list(out.sizes()), ElementsAre(1));
  EXPECT_THROW(engine_.infer(Expr(meta({3})) + Expr(meta({4}))), ArgumentError);
}

TEST_F(engine_dispatch, every_call_of_the_chain_is_an_operator) {
  const Tensor a = values(1);
  const Tensor pairs = weft::zeros(std::array<std::int64_t, 1>{2}, {DType::c64});
  const std::array<std::int64_t, 2> row{1, 3};
  const auto profile = std::make_unique<Profile>();
  engine_.reshape(a, row);
  engine_.reshape(engine_.resolve_neg(a.neg_view()), row);
  engine_.resolve_conj(pairs.conj());
  engine_.fill(a, 5);
  Calls calls;
  for (const ProfileRow& counted : profile->rows()) calls[counted.op] = counted.calls;
  EXPECT_EQ(calls, (Calls{{"weft::reshape", 2},
                          {"weft::resolve_neg", 1},
                          {"weft::resolve_conj", 1},
                          {"weft::clone", 2},
                          {"weft::empty_like", 2},
                          {"weft::fill_", 1},
                          {"weft::copy_", 3}}));
  EXPECT_THAT(read(a), ElementsAreArray({5, 5, 5}));
}

TEST_F(engine_dispatch, chain_takes_meta_tensors) {
  const std::array<std::int64_t, 1> flat{6};
  const Tensor a = meta({2, 3});
  EXPECT_THAT(list(engine_.reshape(a, flat).sizes()), ElementsAre(6));
  const Tensor moved = engine_.reshape(a.t(), flat);
  EXPECT_EQ(moved.device().type, DeviceType::meta);
  EXPECT_THAT(list(moved.strides()), ElementsAre(1));
  engine_.fill(a, 1);
  EXPECT_EQ(engine_.resolve_neg(a.neg_view()).is_neg(), false);
  const Tensor layout =
      engine_.to(values(1), ToOptions{DType::f64, a.device(), MemoryFormat::preserve, false});
  EXPECT_EQ(layout.device().type, DeviceType::meta);
  EXPECT_EQ(layout.dtype(), DType::f64);
  EXPECT_THROW(engine_.to(a, ToOptions{{}, Device{}, MemoryFormat::preserve, false}),
               UnsupportedError);
}

TEST_F(engine_dispatch, wrong_numbers_of_inputs_are_still_refused) {
  EXPECT_THROW(engine_.binary(Op::neg, values(1), values(2)), ArgumentError);
  const Profile profile;
  EXPECT_THROW(engine_.binary(Op::neg, values(1), values(2)), ArgumentError);
}

TEST_F(engine_dispatch, chain_runs_an_autograd_kernel_of_clone_above_the_engines) {
  std::vector<std::string> log;
  const auto clone = registry().op("weft::clone").typed<Tensor(const Tensor&, MemoryFormat)>();
  const Registration record = registry().impl(
      "weft::clone", Key::autograd,
      KernelFunction::typed([&](DispatchKeySet keys, const Tensor& self, MemoryFormat format) {
        log.emplace_back("CloneBackward");
        return clone.redispatch(keys.below(Key::autograd), self, format);
      }));
  const Registration watch = registry().impl(
      "weft::copy_", Key::user_inner1,
      KernelFunction::typed([&](DispatchKeySet keys, const Tensor& self, const Tensor& src) {
        log.emplace_back("copy_");
        return registry()
            .op("weft::copy_")
            .typed<Tensor(const Tensor&, const Tensor&)>()
            .redispatch(keys.below(Key::user_inner1), self, src);
      }));
  const IncludeDispatchKeyGuard include(Key::user_inner1);
  const Tensor a = values(1);
  EXPECT_TRUE(engine_.contiguous(a).is_same(a));
  EXPECT_THAT(log, matchers::IsEmpty());
  const Tensor strided =
      a.as_strided(std::array<std::int64_t, 1>{2}, std::array<std::int64_t, 1>{2});
  const Tensor dense = engine_.contiguous(strided);
  EXPECT_THAT(read(dense), ElementsAreArray({1, 3}));
  EXPECT_THAT(log, ElementsAre("CloneBackward", "copy_"));
}

TEST_F(engine_dispatch, a_throwing_kernel_leaves_the_thread_as_it_was) {
  {
    const Registration kernel =
        registry().impl("weft::add", Key::user_outer1,
                        KernelFunction::typed([](const Tensor&, const Tensor&) -> Tensor {
                          throw UnsupportedError("not today");
                        }));
    const IncludeDispatchKeyGuard include(Key::user_outer1);
    EXPECT_THROW(engine_.binary(Op::add, values(1), values(2)), UnsupportedError);
  }
  EXPECT_THAT(read(engine_.binary(Op::add, values(1), values(10))), ElementsAreArray({11, 13, 15}));
}

TEST_F(engine_dispatch, table_is_consistent_and_printed) {
  registry().check_invariants();
  const std::string text = registry_text();
  for (const Op op : all_ops()) {
    EXPECT_THAT(text, HasSubstr(detail::concat("weft::", name(op), "(Tensor x")));
    EXPECT_THAT(text, HasSubstr(detail::concat("weft::", name(op), ".out(Tensor x")));
  }
}

}  // namespace
}  // namespace weft
