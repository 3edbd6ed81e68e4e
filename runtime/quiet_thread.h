// Threads of our own in a process that is not.
#pragma once

namespace weft {

/// Starts a detached thread that runs `run(argument)`.  Signals are for the program's own threads:
/// all are blocked in it but those that a thread's own instructions raise, or a profiler's clock.
/// `name` has at most 15 bytes.
///
/// Returns 0, or the error's number if there is no such thread.
int start_quiet_thread(const char* name, void* (*run)(void*), void* argument);

}  // namespace weft
