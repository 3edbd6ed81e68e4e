// Stands in for libcuda: two devices whose memory lies in this process, where only what the devices
// do can touch it.  As lazy as the driver may be: what is queued in a stream runs when somebody has
// to wait for it and not before, so that a missing wait is seen.  Kernels are libraries that the
// stand-in for NVRTC (fake_nvrtc.cpp) compiled; every access of theirs is checked.
#include "tests/cuda/fake_gpu_state.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace fake {

State& state() {
  static State& only = *new State;
  return only;
}

Failure enter(const char* symbol) {
  State& all = state();
  ++all.counts[symbol];
  const auto failure = all.failures.find(symbol);
  if (failure != all.failures.end()) {
    if (failure->second.skipped-- <= 0 && failure->second.times-- > 0)
      return failure->second.result;
  }
  return all.sticky;
}

namespace {

constexpr int num_devices = 2;

void protect(int how) {
  for (Device& device : state().devices) mprotect(device.arena, arena_bytes, how);
}
int unlock_depth = 0;

}  // namespace

Unlock::Unlock() {
  if (unlock_depth++ == 0) protect(PROT_READ | PROT_WRITE);
}
Unlock::~Unlock() {
  if (--unlock_depth == 0) protect(PROT_NONE);
}

Device* device_of(CUdeviceptr address) {
  for (Device& device : state().devices) {
    const auto begin = reinterpret_cast<CUdeviceptr>(device.arena);
    if (address >= begin && address < begin + arena_bytes) return &device;
  }
  return nullptr;
}

bool is_live(CUdeviceptr address, std::size_t bytes) {
  const Device* device = device_of(address);
  if (device == nullptr) return false;
  auto block = device->blocks.upper_bound(address);
  if (block == device->blocks.begin()) return false;
  --block;
  return address + bytes <= block->first + block->second;
}

namespace {

void fault(const std::string& text) {
  state().faults += text + "\n";
  state().sticky = 700;
}

/// As tests/jit/nvrtc/cuda_shim.h has it.
struct Access {
  unsigned thread;
  const void* address;
  unsigned bytes;
};

void check_access(const Access& access) {
  const auto address = reinterpret_cast<CUdeviceptr>(access.address);
  if (is_live(address, access.bytes)) return;
  Dl_info info;
  if (dladdr(access.address, &info) != 0) return;  // shared memory: a variable of the library
  if (state().sticky == 0) fault("a kernel accesses memory that is not the device's");
}

void run_one(Stream& stream) {
  Operation operation = std::move(stream.queue.front());
  stream.queue.pop_front();
  if (operation.waits_for != nullptr) run_until(*operation.waits_for);
  if (operation.run) {
    const Unlock unlock;
    operation.run();
  }
  if (operation.marker != nullptr) operation.marker->is_done = true;
}

}  // namespace

void run_until(const Marker& marker) {
  while (!marker.is_done && marker.stream != nullptr && !marker.stream->queue.empty())
    run_one(*marker.stream);
}

void run_all(Stream& stream) {
  while (!stream.queue.empty()) run_one(stream);
}

namespace {

std::shared_ptr<Marker> mark(Stream& stream) {
  auto marker = std::make_shared<Marker>();
  marker->stream = &stream;
  marker->is_done = stream.queue.empty();
  if (!marker->is_done) stream.queue.push_back({{}, {}, marker});
  return marker;
}

}  // namespace

Stream& stream_of(CUstream handle) {
  State& all = state();
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  if (number > 2) return *reinterpret_cast<Stream*>(handle);
  Device& device = all.devices[static_cast<std::size_t>(current_device())];
  if (number < 2) return device.legacy;
  thread_local std::map<Device*, Stream*> own;  // the streams outlive the thread
  Stream*& stream = own[&device];
  if (stream == nullptr) {
    stream = new Stream;
    stream->device = &device;
    device.streams.push_back(stream);
  }
  return *stream;
}

void enqueue(CUstream handle, std::function<void()> run, const char* what, std::size_t amount) {
  Stream& stream = stream_of(handle);
  if (what != nullptr) state().log += std::string(what) + " " + std::to_string(amount) + "\n";
  Device& device = *stream.device;
  if (&stream == &device.legacy) {
    for (Stream* other : device.streams)
      if (!other->queue.empty()) stream.queue.push_back({mark(*other), {}, {}});
  } else if (!device.legacy.queue.empty()) {
    stream.queue.push_back({mark(device.legacy), {}, {}});
  }
  stream.queue.push_back({{}, std::move(run), {}});
}

namespace {

/// The bytes of an ELF file whose section headers come last.
std::size_t elf_bytes(const void* image) {
  const auto& header = *static_cast<const Elf64_Ehdr*>(image);
  return header.e_shoff + std::size_t{header.e_shnum} * header.e_shentsize;
}

}  // namespace

int current_device() {
  return state().contexts.empty() ? 0 : static_cast<int>(state().contexts.back() - 1);
}

thread_local Contexts State::contexts;

