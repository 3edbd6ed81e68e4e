// A planned scan on memory: rows or columns, in parts that stay in the cache where what is scanned
// is computed before, and long rows in blocks.
#include "engine/fold/fill_elements.h"
#include "engine/fold/fold_walk.h"
#include "engine/scan/scan_elements.h"
#include "engine/scan/scan_plan.h"
#include "ir/limits.h"
#include "runtime/cache_line.h"

#include <weft/cancel.h>
#include <weft/parallel.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace weft {
namespace {

using jit::ScanOperand;
using jit::ScanParts;

/// A row as blocks, from number `first` on.
ScanOperand blocks_of(const ScanOperand& row, std::int64_t first) {
  ScanOperand blocks = row;
  blocks.row_stride_bytes = jit::scan_block_elements * row.stride_bytes;
  blocks.data += first * blocks.row_stride_bytes;
  return blocks;
}

/// Combines the totals of blocks with what comes before the first; leaves what comes before each,
/// and returns what comes before the next.
jit::BlockScan::Kept pass_on(const jit::BlockScan& loops, jit::BlockScan::Kept before,
                             std::span<jit::BlockScan::Kept> totals) {
  for (jit::BlockScan::Kept& total : totals) {
    const jit::BlockScan::Kept next = loops.combine(loops, before, total);
    total = std::exchange(before, next);
  }
  return before;
}

/// Some elements of neighbouring rows, counted in the order in which they are scanned.
struct Part {
  FoldOffsets at;  ///< of row 0 of rest[0]
  std::int64_t row = 0, num_rows = 1;
  std::int64_t first = 0, count = 1;
};

/// Immutable: threads share it.
class ScanRun {
 public:
  /// `code`: for the whole scan; null if `plan.map` and the loops compiled ahead do it.
  ScanRun(const ScanPlan& plan, const jit::CodeObject* code, std::byte* const* base,
          const Bits* params)
      : plan_(plan),
        base_(base),
        params_(params),
        token_(CancellationScope::current()),
        code_(looks_within_rows() ? nullptr : code) {}

  void run() const {
    const std::int64_t num_rows = plan_.rest[0].extent, total = num_rows * plan_.num_rest;
    const std::int64_t work_ns = total * row_ns();
    const std::int64_t worth = num_fold_parts(work_ns);
    const int threads = plan_.max_threads > 0 ? plan_.max_threads : num_threads();
    if (threads > 1 && total < threads && can_share_rows()) {
      for (std::int64_t row = 0; row < total; ++row)
        share_row(rows_at(row / num_rows, row % num_rows, 1), threads);
      return;
    }
    const std::int64_t rows_at_once = most_rows();
    // The loop over rows can't cut one, and its threads are in no scope.
    const auto run = [&](std::int64_t begin, std::int64_t end) {
      FoldScratch scratch(code_ != nullptr ? 0 : scratch_bytes());
      while (begin < end) {
        const std::int64_t row = begin % num_rows;
        const std::int64_t rows = std::min({end - begin, num_rows - row, rows_at_once});
        Part part = rows_at(begin / num_rows, row, rows);
        for (std::int64_t i = 0; i < plan_.beside.extent; ++i) {
          run_rows(part, scratch.data());
          for (std::size_t k = 0; k < plan_.beside.stride_bytes.size(); ++k)
            part.at[k] += plan_.beside.stride_bytes[k];
        }
        begin += rows;
      }
    };
    parallel_for(0, total, (total + worth - 1) / worth, run, {plan_.max_threads, work_ns});
  }

 private:
  std::int64_t blocks_at_once() const { return jit::scan_blocks_together_of(plan_.scan.dtype); }

  /// What a core takes for a row, about.
  std::int64_t row_ns() const {
    return plan_.beside.extent * plan_.scanned.extent * plan_.scan.element_ns;
  }

