// A folder for one test.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace weft {

/// In memory where the system has that: thousands of small files take seconds on some disks.
inline std::filesystem::path memory_folder() {
  const char* const folder = "/dev/shm";
  return ::access(folder, W_OK | X_OK) == 0 ? folder : std::filesystem::temp_directory_path();
}

/// A new folder, which goes with this.  Its name is nobody else's: process numbers are not, where
/// containers share a folder, or a process that ended left something behind.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(
      const std::filesystem::path& parent = std::filesystem::temp_directory_path()) {
    std::string name = parent / "weft-test-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr)
      throw std::runtime_error("there can be no folder " + name);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;  // a test that fails says why, and not that its folder is left
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace weft
