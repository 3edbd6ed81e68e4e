// A program of a project of its own, which knows weft as a package.
#include <weft/engine.h>
#include <weft/error.h>

#include <iostream>
#include <vector>

/// Brightens interleaved 8-bit pixels in place.  An engine is kept from call to call: it owns what
/// has been compiled, and may be used by several threads at once.
void brighten(weft::Engine& engine, std::vector<std::uint8_t>& pixels, double factor) {
  const std::int64_t size = static_cast<std::int64_t>(pixels.size());
  const weft::Tensor image = weft::from_blob(pixels.data(), {&size, 1}, weft::DType::u8);
  const weft::Expr brighter =
      weft::ops::clamp(weft::cast(image, weft::DType::f32) * factor, 0, 255);
  engine.eval(weft::cast(brighter, weft::DType::u8), image);
}

int main() {
  weft::Engine engine;
  std::vector<std::uint8_t> pixels{0, 50, 100, 200};
  brighten(engine, pixels, 1.5);
  for (const int value : pixels) std::cout << value << " ";
  std::cout << "\n";

  // Mistakes are exceptions that name the operand and leave outputs untouched.
  try {
    engine.eval(weft::Expr(weft::empty({2, 3}, weft::DType::f32)) +
                weft::Expr(weft::empty({4}, weft::DType::f32)));
  } catch (const weft::ArgumentError& error) {
    std::cout << error.what() << "\n";
  }
  return pixels == std::vector<std::uint8_t>{0, 75, 150, 255} ? 0 : 1;
}
