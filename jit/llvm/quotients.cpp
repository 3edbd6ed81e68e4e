// Rows that divide what were integers by hoisted f32: where the divisors allow it, by two products
// instead of the divider (jit/exact_quotients.h).

#include "jit/exact_quotients.h"
#include "jit/llvm/kernel_emitter.h"

#include <algorithm>

namespace weft::jit {
namespace {

/// To find out whether divisors allow it takes as long as shorter rows gain.
constexpr std::uint64_t least_extent = 512;

std::uint32_t power_of_two(int exponent) {
  return static_cast<std::uint32_t>(127 + exponent) << 23;
}

/// What `id` is divided by if it is a quotient; else no_value.
ir::ValueId divisor_in(const ir::Kernel& kernel, ir::ValueId id) {
  return kernel.body[id].op == Op::div ? kernel.body[id].args[1] : ir::no_value;
}

bool is_constant(const ir::Kernel& kernel, ir::ValueId id) {
  return kernel.body[id].op == Op::constant;
}

/// Whether a hoisted divisor is a constant between the powers of two, or only known at run time.
bool may_be_within(const ir::Kernel& kernel, ir::ValueId id, int exponent) {
  if (id >= kernel.num_hoisted) return false;
  const std::uint64_t bits = kernel.body[id].bits.lo;
  return !is_constant(kernel, id) ||
         (bits >= power_of_two(-exponent) && bits <= power_of_two(exponent));
}

/// Whether it is zero or of ordinary size, if what is hoisted in it is.
bool is_ordinary(const ir::Kernel& kernel, ir::ValueId dividend) {
  if (is_from_integer(kernel, dividend)) return true;
  const auto [hoisted, number] = small_sum(kernel, dividend);
  if (number == ir::no_value) return false;
  const ir::ValueId divisor = divisor_in(kernel, number);
  return divisor == ir::no_value || may_be_within(kernel, divisor, quotients::terms_exponent / 2);
}

}  // namespace

bool KernelEmitter::may_take_two_products(ir::ValueId id) const {
  const ir::Inst& inst = kernel_.body[id];
  if (inst.op != Op::div || inst.dtype != DType::f32 || inst.args[0] < kernel_.num_hoisted ||
      !may_be_within(kernel_, inst.args[1], quotients::divisors_exponent_f32))
    return false;
  const ir::Inst& divisor = kernel_.body[inst.args[1]];
  if (divisor.op == Op::constant &&
      !divides_in_two_products(std::bit_cast<float>(static_cast<std::uint32_t>(divisor.bits.lo))))
    return false;
  // A zero less a number is a negative zero if that is a zero.
  const ir::Inst& dividend = kernel_.body[inst.args[0]];
  const bool is_zero_less = dividend.op == Op::sub && dividend.args[0] < kernel_.num_hoisted;
  return !is_zero_less && is_ordinary(kernel_, inst.args[0]);
}

std::vector<ir::ValueId> KernelEmitter::quotients_of_integers() const {
  std::vector<ir::ValueId> found;
  for (ir::ValueId id = kernel_.num_hoisted; id < kernel_.body.size(); ++id)
    if (may_take_two_products(id)) found.push_back(id);
  return found;
}

/// Whether a scalar lies between the powers of two, or is zero or does so by its size.
llvm::Value* KernelEmitter::is_within(llvm::Value* value, int exponent, bool by_size) {
  llvm::Value* bits = builder_.CreateBitCast(value, builder_.getInt32Ty());
  if (by_size) bits = builder_.CreateAnd(bits, builder_.getInt32(0x7fffffff));
  llvm::Value* const above = builder_.CreateSub(bits, builder_.getInt32(power_of_two(-exponent)));
  llvm::Value* const is_between = builder_.CreateICmpULE(
      above, builder_.getInt32(power_of_two(exponent) - power_of_two(-exponent)));
  return by_size ? builder_.CreateOr(is_between, builder_.CreateIsNull(bits)) : is_between;
}

/// divides_in_two_products() of a scalar.
llvm::Value* KernelEmitter::divides_by_products(llvm::Value* divisor, const Factors& factors) {
  using namespace quotients;
  const auto number = [&](std::uint32_t value) { return builder_.getInt32(value); };
  llvm::Type* const integer = builder_.getInt32Ty();
  llvm::Type* const real = builder_.getFloatTy();
  llvm::Value* const fraction =
      builder_.CreateAnd(builder_.CreateBitCast(divisor, integer), number(fraction_mask));
  llvm::Value* const significand = builder_.CreateOr(fraction, number(hidden_bit));
  llvm::Value* inverse = builder_.CreateXor(builder_.CreateMul(significand, number(3)), number(2));
  for (int i = 0; i < num_newton_steps; ++i)
    inverse = builder_.CreateMul(
        inverse, builder_.CreateSub(number(2), builder_.CreateMul(significand, inverse)));
  inverse = builder_.CreateAnd(inverse, number(inverse_modulus - 1));
  llvm::Value* const odd = builder_.CreateBinaryIntrinsic(
      llvm::Intrinsic::umax, inverse, builder_.CreateSub(number(inverse_modulus), inverse));
  llvm::Value* const base =
      builder_.CreateBitCast(builder_.CreateOr(fraction, number(two_to_23_f32)), real);
  llvm::Value* const half = builder_.CreateSIToFP(builder_.CreateLShr(odd, number(1)), real);
  llvm::Value* const x = fused(half, builder_.CreateFAdd(base, base), base);
  return builder_.CreateFCmpOEQ(by_two_products(x, factors), builder_.CreateFDiv(x, divisor));
}

llvm::Value* KernelEmitter::fused(llvm::Value* x, llvm::Value* y, llvm::Value* z) {
  return builder_.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, {x, y, z});
}

