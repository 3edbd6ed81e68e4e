#include "jit/nvrtc/compiler.h"

#include "ir/text.h"

#include <weft/error.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace weft::jit::nvrtc {
namespace {

/// An NVRTC program, destroyed with this.
class Program {
 public:
  Program(const Nvrtc& nvrtc, const std::string& source) : nvrtc_(nvrtc) {
    const int result =
        nvrtc.CreateProgram(&program_, source.c_str(), "weft.cu", 0, nullptr, nullptr);
    WEFT_CHECK(result == 0, CompileError, "nvrtc: ", nvrtc.GetErrorString(result));
  }
  ~Program() { nvrtc_.DestroyProgram(&program_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  int compile(const std::vector<std::string>& options) {
    std::vector<const char*> words;
    for (const std::string& option : options) words.push_back(option.c_str());
    return nvrtc_.CompileProgram(program_, static_cast<int>(words.size()), words.data());
  }
  /// One of the results, by the function for its size and the one for its bytes.
  std::string get(int (*size_of)(Nvrtc::Program, std::size_t*),
                  int (*bytes_of)(Nvrtc::Program, char*)) {
    std::size_t size = 0;
    if (size_of(program_, &size) != 0) return {};
    std::string bytes(size, '\0');
    if (bytes_of(program_, bytes.data()) != 0) return {};
    return bytes;
  }
  /// The same of texts, which end with a zero.
  std::string text(int (*size_of)(Nvrtc::Program, std::size_t*),
                   int (*bytes_of)(Nvrtc::Program, char*)) {
    std::string bytes = get(size_of, bytes_of);
    bytes.resize(std::strlen(bytes.c_str()));
    return bytes;
  }

 private:
  const Nvrtc& nvrtc_;
  Nvrtc::Program program_ = nullptr;
};

std::string supported_archs(const Nvrtc& nvrtc) {
  int count = 0;
  if (nvrtc.GetNumSupportedArchs(&count) != 0 || count <= 0) return {};
  std::vector<int> archs(static_cast<std::size_t>(count));
  if (nvrtc.GetSupportedArchs(archs.data()) != 0) return {};
  std::string text;
  for (const int arch : archs)
    text.append(text.empty() ? "sm_" : ", sm_").append(std::to_string(arch));
  return text;
}

void check_supported(const Nvrtc& nvrtc, const std::string& arch) {
  const std::string supported = supported_archs(nvrtc);
  if (supported.empty() || (supported + ",").find(arch + ",") != std::string::npos) return;
  throw CompileError(detail::concat("nvrtc: version ", nvrtc.library.version, " (",
                                    nvrtc.library.path, ") does not compile for ", arch,
                                    "; it does for ", supported));
}

std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// What NVRTC is told.
std::vector<std::string> arguments_of(const CompileOptions& options) {
  std::vector<std::string> arguments{"--gpu-architecture=" + options.arch, "--std=c++17",
                                     "--fmad=false"};
  if (options.is_verbose) arguments.emplace_back("--ptxas-options=-v");
  return arguments;
}

/// Which build of its version a library is: NVRTC does not tell its patch level.
std::string build_of(const CudaLibrary& library) {
  namespace fs = std::filesystem;
  std::error_code size_error, time_error;
  const auto size = fs::file_size(library.path, size_error);
  const auto time = fs::last_write_time(library.path, time_error).time_since_epoch().count();
  return detail::concat(size_error ? 0 : size, " bytes, ", time_error ? 0 : time);
}

/// Everything that the code depends on.
std::string disk_key(const Nvrtc& nvrtc, const std::string& driver_version,
                     const std::string& source, const CompileOptions& options) {
  std::string key =
      detail::concat("cuda code; NVRTC ", nvrtc.library.version, ", ", build_of(nvrtc.library),
                     "; driver ", driver_version.empty() ? "none" : driver_version, ";");
  for (const std::string& argument : arguments_of(options)) key.append(" ").append(argument);
  return key.append("\n").append(source);
}

}  // namespace

DeviceCode compile_source(const Nvrtc& nvrtc, std::string source, const CompileOptions& options) {
  WEFT_CHECK(nvrtc.library.reason.empty(), CompileError, "nvrtc: ", nvrtc.library.reason);
  check_supported(nvrtc, options.arch);
  const auto start = std::chrono::steady_clock::now();
  Program program(nvrtc, source);
  const int result = program.compile(arguments_of(options));
  DeviceCode code;
  code.log = program.text(nvrtc.GetProgramLogSize, nvrtc.GetProgramLog);
  WEFT_CHECK(result == 0, CompileError, "nvrtc: ", nvrtc.GetErrorString(result), "\n", code.log);
  code.ptx = program.text(nvrtc.GetPTXSize, nvrtc.GetPTX);
  const std::string cubin = program.get(nvrtc.GetCUBINSize, nvrtc.GetCUBIN);
  const auto cubin_bytes = bytes(cubin);
  code.cubin.assign(cubin_bytes.begin(), cubin_bytes.end());
  code.source = std::move(source);
  code.compile_us =
      std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
  WEFT_CHECK(!code.cubin.empty() && !code.ptx.empty(), CompileError,
             "nvrtc: compiled, but gave no code for ", options.arch);
  return code;
}

std::shared_ptr<const DeviceCode> CodeCache::load(std::span<const std::byte> key) {
  if (disk_ == nullptr) return nullptr;
  auto code = std::make_shared<DeviceCode>();
  const auto use = [&](DiskCache::Bytes blob) -> DiskCache::Verdict {
    // Device code is an ELF file; the driver checks the rest.
    constexpr std::string_view magic = "\177ELF";
    if (blob.size() < magic.size() || std::memcmp(blob.data(), magic.data(), magic.size()) != 0)
      return {DiskCache::Outcome::damaged, "is no device code"};
    code->cubin.assign(blob.begin(), blob.end());
    return {};
  };
  if (!disk_->find(key, use)) return nullptr;
  code->is_from_disk = true;
  return code;
}

std::shared_ptr<const DeviceCode> CodeCache::make(const ir::Kernel& kernel, const Variant& variant,
                                                  const std::string& arch, bool asks_disk) {
  CompileOptions options;
  options.arch = arch;
  std::string source = emit_source(kernel, variant);
  const std::string key = disk_key(nvrtc_, driver_version_, source, options);
  if (auto code = asks_disk ? load(bytes(key)) : nullptr) {
    ++disk_hits_;
    return code;
  }
  auto code =
      std::make_shared<const DeviceCode>(compile_source(nvrtc_, std::move(source), options));
  ++compilations_;
  {
    const std::lock_guard lock(mutex_);
    compile_us_ += code->compile_us;
  }
  if (disk_ != nullptr) disk_->store(bytes(key), code->cubin);
  return code;
}

std::shared_ptr<CodeCache::Entry> CodeCache::entry_of(const ir::Kernel& kernel,
                                                      const Variant& variant,
                                                      const std::string& arch) {
  const std::string key = detail::concat(arch, ", ", text(variant), "\n", ir::print(kernel));
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Entry>& place = entries_[key];
  if (place == nullptr) place = std::make_shared<Entry>();
  return place;
}

std::shared_ptr<const DeviceCode> CodeCache::get(const ir::Kernel& kernel, const Variant& variant,
                                                 const std::string& arch) {
  const std::shared_ptr<Entry> entry = entry_of(kernel, variant, arch);
  const std::lock_guard lock(entry->compiling);
  if (entry->code != nullptr) {
    ++hits_;
    return entry->code;
  }
  entry->code = make(kernel, variant, arch, true);
  return entry->code;
}

std::shared_ptr<const DeviceCode> CodeCache::get_anew(const ir::Kernel& kernel,
                                                      const Variant& variant,
                                                      const std::string& arch) {
  const std::shared_ptr<Entry> entry = entry_of(kernel, variant, arch);
  const std::lock_guard lock(entry->compiling);
  entry->code = make(kernel, variant, arch, false);
  return entry->code;
}

CodeCache::Stats CodeCache::stats() const {
  const std::lock_guard lock(mutex_);
  return {hits_.load(), disk_hits_.load(), compilations_.load(), compile_us_};
}

}  // namespace weft::jit::nvrtc
