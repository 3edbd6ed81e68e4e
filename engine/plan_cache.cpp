#include "engine/plan_cache.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

namespace weft {
namespace {

struct LocalEntry {
  std::uint64_t cache_id = 0;
  std::uint64_t hash = 0;
  std::vector<std::uint64_t> words;
  std::shared_ptr<const CallPlan> plan;
};

constexpr std::size_t num_local_entries = 256;

// A thread's own plans, so that a hit takes no lock and touches no shared reference count.  It
// keeps the plans of dead engines alive until they are displaced, at most num_local_entries of them
// a thread.
std::array<LocalEntry, num_local_entries>& local_entries() {
  thread_local std::array<LocalEntry, num_local_entries> entries;
  return entries;
}

std::uint64_t next_cache_id() {
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

template <class A, class B>
bool same_words(const A& a, const B& b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), a.size() * sizeof(std::uint64_t)) == 0;
}

}  // namespace

PlanCache::PlanCache() : id_(next_cache_id()) {}

const CallPlan* PlanCache::find(const CallKey& key, std::uint64_t hash) {
  LocalEntry& local = local_entries()[hash % num_local_entries];
  if (local.hash == hash && local.cache_id == id_ && same_words(local.words, key.words))
    return local.plan.get();
  const std::lock_guard lock(mutex_);
  const auto [first, last] = entries_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    if (!same_words(it->second.words, key.words)) continue;
    local = {id_, hash, it->second.words, it->second.plan};
    return local.plan.get();
  }
  return nullptr;
}

void PlanCache::insert(const CallKey& key, std::uint64_t hash,
                       std::shared_ptr<const CallPlan> plan) {
  Words words(key.words.begin(), key.words.end());
  local_entries()[hash % num_local_entries] = {id_, hash, words, plan};
  const std::lock_guard lock(mutex_);
  if (entries_.size() >= max_entries) entries_.clear();
  entries_.emplace(hash, Entry{std::move(words), std::move(plan)});
}

}  // namespace weft
