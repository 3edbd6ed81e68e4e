// The loops behind ExtremumLoops of jit/fold/fold.h.  Like jit/fold/loops.h this is compiled once
// an instruction set: everything has internal linkage and no function of the standard library is
// used.
#pragma once

#include "jit/fold/fold.h"
#include "jit/fold/vectors.h"

#include <type_traits>

namespace weft::jit {
namespace {

template <class T>
struct Extrema {
  using V = Vector<T, vector_bytes>;
  static constexpr std::int64_t per_vector = vector_bytes / sizeof(T);

  static std::int64_t find(const std::byte* bytes, std::int64_t count, const std::byte* value) {
    const T* const data = reinterpret_cast<const T*>(bytes);
    const T wanted = load<T>(value);
    const bool is_nan = wanted != wanted;
    const auto first_in = [&](std::int64_t i) -> std::int64_t {
      const V x = load<V>(data + i);
      const auto found = is_nan ? x != x : x == wanted;
      const std::uint64_t bytes_found = true_bytes(&found);
      return bytes_found == 0 ? -1 : i + __builtin_ctzll(bytes_found) / sizeof(T);
    };
    for (std::int64_t i = 0; count >= per_vector && i < count; i += per_vector) {
      // The last vector looks again at what the one before has seen.
      if (i > count - per_vector) i = count - per_vector;
      const std::int64_t found = first_in(i);
      if (found >= 0) return found;
    }
    std::int64_t i = 0;
    for (; i + 1 < count; ++i) {
      const T x = load<T>(data + i);
      if (is_nan ? x != x : x == wanted) break;
    }
    return i;
  }

  template <bool is_maximum>
  static int compare(const std::byte* a, const std::byte* b) {
    const T x = load<T>(a), y = load<T>(b);
    if (x != x || y != y) return static_cast<int>(x != x) - static_cast<int>(y != y);
    if (x == y) return 0;
    return (is_maximum ? x > y : x < y) ? 1 : -1;
  }

  /// A row's number in as many bits as an element has, so that it is chosen by the same mask.
  using Row = decltype(V() == V());
  using Number = std::remove_cvref_t<decltype(Row()[0])>;
  static constexpr bool has_nan = std::is_floating_point_v<T>;
  static constexpr int strip_vectors = vector_bytes > 16 && sizeof(T) >= 4 ? 4 : 1;
  static constexpr std::int64_t rows_at_once = 16;  ///< as many streams as memory answers well

  /// Brings `values` and `numbers` of `count` vectors of columns on by the rows [begin, end), of
  /// which `data` is the first; begin > 0.  False, with nothing changed, if it isn't to look for
  /// NaN and there is one.
  template <bool is_maximum, bool looks_for_nan, int count>
  [[gnu::always_inline]] static bool strip(std::byte* values, std::byte* numbers,
                                           const std::byte* data, std::int64_t row_stride_bytes,
                                           std::int64_t begin, std::int64_t end) {
    V best[count];
    Row best_row[count];
    for (int i = 0; i < count; ++i) {
      best[i] = load<V>(values + i * vector_bytes);
      best_row[i] = load<Row>(numbers + i * vector_bytes);
    }
    Row number{};
    number += static_cast<Number>(begin - 1);
    Row has_seen_nan{};
    for (std::int64_t row = begin; row < end; ++row, data += row_stride_bytes) {
      number -= number == number;  // a true lane is -1
#pragma GCC unroll 4
      for (int i = 0; i < count; ++i) {
        const V x = load<V>(data + i * vector_bytes);
        Row is_better = is_maximum ? x > best[i] : x < best[i];
        if constexpr (looks_for_nan) is_better = (is_better | (x != x)) & (best[i] == best[i]);
        if constexpr (has_nan && !looks_for_nan) has_seen_nan |= x != x;
        best[i] = is_better ? x : best[i];
        best_row[i] = is_better ? number : best_row[i];
      }
    }
    if (has_nan && !looks_for_nan && true_bytes(&has_seen_nan) != 0) return false;
    for (int i = 0; i < count; ++i) {
      store(values + i * vector_bytes, best[i]);
      store(numbers + i * vector_bytes, best_row[i]);
    }
    return true;
  }

  template <bool is_maximum, int count>
  [[gnu::always_inline]] static void any_strip(std::byte* values, std::byte* numbers,
                                               const std::byte* data, std::int64_t row_stride_bytes,
                                               std::int64_t begin, std::int64_t end) {
    if (strip<is_maximum, false, count>(values, numbers, data, row_stride_bytes, begin, end))
      return;
    for (std::int64_t at = 0; at < count * vector_bytes; at += vector_bytes)
      strip<is_maximum, has_nan, 1>(values + at, numbers + at, data + at, row_stride_bytes, begin,
                                    end);
  }

  template <bool is_maximum>
  static void columns(std::byte* values, std::int64_t* rows, const std::byte* data,
                      std::int64_t row_stride_bytes, std::int64_t num_rows,
                      std::int64_t num_columns) {
    constexpr auto itemsize = static_cast<std::int64_t>(sizeof(T));
    constexpr std::int64_t strip_bytes = strip_vectors * vector_bytes;
    const std::int64_t row_bytes = num_columns * itemsize;
    if (num_columns < per_vector)
      return few_columns<is_maximum>(values, rows, data, row_stride_bytes, num_rows, num_columns);
    std::byte* const numbers = reinterpret_cast<std::byte*>(rows);  // until they are all known
    __builtin_memcpy(values, data, static_cast<std::size_t>(row_bytes));
    __builtin_memset(numbers, 0, static_cast<std::size_t>(row_bytes));
    for (std::int64_t begin = 1; begin < num_rows; begin += rows_at_once) {
      const std::int64_t end = num_rows - begin < rows_at_once ? num_rows : begin + rows_at_once;
      const std::byte* const from = data + begin * row_stride_bytes;
      std::int64_t at = 0;
      for (; row_bytes - at >= strip_bytes; at += strip_bytes)
        any_strip<is_maximum, strip_vectors>(values + at, numbers + at, from + at, row_stride_bytes,
                                             begin, end);
      for (; at < row_bytes; at += vector_bytes) {
        // The last vector sees again what the one before has seen, which changes nothing.
        if (at > row_bytes - vector_bytes) at = row_bytes - vector_bytes;
        any_strip<is_maximum, 1>(values + at, numbers + at, from + at, row_stride_bytes, begin,
                                 end);
      }
    }
    // From the last on: a number of 64 bits lies over no smaller one that is still needed.
    for (std::int64_t i = num_columns; i-- > 0;) {
      const auto number = load<Number>(numbers + i * itemsize);
      rows[i] = number;
    }
  }

  template <bool is_maximum>
  static void few_columns(std::byte* values, std::int64_t* rows, const std::byte* data,
                          std::int64_t row_stride_bytes, std::int64_t num_rows,
                          std::int64_t num_columns) {
    for (std::int64_t i = 0; i < num_columns; ++i) {
      const std::byte* const column = data + i * static_cast<std::int64_t>(sizeof(T));
      std::int64_t best = 0;
      for (std::int64_t row = 1; row < num_rows; ++row)
        if (compare<is_maximum>(column + row * row_stride_bytes, column + best * row_stride_bytes) >
            0)
          best = row;
      store(values + i * static_cast<std::int64_t>(sizeof(T)),
            load<T>(column + best * row_stride_bytes));
      rows[i] = best;
    }
  }

  template <bool is_maximum>
  static constexpr ExtremumLoops table() {
    return {&find, &compare<is_maximum>, &columns<is_maximum>};
  }
};

}  // namespace
}  // namespace weft::jit
