// Folds that find where the extremum is, and what it is besides.
#include "engine/fold/fold_run.h"

#include <algorithm>
#include <cstring>

namespace weft {

void FoldRun::place_rows(std::int64_t begin, std::int64_t end) const {
  constexpr std::int64_t max_rows = 256;
  const std::int64_t count = plan_.vector.extent, itemsize = fold_.itemsize();
  // What has been read once is read again: it should still be in the first cache.
  const std::int64_t near_rows =
      std::clamp<std::int64_t>(fold_buffer_bytes / (count * itemsize), 1, max_rows);
  const std::int64_t step = plan_.vector.stride_bytes[place_operand()] / place_bytes;
  const auto find = [&](const FoldOffsets&, const FoldChunk& chunk, std::byte* to,
                        std::int64_t stride_bytes, std::int64_t rows) {
    alignas(16) std::byte values[max_rows * 16];
    fold_.loops.rows(fold_, values, itemsize, chunk.data, chunk.row_stride_bytes, rows, count);
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t place =
          step * plan_.extrema.find(chunk.data + row * chunk.row_stride_bytes, count,
                                    values + row * itemsize);
      std::memcpy(to + row * stride_bytes, &place, sizeof place);
    }
  };
  for_each_row(begin, end, near_rows, find);
}

/// Behind the extrema.
std::int64_t* FoldRun::places_of(std::byte* result) const {
  return reinterpret_cast<std::int64_t*>(result + partial_bytes_);
}

/// The places of the extrema of the next slice.
void FoldRun::find_next(Part& part) const {
  std::byte* const found = result(part);
  const auto find = [&](const FoldOffsets& offsets, const FoldChunk& chunk, std::int64_t rows,
                        std::int64_t count) {
    plan_.is_inner ? find_in_rows(offsets, chunk, rows, count, found)
                   : find_in_columns(offsets, chunk, rows, count, found);
  };
  for_each_chunk_of(part.place, part.first_block * plan_.slices_per_block + part.slice,
                    part.scratch, find);
  ++part.slice;
}

void FoldRun::find_in_rows(const FoldOffsets& offsets, const FoldChunk& chunk, std::int64_t rows,
                           std::int64_t count, std::byte* best) const {
  const std::int64_t step = plan_.vector.stride_bytes[place_operand()] / place_bytes;
  const std::int64_t row_step = plan_.reduced[0].stride_bytes[place_operand()];
  std::int64_t& best_place = *places_of(best);
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::byte* const data = chunk.data + row * chunk.row_stride_bytes;
    alignas(16) std::byte value[16];
    fold_.loops.rows(fold_, value, 0, data, 0, 1, count);
    if (best_place >= 0 && plan_.extrema.compare(value, best) < 0) continue;
    const std::int64_t found = plan_.extrema.find(data, count, value);
    const std::int64_t place =
        (offsets[place_operand()] + row * row_step) / place_bytes + found * step;
    if (best_place >= 0) {
      plan_.extrema.merge(best, &best_place, value, &place, 1);
    } else {
      std::memcpy(best, value, static_cast<std::size_t>(fold_.itemsize()));
      best_place = place;
    }
  }
}

void FoldRun::find_in_columns(const FoldOffsets& offsets, const FoldChunk& chunk, std::int64_t rows,
                              std::int64_t count, std::byte* best) const {
  std::int64_t* const best_places = places_of(best);
  const std::int64_t step = plan_.reduced[0].stride_bytes[place_operand()] / place_bytes;
  const std::int64_t first_place = offsets[place_operand()] / place_bytes;
  static_assert(fold_block_rows <= jit::max_extremum_rows);
  const auto find = [&](std::byte* values, std::int64_t* places) {
    plan_.extrema.columns(values, places, chunk.data, chunk.row_stride_bytes, rows, count,
                          first_place, step);
  };
  if (*best_places < 0) return find(best, best_places);
  std::int64_t* const places = best_places + strip_extent();
  auto* const values = reinterpret_cast<std::byte*>(places + strip_extent());
  find(values, places);
  plan_.extrema.merge(best, best_places, values, places, count);
}

}  // namespace weft
