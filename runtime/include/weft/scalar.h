// One number of any dtype: a literal in an expression, a fill value, a kernel parameter.
#pragma once

#include <weft/dtype.h>

#include <complex>
#include <concepts>
#include <cstdint>
#include <string>

namespace [[gnu::visibility("default")]] weft {

/// The bytes of one element, little endian, unused bytes zero.  Holds any dtype up to c128.
struct Bits {
  std::uint64_t lo = 0;
  std::uint64_t hi = 0;
  friend constexpr bool operator==(Bits, Bits) = default;
};

/// A number without a tensor, which takes part in promotion as PyTorch's wrapped scalars do: only
/// its category (bool < int < float < complex) counts against tensors.
class Scalar {
 public:
  enum class Kind : std::uint8_t { boolean, integer, floating, complex };

  constexpr Scalar() = default;
  constexpr Scalar(bool value) : kind_(Kind::boolean), integer_(value) {}
  template <std::integral T>
  requires(!std::same_as<T, bool>) constexpr Scalar(T value)
      : kind_(Kind::integer),
        is_unsigned_(std::unsigned_integral<T>),
        integer_(static_cast<std::int64_t>(value)) {}
  constexpr Scalar(double value) : kind_(Kind::floating), real_(value) {}
  constexpr Scalar(float value) : kind_(Kind::floating), real_(value) {}
  constexpr Scalar(std::complex<double> value)
      : kind_(Kind::complex), real_(value.real()), imag_(value.imag()) {}

  constexpr Kind kind() const { return kind_; }
  /// The dtype that PyTorch gives the bare number: bool, i64, f32 (default dtype), c64.
  constexpr DType dtype() const {
    switch (kind_) {
      case Kind::boolean: return DType::boolean;
      case Kind::integer: return DType::i64;
      case Kind::floating: return DType::f32;
      case Kind::complex: return DType::c64;
    }
    __builtin_unreachable();
  }
  /// The element of `dtype` nearest to this number, by the conversions of weft/convert.h.
  Bits bits(DType dtype) const;
  std::complex<double> as_complex() const;
  double as_double() const { return as_complex().real(); }
  std::int64_t as_integer() const;
  /// As the expression parser reads it back, up to the signs of zeros in complex numbers: `true`,
  /// `3`, `0.5`, `2.0j`.
  std::string text() const;
  friend constexpr bool operator==(const Scalar&, const Scalar&) = default;

 private:
  Kind kind_ = Kind::integer;
  bool is_unsigned_ = false;  ///< integer_ holds the bits of a u64
  std::int64_t integer_ = 0;
  double real_ = 0;
  double imag_ = 0;
};

}  // namespace weft
