// Status codes of weft.h, and the message of the last call that failed in each thread.
#include "engine/c/handles.h"
#include "runtime/thread_owned.h"

#include <weft/cancel.h>

#include <new>
#include <string>
#include <string_view>

namespace weft::c {
namespace {

struct LastMessage {
  std::string text;
};

/// Where there is no memory for a message, or the thread has ended, the status has to do.
weft_status keep(weft_status status, const char* message) noexcept {
  LastMessage* const last = thread_owned<LastMessage>();
  if (last == nullptr) return status;
  try {
    last->text = printable(message);
  } catch (...) {
    last->text.clear();
  }
  return status;
}

weft_status status_of(const Error& error) noexcept {
  if (dynamic_cast<const ArgumentError*>(&error) != nullptr) return WEFT_ERROR_ARGUMENT;
  if (dynamic_cast<const UnsupportedError*>(&error) != nullptr) return WEFT_ERROR_UNSUPPORTED;
  if (dynamic_cast<const CompileError*>(&error) != nullptr) return WEFT_ERROR_COMPILE;
  if (dynamic_cast<const DeviceError*>(&error) != nullptr) return WEFT_ERROR_DEVICE;
  if (dynamic_cast<const ArithmeticError*>(&error) != nullptr) return WEFT_ERROR_ARITHMETIC;
  if (dynamic_cast<const CancelledError*>(&error) != nullptr) return WEFT_ERROR_CANCELLED;
  return WEFT_ERROR_INTERNAL;
}

}  // namespace

weft_status status_of_exception() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return keep(status_of(error), error.what());
  } catch (const std::bad_alloc&) {
    return keep(WEFT_ERROR_MEMORY, "out of memory");
  } catch (const std::exception& error) {
    return keep(WEFT_ERROR_INTERNAL, error.what());
  } catch (...) {
    return keep(WEFT_ERROR_INTERNAL, "an exception of unknown type");
  }
}

}  // namespace weft::c

const char* weft_version(void) { return WEFT_VERSION; }

const char* weft_last_error_message(void) {
  const auto* last = weft::thread_owned<weft::c::LastMessage>();
  return last != nullptr ? last->text.c_str() : "";
}