llvm::Value* KernelEmitter::by_two_products(llvm::Value* x, const Factors& factors) {
  return fused(x, factors.high, builder_.CreateFMul(x, factors.low));
}

/// In every lane of the row's vectors.
void KernelEmitter::splat_factors() {
  builder_.set_lanes(vector_lanes());
  factor_splats_.clear();
  for (const Factors& factors : factors_)
    factor_splats_.push_back(factors.high == nullptr ? Factors()
                                                     : Factors{builder_.splat(factors.high),
                                                               builder_.splat(factors.low)});
}

/// Of each divisor the factors, as scalars in `factors_`, and whether all of them may be taken.
llvm::Value* KernelEmitter::find_factors(const std::vector<ir::ValueId>& ids) {
  llvm::Value* may_take = builder_.getTrue();
  const auto also = [&](llvm::Value* condition) {
    may_take = builder_.CreateAnd(may_take, condition);
  };
  llvm::Value* const one = builder_.real(builder_.getFloatTy(), 1);
  factors_.assign(kernel_.body.size(), {});
  for (const ir::ValueId id : ids) {
    const ir::ValueId by = kernel_.body[id].args[1];
    if (Factors& factors = factors_[by]; factors.high == nullptr) {
      llvm::Value* const divisor = scalars_[by];
      factors.high = builder_.CreateFDiv(one, divisor);
      factors.low =
          builder_.CreateFDiv(fused(builder_.CreateFNeg(factors.high), divisor, one), divisor);
      if (!is_constant(kernel_, by)) {
        also(is_within(divisor, quotients::divisors_exponent_f32, false));
        also(divides_by_products(divisor, factors));
      }
    }
    const auto [hoisted, number] = small_sum(kernel_, kernel_.body[id].args[0]);
    if (number == ir::no_value) continue;
    also(is_within(scalars_[hoisted], quotients::terms_exponent, true));
    if (const ir::ValueId inner = divisor_in(kernel_, number);
        inner != ir::no_value && !is_constant(kernel_, inner))
      also(is_within(scalars_[inner], quotients::divisors_exponent_f32, false));
  }
  return may_take;
}

/// The row twice: by products, and for divisors that don't allow that.
void KernelEmitter::emit_row_of_quotients(const Pointers& start,
                                          const std::vector<ir::ValueId>& ids) {
  llvm::BasicBlock* const long_row = builder_.new_block("long_row");
  llvm::BasicBlock* const products = builder_.new_block("products");
  llvm::BasicBlock* const quotients = builder_.new_block("quotients");
  llvm::BasicBlock* const done = builder_.new_block("row_done");
  builder_.CreateCondBr(builder_.CreateICmpUGE(extents_.back(), builder_.getInt64(least_extent)),
                        long_row, quotients);
  builder_.SetInsertPoint(long_row);
  llvm::Value* const may_take = find_factors(ids);
  builder_.CreateCondBr(may_take, products, quotients);
  builder_.SetInsertPoint(products);
  splat_factors();
  emit_vectors_of_row(start);
  builder_.CreateBr(done);
  factors_.clear();
  builder_.SetInsertPoint(quotients);
  emit_vectors_of_row(start);
  builder_.CreateBr(done);
  builder_.SetInsertPoint(done);
}

}  // namespace weft::jit
