// Bad calls of the engine: which error, which text, and nothing written.
#include "tests/engine/support/elements.h"
#include "tests/matchers.h"

#include <weft/cuda.h>
#include <weft/engine.h>
#include <weft/error.h>
#include <weft/naive.h>

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace weft::testing {
namespace {

using matchers::ElementsAreArray;
using matchers::HasSubstr;
using matchers::IsEmpty;
using matchers::Not;
using matchers::StartsWith;

/// "kind: message" of what `call` throws.
std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return std::string(error.kind()) + ": " + error.what();
  }
  return "nothing is thrown";
}

Tensor floats(std::int64_t count) {
  return tensor_of<float>(std::vector<float>(static_cast<std::size_t>(count), 1));
}

class EngineErrors : public ::testing::Test {
 protected:
  Engine engine_;
  Tensor out_ = tensor_of<std::int64_t>({7, 8, 9});

  /// The call must fail like this, however often it is made, and leave `out_` alone.
  void refuses(const std::string& expected, const std::function<void()>& call) {
    const std::vector<std::byte> before = storage_bytes(out_);
    for (int repeat = 0; repeat < 2; ++repeat) EXPECT_THAT(error_of(call), HasSubstr(expected));
    EXPECT_EQ(storage_bytes(out_), before);
    EXPECT_EQ(out_.numel(), 3);
  }
};

TEST_F(EngineErrors, operands_are_called_by_their_names) {
  const Expr weights = Expr::named("weights", floats(3)), bias = Expr::named("bias", floats(4));
  refuses("input 1 `bias` is f32[4]", [&] { engine_.eval(weights * bias, out_); });
  refuses("input 1 `weights` is f32[3]", [&] { engine_.eval(bias - weights, out_); });
}

TEST_F(EngineErrors, undefined_tensors) {
  const Tensor none;
  refuses("argument: add(): input 1 is undefined", [&] { engine_.binary(Op::add, out_, none); });
  refuses("argument: neg(): the given output is undefined",
          [&] { engine_.unary(Op::neg, out_, none); });
  refuses("argument: where(): input 0 is undefined",
          [&] { engine_.ternary(Op::where, none, out_, out_); });
  refuses("argument: an expression reads an undefined tensor: x", [&] { Expr::named("x", none); });
  refuses("argument: eval(): the given output is undefined", [&] { engine_.eval(Expr(1), none); });
  refuses("argument: self is undefined", [&] { engine_.copy(none, out_); });
  refuses("argument: ", [&] { engine_.clone(none); });
  refuses("argument: ", [&] { engine_.contiguous(none); });
  refuses("argument: ", [&] { engine_.to(none, DType::f32); });
  refuses("argument: ", [&] { engine_.reshape(none, out_.sizes()); });
}

TEST_F(EngineErrors, shapes_that_do_not_broadcast) {
  const Tensor a = tensor_of<float>({1, 2, 3, 4}, {2, 2}), b = floats(3);
  const std::string text =
      "argument: The size of tensor a (2) must match the size of tensor b (3) at non-singleton "
      "dimension 1";
  refuses(text, [&] { engine_.binary(Op::add, a, b); });
  refuses(text, [&] { engine_.eval(Expr(a) * Expr(b), out_); });
  refuses(text, [&] { engine_.prepare(Expr(a) * Expr(b)); });
  refuses(text, [&] { engine_.explain(Expr(a) * Expr(b)); });
}

TEST_F(EngineErrors, domains_name_what_is_taken) {
  const Tensor real = floats(3), mask = tensor_of<bool>({true});
  refuses("argument: bitwise_and() does not take f32; it takes integers and bool",
          [&] { engine_.binary(Op::bitwise_and, real, real); });
  refuses("argument: lt() does not take c64",
          [&] { engine_.binary(Op::lt, tensor_of<c64>({c64(1, 2)}), real); });
  refuses("argument: Negation, the `-` operator, on a bool tensor is not supported",
          [&] { engine_.unary(Op::neg, mask); });
  refuses("argument: bitwise_left_shift() does not take bool",
          [&] { engine_.binary(Op::bitwise_left_shift, mask, mask); });
  refuses(
      "argument: Subtraction, the `-` operator, with two bool tensors is not supported. Use the "
      "`^` or `logical_xor()` operator instead.",
      [&] { engine_.binary(Op::sub, mask, mask); });
}

