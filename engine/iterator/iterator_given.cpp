// The commonest calls, planned in one look at each operand instead of stage by stage: everything
// given, of one dtype, on the CPU, outputs of the full shape and apart from inputs or the very same
// tensors.  The stages of iterator.cpp would come to the same plan; it is the number of
// instructions that counts here.
#include "engine/iterator/iter_plan.h"

#include <weft/iterator.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

namespace weft {
namespace {

using namespace iter;
using detail::IterOperandTraits;

constexpr int max_given = static_cast<int>(detail::inline_operands);
constexpr int max_given_dims = static_cast<int>(detail::inline_dims);

/// Strides in bytes, by operand and then by dimension.
using GivenStrides = std::int64_t[max_given][max_given_dims];

/// As a number: operands lie in different objects, whose pointers have no order or distance.
std::int64_t address_of(const std::byte* data) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data));
}

/// Addresses that hold all of an operand.
struct ByteRange {
  std::int64_t begin;
  std::int64_t end;

  ByteRange() = default;  // without values
  ByteRange(const std::byte* data, std::int64_t size_bytes)
      : begin(address_of(data)), end(begin + size_bytes) {}
  bool overlaps(const ByteRange& other) const { return begin < other.end && other.begin < end; }
};

/// Traits as a number, to compare or to write in one instruction.
template <class Traits>
std::uint64_t word_of(const Traits& traits) {
  static_assert(sizeof(Traits) == sizeof(std::uint64_t));
  return std::bit_cast<std::uint64_t>(traits);
}
static_assert(offsetof(ViewTraits, dtype) == 0 && offsetof(ViewTraits, access) == 3 &&
              offsetof(ViewTraits, is_contiguous) == 4);
/// What must be equal: a dtype, leave to write, and for the first of them one block of memory.
constexpr auto contiguous_mask = std::bit_cast<std::uint64_t>(
    std::array<std::uint8_t, sizeof(std::uint64_t)>{0xff, 0, 0, 0xff, 0xff});
constexpr auto strided_mask =
    std::bit_cast<std::uint64_t>(std::array<std::uint8_t, sizeof(std::uint64_t)>{0xff, 0, 0, 0xff});

/// What the traits of operands have to be, or are to become.
struct TraitWords {
  explicit TraitWords(DType dtype) {
    ViewTraits view;
    view.dtype = dtype;
    contiguous = word_of(view) & contiguous_mask;
    strided = contiguous & strided_mask;
    IterOperandTraits operand;
    operand.dtype = dtype;
    input = word_of(operand);
    operand.is_output = true;
    output = word_of(operand);
  }

  std::uint64_t contiguous;
  std::uint64_t strided;
  std::uint64_t input;
  std::uint64_t output;
};

/// The address where the elements of `impl`, which may be written, are counted from; null unless
/// they are on the CPU.
std::byte* base_of(const TensorImpl& impl) {
  const Storage& storage = *impl.storage;
  return storage.device().type == DeviceType::cpu ? storage.data() : nullptr;
}
/// Member by member: what is put together elsewhere is copied by words that were written as bytes.
[[gnu::always_inline]] inline void set_operand(IterOperand& operand,
                                               const detail::GivenOperand& given,
                                               const TensorImpl& impl, std::byte* data,
                                               std::uint64_t traits) {
  std::memcpy(static_cast<void*>(static_cast<IterOperandTraits*>(&operand)), &traits,
              sizeof(traits));
  operand.borrowed = given.borrowed;
  operand.data = data;
  operand.impl = &impl;
  if (given.borrowed == nullptr) [[unlikely]]
    operand.owned_index = given.owned_index;
}

/// Of two layouts with as many dimensions, more than one.  Out of line: one dimension is commoner.
[[gnu::noinline]] bool same_inner_sizes(const TensorImpl& a, const TensorImpl& b) {
  return std::equal(a.sizes.begin() + 1, a.sizes.end(), b.sizes.begin() + 1);
}

/// Of two layouts with elements.  Where the products and all sizes but the first are equal, the
/// first ones are.
[[gnu::always_inline]] inline bool same_sizes(const TensorImpl& a, const TensorImpl& b) {
  const int ndim = a.ndim();
  return a.numel == b.numel && ndim == b.ndim() && (ndim <= 1 || same_inner_sizes(a, b));
}

