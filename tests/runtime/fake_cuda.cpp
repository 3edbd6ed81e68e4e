// Stands in for libnvrtc where the search for them is tested.  FAKE_NVRTC_LACKS_CUBIN
// leaves out what old versions lack.
#include <cstddef>

extern "C" {
int nvrtcVersion(int* major, int* minor) {
  *major = 12;
  *minor = 4;
  return 0;
}
const char* nvrtcGetErrorString(int) { return "NVRTC_ERROR_COMPILATION"; }
int nvrtcCreateProgram(void** program, const char*, const char*, int, const char* const*,
                       const char* const*) {
  *program = nullptr;
  return 0;
}
int nvrtcDestroyProgram(void**) { return 0; }
int nvrtcCompileProgram(void*, int, const char* const*) { return 6; }
int nvrtcGetPTXSize(void*, std::size_t*) { return 1; }
int nvrtcGetPTX(void*, char*) { return 1; }
#ifndef FAKE_NVRTC_LACKS_CUBIN
int nvrtcGetCUBINSize(void*, std::size_t*) { return 1; }
#endif
int nvrtcGetCUBIN(void*, char*) { return 1; }
int nvrtcGetProgramLogSize(void*, std::size_t* size) {
  *size = 8;
  return 0;
}
int nvrtcGetProgramLog(void*, char* text) {
  for (int i = 0; i < 8; ++i) text[i] = "too odd"[i];
  return 0;
}
int nvrtcGetNumSupportedArchs(int* count) {
  *count = 1;
  return 0;
}
int nvrtcGetSupportedArchs(int* archs) {
  *archs = 90;
  return 0;
}
}
