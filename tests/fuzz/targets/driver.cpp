// What libFuzzer does, for compilers without it: replays files, then runs changed copies of them.
// It takes the options of libFuzzer that are named below, and knows nothing of coverage.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace {

using Input = std::vector<std::uint8_t>;
using Random = std::mt19937_64;

struct Options {
  std::int64_t runs = -1;          ///< -runs=N; below 0: no limit
  double max_total_time_s = 0;     ///< -max_total_time=S; 0: no limit
  std::uint64_t seed = 0;          ///< -seed=N; 0: another one each time
  std::size_t max_bytes = 16384;   ///< -max_len=N
  unsigned timeout_s = 120;        ///< -timeout=S of one input
  std::string artifact_prefix;     ///< -artifact_prefix=PATH/
  std::vector<std::string> paths;  ///< files and folders
};

/// The value of `-NAME=VALUE`.
std::optional<std::string> value_of(std::string_view argument, std::string_view name) {
  if (!argument.starts_with('-') || !argument.substr(1).starts_with(name)) return {};
  argument.remove_prefix(1 + name.size());
  if (!argument.starts_with('=')) return {};
  return std::string(argument.substr(1));
}

Options parse_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (const auto runs = value_of(argument, "runs"))
      options.runs = std::atoll(runs->c_str());
    else if (const auto time = value_of(argument, "max_total_time"))
      options.max_total_time_s = std::atof(time->c_str());
    else if (const auto seed = value_of(argument, "seed"))
      options.seed = std::strtoull(seed->c_str(), nullptr, 10);
    else if (const auto length = value_of(argument, "max_len"))
      options.max_bytes = std::strtoull(length->c_str(), nullptr, 10);
    else if (const auto timeout = value_of(argument, "timeout"))
      options.timeout_s = static_cast<unsigned>(std::atoi(timeout->c_str()));
    else if (const auto prefix = value_of(argument, "artifact_prefix"))
      options.artifact_prefix = *prefix;
    else if (argument.starts_with('-'))
      std::fprintf(stderr, "%s is left to libFuzzer\n", argv[i]);
    else
      options.paths.emplace_back(argument);
  }
  if (options.seed == 0) options.seed = std::random_device()();
  return options;
}

/// The input that runs, and the file that it goes to if it is the last.
std::span<const std::uint8_t> current_input;
std::array<char, 4096> crash_path{};

