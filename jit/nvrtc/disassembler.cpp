// Machine code as text, by the toolkit's own programs: its encoding is documented nowhere else.
#include "jit/nvrtc/compiler.h"
#include "runtime/file.h"
#include "runtime/text.h"

#include <weft/error.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

extern char** environ;

namespace weft::jit::nvrtc {
namespace {

namespace fs = std::filesystem;

/// Calls a function of the system again where a signal has interrupted it.
template <class Call>
auto uninterrupted(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

/// A file of its own that goes with this.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::span<const std::byte> content) {
    std::error_code error;
    path_ = fs::temp_directory_path(error) / "weft-XXXXXX";
    WEFT_CHECK(!error, DeviceError, "no folder for a temporary file: ", error.message());
    FileDescriptor file(mkstemp(path_.data()));
    WEFT_CHECK(file.get() >= 0, DeviceError, "can't write a temporary file: ", errno_text(errno));
    std::size_t done = 0;
    while (done < content.size()) {
      const ssize_t written = uninterrupted(
          [&] { return write(file.get(), content.data() + done, content.size() - done); });
      if (written <= 0) break;
      done += static_cast<std::size_t>(written);
    }
    if (file.close() && done == content.size()) return;
    unlink(path_.c_str());
    throw DeviceError(detail::concat("can't write ", path_, ": ", errno_text(errno)));
  }
  ~TemporaryFile() { unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Everything that comes out of a pipe; `error` is set where that can't be read to its end.
std::string read_all(int descriptor, int& error) {
  std::string output;
  std::array<char, 4096> buffer;
  while (true) {
    const ssize_t count =
        uninterrupted([&] { return read(descriptor, buffer.data(), buffer.size()); });
    if (count < 0) error = errno;
    if (count <= 0) return output;
    output.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

/// A process that is waited for.
class Child {
 public:
  Child() = default;
  ~Child() { wait(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t& id() { return id_; }
  /// Its status; nothing if there is no such process any more.
  std::optional<int> wait() {
    int status = 0;
    const pid_t waited = std::exchange(id_, 0);
    if (waited == 0 || uninterrupted([&] { return waitpid(waited, &status, 0); }) != waited)
      return std::nullopt;
    return status;
  }

 private:
  pid_t id_ = 0;
};

/// Starts a program whose output goes into the pipe.  Returns 0 or the reason.
int start(const std::string& program, const char* option, const std::string& file, int output,
          pid_t& child) {
  posix_spawn_file_actions_t actions;
  int error = posix_spawn_file_actions_init(&actions);
  if (error != 0) return error;
  std::array<std::string, 3> words{program, option, file};
  std::array<char*, 4> arguments{words[0].data(), words[1].data(), words[2].data(), nullptr};
  for (const int file : {STDOUT_FILENO, STDERR_FILENO})
    if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, output, file);
  pid_t started = 0;
  if (error == 0)
    error = posix_spawn(&started, program.c_str(), &actions, nullptr, arguments.data(), environ);
  if (error == 0) child = started;
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

}  // namespace

std::string find_disassembler() {
  std::string program = find_cuda_program("nvdisasm");
  return program.empty() ? find_cuda_program("cuobjdump") : program;
}

std::string disassemble(std::span<const std::byte> cubin, const std::string& program) {
  WEFT_CHECK(!program.empty(), UnsupportedError,
             "sass: there is no disassembler: neither nvdisasm nor cuobjdump is in the CUDA "
             "toolkit's folder or in PATH; both come with the toolkit (packages cuda-nvdisasm and "
             "cuda-cuobjdump)");
  const TemporaryFile file(cubin);
  const char* const option = program.ends_with("cuobjdump") ? "-sass" : "-c";
  std::array<int, 2> ends{};
  WEFT_CHECK(pipe2(ends.data(), O_CLOEXEC) == 0, DeviceError, "no pipe: ", errno_text(errno));
  Child child;  // before the pipe, which must be closed when it is waited for
  FileDescriptor output_end(ends[0]), input_end(ends[1]);
  const int error = start(program, option, file.path(), input_end.get(), child.id());
  WEFT_CHECK(error == 0, DeviceError, "can't run ", program, ": ", errno_text(error));
  input_end.close();
  int read_error = 0;
  const std::string output = read_all(output_end.get(), read_error);
  output_end.close();
  const std::optional<int> status = child.wait();
  WEFT_CHECK(status, DeviceError, "can't wait for ", program, ": ", errno_text(errno));
  WEFT_CHECK(read_error == 0, DeviceError, "can't read what ", program,
             " says: ", errno_text(read_error));
  WEFT_CHECK(WIFEXITED(*status) && WEXITSTATUS(*status) == 0, DeviceError, program,
             " failed: ", output);
  return output;
}

}  // namespace weft::jit::nvrtc
