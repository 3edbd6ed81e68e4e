#include "jit/fold/block_scan.h"

#include "jit/fold/scans.h"

#include <cstring>

namespace weft::jit {
namespace {

using Slot = BlockScan::Kept;

template <class K>
Slot slot_of(K value) {
  static_assert(sizeof(K) == sizeof(Slot));
  Slot slot;
  std::memcpy(&slot, &value, sizeof slot);
  return slot;
}
template <class K>
K value_of(Slot slot) {
  K value;
  std::memcpy(&value, &slot, sizeof value);
  return value;
}

template <class T, class Combine>
struct BlockLoops {
  using K = typename Kept<T>::type;

  template <std::int64_t together>
  static void total_some(Slot* totals, const ScanOperand& from, std::int64_t count) {
    K kept[together];  // NOLINT: as in jit/fold/scans.h
    for (K& value : kept) value = identity();
    const std::byte* in = from.data;
    for (std::int64_t i = 0; i < count; ++i, in += from.stride_bytes)
      for (std::int64_t block = 0; block < together; ++block)
        kept[block] = Combine::of(kept[block],
                                  *reinterpret_cast<const T*>(in + block * from.row_stride_bytes));
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
        kept[block] = Combine::of(kept[block],
                                  *reinterpret_cast<const T*>(in + block * from.row_stride_bytes));
        *reinterpret_cast<T*>(out + block * to.row_stride_bytes) = static_cast<T>(kept[block]);
      }
  }

  static K identity() { return K(std::is_same_v<Combine, Sum> ? 0 : 1); }

  static void totals(Slot* totals, const ScanOperand& from, std::int64_t num_blocks,
                     std::int64_t count) {
    ScanOperand at = from;
    std::int64_t block = 0;
    for (; block + scan_blocks_together <= num_blocks; block += scan_blocks_together) {
      total_some<scan_blocks_together>(totals + block, at, count);
      at.data += scan_blocks_together * from.row_stride_bytes;
    }
    for (; block < num_blocks; ++block, at.data += from.row_stride_bytes)
      total_some<1>(totals + block, at, count);
  }

  static void run(const Slot* before, const ScanOperand& to, const ScanOperand& from,
                  std::int64_t num_blocks, std::int64_t count) {
    ScanOperand in = from, out = to;
    std::int64_t block = 0;
    for (; block + scan_blocks_together <= num_blocks; block += scan_blocks_together) {
      run_some<scan_blocks_together>(before + block, out, in, count);
      in.data += scan_blocks_together * from.row_stride_bytes;
      out.data += scan_blocks_together * to.row_stride_bytes;
    }
    for (; block < num_blocks; ++block) {
      run_some<1>(before + block, out, in, count);
      in.data += from.row_stride_bytes;
      out.data += to.row_stride_bytes;
    }
  }

  static Slot combine(Slot a, Slot b) {
    return slot_of<K>(Combine::of(value_of<K>(a), value_of<K>(b)));
  }

  static BlockScan table() { return {slot_of<K>(identity()), &totals, &run, &combine}; }
};

}  // namespace

BlockScan block_scan(Op op, DType dtype) {
  const auto arithmetic = [&]<class T>(std::type_identity<T>) -> BlockScan {
    return op == Op::add ? BlockLoops<T, Sum>::table() : BlockLoops<T, Product>::table();
  };
  if (op != Op::add && op != Op::mul) return {};
  switch (dtype) {
    case DType::i64: return arithmetic(std::type_identity<std::int64_t>{});
    case DType::f32: return arithmetic(std::type_identity<float>{});
    case DType::f64: return arithmetic(std::type_identity<double>{});
    default: return {};
  }
}

}  // namespace weft::jit