  /// That are scanned by one call: they are still in the cache for the next neighbour.
  std::int64_t most_rows() const {
    constexpr std::int64_t some_bytes = 16 << 10;
    if (plan_.beside.extent == 1) return plan_.rest[0].extent;
    return std::max<std::int64_t>(some_bytes / (plan_.scanned.extent * line_bytes), 1);
  }

  /// Whether rows are so long that a cancelled call is not to wait for the end of one.
  bool looks_within_rows() const {
    constexpr std::int64_t long_ns = 1'000'000;
    return token_ != nullptr && row_ns() > long_ns;
  }

  /// Whether several threads take parts of a row: blocks, or any parts where the order rounds
  /// nothing.
  bool can_share_rows() const {
    const bool is_extremum = plan_.scan.op == Op::maximum || plan_.scan.op == Op::minimum;
    return plan_.blocks.run != nullptr || (is_extremum && num_fold_parts(row_ns()) > 1);
  }
  void share_row(const Part& row, int threads) const {
    if (plan_.blocks.run != nullptr)
      share_long_row(row);
    else
      share_extrema(row, std::min<std::int64_t>(threads, num_fold_parts(row_ns())));
  }

  void stop_if_cancelled() const {
    if (token_ != nullptr) token_->throw_if_cancelled();
  }

  /// From a row of a buffer to the next, which are not to share sets of the cache.
  std::int64_t pitch_bytes(std::int64_t row_elements) const {
    constexpr std::int64_t shares_sets = 512;
    const std::int64_t row_bytes = row_elements * plan_.itemsize;
    return row_bytes % shares_sets == 0 ? row_bytes + line_bytes : row_bytes;
  }
  std::int64_t buffer_bytes() const {
    if (plan_.blocks.run != nullptr)
      return blocks_at_once() * pitch_bytes(jit::scan_block_elements);
    if (plan_.map == nullptr) return 0;
    const bool by_columns = plan_.maps_columns;
    const std::int64_t outer = by_columns ? plan_.elements_at_once : plan_.rows_at_once;
    const std::int64_t inner = by_columns ? plan_.rows_at_once : plan_.elements_at_once;
    return (outer * pitch_bytes(inner) + 63) / 64 * 64;
  }
  /// For a buffer, and behind it what is kept of rows that are scanned in parts.
  std::size_t scratch_bytes() const {
    const bool has_parts = plan_.map != nullptr && plan_.blocks.run == nullptr;
    const std::int64_t kept = has_parts ? plan_.rows_at_once * ScanParts::bytes_a_row : 0;
    return static_cast<std::size_t>(buffer_bytes() + kept);
  }

  /// Whole rows, at number `outer` of the dimensions behind rest[0].
  Part rows_at(std::int64_t outer, std::int64_t row, std::int64_t num_rows) const {
    Part part{FoldOffsets(plan_.scanned.stride_bytes.size()), row, num_rows, 0,
              plan_.scanned.extent};
    for (std::size_t dim = 1; dim < plan_.rest.size(); ++dim) {
      const FoldDim& rest = plan_.rest[dim];
      for (std::size_t k = 0; k < rest.stride_bytes.size(); ++k)
        part.at[k] += outer % rest.extent * rest.stride_bytes[k];
      outer /= rest.extent;
    }
    return part;
  }
  static Part elements_of(Part part, std::int64_t first, std::int64_t count) {
    part.first = first;
    part.count = count;
    return part;
  }

  /// From low addresses to high ones, the first of a part's elements.
  std::int64_t lowest(const Part& part) const {
    return plan_.is_reverse ? plan_.scanned.extent - part.first - part.count : part.first;
  }
  /// From an operand in the order of memory to one in that of the scan.
  ScanOperand in_order(ScanOperand operand, std::int64_t count) const {
    if (!plan_.is_reverse) return operand;
    operand.data += (count - 1) * operand.stride_bytes;
    operand.stride_bytes = -operand.stride_bytes;
    return operand;
  }
  ScanOperand operand(std::size_t k, const Part& part) const {
    const std::int64_t row_stride = plan_.rest[0].stride_bytes[k];
    const std::int64_t stride = plan_.scanned.stride_bytes[k];
    std::byte* const data = base_[k] + part.at[k] + part.row * row_stride + lowest(part) * stride;
    return in_order({data, row_stride, stride}, part.count);
  }

