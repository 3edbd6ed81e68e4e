// The rows of weft/reductions.def as expressions: folds with elementwise work around them.
#include <weft/reduce.h>

#include "engine/expression/expr_node.h"
#include "engine/fold/fold_plan.h"
#include "engine/iterator/iter_plan.h"
#include "engine/messages/torch_names.h"
#include "engine/tensor/tensor_impl.h"
#include "ir/combine.h"

#include <weft/error.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <unordered_map>
#include <utility>

namespace weft {
namespace {

constexpr bool none = false;
constexpr bool identity = true;

constexpr auto table = std::to_array<ReductionInfo>({
#define WEFT_REDUCTION(name, shape, input, result, empty, expression) \
  {#name, ReductionShape::shape, ReductionInput::input, ReductionResult::result, empty},
#include <weft/reductions.def>
#undef WEFT_REDUCTION
});

constexpr auto reductions = std::to_array<Reduction>({
#define WEFT_REDUCTION(name, shape, input, result, empty, expression) Reduction::name,
#include <weft/reductions.def>
#undef WEFT_REDUCTION
});

/// A bit for each of the dimensions; all if none is given.
std::uint64_t dim_mask(IntSpan dims, int ndim) {
  if (dims.empty()) return ndim == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << ndim) - 1;
  std::uint64_t mask = 0;
  for (const std::int64_t dim : dims) {
    const int wrapped = wrap_dim(dim, ndim);
    const std::uint64_t bit = std::uint64_t{1} << wrapped;
    WEFT_CHECK((mask & bit) == 0, ArgumentError, "dim ", wrapped,
               " appears multiple times in the list of dims");
    mask |= bit;
  }
  // The one dimension that a tensor without dimensions is taken to have.
  return ndim == 0 ? 0 : mask;
}

Dims reduced_sizes(const FoldNode& fold) {
  if (fold.is_scan()) return fold.arg_sizes;
  std::vector<std::int64_t> sizes;
  for (std::size_t dim = 0; dim < fold.arg_sizes.size(); ++dim) {
    if (!fold.folds(dim)) {
      sizes.push_back(fold.arg_sizes[dim]);
    } else if (fold.keepdim) {
      sizes.push_back(1);
    }
  }
  return Dims(IntSpan(sizes));
}

/// What was asked for, as error messages have it.
struct FoldOrigin {
  std::string_view name;
  DType dtype;
};

Expr make_fold_node(const FoldOrigin& origin, FoldForm form, Op op, const Expr& value,
                    const ReduceOptions& options, bool keepdim, bool is_mean = false) {
  auto fold = std::make_shared<FoldNode>();
  fold->name = origin.name;
  fold->given_dtype = origin.dtype;
  fold->form = form;
  fold->arg_sizes = sizes_of(value.node());
  iter::checked_numel({fold->arg_sizes.data(), fold->arg_sizes.size()});
  fold->dims = dim_mask(options.dims, static_cast<int>(fold->arg_sizes.size()));
  fold->is_mean = is_mean;
  fold->keepdim = keepdim && !fold->is_scan();
  fold->is_reverse = options.reverse && fold->is_scan();
  fold->order = options.numerics ? fold_order(*options.numerics) : FoldOrder::by_layout;
  fold->sizes = reduced_sizes(*fold);
  auto node = std::make_shared<ExprNode>();
  node->kind = ExprNode::Kind::fold;
  node->op = op;
  node->compute_dtype = value.dtype();
  const bool is_index = form == FoldForm::index || form == FoldForm::scan_index;
  node->dtype = is_index ? DType::i64 : value.dtype();
  node->category = fold->sizes.empty() ? OperandCategory::zero_dim : OperandCategory::dimensioned;
  node->args.push_back(value.shared_node());
  node->fold = std::move(fold);
  order_of(*node, FoldOrder::by_layout);  // refuses what has none
  return Expr(std::move(node));
}

void check_numerics(std::string_view name, const ReduceOptions& options) {
  if (!options.numerics) return;
  const std::string_view numerics = weft::name(*options.numerics);  // refuses what is none
  if (fold_order(*options.numerics) != FoldOrder::by_layout) return;
  throw ArgumentError(detail::concat(name, "(): numerics ", numerics,
                                     " is for whole calls; one reduction can be layout_invariant "
                                     "or exact"));
}

Expr converted(const Expr& x, DType dtype) { return x.dtype() == dtype ? x : cast(x, dtype); }

/// The words of the expressions of weft/reductions.def.
class ReductionTerms {
 public:
  ReductionTerms(const FoldOrigin& asked, const Expr& input, const ReduceOptions& given)
      : origin(asked), x(input), options(given), n(num_reduced()) {}

