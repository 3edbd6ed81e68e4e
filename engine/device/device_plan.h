// Calls whose work a CUDA device does.
#pragma once

#include "engine/plan/lower.h"
#include "engine/plan/planner.h"

#include <weft/device.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace weft {

/// The device that a call's operands are on; the CPU if none of them is on another one.
Device device_of_call(const TensorIterator& iterator);
/// Where its operands are, outputs first.
std::vector<Device> devices_of_call(const TensorIterator& iterator);

/// CallPlan::pass of what a device computes.
using DevicePass = std::function<void(std::byte* const* base, const Bits* params)>;

/// What runs a lowered call on `device`, for CallPlan::pass; `operand_devices` are where its
/// operands are.  Inputs of the CPU without dimensions are read when it runs and passed as numbers.
/// Where `device` is the CPU, all operands are its tensors, and the first device works on copies of
/// their bytes, which come back before the call returns.
///
/// Errors: UnsupportedError, with the reason, for what there is no device code for.
DevicePass device_pass(Lowered lowered, std::span<const Device> operand_devices, Device device,
                       const PlannerOptions& options);

/// Whether a device computes a call on these tensors: they are there, or backend "nvrtc" takes them
/// there.
bool is_for_device(std::span<const Tensor* const> inputs, std::span<const Tensor> given,
                   std::string_view backend);

}  // namespace weft
