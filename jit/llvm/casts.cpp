// Casts, with the results of weft/convert.h.

#include "jit/llvm/operators.h"

#include "jit/llvm/support.h"

#include <weft/error.h>

#include <llvm/IR/IntrinsicsX86.h>

#include <cmath>

namespace weft::jit {
namespace {

/// An x86 instruction that truncates and gives the smallest integer for what does not fit: what
/// weft/convert.h wants, where LLVM's own fptosi gives poison.
struct Truncation {
  DType from;
  DType to;
  int lanes;
  llvm::Intrinsic::ID intrinsic;
  bool is_avx512;  ///< takes a mask and a rounding mode
};

constexpr Truncation truncations[] = {
    {DType::f32, DType::i32, 4, llvm::Intrinsic::x86_sse2_cvttps2dq, false},
    {DType::f32, DType::i32, 8, llvm::Intrinsic::x86_avx_cvtt_ps2dq_256, false},
    {DType::f32, DType::i32, 16, llvm::Intrinsic::x86_avx512_mask_cvttps2dq_512, true},
    {DType::f64, DType::i32, 4, llvm::Intrinsic::x86_avx_cvtt_pd2dq_256, false},
    {DType::f64, DType::i32, 8, llvm::Intrinsic::x86_avx512_mask_cvttpd2dq_512, true},
    {DType::f32, DType::i64, 8, llvm::Intrinsic::x86_avx512_mask_cvttps2qq_512, true},
    {DType::f64, DType::i64, 8, llvm::Intrinsic::x86_avx512_mask_cvttpd2qq_512, true},
};

llvm::Value* call_truncation(Builder& builder, const Truncation& row, llvm::Value* value) {
  if (!row.is_avx512) return builder.CreateIntrinsic(row.intrinsic, {}, {value});
  constexpr int current_direction = 4;
  llvm::Value* passthru = builder.integer(builder.value_type(row.to), 0);
  llvm::Value* all_lanes =
      llvm::Constant::getAllOnesValue(builder.getIntNTy(static_cast<unsigned>(row.lanes)));
  return builder.CreateIntrinsic(row.intrinsic, {},
                                 {value, passthru, all_lanes, builder.getInt32(current_direction)});
}

/// To i32 or i64.  What does not fit, and NaN, is the smallest integer.
llvm::Value* truncate(Builder& builder, llvm::Value* value, DType from, DType to) {
  for (const Truncation& row : truncations)
    if (row.from == from && row.to == to && row.lanes == builder.lanes() &&
        (!row.is_avx512 || builder.has_avx512()))
      return call_truncation(builder, row, value);
  const double lowest = std::ldexp(-1.0, to == DType::i32 ? 31 : 63);
  llvm::Type* type = value->getType();
  // An f64 has numbers between -2^31 - 1 and -2^31, which truncate to -2^31; the other pairs have
  // none.
  llvm::Value* is_above = from == DType::f64 && to == DType::i32
                              ? builder.CreateFCmpOGT(value, builder.real(type, lowest - 1))
                              : builder.CreateFCmpOGE(value, builder.real(type, lowest));
  llvm::Value* is_below = builder.CreateFCmpOLT(value, builder.real(type, -lowest));
  llvm::Value* safe = builder.CreateSelect(builder.CreateAnd(is_above, is_below), value,
                                           builder.real(type, lowest));
  return builder.CreateFPToSI(safe, builder.value_type(to));
}

/// Modulo 2^64 in [-2^63, 2^64); 2^63 otherwise.
llvm::Value* truncate_to_u64(Builder& builder, llvm::Value* value, DType from) {
  llvm::Type* type = value->getType();
  llvm::Value* two_to_63 = builder.real(type, std::ldexp(1.0, 63));
  llvm::Value* is_upper =
      builder.CreateAnd(builder.CreateFCmpOGE(value, two_to_63),
                        builder.CreateFCmpOLT(value, builder.real(type, std::ldexp(1.0, 64))));
  llvm::Value* lowered =
      builder.CreateSelect(is_upper, builder.CreateFSub(value, two_to_63), value);
  llvm::Value* low = truncate(builder, lowered, from, DType::i64);
  llvm::Value* bit = builder.integer(low->getType(), std::uint64_t{1} << 63);
  return builder.CreateSelect(is_upper, builder.CreateAdd(low, bit), low);
}

llvm::Value* float_to_integer(Builder& builder, llvm::Value* value, DType from, DType to) {
  if (to == DType::u64) return truncate_to_u64(builder, value, from);
  const bool through_i64 = itemsize_bytes(to) == 8 || to == DType::u32;
  llvm::Value* integer = truncate(builder, value, from, through_i64 ? DType::i64 : DType::i32);
  return builder.CreateTrunc(integer, builder.value_type(to));
}

llvm::Value* from_f16(Builder& builder, llvm::Value* value) {
  llvm::Value* half = builder.CreateBitCast(value, builder.wide(builder.getHalfTy()));
  return builder.CreateFPExt(half, builder.value_type(DType::f32));
}

llvm::Value* to_f16(Builder& builder, llvm::Value* value) {
  llvm::Value* half = builder.CreateFPTrunc(value, builder.wide(builder.getHalfTy()));
  // Conversions that store their result take twice as long as those that leave it in a register.
  return keep_in_register(builder, builder.CreateBitCast(half, builder.value_type(DType::f16)));
}

bool is_wide_float(DType dtype) { return dtype == DType::f32 || dtype == DType::f64; }

}  // namespace

llvm::Value* emit_cast(Builder& builder, llvm::Value* value, DType from, DType to) {
  WEFT_ASSERT(has_cast(from, to), name(from), " to ", name(to));
  if (from == to) return value;
  if (from == DType::f16) return emit_cast(builder, from_f16(builder, value), DType::f32, to);
  if (to == DType::f16) return to_f16(builder, emit_cast(builder, value, from, DType::f32));
  llvm::Type* type = builder.value_type(to);
  if (is_wide_float(from)) {
    if (is_boolean(to)) return builder.CreateFCmpUNE(value, builder.real(value->getType(), 0));
    if (is_wide_float(to)) return builder.CreateFPCast(value, type);
    return float_to_integer(builder, value, from, to);
  }
  if (is_boolean(to)) return builder.CreateICmpNE(value, builder.integer(value->getType(), 0));
  if (is_wide_float(to))
    return is_signed(from) ? builder.CreateSIToFP(value, type) : builder.CreateUIToFP(value, type);
  return builder.CreateIntCast(value, type, is_signed(from));
}

}  // namespace weft::jit
