// The `weft` program: reads the command line, runs one subcommand, and turns errors into one line
// on stderr (and an object on stdout with --json).
#include "engine/cli/command.h"

#include <weft/error.h>
#include <weft/numerics.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace weft::cli {
namespace {

/// Of eval, which reads -ofile as -o file: `-o * 2` negates what is called o.
bool is_output_option(const std::string& word) {
  return word.starts_with("-o") &&
         (word.ends_with(".npy") || word.find_first_of("*+%<>!&|^([ ") == word.npos);
}

/// `-a * b` is an expression and `-h` an option.  An expression gets a space in front, which CLI11
/// respects; add_expression() takes it off again.
void protect_expressions(std::vector<std::string>& words) {
  if (words.empty() || (words[0] != "explain" && words[0] != "eval" && words[0] != "bench")) return;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::string& before = words[i - 1];
    if (word == "--") return;
    const bool looks_like_option = word.size() > 1 && word[0] == '-' && word[1] != '-';
    const bool is_option = word == "-h" || (words[0] == "eval" && is_output_option(word));
    // Options that are no flags take the word after them, however it begins.
    const bool is_flag = before == "--json" || before.find('=') != before.npos;
    const bool is_value = before == "-o" || (before.starts_with("--") && !is_flag);
    if (looks_like_option && !is_option && !is_value) words[i].insert(0, " ");
  }
}

void add_expression(CLI::App& command, ExpressionArguments& arguments, const char* value) {
  command
      .add_option("EXPR", arguments.expression, "an expression over the names, as Python spells it")
      ->required()
      ->transform(CLI::Validator(
          [](std::string& text) {
            if (text.starts_with(" -")) text.erase(0, 1);
            return std::string();
          },
          ""));
  command.add_option("OPERANDS", arguments.operands, std::string("NAME=") + value + " ...");
  command
      .add_option("--define", arguments.definitions,
                  "a user operator, as in 'swish(x)=x/(1+exp(-x))'; may be given again")
      ->allow_extra_args(false);
  command.add_option("--numerics", arguments.numerics, numerics_names());
  command.add_flag("--json", arguments.json, "print one JSON object");
}

struct Arguments {
  ExplainArguments explain;
  EvalArguments eval;
  BenchArguments bench;
  FuzzArguments fuzz;
  InfoArguments info;
  IrArguments ir;
  RunIrArguments run_ir;
  CacheArguments cache;
  OpsArguments ops;
  TuneArguments tune;
};

constexpr const char* layout_notation =
    "A LAYOUT is a dtype and sizes, then, if they are not contiguous, strides in elements or a\n"
    "memory format, and an offset: f32[2,3], f32[2,3]{1,2}, u8[8,3,224,224]:channels_last,\n"
    "f64[100]{2}@1.\n";

/// What is given has a name or a text.
CLI::Validator not_empty() {
  return CLI::Validator(
      [](std::string& text) { return text.empty() ? "expected a text, got none" : std::string(); },
      "");
}

/// Those that take an expression.
void add_expression_commands(CLI::App& app, Arguments& arguments) {
  CLI::App& explain = *app.add_subcommand("explain", "plan and compile without data");
  explain.footer(layout_notation);
  add_expression(explain, arguments.explain, "LAYOUT");
  explain.add_option("--backend", arguments.explain.backend, "auto, interp, xbyak, llvm or nvrtc");
  explain.add_option("--out", arguments.explain.out, "layout of a given output")
      ->check(not_empty());
  explain.add_option("--target", arguments.explain.target, "host, avx2 or avx512");
  explain.add_option("--arch", arguments.explain.arch, "sm_XX, for nvrtc")->check(not_empty());
  explain
      .add_option("--emit", arguments.explain.emit,
                  "stages to print: iter,signature,ir,llvm,asm,cuda,ptx,sass")
      ->check(not_empty())
      ->join(',');
  explain.add_option("--html", arguments.explain.html, "a page to write, which needs no network")
      ->check(not_empty());
  explain.callback([&arguments] { run_explain(arguments.explain); });

  CLI::App& eval = *app.add_subcommand("eval", "run on .npy files");
  add_expression(eval, arguments.eval, "FILE.npy");
  eval.add_option("--backend", arguments.eval.backend, "auto, interp, xbyak, llvm or nvrtc");
  eval.add_option("-o,--output", arguments.eval.outputs,
                  "the .npy file to write; once for each result of 'aminmax(a)' or 'a + 1, sum(a)'")
      ->required()
      ->check(not_empty())
      ->allow_extra_args(false);
  eval.add_option("--repeat", arguments.eval.repeat, "also run N times and print the time")
      ->check(CLI::Range(1, 1 << 20));
  eval.callback([&arguments] { run_eval(arguments.eval); });

  CLI::App& bench = *app.add_subcommand("bench", "time every way to compute one expression");
  bench.footer(layout_notation);
  add_expression(bench, arguments.bench, "LAYOUT");
  bench.add_option("--out", arguments.bench.out, "layout of a given output")->check(not_empty());
  bench
      .add_option("--threads", arguments.bench.threads,
                  "threads of weft's variants; 1 unless given")
      ->check(CLI::Range(1, 1 << 20));
  bench.add_option("--plot", arguments.bench.plot, "a picture to write, .svg or .png");
  bench.callback([&arguments] { run_bench(arguments.bench); });
}

