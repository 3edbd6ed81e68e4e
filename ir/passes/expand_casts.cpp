// Casts to and from small floats, from f64 to u8, and from complex to real numbers, rebuilt from
// what machines have: arithmetic, and casts between f32, f64 and integers.  f16 to and from f32
// stays: processors have had that since 2012. The results are those of weft/convert.h, bit for bit.
#include "ir/pass.h"
#include "ir/passes/rewrite.h"

#include <algorithm>

namespace weft::ir {
namespace {

/// The layout of an 8-bit float below its sign.
struct Format {
  int fraction_bits;
  int bias;
  std::uint32_t special;  ///< magnitude of infinity, or of NaN where there is no infinity
};

constexpr Format f8e5m2_format{2, 15, 0x7c};
constexpr Format f8e4m3fn_format{3, 7, 0x7f};

class CastExpander {
 public:
  explicit CastExpander(Builder& builder) : builder_(builder) {}

  Value expand(const Value& value, DType to) {
    const DType from = value.dtype;
    // The imaginary part is dropped; machines take numbers apart more easily than they convert.
    if ((from == DType::c64 || from == DType::c128) && !is_complex(to)) {
      const Value real = builder_.apply(Op::real, {value});
      return real.dtype == to ? real : expand(real, to);
    }
    if (is_complex(from) || is_complex(to) || from == to) return plain(value, to);
    if (is_small_float(from)) return to == DType::f32 ? widen(value) : expand(widen(value), to);
    if (from == DType::f64 && to == DType::u8) return low_byte(value);
    if (!is_small_float(to)) return plain(value, to);
    if (is_integral(from)) return from_integer(value, to);
    return narrow(from == DType::f64 ? round_to_odd(value) : value, to);
  }

 private:
  Value plain(const Value& value, DType to) {
    return builder_.append(
        {.op = Op::cast, .dtype = to, .args = {value.id, no_value, no_value, no_value}});
  }
  Value u32(std::uint32_t bits) { return builder_.constant(DType::u32, Bits{bits, 0}); }
  Value f32(std::uint32_t bits) { return builder_.constant(DType::f32, Bits{bits, 0}); }
  Value as_u32(const Value& value) { return builder_.bitcast(value, DType::u32); }

  /// Any small float as f32, exactly.
  Value widen(const Value& value) {
    if (value.dtype == DType::f16) return plain(value, DType::f32);
    if (value.dtype == DType::f8e5m2) {
      // It is the upper half of an f16.
      const Value upper = plain(builder_.bitcast(value, DType::u8), DType::u16);
      const Value half = builder_.bitcast(upper << builder_.constant(DType::u16, 8.0), DType::f16);
      return plain(half, DType::f32);
    }
    const DType bits_dtype = value.dtype == DType::bf16 ? DType::u16 : DType::u8;
    const Value bits = plain(builder_.bitcast(value, bits_dtype), DType::u32);
    if (value.dtype == DType::bf16) return builder_.bitcast(bits << u32(16), DType::f32);
    // f8e4m3fn: the fields moved into place are off by a factor of 2^120, also for subnormals.
    const Value magnitude = bits & u32(0x7f);
    const Value number =
        builder_.bitcast(magnitude << u32(20), DType::f32) * f32((127 + 120) << 23);
    const Value finite_or_nan = select(magnitude == u32(0x7f), u32(0x7ff00000), as_u32(number));
    return builder_.bitcast(((bits & u32(0x80)) << u32(24)) | finite_or_nan, DType::f32);
  }

  /// f32 to a small float: rounds to nearest even.  The steps are those of convert.h.
  Value narrow(const Value& value, DType to) {
    if (to == DType::f16) return plain(value, to);
    if (to == DType::bf16) return narrow_to_bf16(value);
    const Format& format = to == DType::f8e5m2 ? f8e5m2_format : f8e4m3fn_format;
    const auto shift = static_cast<std::uint32_t>(23 - format.fraction_bits);
    const auto rebias = static_cast<std::uint32_t>(127 - format.bias) << format.fraction_bits;
    const Value bits = as_u32(value);
    const Value magnitude = bits & u32(0x7fffffff);
    const Value odd = (magnitude >> u32(shift)) & u32(1);
    const Value rounded = (magnitude + u32((1u << (shift - 1)) - 1) + odd) >> u32(shift);
    const Value is_large = rounded >= u32(rebias + format.special);
    const Value normal = select(is_large, u32(format.special), rounded - u32(rebias));
    // Adding this number leaves the rounding of a subnormal result to the float adder.
    const std::uint32_t anchor = (static_cast<std::uint32_t>(127 - format.bias + 1) + shift) << 23;
    const std::uint32_t smallest_normal = static_cast<std::uint32_t>(127 - format.bias + 1) << 23;
    const Value subnormal =
        as_u32(builder_.bitcast(magnitude, DType::f32) + f32(anchor)) - u32(anchor);
    const Value number = select(magnitude < u32(smallest_normal), subnormal, normal);
    const Value with_sign =
        select(value != value, u32(0x7f), number) | ((bits >> u32(24)) & u32(0x80));
    return builder_.bitcast(plain(with_sign, DType::u8), to);
  }

