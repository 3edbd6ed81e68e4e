// TensorIterator: from operands to one coalesced loop nest.  Names, defaults, order of the stages
// and error texts are PyTorch's (aten/src/ATen/TensorIterator.cpp); the differences are in
// docs/divergences.md.
#pragma once

#include <weft/inline_array.h>
#include <weft/promotion.h>
#include <weft/tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] weft {

enum class FastSetup : std::uint8_t { none, contiguous, channels_last, non_overlapping_dense };
std::string_view name(FastSetup fast_setup);

class TensorIterator;

namespace detail {

class FirstElements;

/// A dtype or none in one byte, which is written and read as a whole.
class OptionalDType {
 public:
  OptionalDType() = default;
  OptionalDType(DType dtype) : code_(static_cast<std::uint8_t>(dtype)) {}
  explicit operator bool() const { return code_ != none; }
  DType operator*() const { return static_cast<DType>(code_); }

 private:
  static constexpr std::uint8_t none = 0xff;
  std::uint8_t code_ = none;
};

/// One operand as it was added.
struct GivenOperand {
  const Tensor* borrowed = nullptr;  ///< null: one of the owned tensors
  std::uint8_t owned_index = 0;
  OptionalDType declared_dtype;
};

/// Eight bytes, which the commonest plan writes as one word.
struct IterOperandTraits {
  std::uint8_t owned_index = 0;
  DType dtype = DType::f32;
  bool is_output = false;
  bool is_read_write = false;  ///< an output that is also an input
  OptionalDType declared_dtype;
  bool will_resize = false;  ///< an output to allocate or to resize
  bool needs_temporary = false;
  std::uint8_t unused = 0;  ///< no byte of the word is left out
};

/// What an iterator knows of one operand besides its strides.
struct IterOperand : IterOperandTraits {
  const Tensor* borrowed = nullptr;  ///< null: one of the owned tensors
  std::byte* data = nullptr;
  const TensorImpl* impl = nullptr;  ///< null while an output is undefined
};

inline constexpr std::size_t inline_dims = 6;
inline constexpr std::size_t inline_operands = 4;
inline constexpr std::size_t max_operands = 255;

/// Operands beside the handles to those that are owned: most calls own none, and then neither a
/// config nor an iterator has anything to destroy.
template <class Operand>
struct OperandList : InlineArray<Operand, inline_operands> {
  InlineArray<Tensor, inline_operands> owned;

  const Tensor& tensor(std::size_t index) const {
    const Operand& operand = (*this)[index];
    return operand.borrowed != nullptr ? *operand.borrowed : owned[operand.owned_index];
  }
  void own(std::size_t index, Tensor tensor) {
    (*this)[index].borrowed = nullptr;
    (*this)[index].owned_index = static_cast<std::uint8_t>(owned.size());
    owned.push_back(std::move(tensor));
  }
};
using GivenOperands = OperandList<GivenOperand>;
using IterOperands = OperandList<IterOperand>;
template <class T>
using DimArray = InlineArray<T, inline_dims>;
/// Null where no operand has a name.
using SharedNames = std::shared_ptr<const std::vector<std::string>>;

/// Sizes, or strides in bytes, of all operands: one row each, rows of equal length.
struct StrideTable {
  InlineArray<std::int64_t, inline_dims * inline_operands> values;
  int num_rows = 0;
  int row_length = 0;

  std::int64_t* row(std::size_t index) { return values.data() + offset(index); }
  const std::int64_t* row(std::size_t index) const { return values.data() + offset(index); }

