// Keeps pthread_cancel() out of what can't be unwound by it.
#pragma once

#include <pthread.h>

namespace weft {

/// The thread is not cancelled until the scope ends: what unwinds it then may not be caught.
class Uncancelled {
 public:
  Uncancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~Uncancelled() { pthread_setcancelstate(before_, nullptr); }
  Uncancelled(const Uncancelled&) = delete;
  Uncancelled& operator=(const Uncancelled&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace weft
