// Operators of your own: defined once by their expression, they fuse, promote and compile as the
// built-in ones do.
#include <weft/engine.h>

#include <cmath>
#include <iostream>

int main() {
  using namespace weft;
  Engine engine;
  engine.define("swish(x, beta)", "x / (1 + exp(-beta * x))");
  // Or by code, which can look at its arguments.
  engine.define("polynomial", 2, [](std::span<const Expr> args) {
    Expr sum = 1;
    for (int power = 0; power < 3; ++power) sum = sum * args[0] + args[1];
    return sum;
  });

  const Tensor a = arange(0, 1, 0.25, DType::f32);
  const Tensor swished = engine.eval(engine.call("swish", {Expr(a), Expr(1.5)}));

  // In expressions as text they are called like any other function.
  const std::pair<std::string, Tensor> names[] = {{"a", a}};
  const Expr parsed = parse_expr("swish(polynomial(a, 2), 1) + 1", names, engine.definitions());
  const Tensor both = engine.eval(parsed);

  const double x = a.data_as<float>()[3];
  const double expected = x / (1 + std::exp(-1.5 * x));
  std::cout << "swish(" << x << ", 1.5) = " << swished.data_as<float>()[3] << "\n"
            << text(parsed) << " = " << both.data_as<float>()[3] << "\n";
  return std::abs(swished.data_as<float>()[3] - expected) < 1e-6 ? 0 : 1;
}
