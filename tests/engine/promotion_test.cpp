// Replays promotion.jsonl, and pins the rules that it was made of.
#include <weft/promotion.h>

#include <weft/error.h>
#include <weft/iterator.h>
#include <weft/op.h>

#include "tests/engine/recordings.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>

namespace weft {
namespace {

using nlohmann::json;

/// An operand ["f32", "dim" | "zero" | "scalar" | "dtype"].
struct RecordedOperand {
  DType dtype;
  std::string kind;

  OperandCategory category() const {
    if (kind == "scalar") return OperandCategory::number;
    return kind == "zero" ? OperandCategory::zero_dim : OperandCategory::dimensioned;
  }
  Tensor tensor() const {
    const testing::Ints one_dim = {2};
    const testing::Ints stride = {1};
    return kind == "zero" ? unbacked({}, {}, dtype) : unbacked(one_dim, stride, dtype);
  }
};

RecordedOperand recorded_operand(const json& text) {
  const std::string name = text[0];
  const std::map<std::string, Scalar> numbers = {
      {"py_bool", true}, {"py_int", 1}, {"py_float", 1.0}, {"py_complex", std::complex<double>(1)}};
  if (const auto number = numbers.find(name); number != numbers.end()) {
    return {number->second.dtype(), text[1]};
  }
  return {testing::recorded_dtype(text[0]), text[1]};
}

/// The op of ir's table that a recorded name means.
Op recorded_op(std::string name) {
  if (name == "floor_divide") name = "div_floor";
  const std::optional<Op> op = parse_op(name);
  if (!op) throw std::runtime_error("unknown op " + name);
  return *op;
}

/// The dtype of the result, as the op's row says it follows from the common dtype.
DType result_of(Op op, DType common) {
  switch (info(op).result) {
    case ResultRule::boolean: return DType::boolean;
    case ResultRule::floating_part: return real_dtype(is_integral(common) ? DType::f32 : common);
    case ResultRule::floating: return is_integral(common) ? DType::f32 : common;
    default: return common;
  }
}

/// A config in which everything but the operands is as the op wants it.
void configure(TensorIteratorConfig& config, Op op, bool has_output) {
  config.promote_inputs_to_common_dtype(true);
  const ResultRule rule = info(op).result;
  if (rule == ResultRule::boolean) return;
  if (promotes_integers(rule)) config.promote_integer_inputs_to_float(true);
  config.cast_common_dtype_to_outputs(has_output).enforce_safe_casting_to_output(true);
}

/// Plans `a op b` into `out`, which may be undefined, and returns the output's dtype.
DType planned_dtype(Op op, const RecordedOperand& a, const RecordedOperand& b, Tensor out,
                    const Tensor* in_place) {
  TensorIteratorConfig config;
  configure(config, op, out.defined());
  if (!out.defined() && info(op).result == ResultRule::boolean) {
    config.declare_static_dtype(DType::boolean);
  }
  config.add_output(out);
  const auto add = [&](const RecordedOperand& operand) {
    if (operand.kind != "scalar") {
      config.add_owned_input(operand.tensor());
    } else {
      config.add_number(operand.dtype == DType::boolean ? Scalar(true)
                        : is_complex(operand.dtype)     ? Scalar(std::complex<double>(1))
                        : is_floating(operand.dtype)    ? Scalar(1.0)
                                                        : Scalar(1));
    }
  };
  if (in_place != nullptr) {
    config.add_input(*in_place);
  } else {
    add(a);
  }
  add(b);
  return config.build().output().dtype();
}

/// "": the case was checked; otherwise why not.
std::string replay(const json& recorded) {
  const std::string kind = recorded["k"];
  const RecordedOperand a = recorded_operand(recorded["a"]);
  const RecordedOperand b = recorded_operand(recorded["b"]);
  if (kind == "can_cast") {
    EXPECT_EQ(can_cast(a.dtype, b.dtype), recorded["r"].get<bool>());
    return "";
  }
  if (kind == "promote_types") {
    EXPECT_EQ(std::string(name(promote_types(a.dtype, b.dtype))), recorded["r"]);
    return "";
  }
  const PromotionOperand operands[] = {{a.dtype, a.category()}, {b.dtype, b.category()}};
  if (kind == "result_type") {
    EXPECT_EQ(std::string(name(common_dtype(operands))), recorded["r"]);
    return "";
  }
  std::string op_name = recorded["op"];
  if (kind == "inplace") op_name.pop_back();
  const std::string error = recorded.value("e", "");
  if (error == "unsupported" || error == "bool_sub") return "the op's domain decides";
  if (op_name == "where") {
    EXPECT_EQ(std::string(name(common_dtype(operands))), recorded["r"]);
    return "";
  }
  const Op op = recorded_op(op_name);
  if (kind == "op" && a.kind == "scalar" && b.kind == "scalar") return "no tensor";
  Tensor out;
  if (kind == "inplace") out = a.tensor();
  if (kind == "out") {
    const bool is_zero_dim = a.kind != "dim" && b.kind != "dim";
    out = RecordedOperand{testing::recorded_dtype(recorded["o"]), is_zero_dim ? "zero" : "dim"}
              .tensor();
  }
  try {
    const DType planned = planned_dtype(op, a, b, out, kind == "inplace" ? &out : nullptr);
    EXPECT_EQ(error, "");
    EXPECT_EQ(std::string(name(planned)), recorded.value("r", ""));
    if (kind == "op") {
      EXPECT_EQ(result_of(op, common_dtype(operands)), planned);
    }
  } catch (const ArgumentError& raised) {
    EXPECT_EQ(testing::error_kind(raised.what()), error) << raised.what();
  }
  return "";
}

TEST(Promotion, IsThatOfTheRecordings) {
  int checked = 0;
  std::map<std::string, int> left_out;
  testing::for_each_recording("promotion.jsonl",
                              [&](const json& recorded, const std::string& line) {
                                SCOPED_TRACE(line);
                                const std::string reason = replay(recorded);
                                checked += reason.empty();
                                if (!reason.empty()) ++left_out[reason];
                              });
  EXPECT_GE(checked, 40);
  for (const auto& [reason, count] : left_out) {
    EXPECT_LT(count, checked / 10 + 20) << reason;
  }
}

TEST(Promotion, CategoriesKeepWidthAndRaiseKind) {
  const auto common = [](std::initializer_list<PromotionOperand> operands) {
    return common_dtype(std::vector<PromotionOperand>(operands));
  };
  using enum OperandCategory;
  EXPECT_EQ(common({{DType::f32, dimensioned}, {DType::f64, zero_dim}}), DType::f32);
  EXPECT_EQ(common({{DType::i32, dimensioned}, {DType::f64, zero_dim}}), DType::f64);
  EXPECT_EQ(common({{DType::f64, dimensioned}, {DType::c64, zero_dim}}), DType::c128);
  EXPECT_EQ(common({{DType::f16, dimensioned}, {DType::c64, number}}), DType::c32);
  EXPECT_EQ(common({{DType::i8, dimensioned}, {DType::i64, zero_dim}}), DType::i8);
  EXPECT_EQ(common({{DType::u8, dimensioned}, {DType::i64, number}}), DType::u8);
  EXPECT_EQ(common({{DType::boolean, dimensioned}, {DType::f32, number}}), DType::f32);
  EXPECT_EQ(common({{DType::boolean, zero_dim}, {DType::i64, number}}), DType::i64);
  EXPECT_THROW(common({}), ArgumentError);
}

TEST(Promotion, ResultTypeOfMixedArguments) {
  const testing::Ints sizes = {2};
  const testing::Ints strides = {1};
  const Tensor bytes = unbacked(sizes, strides, DType::u8);
  EXPECT_EQ(result_type(bytes, Scalar(1000)), DType::u8);
  EXPECT_EQ(result_type(Scalar(0.5), bytes), DType::f32);
  EXPECT_EQ(result_type(Scalar(true), Scalar(2)), DType::i64);
  EXPECT_EQ(result_type(bytes, unbacked({}, {}, DType::f64)), DType::f64);
}

TEST(Promotion, CastsThatLoseAKindAreForbidden) {
  EXPECT_FALSE(can_cast(DType::c64, DType::f32));
  EXPECT_FALSE(can_cast(DType::f32, DType::i32));
  EXPECT_FALSE(can_cast(DType::u8, DType::boolean));
  EXPECT_TRUE(can_cast(DType::i64, DType::u8));
  EXPECT_TRUE(can_cast(DType::f64, DType::f8e5m2));
  EXPECT_TRUE(can_cast(DType::boolean, DType::i8));
}

}  // namespace
}  // namespace weft
