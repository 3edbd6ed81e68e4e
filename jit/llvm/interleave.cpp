// Every vector written is put together from `ways` vectors read: with AVX-512 by permutations of
// two registers, elsewhere by shuffles of each 16 bytes that leave zeros to be filled by the
// others.

#include "jit/llvm/builder.h"
#include "jit/llvm/memory.h"
#include "jit/llvm/tile.h"

#include <llvm/IR/IntrinsicsX86.h>

#include <vector>

namespace weft::jit {
namespace {

using tiles::lane_bytes;

class InterleaveEmitter {
 public:
  InterleaveEmitter(const tiles::InterleaveShape& shape, const Target& target,
                    llvm::Function* function)
      : shape_(shape),
        permutes_(tiles::can_permute(target.features, shape.itemsize)),
        group_(tiles::group_items(target.features, shape)),
        function_(function),
        builder_(function, target.features) {}

  void emit();

 private:
  /// Of what one shuffle sees.
  int items() const { return (permutes_ ? 64 : lane_bytes) / shape_.itemsize; }
  tiles::InterleaveSource source(int vector, int item) const {
    return interleave_source(shape_, items(), vector, item);
  }
  /// Whether four groups go out at once, which fill a cache line of each plane.
  bool completes_lines() const { return shape_.is_streaming && !shape_.to_pixels && !permutes_; }
  llvm::Value* plane(int index) {
    return builder_.after(planes_,
                          builder_.CreateMul(function_->getArg(1), builder_.number(index)));
  }
  llvm::Value* pixel_bytes(int bytes) { return builder_.after(pixels_, builder_.number(bytes)); }
  llvm::Value* load(llvm::Type* type, llvm::Value* from) {
    return builder_.CreateAlignedLoad(type, from, llvm::Align(1));
  }
  void store(llvm::Value* vector, llvm::Value* to) {
    shape_.is_streaming ? store_past_caches(builder_, vector, to)
                        : void(builder_.CreateAlignedStore(vector, to, llvm::Align(1)));
  }
  void permute_step();
  std::vector<llvm::Value*> read_groups(int first_group);
  llvm::Value* put_together(const std::vector<llvm::Value*>& read, int vector);
  void shuffle_step();
  void lines_step();
  llvm::Value* loop(llvm::Value* first, int pixels, void (InterleaveEmitter::*step)());
  llvm::Constant* shuffle(int vector, int from);

