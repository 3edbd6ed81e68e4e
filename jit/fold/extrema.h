// The loops behind ExtremumLoops of jit/fold/fold.h.  Like jit/fold/loops.h this is compiled once
// an instruction set: everything has internal linkage and no function of the standard library is
// used.
#pragma once

#include "jit/fold/fold.h"
#include "jit/fold/vectors.h"

#include <type_traits>

namespace weft::jit {
namespace {

/// Of bools, the elements are bytes: true unless they are 0.
template <class T, bool is_boolean>
struct Extrema {
  using V = Vector<T, vector_bytes>;
  static constexpr std::int64_t per_vector = vector_bytes / sizeof(T);
  /// A row's number in as many bits as an element has, so that it is chosen by the same mask.
  using Row = decltype(V() == V());
  using Number = std::remove_cvref_t<decltype(Row()[0])>;

  /// A vector of elements, or one.
  template <class Read>
  static Read read(const void* from) {
    const Read x = load<Read>(from);
    if constexpr (is_boolean) return x < 1 ? x : static_cast<Read>(Read{} + 1);
    return x;
  }

  static std::int64_t find(const std::byte* bytes, std::int64_t count, const std::byte* value) {
    const T* const data = reinterpret_cast<const T*>(bytes);
    const T wanted = read<T>(value);
    const bool is_nan = wanted != wanted;
    const auto found_at = [&](std::int64_t i) {
      const V x = read<V>(data + i);
      return is_nan ? x != x : x == wanted;
    };
    std::int64_t i = 0;
    for (; count - i >= find_vectors * per_vector; i += find_vectors * per_vector) {
      Row found[find_vectors];
      for (int j = 0; j < find_vectors; ++j) found[j] = found_at(i + j * per_vector);
      const Row any = (found[0] | found[1]) | (found[2] | found[3]);
      if (true_bytes(&any) == 0) continue;
      std::int64_t first = 0;
      for (int j = find_vectors; j-- > 0;)  // where it is can't be predicted, so without branches
        if (const std::uint64_t bits = true_bytes(&found[j]); bits != 0)
          first = j * per_vector + place_of(bits);
      return i + first;
    }
    for (; count >= per_vector && i < count; i += per_vector) {
      // The last vector looks again at what the one before has seen.
      if (i > count - per_vector) i = count - per_vector;
      const Row found = found_at(i);
      if (const std::uint64_t bits = true_bytes(&found); bits != 0) return i + place_of(bits);
    }
    for (i = 0; i + 1 < count; ++i) {
      const T x = read<T>(data + i);
      if (is_nan ? x != x : x == wanted) break;
    }
    return i;
  }
  static constexpr int find_vectors = 4;  ///< looked at before the next branch
  static std::int64_t place_of(std::uint64_t true_bytes_found) {
    return static_cast<std::int64_t>(__builtin_ctzll(true_bytes_found) / sizeof(T));
  }

  template <bool is_maximum>
  static int compare(const std::byte* a, const std::byte* b) {
    const T x = read<T>(a), y = read<T>(b);
    if (x != x || y != y) return static_cast<int>(x != x) - static_cast<int>(y != y);
    if (x == y) return 0;
    return (is_maximum ? x > y : x < y) ? 1 : -1;
  }

  static constexpr bool has_nan = std::is_floating_point_v<T>;
  static constexpr int strip_vectors = vector_bytes > 16 && sizeof(T) >= 4 ? 4 : 1;
  static constexpr std::int64_t rows_at_once = 16;  ///< as many streams as memory answers well

  /// NanFlag where there is none.
  struct PlainFlag {
    void note(const V& x, const V& y) {
      if constexpr (has_nan) seen |= (x != x) | (y != y);
    }
    bool is_set() const { return has_nan && true_bytes(&seen) != 0; }
    Row seen{};
  };
  using Flag = std::conditional_t<NanFlag<T>::exists, NanFlag<T>, PlainFlag>;

  /// Takes row `number`, larger than those before, where `is_better`.
  [[gnu::always_inline]] static void take_row(Row& best_row, const Row& is_better,
                                              const Row& number) {
    // Without masks in registers of their own a choice costs more than a maximum.
    if constexpr (vector_bytes == 64 || sizeof(T) == 8) {
      best_row = is_better ? number : best_row;
    } else {
      const Row candidate = is_better & number;
      best_row = candidate > best_row ? candidate : best_row;
    }
  }