  Expr build(Reduction reduction) const {
    switch (reduction) {
#define WEFT_REDUCTION(name, shape, input, result, empty, expression) \
  case Reduction::name:                                               \
    return expression;
#include <weft/reductions.def>
#undef WEFT_REDUCTION
    }
    __builtin_unreachable();
  }

 private:
  Expr fold(Op op, const Expr& value) const {
    return make_fold_node(origin, FoldForm::value, op, value, options, options.keepdim);
  }
  /// With the reduced dimensions kept, to be combined with the input again.
  Expr fold_kept(Op op, const Expr& value) const {
    return make_fold_node(origin, FoldForm::value, op, value, options, true);
  }
  /// The sum divided by n: one rounding where sums are exact.
  Expr average(bool keepdim) const {
    if (is_complex(x.dtype()))
      return make_fold_node(origin, FoldForm::value, Op::add, x, options, keepdim) / n;
    return make_fold_node(origin, FoldForm::value, Op::add, x, options, keepdim, true);
  }
  Expr mean() const { return average(options.keepdim); }
  Expr first(Op op, const Expr& value) const {
    return make_fold_node(origin, FoldForm::index, op, value, options, options.keepdim);
  }
  Expr scan(Op op, const Expr& value) const {
    return make_fold_node(origin, FoldForm::scan, op, value, options, false);
  }

  static Expr is_nonzero(const Expr& value) {
    return is_boolean(value.dtype()) ? value : ops::ne(value, Expr(0));
  }
  /// As a cast to bool: that of the real part.
  static Expr truth(const Expr& value) {
    return is_nonzero(is_complex(value.dtype()) ? ops::real(value) : value);
  }
  static Expr without_nan(const Expr& value) {
    if (is_integral(value.dtype())) return value;
    return ops::where(ops::isnan(value), cast(Expr(0), value.dtype()), value);
  }
  static Expr squared_size(const Expr& value) {
    if (!is_complex(value.dtype())) return ops::square(value);
    return ops::square(ops::real(value)) + ops::square(ops::imag(value));
  }

  /// In two passes, so that nothing cancels.
  Expr variance() const {
    const Expr deviation = x - average(true);
    const double degrees = n == 0 ? 0 : n - options.correction;  // nothing has no variance
    return fold(Op::add, squared_size(deviation)) / std::max(degrees, 0.0);
  }

  Expr norm() const {
    const double p = options.p;
    if (p == 0) return fold(Op::add, cast(is_nonzero(x), real_dtype(x.dtype())));
    if (p == 2) return ops::sqrt(fold(Op::add, squared_size(x)));
    const Expr size = ops::abs(x);
    if (p == 1) return fold(Op::add, size);
    if (std::isinf(p)) return fold(p > 0 ? Op::maximum : Op::minimum, size);
    const double largest = largest_finite(size.dtype());
    const bool is_beyond = std::abs(p) > largest || std::abs(1 / p) > largest;
    WEFT_CHECK(!is_beyond, ArgumentError, "norm(): p = ", p,
               " or its reciprocal is beyond the numbers of ", name(size.dtype()),
               ", which the powers are computed in");
    // No number as an exponent, where x * x would overflow before the power does.
    const auto exponent = [&](double number) {
      return number == -2 ? cast(Expr(number), size.dtype()) : Expr(number);
    };
    return ops::pow(fold(Op::add, ops::pow(size, exponent(p))), exponent(1 / p));
  }

