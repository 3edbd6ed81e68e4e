// Reductions and scans of bytes that are viewed as bool: each is true unless it is 0.
#include "tests/engine/support/engines.h"
#include "tests/engine/support/layouts.h"

#include <weft/define.h>
#include <weft/engine.h>

#include <gtest/gtest.h>

namespace weft::testing {
namespace {

/// Many bytes that are not 0, of which some are 1, with columns of one kind among them.
Tensor bytes_of(const Sizes& sizes, Random& random) {
  const Tensor bytes = new_tensor(sizes, DType::u8);
  for (std::int64_t i = 0; i < bytes.numel(); ++i) {
    const std::int64_t column = i % sizes.back();
    const auto value = static_cast<std::uint8_t>(random());
    put(bytes, i,
        static_cast<std::uint8_t>(column % 5 == 1   ? value | 4
                                  : column % 5 == 2 ? 0
                                                    : value));
  }
  return bytes;
}

class ViewedBool : public ::testing::Test {
 protected:
  /// `function` of the engine on bytes viewed as bool gives what it gives for 0 and 1.
  template <class Function>
  void check(const std::string& what, const Function& function) {
    for (const Sizes& sizes : {Sizes{4, 8}, Sizes{3, 200}, Sizes{70, 3}, Sizes{40, 130},
                               Sizes{2, 40'000}, Sizes{1, 9}, Sizes{9, 1}, Sizes{1, 1}}) {
      const Tensor bytes = bytes_of(sizes, random_), viewed = bytes.view(DType::boolean);
      const Tensor clean = new_tensor(sizes, DType::boolean);
      for (std::int64_t i = 0; i < bytes.numel(); ++i)
        put(clean, i, get<std::uint8_t>(bytes, i) != 0);
      for (const auto& engine : engines_)
        EXPECT_TRUE(same_tensor(function(*engine, viewed), function(*engine, clean)))
            << what << " of " << layout_text(viewed) << " by " << engine->options().backend;
    }
  }

  std::vector<std::unique_ptr<Engine>> engines_ = engines({"auto", "interp", "xbyak", "llvm"});
  Random random_{54};
};

TEST_F(ViewedBool, IsReducedAsTruth) {
  for (const char* const function : {"all", "any", "sum", "prod", "amax", "amin", "argmax",
                                     "argmin", "cumsum", "cumprod", "cummax", "cummin"})
    for (const char* const dim : {"0", "1"}) {
      const std::string text = detail::concat(function, "(a, dim=", dim, ")");
      check(text, [&](Engine& engine, const Tensor& a) {
        const std::pair<std::string, Tensor> names[] = {{"a", a}};
        return engine.eval(parse_expr(text, names));
      });
    }
}

TEST_F(ViewedBool, HasThePlacesOfTruth) {
  for (const std::int64_t dim : {0, 1}) {
    check("max", [&](Engine& engine, const Tensor& a) { return engine.max(a, dim).second; });
    check("cummax", [&](Engine& engine, const Tensor& a) { return engine.cummax(a, dim).second; });
    check("cummin", [&](Engine& engine, const Tensor& a) { return engine.cummin(a, dim).second; });
  }
}

TEST_F(ViewedBool, IsComputedAsTruth) {
  check("a == a.flip()", [](Engine& engine, const Tensor& a) {
    return engine.eval(apply(Op::eq, {Expr(a), Expr(a.flip({1}))}));
  });
  for (const char* const text : {"a & a", "nan_to_num(a, 0, 1, 0)"})
    check(text, [&](Engine& engine, const Tensor& a) {
      const std::pair<std::string, Tensor> names[] = {{"a", a}};
      return engine.eval(parse_expr(text, names));
    });
  check("copy(a) beside ~a", [](Engine& engine, const Tensor& a) {
    const std::pair<std::string, Tensor> names[] = {{"a", a}};
    const Expr exprs[] = {parse_expr("copy(a)", names), parse_expr("~a", names)};
    return engine.eval(exprs).front();
  });
  check("a + a", [](Engine& engine, const Tensor& a) { return engine.eval(Expr(a) + Expr(a)); });
}

}  // namespace
}  // namespace weft::testing
