// Running a planned fold whose sums are exact: no order matters, so blocks go to whoever is free.
#include "engine/fold/fold_walk.h"
#include "runtime/float_environment.h"

#include <weft/parallel.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace weft {
namespace {

/// The most elements that lie beside each other in a step of the loops.
constexpr std::int64_t max_step = 16;
/// Rows whose last columns are brought together with zeros.
constexpr std::int64_t max_padded_rows = 64;

class ExactRun : FoldWalk {
 public:
  ExactRun(const FoldPlan& plan, std::byte* const* base, const Bits* params)
      : FoldWalk(plan, nullptr, base, params),
        num_parts_(is_complex(plan.fold.dtype) ? 2 : 1),
        part_bytes_(plan.fold.itemsize() / num_parts_) {}

  void run() const {
    const std::int64_t num_units = plan_.num_kept * num_strips();
    const std::int64_t worth = num_fold_parts(plan_.work_ns);
    const std::int64_t threads = num_threads();
    const bool is_cut = num_units < 2 * threads && threads > 1 && worth > 1;
    const std::int64_t wanted = is_cut ? std::min(worth, 4 * threads) : 1;
    const std::int64_t cuts =
        std::min((wanted + num_units - 1) / num_units, std::max<std::int64_t>(plan_.num_blocks, 1));
    if (cuts == 1) return run_units(num_units, (num_units + worth - 1) / worth);
    run_cut_units(num_units, cuts);
  }

 private:
  using Sums = std::vector<jit::ExactSum>;

  /// Sums of a unit, with room for whole steps.
  std::size_t num_sums() const {
    const std::int64_t columns = plan_.is_inner ? 1 : strip_extent();
    return static_cast<std::size_t>((columns * num_parts_ + max_step - 1) / max_step * max_step);
  }

  void run_units(std::int64_t num_units, std::int64_t grain) const {
    const auto run = [&](std::int64_t begin, std::int64_t end) {
      Sums sums(num_sums());
      for (std::int64_t unit = begin; unit < end; ++unit) {
        const Place place = place_of(unit);
        for (jit::ExactSum& sum : sums) sum.clear();
        for (std::int64_t block = 0; block < plan_.num_blocks; ++block)
          add_block(place, block, sums.data());
        write(place, sums.data());
      }
    };
    parallel_for(0, num_units, grain, run, {plan_.max_threads, plan_.work_ns});
  }

  /// Threads share the blocks of each unit.
  void run_cut_units(std::int64_t num_units, std::int64_t cuts) const {
    const std::int64_t blocks = (plan_.num_blocks + cuts - 1) / cuts;
    Sums results(num_sums() * static_cast<std::size_t>(num_units * cuts));
    const auto sums_of = [&](std::int64_t part) {
      return results.data() + num_sums() * static_cast<std::size_t>(part);
    };
    const auto run = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t part = begin; part < end; ++part) {
        const Place place = place_of(part / cuts);
        const std::int64_t first = part % cuts * blocks;
        for (std::int64_t block = first; block < std::min(first + blocks, plan_.num_blocks);
             ++block)
          add_block(place, block, sums_of(part));
      }
    };
    parallel_for(0, num_units * cuts, 1, run, {plan_.max_threads, plan_.work_ns});
    for (std::int64_t unit = 0; unit < num_units; ++unit) {
      jit::ExactSum* const sums = sums_of(unit * cuts);
      for (std::int64_t part = 1; part < cuts; ++part)
        for (std::size_t i = 0; i < num_sums(); ++i) sums[i].add(sums_of(unit * cuts + part)[i]);
      write(place_of(unit), sums);
    }
  }

  void add_block(const Place& place, std::int64_t block, jit::ExactSum* sums) const {
    stop_if_cancelled();
    alignas(64) std::byte buffer[fold_buffer_bytes];
    const auto add = [&](const FoldOffsets&, const FoldChunk& chunk, std::int64_t rows,
                         std::int64_t count) {
      if (!plan_.is_inner) return add_columns(sums, chunk, rows, count * num_parts_);
      for (std::int64_t row = 0; row < rows; ++row)
        add_row(sums, chunk.data + row * chunk.row_stride_bytes, count * num_parts_);
    };
    for_each_chunk_of(place, block, buffer, add);
  }

  /// `count` numbers, of which the first and every num_parts_-th go to the first sum.
  void add_row(jit::ExactSum* sums, const std::byte* data, std::int64_t count) const {
    const std::int64_t step = plan_.exact.step;
    const auto mask = static_cast<std::size_t>(num_parts_ - 1);
    plan_.exact.add(sums, mask, data, step * part_bytes_, count / step);
    const std::int64_t rest = count % step;
    if (rest == 0) return;
    alignas(64) std::byte padded[max_step * 8] = {};
    std::memcpy(padded, data + (count - rest) * part_bytes_,
                static_cast<std::size_t>(rest * part_bytes_));
    plan_.exact.add(sums, mask, padded, 0, 1);
  }

  /// `count` columns, each to a sum of its own.
  void add_columns(jit::ExactSum* sums, const FoldChunk& chunk, std::int64_t rows,
                   std::int64_t count) const {
    constexpr std::size_t every = ~std::size_t{0};
    const std::int64_t step = plan_.exact.step;
    std::int64_t column = 0;
    for (; column + step <= count; column += step)
      plan_.exact.add(sums + column, every, chunk.data + column * part_bytes_,
                      chunk.row_stride_bytes, rows);
    const auto rest_bytes = static_cast<std::size_t>((count - column) * part_bytes_);
    if (rest_bytes == 0) return;
    alignas(64) std::byte padded[max_padded_rows * max_step * 8] = {};
    const std::int64_t step_bytes = step * part_bytes_;
    for (std::int64_t first = 0; first < rows; first += max_padded_rows) {
      const std::int64_t some = std::min(max_padded_rows, rows - first);
      for (std::int64_t row = 0; row < some; ++row)
        std::memcpy(padded + row * step_bytes,
                    chunk.data + (first + row) * chunk.row_stride_bytes + column * part_bytes_,
                    rest_bytes);
      plan_.exact.add(sums + column, every, padded, step_bytes, some);
    }
  }

  void write(const Place& place, const jit::ExactSum* sums) const {
    std::byte* to = base_[0] + place.offsets[0];
    const std::int64_t columns = plan_.is_inner ? 1 : place.num_columns;
    const std::int64_t count = plan_.divisor == 0 ? 1 : plan_.num_folded;
    for (std::int64_t column = 0; column < columns; ++column)
      for (std::int64_t part = 0; part < num_parts_; ++part, ++sums) {
        std::byte* const at = to + column * plan_.vector.stride_bytes[0] + part * part_bytes_;
        if (part_bytes_ == 4) {
          const float result = sums->as_float(count);
          std::memcpy(at, &result, sizeof result);
        } else {
          const double result = sums->as_double(count);
          std::memcpy(at, &result, sizeof result);
        }
      }
  }

  std::int64_t num_parts_;  ///< floats of an element
  std::int64_t part_bytes_;
};

}  // namespace

void run_exact_fold(const FoldPlan& plan, std::byte* const* base, const Bits* params) {
  // What a rounding takes away is known to the bit only to nearest, subnormal numbers included.
  const FloatEnvironmentScope to_nearest(FloatEnvironment::standard());
  ExactRun(plan, base, params).run();
}

}  // namespace weft
