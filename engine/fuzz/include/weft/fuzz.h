// Differential fuzzing: random expressions on random layouts, every backend against the
// interpreter, and the interpreter against plain index arithmetic (weft/naive.h).
#pragma once

#include <weft/numerics.h>
#include <weft/tensor.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

struct FuzzOptions {
  double seconds = 10;
  std::uint64_t seed = 1;
  std::vector<std::string> backends;  ///< empty: all that compile and are usable
  std::uint64_t first_case = 0;       ///< cases of one seed are numbered
  std::optional<std::uint64_t> max_cases;
  /// Writes the case in progress to stderr when a signal such as SIGSEGV ends the process.
  bool reports_crashes = false;
};

/// A case on which two ways of computing it differ, as small as shrinking made it.
struct FuzzFailure {
  std::uint64_t case_index = 0;
  std::string backend;  ///< "interp": it differs from plain index arithmetic
  std::string what;     ///< "element [3] of result 0 is 0x1, expected 0x2"
  std::string command;  ///< repeats it: "weft fuzz --replay='a + b' a=f32[4]#0 ..."
  std::string cxx;      ///< the body of a C++ function that repeats it
};

struct FuzzReport {
  struct Counts {
    std::uint64_t compared = 0;  ///< cases
    std::uint64_t refused = 0;   ///< UnsupportedError
  };
  std::uint64_t num_cases = 0;
  std::uint64_t num_rejected = 0;  ///< no valid call: every backend must say so
  std::map<std::string, Counts> backends;
  std::optional<FuzzFailure> failure;
};

/// Runs cases until the time is up or one fails.
///
/// Errors: ArgumentError for the name of no backend; UnsupportedError for one that is not usable.
FuzzReport fuzz(const FuzzOptions& options);

/// One case, written down.
struct FuzzReplay {
  std::string expressions;            ///< separated by `;`
  std::vector<std::string> operands;  ///< NAME=LAYOUT#FIRST, a `*` behind it: all elements equal
  std::vector<std::string> outputs;   ///< one an expression: `-` (new), an operand's name, LAYOUT
  std::string backend = "interp";
  Numerics numerics = Numerics::strict;
  std::uint64_t seed = 1;
};

/// Runs one case.  Its failure, shrunk further if that is possible, or nothing.
///
/// Errors: ArgumentError on text that cannot be read or a call that is not valid; UnsupportedError
/// if the backend refuses it.
std::optional<FuzzFailure> replay_fuzz_case(const FuzzReplay& replay);

}  // namespace weft
