// From a run-time dtype to the C++ type of elements that have an order.  For files that are
// compiled once an instruction set, hence with internal linkage.
#pragma once

#include <weft/dtype.h>

#include <cstdint>
#include <type_traits>

namespace weft::jit {
namespace {

/// `function(std::type_identity<T>)`; an empty result for a dtype that has no order.
template <class Function>
constexpr auto visit_ordered(DType dtype, const Function& function) {
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

}  // namespace
}  // namespace weft::jit
