// Many kernels of the CUDA tier at once: one translation unit for the compiler of the tests, which
// makes them run on the CPU, and the same for NVRTC.
#pragma once

#include "ir/kernel.h"
#include "jit/nvrtc/backend.h"
#include "tests/jit/calls.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace weft::jit::test {

/// What may differ from the interpreter.
struct Tolerance {
  bool compares_nans = false;  ///< NaNs must have the same bits
  /// Of functions that the interpreter has from another library; those of complex numbers in places
  /// of the larger part.
  double ulp = 0;
  bool compares_zeros = false;  ///< with a tolerance: zeros must have the same sign
};

/// One access of a thread to memory, as tests/jit/nvrtc/cuda_shim.h records it.
struct Access {
  unsigned thread;
  const void* address;
  unsigned bytes;
};

/// Compiles a translation unit into a library and opens it, for the rest of the process.  A failure
/// of the test, and null, if that can't be done.
void* build_library(const std::string& source);

class NvrtcBatch {
 public:
  explicit NvrtcBatch(std::uint64_t seed = 20) : random_(seed) {}

  /// Adds a kernel before the passes with strides in bytes, one vector an operand; strides of known
  /// classes have to be theirs.  Memory ends at a page that can't be touched, on one side or the
  /// other; `shift_bytes` moves the bases away from alignment.
  void add(const ir::Kernel& kernel, const std::vector<std::int64_t>& extents,
           const std::vector<std::vector<std::int64_t>>& stride_bytes, Tolerance tolerance = {},
           std::size_t shift_bytes = 0, std::uint64_t max_blocks = 3);

  /// The same with the input in the memory of the first output, whose dtype and strides it has:
  /// `a += b`.
  void add_in_place(const ir::Kernel& kernel, const std::vector<std::int64_t>& extents,
                    const std::vector<std::vector<std::int64_t>>& stride_bytes, std::size_t input);
  /// Gives the kernels that are added from now on the indices of huge tensors.
  void use_64_bit_indices() { uses_64_bit_indices_ = true; }
  enum class Numbers {
    ordinary,  ///< those of make_call()
    plain,     ///< whose sums are neither infinite nor NaN, and round at each step
    few,       ///< different ones, so that many are equal, with infinities, NaN and both zeros
  };
  /// Gives them such inputs.
  void use_numbers(Numbers numbers) { numbers_ = numbers; }
  void use_plain_numbers(bool uses = true) {
    use_numbers(uses ? Numbers::plain : Numbers::ordinary);
  }

  /// The variant of the kernel that was added last.
  const nvrtc::Variant& last_variant() const { return cases_.back().variant; }
  std::size_t last_num_launches() const { return cases_.back().planned.launches.size(); }
  std::size_t size() const { return cases_.size(); }
  std::size_t num_sources() const { return sources_.size(); }

  /// Compiles all for the CPU, runs all, and expects the interpreter's bytes everywhere.
  void run();
  /// The accesses of each case's first block, in the order of each thread.  They are run in that.
  std::vector<std::vector<Access>> record();
  /// Whether an address is in the memory of one of a case's operands.
  bool is_global(std::size_t index, const void* address) const;
  /// Compiles all with NVRTC, or of many every so many, if it is there, and expects that no kernel
  /// keeps anything in local memory, but for `most_stack_bytes` of functions; what a batch before
  /// compiled is left out.
  /// Leaves a test out, loudly, where there is no NVRTC.
  void compile_with_nvrtc(const std::string& arch, unsigned long most_stack_bytes = 0);
  /// Both, for sm_90, unless a case could not be added.
  void run_and_compile();

 private:
  struct Case {
    ir::Kernel kernel;  ///< before the passes
    nvrtc::Prepared prepared;
    Call call;
    std::vector<std::shared_ptr<GuardedBytes>> memory;
    std::size_t in_place = 0;  ///< the input in the first output's memory; 0 for none
    nvrtc::Variant variant;
    nvrtc::Launches planned;
    std::size_t source;  ///< index in sources_
    Tolerance tolerance;
  };
  void append(Case one, std::size_t shift_bytes, std::uint64_t max_blocks);
  std::vector<std::size_t> all_sources() const;
  std::string unit_of(std::span<const std::size_t> indices, bool for_cpu) const;
  const std::string& source_of(const Case& one) const { return sources_[one.source]; }
  void check(const Case& one);

  std::mt19937_64 random_;
  bool uses_64_bit_indices_ = false;
  Numbers numbers_ = Numbers::ordinary;
  std::vector<Case> cases_;
  std::vector<std::string> sources_;  ///< each once, though several cases may run it
};

/// `op` on loads along one loop of class 1; before the passes.
ir::Kernel cuda_kernel(Op op, DType dtype);
/// The same of `num_loops` loops with these classes of the operands, outputs first.
ir::Kernel cuda_kernel(Op op, DType dtype, std::size_t num_loops,
                       const std::vector<std::vector<ir::StrideClass>>& classes);
/// A copy, or a cast where the dtypes differ.
ir::Kernel cuda_copy(DType from, DType to, const std::vector<ir::StrideClass>& from_classes,
                     const std::vector<ir::StrideClass>& to_classes);

/// Strides in bytes of a dense array whose dimensions lie in `order` in memory, slowest first, with
/// rows of `extents[order.back()] + padding` items.
std::vector<std::int64_t> dense_strides(const std::vector<std::int64_t>& extents,
                                        const std::vector<std::size_t>& order, DType dtype,
                                        std::int64_t padding = 0);

}  // namespace weft::jit::test
