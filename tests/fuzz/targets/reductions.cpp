// Reductions and scans by an engine that compiles and by one that interprets, on tensors that end
// where they must.
#include "tests/fuzz/targets/target.h"

#include "engine/fuzz/storage.h"
#include "ir/combine.h"
#include "tests/jit/calls.h"

#include <weft/engine.h>
#include <weft/parallel.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weft::fuzzing {
namespace {

using Ints = std::vector<std::int64_t>;

constexpr std::int64_t most_elements = 6000;
constexpr std::int64_t most_elements_of_large = 200'000;  ///< enough for several threads
constexpr int max_threads = 4;

template <class Range>
auto pick(Choices& choices, const Range& range) {
  return range[static_cast<std::size_t>(choices.below(static_cast<int>(std::size(range))))];
}

Ints choose_sizes(Choices& choices) {
  constexpr auto sizes =
      std::to_array<std::int64_t>({1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 129, 300});
  const bool is_large = choices.below(32) == 31;
  const std::int64_t limit = is_large ? most_elements_of_large : most_elements;
  std::int64_t numel = 1;
  Ints result(static_cast<std::size_t>(choices.below(5)));
  for (std::int64_t& size : result) {
    const std::uint8_t chosen = choices.byte();
    size = sizes[chosen % sizes.size()];
    if (chosen >= 0xe0) size = choices.number<std::uint32_t>() % limit;
    if (numel * size > limit) size = 1;
    numel *= std::max<std::int64_t>(size, 1);
  }
  return result;
}

/// A layout of these sizes: dimensions in any order, with gaps, reversed, and of inputs repeated.
CaseTensor choose_layout(Choices& choices, std::string name, DType dtype, Ints sizes,
                         bool is_output) {
  CaseTensor result;
  result.name = std::move(name);
  result.dtype = dtype;
  result.sizes = std::move(sizes);
  result.strides.resize(result.sizes.size());
  std::vector<std::size_t> order(result.sizes.size());  // innermost first
  std::iota(order.rbegin(), order.rend(), 0);
  const bool is_plain = choices.flag();
  if (!is_plain)
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[static_cast<std::size_t>(choices.below(static_cast<int>(i)))]);
  std::int64_t stride = 1;
  for (const std::size_t dim : order) {
    const std::uint8_t how = is_plain ? 0xff : choices.byte();
    const std::int64_t size = std::max<std::int64_t>(result.sizes[dim], 1);
    if (!is_output && how < 0x10) continue;  // the same elements along this dimension
    stride *= how % 4 == 0 ? 1 + how / 4 % 4 : 1;
    result.strides[dim] = stride;
    stride *= size;
    if (how % 16 != 1) continue;
    result.offset += result.strides[dim] * (size - 1);
    result.strides[dim] = -result.strides[dim];
  }
  const std::uint8_t rest = choices.byte();
  result.offset += rest % 4;
  result.is_conj = !is_output && is_complex(dtype) && rest >= 0xe0;
  result.is_neg = !is_output && !is_boolean(dtype) && rest / 4 % 32 == 1;
  return result;
}

ReduceOptions choose_options(Choices& choices, int ndim, ReductionShape shape) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  ReduceOptions options;
  const std::uint8_t mask = choices.byte();
  for (int dim = 0; dim < ndim; ++dim)
    if ((mask >> dim & 1) != 0) options.dims.push_back((mask & 0x80) != 0 ? dim - ndim : dim);
  const bool wants_one = shape == ReductionShape::scan || mask / 32 % 4 != 0;
  if (shape != ReductionShape::dims && ndim > 0 && wants_one) options.dims = {mask % ndim};
  const std::uint8_t rest = choices.byte();
  options.keepdim = (rest & 1) != 0;
  options.reverse = shape == ReductionShape::scan && (rest & 2) != 0;
  if (rest / 4 % 4 == 1) options.dtype = pick(choices, all_dtypes);
  if (rest / 16 == 1) options.numerics = Numerics::layout_invariant;
  if (rest / 16 == 2) options.numerics = Numerics::exact;
  options.p = pick(choices, std::to_array({2.0, 1.0, 0.0, infinity, 3.0, 0.5, -1.0, -infinity}));
  options.correction = pick(choices, std::to_array({1.0, 0.0, 2.5}));
  return options;
}

/// What is computed in front of a reduction.
Expr choose_argument(Choices& choices, const Tensor& a, const Tensor& b) {
  constexpr auto texts = std::to_array<const char*>(
      {"a * b", "(a - b) ** 2", "abs(a) + b", "where(a < b, a, b)", "sqrt(abs(a)) * b",
       "exp(a - 2)", "maximum(a, b) + 1", "cast(a, f64) / 3", "-a", "tan(a)",
       "bitwise_left_shift(a, b)", "div_trunc(a, b)", "remainder(a, b)"});
  const std::vector<std::pair<std::string, Tensor>> names{{"a", a}, {"b", b}};
  return parse_expr(pick(choices, texts), names);
}

