#include "engine/fuzz/generate.h"

#include "engine/expression/expr_node.h"
#include "engine/tensor/random_elements.h"

#include <weft/error.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace weft::fuzzing {
namespace {

constexpr std::int64_t max_elements = 4096;
constexpr std::int64_t max_elements_of_large = 400000;

class Generator {
 public:
  Generator(std::uint64_t seed, std::uint64_t index) : seed_(random_bits(seed, index)) {}

  Case generate() {
    case_.seed = seed_;
    case_.numerics = chance(55)   ? Numerics::strict
                     : chance(85) ? Numerics::standard
                                  : Numerics::fast;
    is_large_ = chance(2);
    theme_ = random_dtype();
    choose_shape();
    const int num_inputs = chance(5) ? below(8) + 5 : below(4) + 1;
    for (int i = 0; i < num_inputs; ++i) add_input();
    const int num_scalars = chance(60) ? 0 : below(3) + 1;
    for (int i = 0; i < num_scalars; ++i) add_scalar();
    const int num_ops = is_large_ ? below(3) : chance(10) ? below(25) + 8 : below(8);
    for (int i = 0; i < num_ops; ++i) add_operation();
    choose_roots();
    case_ = without_unused(case_);
    choose_outputs();
    return std::move(case_);
  }

 private:
  std::uint64_t next() { return random_bits(seed_, ++drawn_); }
  int below(int limit) { return static_cast<int>(next() % static_cast<std::uint64_t>(limit)); }
  bool chance(int percent) { return below(100) < percent; }
  template <class Range>
  auto pick(const Range& range) {
    return range[static_cast<std::size_t>(below(static_cast<int>(std::size(range))))];
  }

  DType random_dtype() { return chance(30) ? DType::f32 : pick(all_dtypes); }
  DType themed_dtype() { return chance(60) ? theme_ : random_dtype(); }

  void choose_shape() {
    constexpr auto sizes = std::to_array<std::int64_t>(
        {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 100, 129, 257, 1000});
    const std::int64_t limit = is_large_ ? max_elements_of_large : max_elements;
    const int rank = chance(75) ? below(4) : below(7);
    std::int64_t numel = 1;
    for (int dim = 0; dim < rank; ++dim) {
      std::int64_t size = chance(2) ? 0 : chance(50) ? pick(sizes) : below(6) + 1;
      if (is_large_ && dim == 0) size = 1000 + below(3000);
      if (size != 0 && numel * size > limit) size = 1 + below(2);
      if (numel * size > limit) size = 1;
      shape_.push_back(size);
      numel *= std::max<std::int64_t>(size, 1);
    }
    std::ranges::reverse(shape_);
    if (chance(50)) std::ranges::reverse(shape_);
  }

  /// A random layout of these sizes.  Outputs must not touch an element twice.
  CaseTensor layout(std::string name, DType dtype, std::vector<std::int64_t> sizes,
                    bool is_output) {
    CaseTensor result;
    result.name = std::move(name);
    result.dtype = dtype;
    result.sizes = std::move(sizes);
    const std::size_t rank = result.sizes.size();
    result.strides.resize(rank);
    std::vector<std::size_t> order(rank);  // innermost first
    std::iota(order.begin(), order.end(), 0);
    std::ranges::reverse(order);
    const bool is_plain = chance(45);
    if (!is_plain && chance(40))
      for (std::size_t i = rank; i > 1; --i)
        std::swap(order[i - 1], order[static_cast<std::size_t>(below(static_cast<int>(i)))]);
    std::int64_t stride = 1;
    for (const std::size_t dim : order) {
      const bool is_spread = !is_plain && !is_output && chance(12);
      const std::int64_t step = !is_plain && chance(18) ? 1 + below(6) : 1;
      const std::int64_t size = std::max<std::int64_t>(result.sizes[dim], 1);
      result.strides[dim] = is_spread ? 0 : stride * step;
      if (is_spread) continue;
      stride = stride * step * size + (!is_plain && chance(12) ? below(5) : 0);
      if (!is_plain && chance(12)) {
        result.offset += result.strides[dim] * (size - 1);
        result.strides[dim] = -result.strides[dim];
      }
    }
    if (chance(25)) result.offset += below(5);
    return result;
  }

