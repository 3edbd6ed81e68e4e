// A kernel whose code is replaced by better code while threads run it.
#pragma once

#include "jit/backend.h"
#include "jit/code_object.h"
#include "jit/entry_point.h"
#include "jit/trial.h"

#include <weft/parallel.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace weft::jit {

/// A kernel after the passes, the code made from it, and why other tiers did not make it.
struct CompiledKernel {
  ir::Kernel kernel;
  std::shared_ptr<const CodeObject> code;
  std::vector<std::string> refusals;  ///< "xbyak: exp f32 has no row"
};

/// When a kernel goes from a tier that compiles fast to one whose code is faster.
struct TierOptions {
  bool use_xbyak = true;
  bool use_llvm = true;
  /// Calls before the kernel is compiled again; one of many elements counts as several.  0: it is
  /// asked for before the first, which does not wait for it unless `in_background` is false.
  std::uint32_t threshold = 64;
  bool in_background = true;  ///< else in the thread whose call reached the threshold
  /// The same for calls of one plan, whose shape gets code of its own (jit/shaped_kernel.h).
  std::uint32_t shape_threshold = 16384;
  std::uint32_t max_shapes = 64;  ///< that have such code at a time
};

/// What a call of so many elements counts against the thresholds.
inline std::uint64_t heat_of(std::uint64_t elements) {
  constexpr std::uint64_t elements_a_call = 4096;
  return 1 + elements / elements_a_call;
}

/// Counters of the compilations of one engine.
struct TierStats {
  double compile_us = 0;
  std::uint64_t code_bytes = 0;
  std::map<std::string, std::uint64_t> compiles_by_backend;
  std::uint64_t disk_loads = 0;        ///< code that came from the disk instead
  std::uint64_t requested = 0;         ///< kernels that became hot
  std::uint64_t promoted = 0;          ///< of those, that run their new code now
  std::uint64_t demoted = 0;           ///< whose new code was slower and is not used
  std::uint64_t failed = 0;            ///< that could not be compiled
  std::uint64_t shapes_requested = 0;  ///< the same of shapes
  std::uint64_t shapes_promoted = 0;
  std::uint64_t shapes_demoted = 0;
  std::uint64_t shapes_failed = 0;
};

/// What the kernels of one engine have in common.  It outlives the engine as long as one of them
/// does: a prepared plan, a compilation that runs.
///
/// Threads: all functions may be called by many threads at once.
class TierControl {
 public:
  explicit TierControl(TierOptions options) : options_(options) {}

  const TierOptions& options() const { return options_; }
  TierStats stats() const;

  void count_code(const CodeObject& code);
  void count(std::uint64_t TierStats::*counter);

  /// Whether there is room for the code of one more shape, which is taken then.
  bool take_room();
  void give_back_room();

  /// A compilation that wait() waits for, as long as it lives: whether it is made, fails, or is
  /// dropped.
  class Pending {
   public:
    explicit Pending(std::shared_ptr<TierControl> control);
    ~Pending();
    Pending(const Pending&) = delete;
    Pending& operator=(const Pending&) = delete;

   private:
    std::shared_ptr<TierControl> control_;
  };
  /// Returns when there is none.
  void wait();
  /// Compilations not yet begun are left out from now on.
  void cancel() { is_cancelled_.store(true, std::memory_order_relaxed); }
  bool is_cancelled() const { return is_cancelled_.load(std::memory_order_relaxed); }

 private:
  TierOptions options_;
  std::atomic<bool> is_cancelled_{false};
  mutable std::mutex mutex_;
  std::condition_variable all_ended_;
  std::uint64_t pending_ = 0;
  std::uint32_t num_shapes_ = 0;  ///< that have taken room
  TierStats stats_;
};

/// A kernel as launches see it.
///
/// At first entry() is the first tier's code, with a counter in front if there is a next tier.  The
/// call that makes the kernel hot asks for the next tier's code.  When that is there, entry() times
/// it against the old, and settles on one of them after some calls.  All the code gives the same
/// bits, and none is freed before the kernel, so a thread may be anywhere in this at any time.
///
/// Threads: all functions may be called by many threads at once.
class TieredKernel : public EntryPoint, public std::enable_shared_from_this<TieredKernel> {
 public:
  /// Compiles for the next tier.  Errors: any weft::Error; the kernel stays as it is then.
  using Compile = std::shared_ptr<const CodeObject> (*)(const ir::Kernel& kernel,
                                                        const Target& target);

  /// `next` null: the code stays.
  TieredKernel(CompiledKernel first, std::shared_ptr<TierControl> control, Compile next,
               Target target);

  const ir::Kernel& kernel() const { return first_.kernel; }
  /// The code that it began with.
  const CompiledKernel& first() const { return first_; }
  /// Whether other code may take the place of that.
  bool has_next() const { return next_ != nullptr; }
  /// Whether no other code will take the place of what runs now.
  bool is_settled() const;
  /// The code that runs for good, if there is such and it needs no context; else null.
  KernelFunction settled_entry() const;
  const Target& target() const { return target_; }
  TierControl& control() const { return *control_; }
  const std::shared_ptr<TierControl>& shared_control() const { return control_; }
  /// The name of the tier whose code runs now.
  std::string tier() const;

  /// Asks for the next tier now, if there is one and nobody has asked.  Throws nothing.
  void request();

  /// Of a kernel that reduces, for callers that walk the tree themselves and can do without code
  /// for its leaves, or that scans, for callers that can do without code for that: calls `run` with
  /// the code, or with null where there is none.  Counts, asks for the next tier and tries its code
  /// as entry() does; the interpreter's code is never run.
  ///
  /// Errors: those of `run`.
  void fold(std::uint64_t num_elements, FunctionRef<void(const CodeObject* code)> run);
  /// The code that fold() has settled on; null if it has on none, or not yet.
  const CodeObject* folding_code() const { return folding_.load(std::memory_order_acquire); }

 private:
  enum class State : std::uint8_t { settled, counting, requested, tried };

  static void call_counted(const KernelArgs* args);
  static void call_tried(const KernelArgs* args);
  static void call_with_context(const KernelArgs* args);
  static void call_promoted_with_context(const KernelArgs* args);
  static TieredKernel& of(const KernelArgs* args);

  std::uint64_t elements(const KernelArgs* args) const;
  void add_heat(std::uint64_t elements);
  KernelFunction first_entry() const;
  KernelFunction promoted_entry() const;
  void promote();
  void give_up(const std::exception& error) noexcept;
  void decide(Trial::Verdict verdict);

  CompiledKernel first_;
  std::shared_ptr<TierControl> control_;
  Compile next_;
  Target target_;
  std::shared_ptr<const CodeObject> promoted_;  ///< written before entry_ leads to it
  std::atomic<State> state_;
  std::atomic<const CodeObject*> folding_{nullptr};  ///< first_'s or promoted_'s
  std::atomic<std::uint64_t> heat_{0};
  Trial trial_;
};

}  // namespace weft::jit
