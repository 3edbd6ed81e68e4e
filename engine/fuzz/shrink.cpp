#include "engine/fuzz/shrink.h"

#include <weft/error.h>

#include <algorithm>
#include <chrono>

namespace weft::fuzzing {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto time_limit = std::chrono::seconds(60);

std::vector<std::int64_t> contiguous_strides(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> strides(sizes.size());
  std::int64_t stride = 1;
  for (std::size_t dim = sizes.size(); dim-- > 0;) {
    strides[dim] = stride;
    stride *= std::max<std::int64_t>(sizes[dim], 1);
  }
  return strides;
}

class Shrinker {
 public:
  Shrinker(const Case& fuzz_case, Finding& finding, const Check& check)
      : case_(fuzz_case), finding_(finding), check_(check) {}

  Case run() {
    try_case(without_unused(case_));
    bool has_progress = true;
    while (has_progress && Clock::now() < end_) {
      has_progress = false;
      has_progress |= drop_roots();
      has_progress |= simplify_outputs();
      has_progress |= simplify_nodes();
      has_progress |= cut_dimensions();
      has_progress |= drop_dimensions();
      has_progress |= simplify_layouts();
    }
    return std::move(case_);
  }

 private:
  /// Keeps the candidate if it fails in the same way.
  bool try_case(const Case& candidate) {
    if (Clock::now() >= end_) return false;
    try {
      const auto found = check_(candidate);
      if (!found || found->kind != finding_.kind || found->backend != finding_.backend)
        return false;
      finding_ = *found;
      case_ = candidate;
      return true;
    } catch (const Error&) {
      return false;  // no call any more
    }
  }

  bool drop_roots() {
    if (case_.roots.size() < 2) return false;
    for (std::size_t i = 0; i < case_.roots.size(); ++i) {
      Case candidate = case_;
      candidate.roots.erase(candidate.roots.begin() + static_cast<std::ptrdiff_t>(i));
      candidate.outputs.erase(candidate.outputs.begin() + static_cast<std::ptrdiff_t>(i));
      if (try_case(without_unused(candidate))) return true;
    }
    return false;
  }

  bool simplify_outputs() {
    bool has_progress = false;
    for (std::size_t i = 0; i < case_.outputs.size(); ++i) {
      if (case_.outputs[i].kind == CaseOutput::Kind::fresh) continue;
      Case candidate = case_;
      candidate.outputs[i] = CaseOutput();
      has_progress |= try_case(candidate);
    }
    return has_progress;
  }

  /// Puts arguments in the place of the nodes that use them.
  bool simplify_nodes() {
    bool has_progress = false;
    for (std::size_t node = case_.nodes.size(); node-- > 0;) {
      for (std::size_t arg = 0; node < case_.nodes.size() && arg < case_.nodes[node].args.size();
           ++arg) {
        Case candidate = case_;
        replace(candidate, static_cast<int>(node), case_.nodes[node].args[arg]);
        if (try_case(without_unused(candidate))) {
          has_progress = true;
          break;
        }
      }
    }
    return has_progress;
  }

  static void replace(Case& fuzz_case, int node, int by) {
    for (CaseNode& user : fuzz_case.nodes) std::ranges::replace(user.args, node, by);
    std::ranges::replace(fuzz_case.roots, node, by);
  }

  template <class Change>
  static void for_each_tensor(Case& fuzz_case, const Change& change) {
    for (CaseTensor& tensor : fuzz_case.inputs) change(tensor);
    for (CaseOutput& output : fuzz_case.outputs)
      if (output.kind == CaseOutput::Kind::given || output.kind == CaseOutput::Kind::shared)
        change(output.tensor);
  }

  /// Makes a dimension of the common shape (counted from the last) shorter, around the element that
  /// fails.
  bool cut_dimensions() {
    bool has_progress = false;
    const std::size_t rank = shape_of(case_).size();
    for (std::size_t from_last = 0; from_last < rank; ++from_last) {
      const std::int64_t size = size_of(from_last);
      for (std::int64_t length = 1; length < size && length < size_of(from_last);
           length = std::max(length * 2, length + 1))
        if (cut(from_last, length)) has_progress = true;
      while (size_of(from_last) > 1 && cut(from_last, size_of(from_last) - 1)) has_progress = true;
    }
    return has_progress;
  }

