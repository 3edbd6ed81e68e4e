// What weft makes of a call, read by the program itself; `weft explain` prints the same.  For every
// kernel of a program that runs: WEFT_DUMP=ir,asm:FOLDER in the environment.
#include <weft/engine.h>
#include <weft/explain_html.h>

#include <fstream>
#include <iostream>

int main(int argc, char** argv) {
  using namespace weft;
  Engine engine;
  // Layouts are enough: no memory is needed to plan and to compile.
  const Expr a = Expr::named("a", parse_layout("f32[2,3,4,5]:channels_last"));
  const Expr b = Expr::named("b", parse_layout("f32[3,4,5]"));
  const Explanation told = engine.explain(a * b + 1, {}, {.emit = {"ir", "asm"}});

  std::cout << story_text(told) << "\n" << told.texts.at("ir") << "\n" << told.texts.at("asm");
  for (const Story::IrStep& step : told.story.ir_steps) std::cout << "; " << step.name << "\n";

  // A page to look at, which needs no network.
  if (argc > 1) std::ofstream(argv[1]) << explanation_html(told, measure_machine(told.story));
  return told.fast_setup == "none" && told.shape == std::vector<std::int64_t>{3, 20, 2} ? 0 : 1;
}
