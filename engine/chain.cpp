// The contiguous chain: clone, contiguous, to, reshape and what they are made of, and inference.
#include "engine/device/device_copy.h"
#include "engine/dispatch/operators.h"
#include "engine/engine_state.h"
#include "engine/expression/parts.h"
#include "engine/fold/fold_call.h"
#include "engine/plan/planner.h"
#include "engine/tensor/memory_format.h"
#include "ir/limits.h"

#include <weft/error.h>

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft {
namespace {

constexpr Device meta{DeviceType::meta, 0};

/// The same layout with no bytes behind it, which may be written and resized where the tensor may.
Tensor without_data(const Tensor& tensor, Device device) {
  const TensorImpl& impl = *tensor.impl();
  const std::size_t size_bytes = impl.storage->size_bytes();
  Tensor result =
      make_tensor(impl.storage->is_resizable() ? Storage::unbacked(size_bytes, device)
                                               : Storage::borrow(nullptr, size_bytes, device),
                  impl.sizes, impl.strides, impl.storage_offset, impl.dtype);
  result.impl()->access = impl.access;
  result.impl()->is_conj = impl.is_conj;
  result.impl()->is_neg = impl.is_neg;
  return result;
}

/// without_data() of several tensors, of which those on one storage stay on one: they may overlap.
class Layouts {
 public:
  explicit Layouts(Device device) : device_(device) {}

  Tensor of(const Tensor& tensor) {
    Tensor result = without_data(tensor, device_);
    const auto [known, is_new] =
        storages_.try_emplace(tensor.storage().get(), result.impl()->storage);
    if (!is_new) result.impl()->storage = known->second;
    return result;
  }

 private:
  Device device_;
  std::unordered_map<const Storage*, std::shared_ptr<Storage>> storages_;
};

Inferred infer_elementwise(const Expr& expr, const Tensor& out) {
  const Program program = flatten(std::span(&expr, 1), std::span(&out, 1));
  const auto is_on_cpu = [](const Tensor& tensor) { return tensor.device() == Device(); };
  std::vector<Tensor> inputs = leaves_of(program);
  // Operands of the CPU stay there, for messages; nothing is allocated on devices.
  const bool is_called_cpu =
      out.defined() ? is_on_cpu(out) : std::ranges::any_of(inputs, is_on_cpu);
  const Device device = is_called_cpu ? Device() : meta;
  Layouts layouts(device);
  Tensor output = out.defined() ? layouts.of(out) : out;
  // An output that is an input is never resized.
  for (Tensor& input : inputs) input = input.is_same(out) ? output : layouts.of(input);
  if (inputs.empty() && !output.defined()) return {program.output_dtypes[0], {}, {}};
  const TensorIterator iterator = plan_iteration(program, std::span(&output, 1), inputs, true);
  const Tensor& result = iterator.output(0);
  return {result.dtype(),
          {result.sizes().begin(), result.sizes().end()},
          {result.strides().begin(), result.strides().end()}};
}

}  // namespace

Inferred Engine::infer(const Expr& given, const Tensor& out) const {
  return infer_result(given, out);
}

Inferred infer_result(const Expr& given, const Tensor& out) {
  check_is_current(std::span(&given, 1));
  const Expr expr = without_folds(std::span(&given, 1), meta)[0];
  try {
    return infer_elementwise(expr, out);
  } catch (const ir::KernelLimitError&) {  // eval() takes parts as well
    const auto layout = [](const Expr& part) {
      const Inferred inferred = infer_result(part, {});
      return empty_strided(inferred.sizes, inferred.strides, {inferred.dtype, meta});
    };
    return infer_elementwise(in_parts(std::span(&expr, 1), ComputePart(layout))[0], out);
  }
}

Tensor new_like(const Tensor& self, std::optional<DType> dtype, MemoryFormat format) {
  return empty_like(self, dtype, format);
}

Tensor clone_by_copy(const Tensor& self, MemoryFormat format) {
  Tensor result = operators().empty_like.call(self, {}, format);
  dispatch_copy(CurrentCall::state(), result, self);
  return result;
}

Tensor contiguous_by_clone(const Tensor& self, MemoryFormat format) {
  return contiguous_is_self(self, format) ? self : operators().clone.call(self, format);
}

Tensor to_by_copy(const Tensor& self, std::optional<DType> dtype, std::optional<Device> device,
                  MemoryFormat format, bool copy) {
  WEFT_CHECK(self.defined(), ArgumentError, "to(): the tensor is undefined");
  const DeviceType from = self.device().type;
  const Device to = device.value_or(self.device());
  const DType result_dtype = dtype.value_or(self.dtype());
  if (to.type == DeviceType::meta && from != DeviceType::meta) {
    const Tensor layout = empty_strided(self.sizes(), self.strides(), {self.dtype(), to});
    return empty_like(layout, result_dtype, format);
  }
  WEFT_CHECK(from != DeviceType::meta || to.type == DeviceType::meta, UnsupportedError,
             "Cannot copy out of meta tensor; no data!");
  if (self.device() == to && !copy && to_is_self(self, result_dtype, format)) return self;
  // copy_() negates what has been converted; here, what is negated is converted: -1 of u8 is 255.
  const bool is_negated_first = self.is_neg() && result_dtype != self.dtype();
  const Tensor source =
      is_negated_first ? operators().clone.call(self, MemoryFormat::preserve) : self;
  if (self.device() != to) {
    // The layout that the conversion would give, with its bytes elsewhere.
    const Tensor layout =
        empty_strided(self.sizes(), self.strides(), {self.dtype(), {DeviceType::meta, 0}});
    const Tensor converted = empty_like(layout, result_dtype, format);
    TensorOptions options{result_dtype, to};
    options.pin_memory = to.type == DeviceType::cpu && NonBlockingCopies::are_asked_for();
    Tensor result = empty_strided(converted.sizes(), converted.strides(), options);
    dispatch_copy(CurrentCall::state(), result, source);
    return result;
  }
  Tensor result = operators().empty_like.call(self, result_dtype, format);
  dispatch_copy(CurrentCall::state(), result, source);
  return result;
}

Tensor Engine::clone(const Tensor& a, MemoryFormat format) {
  const CurrentCall current(*state_);
  return operators().clone.call(a, format);
}

Tensor Engine::contiguous(const Tensor& a, MemoryFormat format) {
  const CurrentCall current(*state_);
  return operators().contiguous.call(a, format);
}

Tensor Engine::to(const Tensor& a, const ToOptions& options) {
  const CurrentCall current(*state_);
  const NonBlockingCopies copies(options.non_blocking);
  return operators().to.call(a, options.dtype, options.device, options.memory_format, options.copy);
}

Tensor Engine::to(const Tensor& a, DType dtype) {
  return to(a, ToOptions{dtype, {}, MemoryFormat::preserve, false});
}

Tensor reshape_by_view(const Tensor& self, IntSpan sizes) {
  const Dims inferred = infer_view_sizes(sizes, self.numel());
  if (compute_view_strides(self.sizes(), self.strides(), inferred)) return self.view(inferred);
  return operators().clone.call(self, MemoryFormat::contiguous).view(inferred);
}

Tensor resolve_conj_by_clone(const Tensor& self) {
  return self.is_conj() ? operators().clone.call(self, MemoryFormat::preserve) : self;
}

Tensor resolve_neg_by_clone(const Tensor& self) {
  return self.is_neg() ? operators().clone.call(self, MemoryFormat::preserve) : self;
}

Tensor fill_by_copy(const Tensor& self, const Scalar& value) {
  WEFT_CHECK(self.defined(), ArgumentError, "self is undefined");
  // Elements that lie on top of each other along an expanded dimension are written once.
  Dims sizes(self.sizes());
  for (int dim = 0; dim < self.dim(); ++dim)
    if (self.stride(dim) == 0 && sizes[dim] > 1) sizes[dim] = 1;
  // A 0-dim source of the same dtype broadcasts.
  dispatch_copy(CurrentCall::state(), self.as_strided(sizes, self.strides()),
                full(IntSpan(), value, {self.dtype(), {}, MemoryFormat::contiguous}));
  return self;
}

Tensor Engine::reshape(const Tensor& a, IntSpan sizes) {
  const CurrentCall current(*state_);
  return operators().reshape.call(a, sizes);
}

Tensor Engine::resolve_conj(const Tensor& a) {
  const CurrentCall current(*state_);
  return operators().resolve_conj.call(a);
}

Tensor Engine::resolve_neg(const Tensor& a) {
  const CurrentCall current(*state_);
  return operators().resolve_neg.call(a);
}

void Engine::fill(const Tensor& dst, const Scalar& value) {
  const CurrentCall current(*state_);
  operators().fill.call(dst, value);
}

}  // namespace weft
