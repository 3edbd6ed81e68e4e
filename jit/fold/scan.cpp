#include "jit/fold/scan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
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
template <>
struct Kept<std::complex<float>> {
  using type = std::complex<double>;
};

struct Add {
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
struct Mul {
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
struct Max {
  template <class T>
  static T of(T x, T y) {
    return x > y || x != x ? x : y;
  }
};
struct Min {
  template <class T>
  static T of(T x, T y) {
    return x < y || x != x ? x : y;
  }
};

template <class T>
const T& read(const ScanOperand& from, std::int64_t row, std::int64_t i) {
  return *reinterpret_cast<const T*>(from.data + row * from.row_stride_bytes +
                                     i * from.stride_bytes);
}
template <class T>
T& written(const ScanOperand& to, std::int64_t row, std::int64_t i) {
  return *reinterpret_cast<T*>(to.data + row * to.row_stride_bytes + i * to.stride_bytes);
}

/// Rows that are scanned together: the elements of a row wait for one another, those of several
/// don't.
constexpr std::int64_t rows_together = 8;
/// Where rows are neighbours in memory: as many as stay in the first cache.
constexpr std::int64_t neighbours_together = 1024;

template <class T, class Combine, bool are_neighbours>
void scan_rows(const ScanOperand& to, const ScanOperand& from, std::int64_t num_rows,
               std::int64_t count) {
  constexpr std::int64_t together = are_neighbours ? neighbours_together : rows_together;
  using K = std::conditional_t<std::is_same_v<Combine, Max> || std::is_same_v<Combine, Min>, T,
                               typename Kept<T>::type>;
  std::array<K, together> kept;
  for (std::int64_t first = 0; first < num_rows; first += together) {
    const std::int64_t rows = std::min(together, num_rows - first);
    ScanOperand in = from, out = to;
    in.data += first * from.row_stride_bytes;
    out.data += first * to.row_stride_bytes;
    if constexpr (are_neighbours)
      in.row_stride_bytes = out.row_stride_bytes = static_cast<std::int64_t>(sizeof(T));
    const auto run = [&](std::int64_t num) {
      for (std::int64_t row = 0; row < num; ++row) {
        const T& x = read<T>(in, row, 0);
        kept[static_cast<std::size_t>(row)] = static_cast<K>(x);
        written<T>(out, row, 0) = x;
      }
      for (std::int64_t i = 1; i < count; ++i)
        for (std::int64_t row = 0; row < num; ++row) {
          K& sum = kept[static_cast<std::size_t>(row)];
          sum = Combine::of(sum, read<T>(in, row, i));
          written<T>(out, row, i) = static_cast<T>(sum);
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

/// By the op's row of the table, element by element.
void run_plain(const Scan& scan, const ScanOperand& to, const ScanOperand& from,
               std::int64_t num_rows, std::int64_t count) {
  const std::size_t itemsize = itemsize_bytes(scan.dtype);
  for (std::int64_t row = 0; row < num_rows; ++row) {
    std::byte* out = to.data + row * to.row_stride_bytes;
    const std::byte* in = from.data + row * from.row_stride_bytes;
    std::memcpy(out, in, itemsize);
    for (std::int64_t i = 1; i < count; ++i) {
      const std::byte* const before = out;
      out += to.stride_bytes;
      in += from.stride_bytes;
      const void* const args[] = {before, in};
      scan.combine(out, args, 1);
    }
  }
}

template <class T, bool is_maximum>
void run_places(const ScanOperand& to, const ScanOperand& from, std::int64_t num_rows,
                std::int64_t count, std::int64_t first, std::int64_t step) {
  for (std::int64_t row = 0; row < num_rows; ++row) {
    T best = read<T>(from, row, 0);
    std::int64_t place = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const T x = read<T>(from, row, i);
      const bool is_later = is_maximum ? x >= best : x <= best;
      if (x != x || is_later) {
        best = x;
        place = i;
      }
      written<std::int64_t>(to, row, i) = first + place * step;
    }
  }
}

/// Null for a dtype that has no order.
template <class Function>
auto visit_ordered(DType dtype, const Function& function) {
  switch (dtype) {
    case DType::boolean:
    case DType::u8: return function(std::type_identity<std::uint8_t>{});
    case DType::u16: return function(std::type_identity<std::uint16_t>{});
    case DType::u32: return function(std::type_identity<std::uint32_t>{});
    case DType::u64: return function(std::type_identity<std::uint64_t>{});
    case DType::i8: return function(std::type_identity<std::int8_t>{});
    case DType::i16: return function(std::type_identity<std::int16_t>{});
    case DType::i32: return function(std::type_identity<std::int32_t>{});
    case DType::i64: return function(std::type_identity<std::int64_t>{});
    case DType::f32: return function(std::type_identity<float>{});
    case DType::f64: return function(std::type_identity<double>{});
    default: return decltype(function(std::type_identity<float>{}))();
  }
}

decltype(Scan::run) find_scan(Op op, DType dtype) {
  using Run = decltype(Scan::run);
  if (op == Op::maximum || op == Op::minimum)
    return visit_ordered(dtype, [&]<class T>(std::type_identity<T>) -> Run {
      return op == Op::maximum ? &run_scan<T, Max> : &run_scan<T, Min>;
    });
  const auto arithmetic = [&]<class T>(std::type_identity<T>) -> Run {
    return op == Op::add ? &run_scan<T, Add> : &run_scan<T, Mul>;
  };
  if (op != Op::add && op != Op::mul) return nullptr;
  switch (dtype) {
    case DType::i64: return arithmetic(std::type_identity<std::int64_t>{});
    case DType::f32: return arithmetic(std::type_identity<float>{});
    case DType::f64: return arithmetic(std::type_identity<double>{});
    case DType::c64: return arithmetic(std::type_identity<std::complex<float>>{});
    case DType::c128: return arithmetic(std::type_identity<std::complex<double>>{});
    default: return nullptr;
  }
}

}  // namespace

Scan make_scan(Op op, DType dtype) {
  Scan scan{op, dtype, ir::block_function(op, dtype), find_scan(op, dtype)};
  if (scan.run == nullptr) scan.run = run_plain;
  return scan;
}

PlaceScan make_place_scan(Op op, DType dtype) {
  return visit_ordered(dtype, [&]<class T>(std::type_identity<T>) -> PlaceScan {
    return op == Op::maximum ? &run_places<T, true> : &run_places<T, false>;
  });
}

}  // namespace weft::jit
