// A tuning file is text: a line for the format, one for the processor, one a threshold, and a
// checksum over what stands before it.
#include <weft/tuning.h>

#include "runtime/cpu_model.h"
#include "runtime/environment.h"
#include "runtime/file.h"
#include "runtime/hash.h"
#include "runtime/log.h"
#include "runtime/never_destroyed.h"
#include "runtime/text.h"

#include <weft/error.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>
#include <span>
#include <system_error>

namespace weft {
namespace {

constexpr std::string_view format_line = "weft tuning 1";
constexpr std::string_view checksum_name = "checksum ";
constexpr std::size_t max_file_bytes = 4096;

std::string folder_of(const std::string& file) {
  const std::size_t slash = file.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : file.substr(0, slash);
}

std::string checksum_of(std::string_view text) {
  return hex16(hash_bytes(text.data(), text.size()));
}

std::string cpu_line() { return "cpu " + cpu_model(); }

/// Why a file or folder of this status could have been changed by somebody else; empty if it could
/// not.  In a folder like /tmp nobody replaces what belongs to others.
std::string distrust(const struct stat& status, bool is_folder) {
  if (is_own(status)) return {};
  if (status.st_uid != ::geteuid() && status.st_uid != 0) return "belongs to another user";
  if (is_folder && (status.st_mode & S_ISVTX) != 0) return {};
  return is_folder ? "lies in a folder that other users can write to"
                   : "can be written by other users";
}

/// The whole file, or why it is not read.
struct Read {
  std::string text;
  std::string fault;
};

Read read_file(const std::string& path) {
  // O_NONBLOCK: a pipe must fail below, not wait for its writer.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (file.get() < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return {};
    return {{}, errno == ELOOP ? "is a symbolic link" : "can't be read: " + errno_text(errno)};
  }
  struct stat status, folder;
  if (::fstat(file.get(), &status) != 0 || ::stat(folder_of(path).c_str(), &folder) != 0)
    return {{}, "can't be read: " + errno_text(errno)};
  if (!S_ISREG(status.st_mode)) return {{}, "is no file"};
  for (std::string why : {distrust(status, false), distrust(folder, true)})
    if (!why.empty()) return {{}, std::move(why)};
  std::array<char, max_file_bytes + 1> bytes;
  std::size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t count = ::read(file.get(), bytes.data() + size, bytes.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return {{}, "can't be read: " + errno_text(errno)};
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  if (size > max_file_bytes) return {{}, "is damaged: it is too long"};
  if (size == 0) return {{}, "is damaged: it is empty"};
  return {std::string(bytes.data(), size), {}};
}

/// Takes a line off the front; nothing if there is no whole one.
std::optional<std::string_view> next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == text.npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

std::optional<std::int64_t> number_in(std::string_view line, const TuningField& field) {
  if (!line.starts_with(field.name) || line.substr(field.name.size()).substr(0, 1) != " ")
    return std::nullopt;
  const std::string_view digits = line.substr(field.name.size() + 1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  if (value < field.least || value > field.most) return std::nullopt;
  return value;
}

/// Fills in `tuning`; returns what is wrong with the text, or nothing.
std::string parse(std::string_view text, Tuning& tuning) {
  const std::string_view whole = text;
  const std::optional<std::string_view> first = next_line(text);
  if (first != format_line)
    return first && first->starts_with("weft tuning ") ? "was written by another version of weft"
                                                       : "is no tuning file";
  const std::size_t sum = whole.rfind(std::string("\n") + std::string(checksum_name));
  if (sum == whole.npos || whole.substr(sum + 1) != std::string(checksum_name) +
                                                        checksum_of(whole.substr(0, sum + 1)) +
                                                        "\n")
    return "is damaged: its checksum is wrong";
  if (next_line(text) != cpu_line()) return "was measured on another processor";
  for (const TuningField& field : tuning_fields()) {
    const std::optional<std::string_view> line = next_line(text);
    const std::optional<std::int64_t> value = line ? number_in(*line, field) : std::nullopt;
    if (!value)
      return detail::concat("is damaged: expected ", field.name, " with a number from ",
                            field.least, " to ", field.most);
    tuning.*field.value = *value;
  }
  if (!text.starts_with(checksum_name)) return "is damaged: it has a line that means nothing";
  return {};
}

std::string text_of(const Tuning& tuning) {
  std::string text = detail::concat(format_line, "\n", cpu_line(), "\n");
  for (const TuningField& field : tuning_fields())
    text += detail::concat(field.name, " ", tuning.*field.value, "\n");
  return text + std::string(checksum_name) + checksum_of(text) + "\n";
}

}  // namespace

const std::vector<TuningField>& tuning_fields() {
  constexpr std::int64_t most_bytes = std::int64_t{1} << 50;
  static const NeverDestroyed<std::vector<TuningField>> fields([] {
    return std::vector<TuningField>{
        {"streaming_bytes", &Tuning::streaming_bytes, 0, most_bytes},
        {"tile_streaming_bytes", &Tuning::tile_streaming_bytes, 0, most_bytes},
        {"tile_large_bytes", &Tuning::tile_large_bytes, 1, most_bytes},
        {"near_bytes_per_us", &Tuning::near_bytes_per_us, 100, 100'000'000},
        {"far_bytes_per_us", &Tuning::far_bytes_per_us, 100, 100'000'000},
        {"thread_work_ns", &Tuning::thread_work_ns, 10, 1'000'000'000},
    };
  });
  return *fields;
}

std::string tuning_file() {
  if (std::string named = environment_variable("WEFT_TUNE"); !named.empty())
    return named == "off" ? std::string() : named;
  // The XDG specification has relative paths ignored.
  if (const std::string home = environment_variable("XDG_CONFIG_HOME"); home.starts_with('/'))
    return home + "/weft/tuning";
  const std::string home = environment_variable("HOME");
  return home.starts_with('/') ? home + "/.config/weft/tuning" : std::string();
}

StoredTuning load_tuning(const std::string& file) {
  StoredTuning stored;
  stored.file = file;
  if (file.empty() || file.find('\0') != file.npos) return stored;
  const Read read = read_file(file);
  stored.fault = read.fault;
  if (read.text.empty()) return stored;
  Tuning found;
  stored.fault = parse(read.text, found);
  stored.is_stored = stored.fault.empty();
  if (stored.is_stored) stored.tuning = found;
  return stored;
}

namespace {

/// A file that is written beside its place, in a folder that is made if there is none.
template <class Write>
void write_file(const std::string& file, const Write& write) {
  try {
    namespace fs = std::filesystem;
    const std::string folder = folder_of(file);
    std::error_code ignored;  // the file says what is wrong
    const fs::perms others_write = fs::perms::group_write | fs::perms::others_write;
    if (fs::create_directories(folder, ignored))
      fs::permissions(folder, others_write, fs::perm_options::remove, ignored);
    struct stat status;
    const bool exists = ::stat(folder.c_str(), &status) == 0;
    WEFT_CHECK(exists || errno == ENOENT, DeviceError,
               "the folder can't be looked at: ", errno_text(errno));
    const std::string why = exists ? distrust(status, true) : "";
    WEFT_CHECK(why.empty(), DeviceError, "a file that ", why, " would not be used");
    OutputFile output(file);
    write(output);
  } catch (const DeviceError& error) {
    throw DeviceError(detail::concat(file, ": ", error.what()));
  }
}

}  // namespace

void check_tuning_file(const std::string& file) {
  write_file(file, [](OutputFile&) {});  // without commit() nothing of it stays
}

void store_tuning(const std::string& file, const Tuning& tuning) {
  write_file(file, [&](OutputFile& output) {
    const std::string text = text_of(tuning);
    output.write(std::as_bytes(std::span(text)));
    output.commit();
    // Whatever the process lets others do with its files, this one would not be used then.
    if (::chmod(file.c_str(), 0644) != 0)
      throw DeviceError("the file can't be written: " + errno_text(errno));
  });
}

const StoredTuning& machine_tuning() {
  static const NeverDestroyed<StoredTuning> stored([] {
    StoredTuning found = load_tuning(tuning_file());
    if (!found.fault.empty()) log(LogTopic::tune, found.file, " is ignored: it ", found.fault);
    return found;
  });
  return *stored;
}

namespace {

/// Of the thread, so that a measurement changes nothing for the threads beside it.
constinit thread_local const Tuning* scoped_tuning = nullptr;

}  // namespace

TuningScope::TuningScope(const Tuning& tuning) : before_(scoped_tuning) { scoped_tuning = &tuning; }

TuningScope::~TuningScope() { scoped_tuning = before_; }

const Tuning& current_tuning() {
  return scoped_tuning != nullptr ? *scoped_tuning : machine_tuning().tuning;
}

}  // namespace weft