  /// Where the first of a part's elements lie, in the order of memory.
  FoldOffsets offsets_of(const Part& part) const {
    FoldOffsets offsets = part.at;
    for (std::size_t k = 0; k < plan_.scanned.stride_bytes.size(); ++k)
      offsets[k] +=
          part.row * plan_.rest[0].stride_bytes[k] + lowest(part) * plan_.scanned.stride_bytes[k];
    return offsets;
  }

  /// Whole blocks of a row in a buffer, where they share no sets of the cache, in the order of
  /// memory: those of operand number `k`, or computed ones.
  ScanOperand fill_blocks(const Part& part, std::byte* buffer, std::optional<std::size_t> k) const {
    const std::int64_t num_blocks = part.count / jit::scan_block_elements;
    const std::int64_t pitch = pitch_bytes(jit::scan_block_elements);
    const FoldOffsets offsets = offsets_of(part);
    if (!k) {
      const MapLoop blocks{plan_.block, num_blocks};
      const MapLoop elements{plan_.scanned, jit::scan_block_elements};
      launch_map(*plan_.map, base_, offsets, params_,
                 {blocks, elements, buffer, pitch, plan_.itemsize});
    } else {
      for (std::int64_t i = 0; i < num_blocks; ++i)
        copy_elements({buffer + i * pitch, 0, plan_.itemsize},
                      {base_[*k] + offsets[*k] + i * plan_.block.stride_bytes[*k], 0,
                       plan_.scanned.stride_bytes[*k]},
                      jit::scan_block_elements, plan_.itemsize);
    }
    return {buffer, pitch, plan_.itemsize};
  }
  /// The same in the order of the scan.
  ScanOperand fetch_blocks(const Part& part, std::byte* buffer,
                           std::optional<std::size_t> k) const {
    ScanOperand blocks = in_order(fill_blocks(part, buffer, k), jit::scan_block_elements);
    if (!plan_.is_reverse) return blocks;
    blocks.data += (part.count / jit::scan_block_elements - 1) * blocks.row_stride_bytes;
    blocks.row_stride_bytes = -blocks.row_stride_bytes;
    return blocks;
  }
  /// Where what is scanned lies, if it does.
  std::optional<std::size_t> scanned_operand() const {
    return plan_.map == nullptr ? std::optional<std::size_t>(1) : std::nullopt;
  }

  /// What is scanned: a tensor where it lies, or computed.
  ScanOperand fetch(const Part& part, std::byte* buffer) const {
    if (plan_.map == nullptr) return operand(1, part);
    const MapLoop rows{plan_.rest[0], part.num_rows}, elements{plan_.scanned, part.count};
    const MapLoop& outer = plan_.maps_columns ? elements : rows;
    const MapLoop& inner = plan_.maps_columns ? rows : elements;
    const std::int64_t pitch =
        is_one_loop(outer, inner) ? inner.extent * plan_.itemsize : pitch_bytes(inner.extent);
    launch_map(*plan_.map, base_, offsets_of(part), params_,
               {outer, inner, buffer, pitch, plan_.itemsize});
    return in_order(plan_.maps_columns ? ScanOperand{buffer, plan_.itemsize, pitch}
                                       : ScanOperand{buffer, pitch, plan_.itemsize},
                    part.count);
  }

