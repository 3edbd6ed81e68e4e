#include "jit/fold/block_scan.h"

#include "jit/fold/complex_lanes.h"
#include "jit/fold/log_scan.h"
#include "jit/fold/scans.h"

#include <cstring>

namespace weft::jit {
namespace {

template <>
struct Kept<c64> {
  using type = ComplexLanes;
};
template <>
struct Kept<c128> {
  using type = ComplexLanes;
};

template <class T>
auto load(const std::byte* from) {
  if constexpr (is_complex(dtype_of<T>))
    return load_complex<T>(from);
  else
    return element_at(reinterpret_cast<const T*>(from));
}
template <class T>
void store(std::byte* to, typename Kept<T>::type x) {
  if constexpr (is_complex(dtype_of<T>))
    store_complex<T>(to, x);
  else
    put_at(reinterpret_cast<T*>(to), static_cast<T>(x));
}

using Slot = BlockScan::Kept;

template <class K>
Slot slot_of(K value) {
  static_assert(sizeof(K) <= sizeof(Slot));
  Slot slot{};
  std::memcpy(&slot, &value, sizeof value);
  return slot;
}
template <class K>
K value_of(const Slot& slot) {
  K value;
  std::memcpy(&value, &slot, sizeof value);
  return value;
}

template <class T, class Combine>
struct BlockLoops {
  using K = typename Kept<T>::type;
  static constexpr std::int64_t at_once = scan_blocks_together_of(dtype_of<T>);

  template <std::int64_t together>
  static void total_some(Slot* totals, const ScanOperand& from, std::int64_t count) {
    K kept[together];  // NOLINT: as in jit/fold/scans.h
    for (K& value : kept) value = identity();
    const std::byte* in = from.data;
    for (std::int64_t i = 0; i < count; ++i, in += from.stride_bytes)
      for (std::int64_t block = 0; block < together; ++block)
        kept[block] = Combine::of(kept[block], load<T>(in + block * from.row_stride_bytes));
    for (std::int64_t block = 0; block < together; ++block) totals[block] = slot_of(kept[block]);
  }

  template <std::int64_t together>
  static void run_some(const Slot* before, const ScanOperand& to, const ScanOperand& from,
                       std::int64_t count) {
    K kept[together];  // NOLINT: as above
    for (std::int64_t block = 0; block < together; ++block)
      kept[block] = value_of<K>(before[block]);
    const std::byte* in = from.data;
    std::byte* out = to.data;
    for (std::int64_t i = 0; i < count; ++i, in += from.stride_bytes, out += to.stride_bytes)
      for (std::int64_t block = 0; block < together; ++block) {
        kept[block] = Combine::of(kept[block], load<T>(in + block * from.row_stride_bytes));
        store<T>(out + block * to.row_stride_bytes, kept[block]);
      }
  }

  static K identity() {
    constexpr bool is_sum = std::is_same_v<Combine, Sum> || std::is_same_v<Combine, ComplexSum>;
    return K{is_sum ? 0 : 1};
  }

  static void totals(const BlockScan&, Slot* totals, const ScanOperand& from,
                     std::int64_t num_blocks, std::int64_t count) {
    ScanOperand at = from;
    std::int64_t block = 0;
    for (; block + at_once <= num_blocks; block += at_once) {
      total_some<at_once>(totals + block, at, count);
      at.data += at_once * from.row_stride_bytes;
    }
    for (; block < num_blocks; ++block, at.data += from.row_stride_bytes)
      total_some<1>(totals + block, at, count);
  }

  static void run(const BlockScan&, const Slot* before, const ScanOperand& to,
                  const ScanOperand& from, std::int64_t num_blocks, std::int64_t count) {
    ScanOperand in = from, out = to;
    std::int64_t block = 0;
    for (; block + at_once <= num_blocks; block += at_once) {
      run_some<at_once>(before + block, out, in, count);
      in.data += at_once * from.row_stride_bytes;
      out.data += at_once * to.row_stride_bytes;
    }
    for (; block < num_blocks; ++block) {
      run_some<1>(before + block, out, in, count);
      in.data += from.row_stride_bytes;
      out.data += to.row_stride_bytes;
    }
  }

  static Slot combine(const BlockScan&, const Slot& a, const Slot& b) {
    return slot_of<K>(Combine::of(value_of<K>(a), value_of<K>(b)));
  }

  static BlockScan table() { return {slot_of<K>(identity()), &totals, &run, &combine}; }
};

}  // namespace

BlockScan block_scan(Op op, DType dtype, Isa isa) {
  const auto arithmetic = [&]<class T>(std::type_identity<T>) -> BlockScan {
    constexpr bool is_pair = is_complex(dtype_of<T>);
    using Add = std::conditional_t<is_pair, ComplexSum, Sum>;
    using Multiply = std::conditional_t<is_pair, ComplexProduct, Product>;
    return op == Op::add ? BlockLoops<T, Add>::table() : BlockLoops<T, Multiply>::table();
  };
  if (op == Op::logaddexp) return log_block_scan(dtype, isa);
  if (op != Op::add && op != Op::mul) return {};
  switch (dtype) {
    case DType::i64: return arithmetic(std::type_identity<std::int64_t>{});
    case DType::f32: return arithmetic(std::type_identity<float>{});
    case DType::f64: return arithmetic(std::type_identity<double>{});
    case DType::c64: return arithmetic(std::type_identity<c64>{});
    case DType::c128: return arithmetic(std::type_identity<c128>{});
    default: return {};
  }
}

}  // namespace weft::jit
