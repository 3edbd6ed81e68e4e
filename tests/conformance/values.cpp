// values.jsonl: the bits of results.
#include "tests/conformance/replay.h"

#include <weft/promotion.h>

#include <complex>
#include <cstring>

namespace weft::conformance {
namespace {

/// What tests accept around a correctly rounded result (docs/numerics.md).
constexpr double ulp_budget = 1;
/// A few steps of the larger component, as complex results of PyTorch itself differ by.
constexpr double complex_ulp_budget = 4;

Tensor run(Engine& engine, const json& recorded) {
  std::vector<Expr> args;
  std::vector<Tensor> tensors;
  for (const json& input : recorded.at("in")) {
    tensors.push_back(recorded_tensor(input));
    args.emplace_back(tensors.back());
  }
  if (recorded.at("op") == "to") return engine.to(tensors.at(0), dtype_named(recorded.at("dst")));
  const Op op = recorded_op(recorded.at("op"));
  if (recorded.contains("scalar"))
    args.emplace_back(recorded_number(recorded.at("scalar"), recorded.at("scalar_kind")));
  const auto parameter = [&](const char* key) {
    const json& value = recorded.at(key);
    return Expr(recorded_number(value, value.is_number_integer() ? "py_int" : "py_float"));
  };
  // op(a, alpha * b), of which the product is computed in the common dtype.
  if (recorded.contains("alpha")) {
    const Expr b = cast(args.at(1), result_type(tensors.at(0), tensors.at(1)));
    args.at(1) = apply(Op::mul, {b, parameter("alpha")});
  }
  if (recorded.contains("value")) args.push_back(parameter("value"));
  return engine.eval(apply(op, std::span<const Expr>(args)));
}

/// Powers of c128 as the processor's widest floats give them.  The recorded ones are the C
/// library's, tens of steps away: what rounds in a logarithm counts as many times as the exponent
/// says.
Bytes rounded_powers(const json& recorded) {
  const Ints sizes = recorded.at("out").at("sz");
  const auto elements = [&](std::size_t input) {
    return logical_bytes(recorded_tensor(recorded.at("in").at(input)).expand(sizes));
  };
  const Bytes x = elements(0), y = elements(1);
  Bytes powers(x.size());
  for (std::size_t at = 0; at < x.size(); at += 2 * sizeof(double)) {
    double a[2], b[2];
    std::memcpy(a, &x[at], sizeof a);
    std::memcpy(b, &y[at], sizeof b);
    const std::complex<long double> power =
        std::pow(std::complex<long double>(a[0], a[1]), std::complex<long double>(b[0], b[1]));
    const double parts[] = {static_cast<double>(power.real()), static_cast<double>(power.imag())};
    std::memcpy(&powers[at], parts, sizeof parts);
  }
  return powers;
}

Accepted accepted_results(const json& recorded) {
  Accepted accepted;
  const json& out = recorded.at("out");
  accepted.dtype = dtype_named(out.at("dt"));
  accepted.exact.push_back(bytes_of_hex(out.at("hex")));
  for (const char* key : {"alt", "direct"})
    if (recorded.contains(key)) accepted.exact.push_back(bytes_of_hex(recorded.at(key)));
  const std::string tolerance = recorded.at("t");
  const Bytes reference = bytes_of_hex(recorded.value("ref", out.at("hex").get<std::string>()));
  if (tolerance == "exact") {
    // Where PyTorch's own result is off, the correctly rounded one is right as well.
    if (recorded.contains("ref")) accepted.references.push_back(reference);
  } else if (tolerance == "ulp" || tolerance == "formula") {
    if (is_floating(accepted.dtype)) accepted.references.push_back(reference);
    accepted.ulps = ulp_budget;
  } else if (tolerance == "cplx") {
    accepted.references.push_back(reference);
    accepted.ulps = complex_ulp_budget;
    if (recorded.at("op") == "pow" && accepted.dtype == DType::c128)
      accepted.references.push_back(rounded_powers(recorded));
  } else if (tolerance != "cplx_special") {
    throw Mismatch("unknown tolerance '" + tolerance + "'");
  }
  return accepted;
}

}  // namespace

Verdict replay_values(Context& context, const json& recorded) {
  if (recorded.contains("err")) {
    expect_error(recorded.at("err"), [&] { run(context.engine, recorded); });
    return Verdict::passed;
  }
  const Tensor result = run(context.engine, recorded);
  // Recordings of what killed PyTorch have no result; weft must survive.
  if (recorded.contains("crash")) return Verdict::skipped;
  const json& out = recorded.at("out");
  expect_equal("dtype", std::string(name(result.dtype())), out.at("dt").get<std::string>());
  expect_equal("sizes", ints(result.sizes()), out.at("sz").get<Ints>());
  Accepted accepted = accepted_results(recorded);
  if (recorded.at("t") == "cplx_special") return Verdict::skipped;
  if (recorded.contains("ub")) accepted.skip = recorded.at("ub").get<std::set<std::size_t>>();
  expect_accepted(recorded.at("op"), logical_bytes(result), accepted, context.worst);
  return Verdict::passed;
}

}  // namespace weft::conformance
