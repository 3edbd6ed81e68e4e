// How elements are folded into the lanes of vectors.  A part of jit/fold/loops.h, compiled as it
// is.
#pragma once

#include "jit/fold/fold.h"
#include "jit/fold/vectors.h"
#include "runtime/cache_line.h"

#include <type_traits>

namespace weft::jit {
namespace {

constexpr int num_vectors = Fold::lanes_bytes / vector_bytes;

template <class T, class Combine>
struct Accumulation {
  using V = Vector<T, vector_bytes>;
  static constexpr std::int64_t per_vector = vector_bytes / sizeof(T);

  static V identity_of(const Fold& fold) { return load<V>(fold.identity_lanes.data()); }

  /// Whether the op is one instruction if there is no NaN, and more if there may be.
  static constexpr bool has_ordered_op =
      NanFlag<T>::exists && (std::is_same_v<Combine, Max> || std::is_same_v<Combine, Min>);

  static constexpr bool is_complex_product = std::is_same_v<Combine, ComplexMul>;

  /// What is worth loops that prefetch.
  static constexpr bool may_prefetch =
      std::is_floating_point_v<T> && vector_bytes >= 32 && !is_complex_product;
  /// With AVX2 it is measured only where rows are walked in order.
  static bool asks_ahead(const Fold& fold) {
    return may_prefetch && fold.prefetches && (vector_bytes == line_bytes || fold.in_order);
  }

  /// Whether there are loops for Fold::in_order.  Products of so many numbers seldom mean much.
  static constexpr bool may_walk_in_order = may_prefetch && !std::is_same_v<Combine, Mul>;

  /// Asks for what comes after the page that processors read ahead in, if that is wanted.
  template <bool prefetches>
  [[gnu::always_inline]] static void prefetch(const T* data) {
    constexpr std::int64_t ahead_bytes = 4096;
    if constexpr (prefetches)
      __builtin_prefetch(reinterpret_cast<const std::byte*>(data) + ahead_bytes);
  }

  /// `lanes` with `count` elements folded in by `Op`, the first into lane 0.  `note(x, y)` is told
  /// of all that is read, two vectors at a time.
  template <class Op, bool prefetches>
  [[gnu::always_inline]] static void accumulate_by(V (&lanes)[num_vectors], const T* data,
                                                   std::int64_t count, const V& identity,
                                                   const auto& note) {
    constexpr std::int64_t step = num_vectors * per_vector;
    for (; count >= step; count -= step, data += step)
#pragma GCC unroll 16
      for (int i = 0; i < num_vectors; i += 2) {
        prefetch<prefetches>(data + i * per_vector);
        if (vector_bytes == line_bytes) prefetch<prefetches>(data + (i + 1) * per_vector);
        V x = load<V>(data + i * per_vector), y = load<V>(data + (i + 1) * per_vector);
        if constexpr (has_ordered_op) {
          keep_in_register(x);
          keep_in_register(y);
        }
        note(x, y);
        lanes[i] = Op::of(lanes[i], x);
        lanes[i + 1] = Op::of(lanes[i + 1], y);
      }
    if (count == 0) return;
#pragma GCC unroll 16
    for (int i = 0; i < num_vectors; ++i) {
      const std::int64_t rest = count - i * per_vector;
      if (rest <= 0) return;
      const T* const from = data + i * per_vector;
      const std::int64_t rest_bytes = rest * static_cast<std::int64_t>(sizeof(T));
      const V x = rest >= per_vector ? load<V>(from) : load_part(identity, from, rest_bytes);
      note(x, x);
      const V combined = Op::of(lanes[i], x);
      // A complex number times 1 is another one where it has infinities or a zero of either sign.
      lanes[i] = is_complex_product && rest < per_vector
                     ? load_part(lanes[i], &combined, rest_bytes)
                     : combined;
    }
  }

  /// The same by the ordered op; false if there was a NaN, and the lanes are lost.
  template <bool prefetches>
  [[gnu::always_inline]] static bool accumulate_ordered(V (&lanes)[num_vectors], const T* data,
                                                        std::int64_t count, const V& identity) {
    NanFlag<T> flag;
#pragma GCC unroll 16
    for (int i = 0; i < num_vectors; i += 2) flag.note(lanes[i], lanes[i + 1]);
    accumulate_by<typename Combine::Ordered, prefetches>(
        lanes, data, count, identity, [&](const V& x, const V& y) { flag.note(x, y); });
    return !flag.is_set();
  }

  /// The same where there was one.
  [[gnu::noinline]] static void accumulate_with_nan(V* lanes, const T* data, std::int64_t count,
                                                    const V& identity) {
    V kept[num_vectors];
#pragma GCC unroll 16
    for (int i = 0; i < num_vectors; ++i) kept[i] = lanes[i];
    accumulate_by<Combine, false>(kept, data, count, identity, [](const V&, const V&) {});
#pragma GCC unroll 16
    for (int i = 0; i < num_vectors; ++i) lanes[i] = kept[i];
  }

  /// `lanes` with `count` elements folded in, the first into lane 0.
  template <bool prefetches = false>
  [[gnu::always_inline]] static void accumulate(V (&lanes)[num_vectors], const T* data,
                                                std::int64_t count, const V& identity) {
    if constexpr (has_ordered_op) {
      V tried[num_vectors];
#pragma GCC unroll 16
      for (int i = 0; i < num_vectors; ++i) tried[i] = lanes[i];
      if (accumulate_ordered<prefetches>(tried, data, count, identity)) {
#pragma GCC unroll 16
        for (int i = 0; i < num_vectors; ++i) lanes[i] = tried[i];
        return;
      }
      accumulate_with_nan(lanes, data, count, identity);
    } else {
      accumulate_by<Combine, prefetches>(lanes, data, count, identity, [](const V&, const V&) {});
    }
  }

  /// The same in all lanes.
  [[gnu::always_inline]] static void fill(V (&lanes)[num_vectors], const V& value) {
#pragma GCC unroll 16
    for (int i = 0; i < num_vectors; ++i) lanes[i] = value;
  }
};

}  // namespace
}  // namespace weft::jit
