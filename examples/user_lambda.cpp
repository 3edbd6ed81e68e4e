// Any C++ function on strided operands: the iterator plans (broadcast, order, threads), the loop
// calls your code.  What weft has an op for runs faster as an expression.
#include <weft/engine.h>
#include <weft/iterator.h>
#include <weft/loops.h>

#include <atomic>
#include <cmath>
#include <iostream>

int main() {
  using namespace weft;
  const Tensor a = arange(0, 6, 1, DType::f64).view(std::array<std::int64_t, 2>{2, 3});
  const Tensor weights = arange(1, 4, 1, DType::f64);

  // The lambda's types are the operands'.  The result is allocated with PyTorch's layout.
  TensorIterator iterator = TensorIterator::binary_op({}, a.t().t(), weights);
  cpu_kernel(iterator, [](double x, double w) { return std::lgamma(x + 1) * w; });
  const Tensor out = iterator.output();
  std::cout << layout_text(out) << " ends with " << out.data_as<double>()[5] << "\n";

  // Without outputs, for an effect; several threads may call it at once.
  std::atomic<int> above{0};
  TensorIteratorConfig config;
  config.add_input(out);
  cpu_kernel(config.build(), [&](double x) { above += x > 1; });
  std::cout << above << " are above 1\n";
  return std::abs(out.data_as<double>()[5] - 3 * std::log(120)) < 1e-12 && above == 4 ? 0 : 1;
}
