// The stage of build() that makes and resizes outputs.  Everything that can fail is tried on all
// outputs before the first given one changes.
#include "engine/iterator/iter_plan.h"
#include "engine/tensor/memory_format.h"
#include "runtime/log.h"

#include <weft/error.h>

namespace weft::iter {
namespace {

Dims strides_of(const OutputLayout& layout) {
  if (layout.format) return format_strides(layout.sizes, *layout.format);
  return Dims(layout.strides.begin(), layout.strides.end());
}

std::int64_t needed_bytes(std::int64_t storage_offset, std::int64_t numel, DType dtype) {
  if (numel == 0) return 0;
  return checked_multiply(checked_add(storage_offset, numel),
                          static_cast<std::int64_t>(itemsize_bytes(dtype)));
}

/// Planning without bytes goes on without bytes.
bool is_unbacked(const IterOperands& operands) {
  for (const IterOperand& operand : operands) {
    if (operand.impl != nullptr && operand.impl->numel != 0 &&
        operand.impl->storage->data() == nullptr) {
      return true;
    }
  }
  return false;
}

Tensor allocate(IntSpan sizes, const Dims& strides, DType dtype, std::int64_t num_bytes,
                Device device, bool unbacked) {
  std::shared_ptr<Storage> storage =
      unbacked ? Storage::unbacked(num_bytes, device) : Storage::allocate(num_bytes, device);
  return make_tensor(std::move(storage), Dims(sizes), strides, 0, dtype);
}

}  // namespace

void allocate_or_resize_outputs(IterOperands& operands, int num_outputs, const OutputLayout& layout,
                                Device device, Names names) {
  const Dims strides = strides_of(layout);
  const std::int64_t numel = checked_numel(layout.sizes);
  bool resizes = false;
  for (int i = 0; i < num_outputs; ++i) {
    const TensorImpl* impl = operands[i].impl;
    if (impl == nullptr || !operands[i].will_resize) continue;
    resizes = true;
    const std::int64_t num_bytes = needed_bytes(impl->storage_offset, numel, impl->dtype);
    WEFT_CHECK(num_bytes <= static_cast<std::int64_t>(impl->storage->size_bytes()) ||
                   impl->storage->is_resizable(),
               ArgumentError, "Trying to resize storage that is not resizable: ",
               operand_text(operands, i, num_outputs, names), ", it would have to hold ",
               dims_text(layout.sizes), ".");
  }
  for (int i = 0; i < num_outputs; ++i) {
    const IterOperand& output = operands[i];
    if (output.impl != nullptr) continue;
    const bool unbacked = device.type == DeviceType::meta || is_unbacked(operands);
    operands.own(i, allocate(layout.sizes, strides, output.dtype,
                             needed_bytes(0, numel, output.dtype), device, unbacked));
  }
  if (resizes) {
    for (int i = 0; i < num_outputs; ++i) {
      const TensorImpl* impl = operands[i].impl;
      if (impl == nullptr || !operands[i].will_resize) continue;
      const std::int64_t num_bytes = needed_bytes(impl->storage_offset, numel, impl->dtype);
      if (num_bytes > static_cast<std::int64_t>(impl->storage->size_bytes())) {
        impl->storage->resize_bytes(num_bytes);
      }
    }
    for (int i = 0; i < num_outputs; ++i) {
      if (operands[i].impl == nullptr || !operands[i].will_resize) continue;
      TensorImpl& impl = *operands.tensor(i).impl();
      if (impl.numel != 0 && is_logged(LogTopic::plan)) [[unlikely]]
        log(LogTopic::plan, "An output with one or more elements was resized since it had shape ",
            dims_text(impl.sizes), ", which does not match the required output shape ",
            dims_text(layout.sizes), ".");
      impl.sizes = Dims(IntSpan(layout.sizes));
      impl.strides = strides;
      impl.refresh();
    }
  }
  for (int i = 0; i < num_outputs; ++i) operands[i].impl = operands.tensor(i).impl().get();
}

}  // namespace weft::iter
