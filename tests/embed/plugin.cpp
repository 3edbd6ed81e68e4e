// A library with weft in it, and nothing of it outside.
#include <weft/engine.h>

extern "C" [[gnu::visibility("default")]] float run_plugin() {
  weft::Engine engine({.num_threads = 3});
  const weft::Tensor a = weft::full({1 << 20}, 1, weft::DType::f32);
  weft::Tensor sum;
  for (int i = 0; i < 100; ++i) sum = engine.eval(weft::Expr(a) * 2 + weft::Expr(a));
  return *reinterpret_cast<const float*>(sum.data());
}
