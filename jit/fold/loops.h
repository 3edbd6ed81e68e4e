// The loops behind jit/fold/fold.h on vectors of WEFT_VECTOR_BYTES.  Each file that includes this
// is compiled for another instruction set, so that everything here has internal linkage and no
// function of the standard library is used.
#include "jit/fold/accumulate.h"
#include "jit/fold/fold.h"
#include "jit/fold/vectors.h"
#include "runtime/cache_line.h"

#include <type_traits>
#include <utility>

namespace weft::jit {
namespace {

/// The loops that fold elements of T by `Combine`.
template <class T, class Combine>
struct Loops : Accumulation<T, Combine> {
  using Lanes = Accumulation<T, Combine>;
  using Lanes::accumulate, Lanes::accumulate_with_nan, Lanes::asks_ahead, Lanes::fill;
  using Lanes::has_ordered_op, Lanes::identity_of, Lanes::is_complex_product, Lanes::may_prefetch;
  using Lanes::may_walk_in_order, Lanes::per_vector;
  using typename Lanes::V;

  /// Rows that are read side by side: memory answers several streams faster than one.  As many as
  /// there are registers for, and for the commoner elements.
  static constexpr int num_streams = sizeof(T) < 4        ? 1
                                     : vector_bytes == 64 ? 4
                                     : vector_bytes == 32 ? 2
                                                          : 1;
  /// Extrema look for NaN first, and are bound by that.
  static constexpr bool reads_side_by_side =
      num_streams > 1 && !has_ordered_op && !is_complex_product;
  /// Two short rows in all registers gain nothing over one after the other.
  static constexpr bool reads_rows_side_by_side = reads_side_by_side && num_streams > 2;

  /// Folds whole steps of each of `num_streams` rows into the row's lanes.
  [[gnu::always_inline]] static void accumulate_steps(V (&lanes)[num_streams][num_vectors],
                                                      const std::byte* data,
                                                      std::int64_t row_stride_bytes,
                                                      std::int64_t num_steps) {
    constexpr std::int64_t step_bytes = num_vectors * vector_bytes;
    for (std::int64_t i = 0; i < num_steps; ++i, data += step_bytes)
#pragma GCC unroll 4
      for (int stream = 0; stream < num_streams; ++stream)
#pragma GCC unroll 16
        for (int j = 0; j < num_vectors; ++j)
          lanes[stream][j] = Combine::of(
              lanes[stream][j], load<V>(data + stream * row_stride_bytes + j * vector_bytes));
  }

  /// Folds `count` elements of each of `num_streams` rows into the row's lanes.
  [[gnu::always_inline]] static void accumulate_rows(V (&lanes)[num_streams][num_vectors],
                                                     const std::byte* data,
                                                     std::int64_t row_stride_bytes,
                                                     std::int64_t count, const V& identity) {
    constexpr std::int64_t step = num_vectors * per_vector;
    const auto row = [&](int stream) {
      return reinterpret_cast<const T*>(data + stream * row_stride_bytes);
    };
    const std::int64_t num_steps = count / step;
    accumulate_steps(lanes, data, row_stride_bytes, num_steps);
#pragma GCC unroll 4
    for (int stream = 0; stream < num_streams; ++stream)
      accumulate(lanes[stream], row(stream) + num_steps * step, count - num_steps * step, identity);
  }

  static constexpr int num_blocks = FoldLoops::blocks_together;
  /// Where there are registers for the lanes of one block only: in turns of `a_turn` elements.
  static void blocks_in_turn(const Fold& fold, std::byte* to, const std::byte* data,
                             std::int64_t block_stride_bytes, std::int64_t count,
                             std::int64_t a_turn) {
    const V identity = identity_of(fold);
    V lanes_of[num_blocks][num_vectors];
#pragma GCC unroll 1
    for (V(&lanes)[num_vectors] : lanes_of) fill(lanes, identity);
    for (std::int64_t i = 0; i < count; i += a_turn)
      for (int block = 0; block < num_blocks; ++block) {
        V lanes[num_vectors];
#pragma GCC unroll 16
        for (int k = 0; k < num_vectors; ++k) lanes[k] = lanes_of[block][k];
        accumulate(lanes, reinterpret_cast<const T*>(data + block * block_stride_bytes) + i,
                   count - i < a_turn ? count - i : a_turn, identity);
#pragma GCC unroll 16
        for (int k = 0; k < num_vectors; ++k) lanes_of[block][k] = lanes[k];
      }
    for (int k = 0; k < num_vectors; ++k)
      store(to + k * vector_bytes, Combine::of(Combine::of(lanes_of[0][k], lanes_of[1][k]),
                                               Combine::of(lanes_of[2][k], lanes_of[3][k])));
  }

