// Scans of memory that begins anywhere, and into such: the bits of aligned memory.  Sanitizers see
// that no element is taken for an aligned one.
#include "engine/tensor/dims.h"
#include "tests/engine/support/engines.h"
#include "tests/engine/support/layouts.h"

#include <weft/engine.h>
#include <weft/reduce.h>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

namespace weft::testing {
namespace {

/// Memory for a tensor of these sizes, one byte behind where its elements would be aligned.
class Unaligned {
 public:
  Unaligned(const Sizes& sizes, DType dtype)
      : bytes_(16 * static_cast<std::size_t>(numel_of(sizes)) + 65) {
    void* first = bytes_.data();
    std::size_t room = bytes_.size();
    std::align(64, 1, first, room);
    tensor_ = from_blob(static_cast<std::byte*>(first) + 1, IntSpan(sizes), dtype);
  }
  const Tensor& tensor() const { return tensor_; }

 private:
  std::vector<std::byte> bytes_;
  Tensor tensor_;
};

TEST(unaligned_scans, find_the_same_places) {
  const Tensor aligned = tensor_of<double>({3, 1, 4, 1, 5, 9, 2, 6}).view({2, 4});
  const Unaligned input({2, 4}, DType::f64);
  for (const auto& engine : engines({"auto", "interp"})) {
    engine->copy(aligned, input.tensor());
    for (const std::int64_t dim : {0, 1})
      EXPECT_EQ(elements<std::int64_t>(engine->cummax(input.tensor(), dim).second),
                elements<std::int64_t>(engine->cummax(aligned, dim).second));
  }
}

TEST(unaligned_scans, give_the_same_bits) {
  constexpr std::array scans = {Reduction::cumsum, Reduction::cumprod, Reduction::cummax,
                                Reduction::cummin, Reduction::logcumsumexp};
  Random random(5);
  for (const auto& engine : engines({"auto", "interp"}))
    for (const DType dtype : {DType::f32, DType::f64, DType::i16, DType::i64, DType::c64})
      for (const Sizes& sizes : {Sizes{3, 1000}, Sizes{1000, 3}, Sizes{70, 33}, Sizes{9, 5}}) {
        const Tensor aligned = new_tensor(sizes, dtype);
        for (std::int64_t i = 0; i < aligned.numel(); ++i)
          engine->copy(scalar_tensor(1 + static_cast<double>(random() % 8) / 8),
                       aligned.view({aligned.numel()}).select(0, i));
        const Unaligned input(sizes, dtype);
        engine->copy(aligned, input.tensor());
        for (const Reduction scan : scans)
          for (const std::int64_t dim : {0, 1}) {
            const bool is_extremum = scan == Reduction::cummax || scan == Reduction::cummin;
            if (is_extremum && is_complex(dtype)) continue;
            if (scan == Reduction::logcumsumexp && !is_floating(dtype)) continue;
            const Expr of_aligned = reduce(scan, aligned, {.dims = {dim}});
            const Expr of_unaligned = reduce(scan, input.tensor(), {.dims = {dim}});
            const Tensor expected = engine->eval(of_aligned);
            const Unaligned output(sizes, expected.dtype());
            engine->eval(of_unaligned, output.tensor());
            EXPECT_EQ(std::memcmp(output.tensor().data(), expected.data(),
                                  static_cast<std::size_t>(expected.numel()) *
                                      itemsize_bytes(expected.dtype())),
                      0)
                << text(of_aligned) << " of " << name(dtype);
          }
      }
}

}  // namespace
}  // namespace weft::testing
