// The options of TensorIteratorConfig, and the presets that PyTorch makes of them.
#include "engine/iterator/iter_plan.h"

#include <weft/error.h>
#include <weft/iterator.h>
#include <algorithm>

namespace weft {

TensorIteratorConfig& TensorIteratorConfig::add_owned(Tensor tensor, bool is_output) {
  add(nullptr, is_output);
  operands_.own(operands_.size() - 1, std::move(tensor));
  return *this;
}

TensorIteratorConfig& TensorIteratorConfig::add_owned_output(Tensor output) {
  return add_owned(std::move(output), true);
}

TensorIteratorConfig& TensorIteratorConfig::add_owned_input(Tensor input) {
  return add_owned(std::move(input), false);
}

TensorIteratorConfig& TensorIteratorConfig::add_owned_const_input(Tensor input) {
  return add_owned(std::move(input), false);
}

void TensorIteratorConfig::throw_output_after_input() const {
  throw ArgumentError(
      detail::concat("Keep in mind that you have to add all outputs first before adding any input: "
                     "output ",
                     num_outputs_, " comes after ",
                     static_cast<int>(operands_.size()) - num_outputs_, " inputs."));
}

void TensorIteratorConfig::throw_too_many_operands() {
  throw ArgumentError(
      detail::concat("an operation has at most ", detail::max_operands, " operands."));
}

TensorIteratorConfig& TensorIteratorConfig::add_number(const Scalar& number) {
  options_.numbers.add(number);
  return set_uncommon(options_.has_numbers, true);
}

TensorIteratorConfig& TensorIteratorConfig::promote_integer_inputs_to_float(bool value) {
  WEFT_CHECK(!value || options_.promote_inputs_to_common_dtype, ArgumentError,
             "promote_inputs_to_common_dtype(true) must be called before "
             "promote_integer_inputs_to_float(true).");
  return set_uncommon(options_.promote_integer_inputs_to_float, value);
}

TensorIteratorConfig& TensorIteratorConfig::declare_static_dtype(DType dtype) {
  WEFT_CHECK(!options_.check_all_same_dtype, ArgumentError,
             "check_all_same_dtype(false) must be called before declare_static_dtype(...)");
  options_.static_dtype = checked(dtype);
  return *this;
}

TensorIteratorConfig& TensorIteratorConfig::declare_static_device(Device device) {
  WEFT_CHECK(!options_.check_all_same_dtype, ArgumentError,
             "check_all_same_dtype(false) must be called before declare_static_device(...)");
  options_.static_device = device;
  return *this;
}

TensorIteratorConfig& TensorIteratorConfig::declare_static_dtype_and_device(DType dtype,
                                                                            Device device) {
  WEFT_CHECK(
      !options_.check_all_same_dtype, ArgumentError,
      "check_all_same_dtype(false) must be called before declare_static_dtype_and_device(...)");
  options_.static_dtype = checked(dtype);
  options_.static_device = device;
  return *this;
}

TensorIteratorConfig& TensorIteratorConfig::declare_static_shape(IntSpan shape) {
  WEFT_CHECK(!options_.resize_outputs, ArgumentError,
             "resize_outputs(false) must be called before declare_static_shape(...)");
  check_sizes(shape);
  static_shape_ = detail::DimArray<std::int64_t>(shape);
  return set_uncommon(options_.has_static_shape, true);
}

TensorIteratorConfig& TensorIteratorConfig::declare_static_shape(IntSpan shape,
                                                                 std::span<const int> squash_dims) {
  for (int dim : squash_dims) {
    WEFT_CHECK(dim >= 0 && dim < std::ssize(shape), ArgumentError, "squash_dim ", dim,
               " must be in [0, ", shape.size(), ").");
  }
  declare_static_shape(shape);
  for (int dim : squash_dims) static_shape_[dim] = 1;
  return *this;
}

TensorIteratorConfig& TensorIteratorConfig::set_common_dtype(DType dtype) {
  options_.common_dtype = checked(dtype);
  options_.needs_stages = true;
  options_.check_all_same_dtype = false;
  return *this;
}

TensorIteratorConfig& TensorIteratorConfig::set_output_dtype(int output, DType dtype) {
  WEFT_CHECK(output >= 0 && output < num_outputs_, ArgumentError, "output ", output,
             " must be added before its dtype is set.");
  operands_[output].declared_dtype = checked(dtype);
  options_.needs_stages = true;
  return *this;
}

TensorIteratorConfig& TensorIteratorConfig::set_names(std::vector<std::string> names) {
  names_ = std::make_shared<const std::vector<std::string>>(std::move(names));
  return *this;
}

TensorIterator TensorIterator::binary_op(const Tensor& out, const Tensor& a, const Tensor& b) {
  return TensorIteratorConfig()
      .set_check_mem_overlap(true)
      .allow_cpu_scalars(true)
      .promote_inputs_to_common_dtype(true)
      .cast_common_dtype_to_outputs(true)
      .enforce_safe_casting_to_output(true)
      .add_owned_output(out)
      .add_owned_input(a)
      .add_owned_input(b)
      .build();
}

TensorIterator TensorIterator::binary_float_op(const Tensor& out, const Tensor& a,
                                               const Tensor& b) {
  return TensorIteratorConfig()
      .set_check_mem_overlap(true)
      .allow_cpu_scalars(true)
      .promote_inputs_to_common_dtype(true)
      .promote_integer_inputs_to_float(true)
      .cast_common_dtype_to_outputs(true)
      .enforce_safe_casting_to_output(true)
      .add_owned_output(out)
      .add_owned_input(a)
      .add_owned_input(b)
      .build();
}

TensorIterator TensorIterator::comparison_op(const Tensor& out, const Tensor& a, const Tensor& b) {
  TensorIteratorConfig config;
  config.set_check_mem_overlap(true).allow_cpu_scalars(true).promote_inputs_to_common_dtype(true);
  config.add_owned_output(out).add_owned_input(a).add_owned_input(b);
  if (!out.defined()) {
    config.declare_static_dtype(DType::boolean);
  } else if (out.dtype() != DType::boolean) {
    config.cast_common_dtype_to_outputs(true);
  }
  return config.build();
}

TensorIterator TensorIterator::unary_op(const Tensor& out, const Tensor& a) {
  return TensorIteratorConfig()
      .set_check_mem_overlap(true)
      .check_all_same_dtype(true)
      .add_owned_output(out)
      .add_owned_input(a)
      .build();
}

TensorIterator TensorIterator::unary_float_op(const Tensor& out, const Tensor& a) {
  return TensorIteratorConfig()
      .set_check_mem_overlap(true)
      .promote_inputs_to_common_dtype(true)
      .promote_integer_inputs_to_float(true)
      .cast_common_dtype_to_outputs(true)
      .enforce_safe_casting_to_output(true)
      .add_owned_output(out)
      .add_owned_input(a)
      .build();
}

TensorIterator TensorIterator::unary_force_boolean_op(const Tensor& out, const Tensor& a) {
  WEFT_CHECK(a.defined(), ArgumentError, "Found undefined input tensor! It is input 0.");
  return TensorIteratorConfig()
      .set_check_mem_overlap(true)
      .check_all_same_dtype(false)
      .declare_static_dtype_and_device(DType::boolean, a.device())
      .add_owned_output(out)
      .add_owned_input(a)
      .build();
}

TensorIterator TensorIterator::ternary_op(const Tensor& out, const Tensor& a, const Tensor& b,
                                          const Tensor& c) {
  return TensorIteratorConfig()
      .set_check_mem_overlap(true)
      .promote_inputs_to_common_dtype(true)
      .cast_common_dtype_to_outputs(true)
      .enforce_safe_casting_to_output(true)
      .add_owned_output(out)
      .add_owned_input(a)
      .add_owned_input(b)
      .add_owned_input(c)
      .build();
}

TensorIterator TensorIterator::nullary_op(const Tensor& out) {
  return TensorIteratorConfig()
      .set_check_mem_overlap(true)
      .check_all_same_dtype(false)
      .resize_outputs(false)
      .add_owned_output(out)
      .build();
}

TensorIterator TensorIterator::reduce_op(const Tensor& out, const Tensor& a) {
  WEFT_CHECK(out.defined(), ArgumentError, "reduce_op(): expected the output to be defined.");
  return TensorIteratorConfig()
      .set_check_mem_overlap(false)
      .resize_outputs(false)
      .is_reduction(true)
      .promote_inputs_to_common_dtype(true)
      .add_owned_output(out)
      .add_owned_input(a)
      .build();
}

TensorIterator TensorIterator::reduce_op(const Tensor& out1, const Tensor& out2, const Tensor& a) {
  WEFT_CHECK(out1.defined() && out2.defined(), ArgumentError,
             "reduce_op(): expected both outputs to be defined.");
  constexpr std::string_view both = "reduce_op(): expected both outputs to ";
  WEFT_CHECK(out1.device() == out2.device(), ArgumentError, both,
             "be on same device, but output1 is on ", weft::text(out1.device()),
             " and output2 is on ", weft::text(out2.device()));
  WEFT_CHECK(out1.dim() == out2.dim(), ArgumentError, both,
             "have same number of dims, but output1 has ", out1.dim(), " and output2 has ",
             out2.dim());
  WEFT_CHECK(std::ranges::equal(out1.sizes(), out2.sizes()), ArgumentError, both,
             "have same sizes, but output1 has ", dims_text(out1.sizes()), " and output2 has ",
             dims_text(out2.sizes()));
  WEFT_CHECK(std::ranges::equal(out1.strides(), out2.strides()), ArgumentError, both,
             "have same strides, but output1 has ", dims_text(out1.strides()), " and output2 has ",
             dims_text(out2.strides()));
  return TensorIteratorConfig()
      .set_check_mem_overlap(false)
      .resize_outputs(false)
      .is_reduction(true)
      .check_all_same_dtype(false)
      .add_owned_output(out1)
      .add_owned_output(out2)
      .add_owned_input(a)
      .build();
}

}  // namespace weft
