// Arrays in the format of .npy, wherever their bytes come from and go to.
#pragma once

#include <weft/error.h>
#include <weft/tensor.h>

#include "runtime/file.h"

#include <cstddef>
#include <span>
#include <string>

namespace weft {

/// Bytes to be read from front to back.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// From the front to the end.
  virtual std::size_t size_bytes() const = 0;
  /// Fills `bytes` as far as there are any and returns how far that was.
  virtual std::size_t read(std::span<std::byte> bytes) = 0;
};

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual void write(std::span<const std::byte> bytes) = 0;
};

class FileSink : public ByteSink {
 public:
  explicit FileSink(OutputFile& file) : file_(file) {}
  void write(std::span<const std::byte> bytes) override { file_.write(bytes); }

 private:
  OutputFile& file_;
};

/// As npy_read() and npy_write() in weft/npy.h, without the name of a file.
Tensor npy_read_from(ByteSource& source);
void npy_write_to(ByteSink& sink, const Tensor& tensor);
/// `path` as messages have it: as it is, or printable() if it holds a zero byte.
std::string shown_name(const std::string& path);
/// Errors: as npy_write() has them for tensors, before there is a file.
void check_npy_writable(const Tensor& tensor);

/// Runs `function` and puts the name of the file in front of what it throws.  A zero byte in it
/// would end what() there.
template <class Function>
auto naming_file(const std::string& path, Function&& function) {
  const auto named = [&](const Error& error) { return shown_name(path) + ": " + error.what(); };
  try {
    return function();
  } catch (const ArgumentError& error) {
    throw ArgumentError(named(error));
  } catch (const UnsupportedError& error) {
    throw UnsupportedError(named(error));
  } catch (const DeviceError& error) {
    throw DeviceError(named(error));
  }
}

}  // namespace weft
