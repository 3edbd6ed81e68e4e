#include "runtime/quiet_thread.h"

#include "runtime/float_environment.h"
#include "runtime/own_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace weft {
namespace {

/// The attributes that don't come from the thread that asks.
class Attributes {
 public:
  Attributes() : are_made_(pthread_attr_init(&attributes_) == 0) {
    if (!are_made_) return;
    const int policy = sched_getscheduler(0);
    if (policy != SCHED_OTHER && policy != SCHED_BATCH && policy != SCHED_IDLE) {
      pthread_attr_setinheritsched(&attributes_, PTHREAD_EXPLICIT_SCHED);
      pthread_attr_setschedpolicy(&attributes_, SCHED_OTHER);
      const sched_param no_priority{};
      pthread_attr_setschedparam(&attributes_, &no_priority);
    }
    cpu_set_t allowed;
    if (processors_of_process(allowed))
      pthread_attr_setaffinity_np(&attributes_, sizeof allowed, &allowed);
  }
  ~Attributes() {
    if (are_made_) pthread_attr_destroy(&attributes_);
  }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;

  /// Null where there is no memory for them.
  const pthread_attr_t* get() const { return are_made_ ? &attributes_ : nullptr; }

 private:
  pthread_attr_t attributes_;
  bool are_made_;
};

}  // namespace

int start_quiet_thread(const char* name, void* (*run)(void*), void* argument) {
  sigset_t blocked, before;
  sigfillset(&blocked);
  // A fault in a thread that blocks it ends the process, past the program's handler.
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF})
    sigdelset(&blocked, own);
  const Attributes attributes;
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  pthread_t thread;
  int error = 0;
  {
    const FloatEnvironmentScope standard(FloatEnvironment::standard());
    // Without them where a place to run or a policy may not be chosen.
    for (const pthread_attr_t* own :
         {attributes.get(), static_cast<const pthread_attr_t*>(nullptr)}) {
      error = pthread_create(&thread, own, run, argument);
      if (error != EPERM && error != EINVAL) break;
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) return error;
  // Before it is detached, as its handle may be no one's after.
  pthread_setname_np(thread, name);
  pthread_detach(thread);
  return 0;
}

bool processors_of_process(cpu_set_t& processors) {
  CPU_ZERO(&processors);
  for (const pid_t thread : {getpid(), 0}) {
    cpu_set_t own;
    if (sched_getaffinity(thread, sizeof own, &own) != 0) return false;
    CPU_OR(&processors, &processors, &own);
  }
  return true;
}

void keep_own_code() {
  static constinit std::atomic<bool> is_kept{false};
  if (is_kept.load(std::memory_order_relaxed)) return;
  const char* const library = own_library();  // "" in a program, which nobody closes
  // The handle is never given back.
  if (library[0] != '\0') dlopen(library, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  is_kept.store(true, std::memory_order_relaxed);
}

}  // namespace weft
