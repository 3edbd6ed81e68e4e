// Finds and opens the module that holds LLVM.  It is never closed: code and texts live in its heap.

#include "jit/llvm/backend.h"
#include "runtime/own_library.h"
#include "runtime/text.h"

#include <dlfcn.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace weft::jit {
namespace {

namespace fs = std::filesystem;

constexpr const char* module_file = "libweft_llvm.so";

/// The library or program that this code was linked into; empty if it cannot be told.
fs::path own_file() {
  std::error_code ignored;
  const char* const library = own_library();
  return library[0] == '/' ? fs::canonical(library, ignored)
                           : fs::read_symlink("/proc/self/exe", ignored);
}

bool is_inside(const fs::path& path, const fs::path& folder) {
  return std::ranges::mismatch(folder, path).in1 == folder.end();
}

/// Whether a group can put something else into this place.
bool is_written_by_group(const fs::path& place, gid_t group) {
  struct stat status;
  return ::stat(place.c_str(), &status) == 0 && status.st_gid == group &&
         (status.st_mode & S_IWGRP) != 0;
}

/// Why somebody else could have put a module into this place; empty if nobody could but root, this
/// user, and who can write this program or library itself, or replace it.
std::string distrust(const fs::path& path, const fs::path& own) {
  // Who runs a program that has more rights is nobody to trust.
  const uid_t user = getauxval(AT_SECURE) != 0 ? 0 : ::geteuid();
  struct stat own_status, status;
  if (::stat(own.c_str(), &own_status) != 0) own_status.st_uid = user;
  // What holds both has been trusted with the program.
  for (fs::path place = path; !is_inside(own, place); place = place.parent_path()) {
    if (::stat(place.c_str(), &status) != 0) return place.string() + ": " + errno_text(errno);
    const uid_t owner = status.st_uid;
    if (owner != 0 && owner != user && owner != own_status.st_uid)
      return place.string() + " belongs to another user";
    // In a folder like /tmp nobody replaces what belongs to others.
    if (S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0) continue;
    const bool is_own_group = is_written_by_group(own, status.st_gid) ||
                              is_written_by_group(own.parent_path(), status.st_gid);
    if ((status.st_mode & S_IWOTH) != 0 || ((status.st_mode & S_IWGRP) != 0 && !is_own_group))
      return place.string() + " can be written by other users";
  }
  return {};
}

/// What opening the module led to.  `reason` is empty if and only if the functions are there.
struct Opened {
  LlvmModule functions;
  std::string reason;
};

template <class Function>
bool find(void* handle, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, symbol));
  return function != nullptr;
}

Opened open_file(const fs::path& path) {
  Opened opened;
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* message = dlerror();
    opened.reason = message != nullptr ? message : path.string() + " cannot be opened";
    return opened;
  }
  WeftLlvmInterface interface = nullptr;
  if (!find(handle, llvm_symbols.interface, interface) ||
      !find(handle, llvm_symbols.version, opened.functions.version) ||
      !find(handle, llvm_symbols.compile, opened.functions.compile) ||
      !find(handle, llvm_symbols.disassemble, opened.functions.disassemble) ||
      !find(handle, llvm_symbols.disassemble_function, opened.functions.disassemble_function) ||
      !find(handle, llvm_symbols.throughput, opened.functions.throughput) ||
      !find(handle, llvm_symbols.release, opened.functions.release))
    opened.reason = path.string() + " is not weft's LLVM module";
  else if (interface() != weft_llvm_interface)
    opened.reason = path.string() + " belongs to another version of weft";
  if (!opened.reason.empty()) dlclose(handle);
  return opened;
}

Opened open_module() {
  // Programs that run with more rights than their caller must not load what the caller names.
  if (const char* named = secure_getenv("WEFT_LLVM_MODULE"); named != nullptr && named[0] != '\0')
    return open_file(named);
  const fs::path own = own_file(), folder = own.parent_path();
  if (folder.empty()) return {{}, "the folder of this program is not known"};
  std::string looked_in, faults;
  for (const fs::path& place :
       {fs::path("../lib"), fs::path("../lib/weft"), fs::path(), fs::path("weft")}) {
    const fs::path path = (folder / place / module_file).lexically_normal();
    std::error_code missing;
    const fs::path file = fs::canonical(path, missing);
    looked_in += (looked_in.empty() ? "" : ", ") + path.string();
    if (missing) continue;
    Opened opened;
    opened.reason = distrust(file, own);
    if (opened.reason.empty()) opened = open_file(file);
    if (opened.reason.empty()) return opened;
    faults += (faults.empty() ? "" : "; ") + opened.reason;
  }
  return {{}, faults.empty() ? "its module was not found (looked for " + looked_in + ")" : faults};
}

/// Null until there is one.
constinit std::atomic<const LlvmModule*> usable_module{nullptr};

const Opened& opened_module() {
  // Never destroyed: what exit() waits for may still call the functions.
  static const Opened& opened = *[] {
    const auto* made = new const Opened(open_module());
    if (made->reason.empty()) usable_module.store(&made->functions, std::memory_order_release);
    return made;
  }();
  return opened;
}

}  // namespace

const LlvmModule* llvm_module(std::string& reason) {
  const Opened& opened = opened_module();
  reason = opened.reason;
  return opened.reason.empty() ? &opened.functions : nullptr;
}

std::string_view llvm_version() {
  const LlvmModule* module = usable_module.load(std::memory_order_acquire);
  return module == nullptr ? WEFT_LLVM_VERSION : module->version();
}

std::string llvm_unavailable_reason() { return opened_module().reason; }

}  // namespace weft::jit
