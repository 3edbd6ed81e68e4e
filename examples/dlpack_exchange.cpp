// Tensors from and to other libraries without copying a byte: DLPack's structs, which NumPy,
// PyTorch, JAX and others exchange.  What is in them is for <dlpack/dlpack.h> to say; weft needs
// only their names.
#include <weft/dlpack.h>
#include <weft/engine.h>

#include <array>
#include <iostream>

int main() {
  using namespace weft;
  Engine engine;

  // What another library would hand out: here weft itself plays that part.
  const Tensor theirs = arange(0, 6, 1, DType::f32).view(std::array<std::int64_t, 2>{2, 3}).t();
  DLManagedTensorVersioned* const lent = to_dlpack_versioned(theirs);

  // Taken: a view of the same memory, strides included.  The struct's deleter is called when the
  // last view of it is gone.
  const Tensor ours = from_dlpack(lent);
  std::cout << "taken: " << layout_text(ours) << "\n";
  engine.eval(Expr(ours) * 10, ours);  // writes their memory
  std::cout << "their last element is " << theirs.data_as<float>()[5] << "\n";
  return theirs.data() == ours.data() && theirs.data_as<float>()[5] == 50 ? 0 : 1;
}