 private:
  std::size_t offset(std::size_t index) const {
    return index * static_cast<std::size_t>(row_length);
  }
};

/// Every option, under PyTorch's name and with PyTorch's default.
struct IterOptions {
  bool check_mem_overlap = true;
  bool exact_mem_overlap = true;
  bool allow_cpu_scalars = false;
  bool is_reduction = false;
  bool resize_outputs = true;
  bool check_all_same_dtype = true;
  bool check_all_same_device = true;
  bool enforce_safe_casting_to_output = false;
  bool enforce_linear_iteration = false;
  bool promote_inputs_to_common_dtype = false;
  bool promote_integer_inputs_to_float = false;
  bool cast_common_dtype_to_outputs = false;
  bool has_static_shape = false;
  bool has_numbers = false;
  bool needs_stages = false;  ///< one is set that plan_given() knows nothing of
  OptionalDType static_dtype;
  OptionalDType common_dtype;
  std::optional<Device> static_device;
  PromotionState numbers;
};

}  // namespace detail

/// How to plan one operation.  Outputs come first.  Operands are borrowed unless added as owned:
/// the Tensor handles must outlive the iterator, which refers to them.
///
/// Errors:  ArgumentError for an output after an input, and for more than 255 operands.
/// Threads: a config is used by one thread, and built once.
class TensorIteratorConfig {
 public:
  /// An output; an undefined tensor is allocated by build() in the memory format PyTorch would
  /// choose, and belongs to the iterator: see TensorIterator::output().
  TensorIteratorConfig& add_output(const Tensor& output) { return add(&output, true); }
  TensorIteratorConfig& add_output(Tensor&& output) = delete;
  TensorIteratorConfig& add_owned_output(Tensor output);
  TensorIteratorConfig& add_input(const Tensor& input) { return add(&input, false); }
  TensorIteratorConfig& add_input(Tensor&& input) = delete;
  TensorIteratorConfig& add_owned_input(Tensor input);
  /// An input that the operation promises not to write, as all inputs are here.
  TensorIteratorConfig& add_const_input(const Tensor& input) { return add(&input, false); }
  TensorIteratorConfig& add_const_input(Tensor&& input) = delete;
  TensorIteratorConfig& add_owned_const_input(Tensor input);
  /// A bare number among the inputs.  It takes part in promotion, and in the choice of the fast
  /// set-up as the 0-dim tensor that PyTorch makes of it would, but it is no operand of the plan.
  TensorIteratorConfig& add_number(const Scalar& number);

  /// Default true.
  TensorIteratorConfig& set_check_mem_overlap(bool value) {
    return set(options_.check_mem_overlap, value);
  }
  /// Default false: at most one 0-dim CPU input among operands of another device.
  TensorIteratorConfig& allow_cpu_scalars(bool value) {
    return set(options_.allow_cpu_scalars, value);
  }
  /// Default false: outputs may have stride 0 along dimensions that are reduced.
  TensorIteratorConfig& is_reduction(bool value) {
    return set_uncommon(options_.is_reduction, value);
  }
  /// Default true; false makes outputs take part in the broadcast.
  TensorIteratorConfig& resize_outputs(bool value) { return set(options_.resize_outputs, value); }
  /// Default true.
  TensorIteratorConfig& check_all_same_dtype(bool value) {
    return set(options_.check_all_same_dtype, value);
  }
  /// Default true.
  TensorIteratorConfig& check_all_same_device(bool value) {
    return set(options_.check_all_same_device, value);
  }
  /// Default false.
  TensorIteratorConfig& enforce_safe_casting_to_output(bool value) {
    return set(options_.enforce_safe_casting_to_output, value);
  }
  /// Default false: keep the order of dimensions, last one fastest.
  TensorIteratorConfig& enforce_linear_iteration(bool value = true) {
    return set_uncommon(options_.enforce_linear_iteration, value);
  }
  /// Default false; true also turns check_all_same_dtype off.
  TensorIteratorConfig& promote_inputs_to_common_dtype(bool value) {
    if (value) options_.check_all_same_dtype = false;
    return set(options_.promote_inputs_to_common_dtype, value);
  }
  /// Default false.   Errors: ArgumentError unless promote_inputs_to_common_dtype is on.
  TensorIteratorConfig& promote_integer_inputs_to_float(bool value);
  /// Default false; true also turns check_all_same_dtype off.
  TensorIteratorConfig& cast_common_dtype_to_outputs(bool value) {
    if (value) options_.check_all_same_dtype = false;
    return set(options_.cast_common_dtype_to_outputs, value);
  }
  /// The dtype (device) of undefined outputs.
  ///
  /// Errors: ArgumentError while check_all_same_dtype is on.
  TensorIteratorConfig& declare_static_dtype(DType dtype);
  TensorIteratorConfig& declare_static_device(Device device);
  TensorIteratorConfig& declare_static_dtype_and_device(DType dtype, Device device);
  /// The shape to iterate over; no shape is checked then.  `squash_dims` are given size 1.
  ///
  /// Errors: ArgumentError while resize_outputs is on, or for a squashed dimension out of range.
  TensorIteratorConfig& declare_static_shape(IntSpan shape);
  TensorIteratorConfig& declare_static_shape(IntSpan shape, std::span<const int> squash_dims);
  /// The dtype that expressions computed elsewhere give the operation, in place of the promotion of
  /// its inputs; check_all_same_dtype is off then.
  TensorIteratorConfig& set_common_dtype(DType dtype);
  /// The dtype of one undefined output, and what is cast to it if it is given, in place of the
  /// common dtype.
  TensorIteratorConfig& set_output_dtype(int output, DType dtype);
  /// Default true.  False gives PyTorch's plain behaviour: overlap that its checks let through is
  /// not looked for, and needs_temporary() is false.
  TensorIteratorConfig& set_exact_mem_overlap(bool value) {
    return set(options_.exact_mem_overlap, value);
  }
  /// Names of the operands, outputs first, for error messages and text().
  TensorIteratorConfig& set_names(std::vector<std::string> names);

