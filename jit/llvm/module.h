// The plain C interface between weft and the module that holds LLVM (libweft_llvm.so).  Kernels
// cross it as text and results as bytes, so neither side sees the other's C++ types.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

/// Raised whenever anything below changes meaning; both sides compare it before any other call.
inline constexpr std::uint32_t weft_llvm_interface = 9;

struct WeftText {
  const char* data;
  std::size_t size;
};

struct WeftLlvmRequest {
  WeftText kernel;           ///< what ir::print() wrote
  std::uint8_t isa;          ///< an enumerator of weft::Isa
  std::uint8_t avx512_vbmi;  ///< the fields of weft::CpuFeatures, 0 or 1
  std::uint8_t avx512_bf16;
  std::uint8_t avx512_fp16;
  std::uint8_t pages_in_turn;
  std::uint8_t amd_family;
  std::uint8_t keep_texts;
  std::uint64_t imaginary_operands;  ///< a bit for each: the parts of those before them
  std::size_t num_extents;           ///< 0: all extents and strides are known at launch
  std::size_t num_strides;
  const std::int64_t* extents;  ///< the fields of weft::jit::LaunchShape
  const std::int64_t* stride_bytes;
};

/// Everything in it belongs to `owner` and lives until the result is released.
struct WeftLlvmResult {
  void* owner;
  WeftText error;     ///< empty on success; everything else is empty otherwise
  WeftText object;    ///< a relocatable ELF file, for jit/llvm/object.h
  WeftText llvm;      ///< LLVM IR; keep_texts only
  WeftText assembly;  ///< keep_texts only
};

/// The functions that the module exports, by the names in weft_llvm_symbols.  All are thread-safe.
using WeftLlvmInterface = std::uint32_t (*)();
/// Of the LLVM that runs, "19.1.7"; never freed.
using WeftLlvmVersion = const char* (*)();
using WeftLlvmCompile = void (*)(const WeftLlvmRequest*, WeftLlvmResult*);
/// Fills in `assembly` or `error`.
using WeftLlvmDisassemble = void (*)(const void* code, std::size_t size, std::uint64_t display_base,
                                     WeftLlvmResult*);
/// The function that begins `entry` bytes into `code`, found by following its jumps; fills in
/// `assembly` or `error`.
using WeftLlvmDisassembleFunction = void (*)(const void* code, std::size_t size, std::size_t entry,
                                             std::uint64_t display_base, WeftLlvmResult*);
/// Cycles that an iteration of a loop takes; fills in `assembly` with the processor whose model
/// says so, or `error`.
using WeftLlvmThroughput = void (*)(const void* loop, std::size_t size, double* cycles,
                                    WeftLlvmResult*);
using WeftLlvmRelease = void (*)(void* owner);
}

namespace weft::jit {

struct LlvmSymbols {
  const char* interface = "weft_llvm_get_interface";
  const char* version = "weft_llvm_get_version";
  const char* compile = "weft_llvm_compile";
  const char* disassemble = "weft_llvm_disassemble";
  const char* disassemble_function = "weft_llvm_disassemble_function";
  const char* throughput = "weft_llvm_throughput";
  const char* release = "weft_llvm_release";
};
inline constexpr LlvmSymbols llvm_symbols;

}  // namespace weft::jit