/// Called from a signal handler.
void keep_current_input() {
  const int file = open(crash_path.data(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return;
  [[maybe_unused]] const ssize_t written = write(file, current_input.data(), current_input.size());
  close(file);
  static constexpr std::string_view message = "the input is in ";
  [[maybe_unused]] ssize_t said = write(STDERR_FILENO, message.data(), message.size());
  said = write(STDERR_FILENO, crash_path.data(), std::strlen(crash_path.data()));
  said = write(STDERR_FILENO, "\n", 1);
}

void die_of(int signal) {
  keep_current_input();
  std::signal(signal, SIG_DFL);
  raise(signal);
}

void catch_crashes(const std::string& path) {
  std::strncpy(crash_path.data(), path.c_str(), crash_path.size() - 1);
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(keep_current_input);
  for (const int signal : {SIGABRT, SIGALRM}) std::signal(signal, die_of);
  if (__sanitizer_set_death_callback != nullptr) return;  // they show where it was
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, die_of);
}

void run(const Input& input, const Options& options) {
  current_input = input;
  alarm(options.timeout_s);
  // Exactly as long as the input, so that reading beyond it is noticed.
  LLVMFuzzerTestOneInput(input.data(), input.size());
}

std::vector<Input> read_corpus(const std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  for (const std::string& path : paths) {
    if (fs::is_directory(path))
      for (const auto& entry : fs::directory_iterator(path)) files.push_back(entry.path());
    else
      files.emplace_back(path);
  }
  std::ranges::sort(files);  // whatever order the folder has
  std::vector<Input> corpus;
  for (const fs::path& path : files) {
    std::ifstream file(path, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    if (!file) {
      std::fprintf(stderr, "%s can't be read\n", path.c_str());
      std::exit(2);
    }
  }
  return corpus;
}

/// Changes inputs in a few places.
class Mutator {
 public:
  Mutator(Random& random, const std::vector<Input>& corpus, std::size_t max_bytes)
      : random_(random), corpus_(corpus), max_bytes_(max_bytes) {}

  Input make() {
    Input input = corpus_.empty() ? Input() : corpus_[below(corpus_.size())];
    for (std::size_t left = 1 + below(5); left > 0; --left) change(input);
    if (input.size() > max_bytes_) input.resize(max_bytes_);
    return input;
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }
  /// A place, the end included.
  auto place(Input& input) {
    return input.begin() + static_cast<std::ptrdiff_t>(below(input.size() + 1));
  }
  std::span<const std::uint8_t> piece_of(const Input& from) {
    if (from.empty()) return {};
    const std::size_t begin = below(from.size());
    const std::size_t most = std::min<std::size_t>(from.size() - begin, 1 + below(32));
    return std::span(from).subspan(begin, most);
  }

  void change(Input& input) {
    if (input.empty()) {
      insert(input);
      return;
    }
    const std::size_t at = below(input.size());
    switch (below(9)) {
      case 0: input[at] ^= static_cast<std::uint8_t>(1u << below(8)); break;
      case 1: input[at] = static_cast<std::uint8_t>(random_()); break;
      case 2: input[at] = static_cast<std::uint8_t>(input[at] + below(5) - 2); break;
      case 3: overwrite(input, at); break;
      case 4: insert(input); break;
      case 5: erase(input, at); break;
      case 6: insert_piece(input, input); break;
      case 7: insert_piece(input, corpus_.empty() ? input : corpus_[below(corpus_.size())]); break;
      default: write_number(input); break;
    }
  }

  /// A number of 1 to 8 bytes at the edges of something.
  void overwrite(Input& input, std::size_t at) {
    static constexpr std::uint64_t numbers[] = {0,
                                                1,
                                                0x7f,
                                                0x80,
                                                0xff,
                                                0x7fff,
                                                0xffff,
                                                0x7fffffff,
                                                0x80000000,
                                                0xffffffff,
                                                0x7fffffffffffffff,
                                                0x8000000000000000,
                                                0xffffffffffffffff};
    const std::uint64_t number = numbers[below(std::size(numbers))];
    const std::size_t bytes = std::min<std::size_t>(std::size_t{1} << below(4), input.size() - at);
    std::memcpy(input.data() + at, &number, bytes);
  }

  void insert(Input& input) {
    Input added(1 + below(8));
    for (std::uint8_t& byte : added) byte = static_cast<std::uint8_t>(random_());
    input.insert(place(input), added.begin(), added.end());
  }

  void erase(Input& input, std::size_t at) {
    const std::size_t count = std::min<std::size_t>(1 + below(16), input.size() - at);
    const auto first = input.begin() + static_cast<std::ptrdiff_t>(at);
    input.erase(first, first + static_cast<std::ptrdiff_t>(count));
  }

  void insert_piece(Input& input, const Input& from) {
    const auto piece = piece_of(from);
    const Input copy(piece.begin(), piece.end());  // `from` may be the input
    input.insert(place(input), copy.begin(), copy.end());
  }

  /// Digits in the place of digits, for texts.
  void write_number(Input& input) {
    const auto is_digit = [](std::uint8_t byte) { return byte >= '0' && byte <= '9'; };
    const auto from = place(input);
    const auto begin = std::find_if(from, input.end(), is_digit);
    const auto end = std::find_if_not(begin, input.end(), is_digit);
    static constexpr std::string_view numbers[] = {"0",
                                                   "1",
                                                   "2",
                                                   "3",
                                                   "4",
                                                   "64",
                                                   "65",
                                                   "2147483648",
                                                   "4294967296",
                                                   "9223372036854775807",
                                                   "9223372036854775808"};
    const std::string_view number = numbers[below(std::size(numbers))];
    const auto at = input.erase(begin, end);
    input.insert(at, number.begin(), number.end());
  }

  Random& random_;
  const std::vector<Input>& corpus_;
  std::size_t max_bytes_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  LLVMFuzzerInitialize(&argc, &argv);
  const Options options = parse_options(argc, argv);
  catch_crashes(options.artifact_prefix + "crash-" + name);
  const std::vector<Input> corpus = read_corpus(options.paths);
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  std::printf("%s: seed %llu, %zu files\n", name.c_str(),
              static_cast<unsigned long long>(options.seed), corpus.size());
  std::fflush(stdout);
  std::int64_t num_runs = 0;
  for (const Input& input : corpus) run(input, options), ++num_runs;
  Random random(options.seed);
  Mutator mutator(random, corpus, options.max_bytes);
  const bool is_limited = options.runs >= 0 || options.max_total_time_s > 0;
  while (is_limited && (options.runs < 0 || num_runs < options.runs) &&
         (options.max_total_time_s <= 0 || seconds() < options.max_total_time_s))
    run(mutator.make(), options), ++num_runs;
  std::printf("%s: %lld inputs in %.1f s\n", name.c_str(), static_cast<long long>(num_runs),
              seconds());
  return 0;
}
