// Element types: the enum, what is known of each, and the way from a run-time DType to a C++ type.
#pragma once

#include <weft/small_float.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace [[gnu::visibility("default")]] weft {

// GCC warns of enumerators that are called as types are, c64 and c128.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
enum class DType : std::uint8_t {
#define WEFT_DTYPE(enumerator, text, type, category, is_signed) enumerator,
#include <weft/dtypes.def>
#undef WEFT_DTYPE
};
#pragma GCC diagnostic pop

enum class Category : std::uint8_t { boolean, integer, floating, complex };

struct DTypeInfo {
  std::string_view name;
  std::size_t itemsize_bytes;
  Category category;
  bool is_signed;
};

inline constexpr auto dtype_table = std::to_array<DTypeInfo>({
#define WEFT_DTYPE(enumerator, text, type, category, is_signed) \
  {text, sizeof(type), Category::category, is_signed},
#include <weft/dtypes.def>
#undef WEFT_DTYPE
});
inline constexpr std::size_t num_dtypes = dtype_table.size();

/// All dtypes in table order, for loops over them.
inline constexpr auto all_dtypes = std::to_array<DType>({
#define WEFT_DTYPE(enumerator, text, type, category, is_signed) DType::enumerator,
#include <weft/dtypes.def>
#undef WEFT_DTYPE
});

constexpr const DTypeInfo& info(DType dtype) {
  return dtype_table[static_cast<std::size_t>(dtype)];
}
constexpr std::string_view name(DType dtype) { return info(dtype).name; }
constexpr std::size_t itemsize_bytes(DType dtype) { return info(dtype).itemsize_bytes; }
constexpr Category category(DType dtype) { return info(dtype).category; }
constexpr bool is_boolean(DType dtype) { return category(dtype) == Category::boolean; }
constexpr bool is_integer(DType dtype) { return category(dtype) == Category::integer; }
/// Integer or boolean, as PyTorch's isIntegralType(t, /*includeBool=*/true).
constexpr bool is_integral(DType dtype) { return is_integer(dtype) || is_boolean(dtype); }
constexpr bool is_floating(DType dtype) { return category(dtype) == Category::floating; }
constexpr bool is_complex(DType dtype) { return category(dtype) == Category::complex; }
constexpr bool is_signed(DType dtype) { return info(dtype).is_signed; }
/// The floating types that are stored in 16 bits or fewer and computed with in f32.
constexpr bool is_small_float(DType dtype) {
  return is_floating(dtype) && itemsize_bytes(dtype) < 4;
}

/// The real dtype of a complex one's parts (c64 -> f32); any other dtype is returned as it is.
constexpr DType real_dtype(DType dtype) {
  switch (dtype) {
    case DType::c32: return DType::f16;
    case DType::c64: return DType::f32;
    case DType::c128: return DType::f64;
    default: return dtype;
  }
}

/// The dtype in which arithmetic of one takes place: f32 of small floats, and c64 of two f16.
constexpr DType wide_dtype(DType dtype) {
  if (dtype == DType::c32) return DType::c64;
  return is_small_float(dtype) ? DType::f32 : dtype;
}

/// The signed integer of 1, 2, 4 or 8 bytes.
constexpr DType signed_of_size(std::size_t size_bytes) {
  switch (size_bytes) {
    case 1: return DType::i8;
    case 2: return DType::i16;
    case 4: return DType::i32;
    default: return DType::i64;
  }
}

/// The largest finite number of a real floating dtype; of f64 for any other.
double largest_finite(DType dtype);

/// The dtype with this name, if there is one.
std::optional<DType> parse_dtype(std::string_view text);

template <class T>
struct dtype_of_t;
#define WEFT_DTYPE(enumerator, text, type, category, is_signed) \
  template <>                                                   \
  struct dtype_of_t<type> {                                     \
    static constexpr DType value = DType::enumerator;           \
  };
#include <weft/dtypes.def>
#undef WEFT_DTYPE
/// The DType that stores elements of the C++ type `T`.
template <class T>
inline constexpr DType dtype_of = dtype_of_t<std::remove_cv_t<T>>::value;

/// Calls `function(std::type_identity<T>{})` with the C++ type that stores `dtype`.
template <class Function>
constexpr decltype(auto) visit_dtype(DType dtype, Function&& function) {
  switch (dtype) {
#define WEFT_DTYPE(enumerator, text, type, category, is_signed) \
  case DType::enumerator:                                       \
    return function(std::type_identity<type>{});
#include <weft/dtypes.def>
#undef WEFT_DTYPE
  }
  __builtin_unreachable();
}

}  // namespace weft
