#include "jit/kernel_cache.h"

#include "ir/pass.h"
#include "runtime/log.h"

#include <weft/error.h>

#include <chrono>
#include <utility>

namespace weft::jit {
namespace {

/// The backends to ask, in order, for "auto" or for one by name.
std::vector<const Backend*> candidates(std::string_view name) {
  if (name == "auto") return {backends().begin(), backends().end()};
  if (const Backend* backend = find_backend(name)) return {backend};
  const std::string reason = unavailable_reason(name);
  throw UnsupportedError(detail::concat("backend '", name, "' is not usable: ", reason));
}

}  // namespace

CompiledKernel compile(const Signature& signature, const Target& target) {
  const auto start = std::chrono::steady_clock::now();
  CompiledKernel result;
  result.kernel = signature.kernel;
  result.kernel.vector_bytes = target.vector_bytes();
  ir::run_pipeline(result.kernel);
  for (const Backend* backend : candidates(signature.backend)) {
    std::string reason = backend->refuses(result.kernel, target);
    if (reason.empty()) {
      try {
        auto code = std::make_shared<CodeObject>(*backend->compile(result.kernel, target));
        code->compile_us =
            std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
                .count();
        result.code = std::move(code);
        return result;
      } catch (const CompileError& error) {
        reason = error.what();
      } catch (const DeviceError& error) {  // no executable memory: another tier may do without
        reason = error.what();
      }
    }
    result.refusals.push_back(detail::concat(backend->name, ": ", reason));
    log(LogTopic::tier, "refused by ", result.refusals.back());
  }
  std::string message = "no backend can compile this kernel";
  for (const std::string& refusal : result.refusals) message += "; " + refusal;
  throw UnsupportedError(message);
}

std::shared_ptr<KernelCache::Entry> KernelCache::find_or_insert(const Signature& signature) {
  const std::uint64_t key = hash(signature);
  const auto find = [&]() -> std::shared_ptr<Entry> {
    const auto [first, last] = entries_.equal_range(key);
    for (auto it = first; it != last; ++it)
      if (it->second->signature == signature) return it->second;
    return nullptr;
  };
  {
    const std::shared_lock lock(mutex_);
    if (auto entry = find()) return entry;
  }
  const std::unique_lock lock(mutex_);
  if (auto entry = find()) return entry;
  auto entry = std::make_shared<Entry>();
  entry->signature = signature;
  entries_.emplace(key, entry);
  return entry;
}

std::shared_ptr<const CompiledKernel> KernelCache::get(const Signature& signature) {
  const std::shared_ptr<Entry> entry = find_or_insert(signature);
  const std::lock_guard lock(entry->compiling);
  if (entry->compiled) {
    const std::lock_guard stats_lock(stats_mutex_);
    ++stats_.hits;
    return entry->compiled;
  }
  Target target;
  target.features = signature.features;
  entry->compiled = std::make_shared<CompiledKernel>(compile(signature, target));
  const CodeObject& code = *entry->compiled->code;
  if (is_logged(LogTopic::compile))
    log(LogTopic::compile, code.backend, " ", code.compile_us, " us, ", code.code_bytes,
        " bytes: ", text(signature));

  const std::lock_guard stats_lock(stats_mutex_);
  ++stats_.misses;
  stats_.compile_us += code.compile_us;
  stats_.code_bytes += code.code_bytes;
  ++stats_.compiles_by_backend[code.backend];
  return entry->compiled;
}

KernelCacheStats KernelCache::stats() const {
  const std::lock_guard lock(stats_mutex_);
  return stats_;
}

void KernelCache::clear() {
  const std::unique_lock lock(mutex_);
  entries_.clear();
}

}  // namespace weft::jit
