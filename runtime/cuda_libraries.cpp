// Looks for libnvrtc and libcuda, and fills in their functions.
#include "runtime/cuda_libraries.h"

#include "runtime/cuda_driver.h"
#include "runtime/environment.h"
#include "runtime/never_destroyed.h"

#include <weft/error.h>

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <sstream>
#include <utility>

namespace weft {
namespace {

namespace fs = std::filesystem;

/// Where toolkits are installed, the one that the environment names first.
std::vector<fs::path> toolkit_folders(const CudaEnvironment& environment) {
  std::vector<fs::path> folders;
  if (!environment.cuda_home.empty()) folders.emplace_back(environment.cuda_home);
  if (!environment.conda.empty()) folders.emplace_back(environment.conda);
  for (const char* usual : {"/usr/local/cuda", "/opt/cuda", "/usr/lib/cuda"})
    folders.emplace_back(usual);
  return folders;
}

/// 12 of ".../python3.12"; 0 of ".../python3".
int minor_version(const fs::path& python) {
  const std::string name = python.filename();
  const std::size_t dot = name.find('.');
  return dot == name.npos ? 0 : std::atoi(name.c_str() + dot + 1);
}

/// The folders that Python packages lie in: those of an environment, of the user, of the system.
std::vector<fs::path> python_folders(const CudaEnvironment& environment) {
  std::vector<fs::path> prefixes;
  if (!environment.virtual_env.empty()) prefixes.emplace_back(environment.virtual_env);
  if (!environment.conda.empty()) prefixes.emplace_back(environment.conda);
  if (!environment.home.empty()) prefixes.emplace_back(fs::path(environment.home) / ".local");
  prefixes.emplace_back("/usr/local");
  prefixes.emplace_back("/usr");
  std::vector<fs::path> folders;
  for (const fs::path& prefix : prefixes) {
    std::error_code ignored;
    std::vector<fs::path> versions;
    // A range's loop would throw where the folder can't be read any further.
    for (fs::directory_iterator entry(prefix / "lib", ignored), end; entry != end;
         entry.increment(ignored))
      if (entry->path().filename().string().starts_with("python3"))
        versions.push_back(entry->path());
    std::ranges::sort(versions, std::greater<>(), minor_version);
    for (const fs::path& version : versions)
      for (const char* packages : {"site-packages", "dist-packages"})
        folders.push_back(version / packages);
  }
  return folders;
}

constexpr const char* nvrtc_names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};

void append_files(std::vector<std::string>& candidates, const fs::path& folder) {
  std::error_code ignored;
  for (const char* name : nvrtc_names)
    if (fs::exists(folder / name, ignored)) candidates.push_back(folder / name);
}

/// The file behind a handle.
std::string path_of(void* handle, const std::string& opened_as) {
  struct link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr && map->l_name != nullptr &&
      map->l_name[0] != '\0')
    return map->l_name;
  return opened_as;
}

/// Looks up functions until one is missing.
class Symbols {
 public:
  Symbols(void* handle, std::string prefix) : handle_(handle), prefix_(std::move(prefix)) {}

  template <class Function>
  void find(const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(handle_, (prefix_ + name).c_str()));
    if (function == nullptr && missing_.empty()) missing_ = prefix_ + name;
  }
  const std::string& missing() const { return missing_; }

 private:
  void* handle_;
  std::string prefix_;
  std::string missing_;
};

/// Opens the first candidate for which `use` gives no reason against it.
template <class Use>
CudaLibrary open_first(const std::vector<std::string>& candidates, const Use& use,
                       std::string_view advice) {
  std::string missing, refused;
  const auto add = [](std::string& list, const char* separator, const std::string& item) {
    list.append(list.empty() ? "" : separator).append(item);
  };
  for (const std::string& candidate : candidates) {
    if (void* const handle = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      CudaLibrary library;
      library.path = path_of(handle, candidate);
      const std::string why = use(handle, library);
      if (why.empty()) return library;
      dlclose(handle);
      add(refused, "; ", library.path + " " + why);
      continue;
    }
    const char* const message = dlerror();
    const std::string why = message != nullptr ? message : candidate + " cannot be opened";
    if (why.find("No such file") != why.npos)
      add(missing, ", ", candidate);
    else
      add(refused, "; ", why);
  }
  CudaLibrary none;
  none.reason = detail::concat("not found", missing.empty() ? "" : " (no ", missing,
                               missing.empty() ? "" : ")", refused.empty() ? "" : "; ", refused,
                               "; ", advice);
  return none;
}

}  // namespace

