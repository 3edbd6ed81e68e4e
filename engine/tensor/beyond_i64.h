// Integers that u64 alone can hold.
#pragma once

#include <weft/scalar.h>

namespace weft {

/// Whether a number is an integer from 2^63 on, which u64 alone can hold.
inline bool is_beyond_i64(const Scalar& number) {
  return number.kind() == Scalar::Kind::integer && number.as_integer() < 0 &&
         number.as_double() > 0;
}

}  // namespace weft
