#include "jit/kernel_cache.h"

#include "ir/pass.h"
#include "jit/background.h"
#include "jit/code_registry.h"
#include "jit/dump.h"
#include "jit/shaped_kernel.h"
#if WEFT_HAS_LLVM
#include "jit/llvm/backend.h"
#endif
#if WEFT_HAS_XBYAK
#include "jit/xbyak/backend.h"
#endif
#include "runtime/exec_memory.h"
#include "runtime/float_environment.h"
#include "runtime/log.h"

#include <weft/error.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace weft::jit {
namespace {

/// The backends to ask, in order, for "auto" or for one by name.  Folds and scans go on without
/// code that a backend refuses to make (TieredKernel::fold()), so that its refusal is no error.
std::vector<const Backend*> candidates(const Signature& signature) {
  const std::string_view name = signature.backend;
  if (name == "auto") return {backends().begin(), backends().end()};
  if (const Backend* backend = find_backend(name)) {
    if (!ir::is_reduction(signature.kernel) && !ir::is_scan(signature.kernel)) return {backend};
    return {backend, find_backend("interp")};
  }
  check_usable(name);
  throw UnsupportedError(detail::concat("backend '", name, "' compiles no kernels of the CPU"));
}

/// The kernel after the passes.
CompiledKernel prepared(const Signature& signature, const Target& target) {
  // What the passes compute is part of code that callers of any environment share.
  const FloatEnvironmentScope same_for_all(FloatEnvironment::standard());
  CompiledKernel result;
  result.kernel = signature.kernel;
  result.kernel.vector_bytes = target.vector_bytes();
  ir::run_pipeline(result.kernel);
  return result;
}

/// Has `make` fill in the code.  Returns whether it did; if not, the reason is with the refusals.
template <class Make>
bool try_to_compile(CompiledKernel& result, std::string_view backend, const Make& make) {
  const auto start = std::chrono::steady_clock::now();
  std::string reason;
  try {
    if (const std::shared_ptr<const CodeObject> made = make(reason)) {
      auto code = std::make_shared<CodeObject>(*made);
      code->compile_us =
          std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
              .count();
      result.code = registered(std::move(code), result.kernel);
      return true;
    }
  } catch (const CompileError& error) {
    reason = error.what();
  } catch (const DeviceError& error) {  // no executable memory: another tier may do without
    reason = error.what();
  }
  result.refusals.push_back(detail::concat(backend, ": ", reason));
  log(LogTopic::tier, "refused by ", result.refusals.back());
  return false;
}

bool compile_with(const Backend& backend, CompiledKernel& result, const Target& target) {
  Target without_texts = target;
  without_texts.keep_texts = false;
  const bool is_compiled = try_to_compile(result, backend.name, [&](std::string& reason) {
    reason = backend.refuses(result.kernel, target);
    return reason.empty() ? backend.compile(result.kernel, without_texts) : nullptr;
  });
  if (is_compiled && target.keep_texts) {  // once more, so that the time is that of the code alone
    auto code = std::make_shared<CodeObject>(*result.code);
    code->texts = backend.compile(result.kernel, target)->texts;
    result.code = std::move(code);
  }
  return is_compiled;
}

void log_lookup(std::string_view outcome, const Signature& signature) {
  if (is_logged(LogTopic::cache)) log(LogTopic::cache, outcome, ": ", text(signature));
}

void log_compilation(const CodeObject& code, const Signature& signature) {
  if (is_logged(LogTopic::compile))
    log(LogTopic::compile, code.backend, " ", code.compile_us, " us, ", code.code_bytes,
        " bytes: ", text(signature));
}

[[noreturn]] void throw_refused(const CompiledKernel& kernel) {
  std::string message = "no backend can compile this kernel";
  for (const std::string& refusal : kernel.refusals) message += "; " + refusal;
  throw UnsupportedError(message);
}

#if WEFT_HAS_LLVM

/// Whether an element's values wait for one another so long that it takes more vectors at a time
/// to keep the processor busy than xbyak's code has registers for.  LLVM's spills some.
bool has_waiting_values(const ir::Kernel& kernel) {
  constexpr std::size_t least_values = 14;  // exp's: of a polynomial with as many little is gained
  return kernel.schedule == ir::Schedule::linear && kernel.loops.back().lanes > 1 &&
         kernel.body.size() - kernel.num_hoisted >= least_values;
}

bool is_served_by_xbyak([[maybe_unused]] const ir::Kernel& kernel,
                        [[maybe_unused]] const Target& target) {
#if WEFT_HAS_XBYAK
  return xbyak_backend().refuses(kernel, target).empty() && !xbyak_calls_functions(kernel, target);
#else
  return false;
#endif
}

/// Of kernels that xbyak serves.
bool gains_by_llvm(const ir::Kernel& kernel, [[maybe_unused]] const Target& target) {
#if WEFT_HAS_XBYAK
  if (kernel.schedule == ir::Schedule::linear && xbyak_converts_one_by_one(kernel, target))
    return true;
#endif
  return has_waiting_values(kernel);
}

std::shared_ptr<const CodeObject> load_or_compile(const ir::Kernel& kernel, const Target& target) {
  return llvm_backend().compile(kernel, target);
}

template <std::shared_ptr<const CodeObject> (*compile)(const ir::Kernel&, const Target&)>
std::shared_ptr<const CodeObject> compile_next(const ir::Kernel& kernel, const Target& target) {
  const auto start = std::chrono::steady_clock::now();
  auto code = std::make_shared<CodeObject>(*compile(kernel, target));
  code->compile_us =
      std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
  dump(kernel, *code, target);
  return registered(std::move(code), kernel);
}

#endif

/// Gives a kernel the best code that can be had at once.  Returns what makes better code, if such
/// is likely: that is LLVM, where bodies are long, or xbyak has to call functions or can do
/// nothing.
TieredKernel::Compile compile_first(CompiledKernel& first, const Target& target,
                                    const TierOptions& options) {
  const std::string refusal =
      options.use_xbyak || options.use_llvm ? code_memory_refusal() : std::string();
  if (!refusal.empty()) first.refusals.push_back(refusal);
  const Backend* const xbyak =
      options.use_xbyak && refusal.empty() ? find_backend("xbyak") : nullptr;
  TieredKernel::Compile next = nullptr;
#if WEFT_HAS_LLVM
  const bool may_take_llvm = options.use_llvm && refusal.empty();
  const bool is_served =
      may_take_llvm && xbyak != nullptr && is_served_by_xbyak(first.kernel, target);
  if (may_take_llvm && (!is_served || gains_by_llvm(first.kernel, target))) {
    const std::string reason = llvm_backend().refuses(first.kernel, target);
    if (!reason.empty())
      first.refusals.push_back("llvm: " + reason);
    else if (is_served)  // well enough not to look for a file in this call
      next = compile_next<load_or_compile>;
    else
      next = compile_next<compile_missed_llvm_code>;
  }
  if (next != nullptr && !is_served) {
    if (auto code = load_llvm_code(first.kernel, target)) {
      first.code = registered(std::move(code), first.kernel);
      return nullptr;
    }
  }
#endif
  if (xbyak != nullptr && compile_with(*xbyak, first, target)) return next;
  if (compile_with(*find_backend("interp"), first, target)) return next;
#if WEFT_HAS_LLVM
  // What even the interpreter can't take has to wait.
  if (next != nullptr && compile_with(llvm_backend(), first, target)) return nullptr;
#endif
  throw_refused(first);
}

/// In the child of a fork, what was queued before it goes on although nobody asks for more.
void resume_compilations() {
  try {
    resume_background();
  } catch (const DeviceError& error) {  // calls are served without, and the next one tries again
    log(LogTopic::tier, error.what());
  }
}

}  // namespace

