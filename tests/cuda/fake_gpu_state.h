// What the stand-ins for libcuda and libnvrtc remember.
#pragma once

#include "tests/cuda/fake_gpu.h"

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

using CUdeviceptr = unsigned long long;
using CUstream = struct CUstreamHandle*;

namespace fake {

struct Device;
struct Stream;

/// A place in a stream's work.
struct Marker {
  Stream* stream = nullptr;
  bool is_done = false;
};

struct Operation {
  std::shared_ptr<Marker> waits_for;
  std::function<void()> run;
  std::shared_ptr<Marker> marker;  ///< done when this has run
};

struct Stream {
  Device* device = nullptr;
  std::deque<Operation> queue;
  bool is_capturing = false;
};

struct Event {
  std::shared_ptr<Marker> marker;
};

/// A module, and the one function in it.
struct Module {
  void* handle;
  int device;
};

struct Device {
  void* arena = nullptr;
  std::map<CUdeviceptr, std::size_t> blocks;  ///< live ones
  Stream legacy;
  std::vector<Stream*> streams;
  std::vector<Stream*> destroyed;  ///< they stay: events may lead to them
};

using Failure = int;

/// The contexts that a thread has made current.  Needs no destructor: what ends after the thread's
/// own objects may call the driver.
struct Contexts {
  std::array<std::uintptr_t, 64> items{};  ///< device + 1
  std::size_t count = 0;

  bool empty() const { return count == 0; }
  std::uintptr_t back() const { return items[count - 1]; }
  void push_back(std::uintptr_t context) { items.at(count++) = context; }
  void pop_back() { --count; }
};

struct State {
  State();

  struct Planned {
    int result, skipped, times;
  };
  std::recursive_mutex mutex;
  bool is_initialised = false;
  bool has_pools = true;
  std::size_t memory_bytes = std::size_t{1} << 29;
  std::vector<Device> devices;
  std::map<std::uintptr_t, std::size_t> pinned;
  std::map<std::string, int> counts;
  std::map<std::string, Planned> failures;
  std::string log, faults;
  int sticky = 0;  ///< what every call returns after a fault
  int num_modules = 0;
  static thread_local Contexts contexts;
};
State& state();

/// Counts a call.  Returns what it is to fail with; 0 if it is not to fail.
Failure enter(const char* symbol);
int current_device();

/// Addresses of each device.
inline constexpr std::size_t arena_bytes = std::size_t{1} << 30;

/// Device memory can be touched while this lives.
class Unlock {
 public:
  Unlock();
  ~Unlock();
  Unlock(const Unlock&) = delete;
  Unlock& operator=(const Unlock&) = delete;
};

/// Null for an address that is no device's.
Device* device_of(CUdeviceptr address);
/// Whether all of the bytes are in one live block.
bool is_live(CUdeviceptr address, std::size_t bytes);
/// The stream that a handle stands for in this thread.
Stream& stream_of(CUstream handle);
/// Runs what a stream has before the place.
void run_until(const Marker& marker);
void run_all(Stream& stream);
/// Queues work.  The legacy stream and the others wait for each other.
void enqueue(CUstream handle, std::function<void()> run, const char* what, std::size_t amount);

}  // namespace fake

// One call at a time, and only with a context that is current where the driver asks for one.
#define ENTER(symbol)                              \
  const std::lock_guard lock(fake::state().mutex); \
  if (const fake::Failure failure = fake::enter(#symbol); failure != 0) return failure
#define ENTER_CONTEXT(symbol) \
  ENTER(symbol);              \
  if (fake::State::contexts.empty()) return 201
