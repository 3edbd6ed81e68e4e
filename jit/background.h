// One thread of low priority for work that nobody waits for: compilations by the LLVM tier.
#pragma once

#include <functional>

namespace weft::jit {

/// Runs `job` later, one job at a time and in the order in which they came.  The thread is started
/// by the first job.  After stop_background() a job is destroyed instead.
///
/// fork() waits for the job that runs and for no other, so that no lock of a job is held in the
/// child; the child has the jobs that were not begun, and a thread of its own from the next job or
/// resume_background() on.
/// exit() waits likewise and destroys the others.
///
/// Requires: `job` throws nothing.
/// Threads:  any number may call it.
/// Errors:   std::bad_alloc; DeviceError if no thread can be started.
void run_in_background(std::function<void()> job);

/// Starts the thread if jobs wait and there is none: after fork(), in the child.  Otherwise one
/// load.
/// Errors: DeviceError if no thread can be started.
void resume_background();

/// Waits for the job that runs, lets no other begin, and destroys those that wait.  For the end of
/// the process: before the libraries that a job may be in are taken apart.
void stop_background();

/// Makes what first calls make once in a process: memory, threads, code memory, thresholds, and
/// keeps the code itself.  A child of fork() that found one of these while another thread of its
/// parent was making it would wait for that thread for ever, so what calls anything calls this
/// first.
///
/// Errors: std::bad_alloc.
void prepare_for_fork();

}  // namespace weft::jit