/// Of unsigned numbers: what is read wraps those below zero.
CLI::Validator from_zero_on() {
  return CLI::Validator(
      [](std::string& text) {
        return text.find('-') != text.npos
                   ? "expected a number from 0 on, got " + CLI::detail::trim_copy(text)
                   : std::string();
      },
      "");
}

/// Those that check weft itself.
void add_checking_commands(CLI::App& app, Arguments& arguments) {
  CLI::App& fuzz = *app.add_subcommand("fuzz", "compare backends on random expressions");
  fuzz.add_option("--seconds", arguments.fuzz.seconds, "how long; 10 unless given");
  fuzz.add_option("--seed", arguments.fuzz.seed, "which random cases; printed if not given")
      ->check(from_zero_on());
  fuzz.add_option("--backend", arguments.fuzz.backend, "one backend; all unless given")
      ->check(not_empty());
  fuzz.add_option("--first", arguments.fuzz.first_case, "number of the first case")
      ->check(from_zero_on());
  fuzz.add_option("--count", arguments.fuzz.max_cases, "at most so many cases")
      ->check(from_zero_on());
  CLI::Option* replay = fuzz.add_option("--replay", arguments.fuzz.replay,
                                        "one case: its expressions, with ; between")
                            ->check(not_empty());
  for (const char* of_many : {"--seconds", "--first", "--count"})
    replay->excludes(fuzz.get_option(of_many));
  fuzz.add_option("OPERANDS", arguments.fuzz.operands, "of --replay: NAME=LAYOUT#NUMBER ...");
  fuzz.add_option("--out", arguments.fuzz.outputs,
                  "of --replay, one an expression: - (new), NAME, or LAYOUT#NUMBER")
      ->allow_extra_args(false);
  fuzz.add_option("--numerics", arguments.fuzz.numerics, "of --replay: " + numerics_names())
      ->needs(replay);
  fuzz.add_flag("--json", arguments.fuzz.json, "print one JSON object");
  fuzz.callback([&arguments] { run_fuzz(arguments.fuzz); });

  CLI::App& ir = *app.add_subcommand("ir", "run passes on a kernel's text");
  ir.add_option("FILE", arguments.ir.file, "text of a kernel; - for the standard input")
      ->required();
  ir.add_option("--pass", arguments.ir.passes, "NAME[,NAME], or all")
      ->check(not_empty())
      ->join(',');
  ir.add_flag("--print-after", arguments.ir.print_after, "print the kernel after each pass");
  ir.add_flag("--json", arguments.ir.json, "print one JSON object");
  ir.callback([&arguments] { run_ir_command(arguments.ir); });

  CLI::App& run_ir = *app.add_subcommand("run-ir", "run a kernel's text on generated data");
  run_ir.add_option("FILE", arguments.run_ir.file, "text of a kernel; - for the standard input")
      ->required();
  run_ir.add_option("--backend", arguments.run_ir.backend, "auto, interp, xbyak or llvm");
  run_ir.add_option("--extents", arguments.run_ir.extents, "of the loops, outermost first: 3,17")
      ->check(not_empty());
  run_ir.add_option("--seed", arguments.run_ir.seed, "of the data")->check(from_zero_on());
  run_ir.add_flag("--json", arguments.run_ir.json, "print one JSON object");
  run_ir.callback([&arguments] { run_run_ir(arguments.run_ir); });
}

