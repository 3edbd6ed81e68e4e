// Squares of items that lie on the diagonal of 16 bytes: what transpositions in registers are made
// of, whatever calls for them.
#pragma once

#include "jit/llvm/builder.h"
#include "jit/tiles/functions.h"

#include <cstdint>
#include <vector>

namespace weft::jit {

using tiles::lane_bytes;

/// A register of so many bytes.  Items of 16 bytes are two of 8, which no round takes apart.
llvm::FixedVectorType* items_type(Builder& builder, int itemsize, int bytes);

/// `count` addresses, `stride` apart: three beside each one that an addition finds.
std::vector<llvm::Value*> strided_addresses(Builder& builder, llvm::Value* base,
                                            llvm::Value* stride, int count);

/// `vector` with the 16 bytes at an address in the lane of that number.  Lane 0 begins a vector,
/// whose other lanes are poison until they are loaded.
llvm::Value* load_lane(Builder& builder, llvm::FixedVectorType* type, llvm::Value* vector, int lane,
                       llvm::Value* address);

/// Transposes within each lane: item i of lane g of vector k becomes item k of lane g of vector i.
///
/// Requires: as many vectors as 16 bytes have items.
std::vector<llvm::Value*> transpose_lanes(Builder& builder, std::vector<llvm::Value*> vectors);

}  // namespace weft::jit
