// The pool: thread caches over shared free lists over the system.
#include "runtime/allocator.h"

#include "runtime/fork_handlers.h"
#include "runtime/log.h"
#include "runtime/thread_owned.h"

#include <weft/error.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>

namespace weft {

namespace {

constexpr std::size_t large_bytes = std::size_t{1} << 20;
constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;
/// Sizes above this are refused before rounding could overflow.  No x86-64 system maps as much.
constexpr std::size_t most_bytes = std::size_t{1} << 56;

// Small classes: 64, 128, 192, 256, then four a power of two up to 1 MiB.
constexpr std::size_t steps_small = 4;
constexpr int first_power = 8;  // 256 = 64 * steps_small
constexpr std::size_t num_small_classes = steps_small * (20 - first_power + 1);
// Large classes: one for each multiple of 2 MiB up to 16 MiB, then eight a power of two up to 2^56.
constexpr std::size_t steps_large = 8;
constexpr int first_large_power = 24;
constexpr std::size_t num_large_classes = steps_large * (56 - first_large_power + 1);

struct SizeClass {
  std::size_t index;
  std::size_t size_bytes;
};

/// Sizes in steps of `unit` up to steps * unit = 2^first, then `steps` steps a power of two.
constexpr SizeClass size_class(std::size_t size_bytes, std::size_t steps, int first) {
  const std::size_t last = std::max<std::size_t>(size_bytes, 1) - 1;
  const int power = std::max(static_cast<int>(std::bit_width(last)) - 1, first - 1);
  // In [2^power, 2^(power + 1)) the step is 2^power / steps; below 2^first it is the smallest one.
  const bool is_first = power < first;
  const int step_bits = (is_first ? first : power) - (std::bit_width(steps) - 1);
  const std::size_t step_index = last >> step_bits;
  const std::size_t group = is_first ? 0 : static_cast<std::size_t>(power - first);
  return {group * steps + step_index, (step_index + 1) << step_bits};
}
/// The size of the class with this index: the inverse of size_class().
constexpr std::size_t class_bytes(std::size_t index, std::size_t steps, int first) {
  const std::size_t group = index < steps ? 0 : index / steps - 1;
  const std::size_t step_bits =
      static_cast<std::size_t>(first) + group - (std::bit_width(steps) - 1);
  return (index - group * steps + 1) << step_bits;
}
constexpr SizeClass small_class(std::size_t size_bytes) {
  return size_class(size_bytes, steps_small, first_power);
}
constexpr SizeClass large_class(std::size_t size_bytes) {
  return size_class(size_bytes, steps_large, first_large_power);
}
static_assert(small_class(0).size_bytes == 64 && small_class(64).index == 0);
static_assert(small_class(65).size_bytes == 128 && small_class(256).size_bytes == 256);
static_assert(small_class(257).size_bytes == 320 && small_class(257).index == 4);
static_assert(small_class(large_bytes - 1).size_bytes == large_bytes);
static_assert(small_class(large_bytes - 1).index < num_small_classes);
static_assert(large_class(large_bytes).size_bytes == huge_page_bytes);
static_assert(large_class(huge_page_bytes + 1).size_bytes == 2 * huge_page_bytes);
static_assert(large_class(most_bytes).index < num_large_classes);
static_assert(class_bytes(large_class(most_bytes).index, steps_large, first_large_power) ==
              most_bytes);
static_assert(class_bytes(small_class(320).index, steps_small, first_power) == 320);

/// An unused block holds its list's link.
struct FreeBlock {
  FreeBlock* next;
};

/// Written by one thread, read by any: no locked instruction on the way of an allocation.
class Counter {
 public:
  void add(std::uint64_t amount) {
    value_.store(value_.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// A stack of unused blocks of one class.
struct FreeList {
  FreeBlock* head = nullptr;
  Counter count;

  void push(void* data) {
    head = new (data) FreeBlock{head};
    count.add(1);
  }
  void* pop() {
    FreeBlock* block = head;
    if (block == nullptr) return nullptr;
    head = block->next;
    count.add(std::uint64_t{0} - 1);
    return block;
  }
};

/// Null if the system has none.
void* map_large(std::size_t size_bytes) {
  // One page more, so that an aligned range lies within; what is over is returned.
  const std::size_t mapped_bytes = size_bytes + huge_page_bytes;
  void* address =
      mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) return nullptr;
  auto* begin = static_cast<std::byte*>(address);
  const std::size_t misaligned_bytes = reinterpret_cast<std::uintptr_t>(begin) % huge_page_bytes;
  const std::size_t before_bytes = misaligned_bytes == 0 ? 0 : huge_page_bytes - misaligned_bytes;
  if (before_bytes != 0) munmap(begin, before_bytes);
  munmap(begin + before_bytes + size_bytes, huge_page_bytes - before_bytes);
  madvise(begin + before_bytes, size_bytes, MADV_HUGEPAGE);  // advice: failing is no error
  return begin + before_bytes;
}

std::size_t default_limit_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  const std::size_t memory_bytes =
      pages > 0 && page_bytes > 0
          ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page_bytes)
          : 0;
  return std::min(std::size_t{1} << 30, memory_bytes / 8);
}

/// Sums wrap: a thread that only frees counts negative bytes, and the total is right.
struct Counters {
  Counter num_allocations, num_from_system, live_bytes;

