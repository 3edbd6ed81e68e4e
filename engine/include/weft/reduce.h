// Reductions and scans as expressions: `sum(x * y, {.dims = {0}})`.  Their arguments may be any
// expressions, and so may what is made of them: `x - mean(x, {.dims = {1}, .keepdim = true})`.
#pragma once

#include <weft/expr.h>
#include <weft/numerics.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] weft {

enum class Reduction : std::uint8_t {
#define WEFT_REDUCTION(name, shape, input, result, empty, expression) name,
#include <weft/reductions.def>
#undef WEFT_REDUCTION
};

/// What a reduction computes in.  Small floats compute in f32 throughout, where it isn't f64.
enum class ReductionInput : std::uint8_t {
  any,
  same,      ///< the dtype of the input
  widened,   ///< the same, but i64 for integers and bool
  floating,  ///< the same; integers and bool are an error
  precise,   ///< f64 or c128; integers and bool are an error
  real,      ///< f32 for integers and bool; complex numbers are an error
};

enum class ReductionResult : std::uint8_t {
  input,      ///< what was computed in; small floats are rounded once, at the end
  real_part,  ///< of that
  truth,      ///< bool; u8 for u8
  index,      ///< i64
};

enum class ReductionShape : std::uint8_t { dims, one, scan };

struct ReductionInfo {
  std::string_view name;
  ReductionShape shape;
  ReductionInput input;
  ReductionResult result;
  bool has_identity;
};

const ReductionInfo& info(Reduction reduction);
inline std::string_view name(Reduction reduction) { return info(reduction).name; }
std::optional<Reduction> parse_reduction(std::string_view text);
/// In the order of weft/reductions.def.
std::span<const Reduction> all_reductions();

struct ReduceOptions {
  /// Counted from the end if negative.  None: all of them; scans take exactly one.
  std::vector<std::int64_t> dims = {};
  bool keepdim = false;  ///< reduced dimensions stay, with size 1; no scan has this
  /// To compute in and to return.  Places and counts have none, truth values no other than bool.
  std::optional<DType> dtype = {};
  double p = 2;           ///< norm: the exponent; 0, infinities and fractions too
  double correction = 1;  ///< var, std: subtracted from the number of elements
  bool reverse = false;   ///< scans: from the last element to the first
  /// layout_invariant or exact, for this reduction; otherwise what the engine has been told.
  std::optional<Numerics> numerics = {};
};

/// `x` reduced.  Nothing runs before the expression is evaluated.
///
/// Shapes:   reduced dimensions are left out, or have size 1; scans keep all.
/// Layout:   contiguous.
/// Numerics: float sums and products follow a tree that depends on shape and layout alone
///           (docs/reductions.md); f16, bf16 and the 8-bit floats compute in f32.
/// Errors:   ArgumentError, with PyTorch's texts: a dimension out of range or given twice, an empty
///           reduction without identity, a dtype that the reduction does not take, an option of
///           others; Numerics::exact for what rounds and is no sum, and the Numerics of whole
///           calls.
/// Mirrors:  the function of this name in torch.
Expr reduce(Reduction reduction, const Expr& x, const ReduceOptions& options = {});

/// `x` combined with an associative op that has an identity: add, mul, maximum, minimum,
/// bitwise_and, bitwise_or, bitwise_xor, gcd, hypot, logaddexp, logaddexp2.  For reductions of
/// one's own, with any expression before and after.
///
/// Dtype:  that of `x`; as in `options` if given.
/// Errors: ArgumentError as above, and for an op without identity.
Expr fold(Op combine, const Expr& x, const ReduceOptions& options = {});

/// Reductions with two results, for Engine::eval() of several expressions: what they share is read
/// once.
enum class PairReduction : std::uint8_t {
  aminmax,   ///< the smallest and the largest element
  var_mean,  ///< the variance and the mean
};
std::string_view name(PairReduction reduction);
std::optional<PairReduction> parse_pair_reduction(std::string_view text);
/// Shapes, errors: as reduce(), for both results.   Mirrors: the function of this name in torch.
std::array<Expr, 2> reduce_pair(PairReduction reduction, const Expr& x,
                                const ReduceOptions& options = {});

namespace detail {
struct ReductionFunction {
  Reduction reduction;
  Expr operator()(const Expr& x, const ReduceOptions& options = {}) const {
    return reduce(reduction, x, options);
  }
};
}  // namespace detail

/// `weft::ops::sum(x, {.dims = {1}})`.
namespace ops {
#define WEFT_REDUCTION(name, shape, input, result, empty, expression) \
  inline constexpr detail::ReductionFunction name{Reduction::name};
#include <weft/reductions.def>
#undef WEFT_REDUCTION

/// The smallest and the largest element.
inline std::array<Expr, 2> aminmax(const Expr& x, const ReduceOptions& options = {}) {
  return reduce_pair(PairReduction::aminmax, x, options);
}
/// The variance and the mean.
inline std::array<Expr, 2> var_mean(const Expr& x, const ReduceOptions& options = {}) {
  return reduce_pair(PairReduction::var_mean, x, options);
}
}  // namespace ops

}  // namespace weft
