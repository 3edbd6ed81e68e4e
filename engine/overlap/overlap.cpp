// Overlap of views: PyTorch's quick answers and exact ones.
#include <weft/overlap.h>

#include "engine/iterator/iter_plan.h"
#include "engine/overlap/byte_set.h"
#include "engine/overlap/overlap_solver.h"
#include "engine/tensor/tensor_impl.h"

#include <weft/error.h>

#include <algorithm>
#include <cstdlib>
#include <tuple>
#include <utility>

namespace weft {
namespace {

/// A view as addresses: what an element of it occupies.
struct ByteView {
  std::int64_t begin;  ///< of the element with all indices 0
  std::int64_t itemsize;
  IntSpan sizes;
  const std::int64_t* strides;
  std::int64_t unit;  ///< what a stride counts, in bytes

  std::int64_t stride_bytes(std::size_t dim) const {
    return stride_in_bytes(strides[dim], sizes[dim], unit);
  }
};

std::int64_t itemsize_of(const TensorImpl& impl) {
  return static_cast<std::int64_t>(itemsize_bytes(impl.dtype));
}

/// Addresses within one storage count from its beginning, so that layouts without bytes can be
/// compared.
std::int64_t origin(const TensorImpl& impl, bool one_storage) {
  if (impl.numel == 0) return 0;  // and any offset is allowed
  const std::int64_t offset = impl.storage_offset * itemsize_of(impl);
  if (one_storage) return offset;
  return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(impl.storage->data())) + offset;
}

ByteView byte_view(const TensorImpl& impl, bool one_storage) {
  const std::int64_t itemsize = itemsize_of(impl);
  return {origin(impl, one_storage),
          itemsize,
          {impl.sizes.data(), impl.sizes.size()},
          impl.strides.data(),
          itemsize};
}

/// Addresses [first, second) that a view lies in.
std::pair<std::int64_t, std::int64_t> byte_range(const ByteView& view) {
  std::int64_t first = view.begin;
  std::int64_t last = view.begin;
  for (std::size_t dim = 0; dim < view.sizes.size(); ++dim) {
    const std::int64_t extent = (view.sizes[dim] - 1) * view.stride_bytes(dim);
    (extent < 0 ? first : last) += extent;
  }
  return {first, last + view.itemsize};
}

bool ranges_intersect(const ByteView& a, const ByteView& b) {
  const auto [a_first, a_end] = byte_range(a);
  const auto [b_first, b_end] = byte_range(b);
  return a_first < b_end && b_first < a_end;
}

bool is_empty(const ByteView& view) { return std::ranges::find(view.sizes, 0) != view.sizes.end(); }

/// The sum (address in a) - (address in b), which lies in (-a.itemsize, b.itemsize) where they
/// share a byte; the constant term first.
std::vector<BoundedTerm> difference(const ByteView& a, const ByteView& b) {
  std::vector<BoundedTerm> terms = {{a.begin - b.begin, 1, 1}};
  for (std::size_t dim = 0; dim < a.sizes.size(); ++dim) {
    terms.push_back({a.stride_bytes(dim), 0, a.sizes[dim] - 1});
  }
  for (std::size_t dim = 0; dim < b.sizes.size(); ++dim) {
    terms.push_back({-b.stride_bytes(dim), 0, b.sizes[dim] - 1});
  }
  return terms;
}

Solvable overlap(const ByteView& a, const ByteView& b) {
  if (is_empty(a) || is_empty(b) || !ranges_intersect(a, b)) return Solvable::no;
  return solve(difference(a, b), 1 - a.itemsize, b.itemsize - 1);
}

/// Two indices that agree before `dim`, and at `dim` differ by at least 1.
std::vector<BoundedTerm> self_difference(const ByteView& view, std::size_t dim) {
  std::vector<BoundedTerm> terms = {{view.stride_bytes(dim), 1, view.sizes[dim] - 1}};
  for (std::size_t inner = dim + 1; inner < view.sizes.size(); ++inner) {
    terms.push_back({view.stride_bytes(inner), 1 - view.sizes[inner], view.sizes[inner] - 1});
  }
  return terms;
}

Solvable self_overlap(const ByteView& view) {
  if (is_empty(view)) return Solvable::no;
  Solvable answer = Solvable::no;
  for (std::size_t dim = 0; dim < view.sizes.size(); ++dim) {
    const Solvable found = solve(self_difference(view, dim), 1 - view.itemsize, view.itemsize - 1);
    if (found == Solvable::yes) return found;
    if (found == Solvable::unknown) answer = found;
  }
  return answer;
}

/// byte_range().   Errors: UnsupportedError if that is more than can be tried out.
std::pair<std::int64_t, std::int64_t> range_to_try(const ByteView& view) {
  constexpr std::int64_t largest = std::int64_t{1} << 30;
  const auto [first, end] = byte_range(view);
  WEFT_CHECK(end - first <= largest, UnsupportedError, "views over ", end - first,
             " bytes whose overlap can neither be proved nor tried out.");
  return {first, end};
}

/// The bytes of the element with the lowest address, in a set with room for all, which counts from
/// `origin`.
ByteSet first_element(const ByteView& view, std::int64_t origin) {
  const auto [first, end] = byte_range(view);
  ByteSet bytes(static_cast<std::size_t>(end - origin));
  bytes.add(static_cast<std::size_t>(first - origin), static_cast<std::size_t>(view.itemsize));
  return bytes;
}

/// Of a dimension, whichever way it goes.
std::size_t distance(const ByteView& view, std::size_t dim) {
  return static_cast<std::size_t>(std::abs(view.stride_bytes(dim)));
}

ByteSet bytes_of(const ByteView& view, std::int64_t origin) {
  ByteSet bytes = first_element(view, origin);
  for (std::size_t dim = 0; dim < view.sizes.size(); ++dim)
    bytes.repeat(distance(view, dim), static_cast<std::size_t>(view.sizes[dim]));
  return bytes;
}

bool overlap_by_trial(const ByteView& a, const ByteView& b) {
  const std::int64_t origin = std::min(range_to_try(a).first, range_to_try(b).first);
  return bytes_of(a, origin).intersects(bytes_of(b, origin));
}

/// Dimension by dimension: what has been found apart comes again at each further index.
bool self_overlap_by_trial(const ByteView& view) {
  ByteSet bytes = first_element(view, range_to_try(view).first);
  for (std::size_t dim = 0; dim < view.sizes.size(); ++dim) {
    if (view.sizes[dim] == 1) continue;
    ByteSet further = bytes;
    further.shift(distance(view, dim));
    further.repeat(distance(view, dim), static_cast<std::size_t>(view.sizes[dim]) - 1);
    if (bytes.intersects(further)) return true;
    bytes.add(further);
  }
  return false;
}

constexpr std::string_view clone_hint =
    " refer to a single memory location. Please clone() the tensor before performing the "
    "operation.";

std::string_view or_default(std::string_view label, std::string_view fallback) {
  return label.empty() ? fallback : label;
}

[[noreturn]] void throw_shared(const Tensor& written, const Tensor& read, std::string_view output,
                               std::string_view input) {
  output = or_default(output, "the written-to tensor");
  input = or_default(input, "the input");
  std::string where;
  if (const std::optional<OverlapPair> pair = first_overlap(written, read)) {
    where = detail::concat(" The first are element ", dims_text(pair->a), " of ", output,
                           " and element ", dims_text(pair->b), " of ", input, ":");
  }
  throw ArgumentError(detail::concat(
      "unsupported operation: some elements of the input tensor and the written-to tensor",
      clone_hint, where, " ", output, " is ", describe(written), ", ", input, " is ",
      describe(read), "."));
}

}  // namespace

