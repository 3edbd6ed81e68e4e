// The subcommands of `weft`: what each is asked for, and the function that does it.  weft.cpp reads
// the command line; every other file is one subcommand.  All throw weft's errors and print results
// only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft::cli {

/// What explain, eval and bench have in common.
struct ExpressionArguments {
  std::string expression;
  std::vector<std::string> operands;     ///< NAME=LAYOUT or NAME=FILE
  std::vector<std::string> definitions;  ///< NAME(PARAMETERS)=EXPRESSION
  std::string backend = "auto";
  std::string numerics = "default";
  bool json = false;
};

struct ExplainArguments : ExpressionArguments {
  std::string out;  ///< layout of a given output, or empty
  std::string target = "host";
  std::string arch;  ///< sm_XX
  std::string emit;  ///< comma-separated
  std::string html;  ///< file to write, or empty
};
void run_explain(const ExplainArguments& arguments);

struct EvalArguments : ExpressionArguments {
  std::vector<std::string> outputs;  ///< a file for each result
  int repeat = 0;                    ///< timed runs
};
void run_eval(const EvalArguments& arguments);

struct BenchArguments : ExpressionArguments {
  std::string out;  ///< layout of a given output; empty: a new one
  int threads = 1;
  std::optional<std::string> plot;  ///< file to write, .svg or .png
};
void run_bench(const BenchArguments& arguments);

struct FuzzArguments {
  double seconds = 10;
  std::optional<std::uint64_t> seed;
  std::string backend;  ///< empty: all
  std::uint64_t first_case = 0;
  std::optional<std::uint64_t> max_cases;
  std::string replay;                 ///< expressions of one case
  std::vector<std::string> operands;  ///< with replay: NAME=LAYOUT#NUMBER
  std::vector<std::string> outputs;
  std::string numerics = "strict";
  bool json = false;
};
void run_fuzz(const FuzzArguments& arguments);

struct IrArguments {
  std::string file;    ///< - for the standard input
  std::string passes;  ///< comma-separated, or all
  bool print_after = false;
  bool json = false;
};
void run_ir_command(const IrArguments& arguments);

struct RunIrArguments {
  std::string file;
  std::string backend = "interp";
  std::string extents;  ///< comma-separated; empty: some
  std::uint64_t seed = 1;
  bool json = false;
};
void run_run_ir(const RunIrArguments& arguments);

struct InfoArguments {
  bool json = false;
};
void run_info(const InfoArguments& arguments);

struct CacheArguments {
  std::string action;  ///< stats | clear | verify | export | import
  std::string file;    ///< of export and import
  bool json = false;
};
void run_cache(const CacheArguments& arguments);

struct TuneArguments {
  std::string action = "measure";  ///< measure | show | clear
  bool is_quick = false;
  bool is_trial = false;  ///< nothing is stored
  bool json = false;
};
void run_tune(const TuneArguments& arguments);

struct OpsArguments {
  bool matrix = false;
  bool registry = false;
  bool json = false;
};
void run_ops(const OpsArguments& arguments);

}  // namespace weft::cli
