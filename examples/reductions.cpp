// Sums, extrema and scans, alone and inside of expressions.  The bits of a float sum depend on
// shape and layout alone, never on the number of threads.
#include <weft/engine.h>

#include <cmath>
#include <iostream>

int main() {
  using namespace weft;
  Engine engine;
  const Tensor a = arange(0, 12, 1, DType::f32).view(std::array<std::int64_t, 2>{3, 4});

  const Tensor total = engine.reduce(Reduction::sum, a);
  const Tensor columns = engine.reduce(Reduction::mean, a, {.dims = {0}});
  const Tensor running = engine.reduce(Reduction::cumsum, a, {.dims = {1}});
  const auto [largest, where] = engine.max(a, 1);
  std::cout << "sum " << total.item().text() << ", mean of columns " << layout_text(columns)
            << ", running sums " << layout_text(running) << ", largest of row 0 at "
            << where.data_as<std::int64_t>()[0] << "\n";

  // A softmax: the reductions take a pass each, what is elementwise around them is fused.
  const std::pair<std::string, Tensor> names[] = {{"a", a}};
  const Expr shifted = parse_expr("exp(a - amax(a, dims=[1], keepdim=true))", names);
  const Expr softmax = shifted / ops::sum(shifted, {.dims = {1}, .keepdim = true});
  const Tensor probabilities = engine.eval(softmax);
  std::cout << text(softmax) << "\n";

  float row = 0;
  for (int column = 0; column < 4; ++column) row += probabilities.data_as<float>()[column];
  return total.item().text() == "66.0" && running.data_as<float>()[7] == 22 &&
                 largest.data_as<float>()[2] == 11 && std::abs(row - 1) < 1e-6
             ? 0
             : 1;
}
