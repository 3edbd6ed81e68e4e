// Loads and stores of whole vectors, by what is known of the stride.
#pragma once

#include "ir/kernel.h"
#include "jit/llvm/builder.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>

namespace weft::jit {

/// Where the lanes of one vector lie.
struct Access {
  DType dtype;
  ir::StrideClass stride;     ///< of the operand along the vector loop
  llvm::Value* address;       ///< of the first lane
  llvm::Value* stride_bytes;  ///< a constant unless `stride` is stride_any
  /// Whole vectors are stored past the caches.  Requires: stride 1, and an address that is aligned
  /// to as many bytes as a vector has.
  bool is_streamed = false;
  bool is_followed = false;  ///< by another whole vector
};

/// Whether such an access takes an instruction or more for each lane.
bool moves_lanes(const Builder& builder, DType dtype, ir::StrideClass stride, ir::Role role);

/// Whether load() and store() can leave out lanes of such an access.
bool can_mask(const Builder& builder, DType dtype, ir::StrideClass stride, ir::Role role);

/// The end of a row that does not fill a vector: which lanes are meant.
class Tail {
 public:
  /// `remaining`: how many elements are left, as an i64 between 1 and the number of lanes.
  explicit Tail(llvm::Value* remaining) : remaining_(remaining) {}

  /// Items [first_item, first_item + lanes), counted from the first element of an operand with this
  /// stride: those up to its last element.  Masks are made once.
  llvm::Value* mask(Builder& builder, int stride, int first_item);
  /// How many elements are left, if that is known now.
  std::optional<int> known_count() const;

 private:
  llvm::Value* remaining_;
  std::map<std::pair<int, int>, llvm::Value*> masks_;
};

/// Both touch the bytes of the lanes' elements, and loads what lies between them.  Lanes that
/// `tail` leaves out are not stored, and 0 where loaded; it may be null.
///
/// Requires: can_mask(), if there is a tail.
llvm::Value* load(Builder& builder, const Access& access, Tail* tail);
void store(Builder& builder, const Access& access, llvm::Value* value, Tail* tail);

/// Of complex numbers that are neighbours one part, where `access` says, or both, of which it says
/// where the real ones are to go.  Loads whole numbers.  `order`: the number that each lane has.
llvm::Value* load_part(Builder& builder, const Access& access, bool is_imaginary,
                       std::span<const int> order);
void store_parts(Builder& builder, const Access& access, llvm::Value* real, llvm::Value* imaginary,
                 std::span<const int> order);

/// Requires: `address` is aligned to the vector's bytes, and a fence before who reads it is told.
void store_past_caches(Builder& builder, llvm::Value* vector, llvm::Value* address);

enum class CacheLevel : std::uint8_t { first, second };

/// Asks for the line of the cache in which the address lies.
void prefetch(Builder& builder, llvm::Value* address, CacheLevel level = CacheLevel::first);
/// The same for a line that will be written, which no other core may have then.
void prefetch_to_write(Builder& builder, llvm::Value* address);

/// What `ask` emits to ask for lines `stride` bytes apart.  Those that fight for the first cache
/// are asked into the second, which holds more that are as far apart.
void prefetch_apart(Builder& builder, llvm::Value* stride,
                    const std::function<void(CacheLevel)>& ask);

}  // namespace weft::jit
