// The functions that stand in front of those that weft calls.  The linker turns what weft calls
// NAME into __wrap_NAME, and __real_NAME is what it was.
#include "tests/faults/sites.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace faults = weft::faults;
using faults::Kind;

namespace {

/// Whether the call is to fail; then errno is set.
bool fails(const char* front, const void* return_address, Kind kind, int error) noexcept {
  if (!faults::call_fails(kind, front, return_address)) return false;
  errno = error;
  return true;
}

}  // namespace

/// In a function of that very name.
#define FAILS(kind, error) fails(__func__, __builtin_return_address(0), Kind::kind, error)

/// A function of the system: `failure` after errno, or what the real one returns.
#define FRONT(result, name, parameters, arguments, error, failure) \
  result __real_##name parameters;                                 \
  result __wrap_##name parameters {                                \
    if (FAILS(system, error)) return failure;                      \
    return __real_##name arguments;                                \
  }

extern "C" {

FRONT(int, memfd_create, (const char* name, unsigned flags), (name, flags), EMFILE, -1)
FRONT(int, ftruncate, (int file, off_t size), (file, size), ENOSPC, -1)
FRONT(ssize_t, read, (int file, void* bytes, std::size_t count), (file, bytes, count), EIO, -1)
FRONT(ssize_t, pread, (int file, void* bytes, std::size_t count, off_t at),
      (file, bytes, count, at), EIO, -1)
FRONT(ssize_t, write, (int file, const void* bytes, std::size_t count), (file, bytes, count),
      ENOSPC, -1)
FRONT(int, fsync, (int file), (file), EIO, -1)
FRONT(int, rename, (const char* from, const char* to), (from, to), EACCES, -1)
FRONT(int, fstat, (int file, struct stat* status), (file, status), EIO, -1)
FRONT(int, stat, (const char* path, struct stat* status), (path, status), EACCES, -1)
FRONT(int, lstat, (const char* path, struct stat* status), (path, status), EACCES, -1)
FRONT(int, access, (const char* path, int mode), (path, mode), EACCES, -1)
FRONT(int, chmod, (const char* path, mode_t mode), (path, mode), EPERM, -1)
FRONT(int, fchmod, (int file, mode_t mode), (file, mode), EPERM, -1)
FRONT(int, futimens, (int file, const timespec* times), (file, times), EPERM, -1)
FRONT(int, mkdir, (const char* path, mode_t mode), (path, mode), EACCES, -1)
FRONT(int, rmdir, (const char* path), (path), EACCES, -1)
FRONT(int, unlink, (const char* path), (path), EACCES, -1)
FRONT(DIR*, opendir, (const char* path), (path), EMFILE, nullptr)
FRONT(dirent*, readdir, (DIR * folder), (folder), EIO, nullptr)
FRONT(int, mkstemp, (char* path), (path), EMFILE, -1)
FRONT(int, madvise, (void* address, std::size_t size, int advice), (address, size, advice), EINVAL,
      -1)
FRONT(int, pipe2, (int* ends, int flags), (ends, flags), EMFILE, -1)
FRONT(int, posix_spawn,
      (pid_t * child, const char* path, const posix_spawn_file_actions_t* actions,
       const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment),
      (child, path, actions, attributes, arguments, environment), EAGAIN, EAGAIN)
FRONT(int, posix_spawn_file_actions_init, (posix_spawn_file_actions_t * actions), (actions), ENOMEM,
      ENOMEM)
FRONT(int, posix_spawn_file_actions_adddup2,
      (posix_spawn_file_actions_t * actions, int file, int as), (actions, file, as), ENOMEM, ENOMEM)
FRONT(int, sched_getaffinity, (pid_t thread, std::size_t size, cpu_set_t* processors),
      (thread, size, processors), EINVAL, -1)
FRONT(int, pthread_atfork, (void (*prepare)(), void (*parent)(), void (*child)()),
      (prepare, parent, child), ENOMEM, ENOMEM)
FRONT(int, pthread_attr_init, (pthread_attr_t * attributes), (attributes), ENOMEM, ENOMEM)
FRONT(int, pthread_attr_setaffinity_np,
      (pthread_attr_t * attributes, std::size_t size, const cpu_set_t* processors),
      (attributes, size, processors), ENOMEM, ENOMEM)
FRONT(int, pthread_create,
      (pthread_t * thread, const pthread_attr_t* attributes, void* (*function)(void*),
       void* argument),
      (thread, attributes, function, argument), EAGAIN, EAGAIN)
FRONT(void*, dlopen, (const char* path, int flags), (path, flags), ENOENT, nullptr)
FRONT(void*, dlsym, (void* library, const char* name), (library, name), ENOENT, nullptr)
FRONT(int, dlinfo, (void* library, int request, void* info), (library, request, info), ENOENT, -1)

/// weft asks whether it is in a shared library, which this program can pretend.
int __real_dladdr1(const void* address, Dl_info* info, void** extra, int flags);
int __wrap_dladdr1(const void* address, Dl_info* info, void** extra, int flags) {
  if (FAILS(system, ENOENT)) return 0;
  const int result = __real_dladdr1(address, info, extra, flags);
  static char* const library = std::getenv("WEFT_FAULTS_LIBRARY");
  if (library == nullptr || flags != RTLD_DL_LINKMAP) return result;
  static link_map map{};
  map.l_name = library;
  *extra = &map;
  return 1;
}

void* __real_aligned_alloc(std::size_t alignment, std::size_t size);
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t size) {
  return FAILS(memory, ENOMEM) ? nullptr : __real_aligned_alloc(alignment, size);
}

