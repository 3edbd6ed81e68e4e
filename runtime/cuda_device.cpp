// Devices, and the streams that threads queue their work in.
//
// A thread gets a stream of its own rather than CU_STREAM_PER_THREAD, whose handle means another
// stream in every thread: memory that one thread frees for another has to name the stream that used
// it.  Streams of threads that end go to new threads, whose work so follows theirs.
#include "runtime/cuda_device.h"

#include "runtime/cuda_memory.h"
#include "runtime/log.h"

#include <array>
#include <atomic>
#include <utility>

namespace weft {

namespace constant = cuda_driver_constant;

namespace {

struct ThreadStream {
  CudaStream own = nullptr;
  CudaStream given = nullptr;
  bool is_given = false;
};

std::uint64_t next_thread_number() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

struct ThreadStreams {
  std::array<ThreadStream, cuda::max_devices> of_device;
  std::uint64_t number = next_thread_number();  ///< addresses would come back with later threads
  ~ThreadStreams();
};
// Read on each launch.  What ends with the thread gives its own streams back.
thread_local ThreadStreams thread_streams;

ThreadStreams::~ThreadStreams() {
  for (int device = 0; device < cuda::max_devices; ++device)
    if (const CudaStream own = of_device[static_cast<std::size_t>(device)].own; own != nullptr)
      CudaDevice::get(device).give_back(own);
}

ThreadStream& thread_stream(int device) {
  return thread_streams.of_device.at(static_cast<std::size_t>(device));
}

/// CU_STREAM_PER_THREAD.
const CudaStream stream_per_thread = reinterpret_cast<CudaStream>(2);

int attribute(int which, int device, const char* name) {
  int value = 0;
  WEFT_CUDA_CALL(DeviceGetAttribute, (&value, which, device), "cuda:", device, ": ", name);
  return value;
}

/// Nothing but a reason if the driver can't be used.
std::string initialise(int& num_devices) {
  const CudaDriver& driver = cuda_driver();
  if (!driver.library.reason.empty()) return "the CUDA driver is " + driver.library.reason;
  CudaResult result = driver.Init(0);
  if (result == 0) result = driver.DeviceGetCount(&num_devices);
  if (result != 0) {
    num_devices = 0;
    return detail::concat("the CUDA driver (", driver.library.path,
                          ") does not start: ", driver.text(result), driver.advice(result));
  }
  if (num_devices > cuda::max_devices) num_devices = cuda::max_devices;
  return num_devices > 0 ? std::string() : "the CUDA driver lists no device";
}

}  // namespace

/// All devices of the process.
struct CudaDevices {
  std::mutex mutex;
  std::array<std::atomic<CudaDevice*>, cuda::max_devices> made{};

