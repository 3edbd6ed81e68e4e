// One instruction where a whole AVX-512 register is meant, else integer arithmetic.
#include "jit/llvm/float_parts.h"

#include "ir/tables.h"

#include <weft/error.h>

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <limits>
#include <span>
#include <vector>

namespace weft::jit {
namespace {

using Args = std::span<llvm::Value* const>;

constexpr std::uint64_t one_bits = 0x3f800000;

/// A masked AVX-512 instruction on a whole register, with no lane masked, rounding as usual.
llvm::Value* instruction(Builder& builder, llvm::Intrinsic::ID id, Args args, int immediate = -1) {
  constexpr int current_rounding = 4;
  std::vector<llvm::Value*> all(args.begin(), args.end());
  if (immediate >= 0) all.push_back(builder.getInt32(static_cast<std::uint32_t>(immediate)));
  all.push_back(llvm::PoisonValue::get(args[0]->getType()));
  const bool is_double = args[0]->getType()->getScalarType()->isDoubleTy();
  all.push_back(is_double ? builder.getInt8(0xff) : builder.getInt16(0xffff));
  all.push_back(builder.getInt32(current_rounding));
  return builder.CreateIntrinsic(id, {}, all);
}

llvm::Type* integers(Builder& builder) { return builder.wide(builder.getInt32Ty()); }
llvm::Type* floats(Builder& builder) { return builder.wide(builder.getFloatTy()); }

llvm::Value* bits_of(Builder& builder, llvm::Value* value) {
  return builder.CreateBitCast(value, integers(builder));
}
llvm::Value* from_bits(Builder& builder, llvm::Value* bits) {
  return builder.CreateBitCast(bits, floats(builder));
}

/// 2^n for whole numbers n, i32, as numbers of `type`.
llvm::Value* power_of_two(Builder& builder, llvm::Value* n, llvm::Type* type) {
  const bool is_double = type->getScalarType()->isDoubleTy();
  llvm::Type* integer = is_double ? builder.wide(builder.getInt64Ty()) : n->getType();
  const std::uint64_t one = is_double ? 0x3ff0000000000000 : one_bits;
  llvm::Value* shifted = builder.CreateShl(builder.CreateSExt(n, integer),
                                           builder.integer(integer, is_double ? 52 : 23));
  return builder.CreateBitCast(builder.CreateAdd(shifted, builder.integer(integer, one)), type);
}

/// In two steps, because 2^power may be subnormal or too large.  What the conversion makes of a NaN
/// does not matter, as x is one, too: it is frozen, lest it be poison.
llvm::Value* scaled(Builder& builder, llvm::Value* x, llvm::Value* power) {
  llvm::Type* type = integers(builder);
  llvm::Value* n = builder.CreateFreeze(builder.CreateFPToSI(power, type));
  llvm::Value* half = builder.CreateAShr(n, builder.integer(type, 1));
  llvm::Value* rest = builder.CreateSub(n, half);
  llvm::Value* first = builder.CreateFMul(x, power_of_two(builder, rest, x->getType()));
  return builder.CreateFMul(first, power_of_two(builder, half, x->getType()));
}

/// A number times 2^23 where it is subnormal, and where that is.
struct Normal {
  llvm::Value *value, *is_small;
};
Normal made_normal(Builder& builder, llvm::Value* value) {
  llvm::Type* type = value->getType();
  llvm::Value* is_small = builder.CreateFCmpOLT(value, builder.real(type, 0x1p-126));
  llvm::Value* larger = builder.CreateFMul(value, builder.real(type, 0x1p23));
  return {builder.CreateSelect(is_small, larger, value), is_small};
}

llvm::Value* exponent(Builder& builder, llvm::Value* x) {
  llvm::Type* type = x->getType();
  llvm::Type* integer = integers(builder);
  const double infinity = std::numeric_limits<double>::infinity();
  llvm::Value* size = builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  const Normal normal = made_normal(builder, size);
  llvm::Value* biased =
      builder.CreateLShr(bits_of(builder, normal.value), builder.integer(integer, 23));
  llvm::Value* bias = builder.CreateSelect(normal.is_small, builder.integer(integer, 127 + 23),
                                           builder.integer(integer, 127));
  llvm::Value* of_number = builder.CreateSIToFP(builder.CreateSub(biased, bias), type);
  llvm::Value* is_zero = builder.CreateFCmpOEQ(size, builder.real(type, 0));
  llvm::Value* result = builder.CreateSelect(is_zero, builder.real(type, -infinity), of_number);
  return builder.CreateSelect(builder.CreateFCmpOLT(size, builder.real(type, infinity)), result,
                              size);
}

llvm::Value* mantissa(Builder& builder, llvm::Value* x) {
  llvm::Type* type = x->getType();
  llvm::Type* integer = integers(builder);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  llvm::Value* fraction = builder.CreateAnd(bits_of(builder, made_normal(builder, x).value),
                                            builder.integer(integer, 0x7fffff));
  llvm::Value* bits = builder.CreateOr(fraction, builder.integer(integer, one_bits));
  llvm::Value* is_high = builder.CreateICmpUGE(bits, builder.integer(integer, 0x3fc00000));
  llvm::Value* lower = builder.CreateSub(bits, builder.integer(integer, 1 << 23));
  llvm::Value* result = from_bits(builder, builder.CreateSelect(is_high, lower, bits));
  return builder.CreateSelect(builder.CreateFCmpOGE(x, builder.real(type, 0)), result,
                              builder.real(type, nan));
}

/// Half of a table, in as many lanes as a register of AVX2 has, or all of it.
llvm::Constant* entries(Builder& builder, std::span<const float> table) {
  return llvm::ConstantDataVector::get(builder.getContext(),
                                       llvm::ArrayRef<float>(table.data(), table.size()));
}

/// Lanes `first` to `first + count - 1`; those that `value` has not are undefined.
llvm::Value* lanes_of(Builder& builder, llvm::Value* value, int first, int count) {
  const auto* type = llvm::cast<llvm::FixedVectorType>(value->getType());
  std::vector<int> order;
  for (int i = first; i < first + count; ++i)
    order.push_back(i < static_cast<int>(type->getNumElements()) ? i : llvm::PoisonMaskElem);
  return builder.CreateShuffleVector(value, order);
}

/// Of as many places as a permutation of the processor takes.
llvm::Value* permuted(Builder& builder, const ir::TableEntries& table, llvm::Value* places) {
  if (builder.has_avx512())
    return builder.CreateIntrinsic(llvm::Intrinsic::x86_avx512_permvar_sf_512, {},
                                   {entries(builder, table), places});
  const std::span all(table);
  llvm::Value* halves[2];
  for (std::size_t half = 0; half < 2; ++half)
    halves[half] = builder.CreateIntrinsic(llvm::Intrinsic::x86_avx2_permps, {},
                                           {entries(builder, all.subspan(8 * half, 8)), places});
  llvm::Type* type = places->getType();
  llvm::Value* fourth_bit = builder.CreateAnd(places, builder.integer(type, 8));
  llvm::Value* is_upper = builder.CreateICmpNE(fourth_bit, builder.integer(type, 0));
  return builder.CreateSelect(is_upper, halves[1], halves[0]);
}

llvm::Value* table_entry(Builder& builder, llvm::Value* x, llvm::Value* number) {
  auto* constant = llvm::cast<llvm::Constant>(number);
  if (builder.lanes() > 1) constant = constant->getSplatValue();
  const ir::TableEntries& table =
      ir::table_of(llvm::cast<llvm::ConstantFP>(constant)->getValueAPF().convertToFloat());
  llvm::Value* places = bits_of(builder, x);
  const int lanes = builder.lanes(), width = builder.has_avx512() ? 16 : 8;
  if (lanes == 1) {
    places = builder.CreateVectorSplat(static_cast<unsigned>(width), places);
    return builder.CreateExtractElement(permuted(builder, table, places), std::uint64_t{0});
  }
  std::vector<llvm::Value*> parts;
  for (int first = 0; first < lanes; first += width)
    parts.push_back(permuted(builder, table, lanes_of(builder, places, first, width)));
  llvm::Value* result = llvm::concatenateVectors(builder, parts);
  return lanes < width ? lanes_of(builder, result, 0, lanes) : result;
}

}  // namespace

llvm::Value* emit_float_part(Builder& builder, Op op, Args args) {
  const bool is_double = args[0]->getType()->getScalarType()->isDoubleTy();
  const bool is_register = builder.has_avx512() && builder.lanes() == (is_double ? 8 : 16);
  switch (op) {
    case Op::scale_by_power:
      if (!is_register) return scaled(builder, args[0], args[1]);
      return instruction(builder,
                         is_double ? llvm::Intrinsic::x86_avx512_mask_scalef_pd_512
                                   : llvm::Intrinsic::x86_avx512_mask_scalef_ps_512,
                         args);
    case Op::table_entry: return table_entry(builder, args[0], args[1]);
    case Op::exponent:
      return is_register
                 ? instruction(builder, llvm::Intrinsic::x86_avx512_mask_getexp_ps_512, args)
                 : exponent(builder, args[0]);
    default: {
      // In [3/4, 3/2); NaN below zero, and no sign of a zero.
      constexpr int interval_and_sign = 3 | 3 << 2;
      WEFT_ASSERT(op == Op::mantissa, name(op));
      return is_register ? instruction(builder, llvm::Intrinsic::x86_avx512_mask_getmant_ps_512,
                                       args, interval_and_sign)
                         : mantissa(builder, args[0]);
    }
  }
}

}  // namespace weft::jit
