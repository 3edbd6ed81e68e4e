#include "tests/faults/inject.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string_view>

namespace weft::faults {
namespace {

/// Functions by index: a set would allocate.
enum Function : std::size_t {
  at_new,
  at_aligned_alloc,
  at_malloc,
  at_mmap,
  at_memfd_create,
  at_ftruncate,
  at_open,
  at_read,
  at_write,
  at_fsync,
  at_close,
  at_rename,
  at_fstat,
  at_mkdir,
  at_unlink,
  at_pthread_create,
  num_functions
};
constexpr std::array<const char*, num_functions> function_names{
    "operator new", "aligned_alloc", "malloc", "mmap",          "memfd_create", "ftruncate",
    "open",         "read",          "write",  "fsync",         "close",        "rename",
    "fstat",        "mkdir",         "unlink", "pthread_create"};

constinit std::atomic<bool> is_armed{false};
constinit std::atomic<int> armed_kind{0};
constinit std::atomic<bool> fails_from_then_on{false};
constinit std::atomic<std::int64_t> calls_left{0};
constinit std::atomic<bool> was_hit{false};
constinit std::array<std::atomic<bool>, num_functions> has_failed{};
constinit std::atomic<std::int64_t> live_blocks{0};

/// Whether this call is to fail.
bool fails(Kind kind, Function function) {
  if (!is_armed.load() || armed_kind.load() != static_cast<int>(kind)) return false;
  const std::int64_t left = calls_left.fetch_sub(1);
  if (left > 1 || (left < 1 && !fails_from_then_on.load())) return false;
  was_hit = true;
  has_failed[function] = true;
  return true;
}

/// -1, after errno.
bool fails_with(int error, Function function) {
  if (!fails(Kind::system, function)) return false;
  errno = error;
  return true;
}

}  // namespace

Injection::Injection(Kind kind, std::int64_t nth, Span span) {
  armed_kind = static_cast<int>(kind);
  fails_from_then_on = span == Span::from_then_on;
  calls_left = nth;
  was_hit = false;
  is_armed = true;
}

Injection::~Injection() { is_armed = false; }

bool Injection::has_hit() const { return was_hit; }

std::set<std::string> functions_that_failed() {
  std::set<std::string> names;
  for (std::size_t i = 0; i < num_functions; ++i)
    if (has_failed[i]) names.insert(function_names[i]);
  return names;
}

std::int64_t num_live_blocks() { return live_blocks; }

}  // namespace weft::faults

namespace faults = weft::faults;