  void add(const Counters& other) {
    num_allocations.add(other.num_allocations.value());
    num_from_system.add(other.num_from_system.value());
    live_bytes.add(other.live_bytes.value());
  }
};

/// Unused blocks that one thread keeps for itself, so that small outputs cost no lock.
class ThreadCache {
 public:
  /// Up to 64 KiB; larger blocks take long enough to fill that a lock does not matter.
  static constexpr std::size_t num_classes = small_class(std::size_t{64} << 10).index + 1;

  void* pop(SizeClass wanted) { return lists_[wanted.index].pop(); }
  /// False if it keeps enough blocks of this class.
  bool push(void* block, SizeClass of) {
    FreeList& list = lists_[of.index];
    constexpr std::uint64_t most_class_bytes = std::uint64_t{64} << 10;
    constexpr std::uint64_t most_count = 64;
    const std::uint64_t count = list.count.value();
    if (count >= most_count || (count + 1) * of.size_bytes > most_class_bytes) return false;
    list.push(block);
    return true;
  }
  std::size_t retained_bytes() const {
    std::size_t result = 0;
    for (std::size_t i = 0; i < num_classes; ++i)
      result += lists_[i].count.value() * class_bytes(i, steps_small, first_power);
    return result;
  }

  Counters counters;
  ThreadCache* next = nullptr;  ///< in the pool's list of living threads' caches

 private:
  std::array<FreeList, num_classes> lists_;
};

/// Large blocks that go back to the system when this does.  That takes long: a lock under which
/// they were found should be released first.
class Released {
 public:
  Released() = default;
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;
  ~Released() {
    if (first_ != nullptr) unmap_all();
  }

  void add(void* block, std::size_t size_bytes) { first_ = new (block) Block{first_, size_bytes}; }

 private:
  /// In the memory that is given back.
  struct Block {
    Block* next;
    std::size_t size_bytes;
  };

  [[gnu::noinline]] void unmap_all() {
    while (first_ != nullptr) {
      const Block block = *first_;
      log(LogTopic::memory, "unmap ", block.size_bytes, " bytes");
      munmap(first_, block.size_bytes);
      first_ = block.next;
    }
  }

  Block* first_ = nullptr;
};

/// What all threads share.
class Pool {
 public:
  void* allocate_small(SizeClass wanted, Counters& counters) {
    {
      const std::lock_guard lock(mutex_);
      if (void* block = pop(small_[wanted.index], wanted.size_bytes)) return block;
    }
    counters.num_from_system.add(1);
    return ask_system(wanted.size_bytes,
                      [&] { return std::aligned_alloc(allocation_alignment, wanted.size_bytes); });
  }

  void* allocate_large(SizeClass wanted, Counters& counters) {
    {
      const std::lock_guard lock(mutex_);
      if (void* block = pop(large_[wanted.index], wanted.size_bytes)) return block;
    }
    counters.num_from_system.add(1);
    log(LogTopic::memory, "map ", wanted.size_bytes, " bytes");
    return ask_system(wanted.size_bytes, [&] { return map_large(wanted.size_bytes); });
  }

