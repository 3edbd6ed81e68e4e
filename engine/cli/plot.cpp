// Where the picture goes, and the one that python3 draws; svg.cpp has the other.
#include "engine/cli/plot.h"

#include <weft/error.h>

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>
#include <utility>

extern char** environ;

namespace weft::cli {
namespace {

constexpr const char* has_matplotlib =
    "import importlib.util, sys\nsys.exit(0 if importlib.util.find_spec('matplotlib') else 1)";

/// Prints the bytes of the picture, or says what is wrong and exits with 1.
constexpr const char* draw_png = R"python(
import io, json, sys
try:
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    told = json.loads(sys.argv[1])
    figure, axes = pyplot.subplots(figsize=(8, 1.2 + 0.45 * len(told["rows"])), layout="tight")
    names = [row["variant"] for row in told["rows"]]
    speeds = [row["gbps"] for row in told["rows"]]
    bars = axes.barh(names, speeds, color="#4477aa")
    axes.bar_label(bars, [row["label"] for row in told["rows"]], padding=3)
    axes.invert_yaxis()
    axes.set_xlim(0, max(speeds, default=0) * 1.35 or 1)
    if told["limit"]:
        axes.axvline(told["limit"], color="#cc3311", linestyle="--", linewidth=1)
    axes.set_xlabel("GB/s (dashed: memcpy)")
    axes.set_title(told["title"], fontsize=10, parse_math=False)
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=150)
    sys.stdout.buffer.write(picture.getvalue())
except Exception as error:
    print(error)
    sys.exit(1)
)python";

std::string reason(int error) { return std::generic_category().message(error); }

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

struct Ran {
  int error = 0;  ///< errno, if it could not be started
  int status = -1;
  std::string output;
};

/// Runs `python3 -c script argument`, its complaints left out.
Ran run_python(const char* script, const std::string& argument) {
  Ran ran;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {errno, -1, {}};
  const File from(::fdopen(ends[0], "r"));
  File to(::fdopen(ends[1], "w"));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::string words[] = {"python3", "-c", script, argument};
  std::array<char*, 5> pointers{words[0].data(), words[1].data(), words[2].data(), words[3].data(),
                                nullptr};
  pid_t child = 0;
  ran.error = ::posix_spawnp(&child, "python3", &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  to.reset();
  if (ran.error != 0) return ran;
  std::array<char, 4096> part;
  while (const std::size_t count = std::fread(part.data(), 1, part.size(), from.get()))
    ran.output.append(part.data(), count);
  while (::waitpid(child, &ran.status, 0) < 0 && errno == EINTR) {
  }
  return ran;
}

bool is_png(const std::string& path) { return path.ends_with(".png"); }

void check_png() {
  const Ran ran = run_python(has_matplotlib, {});
  WEFT_CHECK(ran.error == 0, UnsupportedError,
             "--plot: a .png is drawn by python3, which can't be started (", reason(ran.error),
             "); Debian's packages are python3 and python3-matplotlib, and a .svg needs neither");
  WEFT_CHECK(ran.status == 0, UnsupportedError,
             "--plot: a .png is drawn by python3 with matplotlib, which is not there; Debian's "
             "package is python3-matplotlib, and a .svg needs none");
}

std::string png_of(const BenchReport& report) {
  using nlohmann::ordered_json;
  ordered_json told;
  told["title"] = plot_title(report);
  told["limit"] = limit_gbps(report);
  told["rows"] = ordered_json::array();
  for (const BenchReport::Row& row : report.rows)
    told["rows"].push_back(
        {{"variant", row.variant}, {"gbps", row.gbps}, {"label", bar_label(row)}});
  Ran ran = run_python(draw_png, told.dump(-1, ' ', true, ordered_json::error_handler_t::replace));
  WEFT_CHECK(ran.error == 0 && ran.status == 0, DeviceError,
             "--plot: matplotlib failed: ", ran.error == 0 ? ran.output : reason(ran.error));
  return std::move(ran.output);
}

/// Errors: DeviceError if the file could not be written now.
void check_writable(const std::string& path) {
  std::error_code ignored;
  WEFT_CHECK(!std::filesystem::is_directory(path, ignored), DeviceError, "--plot: cannot write '",
             path, "': it is a folder");
  if (::access(path.c_str(), W_OK) == 0) return;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const bool can_be_made =
      errno == ENOENT && ::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) == 0;
  WEFT_CHECK(can_be_made, DeviceError, "--plot: cannot write '", path, "': ", reason(errno));
}

}  // namespace

PlotFile::PlotFile(std::string path) : path_(std::move(path)) {
  WEFT_CHECK(is_png(path_) || path_.ends_with(".svg"), ArgumentError, "--plot: '", path_,
             "' ends in neither .svg nor .png");
  check_writable(path_);
  if (is_png(path_)) check_png();
}

void PlotFile::write(const BenchReport& report) const {
  const std::string picture = is_png(path_) ? png_of(report) : svg_of(report);
  std::ofstream file(path_, std::ios::binary);
  file << picture;
  file.flush();
  WEFT_CHECK(file.good(), DeviceError, "--plot: cannot write '", path_, "'");
}

}  // namespace weft::cli
