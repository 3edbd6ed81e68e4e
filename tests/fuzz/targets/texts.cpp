// Texts: layouts, expressions, kernel IR.
#include "tests/fuzz/targets/target.h"

#include "ir/text.h"

#include <weft/engine.h>
#include <weft/expr.h>
#include <weft/info.h>
#include <weft/ir_tools.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace weft::fuzzing {

void fuzz_layout(Bytes input) {
  Tensor tensor;
  if (!is_accepted([&] { tensor = parse_layout(as_text(input)); })) return;
  const std::string written = layout_text(tensor);
  Tensor again;
  require(is_accepted([&] { again = parse_layout(written); }), "a layout's text is refused");
  // A storage offset that negative strides need is left out of no text, so that all must be equal.
  require(tensor.dtype() == again.dtype() && std::ranges::equal(tensor.sizes(), again.sizes()) &&
              std::ranges::equal(tensor.strides(), again.strides()) &&
              tensor.storage_offset() == again.storage_offset(),
          "a layout's text reads as another layout");
  require(layout_text(again) == written, "a layout has two texts");
  for (const MemoryFormat format :
       {MemoryFormat::contiguous, MemoryFormat::channels_last, MemoryFormat::channels_last_3d})
    require(tensor.is_contiguous(format) == again.is_contiguous(format), "the formats differ");
}

namespace {

/// Layouts of several dtypes that broadcast together, in one letter each.
std::vector<std::pair<std::string, Tensor>> named_tensors() {
  std::vector<std::pair<std::string, Tensor>> names;
  for (const char* const layout : {"f32[2,3]", "i64[3]", "bool[2,1]", "c64[2,3]{1,2}", "bf16[]",
                                   "u8[4,2,3]", "f64[2,3]{-3,1}@3"})
    names.emplace_back(std::string(1, static_cast<char>('a' + names.size())), parse_layout(layout));
  return names;
}

}  // namespace

void fuzz_expression(Bytes input) {
  static const std::vector<std::pair<std::string, Tensor>> names = named_tensors();
  static Engine engine;
  std::optional<Expr> expr;
  if (!is_accepted([&] { expr = parse_expr(as_text(input), names); })) return;
  const std::string written = text(*expr);
  if (written.ends_with("...")) return;  // cut off
  std::optional<Expr> again;
  if (!is_accepted([&] { again = parse_expr(written, names); }))
    report_broken("the text of an expression is refused: " + written);
  if (text(*again) != written)
    report_broken("the text of an expression reads as another: " + written + " as " + text(*again));
  std::optional<Inferred> inferred, inferred_again;
  const bool is_valid = is_accepted([&] { inferred = engine.infer(*expr); });
  require(is_accepted([&] { inferred_again = engine.infer(*again); }) == is_valid,
          "an expression is valid, and its text is not, or the other way round");
  if (is_valid)
    require(inferred->dtype == inferred_again->dtype && inferred->sizes == inferred_again->sizes,
            "an expression's text has another result");
}

namespace {

std::string compiled_backend() {
  for (const EngineInfo::Backend& backend : engine_info().backends)
    if (backend.name == "xbyak" && backend.unavailable_reason.empty()) return "xbyak";
  return "interp";
}

}  // namespace

void fuzz_ir(Bytes input) {
  constexpr std::size_t most_bytes = 4096;  // a kernel, and no long wait for a long body
  if (input.size() > most_bytes) return;
  static const std::string backend = compiled_backend();
  const std::string_view given = as_text(input);
  ir::Kernel kernel;
  if (!is_accepted([&] { kernel = ir::parse(given); })) return;
  const std::string written = ir::print(kernel);
  require(is_accepted([&] { require(ir::parse(written) == kernel, "a kernel reads as another"); }),
          "a kernel's text is refused");
  if (!is_accepted([&] { run_ir_passes(given, {"all"}); })) return;
  IrRunOptions options;
  options.backend = backend;
  options.extents.assign(kernel.loops.size(), 2);
  options.extents.back() = 19;
  IrRun run;
  if (kernel.loops.size() > 4 || !is_accepted([&] { run = run_ir(given, options); })) return;
  if (!run.difference.empty()) report_broken(backend + " differs: " + run.difference);
}

}  // namespace weft::fuzzing
