#include "engine/plan/streaming.h"

#include "engine/tensor/dims.h"
#include "runtime/cache_line.h"

#include <weft/tensor.h>
#include <weft/tuning.h>

#include <algorithm>

namespace weft {
namespace {

/// A last-level cache beyond this is the slices of many cores on a mesh: one core gets little more
/// out of it than out of main memory, so that avoiding the read for ownership pays as soon as its
/// own L2 is full.
constexpr std::int64_t largest_near_cache_bytes = std::int64_t{64} << 20;

/// Rows shorter than this spend their time on partial lines at both ends; unless they have none.
constexpr std::int64_t least_row_bytes = 512;

/// Calls that write less than this part of the threshold (comparisons, casts to bytes) keep their
/// output in the cache, and lose by sending it past.
constexpr std::int64_t least_written_share = 4;

/// An output that is an input as well has its lines in the cache already.
bool is_read(const TensorIterator& iterator, int output) {
  for (int input = 0; input < iterator.ninputs(); ++input)
    if (iterator.input(input).storage() == iterator.output(output).storage()) return true;
  return false;
}

/// Whether rows along `dim`, in which the output's items are neighbours, are whole lines.
bool has_whole_lines(const TensorIterator& iterator, int output, std::size_t dim) {
  const IntSpan strides = iterator.stride_bytes(output);
  const auto keeps_lines = [](std::int64_t stride) { return stride % line_bytes == 0; };
  return keeps_lines(wrapping_product(iterator.shape()[dim], strides[dim])) &&
         std::ranges::all_of(strides.first(dim), keeps_lines) &&
         std::ranges::all_of(strides.subspan(dim + 1), keeps_lines);
}

bool has_long_rows(const TensorIterator& iterator, int output) {
  const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(iterator.dtype(output)));
  const IntSpan strides = iterator.stride_bytes(output);
  for (std::size_t dim = 0; dim < strides.size(); ++dim)
    if (strides[dim] == itemsize &&
        (wrapping_product(iterator.shape()[dim], itemsize) >= least_row_bytes ||
         has_whole_lines(iterator, output, dim)))
      return true;
  return false;
}

}  // namespace

std::int64_t touched_bytes(std::size_t itemsize_bytes, IntSpan sizes, IntSpan strides) {
  return saturating_product(static_cast<std::int64_t>(itemsize_bytes), num_touched(sizes, strides));
}

std::int64_t touched_bytes(const TensorIterator& iterator, int operand) {
  return touched_bytes(itemsize_bytes(iterator.dtype(operand)), iterator.shape(),
                       iterator.stride_bytes(operand));
}

void TouchedBytes::add(const Tensor& operand, std::int64_t touched_bytes) {
  const Storage* const storage = operand.storage().get();
  const auto known = std::ranges::find(parts_, storage, &Part::storage);
  if (known == parts_.end())
    parts_.push_back({storage, touched_bytes});
  else
    known->bytes = saturating_sum(known->bytes, touched_bytes);
}

std::int64_t TouchedBytes::sum() const {
  std::int64_t sum = 0;
  for (const Part& part : parts_)
    sum = saturating_sum(
        sum, std::min(part.bytes, static_cast<std::int64_t>(part.storage->size_bytes())));
  return sum;
}

std::int64_t streaming_threshold_bytes(const CpuFeatures& features) {
  // What was measured here says nothing about other machines.
  if (const std::int64_t measured = current_tuning().streaming_bytes;
      measured > 0 && features == host_features())
    return measured;
  if (features.l3_bytes > largest_near_cache_bytes) return 2 * features.l2_bytes;
  // What Zen 4's second cache drops fills the third one, beside what is read.
  if (features.amd_family == zen3_family) return features.l3_bytes;
  return features.l3_bytes + features.l3_bytes / 2;
}

// Measured on Zen 4 and 5 (docs/decisions/fold-loops.md).
std::int64_t row_streaming_threshold_bytes(const CpuFeatures& features,
                                           std::int64_t threshold_bytes) {
  if (features.amd_family < zen3_family || features.l3_bytes <= 0) return threshold_bytes;
  const std::int64_t quarters = features.amd_family == zen3_family ? 2 : 3;
  return std::min(threshold_bytes, features.l3_bytes / 4 * quarters);
}

bool streams_outputs(const TensorIterator& iterator, std::int64_t threshold_bytes) {
  TouchedBytes read, written;
  for (int operand = 0; operand < iterator.ntensors(); ++operand)
    (operand < iterator.noutputs() ? written : read)
        .add(iterator.tensor(operand), touched_bytes(iterator, operand));
  if (saturating_sum(read.sum(), written.sum()) < threshold_bytes ||
      written.sum() < threshold_bytes / least_written_share)
    return false;
  for (int output = 0; output < iterator.noutputs(); ++output)
    if (!has_long_rows(iterator, output) || is_read(iterator, output)) return false;
  return iterator.noutputs() > 0;
}

bool writes_whole_lines(const TensorIterator& iterator) {
  for (int output = 0; output < iterator.noutputs(); ++output)
    if (iterator.stride_bytes(output)[0] !=
            static_cast<std::int64_t>(itemsize_bytes(iterator.dtype(output))) ||
        !has_whole_lines(iterator, output, 0))
      return false;
  return true;
}

}  // namespace weft
