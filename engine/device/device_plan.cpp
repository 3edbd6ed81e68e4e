#include "engine/device/device_plan.h"

#include "runtime/cuda_device.h"
#include "runtime/cuda_memory.h"

#include <weft/error.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

namespace weft {
namespace {

using jit::nvrtc::DeviceCall;
using jit::nvrtc::Nest;

std::uint64_t address_of(const std::byte* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

/// Whether a kernel moves one run of bytes as they are.
bool is_one_move(const Lowered& lowered) {
  const ir::Kernel& kernel = lowered.kernel;
  if (kernel.loops.size() != 1 || kernel.operands.size() != 2 || kernel.body.size() != 2 ||
      kernel.body[1].op != Op::store)
    return false;
  const DType dtype = kernel.operands[0].dtype;
  if (kernel.body[0].op != Op::load || kernel.operands[1].dtype != dtype) return false;
  const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(dtype));
  return lowered.extents[0] == 1 ||
         (lowered.stride_bytes[0] == itemsize && lowered.stride_bytes[1] == itemsize);
}

/// Those whose addresses a call has.  Places are behind them.
std::size_t num_in_memory(const ir::Kernel& kernel) {
  return static_cast<std::size_t>(
      std::ranges::find(kernel.operands, ir::Role::place, &ir::Operand::role) -
      kernel.operands.begin());
}

/// An operand of the call that becomes a number.
struct Lifted {
  std::size_t operand;
  std::size_t size_bytes;
};

/// Turns inputs into parameters, behind those that there are.  Returns which operands in memory
/// are left.
std::vector<std::size_t> lift(Lowered& lowered, std::span<const Lifted> lifted) {
  ir::Kernel& kernel = lowered.kernel;
  const std::size_t num_operands = kernel.operands.size();
  std::vector<std::size_t> kept;
  std::vector<std::uint8_t> place(num_operands);
  std::vector<bool> is_lifted(num_operands);
  for (const Lifted& one : lifted) {
    is_lifted[one.operand] = true;
    place[one.operand] = static_cast<std::uint8_t>(kernel.params.size());
    kernel.params.push_back(kernel.operands[one.operand].dtype);
  }
  for (std::size_t k = 0; k < num_operands; ++k) {
    if (is_lifted[k]) continue;
    place[k] = static_cast<std::uint8_t>(kept.size());
    kept.push_back(k);
  }
  for (ir::Inst& inst : kernel.body) {
    if (inst.op != Op::load && !ir::writes(inst)) continue;
    if (is_lifted[inst.operand]) inst.op = Op::param;
    inst.operand = place[inst.operand];
  }
  std::vector<ir::Operand> operands;
  for (const std::size_t k : kept) operands.push_back(kernel.operands[k]);
  kernel.operands = std::move(operands);
  std::vector<std::int64_t> strides;
  for (std::size_t loop = 0; loop < lowered.extents.size(); ++loop)
    for (const std::size_t k : kept)
      strides.push_back(lowered.stride_bytes[loop * num_operands + k]);
  lowered.stride_bytes = std::move(strides);
  kept.resize(num_in_memory(kernel));
  return kept;
}

Nest nest_of(const Lowered& lowered) {
  Nest nest;
  nest.extents = lowered.extents;
  nest.stride_bytes = lowered.stride_bytes;
  return nest;
}

/// Operands on the device, some of the CPU among them.
class OnDevice {
 public:
  OnDevice(Lowered lowered, std::vector<Lifted> lifted, int device, const PlannerOptions& options)
      : num_params_(lowered.kernel.params.size()),
        lifted_(std::move(lifted)),
        num_operands_(lowered.kernel.operands.size() - lifted_.size()),
        kept_(lift(lowered, lifted_)),
        call_(std::move(lowered.kernel), nest_of(lowered), device, options.device_kernels) {}

  void run(std::byte* const* base, const Bits* params) const {
    std::array<std::uint64_t, ir::max_launch_operands> addresses{};
    std::array<Bits, ir::max_launch_params + ir::max_launch_operands> numbers;
    for (std::size_t i = 0; i < kept_.size(); ++i) addresses[i] = address_of(base[kept_[i]]);
    std::copy_n(params, num_params_, numbers.begin());
    for (std::size_t i = 0; i < lifted_.size(); ++i) {
      Bits& bits = numbers[num_params_ + i] = {};
      std::memcpy(&bits, base[lifted_[i].operand], lifted_[i].size_bytes);
    }
    call_.launch(std::span(addresses).first(num_operands_), numbers);
    CudaDevice& device = CudaDevice::get(call_.device());
    const CudaCurrent current(device);
    for (const std::size_t k : kept_) device.memory().note_use_at(base[k]);
  }