  CudaDevice& make(int index) {
    const std::lock_guard lock(mutex);
    std::atomic<CudaDevice*>& place = made[static_cast<std::size_t>(index)];
    if (CudaDevice* device = place.load(std::memory_order_relaxed)) return *device;
    CudaDevice* device = new CudaDevice(index);
    place.store(device, std::memory_order_release);
    return *device;
  }
};

CudaDevice& CudaDevice::get(int index) {
  // Never destroyed, see the class.
  static CudaDevices& devices = *new CudaDevices;
  if (index >= 0 && index < cuda::max_devices)
    if (CudaDevice* device =
            devices.made[static_cast<std::size_t>(index)].load(std::memory_order_acquire))
      return *device;
  int num_devices = 0;
  const std::string reason = initialise(num_devices);
  WEFT_CHECK(reason.empty(), UnsupportedError, "device cuda:", index, " can't be used: ", reason);
  WEFT_CHECK(index >= 0 && index < num_devices, ArgumentError, "there is no device cuda:", index,
             "; expected an index below ", num_devices);
  return devices.make(index);
}

CudaDevice::CudaDevice(int index) : index_(index), memory_(std::make_unique<CudaMemory>(*this)) {
  int device = 0;
  WEFT_CUDA_CALL(DeviceGet, (&device, index), "cuda:", index);
  char name[256] = {};
  WEFT_CUDA_CALL(DeviceGetName, (name, sizeof name, device), "cuda:", index);
  info_.name = name;
  WEFT_CUDA_CALL(DeviceTotalMem, (&info_.total_bytes, device), "cuda:", index);
  const int major = attribute(constant::attribute_compute_capability_major, device, "capability");
  const int minor = attribute(constant::attribute_compute_capability_minor, device, "capability");
  info_.arch = detail::concat("sm_", major, minor);
  info_.num_multiprocessors =
      attribute(constant::attribute_multiprocessor_count, device, "multiprocessors");
  info_.l2_bytes =
      static_cast<std::size_t>(attribute(constant::attribute_l2_cache_size, device, "L2"));
  info_.has_memory_pools =
      attribute(constant::attribute_memory_pools_supported, device, "memory pools") != 0;
  // Last, since nothing gives it back: the context stays for the process.
  WEFT_CUDA_CALL(DevicePrimaryCtxRetain, (&context_, device), "cuda:", index,
                 ": making the primary context");
}

CudaDevice::~CudaDevice() = default;

CudaStream CudaDevice::stream() {
  ThreadStream& streams = thread_stream(index_);
  if (streams.is_given) return streams.given;
  if (streams.own != nullptr) return streams.own;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_streams_.empty()) {
      streams.own = idle_streams_.back();
      idle_streams_.pop_back();
      return streams.own;
    }
    idle_streams_.reserve(num_streams_ + 1);  // so that give_back() needs no memory
    ++num_streams_;
  }
  try {
    WEFT_CUDA_CALL(StreamCreate, (&streams.own, constant::stream_default), "cuda:", index_,
                   ": making a stream");
  } catch (...) {
    const std::lock_guard lock(mutex_);
    --num_streams_;
    throw;
  }
  return streams.own;
}

CudaStreamKey CudaDevice::stream_key() {
  const CudaStream current = stream();
  return {current, current == stream_per_thread ? thread_streams.number : 0};
}

bool CudaDevice::is_capturing() {
  int status = constant::capture_status_none;
  WEFT_CUDA_CALL(StreamIsCapturing, (stream(), &status), "cuda:", index_);
  return status != constant::capture_status_none;
}

void CudaDevice::check_not_capturing(const char* what) {
  WEFT_CHECK(!is_capturing(), UnsupportedError, "cuda:", index_,
             ": a graph is being captured from ", "the current stream, and ", what,
             " can't be part of it");
}

void CudaDevice::give_back(CudaStream stream) noexcept {
  const std::lock_guard lock(mutex_);
  idle_streams_.push_back(stream);
}

CudaCurrent::CudaCurrent(const CudaDevice& device) {
  CudaContext current = nullptr;
  WEFT_CUDA_CALL(CtxGetCurrent, (&current), "cuda:", device.index());
  if (current == device.context()) return;
  WEFT_CUDA_CALL(CtxPushCurrent, (device.context()), "cuda:", device.index());
  is_pushed_ = true;
}

CudaCurrent::~CudaCurrent() {
  CudaContext popped = nullptr;
  if (is_pushed_) cuda_driver().CtxPopCurrent(&popped);
}

