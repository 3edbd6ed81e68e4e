// Puts the layouts of outputs back after a call that has resized them and is refused.
#pragma once

#include "engine/tensor/tensor_impl.h"

#include <weft/tensor.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft {

/// The layouts of the given outputs, which get them back unless the call could be planned.
class LayoutGuard {
 public:
  explicit LayoutGuard(std::span<const Tensor> outputs) : outputs_(outputs) {
    for (const Tensor& output : outputs)
      before_.push_back(output.defined() ? *output.impl() : TensorImpl());
  }
  /// Moves, as there may be no memory for a copy.
  ~LayoutGuard() {
    static_assert(std::is_nothrow_move_assignable_v<TensorImpl>);
    for (std::size_t i = 0; i < before_.size() && !is_kept_; ++i)
      if (outputs_[i].defined()) *outputs_[i].impl() = std::move(before_[i]);
  }
  LayoutGuard(const LayoutGuard&) = delete;
  LayoutGuard& operator=(const LayoutGuard&) = delete;

  bool has_changed(std::size_t i) const {
    return !std::ranges::equal(before_[i].sizes, outputs_[i].sizes());
  }
  bool has_changed() const {
    for (std::size_t i = 0; i < before_.size(); ++i)
      if (outputs_[i].defined() && has_changed(i)) return true;
    return false;
  }
  void keep() { is_kept_ = true; }

 private:
  std::span<const Tensor> outputs_;
  std::vector<TensorImpl> before_;
  bool is_kept_ = false;
};

}  // namespace weft