  std::int64_t size_of(std::size_t from_last) const {
    const std::vector<std::int64_t> shape = shape_of(case_);
    return shape[shape.size() - 1 - from_last];
  }

  bool cut(std::size_t from_last, std::int64_t length) {
    const std::int64_t size = size_of(from_last);
    const std::size_t rank = shape_of(case_).size();
    const std::int64_t failing =
        finding_.index.size() == rank ? finding_.index[rank - 1 - from_last] : 0;
    for (const std::int64_t first : {std::min(failing, size - length), std::int64_t{0}}) {
      Case candidate = case_;
      for_each_tensor(candidate, [&](CaseTensor& tensor) {
        if (tensor.sizes.size() <= from_last) return;
        const std::size_t dim = tensor.sizes.size() - 1 - from_last;
        if (tensor.sizes[dim] != size) return;
        tensor.sizes[dim] = length;
        tensor.offset += first * tensor.strides[dim];
      });
      if (try_case(candidate)) return true;
    }
    return false;
  }

  bool drop_dimensions() {
    bool has_progress = false;
    for (std::size_t from_last = shape_of(case_).size(); from_last-- > 0;) {
      Case candidate = case_;
      bool is_one = true;
      for_each_tensor(candidate, [&](CaseTensor& tensor) {
        if (tensor.sizes.size() <= from_last) return;
        const auto dim = static_cast<std::ptrdiff_t>(tensor.sizes.size() - 1 - from_last);
        is_one = is_one && tensor.sizes[static_cast<std::size_t>(dim)] == 1;
        tensor.sizes.erase(tensor.sizes.begin() + dim);
        tensor.strides.erase(tensor.strides.begin() + dim);
      });
      if (is_one && try_case(candidate)) has_progress = true;
    }
    return has_progress;
  }

  bool simplify_layouts() {
    bool has_progress = false;
    for (std::size_t i = 0; i < case_.inputs.size(); ++i)
      has_progress |= simplify([i](Case& fuzz_case) { return &fuzz_case.inputs[i]; });
    for (std::size_t i = 0; i < case_.outputs.size(); ++i)
      if (case_.outputs[i].kind == CaseOutput::Kind::given)
        has_progress |= simplify([i](Case& fuzz_case) { return &fuzz_case.outputs[i].tensor; });
    return has_progress;
  }

  template <class Select>
  bool simplify(const Select& select) {
    bool has_progress = false;
    const CaseTensor& now = *select(case_);
    if (!now.is_uniform) {  // the values that fail, everywhere
      Case candidate = case_;
      CaseTensor& tensor = *select(candidate);
      tensor.first_value += place_of_failure(tensor);
      tensor.is_uniform = true;
      has_progress |= try_case(candidate);
    }
    const std::vector<std::int64_t> dense = contiguous_strides(select(case_)->sizes);
    if (select(case_)->strides != dense) {
      Case candidate = case_;
      CaseTensor& tensor = *select(candidate);
      const std::int64_t place = place_of_failure(tensor);
      tensor.strides = dense;
      if (!tensor.is_uniform) tensor.first_value += place - place_of_failure(tensor);
      has_progress |= try_case(candidate);
    }
    const CaseTensor& changed = *select(case_);
    const bool goes_forward =
        std::ranges::all_of(changed.strides, [](std::int64_t stride) { return stride >= 0; });
    if (goes_forward && changed.offset != 0) {
      Case candidate = case_;
      CaseTensor& tensor = *select(candidate);
      if (!tensor.is_uniform) tensor.first_value += tensor.offset;
      tensor.offset = 0;
      has_progress |= try_case(candidate);
    }
    return has_progress;
  }

  /// Where in its storage the tensor has the element that fails.
  std::int64_t place_of_failure(const CaseTensor& tensor) const {
    std::int64_t place = tensor.offset;
    const std::size_t rank = tensor.sizes.size();
    for (std::size_t dim = 0; dim < rank && finding_.index.size() >= rank; ++dim)
      if (tensor.sizes[dim] != 1)
        place += tensor.strides[dim] * finding_.index[finding_.index.size() - rank + dim];
    return place;
  }

  Case case_;
  Finding& finding_;
  const Check& check_;
  Clock::time_point end_ = Clock::now() + time_limit;
};

}  // namespace

Case shrink(const Case& fuzz_case, Finding& finding, const Check& check) {
  return Shrinker(fuzz_case, finding, check).run();
}

}  // namespace weft::fuzzing