  template <int parts>
  static void tree_of_blocks(const Fold& fold, std::byte* to, const std::byte* data,
                             std::int64_t block_stride_bytes, std::int64_t count) {
    if constexpr (has_ordered_op) {
      // From memory they take turns of so much.
      constexpr auto short_turn = 2048 / static_cast<std::int64_t>(sizeof(T));
      count *= parts;
      return blocks_in_turn(fold, to, data, block_stride_bytes, count,
                            fold.prefetches ? short_turn : count);
    }
    const std::byte* const identity = fold.identity_lanes.data();
    for (int block = 0; block < num_blocks; block += num_streams) {
      V lanes_of[num_streams][num_vectors];
#pragma GCC unroll 4
      for (int stream = 0; stream < num_streams; ++stream)
#pragma GCC unroll 16
        for (int i = 0; i < num_vectors; ++i)
          lanes_of[stream][i] = load<V>(identity + i * vector_bytes);
      accumulate_steps(lanes_of, data + block * block_stride_bytes, block_stride_bytes,
                       parts * count / (num_vectors * per_vector));
#pragma GCC unroll 16
      for (int i = 0; i < num_vectors; ++i) {
#pragma GCC unroll 4
        for (int width = 1; width < num_streams; width *= 2)
#pragma GCC unroll 4
          for (int stream = 0; stream < num_streams; stream += 2 * width)
            lanes_of[stream][i] = Combine::of(lanes_of[stream][i], lanes_of[stream + width][i]);
        std::byte* const lanes = to + i * vector_bytes;
        store(lanes, block == 0 ? lanes_of[0][i] : Combine::of(load<V>(lanes), lanes_of[0][i]));
      }
    }
  }

  [[gnu::noinline, gnu::noclone]] static void lanes(const Fold& fold, std::byte* to,
                                                    const std::byte* data,
                                                    std::int64_t row_stride_bytes,
                                                    std::int64_t num_rows, std::int64_t count) {
    V lanes[num_vectors];
#pragma GCC unroll 16
    for (int i = 0; i < num_vectors; ++i) lanes[i] = load<V>(to + i * vector_bytes);
    const V identity = identity_of(fold);
    for (std::int64_t row = 0; row < num_rows; ++row, data += row_stride_bytes) {
      const T* const first = reinterpret_cast<const T*>(data);
      if (asks_ahead(fold))
        Lanes::template accumulate<may_prefetch>(lanes, first, count, identity);
      else
        accumulate(lanes, first, count, identity);
    }
#pragma GCC unroll 16
    for (int i = 0; i < num_vectors; ++i) store(to + i * vector_bytes, lanes[i]);
  }

  /// By vectors, as they are loaded again at once: what is stored in smaller parts waits.
  static void start_blocks(const Fold& fold, std::byte* lanes, std::int64_t count) {
    const std::byte* const identity = fold.identity_lanes.data();
    for (std::int64_t block = 0; block < count; ++block, lanes += Fold::lanes_bytes)
#pragma GCC unroll 16
      for (int i = 0; i < Fold::lanes_bytes; i += vector_bytes)
        store(lanes + i, load<V>(identity + i));
  }

  static void combine_blocks(const Fold&, std::byte* lanes, std::int64_t stride_bytes,
                             std::int64_t count) {
    const std::int64_t end = count * stride_bytes;
    for (std::int64_t width = stride_bytes; width < end; width *= 2)
      for (std::int64_t at = 0; at + width < end; at += 2 * width)
#pragma GCC unroll 16
        for (int i = 0; i < Fold::lanes_bytes; i += vector_bytes)
          store(lanes + at + i,
                Combine::of(load<V>(lanes + at + i), load<V>(lanes + at + width + i)));
  }