/// The strides of an operand that may be broadcast.  Sets the bits of the dimensions that it does
/// not have in full in `missing`; returns false where its sizes don't broadcast to `sizes`, and
/// for strides that stride_in_bytes() replaces.
[[gnu::always_inline]] inline bool collect_strides(const TensorImpl& impl,
                                                   const std::int64_t* sizes, int ndim,
                                                   std::int64_t itemsize, std::int64_t* to,
                                                   unsigned& missing) {
  const int num_missing = ndim - impl.ndim();
  if (num_missing < 0) return false;
  const std::int64_t* const own_sizes = impl.sizes.data();
  const std::int64_t* const own_strides = impl.strides.data();
  missing = (1U << num_missing) - 1;
  std::int64_t all_bits = 0;  // of the strides, without those of their signs
  for (std::int64_t dim = 0; dim < num_missing; ++dim) to[dim] = 0;
  for (std::int64_t dim = num_missing; dim < ndim; ++dim) {
    const std::int64_t own = dim - num_missing;
    if (own_sizes[own] == sizes[dim]) [[likely]] {
      to[dim] = wrapping_product(own_strides[own], itemsize);
      all_bits |= own_strides[own] ^ own_strides[own] >> 63;
    } else if (own_sizes[own] == 1) {
      to[dim] = 0;
      missing |= 1U << dim;
    } else {
      return false;
    }
  }
  return all_bits < longest_stride;
}

/// As order_dimensions() where every size is more than 1: the strides of the output, which is
/// dense, are all different and not 0, and leave nothing undecided.
void order_by_output(const GivenStrides& given, int ndim, int* perm) {
  for (int i = 1; i < ndim; ++i) {
    const int moved = perm[i];
    const std::int64_t stride = std::abs(given[0][moved]);
    int place = i;
    for (; place > 0 && std::abs(given[0][perm[place - 1]]) > stride; --place)
      perm[place] = perm[place - 1];
    perm[place] = moved;
  }
}

/// As reorder_dimensions() does it for what is no reduction, from the reversal on.
void order_dimensions(const GivenStrides& given, const std::int64_t* sizes, int ndim,
                      int num_operands, int* perm) {
  for (int i = 1; i < ndim; ++i) {
    int place = i;
    for (int before = i - 1; before >= 0; --before) {
      const int outer = perm[before];
      const int inner = perm[place];
      int comparison = 0;
      for (int k = 0; k < num_operands && comparison == 0; ++k) {
        const std::int64_t stride0 = std::abs(given[k][outer]);
        const std::int64_t stride1 = std::abs(given[k][inner]);
        if (stride0 == 0 || stride1 == 0) continue;
        if (stride0 != stride1) {
          comparison = stride0 < stride1 ? -1 : 1;
        } else if (sizes[outer] > sizes[inner]) {
          comparison = 1;
        }
      }
      if (comparison < 0) break;
      if (comparison > 0) {
        std::swap(perm[before], perm[place]);
        place = before;
      }
    }
  }
}

/// Permutes and coalesces at once: every dimension of the result is written when it is complete.
template <int num_operands>
void merge_dimensions(const GivenStrides& given, const std::int64_t* sizes, const int* perm,
                      int ndim, DimArray<std::int64_t>& shape, StrideTable& table) {
  table.num_rows = num_operands;
  table.row_length = ndim;
  table.values.resize_inline(static_cast<std::size_t>(num_operands * ndim));
  std::int64_t* size_out = shape.data();
  std::int64_t* strides_out = table.values.data();
  const auto write = [&](std::int64_t size, int dim) {
    *size_out++ = size;
    std::int64_t* to = strides_out++;
    for (int k = 0; k < num_operands; ++k, to += ndim) *to = given[k][dim];
  };
  const auto continues = [&](int dim, std::int64_t size, int next) {
    for (int k = 0; k < num_operands; ++k) {
      if (size * given[k][dim] != given[k][next]) return false;
    }
    return true;
  };
  int dim = perm[0];
  std::int64_t size = sizes[dim];
  for (int i = 1; i < ndim; ++i) {
    const int next = perm[i];
    const std::int64_t next_size = sizes[next];
    if (size == 1) {
      dim = next;
    } else if (next_size != 1 && !continues(dim, size, next)) {
      write(size, dim);
      size = 1;
      dim = next;
    }
    size *= next_size;
  }
  write(size, dim);
  shape.resize_inline(static_cast<std::size_t>(size_out - shape.data()));
}

}  // namespace