  TensorIteratorConfig() = default;
  TensorIteratorConfig(const TensorIteratorConfig&) = delete;
  TensorIteratorConfig& operator=(const TensorIteratorConfig&) = delete;

  /// Plans.  Allocates undefined outputs and resizes given ones, after every check has passed.
  ///
  /// Errors: ArgumentError, with PyTorch's texts; outputs are untouched then.
  TensorIterator build();

 private:
  friend class TensorIterator;
  TensorIteratorConfig& add(const Tensor* borrowed, bool is_output) {
    const std::size_t index = operands_.size();
    if (is_output) {
      if (static_cast<std::size_t>(num_outputs_) != index) [[unlikely]]
        throw_output_after_input();
      ++num_outputs_;
    }
    if (index >= detail::max_operands) [[unlikely]]
      throw_too_many_operands();
    operands_.emplace_back().borrowed = borrowed;
    return *this;
  }
  TensorIteratorConfig& add_owned(Tensor tensor, bool is_output);
  TensorIteratorConfig& set(bool& option, bool value) {
    option = value;
    return *this;
  }
  TensorIteratorConfig& set_uncommon(bool& option, bool value) {
    options_.needs_stages |= value;
    return set(option, value);
  }
  [[noreturn]] void throw_output_after_input() const;
  [[noreturn]] static void throw_too_many_operands();

  detail::GivenOperands operands_;
  detail::IterOptions options_;
  int num_outputs_ = 0;
  detail::DimArray<std::int64_t> static_shape_;
  detail::SharedNames names_;
};