 private:
  std::size_t num_params_;
  std::vector<Lifted> lifted_;
  std::size_t num_operands_;
  std::vector<std::size_t> kept_;  ///< those in memory
  DeviceCall call_;
};

/// Bytes of the CPU, and where they are while the device works on them.
struct Staged {
  std::byte* begin;
  std::byte* end;
  std::shared_ptr<Storage> storage;
  std::byte* data = nullptr;  ///< where `begin` is on the device
};

/// Operands of the CPU, in copies.
class ByWayOfCopies {
 public:
  ByWayOfCopies(Lowered lowered, int device, const PlannerOptions& options)
      : extents_(lowered.extents),
        stride_bytes_(lowered.stride_bytes),
        num_params_(lowered.kernel.params.size()),
        num_in_memory_(num_in_memory(lowered.kernel)),
        device_(device) {
    for (const ir::Operand& operand : lowered.kernel.operands) {
      item_bytes_.push_back(static_cast<std::int64_t>(itemsize_bytes(operand.dtype)));
      is_output_.push_back(operand.role == ir::Role::output);
    }
    const Nest nest = nest_of(lowered);
    call_ = std::make_unique<DeviceCall>(std::move(lowered.kernel), nest, device,
                                         options.device_kernels);
  }

  void run(std::byte* const* base, const Bits* params) const {
    const Device device{DeviceType::cuda, static_cast<std::int16_t>(device_)};
    std::vector<Staged> staged = ranges(base);
    for (Staged& range : staged) {
      // At the same distance from a multiple of what kernels ask of addresses.
      constexpr std::size_t alignment = 64;
      const std::size_t shift = address_of(range.begin) % alignment;
      const auto size_bytes = static_cast<std::size_t>(range.end - range.begin);
      range.storage = Storage::allocate(size_bytes + shift, device);
      range.data = range.storage->data() + shift;
      copy_bytes(range.data, device, range.begin, Device{}, size_bytes);
    }
    const auto copy_of = [&](const std::byte* place) {
      const auto holds = [&](const Staged& range) {
        return place >= range.begin && place < range.end;
      };
      const Staged& range = *std::ranges::find_if(staged, holds);
      return range.data + (place - range.begin);
    };
    std::array<std::uint64_t, ir::max_launch_operands> addresses{};
    for (std::size_t k = 0; k < num_in_memory_; ++k) addresses[k] = address_of(copy_of(base[k]));
    call_->launch(std::span(addresses).first(item_bytes_.size()), std::span(params, num_params_));
    for (std::size_t k = 0; k < num_in_memory_; ++k) {
      if (!is_output_[k]) continue;
      const Staged to = reach_of(k, base[k]);
      write_back(k, base[k], to, copy_of(to.begin), device);
    }
    cuda::synchronize(device_);
  }

 private:
  Staged reach_of(std::size_t operand, std::byte* base) const {
    Staged range{base, base + item_bytes_[operand], nullptr};
    for (std::size_t loop = 0; loop < extents_.size(); ++loop) {
      const std::int64_t reach = (extents_[loop] - 1) * stride_of(loop, operand);
      (reach < 0 ? range.begin : range.end) += reach;
    }
    return range;
  }

  std::int64_t stride_of(std::size_t loop, std::size_t operand) const {
    return stride_bytes_[loop * item_bytes_.size() + operand];
  }

