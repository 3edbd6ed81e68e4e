// The same for functions of the C++ library that ask the system for something.
#include "tests/faults/sites.h"

#include <cerrno>
#include <filesystem>
#include <memory>
#include <new>
#include <system_error>
#include <thread>

namespace weft::faults {
namespace {

namespace fs = std::filesystem;

bool fails(const char* front, const void* return_address) noexcept {
  return call_fails(Kind::system, front, return_address);
}

std::error_code error_code(int error) { return {error, std::generic_category()}; }

}  // namespace

/// A function of std::filesystem by its symbol; it returns `failure` and an error code.
#define FRONT(result, name, symbol, parameters, arguments, failure)                          \
  result real_##name parameters asm("__real_" symbol);                                       \
  result front_##name parameters asm("__wrap_" symbol);                                      \
  result front_##name parameters {                                                           \
    if (!fails("__wrap_" symbol, __builtin_return_address(0))) return real_##name arguments; \
    error = error_code(EACCES);                                                              \
    return failure;                                                                          \
  }

FRONT(fs::path, canonical, "_ZNSt10filesystem9canonicalERKNS_7__cxx114pathERSt10error_code",
      (const fs::path& path, std::error_code& error), (path, error), {})
FRONT(fs::path, read_symlink, "_ZNSt10filesystem12read_symlinkERKNS_7__cxx114pathERSt10error_code",
      (const fs::path& path, std::error_code& error), (path, error), {})
FRONT(fs::path, temp_directory_path,
      "_ZNSt10filesystem19temp_directory_pathB5cxx11ERSt10error_code", (std::error_code & error),
      (error), {})
FRONT(fs::file_status, status, "_ZNSt10filesystem6statusERKNS_7__cxx114pathERSt10error_code",
      (const fs::path& path, std::error_code& error), (path, error), {})
FRONT(bool, create_directories,
      "_ZNSt10filesystem18create_directoriesERKNS_7__cxx114pathERSt10error_code",
      (const fs::path& path, std::error_code& error), (path, error), false)
FRONT(void, permissions,
      "_ZNSt10filesystem11permissionsERKNS_7__cxx114pathENS_5permsENS_12perm_optionsERSt10error_"
      "code",
      (const fs::path& path, fs::perms perms, fs::perm_options options, std::error_code& error),
      (path, perms, options, error), void())
FRONT(std::uintmax_t, file_size, "_ZNSt10filesystem9file_sizeERKNS_7__cxx114pathERSt10error_code",
      (const fs::path& path, std::error_code& error), (path, error),
      static_cast<std::uintmax_t>(-1))
FRONT(fs::file_time_type, last_write_time,
      "_ZNSt10filesystem15last_write_timeERKNS_7__cxx114pathERSt10error_code",
      (const fs::path& path, std::error_code& error), (path, error), fs::file_time_type::min())

// The constructor of a folder's iterator, which then is at the end, and its next step.
#define ITERATOR "_ZNSt10filesystem7__cxx1118directory_iterator"
#define BEGIN ITERATOR "C1ERKNS0_4pathENS_17directory_optionsEPSt10error_code"
#define NEXT ITERATOR "9incrementERSt10error_code"

void real_begin(void* iterator, const fs::path& path, fs::directory_options options,
                std::error_code* error) asm("__real_" BEGIN);
void front_begin(void* iterator, const fs::path& path, fs::directory_options options,
                 std::error_code* error) asm("__wrap_" BEGIN);
void front_begin(void* iterator, const fs::path& path, fs::directory_options options,
                 std::error_code* error) {
  if (!fails("__wrap_" BEGIN, __builtin_return_address(0)))
    return real_begin(iterator, path, options, error);
  if (error == nullptr) throw fs::filesystem_error("no folder", path, error_code(EMFILE));
  *error = error_code(EMFILE);
  new (iterator) fs::directory_iterator();
}

fs::directory_iterator& real_next(fs::directory_iterator& iterator,
                                  std::error_code& error) asm("__real_" NEXT);
fs::directory_iterator& front_next(fs::directory_iterator& iterator,
                                   std::error_code& error) asm("__wrap_" NEXT);
fs::directory_iterator& front_next(fs::directory_iterator& iterator, std::error_code& error) {
  if (!fails("__wrap_" NEXT, __builtin_return_address(0))) return real_next(iterator, error);
  error = error_code(EIO);
  return iterator = fs::directory_iterator();
}

#define START \
  "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE"

using ThreadState = std::unique_ptr<std::thread::_State>;
void real_start(std::thread& thread, ThreadState state, void (*dependency)()) asm("__real_" START);
void front_start(std::thread& thread, ThreadState state, void (*dependency)()) asm("__wrap_" START);
void front_start(std::thread& thread, ThreadState state, void (*dependency)()) {
  if (fails("__wrap_" START, __builtin_return_address(0)))
    throw std::system_error(error_code(EAGAIN), "no thread");
  real_start(thread, std::move(state), dependency);
}

}  // namespace weft::faults