TEST_F(EngineErrors, wrong_number_of_arguments) {
  refuses("argument: add() takes 2 arguments, but 1 were given",
          [&] { engine_.unary(Op::add, out_); });
  refuses("argument: exp() takes 1 argument, but 2 were given",
          [&] { engine_.binary(Op::exp, out_, out_, out_); });
  refuses("argument: ", [&] { engine_.unary(Op::load, out_, out_); });
  // Lowering alone makes this one, and sees to what it looks up.
  refuses("argument: 'table_entry' is not an operator",
          [&] { engine_.binary(Op::table_entry, floats(16), floats(16)); });
  refuses("argument: 'table_entry' is not an operator", [&] {
    engine_.eval(apply(Op::table_entry, {Expr(floats(16)), Expr(floats(16))}));
  });
  refuses("argument: ", [&] { engine_.unary(Op::cast, out_); });
  refuses("argument: ", [&] { apply(Op::store, {Expr(out_)}); });
}

/// As in PyTorch, where only the kernel finds the zero: shapes, dtypes and overlap come first.
TEST_F(EngineErrors, layouts_and_dtypes_are_refused_before_a_zero_divisor) {
  const Tensor a = tensor_of<std::int64_t>({4, 5, 6}), zeros = tensor_of<std::int64_t>({0, 0});
  const Tensor zero = tensor_of<std::int64_t>({0, 0, 0});
  const Tensor mask = tensor_of<bool>({true, true, true});
  for (const Op op : {Op::div_floor, Op::remainder}) {
    refuses("argument: The size of tensor a (3) must match the size of tensor b (2)",
            [&] { engine_.binary(op, a, zeros, out_); });
    refuses("argument: result type Long can't be cast to the desired output type Bool",
            [&] { engine_.binary(op, a, zero, mask); });
    refuses("argument: unsupported operation: some elements of the input tensor",
            [&] { engine_.binary(op, out_.slice(0, 0, 2), zeros, out_.slice(0, 1, 3)); });
    refuses("argument: unsupported operation: more than one element",
            [&] { engine_.binary(op, a, zero, out_.slice(0, 0, 1).expand({3})); });
    const Tensor small = tensor_of<std::int64_t>({1});
    refuses("arithmetic: ZeroDivisionError", [&] { engine_.binary(op, a, zero, small); });
    EXPECT_EQ(small.numel(), 1);
  }
}

TEST_F(EngineErrors, integer_division_by_zero) {
  const Tensor a = tensor_of<std::int64_t>({4, 5, 6}), zero = tensor_of<std::int64_t>({1, 0, 1});
  const std::string text = "arithmetic: ZeroDivisionError";
  for (const Op op : {Op::div_floor, Op::div_trunc, Op::remainder, Op::fmod}) {
    refuses(text, [&] { engine_.binary(op, a, zero, out_); });
    refuses(text, [&] { engine_.eval(apply(op, {Expr(a), Expr(0)}), out_); });
    refuses(text + ": integer division by zero: the divisor 0 is 0 in i64", [&] {
      engine_.eval(apply(op, {Expr(a), Expr(0)}));
    });
    refuses(text + ": integer division by zero: the divisor y, i64[3], has an element 0", [&] {
      engine_.eval(apply(op, {Expr(a), Expr::named("y", zero)}));
    });
    refuses(text, [&] { engine_.eval(apply(op, {Expr(a), Expr(a) - 5}), out_); });
    refuses(
        text + ": integer division by zero: the divisor t1 + t2, i64[3], has an element 0", [&] {
          engine_.eval(apply(op, {Expr(a), Expr(zero) + Expr(tensor_of<std::int64_t>({1, 0, 1}))}));
        });
    // Once the divisor is right the very same call works, and it fails again when it is not.
    const Tensor divisor = tensor_of<std::int64_t>({1, 1, 1});
    engine_.binary(op, a, divisor);
    engine_.binary(op, a, divisor);
    put<std::int64_t>(divisor, 2, 0);
    refuses(text, [&] { engine_.binary(op, a, divisor); });
  }
  // In the dtype that divides: 256 is 0 in u8.
  const Tensor bytes = tensor_of<std::uint8_t>({1, 2});
  refuses(text, [&] { engine_.eval(ops::div_floor(Expr(bytes), Expr(256))); });
  refuses(text, [&] {
    engine_.eval(ops::div_floor(Expr(bytes), Expr(scalar_tensor<std::int64_t>(256))));
  });
  // Floating division by zero is no error, and nothing is divided where there are no elements.
  EXPECT_EQ(get<float>(engine_.eval(ops::div_floor(Expr(floats(1)), Expr(0))), 0),
            std::numeric_limits<float>::infinity());
  EXPECT_EQ(engine_.binary(Op::div_floor, new_tensor({0}, DType::i32), scalar_tensor(0)).numel(),
            0);
}

