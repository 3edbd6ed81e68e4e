// Where the disk cache is and what may be done with it, from the environment.
#include <weft/disk_cache.h>

#include "runtime/environment.h"

#include <weft/error.h>

#include <atomic>
#include <charconv>
#include <cstdio>
#include <limits>

namespace weft {
namespace {

/// Wrong settings must not stop a program, nor be repeated for each engine.
void ignore(const char* name, const std::string& value, const char* expected) {
  static std::atomic<bool> was_said{false};
  if (was_said.exchange(true)) return;
  std::fprintf(stderr, "weft: %s='%s' is ignored: expected %s\n", name, value.c_str(), expected);
}

CacheMode mode_from_environment() {
  const std::string value = environment_variable("WEFT_CACHE");
  if (value.empty()) return CacheMode::on;
  for (const CacheMode mode : {CacheMode::on, CacheMode::off, CacheMode::read, CacheMode::check})
    if (value == name(mode)) return mode;
  ignore("WEFT_CACHE", value, "on, off, read or check");
  return CacheMode::on;
}

std::string folder_from_environment() {
  if (std::string folder = environment_variable("WEFT_CACHE_DIR"); !folder.empty()) return folder;
  // The XDG specification has relative paths ignored.
  if (const std::string home = environment_variable("XDG_CACHE_HOME"); home.starts_with('/'))
    return home + "/weft";
  const std::string home = environment_variable("HOME");
  return home.starts_with('/') ? home + "/.cache/weft" : std::string();
}

std::uint64_t max_bytes_from_environment(std::uint64_t otherwise) {
  const std::string value = environment_variable("WEFT_CACHE_SIZE");
  if (value.empty()) return otherwise;
  std::uint64_t number = 0;
  const char* const end = value.data() + value.size();
  const auto [rest, error] = std::from_chars(value.data(), end, number);
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  const int shift = unit.empty() ? 0 : unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : -1;
  if (error == std::errc() && shift >= 0 &&
      number <= std::numeric_limits<std::uint64_t>::max() >> shift)
    return number << shift;
  ignore("WEFT_CACHE_SIZE", value, "a number of bytes, or one with K, M or G");
  return otherwise;
}

}  // namespace

std::string_view name(CacheMode mode) {
  switch (mode) {
    case CacheMode::on: return "on";
    case CacheMode::off: return "off";
    case CacheMode::read: return "read";
    case CacheMode::check: return "check";
  }
  return "off";
}

DiskCacheOptions DiskCacheOptions::from_environment() {
  DiskCacheOptions options;
  options.mode = mode_from_environment();
  options.folder = folder_from_environment();
  options.max_bytes = max_bytes_from_environment(options.max_bytes);
  if (options.folder.empty()) options.mode = CacheMode::off;
  return options;
}

}  // namespace weft