  /// Rows from a first element on, by generated code.
  void run_code(const Part& rows) const {
    const std::size_t num_operands = plan_.first_bytes.size(), num_rest = plan_.rest.size();
    const bool by_columns = plan_.kernel->kernel().loops.back().kind != ir::LoopKind::scan;
    const std::size_t scan_loop = num_rest - (by_columns ? 1 : 0);
    std::array<std::byte*, max_fold_operands> base;
    for (std::size_t k = 0; k < num_operands; ++k)
      base[k] = base_[k] + rows.at[k] + rows.row * plan_.rest[0].stride_bytes[k] +
                plan_.first_bytes[k] +
                rows.first * plan_.kernel_strides[scan_loop * num_operands + k];
    std::array<std::int64_t, ir::max_loops> extents;
    std::fill_n(extents.begin(), num_rest + 1, 1);
    extents[num_rest - (by_columns ? 0 : 1)] = rows.num_rows;
    extents[scan_loop] = rows.count;
    const jit::KernelArgs args{base.data(), extents.data(), plan_.kernel_strides.data(), params_,
                               code_->context};
    code_->entry(&args);
  }

  void run_rows(const Part& rows, std::byte* scratch) const {
    if (code_ != nullptr) {
      run_code(rows);
    } else if (plan_.blocks.run != nullptr && !plan_.scans_long_rows_in_order()) {
      for (std::int64_t row = 0; row < rows.num_rows; ++row) {
        Part one = rows;
        one.row += row;
        one.num_rows = 1;
        run_long_row(one, scratch);
      }
    } else if (plan_.map == nullptr) {
      scan(rows, operand(1, rows), {}, token_);
    } else {
      run_in_parts(rows, scratch);
    }
    stop_if_cancelled();
  }

  void scan(const Part& part, const ScanOperand& from, const ScanParts& parts,
            const CancellationToken* token) const {
    const ScanOperand to = operand(0, part);
    if (plan_.places == nullptr)
      return plan_.scan.run(plan_.scan, to, from, part.num_rows, part.count, parts, token);
    const std::int64_t last = plan_.scanned.extent - 1;
    plan_.places(plan_.scan, to, from, part.num_rows, part.count,
                 plan_.is_reverse ? last - part.first : part.first, plan_.is_reverse ? -1 : 1,
                 parts, token);
  }

  /// Rows of what is computed, a buffer at a time.
  void run_in_parts(const Part& rows, std::byte* scratch) const {
    for (std::int64_t row = 0; row < rows.num_rows; row += plan_.rows_at_once) {
      Part strip = rows;
      strip.row += row;
      strip.num_rows = std::min(plan_.rows_at_once, rows.num_rows - row);
      ScanParts parts;
      if (plan_.elements_at_once < rows.count) parts.kept = scratch + buffer_bytes();
      for (std::int64_t first = 0; first < rows.count; first += plan_.elements_at_once) {
        stop_if_cancelled();
        const std::int64_t count = std::min(plan_.elements_at_once, rows.count - first);
        const Part part = elements_of(strip, rows.first + first, count);
        scan(part, fetch(part, scratch), parts, nullptr);
        parts.is_first = false;
      }
    }
  }

  /// In the caller's thread.  The totals of some blocks bring them into the cache, where they are
  /// scanned.
  void run_long_row(const Part& row, std::byte* scratch) const {
    const std::int64_t num_whole = row.count / jit::scan_block_elements;
    jit::BlockScan::Kept before = plan_.blocks.identity;
    for (std::int64_t block = 0; block < num_whole; block += blocks_at_once()) {
      stop_if_cancelled();
      const std::int64_t count = std::min(blocks_at_once(), num_whole - block);
      const Part part = some_blocks(row, block, count);
      const ScanOperand from = fetch_blocks(part, scratch, scanned_operand());
      std::array<jit::BlockScan::Kept, jit::scan_blocks_together> kept;
      plan_.blocks.totals(plan_.blocks, kept.data(), from, count, jit::scan_block_elements);
      before =
          pass_on(plan_.blocks, before, std::span(kept).first(static_cast<std::size_t>(count)));
      plan_.blocks.run(plan_.blocks, kept.data(), blocks_of(operand(0, part), 0), from, count,
                       jit::scan_block_elements);
    }
    run_rest(row, before, scratch);
  }

