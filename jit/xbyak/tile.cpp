// The machine code of a tile kernel: an entry that leads to the walk in jit/tiles/walk.cpp, the
// kernels for the rows of a tile, and the transpositions of the operands that need one.
#include "jit/xbyak/tile.h"

#include "jit/xbyak/emit.h"
#include "jit/xbyak/interleave.h"
#include "jit/xbyak/short_transpose.h"
#include "jit/xbyak/tile_fused.h"
#include "jit/xbyak/transpose.h"

#include <cstring>
#include <map>
#include <string_view>

namespace weft::jit::xbyak {
namespace {

using tiles::FunctionOffset;

template <class T>
Address address_constant(Assembler& code, const T* pointer) {
  std::array<std::byte, sizeof(std::uintptr_t)> bytes;
  std::memcpy(bytes.data(), &pointer, bytes.size());
  return code.constant(bytes);
}

class TileEmitter final : public tiles::Functions {
 public:
  TileEmitter(Assembler& code, const ir::Kernel& kernel, tiles::TileCode& tile, bool may_fuse)
      : code_(code), kernel_(kernel), tile_(tile), may_fuse_(may_fuse) {}

  void emit();

 private:
  FunctionOffset rows(tiles::RowKind kind, const ir::Kernel& kernel) override;
  FunctionOffset fused_rows(tiles::RowKind kind, const ir::Kernel& kernel) override;
  FunctionOffset transpose(const tiles::TransposeShape& shape) override;
  FunctionOffset interleave(const tiles::InterleaveShape& shape) override;
  FunctionOffset short_transpose(int itemsize) override;
  void entry();
  FunctionOffset start_function(std::string_view part);

  Assembler& code_;
  const ir::Kernel& kernel_;
  tiles::TileCode& tile_;
  const bool may_fuse_;
  // Operands of one size share their functions.
  std::map<tiles::TransposeShape, FunctionOffset> transposes_;
  std::map<tiles::InterleaveShape, FunctionOffset> interleaves_;
};

void TileEmitter::entry() {
  code_.mov(code_.rsi, address_constant(code_, &tile_));
  const auto walk = reinterpret_cast<std::uintptr_t>(&tiles::run_tiles);
  code_.jmp(address_constant(code_, reinterpret_cast<const std::byte*>(walk)));
}

FunctionOffset TileEmitter::start_function(std::string_view part) {
  code_.align(32);
  code_.mark(part);
  return static_cast<FunctionOffset>(code_.getSize());
}

FunctionOffset TileEmitter::rows(tiles::RowKind kind, const ir::Kernel& kernel) {
  const FunctionOffset start = start_function(name(kind));
  emit_kernel(code_, kernel, true);
  return start;
}

FunctionOffset TileEmitter::fused_rows(tiles::RowKind kind, const ir::Kernel& kernel) {
  if (!may_fuse_) return 0;
  const FunctionOffset start = start_function(name(kind));
  return emit_fused_rows(code_, kernel, kind == tiles::RowKind::large_fused) ? start : 0;
}

FunctionOffset TileEmitter::transpose(const tiles::TransposeShape& shape) {
  const auto [found, is_new] = transposes_.try_emplace(shape, FunctionOffset{0});
  if (is_new) {
    found->second =
        start_function(shape.is_streaming ? "transposition past the caches" : "transposition");
    emit_transpose(code_, shape);
  }
  return found->second;
}

FunctionOffset TileEmitter::interleave(const tiles::InterleaveShape& shape) {
  const auto [found, is_new] = interleaves_.try_emplace(shape, FunctionOffset{0});
  if (is_new) {
    found->second = start_function(shape.to_pixels ? "planes to pixels" : "pixels to planes");
    emit_interleave(code_, shape);
  }
  return found->second;
}

FunctionOffset TileEmitter::short_transpose(int itemsize) {
  const FunctionOffset start = start_function("transpositions of few lines each");
  emit_short_transpose(code_, itemsize);
  return start;
}

void TileEmitter::emit() {
  entry();
  tiles::describe_tile(kernel_, code_.features(), *this, tile_);
}

}  // namespace

void emit_tile(Assembler& code, const ir::Kernel& kernel, tiles::TileCode& tile, bool may_fuse) {
  TileEmitter(code, kernel, tile, may_fuse).emit();
}

}  // namespace weft::jit::xbyak
