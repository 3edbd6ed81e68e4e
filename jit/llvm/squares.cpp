// log2(side) rounds in which vector `k` is interleaved with vector `k + side / 2`.
#include "jit/llvm/squares.h"

#include <algorithm>

namespace weft::jit {
namespace {

/// The lower or upper halves of the lanes of two vectors, item by item.
llvm::Value* unpacked(Builder& builder, bool upper, int side, llvm::Value* x, llvm::Value* y) {
  const auto total =
      static_cast<int>(llvm::cast<llvm::FixedVectorType>(x->getType())->getNumElements());
  std::vector<int> picks;
  for (int lane = 0; lane < total; lane += side)
    for (int i = 0; i < side / 2; ++i) {
      const int item = lane + i + (upper ? side / 2 : 0);
      picks.insert(picks.end(), {item, total + item});
    }
  return builder.CreateShuffleVector(x, y, picks);
}

}  // namespace

llvm::FixedVectorType* items_type(Builder& builder, int itemsize, int bytes) {
  const int element_bytes = std::min(itemsize, 8);
  return llvm::FixedVectorType::get(builder.getIntNTy(8 * static_cast<unsigned>(element_bytes)),
                                    static_cast<unsigned>(bytes / element_bytes));
}

std::vector<llvm::Value*> strided_addresses(Builder& builder, llvm::Value* base,
                                            llvm::Value* stride, int count) {
  std::vector<llvm::Value*> found;
  llvm::Value* const twice = builder.CreateShl(stride, 1);
  llvm::Value* const thrice = builder.CreateAdd(twice, stride);
  for (int i = 0; i < count; ++i) {
    if (i > 0 && i % 4 == 0) base = builder.after(base, builder.CreateShl(stride, 2));
    llvm::Value* const offsets[] = {nullptr, stride, twice, thrice};
    found.push_back(i % 4 == 0 ? base : builder.after(base, offsets[i % 4]));
  }
  return found;
}

llvm::Value* load_lane(Builder& builder, llvm::FixedVectorType* type, llvm::Value* vector, int lane,
                       llvm::Value* address) {
  const auto element_bytes = static_cast<int>(type->getScalarSizeInBits() / 8);
  auto* const piece_type = llvm::FixedVectorType::get(
      type->getElementType(), static_cast<unsigned>(lane_bytes / element_bytes));
  llvm::Value* const piece = builder.CreateAlignedLoad(piece_type, address, llvm::Align(1));
  if (type == piece_type) return piece;
  if (lane == 0) vector = llvm::PoisonValue::get(type);
  const auto first = static_cast<std::uint64_t>(lane * lane_bytes / element_bytes);
  return builder.CreateInsertVector(type, vector, piece, builder.getInt64(first));
}

std::vector<llvm::Value*> transpose_lanes(Builder& builder, std::vector<llvm::Value*> vectors) {
  const auto side = static_cast<int>(vectors.size());
  const std::size_t half = vectors.size() / 2;
  for (int width = 1; width < side; width *= 2) {
    std::vector<llvm::Value*> next;
    for (std::size_t k = 0; k < half; ++k)
      for (const bool upper : {false, true})
        next.push_back(unpacked(builder, upper, side, vectors[k], vectors[k + half]));
    vectors = std::move(next);
  }
  return vectors;
}

}  // namespace weft::jit
