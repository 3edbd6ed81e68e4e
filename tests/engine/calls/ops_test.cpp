// Every op on every dtype that it takes gives the same bits on every backend, and those of the
// naive loop.
#include "tests/engine/support/engines.h"
#include "tests/engine/support/layouts.h"

#include <weft/engine.h>
#include <weft/error.h>
#include <weft/naive.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <span>

namespace weft::testing {
namespace {

/// Ops that look at integer divisors before they run.
bool divides(Op op) {
  return op == Op::div_floor || op == Op::div_trunc || op == Op::remainder || op == Op::fmod;
}

/// `op` on tensors of `dtype`; a select gets its mask.
Expr random_call(Op op, DType dtype, Layout layout, Random& random) {
  const OpInfo& row = info(op);
  const Sizes sizes{2, 3, 2, 13};
  std::vector<Expr> args;
  for (int i = 0; i < row.arity; ++i) {
    const bool is_mask = row.result == ResultRule::select && i == 0;
    const Tensor arg = laid_out(layout, sizes, is_mask ? DType::boolean : dtype);
    randomise(arg, random);
    if (divides(op) && i == 1 && is_integer(dtype)) {
      const Bits one = Scalar(1).bits(dtype);
      for (std::int64_t k = 0; k < arg.numel(); ++k) {
        std::byte* const at = element(arg, k);
        if (std::ranges::all_of(std::span(at, itemsize_bytes(dtype)),
                                [](std::byte byte) { return byte == std::byte{0}; }))
          std::memcpy(at, &one, itemsize_bytes(dtype));
      }
    }
    args.emplace_back(arg);
  }
  return apply(op, std::span<const Expr>(args));
}

std::optional<Tensor> eval_if_taken(Engine& engine, const Expr& expr) {
  try {
    return engine.eval(expr);
  } catch (const UnsupportedError&) {
    return {};
  }
}

/// Compares all backends on every op and dtype; `is_wanted` picks the ops.
template <class IsWanted>
void compare_backends(Layout layout, const IsWanted& is_wanted) {
  const auto tiers = engines({"xbyak", "llvm", "auto"});
  Engine interpreter(EngineOptions{"interp", Numerics::standard, 0});
  Random random(20240229);
  std::map<std::string, int> compared;
  for (const Op op : all_ops()) {
    if (!is_wanted(op)) continue;
    for (const DType dtype : all_dtypes) {
      if (!accepts(info(op).domain, dtype)) continue;
      SCOPED_TRACE(detail::concat(name(op), " ", name(dtype), " ", name(layout)));
      const Expr expr = random_call(op, dtype, layout, random);
      const Tensor expected = interpreter.eval(expr);
      const Tensor naive =
          new_tensor({expected.sizes().begin(), expected.sizes().end()}, expected.dtype());
      naive_eval(expr, naive);
      EXPECT_TRUE(same_tensor(expected, naive)) << "interpreted against naive";
      for (const auto& engine : tiers) {
        const std::string& backend = engine->options().backend;
        const std::optional<Tensor> actual = eval_if_taken(*engine, expr);
        EXPECT_TRUE(actual || backend != "auto") << "nobody takes it";
        if (!actual) continue;
        EXPECT_TRUE(same_tensor(*actual, expected)) << backend;
        ++compared[backend];
      }
    }
  }
  // A backend that refuses everything agrees with everything.
  for (const auto& engine : tiers) {
    const std::string& backend = engine->options().backend;
    EXPECT_GT(compared[backend] * 3, compared["auto"]) << backend;
  }
}

TEST(engine_ops, all_backends_give_the_same_bits) {
  compare_backends(Layout::contiguous, [](Op) { return true; });
}

TEST(engine_ops, all_backends_give_the_same_bits_on_strided_views) {
  constexpr std::array few{Op::add, Op::sub,  Op::mul,     Op::div, Op::where,     Op::maximum,
                           Op::lt,  Op::sqrt, Op::sigmoid, Op::abs, Op::div_floor, Op::clamp};
  compare_backends(Layout::sliced, [&](Op op) { return std::ranges::find(few, op) != few.end(); });
}

}  // namespace
}  // namespace weft::testing
