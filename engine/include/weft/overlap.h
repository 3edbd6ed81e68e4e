// Do views share memory?  PyTorch's quick answers, which decide what is refused, and exact ones,
// which decide what must be computed through a temporary.
#pragma once

#include <weft/tensor.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] weft {

enum class MemOverlap : std::uint8_t { no, yes, too_hard };
enum class MemOverlapStatus : std::uint8_t { full, partial, no, too_hard };
std::string_view name(MemOverlap overlap);
std::string_view name(MemOverlapStatus status);

/// PyTorch's quick answer to whether two elements of `tensor` share memory: only a stride of 0 is
/// seen, and everything else that is not dense is too hard.   Mirrors: at::has_internal_overlap.
MemOverlap has_internal_overlap(const Tensor& tensor);
/// PyTorch's quick answer for two views: only dense ones of one storage are compared.
/// Mirrors: at::get_overlap_status.
MemOverlapStatus get_overlap_status(const Tensor& a, const Tensor& b);

/// Throw ArgumentError with PyTorch's text, the operands as `output` and `input` describe them, and
/// the first conflicting pair of indices.   Mirrors: at::assert_no_internal_overlap and its kin.
void assert_no_internal_overlap(const Tensor& written, std::string_view output = {});
void assert_no_partial_overlap(const Tensor& written, const Tensor& read,
                               std::string_view output = {}, std::string_view input = {});
/// Refuses the same view as well: for operations that scatter or accumulate.
void assert_no_overlap(const Tensor& written, const Tensor& read, std::string_view output = {},
                       std::string_view input = {});

/// The same, decided exactly: for tensors that are both written.
/// Errors: as memory_overlaps_exactly() too.
void assert_apart(const Tensor& written, const Tensor& other, std::string_view output,
                  std::string_view other_output);

/// Indices of two elements whose bytes intersect.
struct OverlapPair {
  std::vector<std::int64_t> a;
  std::vector<std::int64_t> b;
};

/// Whether an element of `a` and one of `b` share a byte.  Exact for views of one storage and for
/// storages at overlapping addresses; strides of either sign.
///
/// Errors: UnsupportedError in the (contrived) case that neither proof nor exhaustive check is in
/// reach.
bool memory_overlaps_exactly(const Tensor& a, const Tensor& b);
/// Whether two elements of `tensor` share a byte.
bool overlaps_itself_exactly(const Tensor& tensor);
/// The pair with the first index of `a`, in row-major order, and for it the first of `b`.
std::optional<OverlapPair> first_overlap(const Tensor& a, const Tensor& b);
/// The same within one view; the second index comes after the first.
std::optional<OverlapPair> first_internal_overlap(const Tensor& tensor);

}  // namespace weft
