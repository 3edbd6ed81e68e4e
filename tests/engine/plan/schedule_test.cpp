// Which calls are walked through tile by tile, and which with strides: where each was measured to
// be the faster.
#include "tests/required_backends.h"

#include <weft/engine.h>
#include <weft/error.h>
#include <weft/expr.h>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace weft {
namespace {

struct Row {
  std::string expression, out;
  std::vector<std::string> inputs;
  std::string schedule;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> table = {
      {"copy(a)", "f32[64,64]", {"f32[64,64]"}, "linear"},
      {"copy(a)", "f32[64,64]", {"f32[64,64]{1,64}"}, "tile"},
      {"a + b", "f32[64,64]", {"f32[64,64]", "f32[64,64]{1,64}"}, "tile"},
      {"copy(a)", "f32[8,8]", {"f32[8,8]{1,8}"}, "strided"},
      // Channels of an image: moved by tiles, read by a body with strides, and few by neither.
      {"copy(a)", "u8[3,4000]", {"u8[3,4000]{1,3}"}, "tile"},
      {"copy(a)", "u8[4000,3]", {"u8[4000,3]{1,4000}"}, "tile"},
      {"cast(a, f32)", "f32[3,4000]", {"u8[3,4000]{1,3}"}, "strided"},
      {"copy(a)", "u8[15,4000]", {"u8[15,4000]{1,15}"}, "tile"},
      {"cast(a, f32)", "f32[15,4000]", {"u8[15,4000]{1,15}"}, "tile"},
      {"copy(a)", "u8[200,4,30]", {"u8[200,4,30]{120,1,4}"}, "strided"},
      {"copy(a)", "f32[200,4,30]", {"f32[200,4,30]{120,1,4}"}, "strided"},
      // Short rows of what is dense along another dimension.
      {"copy(a)", "f32[200,5,6]", {"f32[200,5,6]{30,1,5}"}, "tile"},
      {"copy(a)", "f64[4,5,6,7,8,9]", {"f64[4,5,6,7,8,9]{2160,48,1,8640,6,240}"}, "tile"},
      {"cast(a, f64)", "f64[200,5,6]", {"f32[200,5,6]{30,1,5}"}, "tile"},
      {"a + b", "f32[200,5,6]", {"f32[200,5,6]{30,1,5}", "f32[6]"}, "tile"},
      {"a + b", "f32[200,5,6]", {"f32[200,5,6]{30,1,5}", "f32[5,1]"}, "tile"},
      {"a + b", "f32[200,5,6]", {"f32[200,5,6]{30,1,5}", "f32[200,5,6]"}, "tile"},
      // Rows of 8 fill half a register, or too little of it.
      {"copy(a)", "f32[3000,8]", {"f32[3000,8]{16,1}"}, "linear"},
      {"a + b", "f32[3000,8]", {"f32[3000,8]", "f32[8]"}, "linear"},
      {"cast(a, f32)", "f32[3000,8]", {"u8[3000,8]{16,1}"}, "linear"},
      {"a + b", "f64[3000,8]", {"f64[3000,8]{10,1}", "f64[3000,8]"}, "linear"},
      {"copy(a)", "i16[3000,8]", {"i16[3000,8]{16,1}"}, "tile"},
      {"copy(a)", "f32[3000,7]", {"f32[3000,7]{16,1}"}, "tile"},
      // Pixels with gaps.
      {"copy(a)", "u8[3,4000]", {"u8[3,4000]{1,4}"}, "strided"},
      {"copy(a)", "f32[4000,3]{4,1}", {"f32[4000,3]{1,4000}"}, "strided"},
  };
  return table;
}

TEST(Schedule, IsTheOneMeasuredToBeFaster) {
  std::unique_ptr<Engine> engine;
  try {
    engine = std::make_unique<Engine>(EngineOptions{"xbyak"});
  } catch (const UnsupportedError& error) {
    return leave_out_without("xbyak", error.what());
  }
  for (const Row& row : rows()) {
    std::vector<std::pair<std::string, Tensor>> names;
    for (const std::string& input : row.inputs)
      names.emplace_back(std::string(1, static_cast<char>('a' + names.size())),
                         parse_layout(input));
    const Expr expr = parse_expr(row.expression, names);
    EXPECT_EQ(engine->explain(expr, parse_layout(row.out), {}).schedule, row.schedule)
        << row.expression << " of " << row.inputs[0] << " into " << row.out;
  }
}

}  // namespace
}  // namespace weft
