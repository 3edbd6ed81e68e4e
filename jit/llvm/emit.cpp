// One function per kernel: the outer loops, then three loops over the innermost dimension (several
// vectors, one vector, the rest).  Vectors are explicit, so no optimiser has to find them.

#include "jit/llvm/emit.h"

#include "jit/code_object.h"
#include "jit/live_values.h"
#include "jit/llvm/builder.h"
#include "jit/llvm/memory.h"
#include "jit/llvm/object.h"
#include "jit/llvm/operators.h"
#include "jit/llvm/support.h"

#include <weft/error.h>

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/DIBuilder.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace weft::jit {
namespace {

using ir::Inst;
using ir::Kernel;
using ir::stride_any;
using ir::ValueId;

std::string feature_text(const CpuFeatures& features) {
  std::string text = "+sse4.2,+popcnt,+avx,+avx2,+fma,+f16c,+bmi,+bmi2,+lzcnt";
  if (features.isa != Isa::avx512) return text;
  text += ",+avx512f,+avx512bw,+avx512dq,+avx512vl,+avx512cd";
  if (features.avx512_vbmi) text += ",+avx512vbmi";
  return text;
}

/// Debug information that has lines and nothing else.
llvm::DISubprogram* add_debug_scope(llvm::Function& function, llvm::Module& module) {
  constexpr unsigned dwarf_version = 4;
  module.addModuleFlag(llvm::Module::Max, "Dwarf Version", dwarf_version);
  module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  llvm::DIBuilder debug(module);
  llvm::DIFile* file = debug.createFile("kernel", "weft");
  debug.createCompileUnit(llvm::dwarf::DW_LANG_C, file, "weft", false, "", 0, "",
                          llvm::DICompileUnit::LineTablesOnly);
  llvm::DISubprogram* scope =
      debug.createFunction(file, function.getName(), function.getName(), file, 0,
                           debug.createSubroutineType(debug.getOrCreateTypeArray({})), 0,
                           llvm::DINode::FlagZero, llvm::DISubprogram::SPFlagDefinition);
  function.setSubprogram(scope);
  debug.finalize();
  return scope;
}

/// Emits one kernel.
class Emitter {
 public:
  Emitter(const Kernel& kernel, const Target& target, llvm::Module& module, Lines lines)
      : kernel_(kernel),
        function_(make_function(target, module)),
        builder_(llvm::BasicBlock::Create(module.getContext(), "entry", function_),
                 target.features),
        scalars_(kernel.body.size()),
        splats_(kernel.body.size()),
        scope_(lines == Lines::none ? nullptr : add_debug_scope(*function_, module)) {
    set_line(0);
  }

  void run() {
    load_arguments();
    emit_loop(0, bases_);
    builder_.CreateRetVoid();
  }

 private:
  using Pointers = std::vector<llvm::Value*>;  ///< one an operand

  /// How far the innermost loop has come.
  struct Position {
    llvm::Value* index;
    Pointers
        pointers;  ///< of `index` for operands of unknown stride; else of the loop's first element
  };

  static llvm::Function* make_function(const Target& target, llvm::Module& module) {
    llvm::LLVMContext& context = module.getContext();
    auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                         {llvm::PointerType::getUnqual(context)}, false);
    auto* function =
        llvm::Function::Create(type, llvm::Function::ExternalLinkage, kernel_symbol, module);
    function->addFnAttr(llvm::Attribute::NoUnwind);
    function->addFnAttr("target-features", feature_text(target.features));
    const std::string width = target.features.isa == Isa::avx512 ? "512" : "256";
    function->addFnAttr("prefer-vector-width", width);
    function->addFnAttr("min-legal-vector-width", width);
    function->getArg(0)->setName("args");
    return function;
  }

  std::size_t num_operands() const { return kernel_.operands.size(); }
  std::size_t num_loops() const { return kernel_.loops.size(); }
  ir::StrideClass inner_stride(std::size_t operand) const {
    return kernel_.operands[operand].strides.back();
  }
  std::int64_t itemsize(std::size_t operand) const {
    return static_cast<std::int64_t>(itemsize_bytes(kernel_.operands[operand].dtype));
  }

  llvm::BasicBlock* new_block(const char* name) {
    return llvm::BasicBlock::Create(builder_.getContext(), name, function_);
  }
  llvm::Value* load_field(llvm::Value* structure, std::size_t offset, llvm::Type* type,
                          const llvm::Twine& name) {
    return builder_.CreateAlignedLoad(
        type, builder_.CreateConstGEP1_64(builder_.getInt8Ty(), structure, offset), llvm::Align(8),
        name);
  }
  llvm::Value* advance(llvm::Value* pointer, llvm::Value* bytes) {
    return builder_.CreateGEP(builder_.getInt8Ty(), pointer, bytes);
  }

  void load_arguments() {
    llvm::Type* pointer = builder_.getPtrTy();
    llvm::Value* args = function_->getArg(0);
    llvm::Value* base = load_field(args, offsetof(KernelArgs, base), pointer, "base");
    llvm::Value* extents = load_field(args, offsetof(KernelArgs, extents), pointer, "extents");
    llvm::Value* strides = load_field(args, offsetof(KernelArgs, stride_bytes), pointer, "strides");
    params_ = load_field(args, offsetof(KernelArgs, params), pointer, "params");
    for (std::size_t k = 0; k < num_operands(); ++k)
      bases_.push_back(load_field(base, k * sizeof(void*), pointer, "base" + llvm::Twine(k)));
    for (std::size_t l = 0; l < num_loops(); ++l) {
      extents_.push_back(load_field(extents, l * sizeof(std::int64_t), builder_.getInt64Ty(),
                                    "extent" + llvm::Twine(l)));
      for (std::size_t k = 0; k < num_operands(); ++k)
        stride_bytes_.push_back(stride(strides, l, k));
    }
  }

  /// A constant where the class is one.
  llvm::Value* stride(llvm::Value* strides, std::size_t loop, std::size_t operand) {
    const ir::StrideClass known = kernel_.operands[operand].strides[loop];
    if (known != stride_any) return builder_.getInt64(known * itemsize(operand));
    return load_field(strides, (loop * num_operands() + operand) * sizeof(std::int64_t),
                      builder_.getInt64Ty(),
                      "stride" + llvm::Twine(loop) + "." + llvm::Twine(operand));
  }
  llvm::Value* stride_bytes(std::size_t loop, std::size_t operand) const {
    return stride_bytes_[loop * num_operands() + operand];
  }

  llvm::PHINode* new_phi(llvm::Value* start, llvm::BasicBlock* from) {
    llvm::PHINode* phi = builder_.CreatePHI(start->getType(), 2);
    phi->addIncoming(start, from);
    return phi;
  }

  /// Extents are at least 1, so the test stands at the end.
  void emit_loop(std::size_t loop, const Pointers& start) {
    if (loop + 1 == num_loops()) return emit_innermost(start);
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    llvm::BasicBlock* body = new_block("loop");
    llvm::BasicBlock* done = new_block("done");
    builder_.CreateBr(body);
    builder_.SetInsertPoint(body);
    llvm::PHINode* left = new_phi(extents_[loop], before);
    Pointers pointers = start;
    for (std::size_t k = 0; k < num_operands(); ++k)
      if (kernel_.operands[k].strides[loop] != 0) pointers[k] = new_phi(start[k], before);
    emit_loop(loop + 1, pointers);

    llvm::BasicBlock* end = builder_.GetInsertBlock();
    for (std::size_t k = 0; k < num_operands(); ++k)
      if (kernel_.operands[k].strides[loop] != 0)
        llvm::cast<llvm::PHINode>(pointers[k])
            ->addIncoming(advance(pointers[k], stride_bytes(loop, k)), end);
    llvm::Value* fewer = builder_.CreateSub(left, builder_.getInt64(1));
    left->addIncoming(fewer, end);
    builder_.CreateCondBr(builder_.CreateICmpNE(fewer, builder_.getInt64(0)), body, done);
    builder_.SetInsertPoint(done);
  }

  void emit_innermost(const Pointers& start) {
    const ir::Loop& loop = kernel_.loops.back();
    const int lanes = loop.kind == ir::LoopKind::vector ? loop.lanes : 1;
    emit_hoisted(start, lanes);
    Position position{builder_.getInt64(0), start};
    if (lanes > 1) {
      // Neither calls nor moves of single elements gain from more vectors at once, and both are
      // long.
      const bool is_masked = can_mask_all(lanes);
      if (loop.unroll > 1 && is_masked && !calls_functions())
        position = emit_steps(position, lanes, loop.unroll);
      position = emit_steps(position, lanes, 1);
      if (is_masked) return emit_masked_tail(position, lanes);
    }
    emit_steps(position, 1, 1);
  }

  /// Whether all operands move as whole vectors, some lanes of which can be left out.
  bool can_mask_all(int lanes) {
    builder_.set_lanes(lanes);
    return std::all_of(kernel_.body.begin() + kernel_.num_hoisted, kernel_.body.end(),
                       [&](const Inst& inst) {
                         if (inst.op != Op::load && inst.op != Op::store) return true;
                         return can_mask(builder_, inst.dtype, inner_stride(inst.operand),
                                         inst.op == Op::store ? ir::Role::output : ir::Role::input);
                       });
  }

  /// As many steps of lanes * unroll elements as fit.
  Position emit_steps(const Position& start, int lanes, int unroll) {
    const std::int64_t step = std::int64_t{lanes} * unroll;
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    llvm::BasicBlock* body = new_block(lanes == 1 ? "scalar" : unroll == 1 ? "vector" : "vectors");
    llvm::BasicBlock* after = new_block("after");
    Pointers strides(num_operands());
    for (std::size_t k = 0; k < num_operands(); ++k)
      if (inner_stride(k) == stride_any)
        strides[k] = builder_.CreateMul(stride_bytes(num_loops() - 1, k), builder_.getInt64(step));
    llvm::Value* limit = builder_.CreateSub(extents_.back(), builder_.getInt64(step), "limit");
    builder_.CreateCondBr(builder_.CreateICmpSLE(start.index, limit), body, after);

    builder_.SetInsertPoint(body);
    Position position{new_phi(start.index, before), start.pointers};
    for (std::size_t k = 0; k < num_operands(); ++k)
      if (strides[k] != nullptr) position.pointers[k] = new_phi(start.pointers[k], before);
    emit_body(position, lanes, unroll, nullptr);
    llvm::BasicBlock* end = builder_.GetInsertBlock();
    Position next{builder_.CreateAdd(position.index, builder_.getInt64(step), "", true, true),
                  position.pointers};
    llvm::cast<llvm::PHINode>(position.index)->addIncoming(next.index, end);
    for (std::size_t k = 0; k < num_operands(); ++k) {
      if (strides[k] == nullptr) continue;
      next.pointers[k] = advance(position.pointers[k], strides[k]);
      llvm::cast<llvm::PHINode>(position.pointers[k])->addIncoming(next.pointers[k], end);
    }
    builder_.CreateCondBr(builder_.CreateICmpSLE(next.index, limit), body, after);

    builder_.SetInsertPoint(after);
    Position result = start;
    result.index = join(start.index, before, next.index, end);
    for (std::size_t k = 0; k < num_operands(); ++k)
      if (strides[k] != nullptr)
        result.pointers[k] = join(start.pointers[k], before, next.pointers[k], end);
    return result;
  }

  llvm::Value* join(llvm::Value* skipped, llvm::BasicBlock* before, llvm::Value* looped,
                    llvm::BasicBlock* end) {
    llvm::PHINode* phi = new_phi(skipped, before);
    phi->addIncoming(looped, end);
    return phi;
  }

  void emit_masked_tail(const Position& position, int lanes) {
    llvm::BasicBlock* tail = new_block("tail");
    llvm::BasicBlock* after = new_block("after");
    llvm::Value* remaining = builder_.CreateSub(extents_.back(), position.index, "remaining");
    builder_.CreateCondBr(builder_.CreateICmpSGT(remaining, builder_.getInt64(0)), tail, after);
    builder_.SetInsertPoint(tail);
    Tail rest(remaining);
    emit_body(position, lanes, 1, &rest);
    builder_.CreateBr(after);
    builder_.SetInsertPoint(after);
  }

  /// The instructions before num_hoisted, once, as scalars; and vectors of those that vector code
  /// uses.
  void emit_hoisted(const Pointers& start, int lanes) {
    builder_.set_lanes(1);
    for (ValueId id = 0; id < kernel_.num_hoisted; ++id)
      scalars_[id] = emit_value(id, scalars_, {start, 0, nullptr});
    builder_.set_lanes(lanes);
    for (ValueId id = kernel_.num_hoisted; id < kernel_.body.size(); ++id)
      for (ValueId arg : kernel_.body[id].args)
        if (arg < kernel_.num_hoisted && splats_[arg] == nullptr)
          splats_[arg] = builder_.splat(scalars_[arg]);
  }

  /// Vectors side by side keep more loads in flight, and of long bodies more instructions that
  /// don't wait for each other than the processor's scheduler sees of one; as far as there are
  /// registers.  Calls spill what lives across them.
  bool goes_side_by_side(int num_vectors) const {
    const int num_registers = builder_.has_avx512() ? 32 : 16;
    const auto any = [](ValueId) { return true; };
    return num_vectors > 1 && !calls_functions() &&
           most_live(kernel_, any) * num_vectors <= num_registers * 3 / 4;
  }

  bool calls_functions() const {
    return std::any_of(kernel_.body.begin() + kernel_.num_hoisted, kernel_.body.end(),
                       [](const Inst& inst) { return is_call(inst.op, inst.dtype); });
  }

  /// The rest of the body, for `unroll` neighbouring vectors.
  void emit_body(const Position& position, int lanes, int unroll, Tail* tail) {
    builder_.set_lanes(lanes);
    const Pointers addresses = current_addresses(position);
    const auto num_vectors = static_cast<std::size_t>(unroll);
    std::vector<std::vector<llvm::Value*>> values(num_vectors, lanes == 1 ? scalars_ : splats_);
    const auto emit = [&](std::size_t vector, std::size_t id) {
      const std::int64_t first_lane = static_cast<std::int64_t>(vector) * lanes;
      values[vector][id] =
          emit_value(static_cast<ValueId>(id), values[vector], {addresses, first_lane, tail});
    };
    if (goes_side_by_side(unroll)) {
      for (std::size_t id = kernel_.num_hoisted; id < kernel_.body.size(); ++id)
        for (std::size_t vector = 0; vector < num_vectors; ++vector) emit(vector, id);
    } else {
      for (std::size_t vector = 0; vector < num_vectors; ++vector)
        for (std::size_t id = kernel_.num_hoisted; id < kernel_.body.size(); ++id) emit(vector, id);
    }
  }

  /// Of the operands that the body touches, where the innermost loop has come to.
  Pointers current_addresses(const Position& position) {
    Pointers addresses = position.pointers;
    std::vector<bool> done(num_operands());
    for (std::size_t id = kernel_.num_hoisted; id < kernel_.body.size(); ++id) {
      const Inst& inst = kernel_.body[id];
      if ((inst.op != Op::load && inst.op != Op::store) || done[inst.operand]) continue;
      done[inst.operand] = true;
      const ir::StrideClass stride = inner_stride(inst.operand);
      if (stride == stride_any || stride == 0) continue;
      llvm::Value* item = stride == 1
                              ? position.index
                              : builder_.CreateMul(position.index, builder_.getInt64(stride));
      addresses[inst.operand] =
          builder_.CreateGEP(builder_.memory_type(inst.dtype), addresses[inst.operand], item);
    }
    return addresses;
  }

  /// One vector of a body.
  struct Place {
    const Pointers& addresses;  ///< of lane 0 of the first vector
    std::int64_t first_lane;
    Tail* tail;
  };

  /// What is emitted from here on belongs to this line of the debug information, if there is any.
  void set_line(unsigned line) {
    if (scope_ != nullptr)
      builder_.SetCurrentDebugLocation(
          llvm::DILocation::get(builder_.getContext(), line, 0, scope_));
  }

  llvm::Value* emit_value(ValueId id, const std::vector<llvm::Value*>& values, const Place& place) {
    set_line(id + 1);
    llvm::Value* value = emit_inst(kernel_.body[id], values, place);
    set_line(0);
    return value;
  }

  llvm::Value* emit_inst(const Inst& inst, const std::vector<llvm::Value*>& values,
                         const Place& place) {
    std::vector<llvm::Value*> args;
    for (ValueId arg : inst.args)
      if (arg != ir::no_value) args.push_back(values[arg]);
    switch (inst.op) {
      case Op::constant: return builder_.splat(constant(inst.dtype, inst.bits.lo));
      case Op::param: return builder_.splat(param(inst));
      case Op::load: return load(builder_, access(inst.operand, place), place.tail);
      case Op::store:
        store(builder_, access(inst.operand, place), args[0], place.tail);
        return nullptr;
      case Op::cast: {
        const DType from = ir::result_dtype(kernel_.body[inst.args[0]]);
        return emit_cast(builder_, args[0], from, inst.dtype);
      }
      case Op::bitcast: return builder_.CreateBitCast(args[0], builder_.value_type(inst.dtype));
      default: return emit_operator(builder_, inst.op, inst.dtype, args);
    }
  }

  llvm::Value* constant(DType dtype, std::uint64_t bits) {
    llvm::Type* type = builder_.element_type(dtype);
    if (type->isIntegerTy())
      return llvm::ConstantInt::get(type, is_boolean(dtype) ? bits != 0 : bits);
    const llvm::APInt pattern(type->getScalarSizeInBits(), bits);
    return llvm::ConstantFP::get(type, llvm::APFloat(type->getFltSemantics(), pattern));
  }

  llvm::Value* param(const Inst& inst) {
    llvm::Value* value =
        load_field(params_, inst.operand * sizeof(Bits), builder_.memory_type(inst.dtype),
                   "param" + llvm::Twine(unsigned{inst.operand}));
    return is_boolean(inst.dtype) ? builder_.CreateICmpNE(value, builder_.getInt8(0)) : value;
  }

  Access access(std::size_t operand, const Place& place) {
    llvm::Value* step = stride_bytes(num_loops() - 1, operand);
    llvm::Value* address = place.addresses[operand];
    if (place.first_lane != 0)
      address = advance(address, builder_.CreateMul(step, builder_.getInt64(place.first_lane)));
    return {kernel_.operands[operand].dtype, inner_stride(operand), address, step};
  }

  const Kernel& kernel_;
  llvm::Function* function_;
  Builder builder_;
  Pointers bases_;
  std::vector<llvm::Value*> extents_;
  std::vector<llvm::Value*> stride_bytes_;  ///< [loop * num_operands + operand]
  llvm::Value* params_ = nullptr;
  std::vector<llvm::Value*> scalars_;  ///< of hoisted instructions
  std::vector<llvm::Value*> splats_;   ///< of those that vectors use
  llvm::DISubprogram* scope_;          ///< null: no debug information
};

}  // namespace

void emit_kernel(const ir::Kernel& kernel, const Target& target, llvm::Module& module,
                 Lines lines) {
  Emitter(kernel, target, module, lines).run();
}

}  // namespace weft::jit
