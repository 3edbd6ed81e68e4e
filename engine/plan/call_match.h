// What a repeated call costs besides its launch: the hash under which its plan lies, and whether
// the plan that lies there is its own.  Here rather than beside make_key(), so that both are
// compiled for the number of tensors that a caller has.
#pragma once

#include "engine/plan/call_key.h"
#include "engine/tensor/tensor_impl.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace weft {

// The words of a key, in pairs.

enum class WordKind : std::uint64_t {
  eager = 1,
  expressions,
  undefined,
  layout,
  aliased,
  leaf,
  number,
  cast,
  op,
  fold,
  part
};

constexpr std::uint64_t word(WordKind kind, std::uint64_t low = 0, std::uint64_t middle = 0,
                             std::uint64_t high = 0) {
  return static_cast<std::uint64_t>(kind) << 56 | high << 40 | middle << 20 | low;
}

/// Which op, and of how many inputs.
inline std::uint64_t eager_word(const EagerCall& call) {
  return static_cast<std::uint64_t>(call.op) | static_cast<std::uint64_t>(call.inputs.size()) << 32;
}

/// What of a view is neither a size nor a stride: the first four of its traits.
inline std::uint64_t view_word(const TensorImpl& impl) {
  static_assert(offsetof(ViewTraits, is_conj) == 1 && offsetof(ViewTraits, is_neg) == 2 &&
                offsetof(ViewTraits, access) == 3);
  std::uint32_t word = 0;
  std::memcpy(&word, static_cast<const ViewTraits*>(&impl), sizeof(word));
  return word;
}

/// The same and what of its storage counts, in one word.
inline std::uint64_t layout_word(const TensorImpl& impl) {
  const Storage& storage = *impl.storage;
  const Device device = storage.device();
  return view_word(impl) | static_cast<std::uint64_t>(device.type) << 32 |
         static_cast<std::uint64_t>(device.index) << 40 |
         static_cast<std::uint64_t>(storage.data() == nullptr) << 55 |
         static_cast<std::uint64_t>(WordKind::layout) << 56;
}

/// The hash under which the plan of a call is kept: not CallKey::hash(), but told from the tensors.
/// Besides layouts and dtypes it tells in-place calls from others, and leaves the rest of what a
/// key says about aliasing to the comparison.
[[gnu::always_inline]] inline std::uint64_t hash_of(const EagerCall& call) {
  std::uint64_t hash = static_cast<std::uint64_t>(call.op);
  const auto add = [&hash](const Tensor& tensor, std::uint64_t is_output) {
    std::uint64_t word = ~std::uint64_t{0};
    if (tensor.defined()) {
      const TensorImpl& impl = *tensor.impl();
      word = impl.layout_hash ^ view_word(impl);
    }
    hash = (std::rotl(hash, 23) ^ word ^ is_output << 40) * 0x9e3779b97f4a7c15u;
  };
  add(call.output, 0);
  for (const Tensor* input : call.inputs) add(*input, input->is_same(call.output));
  return hash ^ hash >> 32;  // the low bits of a product know nothing of the high ones
}

/// is_key_of() for most calls, and with it the addresses of their tensors, that of a given output
/// first.  False without a closer look if two inputs are one view, the output shares memory with an
/// input, or there is no memory.
///
/// Requires: `words` are a key's, so that what they begin with tells what follows.
[[gnu::always_inline]] inline bool is_plain_key_of(const EagerCall& call,
                                                   std::span<const std::uint64_t> words,
                                                   std::byte** address) {
  const std::uint64_t* at = words.data();
  const auto takes = [&at](std::uint64_t a, std::uint64_t b) __attribute__((always_inline)) {
    const bool is_equal = at[0] == a && at[1] == b;
    at += 2;
    return is_equal;
  };
  const auto takes_layout = [&](const TensorImpl& impl) __attribute__((always_inline)) {
    std::byte* const data = impl.storage->data();
    const std::size_t ndim = impl.sizes.size();
    if (data == nullptr || !takes(layout_word(impl), ndim)) return false;
    const std::int64_t* const sizes = impl.sizes.data();
    const std::int64_t* const strides = impl.strides.data();
    for (std::size_t i = 0; i < ndim; ++i)
      if (!takes(static_cast<std::uint64_t>(sizes[i]), static_cast<std::uint64_t>(strides[i])))
        return false;
    // As a number: without elements any offset is allowed.
    const std::uint64_t offset =
        static_cast<std::uint64_t>(impl.storage_offset) * itemsize_bytes(impl.dtype);
    *address++ = reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(data) + offset);
    return true;
  };

  if (!takes(word(WordKind::eager), eager_word(call))) return false;
  const bool has_output = call.output.defined();
  if (has_output) {
    if (!takes_layout(*call.output.impl())) return false;
  } else {
    if (!takes(word(WordKind::undefined), 0)) return false;
    ++address;
  }
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const Tensor& input = *call.inputs[i];
    for (std::size_t j = 0; j < i; ++j)
      if (input.is_same(*call.inputs[j])) return false;
    if (has_output && share_bytes(*input.impl()->storage, *call.output.impl()->storage))
      return false;
    if (!takes_layout(*input.impl())) return false;
  }
  return at == words.data() + words.size();
}

}  // namespace weft
