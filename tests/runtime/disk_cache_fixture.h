// Folders and entries for the tests of the disk cache.
#pragma once

#include "runtime/disk_entry.h"
#include "tests/temporary_folder.h"

#include <weft/disk_cache.h>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

namespace fs = std::filesystem;

inline std::vector<std::byte> bytes(std::string_view text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

inline std::vector<std::byte> blob(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> result(size);
  for (std::byte& byte : result) byte = static_cast<std::byte>(random());
  return result;
}

/// A folder of its own for each test.
class DiskCaches : public testing::Test {
 protected:
  ~DiskCaches() override {
    std::error_code ignored;
    fs::permissions(root_, fs::perms::owner_all, ignored);
  }

  std::string folder() const { return (root_ / "cache").string(); }
  DiskCacheOptions options(CacheMode mode = CacheMode::on) const {
    DiskCacheOptions options;
    options.mode = mode;
    options.folder = folder();
    return options;
  }
  /// The file of an entry.
  std::string file_of(std::string_view key) const {
    return folder() + "/" + entry_name(bytes(key));
  }
  static std::vector<std::byte> read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    return bytes(text);
  }
  static void write(const std::string& path, std::span<const std::byte> content) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(content.data()),
               static_cast<std::streamsize>(content.size()));
  }

  const TemporaryFolder temporary_;
  const fs::path root_ = temporary_.path();
};

}  // namespace weft