CudaEnvironment CudaEnvironment::of_process() {
  CudaEnvironment environment;
  environment.nvrtc = environment_variable("WEFT_NVRTC");
  environment.driver = environment_variable("WEFT_CUDA_DRIVER");
  environment.cuda_home = environment_variable("CUDA_HOME");
  if (environment.cuda_home.empty()) environment.cuda_home = environment_variable("CUDA_PATH");
  environment.virtual_env = environment_variable("VIRTUAL_ENV");
  environment.conda = environment_variable("CONDA_PREFIX");
  environment.home = environment_variable("HOME");
  return environment;
}

std::vector<std::string> nvrtc_candidates(const CudaEnvironment& environment) {
  if (!environment.nvrtc.empty()) return {environment.nvrtc};
  std::vector<std::string> candidates(std::begin(nvrtc_names), std::end(nvrtc_names));
  for (const fs::path& toolkit : toolkit_folders(environment))
    for (const char* folder : {"lib64", "lib", "targets/x86_64-linux/lib"})
      append_files(candidates, toolkit / folder);
  for (const fs::path& packages : python_folders(environment))
    for (const char* wheel : {"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"})
      append_files(candidates, packages / wheel);
  return candidates;
}

std::vector<std::string> cuda_driver_candidates(const CudaEnvironment& environment) {
  if (!environment.driver.empty()) return {environment.driver};
  return {"libcuda.so.1", "libcuda.so", "/usr/lib/wsl/lib/libcuda.so.1",
          "/usr/local/nvidia/lib64/libcuda.so.1"};
}

Nvrtc open_nvrtc(const std::vector<std::string>& candidates) {
  Nvrtc found;
  const auto use = [&found](void* handle, CudaLibrary& library) -> std::string {
    Symbols symbols(handle, "nvrtc");
    symbols.find("Version", found.Version);
    symbols.find("GetErrorString", found.GetErrorString);
    symbols.find("CreateProgram", found.CreateProgram);
    symbols.find("DestroyProgram", found.DestroyProgram);
    symbols.find("CompileProgram", found.CompileProgram);
    symbols.find("GetPTXSize", found.GetPTXSize);
    symbols.find("GetPTX", found.GetPTX);
    symbols.find("GetCUBINSize", found.GetCUBINSize);
    symbols.find("GetCUBIN", found.GetCUBIN);
    symbols.find("GetProgramLogSize", found.GetProgramLogSize);
    symbols.find("GetProgramLog", found.GetProgramLog);
    symbols.find("GetNumSupportedArchs", found.GetNumSupportedArchs);
    symbols.find("GetSupportedArchs", found.GetSupportedArchs);
    if (!symbols.missing().empty())
      return "has no function " + symbols.missing() + ": it is not NVRTC, or older than 11.2";
    int major = 0, minor = 0;
    if (found.Version(&major, &minor) != 0) return "does not say which version it is";
    library.version = detail::concat(major, ".", minor);
    return {};
  };
  found.library =
      open_first(candidates, use,
                 "NVRTC comes with the CUDA toolkit and with the Python wheel nvidia-cuda-nvrtc; "
                 "WEFT_NVRTC names its file where it is not found");
  return found;
}

CudaDriver open_cuda_driver(const std::vector<std::string>& candidates) {
  CudaDriver found;
  const auto use = [&found](void* handle, CudaLibrary& library) -> std::string {
    Symbols symbols(handle, "");
#define WEFT_CUDA_FUNCTION(name, symbol, arguments) symbols.find(#symbol, found.name);
#include "runtime/cuda_driver.def"
    if (!symbols.missing().empty())
      return "has no function " + symbols.missing() +
             ": it is not the CUDA driver, or older than for CUDA 11.2";
    int version = 0;
    if (found.DriverGetVersion(&version) != 0) return "does not say which version it is";
    library.version = detail::concat(version / 1000, ".", version % 1000 / 10);
    return {};
  };
  found.library =
      open_first(candidates, use,
                 "libcuda comes with the driver of an NVIDIA GPU; WEFT_CUDA_DRIVER names its file "
                 "where it is not found");
  return found;
}

const Nvrtc& nvrtc() {
  static const NeverDestroyed<Nvrtc> found(
      [] { return open_nvrtc(nvrtc_candidates(CudaEnvironment::of_process())); });
  return *found;
}

const CudaDriver& cuda_driver() {
  static const NeverDestroyed<CudaDriver> found(
      [] { return open_cuda_driver(cuda_driver_candidates(CudaEnvironment::of_process())); });
  return *found;
}

std::string find_cuda_program(std::string_view name) {
  const CudaEnvironment environment = CudaEnvironment::of_process();
  std::vector<fs::path> folders;
  for (const fs::path& toolkit : toolkit_folders(environment)) folders.push_back(toolkit / "bin");
  std::istringstream path(environment_variable("PATH"));
  for (std::string folder; std::getline(path, folder, ':');)
    if (!folder.empty()) folders.emplace_back(folder);
  for (const fs::path& folder : folders)
    if (access((folder / name).c_str(), X_OK) == 0) return folder / name;
  return {};
}

}  // namespace weft
