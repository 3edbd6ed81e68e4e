#include "jit/shaped_kernel.h"

#include "ir/split_complex.h"
#include "jit/background.h"
#include "runtime/hash.h"
#include "runtime/log.h"

#include <weft/error.h>

#include <algorithm>
#include <functional>
#include <utility>

namespace weft::jit {
namespace {

/// Of longer rows the vectors take most of the time, whatever is known of the shape.
constexpr std::int64_t most_gaining_items = 128;

/// A dense row, or one whose items are so far apart that they are taken one by one.  What lies two
/// to four apart xbyak has better code for.
bool gains_along_rows(const ir::Operand& operand) {
  const ir::StrideClass stride = operand.strides.back();
  return stride == 0 || ir::is_adjacent(stride) || stride == ir::stride_any;
}

}  // namespace

bool gains_from_shape(const ir::Kernel& kernel, std::span<const std::int64_t> extents) {
  const bool goes_along_rows = kernel.schedule == ir::Schedule::linear ||
                               kernel.schedule == ir::Schedule::strided ||
                               kernel.schedule == ir::Schedule::scalar;
  const bool is_in_rows =
      ir::is_reduction(kernel) ? ir::reduces_rows(kernel) : goes_along_rows && !ir::is_scan(kernel);
  return is_in_rows && extents.back() <= most_gaining_items && !ir::has_complex(kernel) &&
         std::ranges::all_of(kernel.operands, gains_along_rows);
}

bool ShapeTrial::takes_old() {
  // Runs of a few calls, as they come when there is no trial.
  constexpr std::uint32_t calls_in_turn = 8;
  return calls_.fetch_add(1, std::memory_order_relaxed) / calls_in_turn % 2 != 0;
}

void ShapeTrial::add(bool is_old, std::uint64_t elements, std::uint64_t ticks) {
  Times& times = times_[is_old ? 1 : 0];
  const std::uint64_t time = time_an_element(ticks, elements);
  const std::uint64_t least = times.least.add(time);
  // An interruption takes as long as thousands of calls.  The least may be one step of the clock
  // too short.
  constexpr std::uint64_t clock_ticks = 256;
  if (time > 4 * least + time_an_element(clock_ticks, elements)) return;
  times.elements.fetch_add(elements, std::memory_order_relaxed);
  times.ticks.fetch_add(ticks, std::memory_order_relaxed);
  times.calls.fetch_add(1, std::memory_order_relaxed);
}

Trial::Verdict ShapeTrial::verdict() const {
  constexpr std::uint64_t min_calls = 16, enough_calls = 256, enough_ticks = 1 << 20;
  constexpr std::uint32_t max_calls = 1 << 14;
  if (calls_.load(std::memory_order_relaxed) > max_calls) return Trial::Verdict::slower;
  std::array<std::uint64_t, 2> means{};
  for (std::size_t i = 0; i < times_.size(); ++i) {
    const std::uint64_t calls = times_[i].calls.load(std::memory_order_relaxed);
    const std::uint64_t ticks = times_[i].ticks.load(std::memory_order_relaxed);
    if (calls < min_calls || (calls < enough_calls && ticks < enough_ticks))
      return Trial::Verdict::none;
    means[i] = time_an_element(ticks, times_[i].elements.load(std::memory_order_relaxed));
  }
  return means[0] + means[0] / 16 < means[1] ? Trial::Verdict::faster : Trial::Verdict::slower;
}

ShapedKernel::ShapedKernel(std::shared_ptr<TieredKernel> kernel, TieredKernel::Compile compile,
                           bool is_whole)
    : EntryPoint(&call_counted),
      kernel_(std::move(kernel)),
      compile_(compile),
      is_whole_(is_whole),
      folds_rows_(ir::is_reduction(kernel_->kernel())) {}

ShapedKernel::~ShapedKernel() {
  if (has_room_) kernel_->control().give_back_room();
}

ShapedKernel& ShapedKernel::of(const KernelArgs* args) {
  return static_cast<ShapedKernel&>(EntryPoint::of(args));
}

KernelFunction ShapedKernel::function_of(const CodeObject& code) const {
  return folds_rows_ ? code.rows : code.entry;
}

/// What the kernel has settled on, if that needs no context; else null.
KernelFunction ShapedKernel::settled_entry() const {
  if (!folds_rows_) return kernel_->settled_entry();
  return kernel_->is_settled() ? kernel_->folding_code()->rows : nullptr;
}

void ShapedKernel::run_kernel(const KernelArgs* args) const {
  if (folds_rows_) return kernel_->folding_code()->rows(args);
  KernelArgs inner = *args;
  inner.context = kernel_->context();
  kernel_->entry()(&inner);
}

void ShapedKernel::call_kernel(const KernelArgs* args) { of(args).run_kernel(args); }

std::uint64_t ShapedKernel::elements(const KernelArgs* args) const {
  return num_iterations(*args, kernel_->kernel().loops.size());
}

LaunchShape ShapedKernel::shape_of(const KernelArgs* args) const {
  const std::size_t num_loops = kernel_->kernel().loops.size();
  const std::size_t num_strides = num_loops * kernel_->kernel().operands.size();
  LaunchShape shape{{args->extents, args->extents + num_loops},
                    {args->stride_bytes, args->stride_bytes + num_strides}};
  if (!is_whole_) std::fill(shape.extents.begin(), shape.extents.end() - 1, 0);
  return shape;
}

void ShapedKernel::call_counted(const KernelArgs* args) {
  ShapedKernel& self = of(args);
  self.run_kernel(args);
  // Counts that threads take from each other are no loss, and an addition that takes none costs
  // more than some calls.
  const std::uint64_t heat =
      self.heat_.load(std::memory_order_relaxed) + heat_of(self.elements(args));
  self.heat_.store(heat, std::memory_order_relaxed);
  if (heat >= self.kernel_->control().options().shape_threshold && self.kernel_->is_settled())
    self.request(args);
}

void ShapedKernel::request(const KernelArgs* args) {
  State expected = State::counting;
  if (!state_.compare_exchange_strong(expected, State::requested)) return;
  TierControl& control = kernel_->control();
  stay_with_kernel();
  has_room_ = control.take_room();
  if (!has_room_) {
    state_ = State::refused;
    return;
  }
  control.count(&TierStats::shapes_requested);
  try {
    auto pending = std::make_shared<const TierControl::Pending>(kernel_->shared_control());
    LaunchShape shape = shape_of(args);
    if (control.options().in_background)
      run_in_background([self = shared_from_this(), pending = std::move(pending),
                         shape = std::move(shape)] { self->compile(shape); });
    else
      compile(shape);
  } catch (const std::exception& error) {
    give_up(error);
  }
}

void ShapedKernel::compile(const LaunchShape& shape) {
  try {
    if (kernel_->control().is_cancelled()) return;
    Target target = kernel_->target();
    target.shape = shape;
    // For the files of WEFT_DUMP: the kernel's own keep their names.
    WordHasher hasher(target.signature_hash);
    for (const std::vector<std::int64_t>* numbers : {&shape.extents, &shape.stride_bytes})
      for (const std::int64_t number : *numbers) hasher.add(static_cast<std::uint64_t>(number));
    target.signature_hash = hasher.hash();
    code_ = compile_(kernel_->kernel(), target);
    kernel_->control().count_code(*code_);
    log(LogTopic::tier, "a hot shape of a kernel was compiled by ", code_->backend, " in ",
        code_->compile_us, " us");
    state_ = State::tried;
    set_entry(&call_tried);
  } catch (const std::exception& error) {
    give_up(error);
  }
}

void ShapedKernel::give_up(const std::exception& error) noexcept {
  state_ = State::refused;
  code_.reset();  // entry() has never led to it
  has_room_ = false;
  kernel_->control().give_back_room();
  kernel_->control().count(&TierStats::shapes_failed);
  try {
    log(LogTopic::tier, "a hot shape is not compiled: ", error.what());
  } catch (const std::exception&) {  // no memory for a line that nobody needs
  }
}

/// Code that needs no context is called without a detour.
void ShapedKernel::stay_with_kernel() {
  const KernelFunction plain = settled_entry();
  set_entry(plain != nullptr ? plain : &call_kernel);
}

void ShapedKernel::call_tried(const KernelArgs* args) {
  ShapedKernel& self = of(args);
  const bool is_old = self.trial_.takes_old();
  const KernelFunction plain = self.settled_entry();
  const KernelFunction entry = !is_old            ? self.function_of(*self.code_)
                               : plain != nullptr ? plain
                                                  : &call_kernel;
  const std::uint64_t start = Trial::now();
  entry(args);
  self.trial_.add(is_old, self.elements(args), Trial::now() - start);
  self.decide(self.trial_.verdict());
}

void ShapedKernel::decide(Trial::Verdict verdict) {
  if (verdict == Trial::Verdict::none) return;
  const bool is_kept = verdict == Trial::Verdict::faster;
  State expected = State::tried;
  if (!state_.compare_exchange_strong(expected, is_kept ? State::promoted : State::refused)) return;
  if (is_kept)
    set_entry(function_of(*code_));
  else
    stay_with_kernel();
  kernel_->control().count(is_kept ? &TierStats::shapes_promoted : &TierStats::shapes_demoted);
  if (!is_kept && code_->forget_on_disk) code_->forget_on_disk();
}

}  // namespace weft::jit
