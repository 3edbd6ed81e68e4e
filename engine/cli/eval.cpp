// weft eval: runs an expression on .npy files.
#include "engine/cli/arguments.h"
#include "engine/cli/command.h"
#include "engine/cli/table.h"
#include "engine/cli/timing.h"

#include <weft/engine.h>
#include <weft/error.h>
#include <weft/npy.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <system_error>

namespace weft::cli {

namespace {

using nlohmann::ordered_json;

ordered_json layout_json(const Tensor& tensor) {
  return {{"dtype", name(tensor.dtype())},
          {"sizes", std::vector(tensor.sizes().begin(), tensor.sizes().end())},
          {"strides", std::vector(tensor.strides().begin(), tensor.strides().end())}};
}

/// "result" and "output" of one result, "results" and "outputs" of several.
void print_json(const EvalArguments& arguments, const std::vector<Tensor>& results, double ns) {
  ordered_json json;
  if (results.size() == 1) {
    json["result"] = layout_json(results[0]);
    json["output"] = arguments.outputs[0];
  } else {
    json["results"] = ordered_json::array();
    for (const Tensor& result : results) json["results"].push_back(layout_json(result));
    json["outputs"] = arguments.outputs;
  }
  if (arguments.repeat > 0) {
    json["repeat"] = arguments.repeat;
    json["ns"] = ns;
  }
  std::cout << json.dump(2, ' ', false, ordered_json::error_handler_t::replace) << '\n';
}

}  // namespace

void run_eval(const EvalArguments& arguments) {
  check_backend(arguments.backend);
  EngineOptions options;
  options.backend = arguments.backend;
  options.numerics = read_numerics(arguments.numerics);
  const NamedTensors operands =
      read_operands(arguments.operands, [](const std::string& path) { return npy_read(path); });
  const std::vector<Expr> exprs =
      read_expressions(arguments.expression, operands, arguments.definitions);
  const std::vector<std::string>& outputs = arguments.outputs;
  WEFT_CHECK(exprs.size() == outputs.size(), ArgumentError, "the expression has ", exprs.size(),
             exprs.size() == 1 ? " result" : " results", ", but ", outputs.size(),
             outputs.size() == 1 ? " file is" : " files are", " given: -o FILE for each");

  const auto plain = [](const std::string& path) {
    const std::filesystem::path whole = std::filesystem::absolute(path).lexically_normal();
    std::error_code unknown;  // of what can't be looked at, as it is spelled
    const std::filesystem::path file = std::filesystem::weakly_canonical(whole, unknown);
    return unknown ? whole : file;
  };
  for (const std::string& output : outputs) {
    WEFT_CHECK(output != "-", ArgumentError,
               "-o - would be the standard output, which eval does not write arrays to; for a file "
               "of this name say ./-");
    WEFT_CHECK(std::ranges::count(outputs, plain(output), plain) == 1 ||
                   std::filesystem::is_character_file(output),
               ArgumentError, "the file ", output, " is given for several results");
  }

  Engine engine(options);
  const std::vector<Tensor> results = engine.eval(exprs);
  for (std::size_t i = 0; i < results.size(); ++i) check_npy_write(outputs[i], results[i]);
  for (std::size_t i = 0; i < results.size(); ++i) npy_write(outputs[i], results[i]);

  double ns = 0;
  if (arguments.repeat > 0) {
    std::vector<Tensor> outs;
    for (const Tensor& result : results) outs.push_back(empty_like(result));
    ns = median_ns([&] { engine.eval(exprs, outs); }, arguments.repeat);
  }
  if (arguments.json) return print_json(arguments, results, ns);
  for (std::size_t i = 0; i < results.size(); ++i)
    std::cout << outputs[i] << ": " << layout_text(results[i]) << '\n';
  if (arguments.repeat > 0) {
    std::cout << short_number(ns) << " ns per call, median of " << arguments.repeat << '\n';
  }
}

}  // namespace weft::cli