/// All divisors are looked at in one pass, however they nest.
TEST_F(EngineErrors, nested_divisions) {
  const Tensor big = tensor_of<std::int64_t>({1000});
  Expr expr(big);
  for (int i = 0; i < 30; ++i) expr = ops::maximum(ops::div_floor(Expr(big), expr), Expr(1));
  EXPECT_EQ(get<std::int64_t>(engine_.eval(expr), 0), 1000);
  EXPECT_EQ(engine_.stats().plan_misses, 2u);
  const Expr zero = Expr(big) - Expr(big);
  refuses("arithmetic: ZeroDivisionError",
          [&] { engine_.eval(ops::div_floor(Expr(big), ops::div_floor(Expr(big), zero))); });
}

TEST_F(EngineErrors, negative_powers_of_integers) {
  refuses("arithmetic: Integers to negative integer powers are not allowed.",
          [&] { engine_.eval(ops::pow(Expr(out_), Expr(-1))); });
  const Tensor exponents = tensor_of<std::int64_t>({-1, 2, -2});
  const Tensor bases = tensor_of<std::int64_t>({1, 3, 2});
  EXPECT_THAT(elements<std::int64_t>(engine_.binary(Op::pow, bases, exponents)),
              ElementsAreArray({1, 9, 0}));
}

TEST_F(EngineErrors, layouts_without_bytes) {
  const Sizes sizes{3}, strides{1};
  const Tensor layout = unbacked(IntSpan(sizes), IntSpan(strides), DType::i64);
  engine_.unary(Op::neg, out_, out_);  // the plan of the same layout with bytes is known
  const std::string text = "has no bytes to compute with";
  refuses(text, [&] { engine_.unary(Op::neg, layout, out_); });
  refuses(text, [&] { engine_.unary(Op::neg, out_, layout); });
  refuses(text, [&] { engine_.unary(Op::neg, layout, layout); });
  refuses(text, [&] { engine_.copy(out_, layout); });
  refuses(text, [&] { engine_.prepare(Expr(layout) + 1); });
  const Tensor meta = empty(IntSpan(sizes), {DType::i64, {DeviceType::meta}});
  refuses("unsupported: Cannot copy out of meta tensor; no data!",
          [&] { engine_.copy(out_, meta); });
  const std::string naive = "argument: expected a tensor with bytes, got i64[3]";
  refuses(naive, [&] { naive_eval(Expr(out_) + 1, layout); });
  refuses(naive, [&] { naive_eval(Expr(layout) + 1, out_); });
  refuses(naive, [&] { naive_eval(Expr(meta) + 1, out_); });
  naive_eval(Expr(layout.slice(0, 3, {})) + 1, layout.slice(0, 3, {}));  // which takes none
}

TEST_F(EngineErrors, too_much) {
  const Tensor one = floats(1);
  EXPECT_EQ(engine_.eval(std::vector<Expr>(65, Expr(1))).size(), 65u);
  const std::vector<Expr> fewer(50, Expr(one) + 1);
  EXPECT_EQ(engine_.eval(fewer).size(), 50u);
}

