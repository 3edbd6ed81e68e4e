// The layouts that tests of the engine put tensors into.
#pragma once

#include "tests/engine/support/elements.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

namespace weft::testing {

enum class Layout {
  contiguous,
  transposed,
  channels_last,
  sliced,
  flipped,
  broadcast,  ///< inputs only
  size_one,   ///< inputs only: sizes that broadcast
  zero_dim,   ///< inputs only
};

inline constexpr std::array input_layouts{
    Layout::contiguous, Layout::transposed, Layout::channels_last, Layout::sliced,
    Layout::flipped,    Layout::broadcast,  Layout::size_one,      Layout::zero_dim};
inline constexpr std::array output_layouts{Layout::contiguous, Layout::transposed,
                                           Layout::channels_last, Layout::sliced, Layout::flipped};

inline std::string_view name(Layout layout) {
  constexpr std::array<std::string_view, 8> names{"contiguous", "transposed", "channels_last",
                                                  "sliced",     "flipped",    "broadcast",
                                                  "size_one",   "zero_dim"};
  return names[static_cast<std::size_t>(layout)];
}

/// A tensor of four dimensions that broadcasts to `sizes`, in this layout.
inline Tensor laid_out(Layout layout, const Sizes& sizes, DType dtype) {
  switch (layout) {
    case Layout::contiguous: return new_tensor(sizes, dtype);
    case Layout::transposed:
      return new_tensor({sizes[3], sizes[1], sizes[2], sizes[0]}, dtype).transpose(0, 3);
    case Layout::channels_last: return new_tensor(sizes, dtype, MemoryFormat::channels_last);
    case Layout::sliced: {
      const Tensor wide =
          new_tensor({sizes[0] + 1, sizes[1], 3 * sizes[2] + 2, 2 * sizes[3] + 1}, dtype);
      return wide.slice(0, 1, {}).slice(2, 1, -1, 3).slice(3, 1, {}, 2);
    }
    case Layout::flipped: return new_tensor(sizes, dtype).flip({0, 1, 2, 3});
    case Layout::broadcast:
      return new_tensor({sizes[1], 1, sizes[3]}, dtype).expand(IntSpan(sizes));
    case Layout::size_one: return new_tensor({sizes[0], 1, sizes[2], 1}, dtype);
    case Layout::zero_dim: return new_tensor({}, dtype);
  }
  return {};
}

/// A view of these sizes over memory in a random order, with random gaps and directions.
inline Tensor random_layout(const Sizes& sizes, DType dtype, Random& random) {
  const int ndim = static_cast<int>(sizes.size());
  std::vector<int> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  Sizes memory_sizes;
  std::vector<std::int64_t> steps;
  for (const int dim : order) {
    steps.push_back(1 + static_cast<std::int64_t>(ir::pick(random, 3) / 2));
    memory_sizes.push_back(sizes[static_cast<std::size_t>(dim)] * steps.back());
  }
  Tensor view = new_tensor(memory_sizes, dtype);
  for (int i = 0; i < ndim; ++i) {
    const std::int64_t step = steps[static_cast<std::size_t>(i)];
    if (step > 1) view = view.slice(i, 0, {}, step);
    if (ir::pick(random, 4) == 0) view = view.flip({i});
  }
  std::vector<int> back(sizes.size());
  for (int i = 0; i < ndim; ++i)
    back[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])] = i;
  return view.permute(std::span<const int>(back));
}

/// As random_layout(), of sizes that broadcast to `sizes`.
inline Tensor random_operand(Sizes sizes, DType dtype, Random& random) {
  for (std::int64_t& size : sizes)
    if (ir::pick(random, 5) == 0) size = 1;
  std::size_t dropped = 0;
  if (ir::pick(random, 4) == 0) dropped = ir::pick(random, sizes.size() + 1);
  sizes.erase(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(dropped));
  return random_layout(sizes, dtype, random);
}

}  // namespace weft::testing
