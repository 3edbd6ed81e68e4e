// reduce.jsonl: reductions and scans, asked for in the spelling of expressions.
#include "tests/conformance/replay.h"

#include <array>
#include <cmath>

namespace weft::conformance {
namespace {

/// sum(a, dims=[0, 2], keepdim=true) and the like.
std::string expression_text(const json& recorded) {
  std::string text = recorded.at("op").get<std::string>() + "(a";
  const json& dim = recorded.at("dim");
  if (!dim.is_null()) text += ", dims=" + (dim.is_array() ? dim : json::array({dim})).dump();
  if (recorded.value("keepdim", 0) != 0) text += ", keepdim=true";
  for (const char* key : {"p", "correction"})
    if (recorded.contains(key)) text += std::string(", ") + key + "=" + recorded.at(key).dump();
  if (recorded.contains("dtype")) text += ", dtype=" + recorded.at("dtype").get<std::string>();
  return text + ")";
}

Tensor run(Engine& engine, const json& recorded) {
  const std::array names = {std::pair(std::string("a"), recorded_tensor(recorded.at("in")))};
  return engine.eval(parse_expr(expression_text(recorded), names));
}

/// The order of a sum is free: accepted are PyTorch's bits, a few roundings' distance from the
/// exact result, and up to twice PyTorch's own distance from it.
void expect_accumulated(const Tensor& result, const json& recorded) {
  const DType dtype = result.dtype();
  const Bytes got = logical_bytes(result);
  const Bytes theirs = bytes_of_hex(recorded.at("out").at("hex"));
  const Bytes reference = bytes_of_hex(recorded.at("ref64"));
  expect_equal("length of the result in bytes", got.size(), theirs.size());
  const DType part = real_dtype(dtype);
  const std::size_t size = itemsize_bytes(part);
  const std::size_t count = got.size() / size;
  expect_equal("length of the reference", count * sizeof(double), reference.size());
  const int digits = part == DType::f64   ? 52
                     : part == DType::f32 ? 23
                     : part == DType::f16 ? 10
                                          : 7;
  const double rounding = std::ldexp(1.0, -digits);
  for (std::size_t i = 0; i < count; ++i) {
    if (same_bits(part, &got[i * size], &theirs[i * size])) continue;
    const double exact = number_of(DType::f64, &reference[i * sizeof(double)]);
    const double mine = number_of(part, &got[i * size]);
    const double allowed = std::max(2 * std::abs(number_of(part, &theirs[i * size]) - exact),
                                    4 * rounding * std::abs(exact));
    if (!(std::abs(mine - exact) <= allowed))
      throw Mismatch("element " + std::to_string(i) + " is " + json(mine).dump() + ", exactly " +
                     json(exact).dump());
  }
}

}  // namespace

Verdict replay_reduce(Context& context, const json& recorded) {
  if (recorded.contains("err")) {
    expect_error(recorded.at("err"), [&] { run(context.engine, recorded); });
    return Verdict::passed;
  }
  const Tensor result = run(context.engine, recorded);
  const json& out = recorded.at("out");
  expect_equal("dtype", std::string(name(result.dtype())), out.at("dt").get<std::string>());
  expect_equal("sizes", ints(result.sizes()), out.at("sz").get<Ints>());
  expect_equal("strides", ints(result.strides()), out.at("st").get<Ints>());
  if (recorded.at("t") == "acc") {
    expect_accumulated(result, recorded);
    return Verdict::passed;
  }
  expect_equal("tolerance", recorded.at("t").get<std::string>(), std::string("exact"));
  Accepted accepted;
  accepted.dtype = result.dtype();
  accepted.exact.push_back(bytes_of_hex(out.at("hex")));
  expect_accepted(recorded.at("op"), logical_bytes(result), accepted, context.worst);
  return Verdict::passed;
}

}  // namespace weft::conformance