  /// Extrema of a lane are the same however it is cut: the first NaN, or the last of the equals.
  static constexpr std::int64_t leaves_at_once = has_ordered_op ? 8 : 1;

  template <int parts>
  static void tree(const Fold& fold, std::byte* to, const std::byte* data, std::int64_t count,
                   std::int64_t block) {
    alignas(64) PendingLanes<> pending;
    fold_tree(
        pending, count, leaves_at_once * block,
        [&](std::byte* result, std::int64_t first, std::int64_t size) {
          start_blocks(fold, result, 1);
          lanes(fold, result, data + parts * first * static_cast<std::int64_t>(sizeof(T)), 0, 1,
                parts * size);
        },
        [&](std::byte* result, const std::byte* other) {
          combine_blocks(fold, result, other - result, 2);
        });
    __builtin_memcpy(to, pending[0], Fold::lanes_bytes);
  }

  /// The lanes of one vector combined by halves, down to elements of `bytes_kept`.
  template <class Op, int bytes, int bytes_kept>
  [[gnu::always_inline]] static void halve(std::byte* to, const Vector<T, bytes>& value) {
    if constexpr (bytes == bytes_kept) {
      __builtin_memcpy(to, &value, bytes);
    } else if constexpr (bytes / 2 < static_cast<int>(2 * sizeof(T))) {
      const T one = Op::template of<T>(value[0], value[1]);
      __builtin_memcpy(to, &one, sizeof(T));
    } else {
      constexpr std::size_t half = bytes / 2 / sizeof(T);
      const std::make_index_sequence<half> all;
      halve<Op, bytes / 2, bytes_kept>(
          to, Op::template of<Vector<T, bytes / 2>>(
                  lanes_of(value, all, std::integral_constant<std::size_t, 0>()),
                  lanes_of(value, all, std::integral_constant<std::size_t, half>())));
    }
  }

  template <int parts, class Op = Combine>
  [[gnu::always_inline]] static void combine_lanes(std::byte* to, V (&lanes)[num_vectors]) {
#pragma GCC unroll 16
    for (int width = num_vectors / 2; width > 0; width /= 2)
#pragma GCC unroll 16
      for (int i = 0; i < width; ++i) lanes[i] = Op::of(lanes[i], lanes[i + width]);
    halve<Op, vector_bytes, static_cast<int>(parts * sizeof(T))>(to, lanes[0]);
  }

  /// An element is `parts` numbers of type T.
  template <int parts>
  static void rows(const Fold& fold, std::byte* to, std::int64_t to_stride_bytes,
                   const std::byte* data, std::int64_t row_stride_bytes, std::int64_t num_rows,
                   std::int64_t count) {
    const V identity = identity_of(fold);
    std::int64_t row = 0;
    const bool side_by_side = reads_rows_side_by_side && !fold.in_order;
    for (; side_by_side && row + num_streams <= num_rows; row += num_streams) {
      V lanes[num_streams][num_vectors];
#pragma GCC unroll 4
      for (int stream = 0; stream < num_streams; ++stream) fill(lanes[stream], identity);
      accumulate_rows(lanes, data + row * row_stride_bytes, row_stride_bytes, count * parts,
                      identity);
#pragma GCC unroll 4
      for (int stream = 0; stream < num_streams; ++stream)
        combine_lanes<parts>(to + (row + stream) * to_stride_bytes, lanes[stream]);
    }
    for (; row < num_rows; ++row) {
      std::byte* const result = to + row * to_stride_bytes;
      const T* const from = reinterpret_cast<const T*>(data + row * row_stride_bytes);
      if (may_walk_in_order && fold.in_order && fold.prefetches)
        fold_row<parts, may_walk_in_order>(result, from, count * parts, identity);
      else
        fold_row<parts, false>(result, from, count * parts, identity);
    }
  }

