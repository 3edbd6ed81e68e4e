// What the emitters of one kernel share: where instructions go, how wide values are, and what the
// target can do.
#pragma once

#include "runtime/cpu_features.h"

#include <weft/dtype.h>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <cstdint>
#include <string>

namespace weft::jit {

/// Values of the body are <lanes x T>, or plain T where lanes is 1.  bool is i1, and the floats
/// below 32 bits are integers of their size: arithmetic never happens in them.
class Builder : public llvm::IRBuilder<> {
 public:
  Builder(llvm::BasicBlock* block, const CpuFeatures& features)
      : IRBuilder(block), features_(features) {}
  /// Begins a function.
  Builder(llvm::Function* function, const CpuFeatures& features)
      : Builder(llvm::BasicBlock::Create(function->getContext(), "entry", function), features) {}

  int lanes() const { return lanes_; }
  void set_lanes(int lanes) { lanes_ = lanes; }
  bool has_avx512() const { return features_.isa == Isa::avx512; }
  const CpuFeatures& features() const { return features_; }

  /// `scalar`, or a vector of lanes() of it.
  llvm::Type* wide(llvm::Type* scalar) const {
    return lanes_ == 1 ? scalar : llvm::FixedVectorType::get(scalar, static_cast<unsigned>(lanes_));
  }
  /// The type of one value.
  llvm::Type* element_type(DType dtype);
  /// The type of one element in memory, where a bool is a byte.
  llvm::Type* memory_type(DType dtype);
  llvm::Type* value_type(DType dtype) { return wide(element_type(dtype)); }

  /// A block at the end of the function that is being written.
  llvm::BasicBlock* new_block(const char* name) {
    return llvm::BasicBlock::Create(getContext(), name, GetInsertBlock()->getParent());
  }
  llvm::ConstantInt* number(std::int64_t value) {
    return getInt64(static_cast<std::uint64_t>(value));
  }
  /// So many bytes further on.
  llvm::Value* after(llvm::Value* pointer, llvm::Value* bytes) {
    return CreateGEP(getInt8Ty(), pointer, bytes);
  }

  /// The same integer in every lane of a value of `type`.
  llvm::Constant* integer(llvm::Type* type, std::uint64_t value) {
    return llvm::ConstantInt::get(type, value);
  }
  /// The same number in every lane of a value of `type`.
  llvm::Constant* real(llvm::Type* type, double value) {
    return llvm::ConstantFP::get(type, value);
  }
  /// A scalar in every lane.
  llvm::Value* splat(llvm::Value* scalar) {
    return lanes_ == 1 ? scalar : CreateVectorSplat(static_cast<unsigned>(lanes_), scalar);
  }

 private:
  CpuFeatures features_;
  int lanes_ = 1;
};

/// The value of a vector register as something that is known of no memory: the load before it stays
/// one of its own.  What fills no register is left as it is.
llvm::Value* keep_in_register(Builder& builder, llvm::Value* value);

/// Adds a function without a result, which throws nothing, for code that uses these features.
llvm::Function* add_function(const CpuFeatures& features, llvm::Module& module,
                             const std::string& symbol, llvm::ArrayRef<llvm::Type*> arguments);

}  // namespace weft::jit