/// The finished plan: the coalesced shape, fastest dimension first, and for every operand its
/// address and strides in bytes.  Mixed dtypes are planned for conversion on the fly: no operand is
/// replaced.
///
/// Dimensions and operands are counted from 0, operands with the outputs first.
/// Errors:  ArgumentError for an operand that there is not.  An iterator that has been moved from
///          has none, and no elements: for_each() does nothing with it, and what expects operands,
///          as cpu_kernel() does, refuses it.
/// Threads: concurrent const use is safe.
class TensorIterator {
 public:
  // Presets, with PyTorch's names and options.  An undefined output is allocated; the iterator
  // keeps its operands alive.
  static TensorIterator binary_op(const Tensor& out, const Tensor& a, const Tensor& b);
  static TensorIterator binary_float_op(const Tensor& out, const Tensor& a, const Tensor& b);
  static TensorIterator comparison_op(const Tensor& out, const Tensor& a, const Tensor& b);
  static TensorIterator unary_op(const Tensor& out, const Tensor& a);
  static TensorIterator unary_float_op(const Tensor& out, const Tensor& a);
  static TensorIterator unary_force_boolean_op(const Tensor& out, const Tensor& a);
  static TensorIterator ternary_op(const Tensor& out, const Tensor& a, const Tensor& b,
                                   const Tensor& c);
  static TensorIterator nullary_op(const Tensor& out);
  static TensorIterator reduce_op(const Tensor& out, const Tensor& a);
  static TensorIterator reduce_op(const Tensor& out1, const Tensor& out2, const Tensor& a);

  int ndim() const { return static_cast<int>(shape_.size()); }
  int ntensors() const { return static_cast<int>(operands_.size()); }
  int noutputs() const { return operands_.empty() ? 0 : num_outputs_; }  // none once moved from
  int ninputs() const { return ntensors() - noutputs(); }
  std::int64_t numel() const;
  /// Coalesced, fastest dimension first.
  IntSpan shape() const { return {shape_.data(), shape_.size()}; }
  /// Along shape().
  IntSpan stride_bytes(int operand) const {
    return {strides_.row(checked(operand)), shape_.size()};
  }
  std::byte* data(int operand) const { return operands_[checked(operand)].data; }
  /// Of the tensor.
  DType dtype(int operand = 0) const { return operands_[checked(operand)].dtype; }
  /// What the operation computes in.
  ///
  /// Errors: ArgumentError if there is none: inputs of several dtypes and no promotion.
  DType common_dtype() const;
  bool has_common_dtype() const { return static_cast<bool>(common_dtype_); }
  DType input_dtype(int input = 0) const { return operands_[checked_input(input)].dtype; }
  Device device(int operand = 0) const;
  const Tensor& output(int index = 0) const { return operands_.tensor(checked_output(index)); }
  const Tensor& input(int index = 0) const { return operands_.tensor(checked_input(index)); }
  const Tensor& tensor(int operand) const { return operands_.tensor(checked(operand)); }
  FastSetup fast_setup() const { return fast_setup_; }
  /// Whether none of the stages was needed: few operands of one dtype on the CPU, of which outputs
  /// are dense and overlap no input.  The plan is the one that the stages would have made.
  bool is_planned_at_once() const { return is_planned_at_once_; }
  /// The dimensions of sizes(), fastest first; filled in for fast set-ups too.
  std::span<const int> perm() const { return {perm_.data(), perm_.size()}; }
  /// The broadcast shape, in the order of the tensors' dimensions.
  IntSpan sizes() const { return {sizes_.data(), sizes_.size()}; }
  bool is_meta() const { return is_meta_; }
  bool is_reduction() const { return is_reduction_; }
  bool is_read_write(int output) const { return operands_[checked_output(output)].is_read_write; }
  /// True if a given output was empty or of another size, and has been resized; or was allocated.
  bool was_resized(int output) const { return operands_[checked_output(output)].will_resize; }
  bool has_coalesced_dimensions() const { return has_coalesced_dimensions_; }
  /// One dimension or one element, every operand dense in its dtype.
  bool is_contiguous() const;
  /// Every operand is dense along the fastest dimension; true where there are no dimensions.
  bool has_contiguous_first_dim() const;
  bool is_trivial_1d() const { return ndim() == 1; }
  /// The operand is a CPU tensor with one element.
  bool is_cpu_scalar(int operand) const;
  bool is_scalar(int operand) const;
  /// An output does not advance along `dim` of shape(), which has more than one element.
  ///
  /// Errors: ArgumentError for a dimension that there is not.
  bool is_dim_reduced(int dim) const;
  int num_reduce_dims() const;
  /// Of the first output: those along its reduced dimensions are one.
  std::int64_t num_output_elements() const;
  /// Writing the outputs in some order would change what is yet to be read of this input: whoever
  /// runs the plan must read it completely before the first write.  False for the very view of an
  /// output.
  bool needs_temporary(int input) const { return operands_[checked_input(input)].needs_temporary; }
  /// Strides in bytes of a dense operand along shape(), for elements of `element_size_bytes`.
  std::vector<std::int64_t> compatible_stride(std::int64_t element_size_bytes) const;
  /// Where the part of the whole that this iterator covers begins, along shape().
  std::vector<std::int64_t> view_offsets() const;

