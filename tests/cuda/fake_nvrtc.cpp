// Stands in for libnvrtc: compiles generated source with the compiler of the tests, by way of
// tests/jit/nvrtc/cuda_shim.h, into a library that fake_gpu.cpp loads.
#include "tests/cuda/fake_gpu_state.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace {

namespace fs = std::filesystem;

struct Program {
  std::string source, library, log;
};

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string unit_of(const std::string& source) {
  const bool has_barriers = source.find("__syncthreads") != source.npos;
  const bool has_other_functions = std::getenv("WEFT_FAKE_GPU_OTHER_FUNCTIONS") != nullptr;
  std::ostringstream text;
  text << "#include \"tests/jit/nvrtc/"
       << (has_other_functions ? "other_functions.h" : "cuda_shim.h") << "\"\nnamespace k {\n"
       << source
       << "}\nstatic void call(const void* args) { k::weft_kernel(*(const k::Args*)args); }\n"
          "extern \"C\" {\n"
          "extern const unsigned fake_args_bytes;\n"
          "const unsigned fake_args_bytes = sizeof(k::Args);\n"
          "const char* fake_launch(const void* args, unsigned blocks, void (*record)(const "
          "shim::Access&)) "
          "{\n  shim::record = record;\n  return shim::launch(call, args, blocks, "
       << has_barriers << ");\n}\n}\n";
  return text.str();
}

}  // namespace

extern "C" {

int nvrtcVersion(int* major, int* minor) {
  *major = 12;
  *minor = 8;
  return 0;
}
const char* nvrtcGetErrorString(int) { return "NVRTC_ERROR_COMPILATION"; }
int nvrtcCreateProgram(Program** program, const char* source, const char*, int, const char* const*,
                       const char* const*) {
  *program = new Program{source, {}, {}};
  return 0;
}
int nvrtcDestroyProgram(Program** program) {
  delete *program;
  return 0;
}
int nvrtcCompileProgram(Program* program, int, const char* const*) {
  {
    const std::lock_guard lock(fake::state().mutex);
    if (const int failure = fake::enter("nvrtcCompileProgram"); failure != 0) {
      program->log = "weft.cu(1): error: told to fail";
      return failure;
    }
  }
  // Many tests want the same kernels.
  static std::map<std::string, std::string>& compiled = *new std::map<std::string, std::string>;
  const std::lock_guard lock(fake::state().mutex);
  std::string& known = compiled[program->source];
  if (!known.empty()) {
    program->library = known;
    return 0;
  }
  std::string folder = fs::temp_directory_path() / "weft_fake_nvrtc_XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return 1;
  const fs::path file = fs::path(folder) / "kernel.cpp", library = fs::path(folder) / "kernel.so",
                 log = fs::path(folder) / "log";
  std::ofstream(file) << unit_of(program->source);
  const std::string command = WEFT_SHIM_COMPILER " -o " + library.string() + " " + file.string() +
                              " > " + log.string() + " 2>&1";
  const bool is_compiled = std::system(command.c_str()) == 0;
  program->log = read(log);
  program->library = read(library);
  if (is_compiled) known = program->library;
  fs::remove_all(folder);
  return is_compiled ? 0 : 6;
}
int nvrtcGetPTXSize(Program*, std::size_t* size) {
  *size = 4;
  return 0;
}
int nvrtcGetPTX(Program*, char* text) {
  std::memcpy(text, "ptx", 4);
  return 0;
}
int nvrtcGetCUBINSize(Program* program, std::size_t* size) {
  *size = program->library.size();
  return 0;
}
int nvrtcGetCUBIN(Program* program, char* bytes) {
  std::memcpy(bytes, program->library.data(), program->library.size());
  return 0;
}
int nvrtcGetProgramLogSize(Program* program, std::size_t* size) {
  *size = program->log.size() + 1;
  return 0;
}
int nvrtcGetProgramLog(Program* program, char* text) {
  std::memcpy(text, program->log.c_str(), program->log.size() + 1);
  return 0;
}
int nvrtcGetNumSupportedArchs(int* count) {
  *count = 2;
  return 0;
}
int nvrtcGetSupportedArchs(int* archs) {
  archs[0] = 80;
  archs[1] = 90;
  return 0;
}
}
