#include "engine/fuzz/tolerance.h"

#include "engine/fuzz/compare.h"
#include "jit/nvrtc/ulps.h"

#include <algorithm>
#include <unordered_map>

namespace weft::fuzzing {
namespace {

constexpr Tolerance unknown{std::numeric_limits<double>::infinity(), DType::f32};

Tolerance converted(const Tolerance& value, DType from, DType to) {
  if (value.is_exact() || value.is_unknown() || from == to) return value;
  if (is_integral(to) || (is_complex(from) && !is_complex(to))) return unknown;
  // Numbers that are next to each other are rounded to the same or to neighbours.
  const DType part = real_dtype(to);
  return places_of(part).digits < places_of(value.unit).digits ? Tolerance{1, part} : value;
}

class Tolerances {
 public:
  explicit Tolerances(Numerics numerics) : numerics_(numerics) {}

  Tolerance of(const ExprNode& node) {
    const auto known = known_.find(&node);
    if (known != known_.end()) return known->second;
    const Tolerance tolerance = compute(node);
    known_.emplace(&node, tolerance);
    return tolerance;
  }

 private:
  Tolerance compute(const ExprNode& node) {
    switch (node.kind) {
      case ExprNode::Kind::tensor:
      case ExprNode::Kind::scalar: return {};
      case ExprNode::Kind::cast:
        return converted(of(*node.args[0]), node.args[0]->dtype, node.dtype);
      case ExprNode::Kind::fold: return unknown;
      case ExprNode::Kind::op: break;
    }
    if (reads_sign_of_computed(node)) return unknown;
    if (std::ranges::all_of(node.args, [&](const auto& arg) { return of(*arg).is_exact(); })) {
      const DType computed = wide_dtype(node.compute_dtype), result = wide_dtype(node.dtype);
      const double ulps = jit::nvrtc::ulps_of_result(node.op, computed, numerics_);
      return converted({ulps, real_dtype(computed)}, result, node.dtype);
    }
    switch (node.op) {
      case Op::neg:
      case Op::conj: return argument(node, 0);
      case Op::where: return of(*node.args[0]).is_exact() ? either(node) : unknown;
      default: return unknown;
    }
  }

  /// Whether the sign of a number that was computed shows: a NaN that processors make has whichever
  /// they choose.
  static bool reads_sign_of_computed(const ExprNode& node) {
    if (node.op != Op::signbit && node.op != Op::copysign) return false;
    const ExprNode* from = node.args.back().get();
    while (from->kind == ExprNode::Kind::cast) from = from->args[0].get();
    return from->kind == ExprNode::Kind::op || from->kind == ExprNode::Kind::fold;
  }

  Tolerance argument(const ExprNode& node, std::size_t index) {
    return converted(of(*node.args[index]), node.args[index]->dtype, node.dtype);
  }

  Tolerance either(const ExprNode& node) {
    const Tolerance x = argument(node, 1), y = argument(node, 2);
    const bool is_coarser = places_of(x.unit).digits < places_of(y.unit).digits;
    if (x.is_exact() || y.is_exact()) return x.is_exact() ? y : x;
    return {std::max(x.ulps, y.ulps), is_coarser ? x.unit : y.unit};
  }

  Numerics numerics_;
  std::unordered_map<const ExprNode*, Tolerance> known_;
};

}  // namespace

Tolerance tolerance_of(const Expr& expr, DType dtype, Numerics numerics, std::string_view backend) {
  if (backend != "nvrtc") return {};
  return converted(Tolerances(numerics).of(expr.node()), expr.dtype(), dtype);
}

}  // namespace weft::fuzzing
