#include "jit/nvrtc/loader.h"

#include "ir/text.h"
#include "jit/code_registry.h"
#include "runtime/cuda_device.h"
#include "runtime/cuda_driver.h"
#include "runtime/cuda_memory.h"
#include "runtime/log.h"

#include <weft/error.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace weft::jit::nvrtc {

class LoadedKernel {
 public:
  /// The context must be current.  Errors: DeviceError.
  LoadedKernel(const DeviceCode& code, std::string name, int device)
      : name_(std::move(name)), device_(device) {
    WEFT_CUDA_CALL(ModuleLoadDataEx, (&module_, code.cubin.data(), 0, nullptr, nullptr),
                   "cuda:", device, ": loading ", name_);
    const CudaResult result = cuda_driver().ModuleGetFunction(&function_, module_, kernel_symbol);
    if (result == 0) return;
    cuda_driver().ModuleUnload(module_);
    weft::detail::throw_cuda_error(result, "cuModuleGetFunction", "loading " + name_);
  }
  ~LoadedKernel() {
    try {
      const CudaCurrent current(CudaDevice::get(device_));
      // It may be running.
      cuda_driver().CtxSynchronize();
      cuda_driver().ModuleUnload(module_);
    } catch (const Error& error) {  // the driver is gone, and the module with it
      log(LogTopic::memory, error.what());
    }
  }
  LoadedKernel(const LoadedKernel&) = delete;
  LoadedKernel& operator=(const LoadedKernel&) = delete;

  CudaFunction function() const { return function_; }
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  int device_;
  CudaModule module_ = nullptr;
  CudaFunction function_ = nullptr;
};

namespace {

/// What may be wrong with code that was compiled, but can't be loaded.
std::string advice(const cuda::DeviceInfo& device) {
  return weft::detail::concat("; NVRTC ", weft::nvrtc().library.version, " (",
                              weft::nvrtc().library.path, ") compiled it for ", device.arch,
                              " and the driver knows CUDA up to ", cuda_driver().library.version,
                              ": where NVRTC is newer, update the driver or let WEFT_NVRTC name an "
                              "older one");
}

std::shared_ptr<const LoadedKernel> load(CodeCache& codes, const ir::Kernel& kernel,
                                         const Variant& variant, CudaDevice& device) {
  const std::string name = symbol_name(kernel);
  const cuda::DeviceInfo& info = device.info();
  std::shared_ptr<const DeviceCode> code = codes.get(kernel, variant, info.arch);
  if (code->is_from_disk) {
    try {
      return std::make_shared<const LoadedKernel>(*code, name, device.index());
    } catch (const DeviceError& error) {
      log(LogTopic::cache,
          "compiled again, since what is on the disk can't be used: ", error.what());
      code = codes.get_anew(kernel, variant, info.arch);
    }
  }
  try {
    return std::make_shared<const LoadedKernel>(*code, name, device.index());
  } catch (const DeviceError& error) {
    throw CompileError(error.what() + advice(info));
  }
}

}  // namespace

CodeCache& KernelLoader::codes() {
  const std::lock_guard lock(mutex_);
  if (codes_ == nullptr)
    codes_ = std::make_unique<CodeCache>(weft::nvrtc(), disk_, cuda_driver().library.version);
  return *codes_;
}

std::shared_ptr<const LoadedKernel> KernelLoader::get(const ir::Kernel& kernel,
                                                      const Variant& variant, int device) {
  CudaDevice& used = CudaDevice::get(device);
  const CudaCurrent current(used);
  const std::string key = weft::detail::concat(device, " ", text(variant), "\n", ir::print(kernel));
  {
    const std::lock_guard lock(mutex_);
    const auto found = loaded_.find(key);
    if (found != loaded_.end()) return found->second;
  }
  used.check_not_capturing("compiling a kernel: run the call once before the capture");
  // Where another thread was first, its own leaves when the lock is gone: that waits for the
  // device.
  const std::shared_ptr<const LoadedKernel> made = load(codes(), kernel, variant, used);
  const std::lock_guard lock(mutex_);
  return loaded_.try_emplace(key, made).first->second;
}

CodeCache::Stats KernelLoader::stats() const {
  const std::lock_guard lock(mutex_);
  return codes_ == nullptr ? CodeCache::Stats() : codes_->stats();
}

DeviceCall::DeviceCall(ir::Kernel kernel, Nest nest, int device,
                       std::shared_ptr<KernelLoader> loader)
    : prepared_(prepare(std::move(kernel))), device_(device), loader_(std::move(loader)) {
  WEFT_CHECK(prepared_.refusal.empty(), UnsupportedError,
             "no backend can compile this kernel; nvrtc: ", prepared_.refusal);
  // Without addresses what is left are extents and strides.
  const std::size_t num_operands = nest.stride_bytes.size() / nest.extents.size();
  nest.base.assign(num_operands, 0);
  for (const ir::PartOf& part : prepared_.params)
    nest.params.resize(std::max<std::size_t>(nest.params.size(), part.source + 1u));
  parts_ = nest_of_parts(prepared_, nest);
  std::ranges::fill(parts_.base, 0);
  const Variant widest = choose_variant(prepared_.kernel, parts_);
  most_items_ = widest.items;
  strides_need_halves_ = widest.halves;
  for (const ir::Operand& operand : prepared_.kernel.operands)
    item_bytes_.push_back(itemsize_bytes(operand.dtype));
  grouped_item_bytes_ = grouped_item_bytes(prepared_.kernel);
}

