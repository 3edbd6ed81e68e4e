// Numbers from outside: DLPack's structs, and operands as the iterator gets them.
#include "tests/fuzz/targets/target.h"

#include "engine/exchange/dlpack_abi.h"

#include <weft/dlpack.h>
#include <weft/iterator.h>
#include <weft/tensor.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

namespace weft::fuzzing {
namespace {

using Ints = std::vector<std::int64_t>;

/// A struct of either version with exactly the arrays that it says it has.
template <class Managed>
struct LentStruct {
  Managed managed{};
  Ints shape;
  Ints strides;
  int num_deleted = 0;
};

alignas(64) std::array<std::byte, 256> lent_bytes{};

/// Offsets of the first and one past the last byte that the elements of a tensor take, from its
/// first element; nothing if there are none or the numbers are too large.
std::optional<std::pair<std::int64_t, std::int64_t>> reach_of(const Tensor& tensor) {
  std::int64_t low = 0, high = 0;
  for (int dim = 0; dim < tensor.dim(); ++dim) {
    std::int64_t reach = 0;
    if (tensor.size(dim) == 0 ||
        __builtin_mul_overflow(tensor.size(dim) - 1, tensor.stride(dim), &reach) ||
        __builtin_add_overflow(reach < 0 ? low : high, reach, reach < 0 ? &low : &high))
      return {};
  }
  const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(tensor.dtype()));
  constexpr std::int64_t limit = std::int64_t{1} << 40;
  if (low < -limit || high > limit) return {};
  return std::pair(low * itemsize, (high + 1) * itemsize);
}

void touch_if_inside(const Tensor& tensor) {
  const auto reach = reach_of(tensor);
  if (!reach || tensor.data() == nullptr || tensor.numel() > 64) return;
  const auto first = reinterpret_cast<std::uintptr_t>(tensor.data()) -
                     reinterpret_cast<std::uintptr_t>(lent_bytes.data());
  if (first > lent_bytes.size()) return;
  const auto begin = static_cast<std::int64_t>(first) + reach->first;
  const auto end = static_cast<std::int64_t>(first) + reach->second;
  if (begin < 0 || end > static_cast<std::int64_t>(lent_bytes.size())) return;
  const Tensor element = tensor.as_strided({1}, {1});
  require(!element.view(Ints{}).item().text().empty(), "an element has no value");
}

void check_lending(const Tensor& tensor) {
  DLManagedTensorVersioned* lent = nullptr;
  if (!is_accepted([&] { lent = to_dlpack_versioned(tensor); })) return;
  Tensor again;
  if (!is_accepted([&] { again = from_dlpack(lent); })) {
    auto* const managed = reinterpret_cast<dlpack::ManagedVersioned*>(lent);
    managed->deleter(managed);
    report_broken("what weft lends it doesn't take back");
  }
  require(std::ranges::equal(again.sizes(), tensor.sizes()) &&
              std::ranges::equal(again.strides(), tensor.strides()) &&
              again.dtype() == tensor.dtype() && again.data() == tensor.data() &&
              again.is_read_only() == tensor.is_read_only(),
          "a tensor that was lent comes back as another");
}

template <class Managed>
void import_struct(Choices& choices) {
  LentStruct<Managed> lent;
  const std::uint8_t flags = choices.byte();
  dlpack::Tensor& tensor = lent.managed.tensor;
  if constexpr (std::is_same_v<Managed, dlpack::ManagedVersioned>) {
    lent.managed.major = (flags & 0x80) != 0 ? choices.number<std::uint32_t>() : 1;
    lent.managed.minor = choices.byte();
    lent.managed.flags = choices.byte();
  }
  tensor.ndim = static_cast<std::int8_t>(choices.byte());
  if ((flags & 0x40) != 0) tensor.ndim = choices.number<std::int32_t>();
  tensor.device = {(flags & 0x20) != 0 ? choices.number<std::int32_t>() : 1, 0};
  constexpr std::uint16_t lanes[] = {1, 1, 1, 1, 1, 1, 2, 0xffff};
  tensor.dtype = {static_cast<std::uint8_t>(choices.below(16)),
                  static_cast<std::uint8_t>(8 << choices.below(5)), lanes[choices.below(8)]};
  // Arrays that say too much are refused before they are read.
  const int num_dims = std::clamp(tensor.ndim, 0, max_dims);
  for (int dim = 0; dim < num_dims; ++dim) lent.shape.push_back(choices.integer());
  for (int dim = 0; dim < num_dims; ++dim) lent.strides.push_back(choices.integer());
  tensor.shape = (flags & 1) != 0 ? nullptr : lent.shape.data();
  tensor.strides = (flags & 2) != 0 ? nullptr : lent.strides.data();
  tensor.data = (flags & 4) != 0 ? nullptr : lent_bytes.data();
  tensor.byte_offset = static_cast<std::uint64_t>(choices.integer());
  lent.managed.context = &lent;
  if ((flags & 8) == 0)
    lent.managed.deleter = [](Managed* managed) {
      ++static_cast<LentStruct<Managed>*>(managed->context)->num_deleted;
    };

  Tensor imported;
  using Public = std::conditional_t<std::is_same_v<Managed, dlpack::Managed>, DLManagedTensor,
                                    DLManagedTensorVersioned>;
  const bool is_taken =
      is_accepted([&] { imported = from_dlpack(reinterpret_cast<Public*>(&lent.managed)); });
  require(lent.num_deleted == 0, "a struct is deleted while it is in use");
  if (!is_taken) return;
  touch_if_inside(imported);
  check_lending(imported);
  require(lent.num_deleted == 0, "a struct is deleted while it is in use");
  imported = {};
  require(lent.num_deleted == ((flags & 8) == 0 ? 1 : 0), "a struct is not deleted once");
}

}  // namespace

