// A chain of operations as one pass over memory: several tensors, broadcasting, mixed dtypes, two
// results.
#include <weft/engine.h>

#include <array>
#include <cmath>
#include <iostream>

int main() {
  using namespace weft;
  Engine engine;
  const Tensor activations = full(std::array<std::int64_t, 2>{256, 64}, 0.5, {DType::f32});
  const Tensor bias = full(std::array<std::int64_t, 1>{64}, 0.25, {DType::bf16});

  // Nothing runs while the expression is built; the bias is repeated for each row by a stride of 0.
  const Expr x = Expr(activations) + Expr(bias);
  const Expr gelu = ops::gelu(x);
  const Tensor result = engine.eval(gelu * 2 - 1);  // one kernel, no temporaries

  // Two results of one pass: what they share is computed once.
  const std::array both{gelu, ops::where(x > 0, x, 0.01 * x)};
  const std::vector<Tensor> results = engine.eval(both);

  const double exact = 0.5 * 0.75 * (1 + std::erf(0.75 / std::sqrt(2.0)));
  std::cout << layout_text(result) << " holds " << result.data_as<float>()[0] << ", exactly "
            << 2 * exact - 1 << "\n";
  const bool is_right = std::abs(result.data_as<float>()[0] - (2 * exact - 1)) < 1e-6 &&
                        results[1].data_as<float>()[0] == 0.75f;
  return is_right ? 0 : 1;
}
