// Normalises an interleaved 8-bit image into a float batch: one expression, one compiled pass over
// memory.
#include <weft/engine.h>

#include <algorithm>
#include <iostream>

int main() {
  weft::Engine engine;  // owns the compiled kernels: make one, keep it
  const weft::Tensor image = weft::empty({480, 640, 3}, weft::DType::u8);  // rows, columns, colours
  std::fill_n(image.data_as<std::uint8_t>(), image.numel(), 204);

  const weft::Tensor planes = image.permute({2, 0, 1}).unsqueeze(0);  // a view: [1, 3, 480, 640]
  const weft::Expr x = weft::Expr::named("x", planes);
  const weft::Expr normalised = (x / 255 - 0.5) / 0.25;  // nothing has run yet

  const weft::Tensor batch = weft::empty({1, 3, 480, 640}, weft::DType::f32);
  engine.eval(normalised, batch);
  std::cout << weft::layout_text(batch) << " holds " << batch.data_as<float>()[0] << "\n"
            << engine.explain(normalised, batch, {.emit = {"ir"}}).texts.at("ir");
}