void fuzz_dlpack(Bytes input) {
  Choices choices(input);
  if (choices.flag())
    import_struct<dlpack::ManagedVersioned>(choices);
  else
    import_struct<dlpack::Managed>(choices);
}

namespace {

constexpr std::int64_t most_elements = 4096;  ///< of outputs that are allocated and plans walked

/// What `choices` make of an operand: a layout of its own, or a view of what others view, too.
Tensor choose_operand(Choices& choices, const Tensor& shared) {
  const std::uint8_t kind = choices.byte();
  const DType dtype = all_dtypes[static_cast<std::size_t>(choices.below(num_dtypes))];
  Ints sizes(static_cast<std::size_t>(choices.below(kind % 16 == 0 ? 66 : 6)));
  for (std::int64_t& size : sizes) {
    const std::uint8_t chosen = choices.byte();
    size = chosen < 0xf8 ? chosen % 5 : choices.number<std::int64_t>();
  }
  Ints strides(sizes.size());
  for (std::int64_t& stride : strides) stride = choices.integer();
  if (kind % 4 == 1) return shared.as_strided(sizes, strides, choices.byte());
  if (kind % 4 == 2) {
    std::int64_t stride = 1;
    for (std::size_t dim = sizes.size(); dim-- > 0;) {
      strides[dim] = stride;
      if (__builtin_mul_overflow(stride, std::max<std::int64_t>(sizes[dim], 1), &stride)) break;
    }
  }
  return unbacked(sizes, strides, dtype, choices.integer());
}

void choose_options(Choices& choices, TensorIteratorConfig& config) {
  const auto bits = choices.number<std::uint16_t>();
  const auto is_set = [&](int bit) { return (bits >> bit & 1) != 0; };
  config.check_all_same_dtype(is_set(0));
  if (is_set(1)) config.promote_inputs_to_common_dtype(true);
  if (is_set(1) && is_set(2)) config.promote_integer_inputs_to_float(true);
  if (is_set(3)) config.cast_common_dtype_to_outputs(true);
  if (is_set(4)) config.enforce_linear_iteration();
  if (is_set(5)) config.is_reduction(true);
  if (is_set(6)) config.resize_outputs(false);
  if (is_set(7)) config.set_check_mem_overlap(false);
  if (is_set(8)) config.set_exact_mem_overlap(false);
  if (is_set(9)) config.enforce_safe_casting_to_output(true);
  if (is_set(10)) config.check_all_same_device(false);
  if (is_set(11)) config.allow_cpu_scalars(true);
}

/// A number that depends on which elements of all operands meet, and not on their order.
class Meetings {
 public:
  void add(std::span<const std::int64_t> offsets) {
    std::uint64_t hash = 0x9e3779b97f4a7c15;
    for (const std::int64_t offset : offsets)
      hash = (hash ^ static_cast<std::uint64_t>(offset)) * 0xff51afd7ed558ccd, hash ^= hash >> 29;
    sum_ += hash;
  }
  friend bool operator==(const Meetings&, const Meetings&) = default;