  /// The largest exponent goes through the exponential as 0, so that nothing overflows.
  Expr log_sum_exp() const {
    const auto finite = [](const Expr& largest) {
      return ops::where(ops::isinf(largest), cast(Expr(0), largest.dtype()), largest);
    };
    const Expr sum = fold(Op::add, ops::exp(x - finite(fold_kept(Op::maximum, x))));
    return ops::log(sum) + finite(fold(Op::maximum, x));
  }

  double num_reduced() const {
    const Dims sizes = sizes_of(x.node());
    const std::uint64_t mask = dim_mask(options.dims, static_cast<int>(sizes.size()));
    double count = 1;
    for (std::size_t dim = 0; dim < sizes.size(); ++dim)
      if ((mask >> dim & 1) != 0) count *= static_cast<double>(sizes[dim]);
    return count;
  }

  // NOLINTBEGIN(readability-identifier-naming): as the table's expressions have them
  const FoldOrigin& origin;
  const Expr& x;
  const ReduceOptions& options;
  double n;
  // NOLINTEND(readability-identifier-naming)
};

/// Refuses to make something of nothing.
void check_identity(const ReductionInfo& row, IntSpan sizes, const ReduceOptions& options) {
  const bool is_empty = std::ranges::find(sizes, 0) != sizes.end();
  if (!is_empty || row.has_identity) return;
  WEFT_CHECK(!options.dims.empty() || row.name != "aminmax", ArgumentError,
             "aminmax(): cannot compute aminmax over an empty dimension as the operation has no "
             "identity.");
  WEFT_CHECK(!options.dims.empty(), ArgumentError, row.name,
             "(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
             "reduction dim with the 'dim' argument.");
  for (const std::int64_t dim : options.dims)
    WEFT_CHECK(sizes[static_cast<std::size_t>(wrap_dim(dim, static_cast<int>(sizes.size())))] != 0,
               ArgumentError, row.name, "(): Expected reduction dim ", dim,
               " to have non-zero size.");
}

void check_shape(const ReductionInfo& row, IntSpan sizes, const ReduceOptions& options) {
  WEFT_CHECK(row.shape != ReductionShape::scan || options.dims.size() == 1, ArgumentError, row.name,
             "() goes along one dimension, but ", options.dims.size(), " are given");
  WEFT_CHECK(row.shape != ReductionShape::scan || !options.keepdim, ArgumentError, row.name,
             "() keeps all dimensions and takes no keepdim");
  WEFT_CHECK(row.shape == ReductionShape::scan || !options.reverse, ArgumentError, row.name,
             "() has no direction and takes no reverse");
  WEFT_CHECK(row.shape != ReductionShape::one || options.dims.size() <= 1, ArgumentError, row.name,
             "() reduces one dimension or all, but ", options.dims.size(), " are given");
  dim_mask(options.dims, static_cast<int>(sizes.size()));
  check_identity(row, sizes, options);
}

void check_parameters(std::string_view name, const ReduceOptions& options, bool takes_p,
                      bool takes_correction) {
  WEFT_CHECK(takes_p || options.p == ReduceOptions().p, ArgumentError, name,
             "() takes no p; norm does");
  WEFT_CHECK(takes_correction || options.correction == ReduceOptions().correction, ArgumentError,
             name, "() takes no correction; var and std do");
}

/// What would be left out of account.
void check_settings(std::string_view name, Reduction reduction, const ReduceOptions& options) {
  if (options.dtype) {
    const ReductionResult result = info(reduction).result;
    WEFT_CHECK(result != ReductionResult::index, ArgumentError, name,
               "() returns i64 and takes no dtype");
    WEFT_CHECK(result != ReductionResult::truth || is_boolean(*options.dtype), ArgumentError, name,
               "() returns truth values and takes no dtype but bool");
  }
  const bool is_variance = reduction == Reduction::var || reduction == Reduction::std;
  check_parameters(name, options, reduction == Reduction::norm, is_variance);
}

/// The norms that are an extremum have no identity.
void check_norm(IntSpan sizes, const ReduceOptions& options) {
  const bool is_empty = std::ranges::find(sizes, 0) != sizes.end();
  if (!is_empty || (options.p >= 0 && !std::isinf(options.p))) return;
  const std::string_view order =
      std::isinf(options.p) ? (options.p > 0 ? "inf" : "-inf") : "negative";
  WEFT_CHECK(!options.dims.empty(), ArgumentError, "linalg.vector_norm cannot compute the ", order,
             " norm on an empty tensor because the operation does not have an identity");
  for (const std::int64_t dim : options.dims)
    WEFT_CHECK(sizes[static_cast<std::size_t>(wrap_dim(dim, static_cast<int>(sizes.size())))] != 0,
               ArgumentError, "linalg.vector_norm cannot compute the ", order,
               " norm on the dimension ", dim,
               " because this dimension is empty and the operation does not have an identity");
}

[[noreturn]] void refuse_integers(Reduction reduction, DType dtype, bool is_asked_for) {
  switch (reduction) {
    case Reduction::mean:
      throw ArgumentError(detail::concat("mean(): could not infer output dtype. ",
                                         is_asked_for ? "Optional" : "Input",
                                         " dtype must be either a floating point or complex "
                                         "dtype. Got: ",
                                         torch_name(dtype)));
    case Reduction::var:
    case Reduction::std:
      throw ArgumentError("std and var only support floating point and complex dtypes");
    case Reduction::norm:
      throw ArgumentError(detail::concat(
          "linalg.vector_norm: Expected a floating point or complex tensor as input. Got ",
          torch_name(dtype)));
    default:
      throw ArgumentError(detail::concat(name(reduction), "() does not take ", name(dtype),
                                         "; it takes floating point numbers"));
  }
}

/// The dtype to compute in.  `is_asked_for`: by the caller, and not the input's.
DType compute_dtype(Reduction reduction, DType dtype, bool is_asked_for) {
  const ReductionInfo& row = info(reduction);
  switch (row.input) {
    case ReductionInput::any: return dtype;
    case ReductionInput::same: return wide_dtype(dtype);
    case ReductionInput::widened: return is_integral(dtype) ? DType::i64 : wide_dtype(dtype);
    case ReductionInput::floating:
      if (is_integral(dtype)) refuse_integers(reduction, dtype, is_asked_for);
      return wide_dtype(dtype);
    case ReductionInput::precise:
      if (is_integral(dtype)) refuse_integers(reduction, dtype, is_asked_for);
      return is_complex(dtype) ? DType::c128 : DType::f64;
    case ReductionInput::real:
      WEFT_CHECK(!is_complex(dtype), ArgumentError, row.name, "() does not take ", name(dtype),
                 "; it takes real numbers");
      return is_integral(dtype) ? DType::f32 : wide_dtype(dtype);
  }
  __builtin_unreachable();
}

}  // namespace

const ReductionInfo& info(Reduction reduction) {
  const auto index = static_cast<std::size_t>(reduction);
  WEFT_CHECK(index < table.size(), ArgumentError, "there is no reduction ", index);
  return table[index];
}

std::optional<Reduction> parse_reduction(std::string_view text) {
  const auto found = std::ranges::find(table, text, &ReductionInfo::name);
  if (found == table.end()) return {};
  return reductions[static_cast<std::size_t>(found - table.begin())];
}

std::span<const Reduction> all_reductions() { return reductions; }

/// The value of a reduction as no other node is one.
static Expr reduced(const Expr& value) {
  if (value.node().kind != ExprNode::Kind::op && value.node().kind != ExprNode::Kind::cast)
    return value;
  auto node = std::make_shared<ExprNode>(value.node());
  node->is_reduced = true;
  return Expr(std::move(node));
}

/// reduce(), by another name in messages.
static Expr reduce_as(std::string_view name, Reduction reduction, const Expr& x,
                      const ReduceOptions& options) {
  ReductionInfo row = info(reduction);
  row.name = name;
  const Dims sizes = sizes_of(x.node());
  check_shape(row, {sizes.data(), sizes.size()}, options);
  check_numerics(row.name, options);
  check_settings(row.name, reduction, options);
  if (reduction == Reduction::norm) check_norm({sizes.data(), sizes.size()}, options);
  const DType asked = checked(options.dtype.value_or(x.dtype()));
  const DType computed = compute_dtype(reduction, asked, options.dtype.has_value());
  // A conversion to what was asked for comes first, and rounds.
  const Expr input = step(converted(x, asked), computed);
  Expr value = ReductionTerms({name, asked}, input, options).build(reduction);
  switch (row.result) {
    case ReductionResult::truth:
      return reduced(converted(value, asked == DType::u8 ? DType::u8 : DType::boolean));
    case ReductionResult::index: return value;
    case ReductionResult::real_part: return reduced(step(value, real_dtype(asked)));
    case ReductionResult::input:
      return reduced(options.dtype || computed == wide_dtype(asked) ? step(value, asked) : value);
  }
  __builtin_unreachable();
}

Expr reduce(Reduction reduction, const Expr& x, const ReduceOptions& options) {
  return reduce_as(name(reduction), reduction, x, options);
}

std::string_view name(PairReduction reduction) {
  WEFT_CHECK(reduction <= PairReduction::var_mean, ArgumentError, "there is no pair of reductions ",
             static_cast<int>(reduction));
  return reduction == PairReduction::aminmax ? "aminmax" : "var_mean";
}

std::optional<PairReduction> parse_pair_reduction(std::string_view text) {
  for (const PairReduction reduction : {PairReduction::aminmax, PairReduction::var_mean})
    if (text == name(reduction)) return reduction;
  return {};
}

std::array<Expr, 2> reduce_pair(PairReduction reduction, const Expr& x,
                                const ReduceOptions& options) {
  const std::string_view both = name(reduction);
  if (reduction == PairReduction::aminmax)
    return {reduce_as(both, Reduction::amin, x, options),
            reduce_as(both, Reduction::amax, x, options)};
  ReduceOptions of_mean = options;
  of_mean.correction = ReduceOptions().correction;
  return {reduce_as(both, Reduction::var, x, options),
          reduce_as(both, Reduction::mean, x, of_mean)};
}

Expr fold(Op combine, const Expr& x, const ReduceOptions& options) {
  WEFT_CHECK(!options.reverse, ArgumentError, "fold() has no direction and takes no reverse");
  check_numerics("fold", options);
  check_parameters("fold", options, false, false);
  const DType dtype = checked(options.dtype.value_or(x.dtype()));
  const DType computed = wide_dtype(dtype);
  WEFT_CHECK(ir::identity_of(combine, computed), ArgumentError, "fold(): ", name(combine),
             " has no identity to begin with");
  const OpInfo& row = info(combine);
  WEFT_CHECK(computes_in(row.domain, row.result, computed), ArgumentError, row.name,
             "() does not take ", name(dtype), "; it takes ", describe(row.domain));
  const Expr value = make_fold_node({row.name, dtype}, FoldForm::value, combine,
                                    step(converted(x, dtype), computed), options, options.keepdim);
  return step(value, dtype);
}

Expr scan_places(Op op, const Expr& x, std::int64_t dim, bool reverse) {
  const ReduceOptions options{.dims = {dim}, .reverse = reverse};
  const Expr value = step(x, wide_dtype(x.dtype()));
  return make_fold_node({op == Op::maximum ? "cummax" : "cummin", x.dtype()}, FoldForm::scan_index,
                        op, value, options, false);
}

}  // namespace weft
