// What one call costs besides the work: cached calls, and planning alone.

#include "bench/calls.h"

#include "bench/measure.h"

#include <weft/dispatch.h>
#include <weft/iterator.h>

#include <cstdio>
#include <ctime>

namespace weft::bench {
namespace {

using benchmark::State;

Tensor filled(std::initializer_list<std::int64_t> sizes,
              MemoryFormat format = MemoryFormat::contiguous) {
  static std::size_t num_filled = 0;  // all have numbers of their own
  const Tensor tensor = empty(IntSpan(sizes.begin(), sizes.size()), {DType::f32, {}, format});
  fill(tensor, false, num_filled++);
  return tensor;
}

template <class Call>
void time_adding(State& state, const AddOperands& operands, Call call) {
  if (!adds(operands, call)) return skip_wrong(state);
  measure(state, call);
}

void call_out(State& state, const AddOperands& operands) {
  Engine& engine = engine_with("auto");
  time_adding(state, operands,
              [&] { engine.binary(Op::add, operands.a, operands.b, operands.out); });
}

void call_new(State& state, const AddOperands& operands) {
  Engine& engine = engine_with("auto");
  const auto into_out = [&] {
    engine.copy(operands.out, engine.binary(Op::add, operands.a, operands.b));
  };
  if (!adds(operands, into_out)) return skip_wrong(state);
  measure(state, [&] {
    Tensor result = engine.binary(Op::add, operands.a, operands.b);
    benchmark::DoNotOptimize(result);
  });
}

void call_eval(State& state, const AddOperands& operands) {
  Engine& engine = engine_with("auto");
  const Expr sum = Expr(operands.a) + Expr(operands.b);
  time_adding(state, operands, [&] { engine.eval(sum, operands.out); });
}

void call_copy(State& state) {
  Engine& engine = engine_with("auto");
  const Tensor from = filled({8}), to = filled({8});
  poison(to);
  engine.copy(to, from);
  if (!is_right(to, from, Check::bits)) return skip_wrong(state);
  measure(state, [&] { engine.copy(to, from); });
}

void call_prepared(State& state, const AddOperands& operands) {
  const PreparedPlan plan =
      engine_with("auto").prepare(Expr(operands.a) + Expr(operands.b), operands.out);
  time_adding(state, operands, [&] { plan.run(); });
}

[[gnu::noinline]] void do_nothing(const Tensor& x, const Tensor& y, const Tensor& out) {
  benchmark::DoNotOptimize(&x);
  benchmark::DoNotOptimize(&y);
  benchmark::DoNotOptimize(&out);
}

/// An operator on three tensors whose kernel does nothing: `auto` through the dispatcher, `hand`
/// the kernel through a pointer, so that the difference is what the dispatcher adds to a call.
void call_dispatch(State& state, bool is_dispatched) {
  using Signature = void(const Tensor&, const Tensor&, const Tensor&);
  static const TypedOperatorHandle<Signature> nothing = [] {
    static Library library(registry(), LibraryKind::definitions, "bench");
    library.def("nothing(Tensor x, Tensor y, *, Tensor(a!) out) -> ()")
        .impl("nothing", DispatchKey::cpu, do_nothing);
    return registry().op("bench::nothing").typed<Signature>();
  }();
  const AddOperands operands = add8();
  Signature* kernel = do_nothing;
  benchmark::DoNotOptimize(kernel);
  if (is_dispatched) {
    measure(state, [&] { nothing.call(operands.a, operands.b, operands.out); });
  } else {
    measure(state, [&] { kernel(operands.a, operands.b, operands.out); });
  }
}

/// The first engine of a process, which also registers the engine's operators.
void first_engine(State& state) {
  for (auto _ : state) {
    const std::optional<double> ns = number_of_child("--time-first-engine");
    if (!ns) return state.SkipWithError("no time came back");
    state.SetIterationTime(*ns / 1e9);
  }
}

/// The iterator alone, with the options of PyTorch's binary_op.
void plan(State& state, const AddOperands& operands) {
  measure(state, [&] {
    TensorIteratorConfig config;
    config.set_check_mem_overlap(true)
        .add_output(operands.out)
        .add_input(operands.a)
        .add_input(operands.b)
        .allow_cpu_scalars(true)
        .promote_inputs_to_common_dtype(true)
        .cast_common_dtype_to_outputs(true)
        .enforce_safe_casting_to_output(true);
    TensorIterator iterator = config.build();
    benchmark::DoNotOptimize(iterator);
  });
}

}  // namespace

bool adds(const AddOperands& operands, const std::function<void()>& call) {
  const Tensor expected = empty_like(operands.out);
  engine_with("interp").binary(Op::add, operands.a, operands.b, expected);
  poison(operands.out);
  call();
  return is_right(operands.out, expected, Check::bits);
}

AddOperands add_large() {
  return {"3e7", filled({30000000}), filled({30000000}), filled({30000000})};
}

AddOperands add8() { return {"8", filled({8}), filled({8}), filled({8})}; }

AddOperands add4d_contiguous() {
  return {"2x3x4x5", filled({2, 3, 4, 5}), filled({2, 3, 4, 5}), filled({2, 3, 4, 5})};
}

AddOperands add4d() {
  return {"2x3x4x5", filled({2, 3, 4, 5}, MemoryFormat::channels_last),
          filled({3, 1, 1}).expand({2, 3, 4, 5}), filled({2, 3, 4, 5})};
}

void register_call_benchmarks() {
  using benchmark::RegisterBenchmark;
  RegisterBenchmark("call_add8_out/auto/8", [](State& state) { call_out(state, add8()); });
  RegisterBenchmark("call_add8_new/auto/8", [](State& state) { call_new(state, add8()); });
  RegisterBenchmark("call_add8_eval/auto/8", [](State& state) { call_eval(state, add8()); });
  RegisterBenchmark("call_add4d_out/auto/2x3x4x5", [](State& state) { call_out(state, add4d()); });
  RegisterBenchmark("call_add4d_new/auto/2x3x4x5", [](State& state) { call_new(state, add4d()); });
  RegisterBenchmark("call_copy8/auto/8", call_copy);
  // Making its operands takes longer than all other repetitions of a row together.
  RegisterBenchmark("fresh_output/auto/3e7", [](State& state) {
    call_new(state, add_large());
  })->Repetitions(num_large_repetitions);
  RegisterBenchmark("call_prepared/auto/8", [](State& state) { call_prepared(state, add8()); });
  RegisterBenchmark("call_dispatch/auto/8", [](State& state) { call_dispatch(state, true); });
  RegisterBenchmark("call_dispatch/hand/8", [](State& state) { call_dispatch(state, false); });
  RegisterBenchmark("first_engine/auto/1", first_engine)->UseManualTime()->Iterations(5);
}

int time_first_engine() {
  // Processor time: a process of a millisecond would else be timed with whatever preempts it.
  const auto now_ns = [] {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
  };
  const double start_ns = now_ns();
  const Engine engine;
  std::printf("%f\n", now_ns() - start_ns);
  return 0;
}

void register_plan_benchmarks() {
  using benchmark::RegisterBenchmark;
  RegisterBenchmark("plan_1d/auto/8", [](State& state) { plan(state, add8()); });
  RegisterBenchmark("plan_4d_contiguous/auto/2x3x4x5",
                    [](State& state) { plan(state, add4d_contiguous()); });
  RegisterBenchmark("plan_4d_permuted/auto/2x3x4x5", [](State& state) { plan(state, add4d()); });
}

}  // namespace weft::bench
