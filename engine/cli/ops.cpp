// weft ops: the op table, with --matrix what each backend makes of each op, and with --registry the
// operators of the dispatcher.
#include "engine/cli/arguments.h"
#include "engine/cli/command.h"
#include "engine/cli/table.h"

#include <weft/dispatch.h>
#include <weft/engine.h>
#include <weft/error.h>

#include <nlohmann/json.hpp>

#include <array>
#include <iostream>

namespace weft::cli {
namespace {

using nlohmann::ordered_json;

std::string_view name(ResultRule rule) {
  switch (rule) {
    case ResultRule::same: return "same";
    case ResultRule::boolean: return "bool";
    case ResultRule::floating: return "floating";
    case ResultRule::floating_part: return "floating, real part";
    case ResultRule::real_part: return "real part";
    case ResultRule::pair: return "complex";
    case ResultRule::i32: return "i32";
    case ResultRule::select: return "select";
  }
  return {};
}

std::string_view name(Form form) {
  switch (form) {
    case Form::structural: return "structural";
    case Form::primitive: return "primitive";
    case Form::composite: return "composite";
  }
  return {};
}

/// The dtype in which a row is shown: the first of these that it takes.
DType representative_dtype(Op op) {
  for (DType dtype : {DType::f32, DType::i32, DType::boolean}) {
    if (accepts(weft::info(op).domain, dtype)) return dtype;
  }
  return DType::c64;
}

/// "native" if the backend compiles the op itself, "composite" if it does so from primitives, else
/// the reason why not.
std::string support(Engine& engine, Op op, const std::string& backend) {
  const OpInfo& row = weft::info(op);
  const std::array<std::int64_t, 1> sizes{1024};
  const std::array<std::int64_t, 1> strides{1};
  std::vector<Expr> args;
  for (int i = 0; i < row.arity; ++i) {
    const bool is_mask = row.result == ResultRule::select && i == 0;
    args.emplace_back(
        unbacked(sizes, strides, is_mask ? DType::boolean : representative_dtype(op)));
  }
  ExplainOptions options;
  options.backend = backend;
  try {
    engine.explain(weft::apply(op, args), {}, options);
  } catch (const UnsupportedError& error) {
    return std::string("no: ") + error.what();
  }
  return row.form == Form::composite ? "composite" : "native";
}

}  // namespace

void run_ops(const OpsArguments& arguments) {
  Engine engine;  // the first one defines the operators
  if (arguments.registry) {
    std::cout << registry_text();
    return;
  }
  const std::vector<std::string> backends =
      arguments.matrix ? usable_backends() : std::vector<std::string>{};
  std::vector<std::string> header{"op", "arity", "domain", "result", "form"};
  if (arguments.matrix) header = {"op", "dtype"};
  header.insert(header.end(), backends.begin(), backends.end());
  Table table(std::move(header));
  ordered_json json;
  json["ops"] = ordered_json::array();
  for (Op op : all_ops()) {
    const OpInfo& row = weft::info(op);
    ordered_json entry{{"name", row.name},
                       {"arity", row.arity},
                       {"domain", describe(row.domain)},
                       {"result", name(row.result)},
                       {"form", name(row.form)}};
    std::vector<std::string> cells{std::string(row.name)};
    if (arguments.matrix) {
      cells.emplace_back(weft::name(representative_dtype(op)));
      for (const std::string& backend : backends) {
        cells.push_back(support(engine, op, backend));
        entry["backends"][backend] = cells.back();
      }
    } else {
      cells.insert(cells.end(), {std::to_string(row.arity), std::string(describe(row.domain)),
                                 std::string(name(row.result)), std::string(name(row.form))});
    }
    table.add(std::move(cells));
    json["ops"].push_back(std::move(entry));
  }
  if (arguments.json) {
    std::cout << json.dump(2, ' ', false, ordered_json::error_handler_t::replace) << '\n';
  } else {
    table.print(std::cout);
  }
}

}  // namespace weft::cli
