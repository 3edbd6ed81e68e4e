// promotion.jsonl: dtypes of results, and which operations are refused for their dtypes.
#include "tests/conformance/replay.h"

#include <weft/promotion.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

namespace weft::conformance {
namespace {

/// [dtype, "dim" | "zero"] or [kind of number, "scalar"]; all values are 1.
class Operand {
 public:
  explicit Operand(const json& recorded) : kind_(recorded.at(1)) {
    const std::string type = recorded.at(0);
    if (kind_ == "scalar") {
      number_ = type == "py_complex" ? recorded_number(json::array({1, 0}), type)
                : type == "py_bool"  ? recorded_number(true, type)
                                     : recorded_number(1, type);
    } else if (kind_ == "dim" || kind_ == "zero") {
      tensor_ = ones(sizes(), dtype_named(type));
    } else {
      throw Mismatch("operand " + recorded.dump() + " is neither a tensor nor a number");
    }
  }

  static Tensor ones(const Ints& sizes, DType dtype) { return full(sizes, 1, {.dtype = dtype}); }

  bool is_number() const { return kind_ == "scalar"; }
  Ints sizes() const { return kind_ == "dim" ? Ints{2} : Ints{}; }
  const Tensor& tensor() const { return tensor_; }
  const Scalar& number() const { return number_; }
  Expr expr() const { return is_number() ? Expr(number_) : Expr(tensor_); }

 private:
  std::string kind_;
  Tensor tensor_;
  Scalar number_;
};

DType result_type_of(const Operand& a, const Operand& b) {
  if (a.is_number())
    return b.is_number() ? result_type(a.number(), b.number())
                         : result_type(a.number(), b.tensor());
  return b.is_number() ? result_type(a.tensor(), b.number()) : result_type(a.tensor(), b.tensor());
}

DType run(Engine& engine, const json& recorded) {
  const Operand a(recorded.at("a")), b(recorded.at("b"));
  const std::string kind = recorded.at("k");
  if (kind == "result_type") return result_type_of(a, b);
  const Op op = recorded_op(recorded.at("op"));
  std::vector<Expr> args;
  if (info(op).result == ResultRule::select) args.emplace_back(Operand::ones({2}, DType::boolean));
  args.push_back(a.expr());
  args.push_back(b.expr());
  const Expr expr = apply(op, std::span<const Expr>(args));
  if (kind == "op") {
    const Tensor result = engine.eval(expr);
    expect_equal("dtype of the expression", std::string(name(expr.dtype())),
                 std::string(name(result.dtype())));
    return result.dtype();
  }
  Tensor out;
  if (kind == "inplace") {
    out = a.tensor();
  } else {
    out = Operand::ones(infer_size(a.sizes(), b.sizes()), dtype_named(recorded.at("o")));
  }
  engine.eval(expr, out);
  return out.dtype();
}

/// What is wrong with a case is no error that it may record.
void check_case(const json& recorded) {
  constexpr std::string_view kinds[] = {"op",          "inplace",       "out",
                                        "result_type", "promote_types", "can_cast"};
  const std::string kind = recorded.at("k");
  if (std::ranges::find(kinds, kind) == std::end(kinds))
    throw Mismatch("'" + kind + "' is no known kind of promotion");
  if (recorded.contains("o") != (kind == "out")) throw Mismatch("an output is what kind 'out' has");
  if (kind == "out") dtype_named(recorded.at("o"));
  if (kind == "op" || kind == "inplace" || kind == "out") recorded_op(recorded.at("op"));
}

DType dtype_operand(const json& recorded) {
  expect_equal("kind of operand", recorded.at(1).get<std::string>(), std::string("dtype"));
  return dtype_named(recorded.at(0));
}

}  // namespace

Verdict replay_promotion(Context& context, const json& recorded) {
  check_case(recorded);
  if (recorded.at("k") == "can_cast") {
    expect_equal("can_cast",
                 can_cast(dtype_operand(recorded.at("a")), dtype_operand(recorded.at("b"))),
                 recorded.at("r").get<bool>());
    return Verdict::passed;
  }
  if (recorded.contains("e")) {
    expect_error(recorded.at("e"), [&] { run(context.engine, recorded); });
    return Verdict::passed;
  }
  const auto check = [&](DType dtype) {
    expect_equal("result dtype", std::string(name(dtype)), recorded.at("r").get<std::string>());
  };
  if (recorded.at("k") == "promote_types") {
    check(promote_types(dtype_operand(recorded.at("a")), dtype_operand(recorded.at("b"))));
    return Verdict::passed;
  }
  try {
    check(run(context.engine, recorded));
  } catch (const ArgumentError& error) {
    // PyTorch has no kernel there either.
    const bool may_refuse = recorded.value("cpu", "") == "unimplemented";
    if (!may_refuse || error_kind(error) != "unsupported") throw;
  }
  return Verdict::passed;
}

}  // namespace weft::conformance
