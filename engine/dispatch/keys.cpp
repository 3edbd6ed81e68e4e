#include <weft/dispatch_key.h>

#include "engine/tensor/tensor_impl.h"

#include <algorithm>

namespace weft {
namespace {

constexpr auto key_names = std::to_array<std::string_view>({
    "Undefined",
    "CPU",
    "CUDA",
    "Meta",
    "Lazy",
    "PrivateUse1",
    "PrivateUse2",
    "Other1",
    "Other2",
    "UserInner1",
    "UserInner2",
    "AutogradOther",
    "AutogradCPU",
    "AutogradCUDA",
    "AutogradMeta",
    "AutogradLazy",
    "AutogradPrivateUse1",
    "AutogradPrivateUse2",
    "Batched",
    "UserOuter1",
    "UserOuter2",
    "Profile",
    "Autograd",
    "CompositeImplicitAutograd",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
    "BatchedDecomposition",
});
static_assert(key_names.size() == num_dispatch_keys);
static_assert(num_runtime_keys <= 64);

// Indexed by DeviceType.
constexpr auto keys_of_device = std::to_array<DispatchKeySet>({
    {DispatchKey::cpu, DispatchKey::autograd_cpu},
    {DispatchKey::cuda, DispatchKey::autograd_cuda},
    {DispatchKey::meta, DispatchKey::autograd_meta},
});
static_assert(static_cast<std::size_t>(DeviceType::meta) + 1 == keys_of_device.size());

}  // namespace

constinit thread_local LocalDispatchKeys detail::local_dispatch_keys{};

std::string_view name(DispatchKey key) { return key_names[static_cast<std::size_t>(key)]; }

std::optional<DispatchKey> parse_dispatch_key(std::string_view text) {
  const auto found = std::ranges::find(key_names, text);
  if (found == key_names.end()) return std::nullopt;
  return static_cast<DispatchKey>(found - key_names.begin());
}

std::string text(DispatchKeySet keys) {
  std::string result = "{";
  for (std::size_t index = 1; index < num_runtime_keys; ++index) {
    const auto key = static_cast<DispatchKey>(index);
    if (!keys.has(key)) continue;
    if (result.size() > 1) result += ", ";
    result += name(key);
  }
  return result + "}";
}

DispatchKeySet dispatch_keys_of(const Tensor& tensor) noexcept {
  if (!tensor.defined()) return {};
  return keys_of_device[static_cast<std::size_t>(tensor.impl()->storage->device().type)];
}

}  // namespace weft
