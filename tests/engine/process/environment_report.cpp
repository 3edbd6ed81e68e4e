// environment_report FOLDER: what weft makes of its environment, a line each, with all that it logs
// in between; whether it dumped something into FOLDER.  Exit status: 3 in a program that has more
// rights than its caller, 0 in others.
#include <weft/engine.h>
#include <weft/error.h>
#include <weft/info.h>
#include <weft/tuning.h>

#include "jit/code_registry.h"
#include "runtime/cuda_libraries.h"
#include "runtime/exec_memory.h"

#include <sys/auxv.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

void say(const char* what, const std::string& value) {
  std::printf("%s: %s\n", what, value.c_str());
}

void report(const std::filesystem::path& dumps) {
  using namespace weft;
  say("code memory", code_memory_refusal());
  const DiskCacheOptions cache = DiskCacheOptions::from_environment();
  say("cache", detail::concat(name(cache.mode), " ", cache.folder, " ", cache.max_bytes));
  say("thresholds", tuning_file());
  say("program", find_cuda_program("weft-tool"));
  for (const std::string& candidate : nvrtc_candidates(CudaEnvironment::of_process()))
    say("nvrtc", candidate);
  for (const std::string& candidate : cuda_driver_candidates(CudaEnvironment::of_process()))
    say("driver", candidate);
  for (const EngineInfo::Backend& backend : engine_info().backends)
    say(backend.name.c_str(), backend.unavailable_reason);
  say("processor", engine_info().cpu_features);
  Engine engine;
  const Tensor x = arange(100);
  say("sum", engine.eval(Expr(x) + 1).select(0, 99).item() == Scalar(100) ? "right" : "wrong");
  say("perf", jit::is_code_registered() ? "told" : "not told");
  say("dumps", std::filesystem::is_empty(dumps) ? "none" : "some");
}

}  // namespace

int main(int, char** argv) {
  try {
    report(argv[1]);
  } catch (const std::exception& error) {
    say("error", error.what());
  }
  std::fflush(stdout);
  std::remove(("/tmp/perf-" + std::to_string(getpid()) + ".map").c_str());
  std::_Exit(getauxval(AT_SECURE) != 0 ? 3 : 0);
}
