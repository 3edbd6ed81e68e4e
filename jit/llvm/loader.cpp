// Finds and opens the module that holds LLVM.  It is never closed: code and texts live in its heap.

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "jit/llvm/backend.h"

namespace weft::jit {
namespace {

namespace fs = std::filesystem;

constexpr const char* module_file = "libweft_llvm.so";

/// The folder of the library or program that this code was linked into; empty if it cannot be told.
fs::path own_folder() {
  Dl_info ignored_names{};
  void* found = nullptr;
  std::error_code ignored;
  // Only a library has a name in the loader's list.  What dladdr() calls a program is what the
  // caller made of argv[0], and may lead a program that has more rights to a module of the
  // caller's.
  if (dladdr1(reinterpret_cast<const void*>(&own_folder), &ignored_names, &found,
              RTLD_DL_LINKMAP) != 0 &&
      found != nullptr && static_cast<const link_map*>(found)->l_name[0] == '/')
    return fs::canonical(static_cast<const link_map*>(found)->l_name, ignored).parent_path();
  return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

/// Where the module may lie, best first.
std::vector<fs::path> candidates() {
  // Programs that run with more rights than their caller must not load what the caller names.
  if (const char* named = secure_getenv("WEFT_LLVM_MODULE"); named != nullptr && named[0] != '\0')
    return {fs::path(named)};
  const fs::path folder = own_folder();
  if (folder.empty()) return {};
  return {folder / ".." / "lib" / module_file, folder / ".." / "lib" / "weft" / module_file,
          folder / module_file, folder / "weft" / module_file};
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
  const std::vector<fs::path> paths = candidates();
  std::string looked_in;
  for (const fs::path& path : paths) {
    std::error_code ignored;
    if (fs::exists(path, ignored)) return open_file(path);
    looked_in += (looked_in.empty() ? "" : ", ") + path.lexically_normal().string();
  }
  return {{}, "its module was not found (looked for " + looked_in + ")"};
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
