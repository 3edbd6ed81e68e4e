// Work in a forked child.
#pragma once

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

namespace weft {

/// No child takes so long, however slow or busy the machine is: one that does waits for ever, and
/// is ended by SIGALRM.
constexpr unsigned most_child_s = 600;

#if defined(__SANITIZE_ADDRESS__)
/// What threads of the parent had for themselves is out of reach in a child, and no leak.
inline bool is_forked_child = false;
/// The sanitizer asks it before it looks for leaks.
extern "C" [[gnu::used]] inline int __lsan_is_turned_off() { return is_forked_child ? 1 : 0; }
#endif

/// Ends the child with what `work` returns, or by a signal if that throws or never returns.  The
/// child's own handlers of exit() are not run.
template <class Work>
[[noreturn]] void work_and_exit(Work&& work) noexcept {
#if defined(__SANITIZE_ADDRESS__)
  is_forked_child = true;
#endif
  alarm(most_child_s);
  const int status = work();
  std::fflush(stdout);  // what failed expectations have said
  _exit(status);
}

/// fork(), after all that was printed has left this process.
inline pid_t fork_flushed() {
  std::fflush(stdout);
  return fork();
}

/// The exit status of a child; 1000 and more if a signal ended it.
inline int exit_status(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) {
    ADD_FAILURE() << "there is no child to wait for";
    return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

/// The exit status of what `work` returns in a child; 1000 and more if a signal ended it.
template <class Work>
int in_child(Work&& work) {
  const pid_t child = fork_flushed();
  if (child == 0) work_and_exit(work);
  if (child < 0) {
    ADD_FAILURE() << "no process can be started";
    return -1;
  }
  return exit_status(child);
}

}  // namespace weft
