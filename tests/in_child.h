// Work in a forked child.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

namespace weft {

/// The exit status of what `work` returns in a child; 1000 and more if a signal ended it.
template <class Work>
int in_child(Work&& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

}  // namespace weft
