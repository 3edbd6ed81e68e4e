// Calls of kernels on memory that ends where it must, with elements at which operators change
// their behaviour.
#pragma once

#include "ir/kernel.h"
#include "jit/code_object.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <vector>

namespace weft::jit::test {

/// Bytes between two pages that cannot be touched, against the upper or the lower one.  What is
/// left of their pages on the other side is filled with a pattern.
class GuardedBytes {
 public:
  enum class Side { upper, lower };

  GuardedBytes(std::size_t size_bytes, Side side);
  ~GuardedBytes();
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;
  std::byte* data() const { return data_; }
  /// Where the pattern is another now, from the first of the bytes on; nothing if nowhere.
  std::optional<std::ptrdiff_t> damage() const;

 private:
  std::byte* mapping_;
  std::size_t mapping_bytes_;
  std::byte* data_;
  std::size_t size_bytes_;
};

/// Both sides, one after the other.
inline constexpr GuardedBytes::Side both_sides[] = {GuardedBytes::Side::upper,
                                                    GuardedBytes::Side::lower};

/// One array of an operand's elements, strided as the loops say.
struct OperandData {
  std::vector<std::int64_t> stride_bytes;  ///< one a loop
  std::vector<std::byte> bytes;  ///< from the lowest address to the end of the highest element
  std::size_t first = 0;         ///< offset of the element at index 0
  /// Of ir::Role::place, which has no bytes: the address that it begins at.
  std::uint64_t place_address = 0;
};

/// Everything a call needs.
struct Call {
  std::vector<std::int64_t> extents;
  std::vector<OperandData> operands;
  std::vector<Bits> params;
};

/// Random elements, with many of the values at which operators change their behaviour.
void fill_with_samples(std::vector<std::byte>& bytes, DType dtype, std::mt19937_64& random);

/// Random elements that a sum of many shows: few of them are infinite or NaN.
void fill_with_ordinary(std::vector<std::byte>& bytes, DType dtype, std::mt19937_64& random);

/// A call of `kernel`, on ordinary elements if it reduces.  Where an operand's class is stride_any,
/// its stride is 5 or -3 items; outer loops get strides that keep rows apart, out of order.
Call make_call(const ir::Kernel& kernel, const std::vector<std::int64_t>& extents,
               std::mt19937_64& random);

/// The same with these strides, one vector an operand.
Call make_call(const ir::Kernel& kernel, const std::vector<std::int64_t>& extents,
               const std::vector<std::vector<std::int64_t>>& stride_bytes, std::mt19937_64& random);

/// Whether an element of a real dtype is a NaN.
bool is_nan_element(const std::byte* bytes, DType dtype);
/// Whether elements have the same bits, part by part for complex numbers; a NaN is any NaN.
bool same_elements(std::span<const std::byte> a, std::span<const std::byte> b, DType dtype);

/// Runs a copy of the call on guarded memory; returns the operands' bytes afterwards.
/// Errors: InternalError if something was written outside of them.
std::vector<std::vector<std::byte>> run(const CodeObject& code, const Call& call,
                                        GuardedBytes::Side side);

}  // namespace weft::jit::test
