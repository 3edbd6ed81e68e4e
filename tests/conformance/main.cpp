// weft_conformance: replays recordings of PyTorch and counts where weft agrees.
#include "tests/conformance/replay.h"

#include <weft/error.h>

#include <getopt.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>

namespace weft::conformance {

Op recorded_op(std::string op) {
  if (op.ends_with('_')) op.pop_back();
  if (op == "floor_divide") op = "div_floor";
  if (const std::optional<Op> found = parse_op(op)) return *found;
  throw Mismatch("weft has no operator '" + op + "'");
}

namespace {

namespace fs = std::filesystem;

constexpr std::size_t failures_shown = 5;

struct Options {
  std::string directory;
  std::string backend = "auto";
  std::string only;
  bool json = false;
};

struct Failure {
  int line_number;
  std::string reason;
  std::string line;
};

struct FileResult {
  std::string file;
  int passed = 0;
  int skipped = 0;
  std::vector<Failure> failures;
  std::string worst;
};

void check_keys(const json& recorded, const RecordingKind& kind) {
  const std::string known = " id tag " + std::string(kind.keys) + " ";
  for (const auto& [key, value] : recorded.items())
    if (key.find(' ') != key.npos || known.find(" " + key + " ") == known.npos)
      throw Mismatch("'" + key + "' is no known key of a case");
}

void replay_line(Context& context, const RecordingKind* kind, const std::string& line,
                 int line_number, FileResult& result) {
  std::string reason;
  try {
    if (kind == nullptr) throw Mismatch("recordings of this name are not understood");
    const json recorded = json::parse(line);
    check_keys(recorded, *kind);
    const Verdict verdict = kind->replay(context, recorded);
    ++(verdict == Verdict::passed ? result.passed : result.skipped);
    return;
  } catch (const Error& error) {
    reason = "unexpected " + std::string(error.kind()) + " error: " + error.what();
  } catch (const Mismatch& mismatch) {
    reason = mismatch.what();
  } catch (const std::exception& error) {
    reason = std::string("the case is not understood: ") + error.what();
  }
  result.failures.push_back({line_number, std::move(reason), line});
}

FileResult replay_file(Engine& engine, const fs::path& path) {
  FileResult result;
  result.file = path.filename().string();
  const auto* kind = std::ranges::find(recording_kinds, result.file, &RecordingKind::file);
  const bool is_known = kind != std::end(recording_kinds);
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  Context context{engine, {}};
  int line_number = 0;
  for (std::string line; std::getline(in, line);)
    replay_line(context, is_known ? kind : nullptr, line, ++line_number, result);
  result.worst = context.worst.text();
  return result;
}

/// The recordings in the directory, in the order of their names.
std::vector<fs::path> find_recordings(const Options& options) {
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(options.directory)) {
    const fs::path& path = entry.path();
    if (path.extension() != ".jsonl") continue;
    if (options.only.empty() || path.filename() == options.only || path.stem() == options.only)
      paths.push_back(path);
  }
  if (paths.empty())
    throw std::runtime_error("no recordings " + (options.only.empty() ? "" : options.only + " ") +
                             "in " + options.directory);
  std::ranges::sort(paths);
  return paths;
}

void print_text(const FileResult& result) {
  std::cout << result.file << ": " << result.passed << " passed, " << result.failures.size()
            << " failed, " << result.skipped << " skipped\n";
  if (!result.worst.empty()) std::cout << "  furthest from exact: " << result.worst << "\n";
  const std::size_t shown = std::min(result.failures.size(), failures_shown);
  for (const Failure& failure : std::span(result.failures).first(shown))
    std::cout << "  " << result.file << ":" << failure.line_number << ": " << failure.reason
              << "\n    " << failure.line << "\n";
  if (shown < result.failures.size())
    std::cout << "  ... and " << result.failures.size() - shown << " more\n";
  std::cout.flush();
}

json to_json(const FileResult& result) {
  json failures = json::array();
  for (const Failure& failure : result.failures)
    failures.push_back(
        {{"line", failure.line_number}, {"reason", failure.reason}, {"case", failure.line}});
  return {{"file", result.file},
          {"passed", result.passed},
          {"failed", failures.size()},
          {"skipped", result.skipped},
          {"furthest_from_exact", result.worst},
          {"failures", failures}};
}

/// The exit code.
int run(const Options& options) {
  Engine engine({.backend = options.backend});
  json files = json::array();
  bool all_passed = true;
  for (const fs::path& path : find_recordings(options)) {
    const FileResult result = replay_file(engine, path);
    all_passed = all_passed && result.failures.empty();
    if (options.json) {
      files.push_back(to_json(result));
    } else {
      print_text(result);
    }
  }
  if (options.json)
    // Lines that are no text are reported as well as they can be.
    std::cout << json{{"backend", options.backend}, {"ok", all_passed}, {"files", files}}.dump(
                     2, ' ', false, json::error_handler_t::replace)
              << "\n";
  std::cout.flush();
  if (!std::cout) throw std::runtime_error("cannot write the report");
  return all_passed ? 0 : 1;
}

constexpr const char* usage =
    "Replays recordings of PyTorch and counts where weft agrees.\n"
    "usage: weft_conformance DIRECTORY [OPTION...]\n"
    "  DIRECTORY        where the .jsonl files are\n"
    "  --backend=NAME   auto (default), interp, xbyak or llvm\n"
    "  --only=FILE      replay this file alone: values or values.jsonl\n"
    "  --json           print one JSON object, with every failure\n";

int refuse(const std::string& reason) {
  std::cerr << "weft_conformance: " << reason << " (see --help)\n";
  return 1;
}

/// The exit status if there is nothing to replay, else -1.
int read_arguments(int argc, char** argv, Options& result) {
  const option options[] = {{"backend", required_argument, nullptr, 'b'},
                            {"only", required_argument, nullptr, 'o'},
                            {"json", no_argument, nullptr, 'j'},
                            {"help", no_argument, nullptr, 'h'},
                            {nullptr, 0, nullptr, 0}};
  opterr = 0;
  for (int found = 0; (found = getopt_long(argc, argv, "h", options, nullptr)) != -1;) {
    switch (found) {
      case 'b': result.backend = optarg; break;
      case 'o': result.only = optarg; break;
      case 'j': result.json = true; break;
      case 'h': std::cout << usage; return 0;
      default:
        return refuse("the option " + std::string(argv[optind - 1]) +
                      " is unknown or has no value");
    }
  }
  if (optind + 1 != argc) return refuse("one directory is wanted");
  result.directory = argv[optind];
  if (!fs::is_directory(result.directory))
    return refuse("there is no directory " + result.directory);
  return -1;
}

}  // namespace
}  // namespace weft::conformance

int main(int argc, char** argv) {
  weft::conformance::Options options;
  const int status = weft::conformance::read_arguments(argc, argv, options);
  if (status >= 0) return status;
  try {
    return weft::conformance::run(options);
  } catch (const std::exception& error) {
    std::cerr << "weft_conformance: " << error.what() << "\n";
    return 1;
  }
}