/// Dimensions in reverse, walked through as one.
template <int num_operands>
inline void TensorIterator::set_contiguous_shape(std::int64_t itemsize) {
  const TensorImpl& first = *operands_[0].impl;
  const int ndim = first.ndim();
  const std::int64_t* const from = first.sizes.data();
  fast_setup_ = FastSetup::contiguous;
  strides_.num_rows = num_operands;
  if (ndim == 1) {
    sizes_.resize_inline(1);
    perm_.resize_inline(1);
    sizes_[0] = from[0];
    perm_[0] = 0;
  } else {
    sizes_.resize(static_cast<std::size_t>(ndim));
    perm_.resize(static_cast<std::size_t>(ndim));
    std::int64_t* const sizes = sizes_.data();
    int* const perm = perm_.data();
    bool is_reversal = true;
    for (int dim = 0; dim < ndim; ++dim) {
      sizes[dim] = from[dim];
      perm[dim] = ndim - 1 - dim;
      is_reversal &= from[dim] > 1;
    }
    if (!is_reversal) {
      StrideTable strides;
      compute_strides(operands_, this->sizes(), false, strides);
      reorder_dimensions(strides, this->sizes(), operands_, {}, perm_);
    }
    if (ndim == 0) return;
    has_coalesced_dimensions_ = true;
  }
  shape_.resize_inline(1);
  shape_[0] = first.numel;
  strides_.row_length = 1;
  strides_.values.resize_inline(static_cast<std::size_t>(num_operands));
  std::int64_t* const strides = strides_.values.data();
  for (int i = 0; i < num_operands; ++i) strides[i] = itemsize;
}

/// The contiguous fast set-up of operands of one shape.  Returns false, with no plan made, where
/// that isn't so.
template <int num_given>
[[gnu::always_inline]] inline bool TensorIterator::plan_contiguous(
    const detail::GivenOperands& given) {
  const int num_outputs = num_outputs_;
  const TensorImpl* const first = given.tensor(0).impl().get();
  if (first == nullptr || first->numel == 0) return false;
  const TraitWords words(first->dtype);
  const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(first->dtype));
  const std::int64_t num_bytes =
      wrapping_product(first->numel, itemsize);  // used where there are bytes
  operands_.resize_inline(static_cast<std::size_t>(num_given));
  IterOperand* const operands = operands_.data();
#pragma GCC unroll 4
  for (int i = 0; i < num_given; ++i) {
    const TensorImpl* const impl =
        i == 0 ? first : given.tensor(static_cast<std::size_t>(i)).impl().get();
    if (impl == nullptr || (word_of<ViewTraits>(*impl) & contiguous_mask) != words.contiguous)
      return false;
    if (i > 0 && !same_sizes(*impl, *first)) return false;
    std::byte* const base = base_of(*impl);
    if (base == nullptr) return false;
    std::byte* const data = base + impl->storage_offset * itemsize;
    set_operand(operands[i], given[i], *impl, data, i < num_outputs ? words.output : words.input);
    if (i < num_outputs) continue;
    for (int output = 0; output < num_outputs; ++output) {
      // Both have as many bytes.
      if (std::abs(address_of(data) - address_of(operands[output].data)) >= num_bytes) [[likely]]
        continue;
      if (operands[output].impl != impl) return false;
      operands[output].is_read_write = true;
    }
  }
  set_contiguous_shape<num_given>(itemsize);
  return true;
}