DeviceCall::~DeviceCall() = default;

Nest DeviceCall::nest_at(std::span<const std::uint64_t> base) const {
  Nest nest = parts_;
  nest.base.assign(base.begin(), base.end());
  return nest;
}

const DeviceCall::Ready& DeviceCall::ready_for(int items, bool halves,
                                               std::span<const std::uint64_t> base) const {
  const auto place_index =
      2 * static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(items))) + halves;
  std::atomic<const Ready*>& place = ready_[place_index];
  if (const Ready* ready = place.load(std::memory_order_acquire)) [[likely]]
    return *ready;
  const Nest nest = nest_at(base);
  const Variant variant = choose_variant(prepared_.kernel, nest);
  WEFT_ASSERT(variant.items == items && variant.halves == halves, "addresses allow ",
              text(variant));
  const CudaDevice& device = CudaDevice::get(device_);
  const std::uint64_t max_blocks =
      max_blocks_for(prepared_.kernel, device.info().num_multiprocessors);
  auto made = std::make_unique<const Ready>(
      Ready{loader_->get(prepared_.kernel, variant, device_),
            plan_launches(prepared_.kernel, variant, nest, max_blocks)});
  const std::lock_guard lock(mutex_);
  if (const Ready* ready = place.load(std::memory_order_relaxed)) return *ready;
  place.store(made.get(), std::memory_order_release);
  owned_.push_back(std::move(made));
  return *owned_.back();
}

const DeviceCall::Ready& DeviceCall::ready_at(std::span<const std::uint64_t> base) const {
  const auto is_aligned = [&](int items) {
    for (std::size_t k = 0; k < base.size(); ++k) {
      const std::uint64_t group_bytes = grouped_item_bytes_[k] * static_cast<std::uint64_t>(items);
      if (group_bytes != 0 && base[k] % group_bytes != 0) return false;
    }
    return true;
  };
  int items = most_items_;
  while (items > 1 && !is_aligned(items)) items /= 2;
  bool halves = strides_need_halves_;
  for (std::size_t k = 0; k < base.size(); ++k) {
    const std::uint64_t rest = base[k] % item_bytes_[k];
    if (rest == 0) continue;
    halves = true;
    if (2 * rest != item_bytes_[k]) choose_variant(prepared_.kernel, nest_at(base));  // refuses
  }
  return ready_for(items, halves, base);
}

void DeviceCall::launch(std::span<const std::uint64_t> base, std::span<const Bits> params) const {
  constexpr std::size_t most_words = 512;  // kernels have room for 4096 bytes of arguments
  std::array<std::uint64_t, most_words> words;
  const std::size_t num_operands = prepared_.operands.size();
  for (std::size_t k = 0; k < num_operands; ++k)
    words[k] = base[prepared_.operands[k].source] + prepared_.operands[k].offset_bytes;
  CudaDevice& device = CudaDevice::get(device_);
  const CudaCurrent current(device);
  const Ready& ready = ready_at(std::span(words).first(num_operands));
  // Given back at the end, it serves what the stream is given next.
  CudaBlockHandle partials;
  if (ready.planned.temporary_bytes != 0)
    partials = device.memory().allocate(ready.planned.temporary_bytes);
  for (const Launch& launch : ready.planned.launches) {
    const std::vector<std::uint64_t>& planned = launch.arguments;
    std::copy(planned.begin() + static_cast<std::ptrdiff_t>(num_operands), planned.end(),
              words.begin() + static_cast<std::ptrdiff_t>(num_operands));
    if (partials != nullptr) place_partials(launch, num_operands, partials->address, words.data());
    std::uint64_t* number = words.data() + planned.size() - 2 * prepared_.params.size();
    for (const ir::PartOf& part : prepared_.params) {
      Bits bits{};
      const auto* const bytes = reinterpret_cast<const std::byte*>(&params[part.source]);
      std::memcpy(&bits, bytes + part.offset_bytes, sizeof bits - part.offset_bytes);
      *number++ = bits.lo;
      *number++ = bits.hi;
    }
    void* arguments[] = {words.data()};
    WEFT_CUDA_CALL(LaunchKernel,
                   (ready.code->function(), static_cast<unsigned>(launch.blocks), 1, 1,
                    threads_per_block, 1, 1, 0, device.stream(), arguments, nullptr),
                   "cuda:", device_, ": launching ", ready.code->name());
  }
}

}  // namespace weft::jit::nvrtc