  /// The exponents are the same, so the sign can stay where it is: no carry reaches it but a NaN's.
  Value narrow_to_bf16(const Value& value) {
    const Value bits = as_u32(value);
    const Value odd = (bits >> u32(16)) & u32(1);
    const Value rounded = select(value != value, u32(0x7fc00000), bits + u32(0x7fff) + odd);
    return builder_.bitcast(plain(rounded >> u32(16), DType::u16), DType::bf16);
  }

  /// f64 to f32 so that rounding again, to any small float, rounds as if once: keeps 14 bits, where
  /// two more than the 11 of f16 would do, and sets the last of them if anything was lost.  No more
  /// than 16, so that the subnormal numbers of f32 that are half a bf16 are exact.
  Value round_to_odd(const Value& value) {
    constexpr std::uint64_t lost_bits = (std::uint64_t{1} << (53 - 14)) - 1;
    const Value lost = builder_.constant(DType::u64, Bits{lost_bits, 0});
    const Value kept = builder_.constant(DType::u64, Bits{~lost_bits, 0});
    const Value bits = builder_.bitcast(value, DType::u64);
    const Value sticky = (bits & lost) + lost;
    return plain(builder_.bitcast((bits | sticky) & kept, DType::f64), DType::f32);
  }

  /// Of the i64 that the number is truncated to, which not every machine can do.  Every step is
  /// exact; of infinities and NaN is left the NaN that becomes 0.
  Value low_byte(const Value& value) {
    const Value number = builder_.apply(Op::trunc, {value});
    const Value upper =
        builder_.apply(Op::floor, {number * builder_.constant(DType::f64, 1.0 / 256)});
    return plain(plain(number - upper * builder_.constant(DType::f64, 256.0), DType::i32),
                 DType::u8);
  }

  Value from_integer(const Value& value, DType to) {
    const std::size_t size = itemsize_bytes(value.dtype);
    if (size <= 2) return narrow(plain(value, DType::f32), to);
    if (to != DType::bf16) {
      // From 2^16 on everything is infinite, or NaN: less than 24 bits matter.
      const Value high = builder_.constant(value.dtype, 131072.0);
      Value small = minimum(value, high);
      if (is_signed(value.dtype)) small = maximum(small, builder_.constant(value.dtype, -131072.0));
      return narrow(plain(small, DType::f32), to);
    }
    if (size == 4) return narrow(plain(gathered(value, 24, 9), DType::f32), to);
    return narrow(round_to_odd(plain(gathered(value, 53, 12), DType::f64)), to);
  }

  /// The integer itself if it has at most `exact_bits` bits, else with its last `num_lost` bits
  /// gathered in the highest of them: it then converts without rounding, and no rounding to bf16
  /// sees the difference.
  Value gathered(const Value& value, int exact_bits, int num_lost) {
    const auto constant = [&](std::uint64_t bits) {
      const std::uint64_t mask = itemsize_bytes(value.dtype) == 4 ? 0xffffffffu : ~std::uint64_t{0};
      return builder_.constant(value.dtype, Bits{bits & mask, 0});
    };
    const std::uint64_t lost = (std::uint64_t{1} << num_lost) - 1;
    const Value zero = constant(0);
    const Value sticky = select((value & constant(lost)) != zero, constant((lost + 1) / 2), zero);
    const Value shortened = (value & constant(~lost)) | sticky;
    const std::uint64_t limit = std::uint64_t{1} << exact_bits;
    const Value is_short = is_signed(value.dtype)
                               ? value <= constant(limit) && value >= constant(~limit + 1)
                               : value <= constant(limit);
    return select(is_short, value, shortened);
  }

  Builder& builder_;
};

}  // namespace

bool expand_casts(Kernel& kernel) {
  const auto is_cast = [](const Inst& inst) { return inst.op == Op::cast; };
  if (std::ranges::none_of(kernel.body, is_cast)) return false;
  return rewrite_body(
      kernel, [](Builder& builder, ValueId, const Inst& inst, std::span<const Value> args) {
        if (inst.op != Op::cast) return append_with(builder, inst, args);
        const std::size_t first = builder.body().size();
        return builder.in_order(first, CastExpander(builder).expand(args[0], inst.dtype));
      });
}

}  // namespace weft::ir