std::string_view name(MemOverlap overlap) {
  switch (overlap) {
    case MemOverlap::no: return "no";
    case MemOverlap::yes: return "yes";
    case MemOverlap::too_hard: return "too_hard";
  }
  return "too_hard";
}

std::string_view name(MemOverlapStatus status) {
  switch (status) {
    case MemOverlapStatus::full: return "full";
    case MemOverlapStatus::partial: return "partial";
    case MemOverlapStatus::no: return "no";
    case MemOverlapStatus::too_hard: return "too_hard";
  }
  return "too_hard";
}

MemOverlap has_internal_overlap(const Tensor& tensor) {
  const TensorImpl& impl = defined_impl(tensor);
  if (impl.is_non_overlapping_and_dense) return MemOverlap::no;
  for (std::size_t dim = 0; dim < impl.sizes.size(); ++dim) {
    if (impl.strides[dim] == 0 && impl.sizes[dim] > 1) return MemOverlap::yes;
  }
  return MemOverlap::too_hard;
}

MemOverlapStatus get_overlap_status(const Tensor& a, const Tensor& b) {
  if (a.is_same(b)) return MemOverlapStatus::full;
  const TensorImpl& first = defined_impl(a);
  const TensorImpl& second = defined_impl(b);
  if (first.numel == 0 || second.numel == 0) return MemOverlapStatus::no;
  if (!first.is_non_overlapping_and_dense || !second.is_non_overlapping_and_dense) {
    return MemOverlapStatus::too_hard;
  }
  if (first.storage != second.storage) return MemOverlapStatus::no;
  const std::int64_t a_begin = first.storage_offset * itemsize_of(first);
  const std::int64_t b_begin = second.storage_offset * itemsize_of(second);
  const std::int64_t a_end = a_begin + first.numel * itemsize_of(first);
  const std::int64_t b_end = b_begin + second.numel * itemsize_of(second);
  if (a_begin == b_begin && a_end == b_end) {
    return first.strides == second.strides ? MemOverlapStatus::full : MemOverlapStatus::partial;
  }
  return a_begin < b_end && b_begin < a_end ? MemOverlapStatus::partial : MemOverlapStatus::no;
}

