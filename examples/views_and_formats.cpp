// Views share memory and cost nothing; memory formats decide how new tensors lie in it.
#include <weft/engine.h>

#include <iostream>
#include <numeric>

int main() {
  using namespace weft;
  Engine engine;
  const Tensor image = empty({2, 3, 4, 5}, DType::f32);
  std::iota(image.data_as<float>(), image.data_as<float>() + image.numel(), 0.0f);

  // The same bytes seen in other ways; steps and strides may be negative.
  const Tensor cropped = image.slice(2, 1, 3).flip({3});
  const Tensor pixels = image.permute({0, 2, 3, 1});
  std::cout << "cropped " << layout_text(cropped) << "\npixels  " << layout_text(pixels) << "\n";

  // A copy in another format holds the same values; what is computed from it keeps the format.
  const Tensor channels_last = engine.contiguous(image, MemoryFormat::channels_last);
  const Tensor doubled = engine.eval(Expr(channels_last) * 2);
  std::cout << "doubled " << layout_text(doubled) << "\n";

  // Where operands disagree the left one decides, as in PyTorch.
  const Tensor mixed = engine.eval(Expr(channels_last) + Expr(image));
  std::cout << "mixed   " << layout_text(mixed) << "\n";

  // Writing through a view writes the tensor that it is a view of.
  engine.fill(image.select(1, 0), -1);
  const bool is_right =
      doubled.is_contiguous(MemoryFormat::channels_last) &&
      mixed.is_contiguous(MemoryFormat::channels_last) && image.data_as<float>()[0] == -1 &&
      image.data_as<float>()[20] == 20 &&
      cropped.select(0, 1).select(0, 2).select(0, 0).select(0, 0).item().text() == "109.0";
  return is_right ? 0 : 1;
}