  const tiles::InterleaveShape shape_;
  const bool permutes_;
  const int group_;
  llvm::Function* function_;
  Builder builder_;
  llvm::Value* planes_ = nullptr;  ///< where the step is
  llvm::Value* pixels_ = nullptr;
};

// Stage k adds what comes from vector k + 1 to what there is.
void InterleaveEmitter::permute_step() {
  auto* const type =
      llvm::FixedVectorType::get(builder_.getIntNTy(8 * static_cast<unsigned>(shape_.itemsize)),
                                 static_cast<unsigned>(items()));
  std::vector<llvm::Value*> read;
  for (int k = 0; k < shape_.ways; ++k)
    read.push_back(load(type, shape_.to_pixels ? plane(k) : pixel_bytes(64 * k)));
  for (int vector = 0; vector < shape_.ways; ++vector) {
    llvm::Value* out = read[0];
    for (int stage = 0; stage + 1 < shape_.ways; ++stage) {
      std::vector<int> picks;
      for (int i = 0; i < items(); ++i) {
        const tiles::InterleaveSource from = source(vector, i);
        const bool is_first = stage == 0 && from.vector == 0;
        picks.push_back(from.vector == stage + 1 ? items() + from.item : is_first ? from.item : i);
      }
      out = builder_.CreateShuffleVector(out, read[static_cast<std::size_t>(stage + 1)], picks);
    }
    store(out, shape_.to_pixels ? pixel_bytes(64 * vector) : plane(vector));
  }
}

/// The bytes of one source vector, the same in both halves; others become zero.
llvm::Constant* InterleaveEmitter::shuffle(int vector, int from) {
  constexpr std::uint8_t zero = 0x80;
  std::vector<std::uint8_t> order(2 * lane_bytes, zero);
  for (int i = 0; i < 2 * lane_bytes; ++i) {
    const tiles::InterleaveSource at = source(vector, i % lane_bytes / shape_.itemsize);
    if (at.vector == from)
      order[static_cast<std::size_t>(i)] =
          static_cast<std::uint8_t>(at.item * shape_.itemsize + i % shape_.itemsize);
  }
  return llvm::ConstantDataVector::get(builder_.getContext(), order);
}

// Two groups at once, one in each half of the registers.
std::vector<llvm::Value*> InterleaveEmitter::read_groups(int first_group) {
  const int ways = shape_.ways;
  auto* const half = llvm::FixedVectorType::get(builder_.getInt8Ty(), lane_bytes);
  auto* const whole = llvm::FixedVectorType::get(builder_.getInt8Ty(), 2 * lane_bytes);
  std::vector<llvm::Value*> read;
  for (int k = 0; k < ways; ++k) {
    if (shape_.to_pixels) {
      read.push_back(load(whole, plane(k)));
      continue;
    }
    llvm::Value* both = llvm::PoisonValue::get(whole);
    for (const int group : {0, 1})
      both = builder_.CreateInsertVector(
          whole, both, load(half, pixel_bytes(lane_bytes * ((first_group + group) * ways + k))),
          builder_.number(group * lane_bytes));
    read.push_back(both);
  }
  return read;
}

llvm::Value* InterleaveEmitter::put_together(const std::vector<llvm::Value*>& read, int vector) {
  llvm::Value* out = nullptr;
  for (int from = 0; from < shape_.ways; ++from) {
    llvm::Value* const part =
        builder_.CreateIntrinsic(llvm::Intrinsic::x86_avx2_pshuf_b, {},
                                 {read[static_cast<std::size_t>(from)], shuffle(vector, from)});
    out = out == nullptr ? part : builder_.CreateOr(out, part);
  }
  return out;
}

void InterleaveEmitter::shuffle_step() {
  auto* const half = llvm::FixedVectorType::get(builder_.getInt8Ty(), lane_bytes);
  const std::vector<llvm::Value*> read = read_groups(0);
  for (int vector = 0; vector < shape_.ways; ++vector) {
    llvm::Value* const out = put_together(read, vector);
    if (!shape_.to_pixels) {
      store(out, plane(vector));
      continue;
    }
    for (const int group : {0, 1})
      store(builder_.CreateExtractVector(half, out, builder_.number(group * lane_bytes)),
            pixel_bytes(lane_bytes * (group * shape_.ways + vector)));
  }
}

// The halves of a plane's line one after the other: what is stored past the caches is collected in
// few buffers of a line.
void InterleaveEmitter::lines_step() {
  const std::vector<llvm::Value*> lower = read_groups(0), upper = read_groups(2);
  for (int vector = 0; vector < shape_.ways; ++vector) {
    store(put_together(lower, vector), plane(vector));
    store(put_together(upper, vector),
          builder_.after(plane(vector), builder_.number(2 * lane_bytes)));
  }
}

/// As many steps of so many pixels as there are from `first` on; returns where they end.
llvm::Value* InterleaveEmitter::loop(llvm::Value* first, int pixels,
                                     void (InterleaveEmitter::*step)()) {
  llvm::BasicBlock* const before = builder_.GetInsertBlock();
  llvm::BasicBlock* const loop = builder_.new_block("groups");
  llvm::BasicBlock* const done = builder_.new_block("done");
  llvm::Value* const last =
      builder_.CreateSub(function_->getArg(3), builder_.number(pixels), "last");
  builder_.CreateCondBr(builder_.CreateICmpSLT(last, first), done, loop);
  builder_.SetInsertPoint(loop);
  llvm::PHINode* const pixel = builder_.CreatePHI(builder_.getInt64Ty(), 2, "pixel");
  pixel->addIncoming(first, before);
  llvm::Value* const offset = builder_.CreateMul(pixel, builder_.number(shape_.itemsize));
  planes_ = builder_.after(function_->getArg(0), offset);
  pixels_ = builder_.after(function_->getArg(2),
                           builder_.CreateMul(offset, builder_.number(shape_.ways)));
  (this->*step)();
  llvm::Value* const next = builder_.CreateAdd(pixel, builder_.number(pixels));
  llvm::BasicBlock* const after = builder_.GetInsertBlock();
  pixel->addIncoming(next, after);
  builder_.CreateCondBr(builder_.CreateICmpSLE(next, last), loop, done);
  builder_.SetInsertPoint(done);
  llvm::PHINode* const end = builder_.CreatePHI(builder_.getInt64Ty(), 2, "end");
  end->addIncoming(first, before);
  end->addIncoming(next, after);
  return end;
}

void InterleaveEmitter::emit() {
  llvm::Value* first = builder_.number(0);
  if (completes_lines()) first = loop(first, 2 * group_, &InterleaveEmitter::lines_step);
  loop(first, group_,
       permutes_ ? &InterleaveEmitter::permute_step : &InterleaveEmitter::shuffle_step);
  builder_.CreateRetVoid();
}

}  // namespace

void emit_interleave(const tiles::InterleaveShape& shape, const Target& target,
                     llvm::Module& module, const std::string& symbol) {
  llvm::Type* const pointer = llvm::PointerType::getUnqual(module.getContext());
  llvm::Type* const number = llvm::Type::getInt64Ty(module.getContext());
  llvm::Function* const function =
      add_function(target.features, module, symbol, {pointer, number, pointer, number});
  InterleaveEmitter(shape, target, function).emit();
}

}  // namespace weft::jit
