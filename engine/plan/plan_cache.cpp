#include "engine/plan/plan_cache.h"

#include "runtime/thread_owned.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <array>
#include <atomic>

namespace weft {
namespace {

/// What a hit needs, in one cache line.
struct alignas(64) LocalEntry : PlanCache::Local {
  std::shared_ptr<const PlanCache::Entry> owner;
};

constexpr std::size_t num_local_entries = 256;
using LocalEntries = std::array<LocalEntry, num_local_entries>;

// A thread's own plans, so that a hit takes no lock and touches no shared reference count.  It
// keeps the plans of dead engines alive until they are displaced, at most num_local_entries of them
// a thread.  A pointer, because an object with a destructor would be asked at each access whether
// it is there yet.
constinit thread_local LocalEntries* local_entries = nullptr;

struct LocalEntriesOwner {
  std::unique_ptr<LocalEntries> entries = std::make_unique<LocalEntries>();
  ~LocalEntriesOwner() { local_entries = nullptr; }
};

/// Null while the thread ends.
LocalEntries* make_local_entries() {
  LocalEntriesOwner* const owner = thread_owned<LocalEntriesOwner>();
  return local_entries = owner != nullptr ? owner->entries.get() : nullptr;
}

std::uint64_t next_cache_id() {
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

/// Keys have some dozen words, for which a call of memcmp() costs more than the comparison.
bool same_words(const std::uint64_t* a, const std::uint64_t* b, std::size_t count) {
#if defined(__SSE2__)
  __m128i difference = _mm_setzero_si128();
  std::size_t i = 0;
  for (; i + 2 <= count; i += 2)
    difference = _mm_or_si128(
        difference, _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(a + i)),
                                  _mm_loadu_si128(reinterpret_cast<const __m128i*>(b + i))));
  if (i < count && a[i] != b[i]) return false;
  return _mm_movemask_epi8(_mm_cmpeq_epi32(difference, _mm_setzero_si128())) == 0xffff;
#else
  std::uint64_t difference = 0;
  for (std::size_t i = 0; i < count; ++i) difference |= a[i] ^ b[i];
  return difference == 0;
#endif
}

bool is_entry_of(const PlanCache::Entry& entry, const CallKey& key) {
  return entry.words.size() == key.words.size() &&
         same_words(entry.words.data(), key.words.data(), entry.words.size());
}

void set(LocalEntry& local, std::uint64_t hash, std::shared_ptr<const PlanCache::Entry> entry) {
  local = {{entry->cache_id, hash, entry->words, entry->plan.get()}, std::move(entry)};
}

}  // namespace

PlanCache::PlanCache() : id_(next_cache_id()) {}

const PlanCache::Local* PlanCache::candidate(std::uint64_t hash) const {
  LocalEntries* entries = local_entries;
  if (entries == nullptr) [[unlikely]] {
    entries = make_local_entries();
    if (entries == nullptr) return nullptr;
  }
  const LocalEntry& local = (*entries)[hash % num_local_entries];
  return local.hash == hash && local.cache_id == id_.load(std::memory_order_relaxed) ? &local
                                                                                     : nullptr;
}

const CallPlan* PlanCache::find(const CallKey& key, std::uint64_t hash) {
  const Local* local = candidate(hash);
  if (local != nullptr && local->words.size() == key.words.size() &&
      same_words(local->words.data(), key.words.data(), key.words.size())) [[likely]]
    return local->plan;
  std::shared_ptr<const Entry> found = find_shared(key, hash);
  LocalEntries* entries = local_entries;
  if (found == nullptr || entries == nullptr) return nullptr;  // nobody would keep the plan alive
  LocalEntry& entry = (*entries)[hash % num_local_entries];
  set(entry, hash, std::move(found));
  return entry.plan;
}

std::shared_ptr<const PlanCache::Entry> PlanCache::find_shared(const CallKey& key,
                                                               std::uint64_t hash) {
  Shard& shard = shard_of(hash);
  const std::lock_guard lock(shard.mutex);
  const auto [first, last] = shard.entries.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    // clear() may have begun, and not have come to this shard yet.
    if (it->second->cache_id == generation() && is_entry_of(*it->second, key)) return it->second;
  }
  return nullptr;
}

void PlanCache::insert(const CallKey& key, std::uint64_t hash, std::shared_ptr<const CallPlan> plan,
                       std::uint64_t generation) {
  auto entry = std::make_shared<const Entry>(
      Entry{generation, {key.words.data(), key.words.data() + key.words.size()}, std::move(plan)});
  if (LocalEntries* entries = local_entries != nullptr ? local_entries : make_local_entries())
    set((*entries)[hash % num_local_entries], hash, entry);
  Shard& shard = shard_of(hash);
  Entries evicted;  // what frees code takes locks of its own: after this one's
  const std::lock_guard lock(shard.mutex);
  if (generation != this->generation()) return;  // clear() has come to this shard, or will
  if (shard.entries.size() >= max_shard_entries) {
    evictions_.fetch_add(shard.entries.size(), std::memory_order_relaxed);
    evicted.swap(shard.entries);
  }
  shard.entries.emplace(hash, std::move(entry));
}

void PlanCache::clear() {
  // First, so that what is inserted from now on is of the new generation or none.
  id_.store(next_cache_id(), std::memory_order_release);
  for (Shard& shard : shards_) {
    Entries dropped;
    const std::lock_guard lock(shard.mutex);
    dropped.swap(shard.entries);
  }
}

}  // namespace weft
