// Threads that wait for chunks of a loop: spinning for a while, then asleep.
#pragma once

#include <weft/parallel.h>

#include <cstdint>

namespace weft {

/// Works on chunk `index` of a loop.
using ChunkFunction = FunctionRef<void(std::int64_t index)>;

/// Work that is worth waking a sleeping thread for: it takes some 22 us to run.
inline constexpr std::int64_t cold_work_ns = 45'000;

/// Runs the chunks [0, num_chunks) in the caller's thread and in up to num_chunks - 1 others, and
/// returns true; or returns false and has done nothing, because no other thread is at hand for work
/// that takes about `work_ns` in one thread, or because calls of as much lost by it
/// (gain_record.h).
///
/// A thread that has had work stays awake for some 50 us more, and is then at hand within 0.2 us. A
/// run of calls that find all asleep wakes them for the calls to come.
///
/// Chunks are claimed, not dealt: one that no thread has begun is the caller's.  So a thread that
/// the system does not let run holds up nobody.
///
/// Threads: may be called by many threads at once; they share the workers.
/// Errors:  the first exception of `run` is rethrown when all have stopped; chunks not yet begun
/// are skipped then.
bool run_on_workers(std::int64_t num_chunks, std::int64_t work_ns, ChunkFunction run);

/// Makes what a call needs besides threads, and registers what fork() has to do for it.  The first
/// call does so, too.
void prepare_workers();

/// Processors that this process may run on.
int num_processors();

}  // namespace weft