  template <int parts, bool prefetches>
  [[gnu::always_inline]] static void fold_row(std::byte* to, const T* data, std::int64_t count,
                                              const V& identity) {
    V lanes[num_vectors];
    fill(lanes, identity);
    if constexpr (has_ordered_op) {
      if (Lanes::template accumulate_ordered<prefetches>(lanes, data, count, identity))
        return combine_lanes<parts, typename Combine::Ordered>(to, lanes);
      V again[num_vectors];
      fill(again, identity);
      accumulate_with_nan(again, data, count, identity);
      combine_lanes<parts>(to, again);
    } else {
      Lanes::template accumulate_by<Combine, prefetches>(lanes, data, count, identity,
                                                         [](const V&, const V&) {});
      combine_lanes<parts>(to, lanes);
    }
  }

  template <int parts>
  static void finish(const Fold&, std::byte* to, std::byte* from) {
    V lanes[num_vectors];
#pragma GCC unroll 16
    for (int i = 0; i < num_vectors; ++i) lanes[i] = load<V>(from + i * vector_bytes);
    combine_lanes<parts>(to, lanes);
  }

  /// One row folded into `sums` by `Op`, the last vector from column `last` on.
  template <class Op, int count>
  [[gnu::always_inline]] static void fold_columns_of_row(V (&sums)[count], const std::byte* data,
                                                         std::int64_t last, const auto& note) {
    const auto at = [&](int i) {
      return load<V>(reinterpret_cast<const T*>(data) + (i + 1 < count ? i * per_vector : last));
    };
#pragma GCC unroll 16
    for (int i = 0; i < count; i += 2) {
      const bool is_pair = i + 1 < count;
      V x = at(i), y = is_pair ? at(i + 1) : x;
      if constexpr (has_ordered_op) {
        keep_in_register(x);
        keep_in_register(y);
      }
      note(x, y);
      sums[i] = Op::of(sums[i], x);
      if (is_pair) sums[i + 1] = Op::of(sums[i + 1], y);
    }
  }

  /// So many rows are folded without a loop, whose end would be predicted wrong once a strip.
  static constexpr int known_rows = 8;
  /// Extrema that are folded so are in memory: fewer loads are under way than of sums.  Nothing
  /// ahead costs nothing.
  [[gnu::always_inline]] static void prefetch_columns(const std::byte* data, int count,
                                                      std::int64_t ahead_bytes) {
    if constexpr (has_ordered_op)
#pragma GCC unroll 16
      for (int i = 0; i < count; i += static_cast<int>(line_bytes / vector_bytes))
        __builtin_prefetch(data + i * vector_bytes + ahead_bytes);
  }

  /// Rows folded into `sums`: `known_rows`, or `num_rows` of them.
  template <class Op, bool is_known, int count>
  [[gnu::always_inline]] static void fold_columns(V (&sums)[count], const std::byte* data,
                                                  std::int64_t row_stride_bytes,
                                                  std::int64_t num_rows, std::int64_t last,
                                                  std::int64_t ahead_bytes, const auto& note) {
    if constexpr (is_known) {
#pragma GCC unroll 8
      for (int row = 0; row < known_rows; ++row, data += row_stride_bytes) {
        prefetch_columns(data, count, ahead_bytes);
        fold_columns_of_row<Op>(sums, data, last, note);
      }
    } else {
      for (std::int64_t row = 0; row < num_rows; ++row, data += row_stride_bytes)
        fold_columns_of_row<Op>(sums, data, last, note);
    }
  }

  /// Vectors side by side, the last of them so that it ends at column `end`: what it shares with
  /// the one before is computed twice, from the same numbers, of which it is given the first.
  template <int count, bool is_known = false>
  [[gnu::always_inline]] static void strip(T* to, std::int64_t end, const V& last_sum,
                                           const std::byte* data, std::int64_t row_stride_bytes,
                                           std::int64_t num_rows, std::int64_t ahead_bytes = 0) {
    const std::int64_t last = end - per_vector;
    V sums[count];
#pragma GCC unroll 16
    for (int i = 0; i + 1 < count; ++i) sums[i] = load<V>(to + i * per_vector);
    sums[count - 1] = last_sum;
    const auto write = [&](const V(&from)[count]) {
#pragma GCC unroll 16
      for (int i = 0; i < count; ++i) store(to + (i + 1 < count ? i * per_vector : last), from[i]);
    };
    if constexpr (has_ordered_op) {
      V tried[count];
      NanFlag<T> flag;
#pragma GCC unroll 16
      for (int i = 0; i < count; ++i) {
        tried[i] = sums[i];
        flag.note(sums[i], sums[i]);
      }
      fold_columns<typename Combine::Ordered, is_known>(
          tried, data, row_stride_bytes, num_rows, last, ahead_bytes,
          [&](const V& x, const V& y) { flag.note(x, y); });
      flag.is_set() ? strip_with_nan(to, last, count, last_sum, data, row_stride_bytes, num_rows)
                    : write(tried);
    } else {
      fold_columns<Combine, is_known>(sums, data, row_stride_bytes, num_rows, last, ahead_bytes,
                                      [](const V&, const V&) {});
      write(sums);
    }
  }