/// One call, as the ways of an Engine to say it.
struct ReductionCall {
  enum class Kind : std::uint8_t { reduce, expression, fold, pair, with_places };
  Kind kind = Kind::reduce;
  Reduction reduction = Reduction::sum;
  PairReduction pair = PairReduction::aminmax;
  ReduceOptions options;
  Tensor a;
  std::optional<Expr> expr;  ///< Kind::expression and fold
  Tensor out;                ///< undefined: a new tensor
};

std::vector<Tensor> with_places(Engine& engine, const ReductionCall& call) {
  const auto both = [](std::pair<Tensor, Tensor> results) {
    return std::vector{results.first, results.second};
  };
  const std::int64_t dim = call.options.dims.empty() ? 0 : call.options.dims[0];
  switch (call.reduction) {
    case Reduction::max: return both(engine.max(call.a, dim, call.options.keepdim));
    case Reduction::min: return both(engine.min(call.a, dim, call.options.keepdim));
    case Reduction::cummax: return both(engine.cummax(call.a, dim));
    default: return both(engine.cummin(call.a, dim));
  }
}

std::vector<Tensor> run(Engine& engine, const ReductionCall& call) {
  using Kind = ReductionCall::Kind;
  switch (call.kind) {
    case Kind::reduce:
      if (!call.out.defined()) return {engine.reduce(call.reduction, call.a, call.options)};
      engine.reduce(call.reduction, call.a, call.options, call.out);
      return {call.out};
    case Kind::expression:
    case Kind::fold:
      if (!call.out.defined()) return {engine.eval(*call.expr)};
      engine.eval(*call.expr, call.out);
      return {call.out};
    case Kind::pair: return engine.eval(reduce_pair(call.pair, call.a, call.options));
    case Kind::with_places: return with_places(engine, call);
  }
  __builtin_unreachable();
}

/// A result's elements, one after the other; or the kind of error that there was instead.
struct Attempt {
  std::string error_kind;
  std::string message;
  std::vector<DType> dtypes;
  std::vector<Ints> sizes;
  std::vector<std::vector<std::byte>> bytes;
};

std::vector<std::byte> elements_of(const Tensor& tensor) {
  const std::size_t itemsize = itemsize_bytes(tensor.dtype());
  std::vector<std::byte> result;
  Ints index(static_cast<std::size_t>(tensor.dim()));
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    const std::int64_t place =
        std::inner_product(index.begin(), index.end(), tensor.strides().begin(), std::int64_t{0});
    const std::byte* const element = tensor.data() + place * static_cast<std::int64_t>(itemsize);
    result.insert(result.end(), element, element + itemsize);
    for (std::size_t dim = index.size(); dim-- > 0;) {
      if (++index[dim] < tensor.size(static_cast<int>(dim))) break;
      index[dim] = 0;
    }
  }
  return result;
}

Attempt attempt(Engine& engine, const ReductionCall& call) {
  Attempt result;
  try {
    for (const Tensor& tensor : run(engine, call)) {
      result.dtypes.push_back(tensor.dtype());
      result.sizes.emplace_back(tensor.sizes().begin(), tensor.sizes().end());
      result.bytes.push_back(elements_of(tensor));
    }
  } catch (const InternalError& error) {
    report_broken(error.what());
  } catch (const CompileError& error) {
    report_broken(error.what());
  } catch (const Error& error) {
    result.error_kind = error.kind();
    result.message = error.what();
  }
  return result;
}

bool are_same(const Attempt& actual, const Attempt& expected) {
  if (actual.error_kind != expected.error_kind || actual.dtypes != expected.dtypes ||
      actual.sizes != expected.sizes)
    return false;
  for (std::size_t i = 0; i < expected.bytes.size(); ++i)
    if (!jit::test::same_elements(actual.bytes[i], expected.bytes[i], expected.dtypes[i]))
      return false;
  return true;
}

std::string text_of(const ReductionCall& call) {
  std::string dims;
  for (const std::int64_t dim : call.options.dims) dims += ' ' + std::to_string(dim);
  const std::string what = call.expr ? text(*call.expr)
                           : call.kind == ReductionCall::Kind::pair
                               ? std::string(name(call.pair))
                               : std::string(name(call.reduction));
  return detail::concat(what, " of ", layout_text(call.a), ", dims", dims, ", keepdim ",
                        call.options.keepdim, ", reverse ", call.options.reverse, ", dtype ",
                        call.options.dtype ? name(*call.options.dtype) : "none", ", p ",
                        call.options.p, ", correction ", call.options.correction, ", numerics ",
                        call.options.numerics ? name(*call.options.numerics) : "none",
                        call.out.defined() ? ", into " + layout_text(call.out) : std::string());
}