  // Parts of the whole.  A reduced dimension that is split leaves the second part accumulating into
  // what the first, whose output is not final, has written.
  /// All numbers of elements and offsets in bytes fit into 32 bits.
  bool can_use_32bit_indexing() const;
  /// Parts that can_use_32bit_indexing(), which cover this iterator in order.
  std::vector<TensorIterator> with_32bit_indexing() const;
  /// The dimension with the largest extent in bytes, the outermost one of equals.
  int get_dim_to_split() const;
  /// Cuts `dim` in two: returns the first half, *this becomes the second.
  TensorIterator split(int dim);
  /// Elements [start, start + size) of `dim` only.
  void narrow(int dim, std::int64_t start, std::int64_t size);
  /// One index of each dimension from `start_dim` on; the dimensions stay, with size 1.
  void select_all_keeping_dim(int start_dim, IntSpan indices);
  void remove_operand(int operand);
  bool is_final_output() const { return final_output_; }
  bool should_accumulate() const { return accumulate_; }

  std::span<const std::string> names() const {
    return names_ == nullptr ? std::span<const std::string>() : std::span(*names_);
  }
  /// Every stage as text: operands, broadcast shape, dtypes, fast set-up or perm, coalesced shape.
  std::string text() const;

 private:
  friend class TensorIteratorConfig;
  friend class detail::FirstElements;
  TensorIterator() = default;
  std::size_t checked(int operand) const {
    const auto index = static_cast<std::size_t>(operand);
    if (index >= operands_.size()) [[unlikely]]
      throw_no_operand("operand", operand, ntensors());
    return index;
  }
  std::size_t checked_output(int output) const {
    if (output < 0 || output >= noutputs()) [[unlikely]]
      throw_no_operand("output", output, noutputs());
    return static_cast<std::size_t>(output);
  }
  std::size_t checked_input(int input) const {
    if (input < 0 || input >= ninputs()) [[unlikely]]
      throw_no_operand("input", input, ninputs());
    return static_cast<std::size_t>(num_outputs_ + input);
  }
  [[noreturn]] static void throw_no_operand(std::string_view kind, int index, int count);
  void plan(TensorIteratorConfig& config);
  bool plan_given(TensorIteratorConfig& config);
  template <int num_given>
  bool plan_contiguous(const detail::GivenOperands& given);
  template <int num_given>
  bool plan_strided(const detail::GivenOperands& given);
  template <int num_operands>
  void set_contiguous_shape(std::int64_t itemsize_bytes);
  void set_fast_shape(std::int64_t numel);
  void coalesce();

  detail::IterOperands operands_;
  detail::DimArray<std::int64_t> shape_;
  detail::StrideTable strides_;
  detail::DimArray<std::int64_t> sizes_;
  detail::DimArray<int> perm_;
  detail::DimArray<std::int64_t> view_offsets_;  ///< empty until narrow() moves one
  detail::OptionalDType common_dtype_;
  int num_outputs_ = 0;
  FastSetup fast_setup_ = FastSetup::none;
  bool is_reduction_ = false;
  bool is_meta_ = false;
  bool has_coalesced_dimensions_ = false;
  bool is_planned_at_once_ = false;
  bool accumulate_ = false;
  bool final_output_ = true;
  detail::SharedNames names_;
};

}  // namespace weft
