// binary_layout.jsonl: dtype, sizes and strides of results, and the iterator's plan.
#include "tests/conformance/replay.h"

#include <weft/iterator.h>
#include <weft/promotion.h>

namespace weft::conformance {
namespace {

/// The options of PyTorch's operators of this kind, which follow from the op's row.
void configure(TensorIteratorConfig& config, Op op, std::span<const Tensor> inputs,
               const Tensor& out) {
  const ResultRule rule = info(op).result;
  if (rule == ResultRule::select) {
    config.check_all_same_dtype(false).set_common_dtype(result_type(inputs[1], inputs[2]));
    return;
  }
  config.promote_inputs_to_common_dtype(true);
  if (rule == ResultRule::boolean) {
    if (!out.defined()) config.declare_static_dtype(DType::boolean);
    return;
  }
  config.cast_common_dtype_to_outputs(true).enforce_safe_casting_to_output(true);
  if (promotes_integers(rule)) config.promote_integer_inputs_to_float(true);
}

std::string recorded_fast_setup(const json& recorded) {
  if (recorded.at("fast").is_null()) return "none";
  const std::string text = recorded.at("fast");
  return text == "dense" ? "non_overlapping_dense" : text;
}

void check_result(std::string_view whose, DType dtype, IntSpan sizes, IntSpan result_strides,
                  const json& recorded) {
  const std::string prefix = std::string(whose) + ": ";
  expect_equal(prefix + "dtype", std::string(name(dtype)), recorded.at("odt").get<std::string>());
  expect_equal(prefix + "sizes", ints(sizes), recorded.at("osz").get<Ints>());
  const Ints strides = ints(result_strides);
  if (recorded.contains("ost_on_the_fly") && strides == recorded.at("ost_on_the_fly").get<Ints>())
    return;
  expect_equal(prefix + "strides", strides, recorded.at("ost").get<Ints>());
}

void check_result(std::string_view whose, const Tensor& result, const json& recorded) {
  check_result(whose, result.dtype(), result.sizes(), result.strides(), recorded);
}

void check_plan(const TensorIterator& iterator, const json& recorded) {
  check_result("iterator", iterator.output(), recorded);
  // The rest was recorded on operands that PyTorch had converted first, to other strides.
  if (recorded.contains("cast_in")) return;
  expect_equal("fast set-up", std::string(name(iterator.fast_setup())),
               recorded_fast_setup(recorded));
  expect_equal("perm", Ints(iterator.perm().begin(), iterator.perm().end()),
               recorded.at("perm").get<Ints>());
  expect_equal("coalesced shape", ints(iterator.shape()),
               recorded.at("coalesced_shape").get<Ints>());
  std::vector<Ints> stride_bytes;
  for (int i = 0; i < iterator.ntensors(); ++i)
    stride_bytes.push_back(ints(iterator.stride_bytes(i)));
  expect_equal("coalesced strides in bytes", stride_bytes,
               recorded.at("coalesced_stride_bytes").get<std::vector<Ints>>());
}

void replay_iterator(Op op, const json& recorded) {
  std::vector<Tensor> inputs;
  for (const json& input : recorded.at("in")) inputs.push_back(unbacked_layout(input));
  Tensor out;
  if (recorded.contains("out")) out = unbacked_layout(recorded.at("out"));
  TensorIteratorConfig config;
  configure(config, op, inputs, out);
  config.add_output(out);
  for (const Tensor& input : inputs) config.add_input(input);
  check_plan(config.build(), recorded);
}

/// The same through the public call, with bytes.
void replay_engine(Engine& engine, Op op, const json& recorded) {
  std::vector<Expr> args;
  for (const json& input : recorded.at("in")) args.emplace_back(recorded_layout(input));
  // The factor of addcmul and addcdiv, which is no operand.
  while (args.size() < static_cast<std::size_t>(info(op).arity)) args.emplace_back(1);
  const Expr expr = apply(op, std::span<const Expr>(args));
  const Tensor out = recorded.contains("out") ? recorded_layout(recorded.at("out")) : Tensor();
  const Inferred inferred = engine.infer(expr, out);
  check_result("inference", inferred.dtype, inferred.sizes, inferred.strides, recorded);
  if (!out.defined()) return check_result("engine", engine.eval(expr), recorded);
  engine.eval(expr, out);
  check_result("engine", out, recorded);
}

}  // namespace

Verdict replay_binary_layout(Context& context, const json& recorded) {
  const std::string op_name = recorded.at("op");
  const Op op = recorded_op(op_name == "ne_self" ? "ne" : op_name);
  if (recorded.contains("err")) {
    const std::string kind = recorded.at("err");
    expect_error(kind, [&] { replay_iterator(op, recorded); });
    expect_error(kind, [&] { replay_engine(context.engine, op, recorded); });
    return Verdict::passed;
  }
  replay_iterator(op, recorded);
  replay_engine(context.engine, op, recorded);
  return Verdict::passed;
}

}  // namespace weft::conformance
