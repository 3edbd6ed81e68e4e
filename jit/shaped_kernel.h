// Code for the one shape that a plan launches a kernel with.
#pragma once

#include "jit/entry_point.h"
#include "jit/tiered_kernel.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

namespace weft::jit {

/// Whether code in which extents and strides are constants is likely to take less time: where rows
/// are short, what it leaves out (arguments, tests, masks) is much of the work.
///
/// Requires: a kernel after the passes; one extent a loop, outermost first.
bool gains_from_shape(const ir::Kernel& kernel, std::span<const std::int64_t> extents);

/// Compares the times of calls of one shape by their means: the clock's steps are as long as some
/// calls take, so that no single time says anything.
///
/// Threads: all functions may be called by many threads at once; none waits.
class ShapeTrial {
 public:
  /// Whether the next call is one of the old code: in turn, some calls each.
  bool takes_old();
  void add(bool is_old, std::uint64_t elements, std::uint64_t ticks);
  /// Faster is 6 % and more: less is not worth the memory of the code.  Where too many calls say
  /// nothing, it is not.
  Trial::Verdict verdict() const;

 private:
  /// Of one code.
  struct Times {
    std::atomic<std::uint64_t> elements{0}, ticks{0}, calls{0};
    LeastTime least;  ///< of a call that nothing disturbed
  };
  std::atomic<std::uint32_t> calls_{0};
  std::array<Times, 2> times_;  ///< of the new code, of the old
};

/// What a plan calls instead of a kernel that gains from its shape, or of the part of one that
/// folds rows (CodeObject::rows).  It calls the kernel, until as many calls as
/// TierOptions::shape_threshold have shown that the shape is hot and the kernel has settled; then
/// it has the code compiled, as far as the engine has room for the code of shapes, times it against
/// the kernel's, and keeps what is faster.
///
/// Threads: all functions may be called by many threads at once.
class ShapedKernel : public EntryPoint, public std::enable_shared_from_this<ShapedKernel> {
 public:
  /// `is_whole`: all launches have the same extents; else those of the innermost loop alone are the
  /// same.  All have the same strides.
  ///
  /// Of a kernel that reduces_rows(), launches are those of CodeObject::rows; it is called while
  /// `kernel` has folding_code().
  ShapedKernel(std::shared_ptr<TieredKernel> kernel, TieredKernel::Compile compile, bool is_whole);
  ~ShapedKernel();

  /// Whether launches run the code of the shape, and no longer for a trial.
  bool is_promoted() const { return state_.load(std::memory_order_acquire) == State::promoted; }

 private:
  enum class State : std::uint8_t { counting, requested, tried, refused, promoted };

  static void call_counted(const KernelArgs* args);
  static void call_tried(const KernelArgs* args);
  static void call_kernel(const KernelArgs* args);
  static ShapedKernel& of(const KernelArgs* args);

  KernelFunction function_of(const CodeObject& code) const;
  KernelFunction settled_entry() const;
  void run_kernel(const KernelArgs* args) const;
  std::uint64_t elements(const KernelArgs* args) const;
  LaunchShape shape_of(const KernelArgs* args) const;
  void request(const KernelArgs* args);
  void compile(const LaunchShape& shape);
  void give_up(const std::exception& error) noexcept;
  void stay_with_kernel();
  void decide(Trial::Verdict verdict);

  std::shared_ptr<TieredKernel> kernel_;
  TieredKernel::Compile compile_;
  bool is_whole_, folds_rows_;
  /// Counted by TierControl.  Written by who requests, and by who gives up.  Of code that was
  /// slower it is kept with the code: calls may be in that.
  bool has_room_ = false;
  std::shared_ptr<const CodeObject> code_;  ///< written before entry() leads to it
  std::atomic<State> state_{State::counting};
  std::atomic<std::uint64_t> heat_{0};
  ShapeTrial trial_;
};

}  // namespace weft::jit