  void free_small(void* block, SizeClass of) {
    Released released;
    const std::lock_guard lock(mutex_);
    if (!make_room(of.size_bytes, released)) return std::free(block);
    push(small_[of.index], block, of.size_bytes);
  }

  void free_large(void* block, SizeClass of) {
    Released released;
    const std::lock_guard lock(mutex_);
    if (!make_room(of.size_bytes, released)) return released.add(block, of.size_bytes);
    push(large_[of.index], block, of.size_bytes);
  }

  void trim() {
    Released released;
    const std::lock_guard lock(mutex_);
    release_all(released);
  }

  void set_limit_bytes(std::size_t limit_bytes) {
    Released released;
    const std::lock_guard lock(mutex_);
    limit_bytes_ = limit_bytes;
    if (retained_bytes_ > limit_bytes_) release_all(released);
  }

  void enter(ThreadCache& cache) {
    const std::lock_guard lock(mutex_);
    cache.next = caches_;
    caches_ = &cache;
  }

  /// Requires: an empty cache.
  void leave(ThreadCache& cache) {
    const std::lock_guard lock(mutex_);
    ThreadCache** link = &caches_;
    while (*link != &cache) link = &(*link)->next;
    *link = cache.next;
    finished_.add(cache.counters);
  }

  void count(const Counters& counters) {
    const std::lock_guard lock(mutex_);
    finished_.add(counters);
  }

  void before_fork() { mutex_.lock(); }
  void after_fork_in_parent() { mutex_.unlock(); }
  /// The caches of other threads lie where the child's new threads will have theirs.  Unused blocks
  /// in them are lost: a thread that was at work on its lists may have left them half changed.
  void after_fork_in_child(ThreadCache* own) {
    for (const ThreadCache* cache = caches_; cache != nullptr; cache = cache->next)
      if (cache != own) finished_.add(cache->counters);
    caches_ = own;
    if (own != nullptr) own->next = nullptr;
    mutex_.unlock();
  }

  AllocatorStats stats() {
    const std::lock_guard lock(mutex_);
    Counters sum;
    sum.add(finished_);
    std::size_t cached_bytes = 0;
    for (const ThreadCache* cache = caches_; cache != nullptr; cache = cache->next) {
      sum.add(cache->counters);
      cached_bytes += cache->retained_bytes();
    }
    const std::uint64_t num_allocations = sum.num_allocations.value();
    return {num_allocations, num_allocations - sum.num_from_system.value(), sum.live_bytes.value(),
            retained_bytes_ + cached_bytes};
  }

 private:
  /// Tries again after giving back everything unused.  Null if that does not help either.
  template <class Ask>
  void* ask_system(std::size_t size_bytes, Ask ask) {
    if (void* block = ask()) return block;
    log(LogTopic::memory, "no ", size_bytes, " bytes left; giving back unused blocks");
    trim();
    return ask();
  }

  void* pop(FreeList& list, std::size_t size_bytes) {
    void* block = list.pop();
    if (block != nullptr) retained_bytes_ -= size_bytes;
    return block;
  }
  void push(FreeList& list, void* block, std::size_t size_bytes) {
    list.push(block);
    retained_bytes_ += size_bytes;
  }

  /// Whether a block of this size may be kept.  Unused large blocks make way for it: sizes in use
  /// now are likelier to be asked for than those of long ago.
  bool make_room(std::size_t size_bytes, Released& released) {
    if (size_bytes > limit_bytes_) return false;
    for (std::size_t i = num_large_classes; i-- > 0 && retained_bytes_ + size_bytes > limit_bytes_;)
      release_large(i, size_bytes, released);
    return retained_bytes_ + size_bytes <= limit_bytes_;
  }

  void release_large(std::size_t index, std::size_t wanted_bytes, Released& released) {
    const std::size_t block_bytes = class_bytes(index, steps_large, first_large_power);
    while (retained_bytes_ + wanted_bytes > limit_bytes_) {
      void* block = pop(large_[index], block_bytes);
      if (block == nullptr) return;
      released.add(block, block_bytes);
    }
  }

  void release_all(Released& released) {
    for (FreeList& list : small_)
      while (void* block = list.pop()) std::free(block);
    for (std::size_t i = 0; i < num_large_classes; ++i)
      while (void* block = large_[i].pop())
        released.add(block, class_bytes(i, steps_large, first_large_power));
    retained_bytes_ = 0;
  }

