// What an engine is made of, and what it has counted.
#include "engine/engine_state.h"

#include "jit/backend.h"

#include <weft/error.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

namespace weft {
namespace {

EngineOptions checked(EngineOptions options) {
  if (options.backend != "auto") jit::check_usable(options.backend);
  name(options.numerics);  // refuses what is none
  WEFT_CHECK(options.num_threads >= 0, ArgumentError, "num_threads must not be negative, but is ",
             options.num_threads);
  WEFT_CHECK(options.streaming_bytes >= 0, ArgumentError,
             "streaming_bytes must not be negative, but is ", options.streaming_bytes);
  WEFT_CHECK(options.threshold >= 0, ArgumentError, "threshold must not be negative, but is ",
             options.threshold);
  WEFT_CHECK(options.shape_threshold >= 0, ArgumentError,
             "shape_threshold must not be negative, but is ", options.shape_threshold);
  WEFT_CHECK(options.max_shapes >= 0, ArgumentError, "max_shapes must not be negative, but is ",
             options.max_shapes);
  return options;
}

jit::TierOptions tier_options(const EngineOptions& options) {
  jit::TierOptions result;
  result.use_xbyak = result.use_llvm = false;
  result.threshold = static_cast<std::uint32_t>(options.threshold);
  result.in_background = options.background;
  result.shape_threshold = static_cast<std::uint32_t>(options.shape_threshold);
  result.max_shapes = static_cast<std::uint32_t>(options.max_shapes);
  if (options.tiers.empty()) return result;  // only the interpreter
  for (std::size_t begin = 0; begin <= options.tiers.size();) {
    const std::size_t end = std::min(options.tiers.find(',', begin), options.tiers.size());
    const std::string tier = options.tiers.substr(begin, end - begin);
    WEFT_CHECK(tier == "interp" || tier == "xbyak" || tier == "llvm", ArgumentError,
               "unknown tier '", tier, "'; the tiers are interp, xbyak and llvm");
    result.use_xbyak |= tier == "xbyak";
    result.use_llvm |= tier == "llvm";
    begin = end + 1;
  }
  return result;
}

std::shared_ptr<DiskCache> open_disk_cache(const EngineOptions& options) {
  auto disk = std::make_shared<DiskCache>(
      options.disk_cache ? *options.disk_cache : DiskCacheOptions::from_environment());
  return disk->is_readable() ? disk : nullptr;
}

}  // namespace

Engine::State::State(EngineOptions given)
    : options(checked(std::move(given))),
      features(host_features()),
      num_threads(options.num_threads),
      disk(open_disk_cache(options)),
      kernels(tier_options(options), disk),
      device_kernels(std::make_shared<jit::nvrtc::KernelLoader>(disk)) {}

EngineStats Engine::stats() const {
  const jit::KernelCacheStats kernels = state_->kernels.stats();
  EngineStats stats;
  stats.plan_hits = state_->plan_hits.value();
  stats.plan_misses = state_->plan_misses.load(std::memory_order_relaxed);
  stats.plan_evictions = state_->plans.num_evictions();
  stats.kernel_hits = kernels.hits;
  stats.kernel_misses = kernels.misses;
  stats.kernel_evictions = kernels.evictions;
  stats.compile_us = kernels.tiers.compile_us;
  stats.code_bytes = kernels.tiers.code_bytes;
  stats.compiles_by_backend = kernels.tiers.compiles_by_backend;
  stats.hot_kernels = kernels.tiers.requested;
  stats.promoted_kernels = kernels.tiers.promoted;
  stats.demoted_kernels = kernels.tiers.demoted;
  stats.failed_kernels = kernels.tiers.failed;
  stats.disk_loads = kernels.tiers.disk_loads;
  stats.hot_shapes = kernels.tiers.shapes_requested;
  stats.promoted_shapes = kernels.tiers.shapes_promoted;
  stats.demoted_shapes = kernels.tiers.shapes_demoted;
  stats.failed_shapes = kernels.tiers.shapes_failed;
  const jit::nvrtc::CodeCache::Stats on_devices = state_->device_kernels->stats();
  if (on_devices.compilations != 0) stats.compiles_by_backend["nvrtc"] = on_devices.compilations;
  stats.kernel_hits += on_devices.hits;
  stats.kernel_misses += on_devices.compilations + on_devices.disk_hits;
  stats.disk_loads += on_devices.disk_hits;
  stats.compile_us += on_devices.compile_us;
  if (state_->disk != nullptr) stats.disk = state_->disk->stats();
  return stats;
}

namespace {

using Field = std::pair<std::string_view, std::uint64_t>;

/// `"a": 1, "b": 2`.  The names need no escapes.
std::string text_of(std::span<const Field> fields) {
  std::string text;
  for (const auto& [name, value] : fields)
    text += detail::concat(text.empty() ? "" : ", ", '"', name, "\": ", value);
  return text;
}

}  // namespace

std::string EngineStats::json() const {
  const Field calls[] = {
      {"plan_hits", plan_hits},           {"plan_misses", plan_misses},
      {"plan_evictions", plan_evictions}, {"kernel_hits", kernel_hits},
      {"kernel_misses", kernel_misses},   {"kernel_evictions", kernel_evictions}};
  const std::vector<Field> compiles(compiles_by_backend.begin(), compiles_by_backend.end());
  const Field kernels[] = {
      {"hot_kernels", hot_kernels},         {"promoted_kernels", promoted_kernels},
      {"demoted_kernels", demoted_kernels}, {"failed_kernels", failed_kernels},
      {"disk_loads", disk_loads},           {"hot_shapes", hot_shapes},
      {"promoted_shapes", promoted_shapes}, {"demoted_shapes", demoted_shapes},
      {"failed_shapes", failed_shapes}};
  const Field of_disk[] = {{"hits", disk.hits},
                           {"misses", disk.misses},
                           {"damaged", disk.damaged},
                           {"stores", disk.stores},
                           {"failures", disk.failures},
                           {"evictions", disk.evictions},
                           {"mismatches", disk.mismatches},
                           {"read_bytes", disk.read_bytes},
                           {"written_bytes", disk.written_bytes}};
  return detail::concat("{", text_of(calls), ", \"compile_us\": ", compile_us,
                        ", \"code_bytes\": ", code_bytes, ", \"compiles_by_backend\": {",
                        text_of(compiles), "}, ", text_of(kernels), ", \"disk\": {",
                        text_of(of_disk), "}}");
}

}  // namespace weft