namespace cuda {

namespace {

/// For destructors: what ends with the driver needs no end of its own.
template <class Work>
void without_throwing(int device, const Work& work) {
  try {
    const CudaCurrent current(CudaDevice::get(device));
    work();
  } catch (const Error& error) {
    log(LogTopic::memory, error.what());
  }
}

}  // namespace

int num_devices() {
  int count = 0;
  initialise(count);
  return count;
}

std::string unavailable_reason() {
  int count = 0;
  return initialise(count);
}

DeviceInfo device_info(int device) { return CudaDevice::get(device).info(); }

StreamHandle current_stream(int device) {
  CudaDevice& used = CudaDevice::get(device);
  const CudaCurrent current(used);
  return used.stream();
}

StreamGuard::StreamGuard(StreamHandle stream, int device) : device_(device) {
  CudaDevice::get(device);
  ThreadStream& streams = thread_stream(device);
  was_given_ = std::exchange(streams.is_given, true);
  before_ = std::exchange(streams.given, static_cast<CudaStream>(stream));
}

StreamGuard::~StreamGuard() {
  ThreadStream& streams = thread_stream(device_);
  streams.is_given = was_given_;
  streams.given = static_cast<CudaStream>(before_);
}

void synchronize(int device) {
  CudaDevice& used = CudaDevice::get(device);
  const CudaCurrent current(used);
  used.check_not_capturing("waiting for it");
  WEFT_CUDA_CALL(StreamSynchronize, (used.stream()), "cuda:", device);
}

bool is_capturing(int device) {
  CudaDevice& used = CudaDevice::get(device);
  const CudaCurrent current(used);
  return used.is_capturing();
}

Stream::Stream(int device) : device_(device) {
  const CudaCurrent current(CudaDevice::get(device));
  CudaStream made = nullptr;
  WEFT_CUDA_CALL(StreamCreate, (&made, constant::stream_default), "cuda:", device,
                 ": making a stream");
  handle_ = made;
}

Stream::~Stream() {
  without_throwing(device_, [&] {
    // Memory that the stream's work uses may be given to another stream of this address.
    cuda_driver().StreamSynchronize(static_cast<CudaStream>(handle_));
    cuda_driver().StreamDestroy(static_cast<CudaStream>(handle_));
  });
}

void Stream::synchronize() const {
  const CudaCurrent current(CudaDevice::get(device_));
  WEFT_CUDA_CALL(StreamSynchronize, (static_cast<CudaStream>(handle_)), "cuda:", device_);
}

Event::Event(int device, bool has_time) : device_(device) {
  const CudaCurrent current(CudaDevice::get(device));
  CudaEvent made = nullptr;
  WEFT_CUDA_CALL(EventCreate,
                 (&made, has_time ? constant::event_default : constant::event_disable_timing),
                 "cuda:", device, ": making an event");
  handle_ = made;
}

Event::~Event() {
  without_throwing(device_, [&] { cuda_driver().EventDestroy(static_cast<CudaEvent>(handle_)); });
}

void Event::record() {
  CudaDevice& device = CudaDevice::get(device_);
  const CudaCurrent current(device);
  WEFT_CUDA_CALL(EventRecord, (static_cast<CudaEvent>(handle_), device.stream()), "cuda:", device_);
}

void Event::wait() const {
  CudaDevice& device = CudaDevice::get(device_);
  const CudaCurrent current(device);
  WEFT_CUDA_CALL(StreamWaitEvent, (device.stream(), static_cast<CudaEvent>(handle_), 0),
                 "cuda:", device_);
}

bool Event::is_done() const {
  const CudaCurrent current(CudaDevice::get(device_));
  const CudaResult result = cuda_driver().EventQuery(static_cast<CudaEvent>(handle_));
  if (result == constant::error_not_ready) return false;
  if (result != 0) detail::throw_cuda_error(result, "cuEventQuery", {});
  return true;
}

void Event::synchronize() const {
  const CudaCurrent current(CudaDevice::get(device_));
  WEFT_CUDA_CALL(EventSynchronize, (static_cast<CudaEvent>(handle_)), "cuda:", device_);
}

float Event::elapsed_ms(const Event& later) const {
  const CudaCurrent current(CudaDevice::get(device_));
  float ms = 0;
  WEFT_CUDA_CALL(EventElapsedTime,
                 (&ms, static_cast<CudaEvent>(handle_), static_cast<CudaEvent>(later.handle_)),
                 "cuda:", device_);
  return ms;
}

}  // namespace cuda
}  // namespace weft
