#include "jit/tiered_kernel.h"

#include "jit/background.h"
#include "runtime/log.h"

#include <weft/error.h>

#include <utility>

namespace weft::jit {
namespace {

bool is_interpreted(const CodeObject& code) { return code.backend == "interp"; }

/// The interpreter takes at least ten times as long as compiled code, so that one time of it will
/// do, and was taken already.  It folds no leaves and scans nothing: TieredKernel::fold().
int old_calls(const CompiledKernel& first) {
  const bool is_fold = ir::is_reduction(first.kernel) || ir::is_scan(first.kernel);
  return is_interpreted(*first.code) && !is_fold ? 1 : 9;
}

}  // namespace

TierStats TierControl::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

void TierControl::count_code(const CodeObject& code) {
  const std::lock_guard lock(mutex_);
  stats_.compile_us += code.compile_us;
  stats_.code_bytes += code.code_bytes;
  if (code.is_from_disk)
    ++stats_.disk_loads;
  else
    ++stats_.compiles_by_backend[code.backend];
}

void TierControl::count(std::uint64_t TierStats::*counter) {
  const std::lock_guard lock(mutex_);
  ++(stats_.*counter);
}

bool TierControl::take_room() {
  const std::lock_guard lock(mutex_);
  if (num_shapes_ == options_.max_shapes) return false;
  ++num_shapes_;
  return true;
}

void TierControl::give_back_room() {
  const std::lock_guard lock(mutex_);
  --num_shapes_;
}

TierControl::Pending::Pending(std::shared_ptr<TierControl> control) : control_(std::move(control)) {
  const std::lock_guard lock(control_->mutex_);
  ++control_->pending_;
}

TierControl::Pending::~Pending() {
  const std::lock_guard lock(control_->mutex_);
  if (--control_->pending_ == 0) control_->all_ended_.notify_all();
}

void TierControl::wait() {
  resume_background();
  std::unique_lock lock(mutex_);
  all_ended_.wait(lock, [this] { return pending_ == 0; });
}

TieredKernel::TieredKernel(CompiledKernel first, std::shared_ptr<TierControl> control, Compile next,
                           Target target)
    : EntryPoint(&call_counted),
      first_(std::move(first)),
      control_(std::move(control)),
      next_(next),
      target_(std::move(target)),
      state_(next == nullptr ? State::settled : State::counting),
      trial_(old_calls(first_)) {
  if (next == nullptr) set_entry(first_entry());
  if (!is_interpreted(*first_.code)) folding_ = first_.code.get();
}

TieredKernel& TieredKernel::of(const KernelArgs* args) {
  return static_cast<TieredKernel&>(EntryPoint::of(args));
}

KernelFunction TieredKernel::first_entry() const {
  return first_.code->context == nullptr ? first_.code->entry : &call_with_context;
}

KernelFunction TieredKernel::promoted_entry() const {
  return promoted_->context == nullptr ? promoted_->entry : &call_promoted_with_context;
}

std::uint64_t TieredKernel::elements(const KernelArgs* args) const {
  return num_iterations(*args, first_.kernel.loops.size());
}

namespace {

/// Code finds its own context in the arguments; the kernel's was there to find the code.
void call_inner(const CodeObject& code, const KernelArgs* args) {
  KernelArgs inner = *args;
  inner.context = code.context;
  code.entry(&inner);
}

}  // namespace

void TieredKernel::call_with_context(const KernelArgs* args) {
  call_inner(*of(args).first_.code, args);
}

void TieredKernel::call_promoted_with_context(const KernelArgs* args) {
  call_inner(*of(args).promoted_, args);
}

void TieredKernel::call_counted(const KernelArgs* args) {
  TieredKernel& self = of(args);
  const std::uint64_t elements = self.elements(args);
  const std::uint64_t start = Trial::now();
  self.first_entry()(args);
  self.trial_.add_old(elements, Trial::now() - start);
  self.add_heat(elements);
}

/// Of a call of so many elements, which may be the one that makes the kernel hot.
void TieredKernel::add_heat(std::uint64_t elements) {
  const std::uint64_t heat = heat_of(elements);
  if (heat_.fetch_add(heat, std::memory_order_relaxed) + heat >= control_->options().threshold)
    request();
}

void TieredKernel::fold(std::uint64_t num_elements, FunctionRef<void(const CodeObject*)> run) {
  const State state = state_.load(std::memory_order_acquire);
  if (state == State::settled || state == State::requested) return run(folding_code());
  const bool is_new = state == State::tried && !trial_.takes_old();
  const std::uint64_t start = Trial::now();
  run(is_new ? promoted_.get() : folding_code());
  const std::uint64_t ticks = Trial::now() - start;
  if (is_new) return decide(trial_.add_new(num_elements, ticks));
  trial_.add_old(num_elements, ticks);
  if (state == State::counting) add_heat(num_elements);
}

void TieredKernel::request() {
  State expected = State::counting;
  if (!state_.compare_exchange_strong(expected, State::requested)) return;
  set_entry(first_entry());
  control_->count(&TierStats::requested);
  try {
    auto pending = std::make_shared<const TierControl::Pending>(control_);
    if (control_->options().in_background)
      run_in_background(
          [self = shared_from_this(), pending = std::move(pending)] { self->promote(); });
    else
      promote();
  } catch (const std::exception& error) {
    give_up(error);
  }
}

void TieredKernel::promote() {
  try {
    if (control_->is_cancelled()) return;
    promoted_ = next_(first_.kernel, target_);
    control_->count_code(*promoted_);
    log(LogTopic::tier, "a hot kernel of ", first_.code->backend, " was compiled by ",
        promoted_->backend, " in ", promoted_->compile_us, " us");
    // In this order: from the state on fold() may decide() in another thread, whose entry is the
    // last.  Calls of this one are measured before that, and decide nothing.
    set_entry(&call_tried);
    state_ = State::tried;
  } catch (const std::exception& error) {
    give_up(error);
  }
}

void TieredKernel::give_up(const std::exception& error) noexcept {
  state_ = State::settled;
  control_->count(&TierStats::failed);
  try {
    log(LogTopic::tier, "a hot kernel is not compiled: ", error.what());
  } catch (const std::exception&) {  // no memory for a line that nobody needs
  }
}

void TieredKernel::call_tried(const KernelArgs* args) {
  TieredKernel& self = of(args);
  const std::uint64_t elements = self.elements(args);
  const bool is_old = self.trial_.takes_old();
  const KernelFunction entry = is_old ? self.first_entry() : self.promoted_entry();
  const std::uint64_t start = Trial::now();
  entry(args);
  const std::uint64_t ticks = Trial::now() - start;
  if (is_old)
    self.trial_.add_old(elements, ticks);
  else
    self.decide(self.trial_.add_new(elements, ticks));
}

void TieredKernel::decide(Trial::Verdict verdict) {
  if (verdict == Trial::Verdict::none) return;
  State expected = State::tried;
  if (!state_.compare_exchange_strong(expected, State::settled)) return;
  const bool is_kept = verdict == Trial::Verdict::faster;
  set_entry(is_kept ? promoted_entry() : first_entry());
  if (is_kept) folding_.store(promoted_.get(), std::memory_order_release);
  control_->count(is_kept ? &TierStats::promoted : &TierStats::demoted);
  // Code from the disk is not tried again: the next process would run this for good.
  if (!is_kept && promoted_->forget_on_disk) promoted_->forget_on_disk();
}

bool TieredKernel::is_settled() const {
  // decide() sets the state first.
  return state_.load(std::memory_order_acquire) == State::settled && entry() != &call_tried;
}

KernelFunction TieredKernel::settled_entry() const {
  if (!is_settled()) return nullptr;
  const KernelFunction entry = this->entry();
  return entry == &call_with_context || entry == &call_promoted_with_context ? nullptr : entry;
}

std::string TieredKernel::tier() const {
  const KernelFunction entry = this->entry();
  const bool is_promoted = entry == &call_tried || entry != first_entry();
  return is_promoted && entry != &call_counted ? promoted_->backend : first_.code->backend;
}

}  // namespace weft::jit
