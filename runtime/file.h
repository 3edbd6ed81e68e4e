// Files: read whole or mapped, and written so that nobody sees half of one.
// Messages don't name the file; callers, who know what it is to them, do.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace weft {

/// Whether only this user and root can have written what has this status.
bool is_own(const struct stat& status);

/// A file descriptor that closes itself.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int value) : value_(value) {}
  FileDescriptor(FileDescriptor&& other) noexcept;
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor();

  int get() const { return value_; }
  /// Closes, and says whether that went well: a full disk may show only here.
  bool close();

 private:
  int value_ = -1;
};

/// A regular file, open for reading from the front.
///
/// Errors: ArgumentError if there is no such file, it isn't a regular one, or may not be read;
///         DeviceError if the system fails later.
class InputFile {
 public:
  explicit InputFile(const std::string& path);

  std::size_t size_bytes() const { return size_bytes_; }
  /// Fills `bytes` as far as the file goes and returns how far that was.
  std::size_t read(std::span<std::byte> bytes);
  /// The same from a place of its own; what read() has read does not matter.
  std::size_t read_at(std::size_t offset_bytes, std::span<std::byte> bytes) const;
  /// The whole file in memory, loaded page by page when touched.  Writes stay in this process. Null
  /// if empty.
  std::shared_ptr<std::byte> map() const;

 private:
  FileDescriptor descriptor_;
  std::size_t size_bytes_ = 0;
};

/// A file under construction beside its final place, which it takes in commit().  Without commit()
/// nothing of it stays and what was in the place is untouched; with it, the permission bits of that
/// are the new file's.  A place that is no regular file (/dev/stdout, a pipe) is written directly,
/// and one that is a symbolic link is what that leads to, whether there is such or not.  It is not
/// synced: that a machine which fails keeps either file is left to its file system.
///
/// Errors: DeviceError from every function, with the system's reason.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void commit();

 private:
  std::string path_;                 ///< the final place, symbolic links resolved
  std::string temporary_path_;       ///< empty when written directly
  std::optional<mode_t> kept_mode_;  ///< of the file that this one replaces
  FileDescriptor descriptor_;
};

}  // namespace weft
