// Where programs that measure keep compiled kernels.
#pragma once

#include <weft/disk_cache.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace weft::bench {

/// A folder of its own for the disk cache.
class CacheFolder {
 public:
  CacheFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weft-bench-XXXXXX").string();
    if (::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~CacheFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  CacheFolder(const CacheFolder&) = delete;
  CacheFolder& operator=(const CacheFolder&) = delete;
  DiskCacheOptions options() const { return {CacheMode::on, path_, std::uint64_t{1} << 30}; }

 private:
  std::string path_;
};

}  // namespace weft::bench
