#include "runtime/quiet_thread.h"

#include <pthread.h>
#include <signal.h>

namespace weft {

int start_quiet_thread(const char* name, void* (*run)(void*), void* argument) {
  sigset_t blocked, before;
  sigfillset(&blocked);
  // A fault in a thread that blocks it ends the process, past the program's handler.
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF})
    sigdelset(&blocked, own);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  pthread_t thread;
  const int error = pthread_create(&thread, nullptr, run, argument);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) return error;
  // Before it is detached, as its handle may be no one's after.
  pthread_setname_np(thread, name);
  pthread_detach(thread);
  return 0;
}

}  // namespace weft