  void add_lazy_bits(CaseTensor& tensor) {
    tensor.is_conj = is_complex(tensor.dtype) && chance(20);
    tensor.is_neg = !is_boolean(tensor.dtype) && chance(4);
  }

  void add_input() {
    std::vector<std::int64_t> sizes = shape_;
    if (chance(20))
      sizes.erase(sizes.begin(), sizes.begin() + below(static_cast<int>(sizes.size()) + 1));
    if (chance(25))
      for (std::int64_t& size : sizes)
        if (chance(40)) size = 1;
    const std::string name(1, static_cast<char>('a' + case_.inputs.size()));
    CaseTensor input = layout(name, themed_dtype(), std::move(sizes), false);
    add_lazy_bits(input);
    case_.inputs.push_back(std::move(input));
    CaseNode node;
    node.tensor = static_cast<int>(case_.inputs.size() - 1);
    add_node(std::move(node));
  }

  Scalar random_scalar() {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr auto reals = std::to_array<double>(
        {0.0, 1.0, -1.0, 0.5, 2.0, 1e-3, 3.25, -7.75, 1e10, 0.1, 70000.0, infinity, -infinity});
    switch (below(8)) {
      case 0: return Scalar(chance(50));
      case 1:
      case 2:
      case 3: return Scalar(static_cast<std::int64_t>(below(9) - 3));
      case 4: return Scalar(std::complex<double>(pick(reals), 1.5));
      default: return Scalar(pick(reals));
    }
  }

  void add_scalar() {
    CaseNode node;
    node.kind = CaseNode::Kind::scalar;
    node.scalar = random_scalar();
    add_node(std::move(node));
  }

  /// Nodes of the end are taken more often, so that expressions grow in depth.
  int random_argument() {
    const int count = static_cast<int>(case_.nodes.size());
    if (chance(50)) return count - 1 - below(std::min(count, 3));
    return below(count);
  }

  /// The inputs are the first nodes.
  int random_leaf() { return below(static_cast<int>(case_.inputs.size())); }

  bool is_scalar(int node) const {
    return case_.nodes[static_cast<std::size_t>(node)].kind == CaseNode::Kind::scalar;
  }

  void add_operation() {
    for (int attempt = 0; attempt < 25; ++attempt) {
      CaseNode node;
      if (chance(12)) {
        node.kind = CaseNode::Kind::cast;
        node.dtype = random_dtype();
        node.args = {random_argument()};
      } else {
        node.kind = CaseNode::Kind::op;
        node.op = pick(all_ops());
        for (int i = 0; i < info(node.op).arity; ++i) node.args.push_back(random_argument());
        if (divides(node.op) && chance(85)) node.args[1] = nonzero(node.args[1]);
        // Which NaN an op gives is not defined, and these two would show its sign.
        if (node.op == Op::signbit || node.op == Op::copysign) {
          node.args.back() = random_leaf();
          if (case_.inputs[static_cast<std::size_t>(node.args.back())].is_neg) continue;
        }
      }
      // Arithmetic of numbers alone is the parser's business.
      if (std::ranges::all_of(node.args, [&](int arg) { return is_scalar(arg); })) continue;
      if (add_node(std::move(node))) return;
    }
  }

  static bool divides(Op op) {
    return op == Op::div_floor || op == Op::div_trunc || op == Op::remainder || op == Op::fmod;
  }

  /// `argument | 1` for integers, so that most integer divisions are possible.
  int nonzero(int argument) {
    if (!is_integer(built_[static_cast<std::size_t>(argument)].dtype()) || is_scalar(argument))
      return argument;
    CaseNode one;
    one.kind = CaseNode::Kind::scalar;
    one.scalar = Scalar(std::int64_t{1});
    add_node(std::move(one));
    CaseNode node;
    node.kind = CaseNode::Kind::op;
    node.op = Op::bitwise_or;
    node.args = {argument, static_cast<int>(case_.nodes.size() - 1)};
    return add_node(std::move(node)) ? static_cast<int>(case_.nodes.size() - 1) : argument;
  }