namespace {

constexpr std::size_t usual = 16;

void* new_block(std::size_t size_bytes, std::size_t alignment) noexcept {
  if (faults::fails(faults::Kind::memory, faults::at_new)) return nullptr;
  alignment = std::max(alignment, usual);  // posix_memalign() takes no smaller one than a pointer's
  const std::size_t padded_bytes = (size_bytes + alignment - 1) / alignment * alignment;
  void* block = nullptr;
  if (posix_memalign(&block, alignment, std::max<std::size_t>(padded_bytes, 1)) != 0)
    return nullptr;
  ++faults::live_blocks;
  return block;
}

void* new_block_or_throw(std::size_t size_bytes, std::size_t alignment) {
  void* const block = new_block(size_bytes, alignment);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

void delete_block(void* block) noexcept {
  if (block == nullptr) return;
  --faults::live_blocks;
  std::free(block);
}

}  // namespace

using std::align_val_t, std::nothrow_t, std::size_t;

void* operator new(size_t size) { return new_block_or_throw(size, usual); }
void* operator new[](size_t size) { return new_block_or_throw(size, usual); }
void* operator new(size_t size, align_val_t alignment) {
  return new_block_or_throw(size, static_cast<size_t>(alignment));
}
void* operator new[](size_t size, align_val_t alignment) {
  return new_block_or_throw(size, static_cast<size_t>(alignment));
}
void* operator new(size_t size, const nothrow_t&) noexcept { return new_block(size, usual); }
void* operator new[](size_t size, const nothrow_t&) noexcept { return new_block(size, usual); }
void operator delete(void* block) noexcept { delete_block(block); }
void operator delete[](void* block) noexcept { delete_block(block); }
void operator delete(void* block, size_t) noexcept { delete_block(block); }
void operator delete[](void* block, size_t) noexcept { delete_block(block); }
void operator delete(void* block, align_val_t) noexcept { delete_block(block); }
void operator delete[](void* block, align_val_t) noexcept { delete_block(block); }
void operator delete(void* block, size_t, align_val_t) noexcept { delete_block(block); }
void operator delete[](void* block, size_t, align_val_t) noexcept { delete_block(block); }
void operator delete(void* block, const nothrow_t&) noexcept { delete_block(block); }
void operator delete[](void* block, const nothrow_t&) noexcept { delete_block(block); }

// The linker turns what weft calls NAME into __wrap_NAME, and __real_NAME is what it was.
extern "C" {
void* __real_aligned_alloc(size_t alignment, size_t size);
void* __real_malloc(size_t size);
void* __real_mmap(void* address, size_t size, int protection, int flags, int file, off_t offset);
int __real_memfd_create(const char* name, unsigned flags);
int __real_ftruncate(int file, off_t size);
int __real_open(const char* path, int flags, ...);
ssize_t __real_read(int file, void* bytes, size_t count);
ssize_t __real_write(int file, const void* bytes, size_t count);
int __real_fsync(int file);
int __real_close(int file);
int __real_rename(const char* from, const char* to);
int __real_fstat(int file, struct stat* status);
int __real_mkdir(const char* path, mode_t mode);
int __real_unlink(const char* path);

void* __wrap_aligned_alloc(size_t alignment, size_t size) {
  if (faults::fails(faults::Kind::memory, faults::at_aligned_alloc)) return nullptr;
  return __real_aligned_alloc(alignment, size);
}
void* __wrap_malloc(size_t size) {
  if (faults::fails(faults::Kind::memory, faults::at_malloc)) return nullptr;
  return __real_malloc(size);
}
void* __wrap_mmap(void* address, size_t size, int protection, int flags, int file, off_t offset) {
  if (faults::fails_with(ENOMEM, faults::at_mmap)) return MAP_FAILED;
  return __real_mmap(address, size, protection, flags, file, offset);
}
int __wrap_memfd_create(const char* name, unsigned flags) {
  return faults::fails_with(EMFILE, faults::at_memfd_create) ? -1
                                                             : __real_memfd_create(name, flags);
}
int __wrap_ftruncate(int file, off_t size) {
  return faults::fails_with(ENOSPC, faults::at_ftruncate) ? -1 : __real_ftruncate(file, size);
}
int __wrap_open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(list, mode_t) : 0;
  va_end(list);
  return faults::fails_with(EMFILE, faults::at_open) ? -1 : __real_open(path, flags, mode);
}
ssize_t __wrap_read(int file, void* bytes, size_t count) {
  return faults::fails_with(EIO, faults::at_read) ? -1 : __real_read(file, bytes, count);
}
ssize_t __wrap_write(int file, const void* bytes, size_t count) {
  return faults::fails_with(ENOSPC, faults::at_write) ? -1 : __real_write(file, bytes, count);
}
int __wrap_fsync(int file) {
  return faults::fails_with(EIO, faults::at_fsync) ? -1 : __real_fsync(file);
}
int __wrap_close(int file) {
  const int result = __real_close(file);  // a descriptor is gone even where close() complains
  return faults::fails_with(EIO, faults::at_close) ? -1 : result;
}
int __wrap_rename(const char* from, const char* to) {
  return faults::fails_with(EACCES, faults::at_rename) ? -1 : __real_rename(from, to);
}
int __wrap_fstat(int file, struct stat* status) {
  return faults::fails_with(EIO, faults::at_fstat) ? -1 : __real_fstat(file, status);
}
int __wrap_mkdir(const char* path, mode_t mode) {
  return faults::fails_with(EACCES, faults::at_mkdir) ? -1 : __real_mkdir(path, mode);
}
int __wrap_unlink(const char* path) {
  return faults::fails_with(EACCES, faults::at_unlink) ? -1 : __real_unlink(path);
}

// Threads are started by the C++ library, too, where the linker changes nothing.
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                   void* argument) {
  static const auto real =
      reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  if (faults::fails(faults::Kind::system, faults::at_pthread_create)) return EAGAIN;
  return real(thread, attributes, function, argument);
}
}