/// Neither a long chain nor its destruction overflows the stack.
TEST_F(EngineErrors, deep_expressions) {
  for (const char* backend : {"interp", "auto"}) {
    Engine engine(EngineOptions{backend, Numerics::standard, 0});
    const Tensor a = tensor_of<std::int32_t>({1, 2});
    Expr expr(a);
    for (int i = 0; i < 1500; ++i) expr = expr + Expr(a);
    EXPECT_THAT(elements<std::int32_t>(engine.eval(expr)), ElementsAreArray({1501, 3002}));
    for (int i = 0; i < 10000; ++i) expr = Expr(a) - expr;
    EXPECT_THAT(elements<std::int32_t>(engine.eval(expr)), ElementsAreArray({1501, 3002}));
    EXPECT_THAT(engine.explain(expr).passes, Not(IsEmpty()));
  }
  Expr shared(floats(1));
  for (int i = 0; i < 200000; ++i) shared = shared * shared;
}

TEST_F(EngineErrors, options) {
  refuses("argument: num_threads must not be negative, but is -1", [&] {
    Engine(EngineOptions{"auto", Numerics::standard, -1});
  });
  refuses("argument: unknown backend 'gcc'; the backends are auto, interp, xbyak, llvm and nvrtc",
          [&] {
            Engine(EngineOptions{"gcc", Numerics::standard, 0});
          });
  refuses("argument: unknown backend 'gcc'",
          [&] { engine_.explain(ops::sum(floats(3)), {}, {.backend = "gcc", .emit = {}}); });
  if (cuda::num_devices() == 0)
    refuses("unsupported: backend 'nvrtc' is not usable: the CUDA driver is not found", [&] {
      Engine(EngineOptions{"nvrtc", Numerics::standard, 0});
    });
}

TEST_F(EngineErrors, enumerators_that_there_are_not) {
  refuses("argument: there are no numerics 9", [&] {
    Engine(EngineOptions{"auto", Numerics(9), 0});
  });
  refuses("argument: there are no numerics 9",
          [&] { engine_.explain(floats(3), {}, {.emit = {}, .numerics = Numerics(9)}); });
  const DType none{99};
  refuses("argument: there is no dtype 99", [&] { empty({2}, none); });
  refuses("argument: there is no dtype 99", [&] { from_blob(&engine_, {1}, none); });
  refuses("argument: there is no dtype 99", [&] { unbacked(Sizes{2}, Sizes{1}, none); });
  refuses("argument: there is no dtype 99", [&] { floats(2).view(none); });
  refuses("argument: there is no dtype 99", [&] { cast(floats(2), none); });
  refuses("argument: there is no dtype 99", [&] { engine_.to(floats(2), none); });
  refuses("argument: there is no op 255", [&] { engine_.unary(Op(255), floats(2)); });
  refuses("argument: there is no op 255", [&] { apply(Op(255), {floats(2)}); });
  refuses("argument: there is no op 255", [&] { info(Op(255)); });
}

TEST_F(EngineErrors, tensors_that_cannot_be) {
  const Sizes many(65, 1);
  refuses("argument: ", [&] { empty(IntSpan(many)); });
  refuses("argument: ", [&] { engine_.reshape(floats(1), IntSpan(many)); });
  // 64 are possible, and computed with.
  const Sizes most(64, 1);
  const Tensor deep = engine_.reshape(floats(1), IntSpan(most));
  EXPECT_EQ(get<float>(engine_.binary(Op::add, deep, deep), 0), 2);
  refuses("argument: Trying to create tensor with negative dimension -1: [-1]",
          [] { empty({-1}); });
}

TEST_F(EngineErrors, a_failed_call_does_not_spoil_the_next) {
  for (int repeat = 0; repeat < 3; ++repeat) {
    EXPECT_THROW(engine_.binary(Op::add, floats(2), floats(3)), ArgumentError);
    EXPECT_EQ(get<float>(engine_.binary(Op::add, floats(2), floats(2)), 1), 2);
  }
}

}  // namespace
}  // namespace weft::testing
