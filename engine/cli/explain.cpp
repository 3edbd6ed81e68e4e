// weft explain: one expression planned and compiled without data.
#include "engine/cli/arguments.h"
#include "engine/cli/command.h"
#include "engine/cli/table.h"

#include <weft/engine.h>
#include <weft/error.h>
#include <weft/explain_html.h>
#include <weft/tuning.h>

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iostream>

namespace weft::cli {
namespace {

using nlohmann::ordered_json;

void add_story(const Explanation& explanation, ordered_json& json) {
  const Story& story = explanation.story;
  json["story"] = ordered_json::array();
  for (const Story::Chapter& chapter : story.chapters)
    json["story"].push_back({{"title", chapter.title}, {"lines", chapter.lines}});
  json["bytes"] = {{"read", story.read_bytes}, {"written", story.written_bytes}};
  if (const Story::HotLoop& hot = story.hot_loop; hot.instructions != 0)
    json["hot_loop"] = {
        {"instructions", hot.instructions},
        {"elements", hot.elements},
        {"cycles", hot.cycles > 0 ? ordered_json(hot.cycles) : ordered_json(nullptr)},
        {"modelled_processor", hot.modelled_processor}};
  if (explanation.texts.contains("ir")) {
    json["ir_passes"] = ordered_json::array();
    for (const Story::IrStep& step : story.ir_steps)
      json["ir_passes"].push_back({{"name", step.name}, {"ir", step.ir}});
  }
}

/// Of this machine, whatever the target.
void add_tuning(ordered_json& json) {
  const StoredTuning& stored = machine_tuning();
  ordered_json& told = json["tuning"];
  told["source"] = stored.is_stored ? stored.file : "default";
  told["ignored"] = stored.fault.empty() ? ordered_json() : ordered_json(stored.fault);
  for (const TuningField& field : tuning_fields())
    told[std::string(field.name)] = stored.tuning.*field.value;
}

ordered_json to_json(const Explanation& explanation) {
  ordered_json json;
  json["result"] = {{"dtype", name(explanation.result_dtype)},
                    {"sizes", explanation.result_sizes},
                    {"strides", explanation.result_strides}};
  json["common_dtype"] = name(explanation.common_dtype);
  json["fast_setup"] = explanation.fast_setup;
  json["perm"] = explanation.perm;
  json["shape"] = explanation.shape;
  json["operands"] = ordered_json::array();
  for (const Explanation::Operand& operand : explanation.operands) {
    json["operands"].push_back({{"name", operand.name},
                                {"role", operand.role},
                                {"dtype", name(operand.dtype)},
                                {"stride_bytes", operand.stride_bytes}});
  }
  json["signature"] = explanation.signature;
  json["signature_hash"] = hex16(explanation.signature_hash);
  json["backend"] = explanation.backend;
  json["refusals"] = explanation.refusals;
  json["schedule"] = explanation.schedule;
  json["compile_us"] = explanation.compile_us;
  if (!explanation.passes.empty()) json["passes"] = explanation.passes;
  if (!explanation.precompiled.empty()) {
    json["precompiled"] = ordered_json::array();
    for (const Explanation::PrecompiledLoop& loop : explanation.precompiled)
      json["precompiled"].push_back({{"name", loop.name},
                                     {"instruction_set", loop.instruction_set},
                                     {"purpose", loop.purpose}});
  }
  add_tuning(json);
  add_story(explanation, json);
  for (const auto& [stage, text] : explanation.texts) {
    if (stage != "signature") json[stage] = text;
  }
  return json;
}

/// Colours on a terminal, unless NO_COLOR is set to something.
StoryStyle terminal_style() {
  const char* const no_color = std::getenv("NO_COLOR");
  const bool is_refused = no_color != nullptr && *no_color != '\0';
  return {.colours = isatty(STDOUT_FILENO) != 0 && !is_refused};
}

/// What the kernel was before each pass that changed it: the last is what is emitted as "ir".
void print_ir_steps(const Story& story) {
  for (std::size_t i = 0; i + 1 < story.ir_steps.size(); ++i) {
    const Story::IrStep& step = story.ir_steps[i];
    std::cout << "\n--- ir " << (i == 0 ? "" : "after ") << step.name << " ---\n" << step.ir;
  }
}

void print(const Explanation& explanation, const std::vector<std::string>& emit) {
  std::vector<std::int64_t> perm(explanation.perm.begin(), explanation.perm.end());
  Table facts({"result", explanation.story.result});
  facts.add({"common dtype", std::string(name(explanation.common_dtype))});
  facts.add({"fast set-up", explanation.fast_setup});
  facts.add({"perm", text(perm)});
  facts.add({"shape", text(explanation.shape) + "  (coalesced, fastest first)"});
  for (const std::string& pass : explanation.passes) facts.add({"pass", pass});
  for (const Explanation::PrecompiledLoop& loop : explanation.precompiled)
    facts.add({"loop", detail::concat(loop.name, " (", loop.instruction_set, ")")});
  facts.add({"schedule", explanation.schedule});
  facts.add({"backend", explanation.backend});
  for (const std::string& refusal : explanation.refusals) facts.add({"", "not " + refusal});
  facts.add({"compile", short_number(explanation.compile_us) + " us"});
  facts.add({"signature", hex16(explanation.signature_hash)});
  facts.print(std::cout);
  std::cout << '\n';

  Table operands({"operand", "role", "dtype", "stride_bytes"});
  for (const Explanation::Operand& operand : explanation.operands) {
    operands.add(
        {operand.name, operand.role, std::string(name(operand.dtype)), text(operand.stride_bytes)});
  }
  operands.print(std::cout);
  for (const std::string& stage : emit) {
    const std::string& text = explanation.texts.at(stage);
    if (stage == "ir") print_ir_steps(explanation.story);
    std::cout << "\n--- " << stage << " ---\n" << text << (text.ends_with('\n') ? "" : "\n");
  }
}

void write_page(const Explanation& explanation, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  file << explanation_html(explanation, measure_machine(explanation.story));
  file.flush();
  WEFT_CHECK(file.good(), DeviceError, "cannot write '", path, "'");
}

}  // namespace

void run_explain(const ExplainArguments& arguments) {
  check_backend(arguments.backend);
  ExplainOptions options;
  options.backend = arguments.backend;
  options.target = arguments.target;
  options.arch = arguments.arch;
  options.emit = split_commas(arguments.emit);
  options.numerics = read_numerics(arguments.numerics);

  const NamedTensors operands = read_operands(
      arguments.operands, [](const std::string& layout) { return parse_layout(layout); });
  const Tensor out = arguments.out.empty()
                         ? Tensor()
                         : read_named("out", [&] { return parse_layout(arguments.out); });
  const Expr expr = read_expression(arguments.expression, operands, arguments.definitions);
  Engine engine;
  if (!arguments.html.empty()) {
    ExplainOptions with_code = options;
    with_code.emit.emplace_back("asm");
    write_page(engine.explain(expr, out, with_code), arguments.html);
  }
  const Explanation explanation = engine.explain(expr, out, options);
  if (arguments.json) {
    std::cout << to_json(explanation).dump(2, ' ', false, ordered_json::error_handler_t::replace)
              << '\n';
  } else if (options.emit.empty()) {
    std::cout << story_text(explanation, terminal_style());
  } else {
    print(explanation, options.emit);
  }
}

}  // namespace weft::cli
