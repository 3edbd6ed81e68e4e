// What all of weft_bench shares: the table of workloads, the tensors of one case, and what a
// variant is.
#pragma once

#include <weft/engine.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::bench {

/// One workload at several sizes.  Layouts are in the notation of the command line, with parts of
/// the size filled in: `#` is all of its numbers, `#1` one of them, `#1*4` a multiple of it.
struct Workload {
  std::string name;
  std::string expression;           ///< over a, b, c
  std::vector<std::string> inputs;  ///< a, b, c
  std::string out;
  std::vector<std::string> sizes;  ///< "1e4" or "4x64x64x64"
  bool positive = false;           ///< inputs of both signs if false
};

const std::vector<Workload>& workloads();

/// A workload at one size with its bytes.  All variants of this program read and write the same
/// tensors, so that alignment and pages are the same for all.
struct Case {
  std::string workload;
  std::vector<Tensor> inputs;
  Tensor out;
  Expr expr;
  Tensor expected;  ///< the interpreter's result, in out's layout
  std::int64_t bytes_read = 0;
  std::int64_t bytes_written = 0;
  std::map<std::string, bool> checked;  ///< variant -> its result was right

  std::int64_t bytes_moved() const { return bytes_read + bytes_written; }
};

/// Makes, or finds again, the case; keeps the few most recently used.
Case& find_case(const Workload& workload, const std::string& size);

/// The work of a case, done once.
using Runner = std::function<void()>;
/// Prepares everything that is not measured.
using Maker = std::function<Runner(const Case&)>;

enum class Check {
  bits,   ///< equal to the interpreter's
  close,  ///< within 4e-6 of the number, or of 1 if that is more: libraries contract and reorder
  none,   ///< moves bytes and computes nothing
};

/// One way to do the work, named as in WORKLOAD/VARIANT/SIZE.
struct Variant {
  std::string name;
  Check check = Check::bits;
  /// An empty Maker where the variant has nothing for the workload.
  Maker (*find)(std::string_view workload) = nullptr;
  bool is_own = false;  ///< weft's
};

/// Whether `actual`, of the same layout as `expected`, is as right as `check` asks.
bool is_right(const Tensor& actual, const Tensor& expected, Check check);

/// Notes that a result of weft's was wrong, which weft_bench ends with.
void note_wrong_result();
bool has_wrong_result();

/// Numbers that neither repeat soon nor overflow: -8 to 8, or 0.125 to 8.125, for floats and the
/// parts of complex numbers, 0 to 99 for integers.  Each operand of a call has its own, so that
/// none is equal to another.
void fill(const Tensor& tensor, bool positive, std::size_t operand);
/// Bytes that no variant would write, so that one which writes nothing is noticed.
void poison(const Tensor& tensor);

/// An engine of one thread that is never destroyed; one a backend.
Engine& engine_with(const std::string& backend);
/// Whether this build and machine have the backend.
bool has_backend(const std::string& backend);

// Where the variants come from, a file each; peers are there if CMake found the library.
void add_engine_variants(std::vector<Variant>& variants);
void add_naive_variant(std::vector<Variant>& variants);
void add_hand_variant(std::vector<Variant>& variants);
void add_limit_variants(std::vector<Variant>& variants);
void add_torch_variant(std::vector<Variant>& variants);
void add_onednn_variant(std::vector<Variant>& variants);
void add_eigen_variant(std::vector<Variant>& variants);
void add_xtensor_variant(std::vector<Variant>& variants);

// Benchmarks that are not rows of the table.
void register_limit_benchmarks();
void register_call_benchmarks();
void register_torch_call_benchmarks();
void register_plan_benchmarks();
void register_first_call_benchmarks();

/// The number that `weft_bench OPTION` prints, in a process of its own; nothing if it fails.
std::optional<double> number_of_child(const std::string& option);
/// What `weft_bench --time-first-engine` does: prints nanoseconds.
int time_first_engine();
/// What `weft_bench --kernel-memory=BACKEND` does: prints bytes a kernel.
int print_kernel_memory(const std::string& backend);

}  // namespace weft::bench