CompiledKernel compile(const Signature& signature, const Target& target) {
  CompiledKernel result = prepared(signature, target);
  Target asked = target;
  asked.has_alternatives = signature.backend == "auto";
  for (const Backend* backend : candidates(signature)) {
    if (!compile_with(*backend, result, asked)) continue;
    log_compilation(*result.code, signature);
    return result;
  }
  throw_refused(result);
}

KernelCache::KernelCache(TierOptions options, std::shared_ptr<DiskCache> disk,
                         std::size_t max_kernels)
    : tiers_(std::make_shared<TierControl>(options)),
      disk_(std::move(disk)),
      max_kernels_(max_kernels),
      next_sweep_(max_kernels) {}

std::shared_ptr<TieredKernel> KernelCache::make(const Signature& signature) const {
  Target target;
  target.features = signature.features;
  target.disk = disk_;
  target.signature_hash = hash(signature);
  const bool is_tiered = signature.backend == "auto";
  target.has_alternatives = is_tiered;
  CompiledKernel first = is_tiered ? prepared(signature, target) : compile(signature, target);
  const TieredKernel::Compile next =
      is_tiered ? compile_first(first, target, tiers_->options()) : nullptr;
  dump(first.kernel, *first.code, target);
  dump_signature(signature);
  auto kernel = std::make_shared<TieredKernel>(std::move(first), tiers_, next, target);
  if (is_tiered && tiers_->options().threshold == 0) kernel->request();
  return kernel;
}