  std::mutex mutex_;
  std::array<FreeList, num_small_classes> small_;
  std::array<FreeList, num_large_classes> large_;
  std::size_t retained_bytes_ = 0;
  std::size_t limit_bytes_ = default_limit_bytes();
  ThreadCache* caches_ = nullptr;  ///< of living threads, linked
  Counters finished_;              ///< of threads that have ended, and of blocks freed after that
};

// A plain word beside the object with the destructor, because it can still be read after that has
// run, and costs less to ask.
thread_local constinit ThreadCache* this_thread_cache = nullptr;

/// Never destroyed: storages of static duration are freed after any static object here would be.
Pool& pool() {
  static Pool& instance = *[] {
    auto made = std::make_unique<Pool>();
    around_fork([] { pool().before_fork(); }, [] { pool().after_fork_in_parent(); },
                [] { pool().after_fork_in_child(this_thread_cache); });
    return made.release();
  }();
  return instance;
}

void empty(ThreadCache& cache) {
  for (std::size_t i = 0; i < ThreadCache::num_classes; ++i) {
    const SizeClass of{i, class_bytes(i, steps_small, first_power)};
    while (void* block = cache.pop(of)) pool().free_small(block, of);
  }
}

struct RegisteredCache {
  ThreadCache cache;

  RegisteredCache() {
    pool().enter(cache);
    this_thread_cache = &cache;
  }
  ~RegisteredCache() {
    this_thread_cache = nullptr;
    empty(cache);
    pool().leave(cache);
  }
};

/// Null while the thread's own objects are being destroyed.
ThreadCache* thread_cache() {
  if (this_thread_cache == nullptr) [[unlikely]]
    thread_owned<RegisteredCache>();
  return this_thread_cache;
}

void* allocate(std::size_t size_bytes, ThreadCache* cache, Counters& counters) {
  const bool is_large = size_bytes >= large_bytes;
  const SizeClass wanted = is_large ? large_class(size_bytes) : small_class(size_bytes);
  void* block = nullptr;
  if (!is_large && cache != nullptr && wanted.index < ThreadCache::num_classes)
    block = cache->pop(wanted);
  if (block == nullptr)
    block = is_large ? pool().allocate_large(wanted, counters)
                     : pool().allocate_small(wanted, counters);
  if (block == nullptr) return nullptr;
  counters.num_allocations.add(1);
  counters.live_bytes.add(wanted.size_bytes);
  return block;
}

}  // namespace

std::byte* allocate_bytes(std::size_t size_bytes) {
  void* block = nullptr;
  if (size_bytes <= most_bytes) [[likely]] {
    if (ThreadCache* cache = thread_cache()) [[likely]] {
      block = allocate(size_bytes, cache, cache->counters);
    } else {
      Counters counters;
      block = allocate(size_bytes, nullptr, counters);
      pool().count(counters);
    }
  }
  WEFT_CHECK(block != nullptr, DeviceError, "Out of memory: cannot allocate ", size_bytes,
             " bytes.");
  return static_cast<std::byte*>(block);
}

void free_bytes(std::byte* data, std::size_t size_bytes) noexcept {
  ThreadCache* cache = thread_cache();
  const bool is_large = size_bytes >= large_bytes;
  const SizeClass of = is_large ? large_class(size_bytes) : small_class(size_bytes);
  if (cache != nullptr) {
    cache->counters.live_bytes.add(0 - of.size_bytes);
    if (!is_large && of.index < ThreadCache::num_classes && cache->push(data, of)) return;
  } else {
    Counters counters;
    counters.live_bytes.add(0 - of.size_bytes);
    pool().count(counters);
  }
  is_large ? pool().free_large(data, of) : pool().free_small(data, of);
}

std::size_t usable_bytes(std::size_t size_bytes) {
  return (size_bytes >= large_bytes ? large_class(size_bytes) : small_class(size_bytes)).size_bytes;
}

void trim() noexcept {
  if (ThreadCache* cache = thread_cache()) empty(*cache);
  pool().trim();
}

void set_retained_limit_bytes(std::size_t limit_bytes) { pool().set_limit_bytes(limit_bytes); }

AllocatorStats allocator_stats() { return pool().stats(); }

void prepare_allocator() { pool(); }

}  // namespace weft
