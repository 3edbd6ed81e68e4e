// What an Engine owns.
#pragma once

#include "engine/plan/plan_cache.h"
#include "engine/plan/planner.h"
#include "engine/plan/streaming.h"
#include "jit/kernel_cache.h"
#include "jit/nvrtc/loader.h"
#include "runtime/thread_counter.h"

#include <weft/engine.h>

#include <atomic>
#include <cstdint>
#include <limits>

namespace weft {

struct Engine::State {
  explicit State(EngineOptions given = {});

  EngineOptions options;
  CpuFeatures features;
  std::atomic<int> num_threads{0};  ///< 0: as many as there are processors
  std::shared_ptr<DiskCache> disk;
  jit::KernelCache kernels;
  std::shared_ptr<jit::nvrtc::KernelLoader> device_kernels;
  PlanCache plans;
  Definitions definitions;
  ThreadCounter plan_hits;
  std::atomic<std::uint64_t> plan_misses{0};

  PlannerOptions planner_options(bool is_copy = false) const {
    const int max_threads = num_threads.load(std::memory_order_relaxed);
    return {.backend = options.backend,
            .numerics = elementwise(options.numerics),
            .features = features,
            .num_threads = max_threads,
            .is_copy = is_copy,
            .streaming_bytes = streaming_bytes(features),
            .device_kernels = device_kernels,
            .fold_order = fold_order(options.numerics)};
  }
  /// The option, or what suits the caches of the target.
  std::int64_t streaming_bytes(const CpuFeatures& target) const {
    return options.streaming_bytes > 0 ? options.streaming_bytes
                                       : streaming_threshold_bytes(target);
  }
  /// The same for calls that run block by block of rows.
  std::int64_t row_streaming_bytes(const CpuFeatures& target) const {
    if (options.streaming_bytes > 0) return options.streaming_bytes;
    return row_streaming_threshold_bytes(target, streaming_threshold_bytes(target));
  }
};

struct PreparedPlan::State {
  std::shared_ptr<const CallPlan> plan;
  std::vector<Tensor> outputs;
  std::vector<Tensor> inputs;  ///< one a leaf
  /// Where an operand lies, as found when the plan was made.
  struct Address {
    const Storage* storage;
    std::int64_t offset_bytes;
  };
  std::vector<Address> addresses;
  /// How many storages had moved when the addresses were found: while no more have, run() calls the
  /// code with `args`.  Where one call of the code isn't enough, a number that is never reached.
  std::uint64_t direct_until_move = std::numeric_limits<std::uint64_t>::max();
  std::vector<std::byte*> base;           ///< what `addresses` come to
  const jit::EntryPoint* code = nullptr;  ///< of `plan`; null if there is nothing to run
  /// Ready to be passed, so that a run stores nothing before its kernel loads.
  jit::KernelArgs args{};
  std::vector<Bits> params;
};

}  // namespace weft