/// Those that tell what is there.
void add_telling_commands(CLI::App& app, Arguments& arguments) {
  CLI::App& info = *app.add_subcommand("info", "backends, CPU features, versions, folders");
  info.add_flag("--json", arguments.info.json, "print one JSON object");
  info.callback([&arguments] { run_info(arguments.info); });

  CLI::App& cache = *app.add_subcommand("cache", "the kernel cache on disk");
  cache.add_option("ACTION", arguments.cache.action, "stats, clear, verify, export or import")
      ->required();
  cache.add_option("FILE", arguments.cache.file, "the bundle to write or to read");
  cache.add_flag("--json", arguments.cache.json, "print one JSON object");
  cache.callback([&arguments] { run_cache(arguments.cache); });

  CLI::App& tune = *app.add_subcommand("tune", "measure the thresholds of this machine");
  tune.add_option("ACTION", arguments.tune.action,
                  "measure, which is what happens without; show or clear");
  tune.add_flag("--quick", arguments.tune.is_quick, "smaller calls and fewer of them");
  tune.add_flag("--dry-run", arguments.tune.is_trial, "measure and store nothing");
  tune.add_flag("--json", arguments.tune.json, "print one JSON object");
  tune.callback([&arguments] { run_tune(arguments.tune); });

  CLI::App& ops = *app.add_subcommand("ops", "the op table");
  ops.add_flag("--matrix", arguments.ops.matrix, "what each backend makes of each op");
  CLI::Option* const registry =
      ops.add_flag("--registry", arguments.ops.registry, "the operators and their dispatch tables");
  ops.add_flag("--json", arguments.ops.json, "print one JSON object")->excludes(registry);
  ops.callback([&arguments] { run_ops(arguments.ops); });
}

/// People at a terminal see the whole message with its picture, programs the one line of the
/// contract.
int report(std::string_view kind, std::string_view message, bool json) {
  if (json) {
    const nlohmann::ordered_json object{{"error", {{"kind", kind}, {"message", message}}}};
    std::cout << object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  }
  std::string shown(message);
  if (isatty(STDERR_FILENO) == 0) {
    shown.erase(std::min(shown.find('\n'), shown.size()));
  }
  std::cerr << "weft: " << printable(shown) << '\n';
  return 1;
}

bool has_command(const CLI::App& app, const std::string& name) {
  const auto is_called = [&](const CLI::App* command) { return command->get_name() == name; };
  return std::ranges::any_of(app.get_subcommands([](const CLI::App*) { return true; }), is_called);
}

int run(std::vector<std::string> words) {
  const bool json = std::ranges::find(words, "--json") != words.end();
  try {
    CLI::App app{"weft: elementwise work on strided tensors, compiled", "weft"};
    app.require_subcommand(1);
    app.set_version_flag("--version", WEFT_VERSION);
    Arguments arguments;
    add_expression_commands(app, arguments);
    add_checking_commands(app, arguments);
    add_telling_commands(app, arguments);
    protect_expressions(words);
    const std::string first = words.empty() ? "" : words[0];
    std::ranges::reverse(words);  // CLI11 takes them from the back
    try {
      app.parse(std::move(words));
    } catch (const CLI::ParseError& error) {
      if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
      if (!first.empty() && first[0] != '-' && !has_command(app, first))
        return report("argument", "unknown command '" + first + "' (see weft --help)", json);
      return report("argument", std::string(error.what()) + " (see weft --help)", json);
    }
    std::cout.flush();
    WEFT_CHECK(std::cout.good(), DeviceError, "cannot write to the standard output");
    return 0;
  } catch (const Error& error) {
    return report(error.kind(), error.what(), json);
  } catch (const std::bad_alloc&) {
    return report("device", "out of memory", json);
  } catch (const std::exception& error) {
    return report("internal", error.what(), json);
  }
}

}  // namespace
}  // namespace weft::cli

int main(int argc, char** argv) {
  return weft::cli::run(std::vector<std::string>(argv + 1, argv + argc));
}
