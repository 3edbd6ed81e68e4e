// A call that is made often, with everything but the addresses decided beforehand: a few
// nanoseconds a run.
#include <weft/engine.h>

#include <array>
#include <iostream>
#include <vector>

int main() {
  using namespace weft;
  Engine engine;
  std::vector<float> a(1024, 1.0f), b(1024, 2.0f), out(1024);
  const std::array<std::int64_t, 1> sizes{1024};
  const Tensor first = from_blob(a.data(), sizes, DType::f32);
  const Tensor second = from_blob(b.data(), sizes, DType::f32);
  const Tensor result = from_blob(out.data(), sizes, DType::f32);

  const PreparedPlan plan = engine.prepare(ops::fma(first, second, first), result);
  plan.run();  // on the tensors that it was prepared with
  std::cout << plan.num_operands() << " operands, result " << out[0] << "\n";

  // On other memory of the same layouts: outputs first, then inputs in the order of their first
  // use. Nothing is checked and nothing allocated.
  std::vector<float> other(1024, 10.0f), other_out(1024);
  const std::array<std::byte*, 3> operands{reinterpret_cast<std::byte*>(other_out.data()),
                                           reinterpret_cast<std::byte*>(other.data()),
                                           reinterpret_cast<std::byte*>(b.data())};
  plan.run(operands);
  std::cout << "and " << other_out[0] << "\n";
  return out[0] == 3 && other_out[0] == 30 ? 0 : 1;
}
