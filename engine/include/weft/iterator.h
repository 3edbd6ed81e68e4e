// TensorIterator: from operands to one coalesced loop nest.  Names, defaults, order of the stages and
// error texts are PyTorch's (aten/src/ATen/TensorIterator.cpp); the differences are in docs/divergences.md.
#pragma once

#include <weft/tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weft {

enum class FastSetup : std::uint8_t { none, contiguous, channels_last, non_overlapping_dense };
std::string_view name(FastSetup fast_setup);

class TensorIterator;

/// How to plan one operation.  Operands are borrowed: they must outlive build().  Outputs come first.
class TensorIteratorConfig {
 public:
  /// An output; an undefined tensor is allocated by build() in the memory format PyTorch would choose.
  TensorIteratorConfig& add_output(const Tensor& output);
  TensorIteratorConfig& add_output(Tensor&& output) = delete;
  TensorIteratorConfig& add_owned_output(Tensor output);
  TensorIteratorConfig& add_input(const Tensor& input);
  TensorIteratorConfig& add_input(Tensor&& input) = delete;
  TensorIteratorConfig& add_owned_input(Tensor input);
  TensorIteratorConfig& add_const_input(const Tensor& input);

  TensorIteratorConfig& set_check_mem_overlap(bool value);               ///< default true
  TensorIteratorConfig& allow_cpu_scalars(bool value);                   ///< default false
  TensorIteratorConfig& is_reduction(bool value);                        ///< default false
  TensorIteratorConfig& resize_outputs(bool value);                      ///< default true
  TensorIteratorConfig& check_all_same_dtype(bool value);                ///< default true
  TensorIteratorConfig& check_all_same_device(bool value);               ///< default true
  TensorIteratorConfig& enforce_safe_casting_to_output(bool value);      ///< default false
  TensorIteratorConfig& enforce_linear_iteration(bool value = true);     ///< default false
  TensorIteratorConfig& promote_inputs_to_common_dtype(bool value);      ///< default false
  TensorIteratorConfig& promote_integer_inputs_to_float(bool value);     ///< default false
  TensorIteratorConfig& cast_common_dtype_to_outputs(bool value);        ///< default false
  TensorIteratorConfig& declare_static_dtype(DType dtype);
  TensorIteratorConfig& declare_static_device(Device device);
  TensorIteratorConfig& declare_static_shape(IntSpan shape);
  TensorIteratorConfig& declare_static_shape(IntSpan shape, std::span<const int> squash_dims);
  /// The dtype that expressions computed elsewhere give the operation, in place of the promotion of its inputs.
  TensorIteratorConfig& set_common_dtype(DType dtype);

  TensorIteratorConfig();
  ~TensorIteratorConfig();
  TensorIteratorConfig(const TensorIteratorConfig&) = delete;

  /// Plans.  Allocates undefined outputs and resizes given ones, after every check has passed.
  ///
  /// Errors: ArgumentError, with PyTorch's texts; outputs are untouched then.
  TensorIterator build();

  struct State;

 private:
  friend class TensorIterator;
  std::unique_ptr<State> state_;
};

/// The finished plan: the coalesced shape, fastest dimension first, and for every operand its address and
/// strides in bytes.  Mixed dtypes are planned for conversion on the fly: no operand is replaced.
class TensorIterator {
 public:
  TensorIterator(TensorIterator&&) noexcept;
  TensorIterator& operator=(TensorIterator&&) noexcept;
  ~TensorIterator();

  int ndim() const;
  int ntensors() const;
  int noutputs() const;
  int ninputs() const { return ntensors() - noutputs(); }
  std::int64_t numel() const;
  IntSpan shape() const;                    ///< coalesced, fastest dimension first
  IntSpan stride_bytes(int operand) const;  ///< along shape()
  std::byte* data(int operand) const;
  DType dtype(int operand) const;           ///< of the tensor
  DType common_dtype() const;
  Device device(int operand = 0) const;
  const Tensor& output(int index = 0) const;
  const Tensor& tensor(int operand) const;
  FastSetup fast_setup() const;
  std::span<const int> perm() const;        ///< fastest dimension first; before coalescing
  bool is_contiguous() const;               ///< one dimension, every operand dense in its dtype
  /// Every stage as text: operands, broadcast shape, dtypes, fast set-up or perm, coalesced shape.
  std::string text() const;

 private:
  friend class TensorIteratorConfig;
  struct Plan;
  explicit TensorIterator(std::unique_ptr<Plan> plan);
  std::unique_ptr<Plan> plan_;
};

}  // namespace weft