  /// What lies between the elements of an output is others', who may write it meanwhile.
  void write_back(std::size_t operand, std::byte* base, const Staged& to, const std::byte* from,
                  Device device) const {
    const std::int64_t size_bytes = to.end - to.begin, item_bytes = item_bytes_[operand];
    std::int64_t written_bytes = item_bytes;
    for (std::size_t loop = 0; loop < extents_.size(); ++loop)
      if (stride_of(loop, operand) != 0) written_bytes *= extents_[loop];
    if (written_bytes == size_bytes)
      return copy_bytes(to.begin, Device{}, from, device, static_cast<std::size_t>(size_bytes));
    std::vector<std::byte> copy(static_cast<std::size_t>(size_bytes));
    copy_bytes(copy.data(), Device{}, from, device, copy.size());
    cuda::synchronize(device_);
    const auto walk = [&](const auto& self, std::size_t loop, std::byte* place) -> void {
      if (loop == extents_.size()) {
        std::memcpy(place, copy.data() + (place - to.begin), static_cast<std::size_t>(item_bytes));
        return;
      }
      const std::int64_t stride_bytes = stride_of(loop, operand);
      const std::int64_t extent = stride_bytes == 0 ? 1 : extents_[loop];
      for (std::int64_t i = 0; i < extent; ++i, place += stride_bytes) self(self, loop + 1, place);
    };
    walk(walk, 0, base);
  }

  /// What the operands reach, as ranges that are apart.
  std::vector<Staged> ranges(std::byte* const* base) const {
    std::vector<Staged> all;
    for (std::size_t k = 0; k < num_in_memory_; ++k) all.push_back(reach_of(k, base[k]));
    std::ranges::sort(all, {}, &Staged::begin);
    std::vector<Staged> apart;
    for (Staged& range : all) {
      if (apart.empty() || range.begin >= apart.back().end) {
        apart.push_back(std::move(range));
        continue;
      }
      apart.back().end = std::max(apart.back().end, range.end);
    }
    return apart;
  }

  std::vector<std::int64_t> extents_, stride_bytes_, item_bytes_;
  std::vector<bool> is_output_;
  std::size_t num_params_, num_in_memory_;
  int device_;
  std::unique_ptr<DeviceCall> call_;
};

}  // namespace

Device device_of_call(const TensorIterator& iterator) {
  for (int i = 0; i < iterator.ntensors(); ++i)
    if (iterator.device(i).type != DeviceType::cpu) return iterator.device(i);
  return {};
}

std::vector<Device> devices_of_call(const TensorIterator& iterator) {
  std::vector<Device> devices;
  for (int i = 0; i < iterator.ntensors(); ++i) devices.push_back(iterator.device(i));
  return devices;
}

DevicePass device_pass(Lowered lowered, std::span<const Device> operand_devices, Device device,
                       const PlannerOptions& options) {
  WEFT_CHECK(options.backend == "auto" || options.backend == "nvrtc", UnsupportedError, "backend ",
             options.backend, " computes on the CPU, but the call's tensors are on ", text(device));
  if (device.type == DeviceType::cpu) {
    const auto call = std::make_shared<const ByWayOfCopies>(std::move(lowered), 0, options);
    return [call](std::byte* const* base, const Bits* params) { call->run(base, params); };
  }
  std::vector<Lifted> lifted;
  for (std::size_t k = 0; k < operand_devices.size(); ++k) {
    const ir::Operand& operand = lowered.kernel.operands[k];
    if (operand.role == ir::Role::input && operand_devices[k].type == DeviceType::cpu)
      lifted.push_back({k, itemsize_bytes(operand.dtype)});
  }
  if (lifted.empty() && is_one_move(lowered)) {
    const std::size_t size_bytes = static_cast<std::size_t>(lowered.extents[0]) *
                                   itemsize_bytes(lowered.kernel.operands[0].dtype);
    return [device, size_bytes](std::byte* const* base, const Bits*) {
      copy_bytes(base[0], device, base[1], device, size_bytes);
      CudaDevice& used = CudaDevice::get(device.index);
      const CudaCurrent current(used);
      for (int k = 0; k < 2; ++k) used.memory().note_use_at(base[k]);
    };
  }
  const auto call = std::make_shared<const OnDevice>(std::move(lowered), std::move(lifted),
                                                     device.index, options);
  return [call](std::byte* const* base, const Bits* params) { call->run(base, params); };
}

bool is_for_device(std::span<const Tensor* const> inputs, std::span<const Tensor> given,
                   std::string_view backend) {
  const auto is_there = [](const Tensor& tensor) {
    return tensor.defined() && tensor.device().type == DeviceType::cuda;
  };
  return backend == "nvrtc" || std::ranges::any_of(given, is_there) ||
         std::ranges::any_of(inputs, [&](const Tensor* input) { return is_there(*input); });
}

}  // namespace weft
