// The loops behind jit/fold/scan.h.  Like jit/fold/loops.h this is compiled once an instruction
// set: everything has internal linkage and no function of the standard library is used.
#include "jit/fold/ordered.h"
#include "jit/fold/scan.h"

#include <type_traits>

namespace weft::jit {
namespace {

/// What partial results are kept in.
template <class T>
struct Kept {
  using type = T;
};
template <>
struct Kept<float> {
  using type = double;
};

struct Sum {
  template <class K, class T>
  static K of(K x, T y) {
    if constexpr (std::is_integral_v<K>) {
      using U = std::make_unsigned_t<K>;
      return static_cast<K>(static_cast<U>(x) + static_cast<U>(y));
    } else {
      return x + static_cast<K>(y);
    }
  }
};
struct Product {
  template <class K, class T>
  static K of(K x, T y) {
    if constexpr (std::is_integral_v<K>) {
      // In 64 bits, where promotion to int can't overflow.
      return static_cast<K>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y));
    } else {
      return x * static_cast<K>(y);
    }
  }
};
struct Larger {
  template <class T>
  static T of(T x, T y) {
    return x > y || x != x ? x : y;
  }
};
struct Smaller {
  template <class T>
  static T of(T x, T y) {
    return x < y || x != x ? x : y;
  }
};

template <class T>
T* at(const ScanOperand& operand, std::int64_t row, std::int64_t i) {
  return reinterpret_cast<T*>(operand.data + row * operand.row_stride_bytes +
                              i * operand.stride_bytes);
}

/// Rows that are scanned together: the elements of a row wait for one another, those of several
/// don't.
constexpr std::int64_t rows_together = 8;
/// Where rows are neighbours in memory: long runs, whose partial results stay in the second cache.
constexpr std::int64_t neighbours_together = 4096;

template <class T, class Combine, bool are_neighbours>
void scan_rows(const ScanOperand& to, const ScanOperand& from, std::int64_t num_rows,
               std::int64_t count) {
  constexpr std::int64_t together = are_neighbours ? neighbours_together : rows_together;
  using K = std::conditional_t<std::is_same_v<Combine, Larger> || std::is_same_v<Combine, Smaller>,
                               T, typename Kept<T>::type>;
  constexpr auto itemsize = static_cast<std::int64_t>(sizeof(T));
  K kept[together];  // NOLINT: no function of the standard library is used here
  for (std::int64_t first = 0; first < num_rows; first += together) {
    const std::int64_t rows = num_rows - first < together ? num_rows - first : together;
    ScanOperand in = from, out = to;
    in.data += first * from.row_stride_bytes;
    out.data += first * to.row_stride_bytes;
    const auto run = [&](std::int64_t num) {
      for (std::int64_t row = 0; row < num; ++row) {
        kept[row] = static_cast<K>(*at<T>(in, row, 0));
        if constexpr (std::is_same_v<Combine, Sum>) kept[row] = Sum::of(K(0), kept[row]);  // -0
        *at<T>(out, row, 0) = static_cast<T>(kept[row]);
      }
      for (std::int64_t i = 1; i < count; ++i) {
        // What is read is never what is written.
        const T* __restrict const x = at<T>(in, 0, i);
        T* __restrict const y = at<T>(out, 0, i);
        const std::int64_t x_step = in.row_stride_bytes / itemsize;
        const std::int64_t y_step = out.row_stride_bytes / itemsize;
        for (std::int64_t row = 0; row < num; ++row) {
          kept[row] = Combine::of(kept[row], x[are_neighbours ? row : row * x_step]);
          y[are_neighbours ? row : row * y_step] = static_cast<T>(kept[row]);
        }
      }
    };
    // A number of rows that is known when this is compiled keeps them in registers.
    rows == together ? run(together) : run(rows);
  }
}

template <class T, class Combine>
void run_scan(const Scan&, const ScanOperand& to, const ScanOperand& from, std::int64_t num_rows,
              std::int64_t count) {
  constexpr auto itemsize = static_cast<std::int64_t>(sizeof(T));
  if (to.row_stride_bytes == itemsize && from.row_stride_bytes == itemsize && num_rows > 1)
    return scan_rows<T, Combine, true>(to, from, num_rows, count);
  scan_rows<T, Combine, false>(to, from, num_rows, count);
}

/// Sums and products; null for what has no loops of its own.
[[maybe_unused]] Scan::Run find_scan(Op op, DType dtype) {
  const auto arithmetic = [&]<class T>(std::type_identity<T>) -> Scan::Run {
    return op == Op::add ? &run_scan<T, Sum> : &run_scan<T, Product>;
  };
  if (op != Op::add && op != Op::mul) return nullptr;
  switch (dtype) {
    case DType::i64: return arithmetic(std::type_identity<std::int64_t>{});
    case DType::f32: return arithmetic(std::type_identity<float>{});
    case DType::f64: return arithmetic(std::type_identity<double>{});
    default: return nullptr;
  }
}

}  // namespace
}  // namespace weft::jit