void* __real_malloc(std::size_t size);
void* __wrap_malloc(std::size_t size) {
  return FAILS(memory, ENOMEM) ? nullptr : __real_malloc(size);
}

// Of zlib, whose streams are only passed on.
constexpr int no_memory = -4;
int __real_deflateInit2_(void* stream, int level, int method, int window_bits, int memory_level,
                         int strategy, const char* version, int stream_bytes);
int __wrap_deflateInit2_(void* stream, int level, int method, int window_bits, int memory_level,
                         int strategy, const char* version, int stream_bytes) {
  if (FAILS(memory, ENOMEM)) return no_memory;
  return __real_deflateInit2_(stream, level, method, window_bits, memory_level, strategy, version,
                              stream_bytes);
}
int __real_inflateInit2_(void* stream, int window_bits, const char* version, int stream_bytes);
int __wrap_inflateInit2_(void* stream, int window_bits, const char* version, int stream_bytes) {
  return FAILS(memory, ENOMEM) ? no_memory
                               : __real_inflateInit2_(stream, window_bits, version, stream_bytes);
}
int __real_inflate(void* stream, int flush);
int __wrap_inflate(void* stream, int flush) {
  return FAILS(memory, ENOMEM) ? no_memory : __real_inflate(stream, flush);
}

int __real_open(const char* path, int flags, ...);
int __wrap_open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(list, mode_t) : 0;
  va_end(list);
  return FAILS(system, EMFILE) ? -1 : __real_open(path, flags, mode);
}

// A descriptor and a child are gone even where the system complains.
int __real_close(int file);
int __wrap_close(int file) {
  const int result = __real_close(file);
  return FAILS(system, EIO) ? -1 : result;
}
pid_t __real_waitpid(pid_t child, int* status, int options);
pid_t __wrap_waitpid(pid_t child, int* status, int options) {
  const pid_t result = __real_waitpid(child, status, options);
  return FAILS(system, ECHILD) ? -1 : result;
}

/// Where nothing is mapped, as far as that can be told: a wish that the system grants where it can.
static void* place_off_huge_pages(std::size_t size) {
  constexpr std::size_t page_bytes = 4096, huge_page_bytes = std::size_t{2} << 20;
  void* const found = ::mmap64(nullptr, size + huge_page_bytes, PROT_NONE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (found == MAP_FAILED) return nullptr;
  ::syscall(SYS_munmap, found, size + huge_page_bytes);
  const auto begin = reinterpret_cast<std::uintptr_t>(found);
  const bool is_on = begin % huge_page_bytes == 0;
  return reinterpret_cast<void*>(begin + (is_on ? page_bytes : 0));
}

void* __real_mmap(void* address, std::size_t size, int protection, int flags, int file, off_t at);
void* __wrap_mmap(void* address, std::size_t size, int protection, int flags, int file, off_t at) {
  if (FAILS(system, ENOMEM)) return MAP_FAILED;
  if (address == nullptr && (flags & MAP_ANONYMOUS) != 0 && faults::maps_off_huge_pages())
    address = place_off_huge_pages(size);
  void* const mapped = __real_mmap(address, size, protection, flags, file, at);
  if (mapped != MAP_FAILED) faults::count_mapped_bytes(static_cast<std::int64_t>(size));
  return mapped;
}
/// What can't be unmapped stays, which is no leak of weft's: it has asked for it.
int __real_munmap(void* address, std::size_t size);
int __wrap_munmap(void* address, std::size_t size) {
  faults::count_mapped_bytes(-static_cast<std::int64_t>(size));
  return FAILS(system, ENOMEM) ? -1 : __real_munmap(address, size);
}

}  // extern "C"
