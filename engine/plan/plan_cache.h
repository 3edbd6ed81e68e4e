// Raw key -> finished plan: a thread-local first level without locks, and a second level that
// threads share, in shards with a mutex each.
#pragma once

#include "engine/expression/program.h"
#include "engine/plan/call_key.h"
#include "engine/plan/launch.h"
#include "engine/tensor/tensor_impl.h"

#include <weft/dispatch_key.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

namespace weft {

struct FoldPlan;
struct PassList;

/// All that a repeated call needs.  Immutable.
struct CallPlan : std::enable_shared_from_this<CallPlan> {
  struct Output {
    bool is_new = false;            ///< the call allocates it
    std::size_t storage_bytes = 0;  ///< of a new one
    Device device;                  ///< of a new one
    TensorImpl layout;              ///< of a new one; it has no storage
  };
  struct Param {
    std::uint32_t number;  ///< which of CallKey::numbers
    DType dtype;
  };

  LaunchPlan launch;
  /// A fold, a scan, several passes, or work on a device, which run in place of `launch`.
  std::function<void(std::byte* const* base, const Bits* params)> pass;
  std::vector<std::shared_ptr<const CallPlan>> steps;  ///< the plans that `pass` runs
  std::shared_ptr<const FoldPlan> fold;                ///< that `pass` runs; null if it is no fold
  std::shared_ptr<const PassList> passes;              ///< that `pass` runs; null if there are none
  std::shared_ptr<jit::TieredKernel> reduction;        ///< of a fold; may be null
  DispatchKeySet keys;                                 ///< of the call's tensors
  bool is_empty = false;                               ///< no elements: nothing to run
  bool divides_integers = false;  ///< divisors have to be checked before each run
  /// Takes one output and the inputs of its key as they come, and nothing needs a look before a
  /// run.
  bool is_plain = false;
  std::vector<Output> outputs;
  std::vector<std::uint32_t> leaves;  ///< operand -> which of CallKey::inputs
  /// At most ir::max_launch_operands, and ir::max_launch_params parameters, but for lists of
  /// passes.
  std::size_t num_operands() const { return outputs.size() + leaves.size(); }
  std::vector<Param> params;
};

/// Runs what was planned on operands' addresses.
inline void run(const CallPlan& plan, std::byte* const* base, const Bits* params) {
  if (plan.pass) [[unlikely]]
    return plan.pass(base, params);
  launch(plan.launch, base, params);
}

/// Threads: all functions may be called by many threads at once.
class PlanCache {
 public:
  PlanCache();

  /// A plan of this thread, and the words of its key.
  struct Local {
    std::uint64_t cache_id = 0;
    std::uint64_t hash = 0;
    std::span<const std::uint64_t> words;
    const CallPlan* plan = nullptr;
  };
  /// The only plan of this thread that can be the one of a key with this hash, or null.  It stays
  /// alive until this thread's next call of find() or insert().
  const Local* candidate(std::uint64_t hash) const;

  /// The plan of an equal call, or null.  As long-lived.
  const CallPlan* find(const CallKey& key, std::uint64_t hash);
  /// Changes with each clear().  Ask before reading anything that a plan depends on.
  std::uint64_t generation() const { return id_.load(std::memory_order_acquire); }
  /// Keeps a plan that was made from what was read since generation() returned `generation`;
  /// nothing if clear() was called since.
  void insert(const CallKey& key, std::uint64_t hash, std::shared_ptr<const CallPlan> plan,
              std::uint64_t generation);
  /// Forgets all plans, those of other threads' first levels included, and those in the making.
  void clear();
  /// Plans that were dropped to make room.
  std::uint64_t num_evictions() const { return evictions_.load(std::memory_order_relaxed); }

  /// A plan, its key, and the generation that it belongs to.
  struct Entry {
    std::uint64_t cache_id;
    std::vector<std::uint64_t> words;
    std::shared_ptr<const CallPlan> plan;
  };

 private:
  using Entries = std::unordered_multimap<std::uint64_t, std::shared_ptr<const Entry>>;
  struct Shard {
    std::mutex mutex;
    Entries entries;
  };
  static constexpr std::size_t num_shards = 16;
  /// Beyond this many a shard starts afresh: programs with unbounded shapes stay bounded in memory.
  static constexpr std::size_t max_shard_entries = (1 << 14) / num_shards;

  /// What the threads share.
  std::shared_ptr<const Entry> find_shared(const CallKey& key, std::uint64_t hash);

  /// By bits that the first level does not use.
  Shard& shard_of(std::uint64_t hash) { return shards_[hash >> 60]; }

  /// The generation.  Never used twice, so that entries of dead caches match nothing.
  std::atomic<std::uint64_t> id_;
  std::array<Shard, num_shards> shards_;
  std::atomic<std::uint64_t> evictions_{0};
};

}  // namespace weft
