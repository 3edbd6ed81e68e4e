// weft eval: runs an expression on .npy files.
#include "engine/cli/arguments.h"
#include "engine/cli/command.h"
#include "engine/cli/table.h"
#include "engine/cli/timing.h"

#include <weft/engine.h>
#include <weft/npy.h>

#include <nlohmann/json.hpp>

#include <iostream>

namespace weft::cli {

void run_eval(const EvalArguments& arguments) {
  check_backend(arguments.backend);
  EngineOptions options;
  options.backend = arguments.backend;
  options.numerics = read_numerics(arguments.numerics);
  const NamedTensors operands =
      read_operands(arguments.operands, [](const std::string& path) { return npy_read(path); });
  const Expr expr = read_expression(arguments.expression, operands, arguments.definitions);

  Engine engine(options);
  const Tensor result = engine.eval(expr);
  npy_write(arguments.output, result);

  double ns = 0;
  if (arguments.repeat > 0) {
    const Tensor out = empty_like(result);
    ns = median_ns([&] { engine.eval(expr, out); }, arguments.repeat);
  }
  if (arguments.json) {
    using nlohmann::ordered_json;
    ordered_json json;
    json["result"] = {{"dtype", name(result.dtype())},
                      {"sizes", std::vector(result.sizes().begin(), result.sizes().end())},
                      {"strides", std::vector(result.strides().begin(), result.strides().end())}};
    json["output"] = arguments.output;
    if (arguments.repeat > 0) {
      json["repeat"] = arguments.repeat;
      json["ns"] = ns;
    }
    std::cout << json.dump(2, ' ', false, ordered_json::error_handler_t::replace) << '\n';
    return;
  }
  std::cout << arguments.output << ": " << layout_text(result) << '\n';
  if (arguments.repeat > 0) {
    std::cout << short_number(ns) << " ns per call, median of " << arguments.repeat << '\n';
  }
}

}  // namespace weft::cli
