// The contiguous chain: clone, contiguous, to, reshape and what they are made of, and inference.
#include "engine/engine_state.h"
#include "engine/memory_format.h"

#include <weft/error.h>

#include <utility>
#include <vector>

namespace weft {
namespace {

/// The same layout with no bytes behind it.
Tensor without_data(const Tensor& tensor) {
  const TensorImpl& impl = *tensor.impl();
  const Device meta{DeviceType::meta, 0};
  Tensor result = make_tensor(Storage::unbacked(impl.storage->size_bytes(), meta), impl.sizes,
                              impl.strides, impl.storage_offset, impl.dtype);
  result.impl()->is_conj = impl.is_conj;
  result.impl()->is_neg = impl.is_neg;
  return result;
}

}  // namespace

Inferred Engine::infer(const Expr& expr, const Tensor& out) const {
  const Program program = flatten(std::span(&expr, 1), std::span(&out, 1));
  std::vector<Tensor> inputs;
  for (const ExprNode* leaf : program.leaves) inputs.push_back(without_data(leaf->tensor));
  Tensor output = out.defined() ? without_data(out) : out;
  if (inputs.empty() && !output.defined()) return {program.output_dtypes[0], {}, {}};
  const TensorIterator iterator = plan_iteration(program, std::span(&output, 1), inputs, true);
  const Tensor& result = iterator.output(0);
  return {result.dtype(),
          {result.sizes().begin(), result.sizes().end()},
          {result.strides().begin(), result.strides().end()}};
}

Tensor Engine::clone(const Tensor& a, MemoryFormat format) {
  const Tensor result = empty_like(a, {}, format);
  copy(result, a);
  return result;
}

Tensor Engine::contiguous(const Tensor& a, MemoryFormat format) {
  return contiguous_is_self(a, format) ? a : clone(a, format);
}

Tensor Engine::to(const Tensor& a, const ToOptions& options) {
  WEFT_CHECK(a.defined(), ArgumentError, "to(): the tensor is undefined");
  const Device device = options.device.value_or(a.device());
  WEFT_CHECK(device.type == DeviceType::cpu && a.device().type == DeviceType::cpu, UnsupportedError,
             "to(): from ", text(a.device()), " to ", text(device),
             "; only cpu tensors can be converted in this build");
  const DType dtype = options.dtype.value_or(a.dtype());
  if (!options.copy && to_is_self(a, dtype, options.memory_format)) return a;
  const Tensor result = empty_like(a, dtype, options.memory_format);
  copy(result, a);
  return result;
}

Tensor Engine::to(const Tensor& a, DType dtype) {
  return to(a, ToOptions{dtype, {}, MemoryFormat::preserve, false});
}

Tensor Engine::reshape(const Tensor& a, IntSpan sizes) {
  const Dims inferred = infer_view_sizes(sizes, a.numel());
  if (compute_view_strides(a.sizes(), a.strides(), inferred)) return a.view(inferred);
  return clone(a, MemoryFormat::contiguous).view(inferred);
}

Tensor Engine::resolve_conj(const Tensor& a) { return a.is_conj() ? clone(a) : a; }

Tensor Engine::resolve_neg(const Tensor& a) { return a.is_neg() ? clone(a) : a; }

void Engine::fill(const Tensor& dst, const Scalar& value) {
  WEFT_CHECK(dst.defined(), ArgumentError, "self is undefined");
  // Elements that lie on top of each other along an expanded dimension are written once.
  Dims sizes(dst.sizes());
  for (int dim = 0; dim < dst.dim(); ++dim)
    if (dst.stride(dim) == 0 && sizes[dim] > 1) sizes[dim] = 1;
  // A 0-dim source of the same dtype broadcasts.
  copy(dst.as_strided(sizes, dst.strides()),
       full(IntSpan(), value, {dst.dtype(), {}, MemoryFormat::contiguous}));
}

}  // namespace weft
