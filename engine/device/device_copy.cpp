#include "engine/device/device_copy.h"

#include "engine/dispatch/operators.h"
#include "engine/tensor/tensor_impl.h"
#include "runtime/cuda_memory.h"

#include <weft/cuda.h>
#include <weft/error.h>
#include <weft/overlap.h>

#include <algorithm>
#include <utility>

namespace weft {
namespace {

constinit thread_local bool is_non_blocking_now = false;

/// The view with one element along dimensions that all its elements share.
Tensor without_broadcasting(const Tensor& tensor) {
  Dims sizes(tensor.sizes());
  for (int dim = 0; dim < tensor.dim(); ++dim)
    if (tensor.stride(dim) == 0 && sizes[dim] > 1) sizes[dim] = 1;
  return tensor.as_strided(sizes, tensor.strides());
}

/// Whether the bytes of a tensor are its elements and nothing else.
bool is_plain(const Tensor& tensor, DType dtype) {
  return tensor.dtype() == dtype && !tensor.is_conj() && !tensor.is_neg() &&
         tensor.is_non_overlapping_and_dense();
}

bool has_same_layout(const Tensor& a, const Tensor& b) {
  if (!std::ranges::equal(a.sizes(), b.sizes())) return false;
  for (int dim = 0; dim < a.dim(); ++dim)
    if (a.size(dim) > 1 && a.stride(dim) != b.stride(dim)) return false;
  return true;
}

bool is_pinned(const Tensor& tensor, Device device) {
  return tensor.is_pinned() || is_pinned_address(tensor.data(), device);
}

/// One copy in progress.
class DeviceCopy {
 public:
  DeviceCopy(Engine::State& state, const Tensor& dst, const Tensor& src, bool is_non_blocking)
      : state_(state),
        dst_(dst),
        moved_(without_broadcasting(src)),
        is_non_blocking_(is_non_blocking),
        wire_(wire_dtype()) {}

  void run() {
    const bool is_source_plain = is_plain(moved_, wire_);
    const bool is_target_dense = is_plain(dst_, wire_);
    const bool fits = std::ranges::equal(moved_.sizes(), dst_.sizes());
    const bool is_direct =
        is_target_dense && fits && (!is_source_plain || has_same_layout(dst_, moved_));
    check_capture(is_source_plain, is_direct);
    Tensor packed = moved_;
    if (!is_source_plain) {
      packed = is_direct ? new_tensor(dst_, moved_.device())
                         : new_tensor(empty_like_layout(moved_), moved_.device());
      compute_copy(state_, packed, moved_);
    }
    const Tensor landed = is_direct ? dst_ : new_tensor(packed, dst_.device());
    move(landed, packed);
    const bool is_host_ready =
        !is_to_cpu() || (is_direct && is_non_blocking_ && is_pinned(dst_, device()));
    const bool is_source_free = is_to_cpu() || is_non_blocking_ || is_from_cuda();
    if (!is_host_ready || !is_source_free) cuda::synchronize(device().index);
    if (!is_direct) compute_copy(state_, dst_, landed);
  }

 private:
  bool is_to_cpu() const { return dst_.device().type == DeviceType::cpu; }
  bool is_from_cuda() const { return moved_.device().type == DeviceType::cuda; }
  /// The one whose stream the copy is in.
  Device device() const { return is_from_cuda() ? moved_.device() : dst_.device(); }

  /// What elements are while they are moved.
  DType wire_dtype() const {
    const DType from = moved_.dtype(), to = dst_.dtype();
    if (is_non_blocking_ && is_to_cpu()) return to;
    if (is_non_blocking_ && !is_from_cuda()) return from;
    return itemsize_bytes(to) < itemsize_bytes(from) ? to : from;
  }

  /// Strides of a dense tensor in the order of one that may have gaps.
  static Tensor empty_like_layout(const Tensor& tensor) {
    const Tensor layout =
        empty_strided(tensor.sizes(), tensor.strides(), {tensor.dtype(), {DeviceType::meta, 0}});
    return empty_like(layout);
  }

  /// A tensor of the wire's dtype, laid out as `layout` is; of pinned memory on the CPU.
  Tensor new_tensor(const Tensor& layout, Device device) const {
    TensorOptions options;
    options.dtype = wire_;
    options.device = device;
    options.pin_memory = device.type == DeviceType::cpu;
    return empty_strided(layout.sizes(), layout.strides(), options);
  }

  void move(const Tensor& to, const Tensor& from) const {
    copy_bytes(to.data(), to.device(), from.data(), from.device(),
               static_cast<std::size_t>(from.numel()) * itemsize_bytes(wire_));
    to.storage()->note_use(device());
    from.storage()->note_use(device());
  }

  /// A graph takes copies that need neither memory nor a wait.
  void check_capture(bool is_source_plain, bool is_direct) const {
    if (!cuda::is_capturing(device().index)) return;
    const Tensor& host = is_from_cuda() ? dst_ : moved_;
    const bool is_free =
        host.device().type != DeviceType::cpu || (is_non_blocking_ && is_pinned(host, device()));
    WEFT_CHECK(is_free && is_direct && is_source_plain, UnsupportedError, "a copy from ",
               describe(moved_), " to ", describe(dst_),
               " can't be part of the graph that is being ",
               "captured: it takes non_blocking, pinned memory on the CPU, and the same dtype and "
               "dense layout on both sides");
  }

  Engine::State& state_;
  const Tensor& dst_;
  Tensor moved_;
  bool is_non_blocking_;
  DType wire_;
};

}  // namespace

NonBlockingCopies::NonBlockingCopies(bool is_non_blocking)
    : before_(std::exchange(is_non_blocking_now, is_non_blocking)) {}
NonBlockingCopies::~NonBlockingCopies() { is_non_blocking_now = before_; }
bool NonBlockingCopies::are_asked_for() { return is_non_blocking_now; }

void copy_between_devices(Engine::State& state, const Tensor& dst, const Tensor& src,
                          bool is_non_blocking) {
  check_writable(dst);
  assert_no_internal_overlap(dst);
  static_cast<void>(src.expand(dst.sizes()));  // refuses a source that doesn't broadcast
  if (dst.numel() == 0) return;
  for (const Tensor* tensor : {&dst, &src})
    WEFT_CHECK(tensor->data() != nullptr, ArgumentError, describe(*tensor),
               " has no bytes to copy");
  DeviceCopy(state, dst, src, is_non_blocking).run();
}

}  // namespace weft