State::State() {
  for (int i = 0; i < num_devices; ++i) {
    Device& device = devices.emplace_back();
    device.arena =
        mmap(nullptr, arena_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (device.arena == MAP_FAILED) std::abort();
    device.legacy.device = &device;
  }
}

}  // namespace fake

using namespace fake;

extern "C" {

int cuInit(unsigned) {
  ENTER(cuInit);
  state().is_initialised = true;
  return 0;
}
int cuDriverGetVersion(int* version) {
  ENTER(cuDriverGetVersion);
  *version = 12080;
  return 0;
}
int cuGetErrorName(int result, const char** text) {
  *text = result == 2     ? "CUDA_ERROR_OUT_OF_MEMORY"
          : result == 100 ? "CUDA_ERROR_NO_DEVICE"
          : result == 200 ? "CUDA_ERROR_INVALID_IMAGE"
          : result == 209 ? "CUDA_ERROR_NO_BINARY_FOR_GPU"
          : result == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : result == 719 ? "CUDA_ERROR_LAUNCH_FAILED"
                          : "CUDA_ERROR_UNKNOWN";
  return 0;
}
int cuGetErrorString(int result, const char** text) {
  *text = result == 2 ? "out of memory" : result == 700 ? "an illegal memory access" : "it failed";
  return 0;
}

int cuDeviceGetCount(int* count) {
  ENTER(cuDeviceGetCount);
  if (!state().is_initialised) return 3;
  *count = num_devices;
  return 0;
}
int cuDeviceGet(int* device, int ordinal) {
  ENTER(cuDeviceGet);
  if (ordinal < 0 || ordinal >= num_devices) return 101;
  *device = ordinal;
  return 0;
}
int cuDeviceGetName(char* name, int room, int) {
  ENTER(cuDeviceGetName);
  std::strncpy(name, "Fake GPU", static_cast<std::size_t>(room));
  return 0;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  ENTER(cuDeviceTotalMem_v2);
  *bytes = state().memory_bytes;
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  ENTER(cuDeviceGetAttribute);
  switch (attribute) {
    case 16: *value = 4; return 0;
    case 38: *value = 1 << 20; return 0;
    case 75: *value = 9; return 0;
    case 76: *value = 0; return 0;
    case 115: *value = state().has_pools; return 0;
    default: return 1;
  }
}
int cuDevicePrimaryCtxRetain(std::uintptr_t* context, int device) {
  ENTER(cuDevicePrimaryCtxRetain);
  *context = static_cast<std::uintptr_t>(device) + 1;
  return 0;
}
int cuCtxGetCurrent(std::uintptr_t* context) {
  ENTER(cuCtxGetCurrent);
  *context = State::contexts.empty() ? 0 : State::contexts.back();
  return 0;
}
int cuCtxPushCurrent_v2(std::uintptr_t context) {
  ENTER(cuCtxPushCurrent_v2);
  State::contexts.push_back(context);
  return 0;
}
int cuCtxPopCurrent_v2(std::uintptr_t* context) {
  ENTER(cuCtxPopCurrent_v2);
  if (State::contexts.empty()) return 201;
  *context = State::contexts.back();
  State::contexts.pop_back();
  return 0;
}
int cuCtxSynchronize() {
  ENTER_CONTEXT(cuCtxSynchronize);
  Device& device = state().devices[static_cast<std::size_t>(current_device())];
  run_all(device.legacy);
  for (Stream* stream : device.streams) run_all(*stream);
  return state().sticky;
}

int cuModuleLoadDataEx(Module** module, const void* image, unsigned, int*, void**) {
  ENTER_CONTEXT(cuModuleLoadDataEx);
  const auto& header = *static_cast<const Elf64_Ehdr*>(image);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return 200;
  if (header.e_machine != EM_X86_64) return 209;
  std::string name = std::filesystem::temp_directory_path() / "weft_fake_gpu_XXXXXX";
  const int file = mkstemp(name.data());
  if (file < 0) return 304;
  const auto* bytes = static_cast<const char*>(image);
  for (std::size_t left = elf_bytes(image); left > 0;) {
    const ssize_t written = write(file, bytes, left);
    if (written <= 0) break;
    bytes += written;
    left -= static_cast<std::size_t>(written);
  }
  close(file);
  void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  unlink(name.c_str());
  if (handle == nullptr) return 200;
  *module = new Module{handle, current_device()};
  ++state().num_modules;
  return 0;
}
int cuModuleUnload(Module* module) {
  ENTER_CONTEXT(cuModuleUnload);
  dlclose(module->handle);
  delete module;
  --state().num_modules;
  return 0;
}
int cuModuleGetFunction(Module** function, Module* module, const char* name) {
  ENTER_CONTEXT(cuModuleGetFunction);
  if (std::strcmp(name, "weft_kernel") != 0) return 500;
  *function = module;
  return 0;
}
int cuLaunchKernel(Module* function, unsigned x, unsigned y, unsigned z, unsigned threads,
                   unsigned threads_y, unsigned threads_z, unsigned, CUstream handle, void** params,
                   void** extra) {
  ENTER_CONTEXT(cuLaunchKernel);
  if (x == 0 || y != 1 || z != 1 || threads != 256 || threads_y != 1 || threads_z != 1) return 1;
  if (params == nullptr || extra != nullptr) return 1;
  if (function->device != current_device() ||
      stream_of(handle).device != &state().devices[static_cast<std::size_t>(function->device)])
    return 400;
  const auto args_bytes = *static_cast<const unsigned*>(dlsym(function->handle, "fake_args_bytes"));
  using Launch = const char* (*)(const void*, unsigned, void (*)(const Access&));
  const auto launch = reinterpret_cast<Launch>(dlsym(function->handle, "fake_launch"));
  const auto* const given = static_cast<const std::uint64_t*>(params[0]);
  std::vector<std::uint64_t> args(given, given + args_bytes / 8);
  enqueue(
      handle,
      [args, launch, x] {
        if (const char* const wrong = launch(args.data(), x, check_access)) fault(wrong);
      },
      "launch", x);
  return 0;
}

int cuStreamCreate(CUstream* handle, unsigned) {
  ENTER_CONTEXT(cuStreamCreate);
  auto* stream = new Stream;
  stream->device = &state().devices[static_cast<std::size_t>(current_device())];
  stream->device->streams.push_back(stream);
  *handle = reinterpret_cast<CUstream>(stream);
  return 0;
}
int cuStreamDestroy_v2(CUstream handle) {
  ENTER_CONTEXT(cuStreamDestroy_v2);
  Stream& stream = stream_of(handle);
  run_all(stream);
  std::erase(stream.device->streams, &stream);
  stream.device->destroyed.push_back(&stream);
  return 0;
}
int cuStreamSynchronize(CUstream handle) {
  ENTER_CONTEXT(cuStreamSynchronize);
  run_all(stream_of(handle));
  return state().sticky;
}
int cuStreamIsCapturing(CUstream handle, int* status) {
  ENTER_CONTEXT(cuStreamIsCapturing);
  *status = stream_of(handle).is_capturing ? 1 : 0;
  return 0;
}
int cuStreamWaitEvent(CUstream handle, Event* event, unsigned) {
  ENTER_CONTEXT(cuStreamWaitEvent);
  if (event->marker != nullptr) stream_of(handle).queue.push_back({event->marker, {}, {}});
  return 0;
}
int cuEventCreate(Event** event, unsigned) {
  ENTER_CONTEXT(cuEventCreate);
  *event = new Event;
  return 0;
}
int cuEventDestroy_v2(Event* event) {
  ENTER_CONTEXT(cuEventDestroy_v2);
  delete event;
  return 0;
}
int cuEventRecord(Event* event, CUstream handle) {
  ENTER_CONTEXT(cuEventRecord);
  event->marker = mark(stream_of(handle));
  return 0;
}
int cuEventQuery(Event* event) {
  ENTER_CONTEXT(cuEventQuery);
  return event->marker == nullptr || event->marker->is_done ? 0 : 600;
}
int cuEventSynchronize(Event* event) {
  ENTER_CONTEXT(cuEventSynchronize);
  if (event->marker != nullptr) run_until(*event->marker);
  return state().sticky;
}
int cuEventElapsedTime(float* ms, Event* begin, Event* end) {
  ENTER_CONTEXT(cuEventElapsedTime);
  if (begin->marker == nullptr || end->marker == nullptr) return 400;
  *ms = 1;
  return 0;
}

void fake_gpu_reset() {
  const std::lock_guard lock(state().mutex);
  state().failures.clear();
  state().counts.clear();
  state().log.clear();
  state().faults.clear();
  state().sticky = 0;
  state().memory_bytes = std::size_t{1} << 29;
  state().has_pools = true;
}
void fake_gpu_fail(const char* symbol, int result, int skipped, int times) {
  const std::lock_guard lock(state().mutex);
  state().failures[symbol] = {result, skipped, times};
}
int fake_gpu_count(const char* symbol) {
  const std::lock_guard lock(state().mutex);
  return state().counts[symbol];
}
const char* fake_gpu_log() { return state().log.c_str(); }
const char* fake_gpu_fault() { return state().faults.c_str(); }
void fake_gpu_set_memory(std::size_t bytes) { state().memory_bytes = bytes; }
void fake_gpu_set_pools(int has_pools) { state().has_pools = has_pools != 0; }
void fake_gpu_capture(void* stream, int is_capturing) {
  const std::lock_guard lock(state().mutex);
  stream_of(static_cast<CUstream>(stream)).is_capturing = is_capturing != 0;
}
int fake_gpu_live_blocks() {
  std::size_t count = 0;
  for (const Device& device : state().devices) count += device.blocks.size();
  return static_cast<int>(count);
}
int fake_gpu_pending() {
  std::size_t count = 0;
  for (const Device& device : state().devices) {
    for (const Stream* stream : device.streams) count += stream->queue.size();
    count += device.legacy.queue.size();
  }
  return static_cast<int>(count);
}

}  // extern "C"