 private:
  std::uint64_t sum_ = 0;
};

/// Calls `visit` for every index below `shape`.
template <class Visit>
void for_each_index(IntSpan shape, const Visit& visit) {
  if (std::ranges::find(shape, 0) != shape.end()) return;
  Ints index(shape.size());
  while (true) {
    visit(index);
    std::size_t dim = shape.size();
    while (dim > 0 && ++index[dim - 1] == shape[dim - 1]) index[--dim] = 0;
    if (dim == 0) return;
  }
}

Meetings meetings_of_plan(const TensorIterator& iterator) {
  Meetings meetings;
  Ints offsets(static_cast<std::size_t>(iterator.ntensors()));
  for_each_index(iterator.shape(), [&](const Ints& index) {
    for (int operand = 0; operand < iterator.ntensors(); ++operand) {
      std::int64_t& offset = offsets[static_cast<std::size_t>(operand)] = 0;
      for (std::size_t dim = 0; dim < index.size(); ++dim)
        offset += index[dim] * iterator.stride_bytes(operand)[dim];
    }
    meetings.add(offsets);
  });
  return meetings;
}

/// The same by the rules of broadcasting alone.
Meetings meetings_by_index(const TensorIterator& iterator) {
  Meetings meetings;
  Ints offsets(static_cast<std::size_t>(iterator.ntensors()));
  for_each_index(iterator.sizes(), [&](const Ints& index) {
    for (int operand = 0; operand < iterator.ntensors(); ++operand) {
      const Tensor& tensor = iterator.tensor(operand);
      std::int64_t& offset = offsets[static_cast<std::size_t>(operand)] = 0;
      const std::size_t missing = index.size() - tensor.sizes().size();
      for (std::size_t dim = 0; dim < tensor.sizes().size(); ++dim)
        if (tensor.sizes()[dim] != 1) offset += index[missing + dim] * tensor.strides()[dim];
      offset *= static_cast<std::int64_t>(itemsize_bytes(tensor.dtype()));
    }
    meetings.add(offsets);
  });
  return meetings;
}

void check_parts(TensorIterator iterator) {
  const std::int64_t numel = iterator.numel();
  if (numel <= 1 || iterator.ndim() == 0) return;
  const int dim = iterator.get_dim_to_split();
  if (iterator.shape()[static_cast<std::size_t>(dim)] < 2) return;
  const TensorIterator first = iterator.split(dim);
  require(first.numel() + iterator.numel() == numel, "the halves of a plan are not the whole");
}

/// Whether the sizes of all operands together make a small plan, however they broadcast.
bool is_small(std::span<const Tensor> operands) {
  std::int64_t product = 1;
  for (const Tensor& operand : operands) {
    if (!operand.defined()) continue;
    for (const std::int64_t size : operand.sizes())
      if (__builtin_mul_overflow(product, std::max<std::int64_t>(size, 1), &product)) return false;
  }
  return product <= most_elements * most_elements;
}

}  // namespace

void fuzz_iterator(Bytes input) {
  Choices choices(input);
  const int num_outputs = choices.below(3);
  const int num_inputs = choices.below(4);
  const Tensor shared = unbacked(Ints{4096}, Ints{1}, DType::f32);
  std::vector<Tensor> operands;
  operands.reserve(8);
  const auto choose = [&] {
    for (int i = 0; i < num_outputs + num_inputs; ++i)
      operands.push_back(
          i < num_outputs && choices.below(3) == 0 ? Tensor() : choose_operand(choices, shared));
  };
  if (!is_accepted(choose)) return;
  // Outputs are allocated: by plans of other sizes only where nothing is.
  const bool allocates = std::ranges::any_of(std::span(operands).first(num_outputs),
                                             [](const Tensor& out) { return !out.defined(); });
  if (allocates && !is_small(operands)) return;
  std::optional<TensorIterator> iterator;
  const auto build = [&] {
    TensorIteratorConfig config;
    choose_options(choices, config);
    for (int i = 0; i < num_outputs + num_inputs; ++i) {
      const Tensor& operand = operands[static_cast<std::size_t>(i)];
      if (i < num_outputs)
        config.add_output(operand);
      else
        config.add_input(operand);
    }
    iterator = config.build();
  };
  if (!is_accepted(build)) return;
  require(!iterator->text().empty(), "a plan has no text");
  check_parts(*iterator);
  if (iterator->numel() > most_elements) return;
  if (meetings_of_plan(*iterator) != meetings_by_index(*iterator))
    report_broken("a plan lets other elements meet: " + iterator->text());
}

}  // namespace weft::fuzzing
