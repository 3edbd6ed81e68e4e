// Pooled memory for storages: 64-byte aligned blocks that are kept for the next call instead of
// being returned to the system, so that a fresh output neither waits for malloc nor page-faults.
//
// Below 1 MiB blocks come in size classes (four a power of two), first from a cache of the calling
// thread, then from a shared list.  From 1 MiB on they are mappings of whole 2 MiB pages, for which
// huge pages are advised, in eight size classes a power of two.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft {

inline constexpr std::size_t allocation_alignment = 64;

/// At least `size_bytes` bytes, aligned to 64, uninitialised; never null, also for 0 bytes.
///
/// Threads: all functions here may be called by many threads at once; a block may be freed by
///          another thread than the one that asked for it.
/// Errors:  DeviceError that names the bytes asked for, when the system has none left.
std::byte* allocate_bytes(std::size_t size_bytes);

/// Takes back a block of allocate_bytes().  Requires: the same `size_bytes`.
void free_bytes(std::byte* data, std::size_t size_bytes) noexcept;

/// The room in a block that was asked for with `size_bytes`: what it may grow to in place.
std::size_t usable_bytes(std::size_t size_bytes);

/// Returns all unused blocks to the system, but those in other threads' caches (at most 2 MiB a
/// thread).
void trim() noexcept;

/// The most bytes that unused blocks may hold, threads' caches not counted.  A block that would
/// exceed it goes back to the system.  At first 1 GiB, or an eighth of the machine's memory if
/// less.
void set_retained_limit_bytes(std::size_t limit_bytes);

/// Counters of the whole process since it started.
struct AllocatorStats {
  std::uint64_t num_allocations = 0;
  std::uint64_t num_reused = 0;    ///< of them, served without asking the system
  std::size_t live_bytes = 0;      ///< in blocks that are in use, rounded up to their size class
  std::size_t retained_bytes = 0;  ///< in unused blocks, threads' caches included
};
AllocatorStats allocator_stats();

/// Registers what fork() has to do for the pool: the child can go on with it whatever other threads
/// are doing.  The first allocation does so, too; for those whose own handlers must run before
/// these.
void prepare_allocator();

}  // namespace weft
