#include "jit/llvm/operators.h"

#include "jit/llvm/float_parts.h"
#include "jit/llvm/math.h"

#include <weft/error.h>

#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <numbers>
#include <vector>

namespace weft::jit {
namespace {

using Args = std::span<llvm::Value* const>;
using Predicate = llvm::CmpInst::Predicate;

/// What LLVM distinguishes between.
enum class Kind { boolean, unsigned_integer, signed_integer, floating };

Kind kind(DType dtype) {
  if (is_boolean(dtype)) return Kind::boolean;
  if (is_floating(dtype)) return Kind::floating;
  return is_signed(dtype) ? Kind::signed_integer : Kind::unsigned_integer;
}

llvm::Value* call(Builder& builder, llvm::Intrinsic::ID intrinsic, Args args) {
  return builder.CreateIntrinsic(intrinsic, {args[0]->getType()},
                                 llvm::ArrayRef<llvm::Value*>(args.data(), args.size()));
}

llvm::Value* is_nan(Builder& builder, llvm::Value* value) {
  return builder.CreateFCmpUNO(value, value);
}

llvm::Value* arithmetic(Builder& builder, Op op, Kind kind, Args args) {
  const auto with = [&](llvm::Instruction::BinaryOps real, llvm::Instruction::BinaryOps integer) {
    return builder.CreateBinOp(kind == Kind::floating ? real : integer, args[0], args[1]);
  };
  if (kind == Kind::boolean)  // addition saturates, so that it is `or`; multiplication is `and`
    return op == Op::add ? builder.CreateOr(args[0], args[1]) : builder.CreateAnd(args[0], args[1]);
  switch (op) {
    case Op::add: return with(llvm::Instruction::FAdd, llvm::Instruction::Add);
    case Op::sub: return with(llvm::Instruction::FSub, llvm::Instruction::Sub);
    default: return with(llvm::Instruction::FMul, llvm::Instruction::Mul);
  }
}

llvm::Value* absolute(Builder& builder, Kind kind, Args args) {
  if (kind == Kind::floating) return call(builder, llvm::Intrinsic::fabs, args);
  if (kind != Kind::signed_integer) return args[0];
  return builder.CreateIntrinsic(llvm::Intrinsic::abs, {args[0]->getType()},
                                 {args[0], builder.getFalse()});
}

llvm::Value* compare(Builder& builder, Op op, Kind kind, Args args) {
  struct Row {
    Op op;
    Predicate real, signed_integer, unsigned_integer;
  };
  constexpr Row rows[] = {
      {Op::eq, Predicate::FCMP_OEQ, Predicate::ICMP_EQ, Predicate::ICMP_EQ},
      {Op::ne, Predicate::FCMP_UNE, Predicate::ICMP_NE, Predicate::ICMP_NE},
      {Op::lt, Predicate::FCMP_OLT, Predicate::ICMP_SLT, Predicate::ICMP_ULT},
      {Op::le, Predicate::FCMP_OLE, Predicate::ICMP_SLE, Predicate::ICMP_ULE},
      {Op::gt, Predicate::FCMP_OGT, Predicate::ICMP_SGT, Predicate::ICMP_UGT},
      {Op::ge, Predicate::FCMP_OGE, Predicate::ICMP_SGE, Predicate::ICMP_UGE},
  };
  for (const Row& row : rows) {
    if (row.op != op) continue;
    if (kind == Kind::floating) return builder.CreateFCmp(row.real, args[0], args[1]);
    return builder.CreateICmp(
        kind == Kind::signed_integer ? row.signed_integer : row.unsigned_integer, args[0], args[1]);
  }
  WEFT_ASSERT(false, name(op));
}

/// x where it is NaN, else `chosen`: one instruction where there is one, since LLVM makes two of a
/// comparison and a select.  Null if there is none for such values.
llvm::Value* unless_nan(Builder& builder, llvm::Value* x, llvm::Value* chosen) {
  const std::uint64_t bits = x->getType()->getPrimitiveSizeInBits().getFixedValue();
  const bool is_register = x->getType()->isVectorTy() && (bits == 256 || bits == 512);
  if (!builder.has_avx512() || !is_register || llvm::isa<llvm::Constant>(x)) return nullptr;
  const bool is_double = x->getType()->getScalarType()->isDoubleTy();
  // Classes of x, four bits each, from the lowest: a quiet or signalling NaN gives "x, quiet" (2),
  // all others "as it was" (0).
  constexpr std::uint64_t only_nan = 0x22;
  const auto lanes = static_cast<unsigned>(builder.lanes());
  llvm::Type* const item = is_double ? builder.getInt64Ty() : builder.getInt32Ty();
  std::vector<llvm::Value*> args{
      chosen, x, builder.integer(llvm::FixedVectorType::get(item, lanes), only_nan),
      builder.getInt32(0), llvm::Constant::getAllOnesValue(builder.getIntNTy(std::max(8U, lanes)))};
  constexpr std::uint32_t current_rounding = 4;
  if (bits == 512) args.push_back(builder.getInt32(current_rounding));
  using namespace llvm::Intrinsic;
  const auto name =
      bits == 512 ? is_double ? x86_avx512_mask_fixupimm_pd_512 : x86_avx512_mask_fixupimm_ps_512
      : is_double ? x86_avx512_mask_fixupimm_pd_256
                  : x86_avx512_mask_fixupimm_ps_256;
  return builder.CreateIntrinsic(name, {}, args);
}

/// The second of two zeros, and NaN if either is: the machine's max and min, and x where it is NaN.
llvm::Value* extremum(Builder& builder, Op op, Kind kind, Args args) {
  llvm::Value* takes_first = compare(builder, op == Op::maximum ? Op::gt : Op::lt, kind, args);
  llvm::Value* chosen = builder.CreateSelect(takes_first, args[0], args[1]);
  if (kind != Kind::floating) return chosen;
  if (llvm::Value* fixed = unless_nan(builder, args[0], chosen)) return fixed;
  return builder.CreateSelect(is_nan(builder, args[0]), args[0], chosen);
}

/// A count outside [0, width) shifts everything out; LLVM's shifts give poison for it.
llvm::Value* shift(Builder& builder, Op op, Kind kind, Args args) {
  llvm::Type* type = args[1]->getType();
  const std::uint64_t width = type->getScalarSizeInBits();
  llvm::Value* is_inside = builder.CreateICmpULT(args[1], builder.integer(type, width));
  if (op == Op::bitwise_right_shift && kind == Kind::signed_integer) {
    llvm::Value* count = builder.CreateSelect(is_inside, args[1], builder.integer(type, width - 1));
    return builder.CreateAShr(args[0], count);
  }
  llvm::Value* zero = builder.integer(type, 0);
  llvm::Value* count = builder.CreateSelect(is_inside, args[1], zero);
  llvm::Value* shifted = op == Op::bitwise_left_shift ? builder.CreateShl(args[0], count)
                                                      : builder.CreateLShr(args[0], count);
  return builder.CreateSelect(is_inside, shifted, zero);
}

/// x / 0 is 0, and the smallest integer / -1 is itself; LLVM leaves both undefined.
llvm::Value* quotient(Builder& builder, Kind kind, Args args) {
  llvm::Type* type = args[0]->getType();
  llvm::Value* zero = builder.integer(type, 0);
  llvm::Value* one = builder.integer(type, 1);
  llvm::Value* is_zero = builder.CreateICmpEQ(args[1], zero);
  if (kind == Kind::unsigned_integer) {
    llvm::Value* safe = builder.CreateSelect(is_zero, one, args[1]);
    return builder.CreateSelect(is_zero, zero, builder.CreateUDiv(args[0], safe));
  }
  llvm::Value* is_minus_one = builder.CreateICmpEQ(args[1], llvm::Constant::getAllOnesValue(type));
  llvm::Value* safe = builder.CreateSelect(builder.CreateOr(is_zero, is_minus_one), one, args[1]);
  llvm::Value* divided = builder.CreateSDiv(args[0], safe);
  llvm::Value* negated = builder.CreateSelect(is_minus_one, builder.CreateNeg(args[0]), divided);
  return builder.CreateSelect(is_zero, zero, negated);
}

llvm::Value* rounded(Builder& builder, Op op, Kind kind, Args args) {
  if (kind != Kind::floating) return args[0];
  switch (op) {
    case Op::floor: return call(builder, llvm::Intrinsic::floor, args);
    case Op::ceil: return call(builder, llvm::Intrinsic::ceil, args);
    case Op::trunc: return call(builder, llvm::Intrinsic::trunc, args);
    default: return call(builder, llvm::Intrinsic::roundeven, args);
  }
}

/// Of a real number: pi if it is negative, else 0; NaN stays.
llvm::Value* angle(Builder& builder, Args args) {
  llvm::Type* type = args[0]->getType();
  llvm::Value* zero = builder.real(type, 0);
  llvm::Value* is_negative = builder.CreateFCmpOLT(args[0], zero);
  llvm::Value* turned =
      builder.CreateSelect(is_negative, builder.real(type, std::numbers::pi), zero);
  return builder.CreateSelect(is_nan(builder, args[0]), args[0], turned);
}

}  // namespace

llvm::Value* emit_operator(Builder& builder, Op op, DType dtype, Args args) {
  const Kind kind = jit::kind(dtype);
  switch (op) {
#define WEFT_LLVM(name, takes, ...) \
  case Op::name:                    \
    return __VA_ARGS__;
#include "jit/llvm/operators.def"
#undef WEFT_LLVM
    default: return emit_math(builder, op, dtype, args);
  }
}

}  // namespace weft::jit