  /// The same where there is a NaN.
  [[gnu::noinline]] static void strip_with_nan(T* to, std::int64_t last, int count,
                                               const V& last_sum, const std::byte* data,
                                               std::int64_t row_stride_bytes,
                                               std::int64_t num_rows) {
    for (int i = 0; i < count; ++i) {
      const std::int64_t at = i + 1 < count ? i * per_vector : last;
      V sum = i + 1 < count ? load<V>(to + at) : last_sum;
      const std::byte* row = data;
      for (std::int64_t j = 0; j < num_rows; ++j, row += row_stride_bytes)
        sum = Combine::of(sum, load<V>(reinterpret_cast<const T*>(row) + at));
      store(to + at, sum);
    }
  }

  /// Rows of a few hundred bytes are read whole, so that memory is read in order.
  static constexpr int wide_vectors = 256 / vector_bytes;

  /// The last columns, fewer than four vectors have.
  static void last_strip(T* to, std::int64_t num_columns, const V& last_sum, const std::byte* data,
                         std::int64_t row_stride_bytes, std::int64_t num_rows) {
    switch ((num_columns + per_vector - 1) / per_vector) {
#define WEFT_STRIP(count) \
  case count: return strip<count>(to, num_columns, last_sum, data, row_stride_bytes, num_rows);
      WEFT_STRIP(1)
      WEFT_STRIP(2)
      WEFT_STRIP(3)
      WEFT_STRIP(4)  // three and a part
#undef WEFT_STRIP
      default: break;
    }
  }