  static Part some_blocks(const Part& row, std::int64_t first, std::int64_t count) {
    return elements_of(row, first * jit::scan_block_elements, count * jit::scan_block_elements);
  }

  /// What is left behind the whole blocks.
  void run_rest(const Part& row, jit::BlockScan::Kept before, std::byte* scratch) const {
    const std::int64_t count = row.count % jit::scan_block_elements;
    if (count == 0) return;
    const Part rest = elements_of(row, row.count - count, count);
    plan_.blocks.run(plan_.blocks, &before, operand(0, rest), fetch(rest, scratch), 1, count);
  }

  /// One row by several threads: first all totals, then the scans.  What is computed for the totals
  /// waits in the output.
  void share_long_row(const Part& row) const {
    const std::int64_t num_whole = row.count / jit::scan_block_elements;
    std::vector<jit::BlockScan::Kept> kept(static_cast<std::size_t>(num_whole));
    share_blocks(row, [&](std::int64_t block, const Part& part, std::byte* scratch) {
      const std::int64_t count = part.count / jit::scan_block_elements;
      ScanOperand from = blocks_of(operand(1, part), 0);
      if (plan_.map != nullptr) {
        from = fetch_blocks(part, scratch, std::nullopt);
        const ScanOperand to = blocks_of(operand(0, part), 0);
        for (std::int64_t i = 0; i < count; ++i)
          copy_elements({to.data + i * to.row_stride_bytes, 0, to.stride_bytes},
                        {from.data + i * from.row_stride_bytes, 0, from.stride_bytes},
                        jit::scan_block_elements, plan_.itemsize);
      }
      plan_.blocks.totals(plan_.blocks, kept.data() + block, from, count, jit::scan_block_elements);
    });
    const jit::BlockScan::Kept before = pass_on(plan_.blocks, plan_.blocks.identity, kept);
    share_blocks(row, [&](std::int64_t block, const Part& part, std::byte* scratch) {
      plan_.blocks.run(plan_.blocks, kept.data() + block, blocks_of(operand(0, part), 0),
                       fetch_blocks(part, scratch, plan_.map != nullptr ? 0 : 1),
                       part.count / jit::scan_block_elements, jit::scan_block_elements);
    });
    FoldScratch scratch(scratch_bytes());
    run_rest(row, before, scratch.data());
  }

  /// Calls `function(number, blocks, scratch)` for a few of a row's whole blocks at a time.
  void share_blocks(const Part& row,
                    FunctionRef<void(std::int64_t, const Part&, std::byte*)> function) const {
    const auto run = [&](std::int64_t begin, std::int64_t end) {
      FoldScratch scratch(scratch_bytes());
      for (std::int64_t block = begin; block < end; block += blocks_at_once())
        function(block, some_blocks(row, block, std::min(blocks_at_once(), end - block)),
                 scratch.data());
    };
    parallel_for(0, row.count / jit::scan_block_elements, blocks_at_once(), run,
                 {plan_.max_threads, row_ns()});
  }

  /// What has accumulated in one row of extrema.
  struct Extremum {
    alignas(16) std::array<std::byte, ScanParts::bytes_a_row> kept{};
    std::array<std::byte, sizeof(std::int64_t)> written{};  ///< of it, last

    ScanParts parts(bool is_first) { return {kept.data(), is_first}; }
  };

