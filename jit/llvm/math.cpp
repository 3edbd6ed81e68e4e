#include "jit/llvm/math.h"

#include "ir/vector_math.h"
#include "jit/llvm/support.h"

#include <weft/error.h>

#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <vector>

namespace weft::jit {
namespace {

using Args = std::span<llvm::Value* const>;

/// Calls `symbol`, which gives what it takes, and knows no memory and no errno.
llvm::Value* call(Builder& builder, const std::string& symbol, llvm::Value* arg) {
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  auto* function_type = llvm::FunctionType::get(arg->getType(), {arg->getType()}, false);
  llvm::FunctionCallee callee = module.getOrInsertFunction(symbol, function_type);
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotThrow();
  function->setDoesNotAccessMemory();
  return builder.CreateCall(callee, {arg});
}

/// Lanes [first, first + count) of a vector; those past its end repeat its last.
llvm::Value* part_of(Builder& builder, llvm::Value* vector, int first, int count) {
  std::vector<int> picks;
  for (int lane = first; lane < first + count; ++lane)
    picks.push_back(std::min(lane, builder.lanes() - 1));
  return builder.CreateShuffleVector(vector, picks);
}

/// The first lanes() lanes of several equal vectors side by side.
llvm::Value* joined(Builder& builder, std::vector<llvm::Value*> parts, int part_lanes) {
  for (int lanes = part_lanes; parts.size() > 1; lanes *= 2) {
    std::vector<int> all(2 * static_cast<std::size_t>(lanes));
    for (std::size_t lane = 0; lane < all.size(); ++lane) all[lane] = static_cast<int>(lane);
    std::vector<llvm::Value*> pairs;
    for (std::size_t i = 0; i + 1 < parts.size(); i += 2)
      pairs.push_back(builder.CreateShuffleVector(parts[i], parts[i + 1], all));
    parts = std::move(pairs);
  }
  std::vector<int> first(static_cast<std::size_t>(builder.lanes()));
  for (std::size_t lane = 0; lane < first.size(); ++lane) first[lane] = static_cast<int>(lane);
  return builder.CreateShuffleVector(parts[0], first);
}

/// A call for as many lanes as the library has a function for: split or filled up where it has none
/// for lanes() of them.  Lane counts are powers of two.
llvm::Value* call_sleef(Builder& builder, Op op, DType dtype, llvm::Value* arg) {
  const auto itemsize = static_cast<int>(itemsize_bytes(dtype));
  if (builder.lanes() == 1) return call(builder, ir::sleef_symbol(op, dtype, 1), arg);
  const int most = (builder.has_avx512() ? 64 : 32) / itemsize;
  const int fewest = 16 / itemsize;
  const int part_lanes = std::clamp(builder.lanes(), fewest, most);
  const std::string symbol = ir::sleef_symbol(op, dtype, part_lanes);
  if (part_lanes == builder.lanes()) return call(builder, symbol, arg);
  std::vector<llvm::Value*> parts;
  for (int first = 0; first < builder.lanes(); first += part_lanes)
    parts.push_back(call(builder, symbol, part_of(builder, arg, first, part_lanes)));
  return joined(builder, std::move(parts), part_lanes);
}

/// A call of what the interpreter runs: through memory, for all lanes at once.
llvm::Value* call_row(Builder& builder, Op op, DType dtype, Args args) {
  llvm::Type* type = args[0]->getType();
  llvm::Type* pointer = builder.getPtrTy();
  auto* addresses_type = llvm::ArrayType::get(pointer, args.size());
  llvm::BasicBlock& entry = builder.GetInsertBlock()->getParent()->getEntryBlock();
  llvm::IRBuilder<> frame(&entry, entry.begin());
  llvm::Value* result = frame.CreateAlloca(type);
  llvm::Value* addresses = frame.CreateAlloca(addresses_type);
  for (unsigned i = 0; i < args.size(); ++i) {
    llvm::Value* slot = frame.CreateAlloca(type);
    builder.CreateStore(args[i], slot);
    builder.CreateStore(slot, builder.CreateConstInBoundsGEP2_32(addresses_type, addresses, 0, i));
  }
  auto* function_type =
      llvm::FunctionType::get(builder.getVoidTy(), {pointer, pointer, builder.getInt64Ty()}, false);
  llvm::FunctionCallee callee = builder.GetInsertBlock()->getModule()->getOrInsertFunction(
      row_symbol(op, dtype), function_type);
  llvm::cast<llvm::Function>(callee.getCallee())->setDoesNotThrow();
  builder.CreateCall(callee, {result, addresses, builder.number(builder.lanes())});
  return builder.CreateLoad(type, result);
}

/// `usual`, or where `is_beyond` of some lane, which is not expected, what `call` returns.
template <class Call>
llvm::Value* unless_beyond(Builder& builder, llvm::Value* is_beyond, llvm::Value* usual,
                           Call call) {
  llvm::Value* any = builder.lanes() == 1 ? is_beyond : builder.CreateOrReduce(is_beyond);
  llvm::BasicBlock* before = builder.GetInsertBlock();
  llvm::LLVMContext& context = builder.getContext();
  llvm::BasicBlock* calls = builder.new_block("beyond");
  llvm::BasicBlock* after = builder.new_block("within");
  builder.CreateCondBr(any, calls, after, llvm::MDBuilder(context).createBranchWeights(1, 100000));
  builder.SetInsertPoint(calls);
  llvm::Value* called = call();
  llvm::BasicBlock* from_call = builder.GetInsertBlock();
  builder.CreateBr(after);
  builder.SetInsertPoint(after);
  llvm::PHINode* result = builder.CreatePHI(usual->getType(), 2);
  result->addIncoming(usual, before);
  result->addIncoming(called, from_call);
  return result;
}

llvm::Value* wave_beyond(Builder& builder, Op function, DType dtype, Args args) {
  llvm::Type* type = args[0]->getType();
  llvm::Value* size = builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, args[0]);
  llvm::Value* is_beyond =
      builder.CreateFCmpOGE(size, builder.real(type, ir::largest_reduced(dtype)));
  return unless_beyond(builder, is_beyond, args[1], [&] {
    llvm::Value* called = call_sleef(builder, function, dtype, args[0]);
    return builder.CreateSelect(is_beyond, called, args[1]);
  });
}

llvm::Value* fmod_beyond(Builder& builder, DType dtype, Args args) {
  llvm::Value* zero = llvm::Constant::getNullValue(args[0]->getType());
  llvm::Value* is_outside = builder.CreateOr(builder.CreateFCmpUGE(args[2], args[1]),
                                             builder.CreateFCmpOLT(args[2], zero));
  llvm::Value* is_beyond = builder.CreateAnd(is_outside, builder.CreateFCmpUNE(args[1], zero));
  return unless_beyond(builder, is_beyond, args[2],
                       [&] { return call_row(builder, Op::fmod_beyond, dtype, args); });
}

/// 1 for base 1, 1 or -1 for base -1, and 0 for the others: what a power with a negative exponent
/// leaves.
llvm::Value* fraction_power(Builder& builder, llvm::Value* base, llvm::Value* exponent) {
  llvm::Type* type = base->getType();
  llvm::Value* one = builder.integer(type, 1);
  llvm::Value* minus_one = llvm::Constant::getAllOnesValue(type);
  llvm::Value* is_odd =
      builder.CreateICmpNE(builder.CreateAnd(exponent, one), builder.integer(type, 0));
  llvm::Value* of_minus_one = builder.CreateSelect(is_odd, minus_one, one);
  llvm::Value* of_others =
      builder.CreateSelect(builder.CreateICmpEQ(base, one), one, builder.integer(type, 0));
  return builder.CreateSelect(builder.CreateICmpEQ(base, minus_one), of_minus_one, of_others);
}

/// Repeated squaring, as long as some lane's exponent has bits left.
llvm::Value* integer_power(Builder& builder, DType dtype, Args args) {
  llvm::Type* type = args[0]->getType();
  llvm::Value* zero = builder.integer(type, 0);
  llvm::Value* is_negative = is_signed(dtype)
                                 ? builder.CreateICmpSLT(args[1], zero)
                                 : llvm::Constant::getNullValue(builder.wide(builder.getInt1Ty()));
  llvm::Value* start = builder.CreateSelect(is_negative, zero, args[1]);

  llvm::BasicBlock* before = builder.GetInsertBlock();
  llvm::BasicBlock* body = builder.new_block("power");
  llvm::BasicBlock* after = builder.new_block("powered");
  builder.CreateBr(body);
  builder.SetInsertPoint(body);
  llvm::PHINode* result = builder.CreatePHI(type, 2);
  llvm::PHINode* power = builder.CreatePHI(type, 2);
  llvm::PHINode* exponent = builder.CreatePHI(type, 2);
  llvm::Value* one = builder.integer(type, 1);
  llvm::Value* is_odd = builder.CreateICmpNE(builder.CreateAnd(exponent, one), zero);
  llvm::Value* next_result = builder.CreateSelect(is_odd, builder.CreateMul(result, power), result);
  llvm::Value* next_power = builder.CreateMul(power, power);
  llvm::Value* next_exponent = builder.CreateLShr(exponent, one);
  result->addIncoming(one, before);
  result->addIncoming(next_result, body);
  power->addIncoming(args[0], before);
  power->addIncoming(next_power, body);
  exponent->addIncoming(start, before);
  exponent->addIncoming(next_exponent, body);
  llvm::Value* left = builder.lanes() == 1 ? next_exponent : builder.CreateOrReduce(next_exponent);
  builder.CreateCondBr(builder.CreateICmpNE(left, builder.integer(left->getType(), 0)), body,
                       after);
  builder.SetInsertPoint(after);
  if (!is_signed(dtype)) return next_result;
  return builder.CreateSelect(is_negative, fraction_power(builder, args[0], args[1]), next_result);
}

/// Euclid's algorithm, as long as some lane has a rest.  What is there of a sign goes first: the
/// smallest integer is its own magnitude, as an unsigned one.
llvm::Value* greatest_common_divisor(Builder& builder, DType dtype, Args args) {
  llvm::Type* type = args[0]->getType();
  llvm::Value* zero = builder.integer(type, 0);
  const auto magnitude = [&](llvm::Value* value) -> llvm::Value* {
    if (!is_signed(dtype)) return value;
    return builder.CreateIntrinsic(llvm::Intrinsic::abs, {type}, {value, builder.getFalse()});
  };
  llvm::Value* first = magnitude(args[0]);
  llvm::Value* second = magnitude(args[1]);

  llvm::BasicBlock* before = builder.GetInsertBlock();
  llvm::BasicBlock* body = builder.new_block("divide");
  llvm::BasicBlock* after = builder.new_block("divided");
  builder.CreateBr(body);
  builder.SetInsertPoint(body);
  llvm::PHINode* divisor = builder.CreatePHI(type, 2);
  llvm::PHINode* rest = builder.CreatePHI(type, 2);
  llvm::Value* is_done = builder.CreateICmpEQ(rest, zero);
  llvm::Value* safe = builder.CreateSelect(is_done, builder.integer(type, 1), rest);
  llvm::Value* next_rest = builder.CreateURem(divisor, safe);
  llvm::Value* next_divisor = builder.CreateSelect(is_done, divisor, rest);
  next_rest = builder.CreateSelect(is_done, zero, next_rest);
  divisor->addIncoming(first, before);
  divisor->addIncoming(next_divisor, body);
  rest->addIncoming(second, before);
  rest->addIncoming(next_rest, body);
  llvm::Value* left = builder.lanes() == 1 ? next_rest : builder.CreateOrReduce(next_rest);
  builder.CreateCondBr(builder.CreateICmpNE(left, builder.integer(left->getType(), 0)), body,
                       after);
  builder.SetInsertPoint(after);
  return next_divisor;
}

}  // namespace

llvm::Value* emit_math(Builder& builder, Op op, DType dtype, Args args) {
  if (op == Op::gcd) return greatest_common_divisor(builder, dtype, args);
  if (op == Op::integer_power) return integer_power(builder, dtype, args);
  if (op == Op::sin_beyond) return wave_beyond(builder, Op::library_sin, dtype, args);
  if (op == Op::cos_beyond) return wave_beyond(builder, Op::library_cos, dtype, args);
  if (op == Op::tan_beyond) return wave_beyond(builder, Op::library_tan, dtype, args);
  if (op == Op::fmod_beyond) return fmod_beyond(builder, dtype, args);
  if (is_part_function(op)) return call_row(builder, op, dtype, args);
  return call_sleef(builder, op, dtype, args[0]);
}

}  // namespace weft::jit