void assert_no_internal_overlap(const Tensor& written, std::string_view output) {
  if (has_internal_overlap(written) != MemOverlap::yes) return;
  output = or_default(output, "the written-to tensor");
  std::string where;
  if (const std::optional<OverlapPair> pair = first_internal_overlap(written)) {
    where = detail::concat(" The first are elements ", dims_text(pair->a), " and ",
                           dims_text(pair->b), " of ", output, ":");
  }
  throw ArgumentError(
      detail::concat("unsupported operation: more than one element of the written-to tensor refers "
                     "to a single memory "
                     "location. Please clone() the tensor before performing the operation.",
                     where, " ", output, " is ", describe(written), "."));
}

void assert_no_partial_overlap(const Tensor& written, const Tensor& read, std::string_view output,
                               std::string_view input) {
  if (get_overlap_status(written, read) != MemOverlapStatus::partial) return;
  throw_shared(written, read, output, input);
}

void assert_no_overlap(const Tensor& written, const Tensor& read, std::string_view output,
                       std::string_view input) {
  const MemOverlapStatus status = get_overlap_status(written, read);
  if (status != MemOverlapStatus::partial && status != MemOverlapStatus::full) return;
  throw_shared(written, read, output, input);
}

void assert_apart(const Tensor& written, const Tensor& other, std::string_view output,
                  std::string_view other_output) {
  if (memory_overlaps_exactly(written, other)) throw_shared(written, other, output, other_output);
}

bool memory_overlaps_exactly(const Tensor& a, const Tensor& b) {
  const TensorImpl& first = defined_impl(a);
  const TensorImpl& second = defined_impl(b);
  if (!share_bytes(*first.storage, *second.storage)) return false;
  const bool one_storage = first.storage == second.storage;
  const ByteView a_view = byte_view(first, one_storage);
  const ByteView b_view = byte_view(second, one_storage);
  const Solvable answer = overlap(a_view, b_view);
  if (answer == Solvable::unknown) return overlap_by_trial(a_view, b_view);
  return answer == Solvable::yes;
}

bool overlaps_itself_exactly(const Tensor& tensor) {
  const ByteView view = byte_view(defined_impl(tensor), true);
  const Solvable answer = self_overlap(view);
  return answer == Solvable::unknown ? self_overlap_by_trial(view) : answer == Solvable::yes;
}