  /// One row of extrema by several threads: each scans a piece as if nothing came before.  What
  /// does then takes the place of the piece's first results, up to the first that stands against
  /// it.
  void share_extrema(const Part& row, std::int64_t num_pieces) const {
    const std::int64_t length = (row.count + num_pieces - 1) / num_pieces;
    using Function = FunctionRef<void(std::int64_t, const Part&, std::byte*)>;
    const auto for_pieces = [&](std::int64_t first_piece, Function function) {
      const auto run = [&](std::int64_t begin, std::int64_t end) {
        FoldScratch scratch(scratch_bytes());
        for (std::int64_t piece = begin; piece < end; ++piece)
          function(piece, piece_of(row, piece * length, length), scratch.data());
      };
      parallel_for(first_piece, num_pieces, 1, run, {plan_.max_threads, row_ns()});
    };
    for_pieces(0, [&](std::int64_t, const Part& piece, std::byte* scratch) {
      if (piece.count > 0) run_rows(piece, scratch);
    });
    // [piece]: of those before it.
    std::vector<Extremum> before(static_cast<std::size_t>(num_pieces));
    FoldScratch scratch(scratch_bytes());
    for (std::int64_t piece = 1; piece < num_pieces; ++piece) {
      const Part last = piece_of(row, piece * length - 1, 1);
      Extremum& so_far = before[static_cast<std::size_t>(piece)];
      so_far = before[static_cast<std::size_t>(piece - 1)];
      if (last.count > 0) add_result(so_far, piece == 1, last, scratch.data());
    }
    for_pieces(1, [&](std::int64_t piece, const Part& results, std::byte* room) {
      overwrite(results, before[static_cast<std::size_t>(piece)], room);
    });
  }
  static Part piece_of(const Part& row, std::int64_t first, std::int64_t length) {
    first = std::min(first, row.count);
    return elements_of(row, first, std::min(length, row.count - first));
  }

  /// Scans on with the one result that is written at `at`; whether it stays what it is.
  bool add_result(Extremum& so_far, bool is_first, const Part& at, std::byte* scratch) const {
    const ScanOperand result = operand(0, at);
    const ScanOperand written{so_far.written.data(), 0, 0};
    if (plan_.places == nullptr) {
      plan_.scan.run(plan_.scan, written, result, 1, 1, so_far.parts(is_first), nullptr);
    } else {
      std::int64_t place;
      std::memcpy(&place, result.data, sizeof place);
      const Part element =
          elements_of(at, plan_.is_reverse ? plan_.scanned.extent - 1 - place : place, 1);
      plan_.places(plan_.scan, written, fetch(element, scratch), 1, 1, place, 0,
                   so_far.parts(is_first), nullptr);
    }
    return std::memcmp(so_far.written.data(), result.data,
                       static_cast<std::size_t>(result_bytes())) == 0;
  }
  std::int64_t result_bytes() const {
    return plan_.places == nullptr ? plan_.itemsize : std::int64_t{sizeof(std::int64_t)};
  }

  /// The results of a piece that `before` is as far as, or further than.
  void overwrite(const Part& results, const Extremum& before, std::byte* scratch) const {
    std::int64_t begin = 0, end = results.count;  // results that stay begin somewhere here
    Extremum further = before;
    while (begin < end) {
      const std::int64_t middle = begin + (end - begin) / 2;
      Extremum tried = before;
      if (add_result(tried, false, elements_of(results, results.first + middle, 1), scratch)) {
        end = middle;
      } else {
        begin = middle + 1;
        further = tried;
      }
    }
    const ScanOperand to = operand(0, elements_of(results, results.first, begin));
    fill_elements(to.data, to.stride_bytes, further.written.data(), begin, result_bytes());
  }

  const ScanPlan& plan_;
  std::byte* const* base_;
  const Bits* params_;
  const CancellationToken* token_;  ///< of the scope that the call is in; null without one
  const jit::CodeObject* code_;
};

}  // namespace

void run_scan(const ScanPlan& plan, std::byte* const* base, const Bits* params) {
  const auto run = [&](const jit::CodeObject* code) { ScanRun(plan, code, base, params).run(); };
  if (plan.kernel == nullptr) return run(nullptr);
  std::int64_t num_elements = plan.num_rest * plan.rest[0].extent * plan.scanned.extent;
  plan.kernel->fold(static_cast<std::uint64_t>(num_elements), run);
}

}  // namespace weft