  /// Brings `values` and `numbers` of `count` vectors of columns on by the rows [begin, end), of
  /// which `data` is the first; begin > 0.  False, with nothing changed, if it isn't to look for
  /// NaN and there is one.
  template <bool is_maximum, bool looks_for_nan, int count>
  [[gnu::always_inline]] static bool strip(std::byte* values, std::byte* numbers,
                                           const std::byte* data, std::int64_t row_stride_bytes,
                                           std::int64_t begin, std::int64_t end) {
    using Ordered = std::conditional_t<is_maximum, OrderedMax, OrderedMin>;
    V best[count];
    Row best_row[count];
    Flag flag;
    for (int i = 0; i < count; ++i) {
      best[i] = read<V>(values + i * vector_bytes);
      best_row[i] = load<Row>(numbers + i * vector_bytes);
      flag.note(best[i], best[i]);
    }
    Row number{};
    number += static_cast<Number>(begin - 1);
    for (std::int64_t row = begin; row < end; ++row, data += row_stride_bytes) {
      number -= number == number;  // a true lane is -1
      V x[count];
#pragma GCC unroll 4
      for (int i = 0; i < count; ++i) {
        x[i] = read<V>(data + i * vector_bytes);
        Row is_better = is_maximum ? x[i] > best[i] : x[i] < best[i];
        if constexpr (looks_for_nan) {
          is_better = (is_better | (x[i] != x[i])) & (best[i] == best[i]);
          best[i] = is_better ? x[i] : best[i];
        } else {
          if (i % 2 == 1) flag.note(x[i - 1], x[i]);
          if (count == 1) flag.note(x[i], x[i]);
          best[i] = Ordered::of(x[i], best[i]);
        }
        take_row(best_row[i], is_better, number);
      }
    }
    if (!looks_for_nan && flag.is_set()) return false;
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
  static void columns(std::byte* values, std::int64_t* places, const std::byte* data,
                      std::int64_t row_stride_bytes, std::int64_t num_rows,
                      std::int64_t num_columns, std::int64_t first_place, std::int64_t step) {
    constexpr auto itemsize = static_cast<std::int64_t>(sizeof(T));
    constexpr std::int64_t strip_bytes = strip_vectors * vector_bytes;
    const std::int64_t row_bytes = num_columns * itemsize;
    if (num_columns < per_vector)
      return few_columns<is_maximum>(values, places, data, row_stride_bytes, num_rows, num_columns,
                                     first_place, step);
    std::byte* const numbers = reinterpret_cast<std::byte*>(places);  // until they are all known
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
    for (std::int64_t i = num_columns; i-- > 0;)
      places[i] = first_place + load<Number>(numbers + i * itemsize) * step;
  }

  template <bool is_maximum>
  static void few_columns(std::byte* values, std::int64_t* places, const std::byte* data,
                          std::int64_t row_stride_bytes, std::int64_t num_rows,
                          std::int64_t num_columns, std::int64_t first_place, std::int64_t step) {
    for (std::int64_t i = 0; i < num_columns; ++i) {
      const std::byte* const column = data + i * static_cast<std::int64_t>(sizeof(T));
      std::int64_t best = 0;
      for (std::int64_t row = 1; row < num_rows; ++row)
        if (compare<is_maximum>(column + row * row_stride_bytes, column + best * row_stride_bytes) >
            0)
          best = row;
      store(values + i * static_cast<std::int64_t>(sizeof(T)),
            read<T>(column + best * row_stride_bytes));
      places[i] = first_place + best * step;
    }
  }

  template <bool is_maximum>
  static void merge(std::byte* values, std::int64_t* places, const std::byte* other_values,
                    const std::int64_t* other_places, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      std::byte* const to = values + i * static_cast<std::int64_t>(sizeof(T));
      const T best = read<T>(to),
              x = read<T>(other_values + i * static_cast<std::int64_t>(sizeof(T)));
      // Which of two it is can't be predicted, so without branches.
      const bool is_better = (is_maximum ? x > best : x < best) | ((x != x) & (best == best));
      const bool is_equal = (x == best) | ((x != x) & (best != best));
      const std::int64_t place = other_places[i], old = places[i];
      places[i] = is_better | (is_equal & (place < old)) ? place : old;
      store(to, is_better ? x : best);
    }
  }

  template <bool is_maximum>
  static constexpr ExtremumLoops table() {
    ExtremumLoops loops{&find, &compare<is_maximum>, &columns<is_maximum>};
    // Of integers those of the generic set serve: they are small, and rarely needed.
    if constexpr (has_nan || vector_bytes == 16) loops.merge = &merge<is_maximum>;
    return loops;
  }
};

}  // namespace
}  // namespace weft::jit