/// Operands that no fast set-up fits, and that broadcast to exactly the sizes of the outputs.
/// Returns false, with no plan made, where that isn't so.
template <int num_given>
bool TensorIterator::plan_strided(const detail::GivenOperands& given) {
  const TensorImpl* const first = given.tensor(0).impl().get();
  if (first == nullptr || first->numel == 0) return false;
  const int ndim = first->ndim();
  const int num_outputs = num_outputs_;
  if (num_outputs == 0 || num_outputs == num_given || ndim == 0 || ndim > max_given_dims) {
    return false;
  }
  const TraitWords words(first->dtype);
  const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(first->dtype));
  const std::int64_t* const sizes = first->sizes.data();
  GivenStrides strides;
  ByteRange written[max_given];
  bool is_same_shape = true;
  bool is_channels_last = true;
  bool is_dense = true;
  unsigned unseen = ~0U;  // dimensions that no input has in full
  operands_.resize_inline(static_cast<std::size_t>(num_given));
  IterOperand* const operands = operands_.data();
  for (int i = 0; i < num_given; ++i) {
    const TensorImpl* const impl = given.tensor(static_cast<std::size_t>(i)).impl().get();
    if (impl == nullptr || (word_of<ViewTraits>(*impl) & strided_mask) != words.strided)
      return false;
    std::byte* const base = base_of(*impl);
    unsigned missing;
    if (base == nullptr || !collect_strides(*impl, sizes, ndim, itemsize, strides[i], missing))
      return false;
    const bool is_full = missing == 0;
    is_same_shape &= is_full;
    is_channels_last &= impl->is_channels_last_contiguous;
    is_dense &= impl->is_non_overlapping_and_dense;
    std::byte* const data = base + impl->storage_offset * itemsize;
    set_operand(operands[i], given[i], *impl, data, i < num_outputs ? words.output : words.input);
    const ByteRange range =
        is_full && impl->is_contiguous
            ? ByteRange(data, first->numel * itemsize)
            : ByteRange(base, static_cast<std::int64_t>(impl->storage->size_bytes()));
    if (i < num_outputs) {
      if (!is_full || !impl->is_non_overlapping_and_dense) return false;
      written[i] = range;
      continue;
    }
    unseen &= missing;
    for (int output = 0; output < num_outputs; ++output) {
      if (!range.overlaps(written[output])) [[likely]]
        continue;
      if (operands[output].impl != impl) return false;
      operands[output].is_read_write = true;
    }
  }
  if (unseen != 0 || (is_same_shape && (is_channels_last || is_dense))) return false;
  sizes_.resize_inline(static_cast<std::size_t>(ndim));
  perm_.resize_inline(static_cast<std::size_t>(ndim));
  std::int64_t* const sizes_to = sizes_.data();
  int* const perm = perm_.data();
  bool all_longer = true;
  for (int dim = 0; dim < ndim; ++dim) {
    sizes_to[dim] = sizes[dim];
    perm[dim] = ndim - 1 - dim;
    all_longer &= sizes[dim] > 1;
  }
  if (!all_longer) {
    order_dimensions(strides, sizes, ndim, num_given, perm);
  } else if (!first->is_contiguous) {
    order_by_output(strides, ndim, perm);
  }
  merge_dimensions<num_given>(strides, sizes, perm, ndim, shape_, strides_);
  has_coalesced_dimensions_ = ndim > 1;
  return true;
}

/// Returns false, with nothing done, where neither applies.
inline bool TensorIterator::plan_given(TensorIteratorConfig& config) {
  const std::size_t num_given = config.operands_.size();
  if (config.options_.needs_stages || num_given == 0 || num_given > max_given) return false;
  num_outputs_ = config.num_outputs_;
  const auto plan = [&]<int count>(std::integral_constant<int, count>) {
    return plan_contiguous<count>(config.operands_) || plan_strided<count>(config.operands_);
  };
  bool is_planned = false;
  switch (num_given) {
    case 1: is_planned = plan(std::integral_constant<int, 1>()); break;
    case 2: is_planned = plan(std::integral_constant<int, 2>()); break;
    case 3: is_planned = plan(std::integral_constant<int, 3>()); break;
    default: is_planned = plan(std::integral_constant<int, 4>()); break;
  }
  if (!is_planned) return false;
  if (!config.operands_.owned.empty()) operands_.owned = std::move(config.operands_.owned);
  if (config.names_ != nullptr) names_ = std::move(config.names_);
  common_dtype_ = operands_[0].dtype;
  is_planned_at_once_ = true;
  return true;
}

TensorIterator TensorIteratorConfig::build() {
  TensorIterator iterator;
  if (!iterator.plan_given(*this)) {
    iterator.operands_.resize(0);
    iterator.plan(*this);
  }
  return iterator;
}

}  // namespace weft
