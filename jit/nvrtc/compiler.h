// Source to code for a device, by NVRTC, and what is remembered of it.
#pragma once

#include "ir/kernel.h"
#include "jit/nvrtc/emit.h"
#include "runtime/cuda_libraries.h"

#include <weft/disk_cache.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace weft::jit::nvrtc {

/// One kernel for one architecture.
struct DeviceCode {
  std::string source;
  std::string ptx;
  std::vector<std::byte> cubin;
  std::string log;  ///< what NVRTC and ptxas said, if `verbose`
  double compile_us = 0;
  bool is_from_disk = false;
};

/// How source is compiled.
struct CompileOptions {
  std::string arch;         ///< "sm_90"
  bool is_verbose = false;  ///< has ptxas say what registers and memory the kernel takes
};

/// Errors: CompileError with NVRTC's log, and CompileError if `nvrtc` could not be opened or does
/// not know the architecture.
DeviceCode compile_source(const Nvrtc& nvrtc, std::string source, const CompileOptions& options);

/// Code by kernel, variant and architecture: compiled once, and kept on the disk for other
/// processes.
///
/// Threads: get() may be called by many threads; those that ask for what is being compiled wait.
class CodeCache {
 public:
  /// `driver_version`: of the driver that is to load the code; empty for none.
  CodeCache(const Nvrtc& nvrtc, std::shared_ptr<DiskCache> disk, std::string driver_version = {})
      : nvrtc_(nvrtc), disk_(std::move(disk)), driver_version_(std::move(driver_version)) {}

  struct Stats {
    std::uint64_t hits = 0, disk_hits = 0, compilations = 0;
    double compile_us = 0;
  };

  /// Requires: a kernel after the passes that refuses() has nothing against.
  /// Errors: those of compile_source(); nothing is kept then.
  std::shared_ptr<const DeviceCode> get(const ir::Kernel& kernel, const Variant& variant,
                                        const std::string& arch);
  /// The same without looking on the disk, where what is found there can't be loaded.
  std::shared_ptr<const DeviceCode> get_anew(const ir::Kernel& kernel, const Variant& variant,
                                             const std::string& arch);
  Stats stats() const;

 private:
  struct Entry {
    std::mutex compiling;
    std::shared_ptr<const DeviceCode> code;  ///< guarded by `compiling`
  };
  std::shared_ptr<Entry> entry_of(const ir::Kernel& kernel, const Variant& variant,
                                  const std::string& arch);
  std::shared_ptr<const DeviceCode> load(std::span<const std::byte> key);
  std::shared_ptr<const DeviceCode> make(const ir::Kernel& kernel, const Variant& variant,
                                         const std::string& arch, bool asks_disk);

  const Nvrtc& nvrtc_;
  std::shared_ptr<DiskCache> disk_;  ///< may be null
  std::string driver_version_;
  mutable std::mutex mutex_;
  double compile_us_ = 0;                                            ///< guarded by mutex_
  std::unordered_map<std::string, std::shared_ptr<Entry>> entries_;  ///< guarded by mutex_
  std::atomic<std::uint64_t> hits_{0}, disk_hits_{0}, compilations_{0};
};

/// The machine code of a cubin as text, by the toolkit's `program`, nvdisasm or cuobjdump.
///
/// Errors: UnsupportedError, which says what to install, if `program` is empty; DeviceError if it
/// can't be run or fails.
std::string disassemble(std::span<const std::byte> cubin, const std::string& program);
/// The disassembler of this machine; empty if there is none.
std::string find_disassembler();

}  // namespace weft::jit::nvrtc
