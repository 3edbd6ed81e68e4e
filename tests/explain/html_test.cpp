// Names that are markup stay text in the page.  What else the page holds: html_test.py.
#include "tests/matchers.h"

#include <weft/explain_html.h>

#include <gtest/gtest.h>

#include <string>

namespace weft::testing {
namespace {

using matchers::HasSubstr;
using matchers::Not;

MachineSpeed some_machine() {
  MachineSpeed machine;
  machine.bytes_per_second = 1e10;
  machine.clock_hz = 2e9;
  machine.source = "a <b>figure</b>";
  return machine;
}

TEST(explanation_html, names_are_inert) {
  Engine engine;
  const Expr a = Expr::named("<script>alert(1)</script>", parse_layout("f32[2,3]"));
  const Expr b = Expr::named("\" onload=\"alert(2)", parse_layout("f32[3]"));
  const std::string page =
      explanation_html(engine.explain(a + b, {}, {.emit = {"asm"}}), some_machine());
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, HasSubstr("&quot; onload=&quot;alert(2)"));
  EXPECT_THAT(page, Not(HasSubstr("\" onload")));
  EXPECT_THAT(page, HasSubstr("a &lt;b&gt;figure&lt;/b&gt;"));
}

TEST(explanation_html, control_characters_are_replaced) {
  Engine engine;
  const Expr a = Expr::named(std::string("a\x01\x1b[31m"), parse_layout("f32[2]"));
  const std::string page = explanation_html(engine.explain(a + 1), some_machine());
  EXPECT_THAT(page, HasSubstr("a??[31m"));
  EXPECT_EQ(page.find('\x1b'), page.npos);
}

TEST(explanation_html, calls_without_bytes_dimensions_or_code) {
  Engine engine;
  for (const char* layout : {"f32[]", "f32[0]", "f32[0,3,4]", "f32[1,1,1,1,1]", "f32[3]{-1}@2",
                             "f32[1048576,1048576,1048576]", "c128[2,2]"}) {
    SCOPED_TRACE(layout);
    const Expr a = Expr::named("a", parse_layout(layout));
    for (const char* backend : {"auto", "interp"}) {
      const Explanation told =
          engine.explain(ops::neg(a), {}, {.backend = backend, .emit = {"asm"}});
      const std::string page = explanation_html(told, some_machine());
      EXPECT_THAT(page, HasSubstr("<h2>Memory</h2>"));
      EXPECT_LT(page.size(), 1u << 20);
    }
  }
}

}  // namespace
}  // namespace weft::testing
