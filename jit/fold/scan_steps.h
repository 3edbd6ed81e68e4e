// Looks at a token from within a row.  Like jit/fold/scans.h this is compiled once an instruction
// set: everything has internal linkage and no function of the standard library is used.
#pragma once

#include "jit/fold/scan.h"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace weft {
class CancellationToken;
}

namespace weft::jit {

/// Whether what is left of a scan is to be left undone; without a token never, which a loop that
/// knew it would be compiled for a second time.
bool is_scan_cancelled(const CancellationToken* token);

namespace {

/// After as many elements a scan looks at its token: some tens of microseconds.
constexpr std::int64_t elements_a_look = std::int64_t{1} << 16;

/// An element that need not be aligned.
template <class T>
struct [[gnu::packed]] Unaligned {
  T value;
};
template <class T>
[[gnu::always_inline]] inline T element_at(const T* from) {
  return reinterpret_cast<const Unaligned<T>*>(from)->value;
}
template <class T>
[[gnu::always_inline]] inline void put_at(T* to, std::type_identity_t<T> x) {
  reinterpret_cast<Unaligned<T>*>(to)->value = x;
}

/// Element `i` of a row.
template <class T>
T* at(const ScanOperand& operand, std::int64_t row, std::int64_t i) {
  return reinterpret_cast<T*>(operand.data + row * operand.row_stride_bytes +
                              i * operand.stride_bytes);
}

/// What is kept of the rows of `parts`, from row number `first` on.
template <class K>
K* kept_from(const ScanParts& parts, std::int64_t first) {
  static_assert(sizeof(K) <= ScanParts::bytes_a_row);
  return reinterpret_cast<K*>(parts.kept) + first;
}

/// Where what is kept of a row lies; null if rows are whole.
inline std::byte* slot_of(const ScanParts& parts, std::int64_t row) {
  return parts.kept == nullptr ? nullptr : parts.kept + row * ScanParts::bytes_a_row;
}
/// Takes up what is kept of a row.
template <class K>
void resume(K& kept, const ScanParts& parts, std::int64_t row) {
  static_assert(sizeof kept <= ScanParts::bytes_a_row);
  if (!parts.is_first) __builtin_memcpy(&kept, slot_of(parts, row), sizeof kept);
}
template <class K>
void keep(const K& kept, const ScanParts& parts, std::int64_t row) {
  if (parts.kept != nullptr) __builtin_memcpy(slot_of(parts, row), &kept, sizeof kept);
}

/// Calls `function(i)` for begin <= i < count, with a look after each `step` calls; whether it came
/// to the end.
template <class Function>
[[gnu::always_inline]] inline bool for_each_step(std::int64_t begin, std::int64_t count,
                                                 std::int64_t step, const CancellationToken* token,
                                                 const Function& function) {
  while (begin < count) {
    const std::int64_t left = count - begin;
    const std::int64_t end = begin + (left < step ? left : step);  // one loop for both
    for (; begin < end; ++begin) function(begin);
    if (begin < count && is_scan_cancelled(token)) return false;
  }
  return true;
}

}  // namespace
}  // namespace weft::jit
