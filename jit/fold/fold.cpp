#include "jit/fold/fold.h"

#include "ir/combine.h"
#include "jit/fold/isa.h"

#include <weft/error.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace weft::jit {
namespace {

/// to[i] = op(to[i], from[i]).  The row's function wants its result apart from its arguments.
void combine(const Fold& fold, std::byte* to, const std::byte* from, std::int64_t count) {
  const std::int64_t itemsize = fold.itemsize();
  std::array<std::byte, Fold::lanes_bytes> result;
  while (count > 0) {
    const std::int64_t n = std::min(count, fold.num_lanes());
    const void* const args[] = {to, from};
    fold.row(result.data(), args, static_cast<std::size_t>(n));
    std::memcpy(to, result.data(), static_cast<std::size_t>(n * itemsize));
    to += n * itemsize;
    from += n * itemsize;
    count -= n;
  }
}

void plain_lanes(const Fold& fold, std::byte* lanes, const std::byte* data,
                 std::int64_t row_stride_bytes, std::int64_t num_rows, std::int64_t count) {
  const std::int64_t step = fold.num_lanes();
  for (std::int64_t row = 0; row < num_rows; ++row, data += row_stride_bytes)
    for (std::int64_t i = 0; i < count; i += step)
      combine(fold, lanes, data + i * fold.itemsize(), std::min(step, count - i));
}

void plain_columns(const Fold& fold, std::byte* to, const std::byte* data,
                   std::int64_t row_stride_bytes, std::int64_t num_rows, std::int64_t num_columns) {
  for (std::int64_t row = 0; row < num_rows; ++row)
    combine(fold, to, data + row * row_stride_bytes, num_columns);
}

void plain_finish(const Fold& fold, std::byte* to, std::byte* lanes) {
  for (std::int64_t width = fold.num_lanes() / 2; width > 0; width /= 2)
    combine(fold, lanes, lanes + width * fold.itemsize(), width);
  std::memcpy(to, lanes, static_cast<std::size_t>(fold.itemsize()));
}

void plain_rows(const Fold& fold, std::byte* to, std::int64_t to_stride_bytes,
                const std::byte* data, std::int64_t row_stride_bytes, std::int64_t num_rows,
                std::int64_t count) {
  alignas(16) std::array<std::byte, Fold::lanes_bytes> lanes;
  for (std::int64_t row = 0; row < num_rows; ++row) {
    fold.clear(lanes.data(), fold.num_lanes());
    plain_lanes(fold, lanes.data(), data + row * row_stride_bytes, 0, 1, count);
    fold.finish(to + row * to_stride_bytes, lanes.data());
  }
}

void start_blocks(const Fold& fold, std::byte* lanes, std::int64_t count) {
  fold.clear(lanes, count * fold.num_lanes());
}

void combine_blocks(const Fold& fold, std::byte* lanes, std::int64_t stride_bytes,
                    std::int64_t count) {
  for (std::int64_t width = 1; width < count; width *= 2)
    for (std::int64_t i = 0; i + width < count; i += 2 * width)
      fold.loops.columns(fold, lanes + i * stride_bytes, lanes + (i + width) * stride_bytes, 0, 1,
                         fold.num_lanes());
}

void tree_of_lanes(const Fold& fold, std::byte* to, const std::byte* data, std::int64_t count,
                   std::int64_t block) {
  alignas(64) PendingLanes<> pending;
  fold_tree(
      pending, count, block,
      [&](std::byte* lanes, std::int64_t first, std::int64_t size) {
        start_blocks(fold, lanes, 1);
        fold.loops.lanes(fold, lanes, data + first * fold.itemsize(), 0, 1, size);
      },
      [&](std::byte* lanes, const std::byte* other) {
        combine_blocks(fold, lanes, other - lanes, 2);
      });
  std::memcpy(to, pending[0], Fold::lanes_bytes);
}

}  // namespace

void Fold::clear(std::byte* to, std::int64_t count) const {
  for (; count > num_lanes(); count -= num_lanes(), to += lanes_bytes)
    std::memcpy(to, identity_lanes.data(), lanes_bytes);
  std::memcpy(to, identity_lanes.data(), static_cast<std::size_t>(count * itemsize()));
}

Fold make_plain_fold(Op op, DType dtype) {
  const std::optional<Bits> identity = ir::identity_of(op, dtype);
  WEFT_ASSERT(identity, name(op), " has no identity");
  Fold fold{op,
            dtype,
            *identity,
            ir::block_function(op, dtype),
            {plain_lanes, plain_columns, plain_rows, plain_finish, tree_of_lanes, nullptr,
             start_blocks, combine_blocks},
            Isa::generic,
            true,
            {}};
  WEFT_ASSERT(fold.row != nullptr, name(op), " does not compute in ", name(dtype));
  for (std::size_t i = 0; i < fold.identity_lanes.size(); i += itemsize_bytes(dtype))
    std::memcpy(&fold.identity_lanes[i], &fold.identity, itemsize_bytes(dtype));
  return fold;
}

Fold make_fold(Op op, DType dtype, Isa isa) {
  Fold fold = make_plain_fold(op, dtype);
  const auto& find = isa == Isa::avx512 ? fold_loops_avx512
                     : isa == Isa::avx2 ? fold_loops_avx2
                                        : fold_loops_generic;
  const FoldLoops* loops = find(op, dtype);
  if (loops == nullptr && isa == Isa::avx512) {
    loops = fold_loops_avx2(op, dtype);
    isa = Isa::avx2;
  }
  if (loops == nullptr) return fold;
  fold.loops = *loops;
  if (loops->tree == nullptr) {
    fold.loops.tree = tree_of_lanes;
    fold.loops.start_blocks = start_blocks;
    fold.loops.combine_blocks = combine_blocks;
  }
  fold.isa = isa;
  fold.calls_row = false;
  return fold;
}

ExtremumLoops extremum_loops(Op op, DType dtype, Isa isa) {
  const auto& find = isa == Isa::avx512 ? extremum_loops_avx512
                     : isa == Isa::avx2 ? extremum_loops_avx2
                                        : extremum_loops_generic;
  const ExtremumLoops* found = find(op, dtype);
  if (found == nullptr) {  // of bools there is one set, for the size of the library
    found = extremum_loops_generic(op, dtype);
    isa = Isa::generic;
  }
  WEFT_ASSERT(found != nullptr, name(op), " of ", name(dtype), " has no places");
  ExtremumLoops loops = *found;
  if (loops.merge == nullptr) loops.merge = extremum_loops_generic(op, dtype)->merge;
  loops.isa = isa;
  return loops;
}

}  // namespace weft::jit