std::shared_ptr<KernelCache::Entry> KernelCache::find_or_insert(Signature signature) {
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
  Entries unused;  // before the lock: what frees code takes locks of its own
  const std::unique_lock lock(mutex_);
  if (auto entry = find()) return entry;
  if (entries_.size() >= next_sweep_) unused = take_unused();
  auto entry = std::make_shared<Entry>();
  entry->signature = std::move(signature);
  entries_.emplace(key, entry);
  return entry;
}

/// Requires: mutex_ is held, so that an entry which only the table has is in no other thread's
/// hands, and neither is its kernel if the entry alone has that.
KernelCache::Entries KernelCache::take_unused() {
  Entries unused;
  for (auto it = entries_.begin(); it != entries_.end();) {
    const auto next = std::next(it);
    bool is_unused = it->second.use_count() == 1;
    if (is_unused) {
      const std::lock_guard lock(
          it->second->compiling);  // free, but who had it last wrote under it
      is_unused = it->second->compiled.use_count() <= 1;
    }
    if (is_unused) unused.insert(entries_.extract(it));
    it = next;
  }
  // Where most are used, the next look waits until half as many again have come.
  next_sweep_ = std::max(max_kernels_, entries_.size() + entries_.size() / 2);
  evictions_.fetch_add(unused.size(), std::memory_order_relaxed);
  return unused;
}

std::shared_ptr<TieredKernel> KernelCache::get(Signature signature) {
  resume_compilations();
  const std::shared_ptr<Entry> entry = find_or_insert(std::move(signature));
  const std::lock_guard lock(entry->compiling);
  if (entry->compiled) {
    hits_.fetch_add(1, std::memory_order_relaxed);
    log_lookup("hit", entry->signature);
    return entry->compiled;
  }
  log_lookup("miss", entry->signature);
  entry->compiled = make(entry->signature);
  misses_.fetch_add(1, std::memory_order_relaxed);
  const CodeObject& code = *entry->compiled->first().code;
  tiers_->count_code(code);
  // A kernel of one backend was made by compile(), which has said so.
  if (entry->signature.backend == "auto") log_compilation(code, entry->signature);
  return entry->compiled;
}

std::shared_ptr<EntryPoint> KernelCache::for_shape(
    const std::shared_ptr<TieredKernel>& kernel,
    [[maybe_unused]] std::span<const std::int64_t> extents, [[maybe_unused]] bool is_whole) {
#if WEFT_HAS_LLVM
  const TierOptions& options = kernel->control().options();
  const bool may_be_compiled = kernel->has_next() || (ir::is_reduction(kernel->kernel())
                                                          ? kernel->folding_code() != nullptr
                                                          : kernel->settled_entry() != nullptr);
  if (options.use_llvm && options.max_shapes > 0 && may_be_compiled &&
      gains_from_shape(kernel->kernel(), extents) &&
      llvm_backend().refuses(kernel->kernel(), kernel->target()).empty())
    return std::make_shared<ShapedKernel>(kernel, compile_next<compile_missed_llvm_code>, is_whole);
#endif
  return kernel;
}

KernelCacheStats KernelCache::stats() const {
  return {hits_.load(std::memory_order_relaxed), misses_.load(std::memory_order_relaxed),
          evictions_.load(std::memory_order_relaxed), tiers_->stats()};
}

}  // namespace weft::jit
