#include "runtime/file.h"

#include "runtime/text.h"

#include <weft/error.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

namespace weft {

bool is_own(const struct stat& status) {
  return (status.st_uid == ::geteuid() || status.st_uid == 0) &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}
namespace {

constexpr std::size_t max_transfer_bytes = std::size_t{1}
                                           << 30;  // Linux moves no more than 2 GiB at once

/// Those that lend the owner's rights are not kept: writing in place takes them away, too.
constexpr mode_t permission_bits = S_IRWXU | S_IRWXG | S_IRWXO;

/// Where writing to `path` really goes, so that a symbolic link is followed and not replaced, also
/// one to what is not there yet.
std::string resolved(std::string path) {
  namespace fs = std::filesystem;
  // The link that /dev/stdout is may lead to a pipe, which has no path.
  struct stat status;
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) return path;
  while (true) {
    std::error_code error;
    const fs::path target = fs::canonical(path, error);
    if (!error) return target.string();
    // Only of what is not there is it known that nothing lies behind it; links in a circle, which
    // would be followed for ever, are another error.
    WEFT_CHECK(error == std::errc::no_such_file_or_directory, DeviceError,
               "the file can't be written: ", error.message());
    const fs::path next = fs::read_symlink(path, error);
    if (error == std::errc::no_such_file_or_directory || error == std::errc::invalid_argument)
      return path;  // nothing, or made meanwhile and no link
    WEFT_CHECK(!error, DeviceError, "the file can't be written: ", error.message());
    path = fs::path(path).parent_path() / next;
  }
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

/// Creates a file of its own beside `path`.  The name is short and does not contain that of `path`,
/// which may be as long as the system allows already.
FileDescriptor create_beside(const std::string& path, mode_t mode, std::string& name) {
  static std::atomic<unsigned> counter{0};
  while (true) {
    name = folder_of(path) + ".weft-" + std::to_string(::getpid()) + "-" +
           std::to_string(counter++) + ".tmp";
    const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor >= 0) return FileDescriptor(descriptor);
    WEFT_CHECK(errno == EEXIST || errno == EINTR, DeviceError,
               "the file can't be written: ", errno_text(errno));
  }
}

/// Calls `transfer(done, wanted)`, a system call, until `bytes` are full or the file ends.
template <class Transfer>
std::size_t fill(std::span<std::byte> bytes, const Transfer& transfer) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = transfer(done, std::min(bytes.size() - done, max_transfer_bytes));
    if (count == 0) break;
    if (count < 0 && errno == EINTR) continue;
    WEFT_CHECK(count > 0, DeviceError, "the file can't be read: ", errno_text(errno));
    done += static_cast<std::size_t>(count);
  }
  return done;
}

}  // namespace

FileDescriptor::FileDescriptor(FileDescriptor&& other) noexcept
    : value_(std::exchange(other.value_, -1)) {}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  std::swap(value_, other.value_);
  return *this;
}

FileDescriptor::~FileDescriptor() { close(); }

bool FileDescriptor::close() { return value_ < 0 || ::close(std::exchange(value_, -1)) == 0; }

InputFile::InputFile(const std::string& path) {
  WEFT_CHECK(path.find('\0') == std::string::npos, ArgumentError,
             "a file name can't contain a zero byte");
  // O_NONBLOCK: opening a pipe must fail below, not wait for a writer.
  descriptor_ = FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  WEFT_CHECK(descriptor_.get() >= 0, ArgumentError, "the file can't be read: ", errno_text(errno));
  struct stat status;
  WEFT_CHECK(::fstat(descriptor_.get(), &status) == 0, DeviceError,
             "the file can't be read: ", errno_text(errno));
  WEFT_CHECK(S_ISREG(status.st_mode), ArgumentError, "expected a regular file, got ",
             S_ISDIR(status.st_mode) ? "a folder" : "a device or pipe");
  size_bytes_ = static_cast<std::size_t>(status.st_size);
}

std::size_t InputFile::read(std::span<std::byte> bytes) {
  return fill(bytes, [&](std::size_t done, std::size_t wanted) {
    return ::read(descriptor_.get(), bytes.data() + done, wanted);
  });
}

std::size_t InputFile::read_at(std::size_t offset_bytes, std::span<std::byte> bytes) const {
  return fill(bytes, [&](std::size_t done, std::size_t wanted) {
    return ::pread(descriptor_.get(), bytes.data() + done, wanted,
                   static_cast<off_t>(offset_bytes + done));
  });
}

std::shared_ptr<std::byte> InputFile::map() const {
  if (size_bytes_ == 0) return nullptr;
  void* address = ::mmap(nullptr, size_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE,
                         descriptor_.get(), 0);
  WEFT_CHECK(address != MAP_FAILED, DeviceError, "the file can't be mapped: ", errno_text(errno));
  return {static_cast<std::byte*>(address),
          [size = size_bytes_](std::byte* begin) { ::munmap(begin, size); }};
}

OutputFile::OutputFile(const std::string& path) : path_(resolved(path)) {
  WEFT_CHECK(!path.empty() && path.find('\0') == std::string::npos, DeviceError,
             "the file can't be written: expected a file name");
  struct stat status;
  const bool exists = ::stat(path_.c_str(), &status) == 0;
  WEFT_CHECK(exists || errno == ENOENT, DeviceError,
             "the file can't be written: ", errno_text(errno));
  WEFT_CHECK(!exists || !S_ISDIR(status.st_mode), DeviceError,
             "the file can't be written: it is a folder");
  if (exists && !S_ISREG(status.st_mode)) {
    descriptor_ = FileDescriptor(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
    WEFT_CHECK(descriptor_.get() >= 0, DeviceError,
               "the file can't be written: ", errno_text(errno));
    return;
  }
  // Renaming would replace a file that may not be written.
  WEFT_CHECK(!exists || ::access(path_.c_str(), W_OK) == 0, DeviceError,
             "the file can't be written: ", errno_text(errno));
  // What takes the place of a file is open to nobody to whom that was not, not even for a moment.
  descriptor_ = create_beside(path_, exists ? 0600 : 0666, temporary_path_);
  if (exists) kept_mode_ = status.st_mode & permission_bits;
}

OutputFile::~OutputFile() {
  if (!temporary_path_.empty()) ::unlink(temporary_path_.c_str());
}

void OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count =
        ::write(descriptor_.get(), bytes.data(), std::min(bytes.size(), max_transfer_bytes));
    if (count < 0 && errno == EINTR) continue;
    WEFT_CHECK(count > 0, DeviceError, "the file can't be written: ", errno_text(errno));
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void OutputFile::commit() {
  WEFT_CHECK(!kept_mode_ || ::fchmod(descriptor_.get(), *kept_mode_) == 0, DeviceError,
             "the file can't be written: ", errno_text(errno));
  WEFT_CHECK(descriptor_.close(), DeviceError, "the file can't be written: ", errno_text(errno));
  if (temporary_path_.empty()) return;
  WEFT_CHECK(std::rename(temporary_path_.c_str(), path_.c_str()) == 0, DeviceError,
             "the file can't be written: ", errno_text(errno));
  temporary_path_.clear();
}

}  // namespace weft
