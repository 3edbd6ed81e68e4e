#include "jit/llvm/native_bf16.h"

#include "jit/bf16.h"

#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/MDBuilder.h>

namespace weft::jit {

using namespace bf16_rounding;

namespace {

llvm::Value* round_bits(Builder& builder, llvm::Value* value) {
  llvm::Type* const type = builder.value_type(DType::u32);
  llvm::Value* const bits = builder.CreateBitCast(value, type);
  llvm::Value* const odd = builder.CreateAnd(builder.CreateLShr(bits, 16), 1);
  llvm::Value* const rounded =
      builder.CreateAdd(builder.CreateAdd(bits, builder.integer(type, half_less_one)), odd);
  llvm::Value* const number = builder.CreateSelect(builder.CreateFCmpUNO(value, value),
                                                   builder.integer(type, nan_bits), rounded);
  return builder.CreateTrunc(builder.CreateLShr(number, 16), builder.value_type(DType::bf16));
}

llvm::Value* round_numbers(Builder& builder, llvm::Value* value) {
  const llvm::Intrinsic::ID id = builder.lanes() == 16
                                     ? llvm::Intrinsic::x86_avx512bf16_cvtneps2bf16_512
                                     : llvm::Intrinsic::x86_avx512bf16_cvtneps2bf16_256;
  return builder.CreateBitCast(builder.CreateIntrinsic(id, {}, {value}),
                               builder.value_type(DType::bf16));
}

llvm::Value* is_rare(Builder& builder, std::span<llvm::Value* const> values) {
  const llvm::Intrinsic::ID id = builder.lanes() == 16 ? llvm::Intrinsic::x86_avx512_fpclass_ps_512
                                                       : llvm::Intrinsic::x86_avx512_fpclass_ps_256;
  llvm::Value* any = nullptr;
  for (llvm::Value* value : values) {
    llvm::Value* const mask =
        builder.CreateIntrinsic(id, {}, {value, builder.getInt32(rare_classes)});
    any = any == nullptr ? mask : builder.CreateOr(any, mask);
  }
  any = builder.CreateBitCast(any, builder.getIntNTy(static_cast<unsigned>(builder.lanes())));
  return builder.CreateIsNotNull(any);
}

}  // namespace

std::vector<llvm::Value*> emit_bf16(Builder& builder, std::span<llvm::Value* const> values) {
  std::vector<llvm::Value*> results;
  if (builder.lanes() != 16 && builder.lanes() != 8) {
    for (llvm::Value* value : values) results.push_back(round_bits(builder, value));
    return results;
  }
  llvm::BasicBlock* const rare = builder.new_block("rare");
  llvm::BasicBlock* const rounded = builder.new_block("rounded");
  for (llvm::Value* value : values) results.push_back(round_numbers(builder, value));
  llvm::BasicBlock* const before = builder.GetInsertBlock();
  builder.CreateCondBr(is_rare(builder, values), rare, rounded,
                       llvm::MDBuilder(builder.getContext()).createUnlikelyBranchWeights());
  builder.SetInsertPoint(rare);
  std::vector<llvm::Value*> by_bits;
  for (llvm::Value* value : values) by_bits.push_back(round_bits(builder, value));
  builder.CreateBr(rounded);
  builder.SetInsertPoint(rounded);
  for (std::size_t i = 0; i < results.size(); ++i) {
    llvm::PHINode* const phi = builder.CreatePHI(results[i]->getType(), 2);
    phi->addIncoming(results[i], before);
    phi->addIncoming(by_bits[i], rare);
    results[i] = phi;
  }
  return results;
}

}  // namespace weft::jit
