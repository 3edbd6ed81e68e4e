// Runs a case every way there is and compares.
#pragma once

#include "engine/fuzz/case.h"

#include <weft/engine.h>

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft::fuzzing {

/// One difference.
struct Finding {
  enum class Kind : std::uint8_t { value, memory, error };
  Kind kind = Kind::value;
  std::string backend;
  std::string what;
  std::vector<std::int64_t> index;  ///< Kind::value: of the first element that differs
};

/// How a backend took the case.
enum class Outcome : std::uint8_t { compared, refused, rejected };

/// Engines by backend and numerics, renewed from time to time so that kernels don't pile up.
class Engines {
 public:
  Engine& get(const std::string& backend, Numerics numerics);
  void count_case();

 private:
  static constexpr int cases_an_engine = 200;
  int num_cases_ = 0;
  std::map<std::pair<std::string, Numerics>, std::unique_ptr<Engine>> engines_;
};

/// The first difference between `backend`, the interpreter and plain index arithmetic; with
/// "interp" as the backend between the latter two alone.
std::optional<Finding> check_case(const Case& fuzz_case, const std::string& backend,
                                  Engines& engines, Outcome& outcome);

}  // namespace weft::fuzzing