  /// False if the types don't fit.
  bool add_node(CaseNode node) {
    std::vector<Expr> args;
    for (const int arg : node.args) args.push_back(built_[static_cast<std::size_t>(arg)]);
    try {
      switch (node.kind) {
        case CaseNode::Kind::tensor:
          built_.emplace_back(layout_of(case_.inputs[static_cast<std::size_t>(node.tensor)]));
          break;
        case CaseNode::Kind::scalar: built_.emplace_back(node.scalar); break;
        case CaseNode::Kind::op: built_.push_back(weft::apply(node.op, args)); break;
        case CaseNode::Kind::cast: built_.push_back(cast(args[0], node.dtype)); break;
      }
    } catch (const Error&) {
      return false;
    }
    if (node.kind == CaseNode::Kind::op &&
        !accepts(info(node.op).domain, built_.back().node().compute_dtype)) {
      built_.pop_back();
      return false;
    }
    case_.nodes.push_back(std::move(node));
    return true;
  }

  void choose_roots() {
    std::vector<int> candidates;
    for (int i = 0; i < static_cast<int>(case_.nodes.size()); ++i)
      if (!is_scalar(i)) candidates.push_back(i);
    case_.roots.push_back(candidates.back());
    if (chance(15))
      for (int i = below(2); i >= 0; --i) case_.roots.push_back(pick(candidates));
  }

  void choose_outputs() {
    std::vector<Tensor> layouts;
    for (const CaseTensor& input : case_.inputs) layouts.push_back(layout_of(input));
    const std::vector<Expr> nodes = build_expressions(case_, layouts);
    for (const int root : case_.roots)
      case_.outputs.push_back(
          random_output(nodes[static_cast<std::size_t>(root)].dtype(), shape_of_root(case_, root)));
  }

  CaseOutput random_output(DType result, const std::vector<std::int64_t>& shape) {
    CaseOutput output;
    if (chance(25)) {
      output.kind = CaseOutput::Kind::given;
      const DType dtype = chance(70) ? result : random_dtype();
      output.tensor = layout(output_name(), dtype, shape, true);
      add_lazy_bits(output.tensor);
    } else if (chance(4)) {
      output.kind = CaseOutput::Kind::resized;
      output.tensor = layout(output_name(), result, {below(4), below(3)}, true);
    } else if (chance(20)) {
      const int input = below(static_cast<int>(case_.inputs.size()));
      const CaseTensor& tensor = case_.inputs[static_cast<std::size_t>(input)];
      const bool is_taken = std::ranges::any_of(
          case_.outputs, [&](const CaseOutput& other) { return writes_to(other, input); });
      const bool repeats = std::ranges::find(tensor.strides, 0) != tensor.strides.end();
      if (tensor.sizes != shape || is_taken || repeats) return output;
      output.kind = CaseOutput::Kind::in_place;
      output.input = input;
      if (chance(40)) share(output, tensor);
    }
    return output;
  }

  /// Makes an output a view of the input's storage that is moved by a few elements.
  void share(CaseOutput& output, const CaseTensor& input) {
    const bool is_usual = std::ranges::all_of(input.strides, [](auto step) { return step > 0; });
    if (!is_usual || input.is_conj || input.is_neg) return;
    CaseTensor view = input;
    view.name = output_name();
    view.offset += below(7) - 3;
    if (view.offset < 0) return;
    output.kind = CaseOutput::Kind::shared;
    output.tensor = std::move(view);
  }

  std::string output_name() const { return "out" + std::to_string(case_.outputs.size()); }

  std::uint64_t seed_;
  std::uint64_t drawn_ = 0;
  bool is_large_ = false;
  DType theme_ = DType::f32;
  std::vector<std::int64_t> shape_;
  Case case_;
  std::vector<Expr> built_;
};

}  // namespace

Case generate_case(std::uint64_t seed, std::uint64_t index) {
  return Generator(seed, index).generate();
}

}  // namespace weft::fuzzing
