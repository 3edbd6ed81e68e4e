#include "jit/llvm/tile.h"

#include "jit/llvm/builder.h"
#include "jit/llvm/kernel_emitter.h"
#include "jit/llvm/object.h"
#include "jit/llvm/tile_symbols.h"

#include <cstddef>

namespace weft::jit {
namespace {

/// Emits what is asked for, once.  Where it will be is found by its symbol when it is loaded.
class TileEmitter final : public tiles::Functions {
 public:
  TileEmitter(const Target& target, llvm::Module& module, llvm::DICompileUnit* debug_unit)
      : target_(target), module_(module), debug_unit_(debug_unit) {
    target_.shape = {};  // its functions get parts of what is launched
  }

  tiles::FunctionOffset rows(tiles::RowKind kind, const ir::Kernel& kernel) override {
    KernelEmitter(kernel, target_, module_, tile_symbol(kind).c_str(), debug_unit_).emit_elements();
    return somewhere;
  }
  tiles::FunctionOffset fused_rows(tiles::RowKind kind, const ir::Kernel& kernel) override {
    if (KernelEmitter::calls_functions(kernel)) return 0;
    const bool is_large = kind == tiles::RowKind::large_fused;
    ir::Kernel rows = tiles::row_kernel(kernel);
    rows.is_streaming = rows.is_unfenced = is_large && tiles::fused_rows_stream(kernel);
    KernelEmitter(rows, target_, module_, tile_symbol(kind).c_str(), debug_unit_)
        .emit_fused(tiles::transposed_operands(kernel), is_large,
                    is_large ? tiles::asked_rows(kernel) : std::vector<std::size_t>());
    return somewhere;
  }
  tiles::FunctionOffset transpose(const tiles::TransposeShape& shape) override {
    if (const std::string symbol = tile_symbol(shape); module_.getFunction(symbol) == nullptr)
      emit_transpose(shape, target_, module_, symbol);
    return somewhere;
  }
  tiles::FunctionOffset interleave(const tiles::InterleaveShape& shape) override {
    if (const std::string symbol = tile_symbol(shape); module_.getFunction(symbol) == nullptr)
      emit_interleave(shape, target_, module_, symbol);
    return somewhere;
  }
  tiles::FunctionOffset short_transpose(int itemsize) override {
    emit_short_transpose(itemsize, target_, module_, short_transpose_symbol);
    return somewhere;
  }

 private:
  static constexpr tiles::FunctionOffset somewhere = 1;

  Target target_;
  llvm::Module& module_;
  llvm::DICompileUnit* debug_unit_;
};

void emit_entry(const Target& target, llvm::Module& module) {
  llvm::Type* const nothing = llvm::Type::getVoidTy(module.getContext());
  llvm::Type* const pointer = llvm::PointerType::getUnqual(module.getContext());
  llvm::Function* const entry = add_function(target.features, module, kernel_symbol, {pointer});
  Builder builder(entry, target.features);
  const llvm::FunctionCallee walk =
      module.getOrInsertFunction(run_tiles_symbol, nothing, pointer, pointer);
  llvm::Value* const context =
      builder.CreateLoad(pointer,
                         builder.CreateConstGEP1_64(builder.getInt8Ty(), entry->getArg(0),
                                                    offsetof(KernelArgs, context)),
                         "context");
  builder.CreateCall(walk, {entry->getArg(0), context})->setTailCall();
  builder.CreateRetVoid();
}

}  // namespace

void emit_tile(const ir::Kernel& kernel, const Target& target, llvm::Module& module,
               llvm::DICompileUnit* debug_unit) {
  emit_entry(target, module);
  TileEmitter functions(target, module, debug_unit);
  tiles::TileCode described;
  tiles::describe_tile(kernel, target.features, functions, described);
}

}  // namespace weft::jit
