// NVRTC (CUDA C++ to device code) and the CUDA driver, found and opened at run time.  weft is built
// without any of CUDA: what is used of NVRTC is declared here, of the driver in cuda_driver.h.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// What the search for a library led to.
struct CudaLibrary {
  std::string path;     ///< as the dynamic linker knows it; empty if there is none
  std::string version;  ///< "13.0"
  std::string reason;   ///< why it can't be used and what to do; empty if it can
};

/// NVRTC's functions by NVRTC's names.  A result of 0 is success.
struct Nvrtc {
  using Program = struct NvrtcProgram*;

  CudaLibrary library;
  int (*Version)(int* major, int* minor) = nullptr;
  const char* (*GetErrorString)(int result) = nullptr;
  int (*CreateProgram)(Program* program, const char* source, const char* name, int num_headers,
                       const char* const* headers, const char* const* header_names) = nullptr;
  int (*DestroyProgram)(Program* program) = nullptr;
  int (*CompileProgram)(Program program, int num_options, const char* const* options) = nullptr;
  int (*GetPTXSize)(Program program, std::size_t* size) = nullptr;
  int (*GetPTX)(Program program, char* text) = nullptr;
  int (*GetCUBINSize)(Program program, std::size_t* size) = nullptr;
  int (*GetCUBIN)(Program program, char* bytes) = nullptr;
  int (*GetProgramLogSize)(Program program, std::size_t* size) = nullptr;
  int (*GetProgramLog)(Program program, char* text) = nullptr;
  int (*GetNumSupportedArchs)(int* count) = nullptr;
  int (*GetSupportedArchs)(int* archs) = nullptr;
};

/// The variables of the environment that say where CUDA is.  Empty: not set.
struct CudaEnvironment {
  std::string nvrtc;        ///< WEFT_NVRTC: this file and no other
  std::string driver;       ///< WEFT_CUDA_DRIVER: this file and no other
  std::string cuda_home;    ///< CUDA_HOME, else CUDA_PATH: a toolkit's folder
  std::string virtual_env;  ///< VIRTUAL_ENV
  std::string conda;        ///< CONDA_PREFIX
  std::string home;         ///< HOME

  /// Programs with more rights than their caller see none of them.
  static CudaEnvironment of_process();
};

/// Files and names to try, best first: what the dynamic linker finds by itself, toolkits' folders,
/// the folders of Python's wheels.
std::vector<std::string> nvrtc_candidates(const CudaEnvironment& environment);
std::vector<std::string> cuda_driver_candidates(const CudaEnvironment& environment);

/// Opens the first candidate that can be opened and has all functions.  Where none can,
/// `library.reason` says what is missing and how to get it.
Nvrtc open_nvrtc(const std::vector<std::string>& candidates);

/// That of this process, opened when first asked for and never closed.
///
/// Threads: any number may call it; all see the same answer.
const Nvrtc& nvrtc();

/// A program of the CUDA toolkit ("nvdisasm"), from the toolkits' folders and then from PATH; empty
/// if there is none.
std::string find_cuda_program(std::string_view name);

}  // namespace weft
