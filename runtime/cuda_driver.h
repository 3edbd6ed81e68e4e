// The CUDA driver's interface as weft declares it, and its errors.  The library is opened at run
// time (runtime/cuda_libraries.h).
#pragma once

#include "runtime/cuda_libraries.h"

#include <weft/error.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace weft {

using CudaResult = int;
using CudaAddress = unsigned long long;  ///< of memory that a device can reach
using CudaContext = struct CudaContextHandle*;
using CudaModule = struct CudaModuleHandle*;
using CudaFunction = struct CudaFunctionHandle*;
using CudaStream = struct CudaStreamHandle*;
using CudaEvent = struct CudaEventHandle*;

namespace cuda_driver_constant {
#define WEFT_CUDA_CONSTANT(name, number, theirs) inline constexpr int name = number;
#include "runtime/cuda_constants.def"
}  // namespace cuda_driver_constant

/// The driver's functions by the driver's names.  A result of 0 is success.
struct CudaDriver {
  CudaLibrary library;  ///< its version is the newest CUDA that the driver knows
#define WEFT_CUDA_FUNCTION(name, symbol, arguments) CudaResult(*name) arguments = nullptr;
#include "runtime/cuda_driver.def"

  /// "CUDA_ERROR_OUT_OF_MEMORY: out of memory", as the driver has it.
  std::string text(CudaResult result) const;
  /// What to do about a result, where more is known than the driver says; empty, or "; ...".
  std::string advice(CudaResult result) const;
};

/// Opens the first candidate that can be opened and has all functions.  Where none can,
/// `library.reason` says what is missing and how to get it.
CudaDriver open_cuda_driver(const std::vector<std::string>& candidates);

/// The driver of this process, opened when first asked for and never closed.
///
/// Threads: any number may call it; all see the same answer.
const CudaDriver& cuda_driver();

namespace detail {
[[noreturn, gnu::cold]] void throw_cuda_error(CudaResult result, std::string_view function,
                                              const std::string& doing);
}

/// Calls a function of cuda_driver().  What follows the arguments' parentheses says what the call
/// was for, in parts, and is made into text only if it fails.
///
/// Errors: DeviceError with the function's name, the driver's text and what to do.
#define WEFT_CUDA_CALL(name, arguments, ...)                                          \
  do {                                                                                \
    const ::weft::CudaResult weft_cuda_result = ::weft::cuda_driver().name arguments; \
    if (weft_cuda_result != 0) [[unlikely]]                                           \
      ::weft::detail::throw_cuda_error(weft_cuda_result, "cu" #name,                  \
                                       ::weft::detail::concat(__VA_ARGS__));          \
  } while (false)

}  // namespace weft
