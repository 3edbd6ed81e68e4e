#include "jit/llvm/memory.h"

#include "jit/tiles/functions.h"

#include <algorithm>
#include <vector>

namespace weft::jit {
namespace {

constexpr int register_bytes = 64;
const llvm::Align unaligned(1);  // views may start anywhere, and x86 asks for nothing more

int itemsize(DType dtype) { return static_cast<int>(itemsize_bytes(dtype)); }

/// Constant distances from -1 to 4 that whole vectors are moved for.  0 is a splat, for loads only.
bool is_wide(ir::StrideClass stride) { return stride == -1 || (stride >= 1 && stride <= 4); }

bool has_masked_moves(const Builder& builder, DType dtype) {
  return builder.has_avx512() || itemsize(dtype) >= 4;
}

/// Whether whole vectors are moved at such a stride, which is not 0.  Gaps stay as they are by
/// masks, and AVX2's stores under a mask take as long as some stores of single elements.
bool moves_vectors(const Builder& builder, DType dtype, ir::StrideClass stride, ir::Role role) {
  if (stride <= 1 || !is_wide(stride)) return is_wide(stride);
  return role == ir::Role::input ? has_masked_moves(builder, dtype) : builder.has_avx512();
}

llvm::Value* offset_bytes(Builder& builder, llvm::Value* address, std::int64_t bytes) {
  return bytes == 0 ? address : builder.CreateConstGEP1_64(builder.getInt8Ty(), address, bytes);
}

/// first, first + 1, ... in every lane, as integers just wide enough to compare a vector of them.
llvm::Constant* lane_numbers(Builder& builder, int first) {
  // One comparison fills a mask: 16 lanes of 32 bits, 64 of 8 bits and so on.
  const int register_bits = builder.has_avx512() ? 512 : 256;
  const int bits = std::clamp(register_bits / builder.lanes(), 8, 64);
  llvm::Type* type = builder.getIntNTy(static_cast<unsigned>(bits));
  std::vector<llvm::Constant*> numbers;
  numbers.reserve(static_cast<std::size_t>(builder.lanes()));
  for (int lane = 0; lane < builder.lanes(); ++lane)
    numbers.push_back(builder.integer(type, static_cast<std::uint64_t>(first + lane)));
  return llvm::ConstantVector::get(numbers);
}

llvm::Value* reversed(Builder& builder, llvm::Value* vector) {
  return builder.CreateVectorReverse(vector);
}

llvm::Value* masked_load(Builder& builder, llvm::Type* type, llvm::Value* address,
                         llvm::Value* mask) {
  return builder.CreateMaskedLoad(type, address, unaligned, mask,
                                  llvm::Constant::getNullValue(type));
}

/// One of the vectors that a strided vector's elements lie in, and which of its lanes are theirs.
struct Chunk {
  int first_item;  ///< counted from the first element
  llvm::Value* address;
  llvm::Value* mask;
};

/// Items of a chunk: of a whole register where one permutation takes what it likes from it, else of
/// a vector, and of a vector at the end of a row.
int items_of_chunk(const Builder& builder, const Access& access, Tail* tail) {
  const int items = register_bytes / itemsize(access.dtype);
  const bool is_whole =
      tail == nullptr && tiles::can_permute(builder.features(), itemsize(access.dtype));
  return is_whole ? std::max(items, builder.lanes()) : builder.lanes();
}

std::vector<Chunk> chunks(Builder& builder, const Access& access, Tail* tail) {
  const int items = items_of_chunk(builder, access, tail);
  const int span = (builder.lanes() - 1) * access.stride + 1;
  std::vector<Chunk> found;
  for (int first = 0; first < span; first += items) {
    std::vector<llvm::Constant*> belongs;
    belongs.reserve(static_cast<std::size_t>(items));
    for (int item = first; item < first + items; ++item)
      belongs.push_back(builder.getInt1(item < span && item % access.stride == 0));
    llvm::Value* mask = llvm::ConstantVector::get(belongs);
    if (tail != nullptr) mask = builder.CreateAnd(mask, tail->mask(builder, access.stride, first));
    llvm::Value* address =
        offset_bytes(builder, access.address, std::int64_t{first} * itemsize(access.dtype));
    found.push_back({first, address, mask});
  }
  return found;
}

llvm::Value* load_strided(Builder& builder, const Access& access, Tail* tail) {
  const int lanes = builder.lanes(), items = items_of_chunk(builder, access, tail);
  llvm::Type* type =
      llvm::FixedVectorType::get(builder.memory_type(access.dtype), static_cast<unsigned>(items));
  const int readable = ((access.is_followed ? 2 : 1) * lanes - 1) * access.stride + 1;
  llvm::Value* gathered = llvm::PoisonValue::get(type);
  for (const Chunk& chunk : chunks(builder, access, tail)) {
    const bool is_inside = tail == nullptr && chunk.first_item + items <= readable;
    llvm::Value* part = is_inside ? builder.CreateAlignedLoad(type, chunk.address, unaligned)
                                  : masked_load(builder, type, chunk.address, chunk.mask);
    std::vector<int> picks(static_cast<std::size_t>(items), llvm::PoisonMaskElem);
    for (int lane = 0; lane < lanes; ++lane) {
      const int item = lane * access.stride - chunk.first_item;
      picks[static_cast<std::size_t>(lane)] = item >= 0 && item < items ? items + item : lane;
    }
    gathered = builder.CreateShuffleVector(gathered, part, picks);
  }
  return items == lanes ? gathered
                        : builder.CreateExtractVector(builder.wide(type->getScalarType()), gathered,
                                                      builder.getInt64(0));
}

void store_strided(Builder& builder, const Access& access, llvm::Value* value, Tail* tail) {
  const int items = items_of_chunk(builder, access, tail);
  const int span = (builder.lanes() - 1) * access.stride + 1;
  for (const Chunk& chunk : chunks(builder, access, tail)) {
    std::vector<int> picks;
    for (int item = chunk.first_item; item < chunk.first_item + items; ++item) {
      const bool is_written = item < span && item % access.stride == 0;
      picks.push_back(is_written ? item / access.stride : llvm::PoisonMaskElem);
    }
    builder.CreateMaskedStore(builder.CreateShuffleVector(value, picks), chunk.address, unaligned,
                              chunk.mask);
  }
}

/// The address of each lane.
std::vector<llvm::Value*> lane_addresses(Builder& builder, const Access& access) {
  std::vector<llvm::Value*> addresses{access.address};
  for (int lane = 1; lane < builder.lanes(); ++lane)
    // One after the other: a multiple of an unknown stride for each lane would cost more than the
    // chain.
    addresses.push_back(builder.after(addresses.back(), access.stride_bytes));
  return addresses;
}

// Hardware gathers and scatters are no faster than this on the machines measured, and slower on
// most.
llvm::Value* load_lanes(Builder& builder, const Access& access) {
  llvm::Type* scalar = builder.memory_type(access.dtype);
  const std::vector<llvm::Value*> addresses = lane_addresses(builder, access);
  llvm::Value* vector = llvm::PoisonValue::get(builder.wide(scalar));
  for (std::uint64_t lane = 0; lane < addresses.size(); ++lane) {
    llvm::Value* element = builder.CreateAlignedLoad(scalar, addresses[lane], unaligned);
    vector = builder.CreateInsertElement(vector, element, lane);
  }
  return vector;
}

void store_lanes(Builder& builder, const Access& access, llvm::Value* value) {
  const std::vector<llvm::Value*> addresses = lane_addresses(builder, access);
  for (std::uint64_t lane = 0; lane < addresses.size(); ++lane)
    builder.CreateAlignedStore(builder.CreateExtractElement(value, lane), addresses[lane],
                               unaligned);
}

/// The lowest address and the mask of lanes at stride -1, which lie in memory in reverse.
Access lowest_first(Builder& builder, const Access& access) {
  Access lowest = access;
  lowest.stride = 1;
  lowest.address = offset_bytes(builder, access.address,
                                -std::int64_t{builder.lanes() - 1} * itemsize(access.dtype));
  return lowest;
}

llvm::Value* load_vector(Builder& builder, const Access& access, Tail* tail) {
  llvm::Type* scalar = builder.memory_type(access.dtype);
  llvm::Type* type = builder.wide(scalar);
  if (access.stride == 0)
    return builder.splat(builder.CreateAlignedLoad(scalar, access.address, unaligned));
  if (!moves_vectors(builder, access.dtype, access.stride, ir::Role::input))
    return load_lanes(builder, access);
  if (access.stride > 1) return load_strided(builder, access, tail);
  const bool backwards = access.stride < 0;
  const Access forward = backwards ? lowest_first(builder, access) : access;
  llvm::Value* value = nullptr;
  if (tail == nullptr) {
    value = builder.CreateAlignedLoad(type, forward.address, unaligned);
  } else {
    llvm::Value* mask = tail->mask(builder, 1, 0);
    value = masked_load(builder, type, forward.address, backwards ? reversed(builder, mask) : mask);
  }
  return backwards ? reversed(builder, value) : value;
}

/// The first `count` lanes, in as few pieces as there are powers of two in it.
void store_first(Builder& builder, llvm::Value* address, llvm::Value* value, int count) {
  int first = 0;
  for (int piece = builder.lanes() / 2; piece > 0; piece /= 2) {
    if ((count & piece) == 0) continue;
    std::vector<int> picks;
    for (int lane = first; lane < first + piece; ++lane) picks.push_back(lane);
    llvm::Value* part = piece == 1
                            ? builder.CreateExtractElement(value, static_cast<std::uint64_t>(first))
                            : builder.CreateShuffleVector(value, picks);
    llvm::Type* element = value->getType()->getScalarType();
    builder.CreateAlignedStore(
        part,
        offset_bytes(builder, address, first * std::int64_t{element->getScalarSizeInBits() / 8}),
        unaligned);
    first += piece;
  }
}

void store_vector(Builder& builder, const Access& access, llvm::Value* value, Tail* tail) {
  if (!moves_vectors(builder, access.dtype, access.stride, ir::Role::output))
    return store_lanes(builder, access, value);
  if (access.stride > 1) return store_strided(builder, access, value, tail);
  const bool backwards = access.stride < 0;
  const Access forward = backwards ? lowest_first(builder, access) : access;
  if (backwards) value = reversed(builder, value);
  if (tail == nullptr) {
    if (access.is_streamed) return store_past_caches(builder, value, access.address);
    builder.CreateAlignedStore(value, forward.address, unaligned);
    return;
  }
  // Without AVX-512 a masked store takes a dozen cycles.
  if (const auto count = tail->known_count(); count && !backwards && !builder.has_avx512())
    return store_first(builder, forward.address, value, *count);
  llvm::Value* mask = tail->mask(builder, 1, 0);
  builder.CreateMaskedStore(value, forward.address, unaligned,
                            backwards ? reversed(builder, mask) : mask);
}

}  // namespace

llvm::Value* Tail::mask(Builder& builder, int stride, int first_item) {
  llvm::Value*& mask = masks_[{stride, first_item}];
  if (mask != nullptr) return mask;
  // One less than the number of items: with 64 lanes and stride 4, as many as 8 bits can count.
  llvm::Value* last =
      builder.CreateMul(builder.CreateSub(remaining_, builder.getInt64(1)), builder.number(stride));
  llvm::Constant* numbers = lane_numbers(builder, first_item);
  llvm::Type* type = numbers->getType()->getScalarType();
  mask = builder.CreateICmpULE(numbers, builder.splat(builder.CreateTrunc(last, type)));
  return mask;
}

bool moves_lanes(const Builder& builder, DType dtype, ir::StrideClass stride, ir::Role role) {
  if (stride == 0) return role == ir::Role::output;
  return !moves_vectors(builder, dtype, stride, role);
}

void store_past_caches(Builder& builder, llvm::Value* vector, llvm::Value* address) {
  const std::uint64_t bytes = vector->getType()->getPrimitiveSizeInBits().getFixedValue() / 8;
  llvm::StoreInst* store = builder.CreateAlignedStore(vector, address, llvm::Align(bytes));
  llvm::Metadata* one = llvm::ConstantAsMetadata::get(builder.getInt32(1));
  store->setMetadata(llvm::LLVMContext::MD_nontemporal,
                     llvm::MDNode::get(builder.getContext(), one));
}

namespace {

void prefetch(Builder& builder, llvm::Value* address, CacheLevel level, bool writes) {
  constexpr unsigned is_data = 1;
  const unsigned locality = level == CacheLevel::first ? 3 : 2;
  builder.CreateIntrinsic(llvm::Intrinsic::prefetch, {builder.getPtrTy()},
                          {address, builder.getInt32(writes ? 1 : 0), builder.getInt32(locality),
                           builder.getInt32(is_data)});
}

}  // namespace

void prefetch(Builder& builder, llvm::Value* address, CacheLevel level) {
  prefetch(builder, address, level, false);
}

void prefetch_to_write(Builder& builder, llvm::Value* address) {
  prefetch(builder, address, CacheLevel::first, true);
}

void prefetch_apart(Builder& builder, llvm::Value* stride,
                    const std::function<void(CacheLevel)>& ask) {
  llvm::BasicBlock* const apart = builder.new_block("apart");
  llvm::BasicBlock* const fighting = builder.new_block("fighting");
  llvm::BasicBlock* const asked = builder.new_block("asked");
  llvm::Value* const over = builder.CreateAnd(stride, builder.getInt64(tiles::aliasing_bytes - 1));
  builder.CreateCondBr(builder.CreateIsNull(over), fighting, apart);
  for (const CacheLevel level : {CacheLevel::first, CacheLevel::second}) {
    builder.SetInsertPoint(level == CacheLevel::first ? apart : fighting);
    ask(level);
    builder.CreateBr(asked);
  }
  builder.SetInsertPoint(asked);
}

std::optional<int> Tail::known_count() const {
  const auto* count = llvm::dyn_cast<llvm::ConstantInt>(remaining_);
  if (count == nullptr) return std::nullopt;
  return static_cast<int>(count->getSExtValue());
}

bool can_mask(const Builder& builder, DType dtype, ir::StrideClass stride, ir::Role role) {
  if (stride == 0) return role == ir::Role::input;
  return moves_vectors(builder, dtype, stride, role) && has_masked_moves(builder, dtype);
}

llvm::Value* load(Builder& builder, const Access& access, Tail* tail) {
  llvm::Value* value =
      builder.lanes() == 1
          ? builder.CreateAlignedLoad(builder.memory_type(access.dtype), access.address, unaligned)
          : load_vector(builder, access, tail);
  if (!is_boolean(access.dtype)) return value;
  return builder.CreateICmpNE(value, builder.integer(value->getType(), 0));
}

llvm::Value* load_part(Builder& builder, const Access& access, bool is_imaginary,
                       std::span<const int> order) {
  llvm::Type* const both = llvm::FixedVectorType::get(builder.memory_type(access.dtype),
                                                      2 * static_cast<unsigned>(builder.lanes()));
  llvm::Value* const first =
      offset_bytes(builder, access.address, is_imaginary ? -itemsize(access.dtype) : 0);
  std::vector<int> picks;
  for (const int number : order) picks.push_back(2 * number + (is_imaginary ? 1 : 0));
  return builder.CreateShuffleVector(builder.CreateAlignedLoad(both, first, unaligned), picks);
}

void store_parts(Builder& builder, const Access& access, llvm::Value* real, llvm::Value* imaginary,
                 std::span<const int> order) {
  std::vector<int> picks(2 * order.size());
  for (std::size_t lane = 0; lane < order.size(); ++lane) {
    const auto number = static_cast<std::size_t>(order[lane]);
    picks[2 * number] = static_cast<int>(lane);
    picks[2 * number + 1] = static_cast<int>(order.size() + lane);
  }
  builder.CreateAlignedStore(builder.CreateShuffleVector(real, imaginary, picks), access.address,
                             unaligned);
}

void store(Builder& builder, const Access& access, llvm::Value* value, Tail* tail) {
  if (is_boolean(access.dtype))
    value = builder.CreateZExt(value, builder.wide(builder.getInt8Ty()));
  if (builder.lanes() == 1)
    builder.CreateAlignedStore(value, access.address, unaligned);
  else
    store_vector(builder, access, value, tail);
}

}  // namespace weft::jit
