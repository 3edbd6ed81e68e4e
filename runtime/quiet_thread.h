// Threads of our own in a process that is not.
#pragma once

#include <sched.h>

namespace weft {

/// Starts a detached thread that runs `run(argument)`, which may go on until the process ends.  Of
/// the thread that asks for it, it inherits little:
///
/// - Signals are for the program's own threads: all are blocked but those that a thread's own
///   instructions raise, or a profiler's clock.
/// - It computes in the standard floating point environment.
/// - It may run on the processors_of_process(), and never has realtime priority.
///
/// `name` has at most 15 bytes.
///
/// Returns 0, or the error's number if there is no such thread.
/// Requires: keep_own_code() was called.
int start_quiet_thread(const char* name, void* (*run)(void*), void* argument);

/// Where threads of ours may run: where the process's first thread or the calling one may.  False
/// if that can't be told.
bool processors_of_process(cpu_set_t& processors);

/// Whoever closes the library that this code is part of, it stays loaded from now on, for the
/// threads that run it.  To be called with no lock held: the dynamic loader has one, under which
/// libraries that are just opened may call anything.
void keep_own_code();

}  // namespace weft