std::optional<OverlapPair> first_overlap(const Tensor& a, const Tensor& b) {
  const TensorImpl& first = defined_impl(a);
  const TensorImpl& second = defined_impl(b);
  if (!share_bytes(*first.storage, *second.storage)) return {};
  const bool one_storage = first.storage == second.storage;
  const ByteView a_view = byte_view(first, one_storage);
  const ByteView b_view = byte_view(second, one_storage);
  if (is_empty(a_view) || is_empty(b_view)) return {};
  const auto solution =
      first_solution(difference(a_view, b_view), 1 - a_view.itemsize, b_view.itemsize - 1);
  if (!solution) return {};
  const auto a_begin = solution->begin() + 1;
  const auto b_begin = a_begin + a.dim();
  return OverlapPair{{a_begin, b_begin}, {b_begin, solution->end()}};
}

std::optional<OverlapPair> first_internal_overlap(const Tensor& tensor) {
  const ByteView view = byte_view(defined_impl(tensor), true);
  if (is_empty(view)) return {};
  const std::size_t ndim = view.sizes.size();
  std::optional<OverlapPair> best;
  for (std::size_t dim = 0; dim < ndim; ++dim) {
    // The variables: the first index from `dim` on, then the second; the latter is larger at `dim`.
    // Where the first index is 0 at `dim` nothing is lost, since both can be moved together.
    std::vector<BoundedTerm> terms;
    for (std::size_t i = dim + 1; i < ndim; ++i) {
      terms.push_back({-view.stride_bytes(i), 0, view.sizes[i] - 1});
    }
    terms.push_back({view.stride_bytes(dim), 1, view.sizes[dim] - 1});
    for (std::size_t i = dim + 1; i < ndim; ++i) {
      terms.push_back({view.stride_bytes(i), 0, view.sizes[i] - 1});
    }
    const auto solution = first_solution(terms, 1 - view.itemsize, view.itemsize - 1);
    if (!solution) continue;
    OverlapPair pair{std::vector<std::int64_t>(ndim), std::vector<std::int64_t>(ndim)};
    const auto middle = solution->begin() + static_cast<std::ptrdiff_t>(ndim - dim - 1);
    std::copy(solution->begin(), middle, pair.a.begin() + dim + 1);
    std::copy(middle, solution->end(), pair.b.begin() + dim);
    if (!best || std::tie(pair.a, pair.b) < std::tie(best->a, best->b)) best = std::move(pair);
  }
  return best;
}

namespace iter {
namespace {

ByteView plan_view(const TensorImpl& impl, bool one_storage, IntSpan shape,
                   const std::int64_t* strides) {
  return {origin(impl, one_storage), itemsize_of(impl), shape, strides, 1};
}

bool same_elements(const ByteView& a, const ByteView& b) {
  if (a.begin != b.begin || a.itemsize != b.itemsize) return false;
  for (std::size_t dim = 0; dim < a.sizes.size(); ++dim) {
    if (a.sizes[dim] > 1 && a.strides[dim] != b.strides[dim]) return false;
  }
  return true;
}

/// Whether writing `output` in some order changes what is still to be read of `input`.
bool is_hazard(const TensorImpl& output, const TensorImpl& input, IntSpan shape,
               const std::int64_t* output_strides, const std::int64_t* input_strides) {
  const bool one_storage = output.storage == input.storage;
  const ByteView written = plan_view(output, one_storage, shape, output_strides);
  const ByteView read = plan_view(input, one_storage, shape, input_strides);
  if (is_empty(written) || !ranges_intersect(written, read)) return false;
  // Each element read just before it is overwritten; then only elements that share memory with each
  // other matter.  A search that was given up counts as a hazard: a temporary is never wrong.
  if (same_elements(written, read)) return self_overlap(written) != Solvable::no;
  return overlap(written, read) != Solvable::no;
}

}  // namespace

void find_temporaries(IterOperands& operands, int num_outputs, IntSpan shape,
                      const StrideTable& strides) {
  for (int i = 0; i < num_outputs; ++i) {
    const TensorImpl& output = *operands[i].impl;
    for (int j = num_outputs; j < static_cast<int>(operands.size()); ++j) {
      if (!share_bytes(*output.storage, *operands[j].impl->storage)) [[likely]]
        continue;
      if (operands[j].impl == &output && output.is_non_overlapping_and_dense) continue;
      operands[j].needs_temporary |=
          is_hazard(*operands[i].impl, *operands[j].impl, shape, strides.row(i), strides.row(j));
    }
  }
}

}  // namespace iter

}  // namespace weft