  static void columns(const Fold& fold, std::byte* to, const std::byte* data,
                      std::int64_t row_stride_bytes, std::int64_t num_rows,
                      std::int64_t num_columns) {
    T* const sums = reinterpret_cast<T*>(to);
    if (num_columns < per_vector) {
      using One = std::conditional_t<is_complex_product, Vector<T, 2 * sizeof(T)>, T>;
      constexpr std::int64_t step = sizeof(One) / sizeof(T);
      for (std::int64_t row = 0; row < num_rows; ++row, data += row_stride_bytes)
        for (std::int64_t i = 0; i < num_columns; i += step)
          store(sums + i,
                Combine::template of<One>(load<One>(sums + i),
                                          load<One>(reinterpret_cast<const T*>(data) + i)));
      return;
    }
    // Of one strip, the sums stay in registers.
    const std::int64_t at_once = num_columns <= 4 * per_vector ? num_rows : fold.rows_at_once;
    for (std::int64_t first = 0; first < num_rows; first += at_once) {
      const std::int64_t left = num_rows - first;
      const std::int64_t rows = left < at_once ? left : at_once;
      const T* const from = reinterpret_cast<const T*>(data + first * row_stride_bytes);
      const V last_sum = load<V>(sums + num_columns - per_vector);  // before a strip changes it
      std::int64_t i = 0;
      const auto whole_strips = [&]<int count, bool is_known>(std::integral_constant<int, count>,
                                                              std::bool_constant<is_known>) {
        constexpr std::int64_t width = count * per_vector;
        for (; num_columns - i >= width; i += width)
          strip<count, is_known>(sums + i, width, load<V>(sums + i + width - per_vector),
                                 reinterpret_cast<const std::byte*>(from + i), row_stride_bytes,
                                 rows, fold.columns_ahead_bytes);
      };
      constexpr std::integral_constant<int, 4> four;
      constexpr std::integral_constant<int, wide_vectors> wide;
      if (may_walk_in_order && fold.in_order && rows == known_rows)
        whole_strips(wide, std::bool_constant<may_walk_in_order>());
      else
        whole_strips(wide, std::false_type());
      if constexpr (wide_vectors > 4) whole_strips(four, std::false_type());
      last_strip(sums + i, num_columns - i, last_sum, reinterpret_cast<const std::byte*>(from + i),
                 row_stride_bytes, rows);
    }
  }
  /// A vector of columns alone would wait for each sum: `count` of each group take turns.
  template <int count>
  [[gnu::always_inline]] static void fold_groups(const Fold& fold, std::byte* to,
                                                 const std::byte* data,
                                                 std::int64_t group_stride_bytes,
                                                 std::int64_t row_stride_bytes,
                                                 std::int64_t num_rows, std::int64_t num_columns) {
    const std::int64_t row_bytes = num_columns * static_cast<std::int64_t>(sizeof(T));
    const std::int64_t last_bytes = row_bytes - vector_bytes;
    const V identity = identity_of(fold);
    V sums[num_blocks][count];
#pragma GCC unroll 4
    for (V(&group)[count] : sums)
      for (V& sum : group) sum = identity;
    const auto at = [&](const std::byte* row, int i) {
      if (count == 1 && last_bytes < 0) return load_part(identity, row, row_bytes);
      return load<V>(row + (i + 1 < count ? i * vector_bytes : last_bytes));
    };
    for (std::int64_t row = 0; row < num_rows; ++row, data += row_stride_bytes)
#pragma GCC unroll 4
      for (int group = 0; group < num_blocks; ++group)
#pragma GCC unroll 2
        for (int i = 0; i < count; ++i)
          sums[group][i] = Combine::of(sums[group][i], at(data + group * group_stride_bytes, i));
    for (int group = 0; group < num_blocks; ++group, to += row_bytes) {
      if (count == 1 && last_bytes < 0) {
        __builtin_memcpy(to, &sums[group][0], static_cast<std::size_t>(row_bytes));
        continue;
      }
      for (int i = 0; i < count; ++i)
        store(to + (i + 1 < count ? i * vector_bytes : last_bytes), sums[group][i]);
    }
  }

  template <int parts>
  static void narrow_columns(const Fold& fold, std::byte* to, const std::byte* data,
                             std::int64_t group_stride_bytes, std::int64_t row_stride_bytes,
                             std::int64_t num_rows, std::int64_t num_columns) {
    num_columns *= parts;
    constexpr int most = FoldLoops::most_narrow_bytes / vector_bytes;
    if (num_columns <= per_vector)
      fold_groups<1>(fold, to, data, group_stride_bytes, row_stride_bytes, num_rows, num_columns);
    else if constexpr (most > 1)
      fold_groups<most>(fold, to, data, group_stride_bytes, row_stride_bytes, num_rows,
                        num_columns);
  }

  template <int parts>
  static void part_columns(const Fold& fold, std::byte* to, const std::byte* data,
                           std::int64_t row_stride_bytes, std::int64_t num_rows,
                           std::int64_t num_columns) {
    columns(fold, to, data, row_stride_bytes, num_rows, parts * num_columns);
  }
  template <int parts>
  static void part_lanes(const Fold& fold, std::byte* to, const std::byte* data,
                         std::int64_t row_stride_bytes, std::int64_t num_rows, std::int64_t count) {
    lanes(fold, to, data, row_stride_bytes, num_rows, parts * count);
  }

  template <int parts = 1>
  static constexpr FoldLoops table() {
    FoldLoops loops{&part_lanes<parts>, &part_columns<parts>, &rows<parts>, &finish<parts>};
    if constexpr (std::is_floating_point_v<T> && !is_complex_product) {
      loops.tree = &tree<parts>;
      loops.start_blocks = &start_blocks;
      loops.combine_blocks = &combine_blocks;
      // Shorter vectors than these are no whole row's.
      if constexpr (std::is_same_v<Combine, Add> && vector_bytes >= 32)
        loops.narrow_columns = &narrow_columns<parts>;
    }
    if constexpr (reads_side_by_side || has_ordered_op)
      loops.tree_of_blocks = &tree_of_blocks<parts>;
    return loops;
  }
};

}  // namespace
}  // namespace weft::jit