/// The tensors of a call.
class Memory {
 public:
  const Tensor& add(const CaseTensor& layout, std::uint64_t seed, Values values) {
    tensors_.push_back(std::make_unique<GuardedTensor>(layout, seed, std::nullopt, values));
    return tensors_.back()->tensor();
  }
  void restore() {
    for (const auto& tensor : tensors_) tensor->restore();
  }
  /// Whether nothing changed but the elements of `written`, which may be undefined.
  bool is_intact(const Tensor& written) const {
    return std::ranges::all_of(tensors_, [&](const auto& tensor) {
      const bool is_written = written.defined() && tensor->tensor().data() == written.data();
      return tensor->is_intact(is_written ? std::span(&written, 1) : std::span<const Tensor>());
    });
  }

 private:
  std::vector<std::unique_ptr<GuardedTensor>> tensors_;
};

/// Two calls by an engine, the second of which finds what the first one planned.
void check(const EngineOptions& options, const ReductionCall& call, Memory& memory,
           const Attempt& expected) {
  std::optional<Engine> engine;
  if (!is_accepted([&] { engine.emplace(options); })) return;  // not in this build
  for (int repetition = 0; repetition < 2; ++repetition) {
    memory.restore();
    const Attempt actual = attempt(*engine, call);
    const std::string who =
        detail::concat(options.backend, " with ", options.num_threads, " threads, numerics ",
                       name(options.numerics), ", call ", repetition, ": ", text_of(call));
    const bool has_failed = !actual.error_kind.empty();
    if (!memory.is_intact(has_failed ? Tensor() : call.out))
      report_broken("other bytes changed: " + who);
    if (actual.error_kind == "unsupported" && options.backend != "auto") return;
    if (!are_same(actual, expected))
      report_broken(detail::concat("differs from the interpreter (", expected.message, " / ",
                                   actual.message, "): ", who));
  }
}

/// Fills in what is reduced and how; throws what weft says to calls that make no sense.
void choose_call(Choices& choices, ReductionCall& call, const Tensor& b) {
  using Kind = ReductionCall::Kind;
  constexpr auto kinds =
      std::to_array({Kind::reduce, Kind::reduce, Kind::reduce, Kind::expression, Kind::expression,
                     Kind::fold, Kind::pair, Kind::with_places});
  constexpr auto placed =
      std::to_array({Reduction::max, Reduction::min, Reduction::cummax, Reduction::cummin});
  call.kind = pick(choices, kinds);
  call.reduction =
      call.kind == Kind::with_places ? pick(choices, placed) : pick(choices, all_reductions());
  call.pair = choices.flag() ? PairReduction::aminmax : PairReduction::var_mean;
  const bool has_rows = call.kind == Kind::fold || call.kind == Kind::pair;
  const ReductionShape shape = has_rows ? ReductionShape::dims : info(call.reduction).shape;
  call.options = choose_options(choices, call.a.dim(), shape);
  if (call.kind != Kind::expression && call.kind != Kind::fold) return;
  const Expr argument = choose_argument(choices, call.a, b);
  if (call.kind == Kind::expression) {
    call.expr = reduce(call.reduction, argument, call.options);
    return;
  }
  std::vector<Op> combining;
  for (const Op op : all_ops())
    if (ir::identity_of(op, DType::u8)) combining.push_back(op);
  call.expr = fold(pick(choices, combining), argument, call.options);
}

}  // namespace

void fuzz_reduce(Bytes input) {
  set_num_threads(max_threads);
  Choices choices(input);
  const auto seed = choices.number<std::uint32_t>();
  const Values values = choices.below(4) == 3 ? Values::any : Values::ordinary;
  const DType dtype = pick(choices, all_dtypes);
  const Ints sizes = choose_sizes(choices);
  Memory memory;
  ReductionCall call;
  call.a = memory.add(choose_layout(choices, "a", dtype, sizes, false), seed, values);
  const Tensor b = memory.add(choose_layout(choices, "b", dtype, sizes, false), seed, values);
  if (!is_accepted([&] { choose_call(choices, call, b); })) return;
  constexpr auto numerics =
      std::to_array({Numerics::standard, Numerics::standard, Numerics::strict, Numerics::fast,
                     Numerics::layout_invariant, Numerics::exact});
  EngineOptions options{.backend = "interp", .numerics = pick(choices, numerics), .num_threads = 1};
  Engine reference(options);
  using Kind = ReductionCall::Kind;
  const bool has_out = call.kind != Kind::pair && call.kind != Kind::with_places;
  if (has_out && choices.below(4) == 3) {
    Inferred result;
    const bool can_be = is_accepted([&] {
      result =
          reference.infer(call.expr ? *call.expr : reduce(call.reduction, call.a, call.options));
    });
    if (!can_be) return;
    call.out =
        memory.add(choose_layout(choices, "out", result.dtype, result.sizes, true), seed, values);
  }
  const Attempt expected = attempt(reference, call);
  if (!memory.is_intact(expected.error_kind.empty() ? call.out : Tensor()))
    report_broken("other bytes changed: interp: " + text_of(call));
  options.num_threads = 1 + choices.below(max_threads);
  options.tiers = "xbyak";
  for (const char* const backend : {"auto", "xbyak"}) {
    options.backend = backend;
    check(options, call, memory, expected);
  }
}

}  // namespace weft::fuzzing
