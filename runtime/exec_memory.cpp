// An arena of dual-mapped chunks with bump allocation.
#include "runtime/exec_memory.h"

#include "runtime/file.h"
#include "runtime/fork_handlers.h"
#include "runtime/log.h"

#include <weft/error.h>

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>

namespace weft {

namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
constexpr std::size_t code_alignment = 64;  // a cache line; also what loop heads want

constexpr std::size_t round_up(std::size_t value, std::size_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

std::atomic<std::size_t> mapped_bytes{0};

/// The system forbids what code memory needs, and will do so as long as the process lives.
class Forbidden : public DeviceError {
  using DeviceError::DeviceError;
};

[[noreturn]] void throw_refused(const char* call, std::size_t size_bytes) {
  const int error = errno;
  const std::string message =
      detail::concat("Executable memory is not available: ", call, " of ", size_bytes,
                     " bytes failed: ", std::strerror(error), ".");
  if (error == EPERM || error == EACCES || error == ENOSYS) throw Forbidden(message);
  throw DeviceError(message);
}

/// "" or why the user wants no code.
std::string refusal_by_environment() {
  const char* const value = ::secure_getenv("WEFT_JIT");
  if (value == nullptr || std::strcmp(value, "on") == 0) return {};
  if (std::strcmp(value, "off") == 0) return "WEFT_JIT=off in the environment";
  std::fprintf(stderr, "weft: WEFT_JIT='%s' is ignored: expected on or off\n", value);
  return {};
}

/// One anonymous file, mapped twice.
class Chunk {
 public:
  explicit Chunk(std::size_t size_bytes) : size_bytes_(size_bytes) {
    const FileDescriptor file(memfd_create("weft-code", MFD_CLOEXEC));
    if (file.get() < 0) throw_refused("memfd_create", size_bytes);
    if (ftruncate(file.get(), static_cast<off_t>(size_bytes)) != 0)
      throw_refused("ftruncate", size_bytes);
    write_ = map(file.get(), PROT_READ | PROT_WRITE);
    if (write_ == nullptr) throw_refused("mmap of writable memory", size_bytes);
    run_ = map(file.get(), PROT_READ | PROT_EXEC);
    if (run_ == nullptr) {
      const int error = errno;
      munmap(write_, size_bytes_);
      errno = error;
      throw_refused("mmap of executable memory", size_bytes);
    }
    mapped_bytes.fetch_add(size_bytes_, std::memory_order_relaxed);
  }
  ~Chunk() {
    munmap(write_, size_bytes_);
    munmap(run_, size_bytes_);
    mapped_bytes.fetch_sub(size_bytes_, std::memory_order_relaxed);
  }
  Chunk(const Chunk&) = delete;
  Chunk& operator=(const Chunk&) = delete;

  std::byte* write() const { return write_; }
  const std::byte* run() const { return run_; }
  std::size_t size_bytes() const { return size_bytes_; }

 private:
  /// Null, with errno set, if the system refuses.
  std::byte* map(int file, int protection) const {
    void* address = mmap(nullptr, size_bytes_, protection, MAP_SHARED, file, 0);
    return address == MAP_FAILED ? nullptr : static_cast<std::byte*>(address);
  }

  std::size_t size_bytes_;
  std::byte* write_ = nullptr;
  std::byte* run_ = nullptr;
};

/// Hands out the current chunk from front to back.  A chunk is unmapped when the arena has gone on
/// to another and the last block in it dies: its blocks own it together, so nothing is counted
/// here.
class CodeArena {
 public:
  CodeArena() { refuse(refusal_by_environment()); }

  CodeBlock allocate(std::size_t size_bytes) {
    const std::size_t rounded_bytes = round_up(size_bytes, code_alignment);
    const std::lock_guard lock(mutex_);
    if (rounded_bytes >
        chunk_bytes / 4) {  // a chunk of its own, rather than wasting the current one
      const auto page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
      return block_of(make_chunk(round_up(size_bytes, page_bytes)), 0, size_bytes);
    }
    reuse_if_dead();
    if (chunk_ == nullptr || chunk_->size_bytes() - used_bytes_ < rounded_bytes) {
      chunk_ = make_chunk(chunk_bytes);
      used_bytes_ = 0;
    }
    CodeBlock block = block_of(chunk_, used_bytes_, size_bytes);
    used_bytes_ += rounded_bytes;
    return block;
  }

  std::string refusal() {
    const std::lock_guard lock(mutex_);
    if (refusal_.empty() && chunk_ == nullptr) {
      try {
        chunk_ = make_chunk(chunk_bytes);
        used_bytes_ = 0;
      } catch (const DeviceError&) {  // if that is for good, it is the refusal now
      }
    }
    return refusal_;
  }

  // Both sides of a fork see the pages of a chunk, so neither may write to one from before it.
  void before_fork() { mutex_.lock(); }
  void after_fork() {
    chunk_.reset();
    used_bytes_ = 0;
    mutex_.unlock();
  }

 private:
  void refuse(std::string reason) {
    if (reason.empty()) return;
    refusal_ = std::move(reason);
    log(LogTopic::tier, "no code is generated, the interpreter serves: ", refusal_);
  }

  std::shared_ptr<const Chunk> make_chunk(std::size_t size_bytes) {
    WEFT_CHECK(refusal_.empty(), DeviceError, refusal_);
    try {
      return std::make_shared<const Chunk>(size_bytes);
    } catch (const Forbidden& error) {
      refuse(error.what());
      throw DeviceError(error.what());
    }
  }

  static CodeBlock block_of(const std::shared_ptr<const Chunk>& chunk, std::size_t offset_bytes,
                            std::size_t size_bytes) {
    const std::byte* run = chunk->run() + offset_bytes;
    return {chunk->write() + offset_bytes, run, size_bytes,
            std::shared_ptr<const void>(chunk, run)};
  }

  /// Starts the current chunk again if no block in it lives: owners only ever decrease then, since
  /// new ones are made under the lock.
  ///
  /// Cores that have run the old code find the new at the same addresses.  Caches of instructions
  /// go by physical addresses, so that writing through the other mapping drops the old lines from
  /// them.  What a core fetched in advance is not compared with those, and the manuals promise the
  /// new code only to who serialises (CPUID, say) before its first call.  Nobody does here; it is
  /// relied upon that nothing fetched in advance lasts from the return out of the old code, over
  /// the release of its last owner and the load that finds the new, to the call of that.
  void reuse_if_dead() {
    if (chunk_ == nullptr || chunk_.use_count() != 1) return;
    std::atomic_thread_fence(
        std::memory_order_acquire);  // pairs with the release of the last owner
    used_bytes_ = 0;
  }

  std::mutex mutex_;
  std::shared_ptr<const Chunk> chunk_;
  std::size_t used_bytes_ = 0;
  std::string refusal_;  ///< why there will be no further chunk
};

/// Never destroyed: code may run until the very end of the process.
CodeArena& arena() {
  static CodeArena& instance = *[] {
    const auto after_fork = [] { arena().after_fork(); };
    auto made = std::make_unique<CodeArena>();  // first, as handlers can't be taken back
    around_fork([] { arena().before_fork(); }, after_fork, after_fork);
    return made.release();
  }();
  return instance;
}

}  // namespace

CodeBlock allocate_code(std::size_t size_bytes) {
  WEFT_CHECK(size_bytes > 0 && size_bytes <= PTRDIFF_MAX / 2, DeviceError,
             "Executable memory is not available: cannot allocate ", size_bytes, " bytes.");
  return arena().allocate(size_bytes);
}

std::string code_memory_refusal() { return arena().refusal(); }

void prepare_code_memory() { arena(); }

std::size_t mapped_code_bytes() { return mapped_bytes.load(std::memory_order_relaxed); }

}  // namespace weft
