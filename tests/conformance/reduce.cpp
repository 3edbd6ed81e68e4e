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
  // PyTorch's count_nonzero has no such parameter, and the recorded results are without it.
  if (recorded.value("keepdim", 0) != 0 && recorded.at("op") != "count_nonzero")
    text += ", keepdim=true";
  for (const char* key : {"p", "correction"})
    if (recorded.contains(key)) text += std::string(", ") + key + "=" + recorded.at(key).dump();
  if (recorded.contains("dtype")) text += ", dtype=" + recorded.at("dtype").get<std::string>();
  return text + ")";
}

Tensor run(Engine& engine, const json& recorded) {
  const std::array names = {std::pair(std::string("a"), recorded_tensor(recorded.at("in")))};
  return engine.eval(parse_expr(expression_text(recorded), names));
}

/// Complex results are recorded without an exact one: each of the numbers that became one may add a
/// few roundings, of PyTorch's and of weft's.
void expect_complex_accumulated(const Tensor& result, const json& recorded) {
  const Bytes got = logical_bytes(result);
  const Bytes theirs = bytes_of_hex(recorded.at("out").at("hex"));
  expect_equal("length of the result in bytes", got.size(), theirs.size());
  std::int64_t count = 1;
  for (const std::int64_t size : recorded.at("in").at("sz").get<Ints>()) count *= size;
  const auto allowed = static_cast<double>(8 * count);
  const std::size_t size = itemsize_bytes(result.dtype());
  for (std::size_t i = 0; i < got.size(); i += size) {
    const double ulps = complex_ulps_between(result.dtype(), &got[i], &theirs[i]);
    if (!(ulps <= allowed))
      throw Mismatch("element " + std::to_string(i / size) + " is " + json(ulps).dump() +
                     " roundings away from what was recorded");
  }
}

/// What a rounding of a partial result is relative to: terms of a sum may be much larger than it.
double largest_partial(const json& recorded, std::size_t num_results) {
  const std::string op = recorded.at("op");
  if (op != "sum" && op != "mean") return 0;
  const Tensor input = recorded_tensor(recorded.at("in"));
  const Bytes bytes = logical_bytes(input);
  const std::size_t size = itemsize_bytes(input.dtype());
  double largest = 0;
  for (std::size_t i = 0; i < bytes.size(); i += size) {
    const double term = std::abs(number_of(input.dtype(), &bytes[i]));
    if (std::isfinite(term)) largest = std::max(largest, term);
  }
  const auto num_terms = static_cast<double>(bytes.size() / size / num_results);
  return op == "sum" ? largest * num_terms : largest;
}

/// The order of a sum is free: accepted are PyTorch's bits, a few roundings' distance from the
/// exact result or one of a partial result, and up to twice PyTorch's own distance from it.
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
  const double partial = count == 0 ? 0 : largest_partial(recorded, count);
  for (std::size_t i = 0; i < count; ++i) {
    if (same_bits(part, &got[i * size], &theirs[i * size])) continue;
    const double exact = number_of(DType::f64, &reference[i * sizeof(double)]);
    const double mine = number_of(part, &got[i * size]);
    const double allowed = std::max(2 * std::abs(number_of(part, &theirs[i * size]) - exact),
                                    rounding * std::max(4 * std::abs(exact), partial));
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
  if (recorded.at("t") == "acc" && is_complex(result.dtype())) {
    expect_complex_accumulated(result, recorded);
    return Verdict::passed;
  }
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
