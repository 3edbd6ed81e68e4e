#include "ir/split_complex.h"

#include "ir/builder.h"
#include "ir/composites.h"
#include "ir/pass.h"

#include <weft/error.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>

namespace weft::ir {
namespace {

/// A complex value in parts; a real one in `re`.
struct Pair {
  Value re, im;
};

StrideClass of_parts(StrideClass stride) {
  return stride >= 0 && stride <= 2 ? static_cast<StrideClass>(2 * stride) : stride_any;
}

Bits part_bits(const Bits& bits, std::size_t offset_bytes, std::size_t size_bytes) {
  Bits part{};
  std::memcpy(&part, reinterpret_cast<const std::byte*>(&bits) + offset_bytes, size_bytes);
  return part;
}

/// As operator/ of ir/number.h: Smith's method, which divides by the larger part of `y` first. What
/// is divided is chosen and not the quotients: three divisions, which take longer than all else.
Pair divide(const Pair& x, const Pair& y) {
  const Value &a = x.re, &b = x.im, &c = y.re, &d = y.im;
  const Value by_real = abs(c) >= abs(d);
  const Value larger = select(by_real, c, d), smaller = select(by_real, d, c);
  const Value ratio = smaller / larger, scale = larger + smaller * ratio;
  const Value a_share = a * ratio, b_share = b * ratio;
  const Value re = select(by_real, a, b) + select(by_real, b_share, a_share);
  const Value im = select(by_real, b, b_share) - select(by_real, a_share, a);
  // By zero: both parts by a zero without sign.  The larger part alone does not tell: beside a
  // real part that is NaN it is d, which may be 0.
  const Value zero = like(c, 0), is_zero = c == zero && d == zero;
  const Value divisor = select(is_zero, abs(c), scale);
  return {select(is_zero, a, re) / divisor, select(is_zero, b, im) / divisor};
}

Pair square_root(const Pair& x) {
  const auto parts = [](const ComplexParts<Value>& root) { return Pair{root.real, root.imag}; };
  if (x.re.dtype == DType::f64) return parts(double_sqrt_of_parts(x.re, x.im));
  const Pair wide = parts(sqrt_of_parts(to_double(x.re), to_double(x.im)));
  return {to_single(wide.re), to_single(wide.im)};
}

Pair cast(Builder& builder, const Pair& x, DType from, DType to) {
  if (is_complex(to)) {
    const DType part = real_dtype(to);
    const Value re = builder.cast(x.re, part);
    return {re, is_complex(from) ? builder.cast(x.im, part) : like(re, 0)};
  }
  return {builder.cast(x.re, to), {}};  // to bool, too
}

class Splitter {
 public:
  explicit Splitter(const Kernel& kernel) : from_(kernel), builder_(split_.kernel.body) {}

  SplitKernel run() {
    split_.kernel.numerics = from_.numerics;
    split_.kernel.vector_bytes = from_.vector_bytes;
    split_.kernel.loops.resize(from_.loops.size());
    split_.kernel.tree = from_.tree;
    for (std::size_t loop = 0; loop < from_.loops.size(); ++loop) {
      const LoopKind kind = from_.loops[loop].kind;
      if (kind == LoopKind::sequential || kind == LoopKind::reduce || kind == LoopKind::scan)
        split_.kernel.loops[loop].kind = kind;
    }
    split_operands();
    split_params();
    for (ValueId id = 0; id < from_.body.size() && split_.reason.empty(); ++id) {
      const Inst& inst = from_.body[id];
      // The passes below would compute it wider, or not round it: where it is scheduled they have
      // been run already.
      const bool is_small =
          info(inst.op).form != Form::structural && wide_dtype(inst.dtype) != inst.dtype;
      const bool is_left =
          from_.schedule != Schedule::unscheduled && (is_small || casts_as_result(inst));
      const std::optional<Pair> value = is_left ? std::nullopt : replace(inst);
      if (!value)
        split_.reason = detail::concat("%", id, " ", name(inst.op), " ", name(inst.dtype),
                                       " has no expression in real and imaginary parts");
      values_.push_back(value.value_or(Pair()));
    }
    if (split_.reason.empty()) run_passes();
    if (!split_.reason.empty()) split_.kernel = {};
    return std::move(split_);
  }

 private:
  void run_passes() {
    try {
      // What `fast` contracts it has: the parts' arithmetic rounds as that of whole numbers does.
      if (from_.numerics == Numerics::fast) split_.kernel.numerics = Numerics::standard;
      run_pipeline(split_.kernel);
      split_.kernel.numerics = from_.numerics;
    } catch (const UnsupportedError& error) {  // too long a body
      split_.reason = error.what();
    }
  }

  void split_operands() {
    const bool has_stores = !is_reduction(from_) && !is_scan(from_);
    for (const Operand& operand : from_.operands) {
      first_operand_.push_back(static_cast<std::uint8_t>(split_.operands.size()));
      const auto source = static_cast<std::uint8_t>(&operand - from_.operands.data());
      Operand part = operand;
      split_.operands.push_back({source, 0});
      if (is_complex(operand.dtype) && (operand.role == Role::input || has_stores)) {
        part.dtype = real_dtype(operand.dtype);
        std::ranges::transform(operand.strides, part.strides.begin(), of_parts);
        split_.kernel.operands.push_back(part);
        split_.operands.push_back({source, static_cast<std::uint8_t>(itemsize_bytes(part.dtype))});
      }
      split_.kernel.operands.push_back(std::move(part));
    }
    if (split_.operands.size() > max_launch_operands)
      split_.reason = detail::concat(split_.operands.size(), " parts of operands are more than ",
                                     max_launch_operands);
  }

  void split_params() {
    for (std::size_t i = 0; i < from_.params.size(); ++i) {
      first_param_.push_back(static_cast<std::uint8_t>(split_.params.size()));
      const DType part = real_dtype(from_.params[i]);
      const auto source = static_cast<std::uint8_t>(i);
      for (int number = 0; number < (is_complex(from_.params[i]) ? 2 : 1); ++number) {
        split_.params.push_back(
            {source,
             static_cast<std::uint8_t>(static_cast<std::size_t>(number) * itemsize_bytes(part))});
        split_.kernel.params.push_back(part);
      }
    }
    if (split_.params.size() > max_launch_params)
      split_.reason = detail::concat(split_.params.size(), " parts of parameters are more than ",
                                     max_launch_params);
  }

  std::optional<Pair> replace(const Inst& inst) {
    const DType part = real_dtype(inst.dtype);
    const std::size_t part_bytes = itemsize_bytes(part);
    const bool is_pair = is_complex(inst.dtype);
    const auto next = [](std::uint8_t index) { return static_cast<std::uint8_t>(index + 1); };
    switch (inst.op) {
      case Op::load: {
        const std::uint8_t first = first_operand_[inst.operand];
        const Value re = builder_.load(first, part);
        return Pair{re, is_pair ? builder_.load(next(first), part) : Value()};
      }
      case Op::param: {
        const std::uint8_t first = first_param_[inst.operand];
        const Value re = builder_.param(first, part);
        return Pair{re, is_pair ? builder_.param(next(first), part) : Value()};
      }
      case Op::constant: {
        if (!is_pair) return Pair{builder_.constant(part, inst.bits), {}};
        const Value re = builder_.constant(part, part_bits(inst.bits, 0, part_bytes));
        return Pair{re, builder_.constant(part, part_bits(inst.bits, part_bytes, part_bytes))};
      }
      case Op::store: {
        const std::uint8_t first = first_operand_[inst.operand];
        const Pair& value = values_[inst.args[0]];
        builder_.store(first, value.re);
        if (is_pair) builder_.store(next(first), value.im);
        return Pair{};
      }
      case Op::accumulate:
      case Op::accumulate_place: return accumulate(inst);
      default: break;
    }
    const bool is_real = !is_complex(result_dtype(inst)) && !takes_complex(inst);
    return is_real ? copy(inst) : compute(inst);
  }

  Pair accumulate(Inst inst) {
    inst.operand = first_operand_[inst.operand];
    for (ValueId& arg : inst.args) {
      if (arg == no_value) continue;
      const Pair& value = values_[arg];
      arg =
          is_complex(result_dtype(from_.body[arg])) ? complex(value.re, value.im).id : value.re.id;
    }
    builder_.append(inst);
    return {};
  }

  bool takes_complex(const Inst& inst) const {
    return std::ranges::any_of(inst.args, [&](ValueId arg) {
      return arg != no_value && is_complex(result_dtype(from_.body[arg]));
    });
  }

  Pair copy(Inst inst) {
    for (ValueId& arg : inst.args)
      if (arg != no_value) arg = values_[arg].re.id;
    return {builder_.append(inst), {}};
  }

  /// Whether it rounds once, as a whole, where its steps would round each.  legalise_dtypes()
  /// leaves no such arithmetic of halves.
  static bool rounds_halves(const Inst& inst) {
    constexpr std::array exact = {Op::cast,    Op::neg, Op::conj, Op::real, Op::imag,
                                  Op::complex, Op::eq,  Op::ne,   Op::where};
    return inst.dtype == DType::c32 && std::ranges::find(exact, inst.op) == exact.end();
  }

  /// Of complex numbers, or with one as its result.
  std::optional<Pair> compute(const Inst& inst) {
    if (rounds_halves(inst)) return std::nullopt;
    const Pair x = values_[inst.args[0]];
    const Pair y = inst.args[1] != no_value ? values_[inst.args[1]] : Pair();
    switch (inst.op) {
      case Op::cast: return cast(builder_, x, result_dtype(from_.body[inst.args[0]]), inst.dtype);
      case Op::add: return Pair{x.re + y.re, x.im + y.im};
      case Op::sub: return Pair{x.re - y.re, x.im - y.im};
      case Op::mul: return Pair{x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
      case Op::div: return divide(x, y);
      case Op::neg: return Pair{-x.re, -x.im};
      case Op::conj: return Pair{x.re, -x.im};
      case Op::real: return Pair{x.re, {}};
      case Op::imag: return Pair{x.im, {}};
      case Op::complex: return Pair{x.re, y.re};
      case Op::eq: return Pair{x.re == y.re && x.im == y.im, {}};
      case Op::ne: return Pair{x.re != y.re || x.im != y.im, {}};
      case Op::abs:
        return Pair{
            x.re.dtype == DType::f32 ? single_distance(x.re, x.im) : double_distance(x.re, x.im),
            {}};
      case Op::angle:
        return Pair{x.re.dtype == DType::f32 ? single_atan2(x.im, x.re) : double_atan2(x.im, x.re),
                    {}};
      case Op::sqrt: return square_root(x);
      case Op::where: {
        const Pair& z = values_[inst.args[2]];
        return Pair{select(x.re, y.re, z.re), select(x.re, y.im, z.im)};
      }
      default: return function(inst);
    }
  }

  std::optional<Pair> function(const Inst& inst) {
    const std::optional<PartFunctions> parts = part_functions(inst.op);
    if (!parts) return std::nullopt;
    split_.has_functions = true;
    std::array<ValueId, max_arity> args{};
    args.fill(no_value);
    std::size_t count = 0;
    for (const ValueId arg : inst.args) {
      if (arg == no_value) continue;
      args[count++] = values_[arg].re.id;
      args[count++] = values_[arg].im.id;
    }
    const auto part = [&](Op op) {
      return builder_.append({.op = op, .dtype = real_dtype(inst.dtype), .args = args});
    };
    const Value re = part(parts->real);
    return Pair{re, part(parts->imag)};
  }

  const Kernel& from_;
  SplitKernel split_;
  Builder builder_;
  std::vector<Pair> values_;                               ///< [value there]
  std::vector<std::uint8_t> first_operand_, first_param_;  ///< [there] its real part
};

bool is_dense_complex(const Operand& operand) {
  return is_complex(operand.dtype) && operand.strides.back() == 1;
}

}  // namespace

SplitKernel split_complex(const Kernel& kernel) { return Splitter(kernel).run(); }

bool treats_parts_alike(const Kernel& kernel) {
  const auto moves = [](const Inst& inst) { return inst.op == Op::load || inst.op == Op::store; };
  const auto is_alike = [&](const Inst& inst) {
    constexpr std::array ops = {Op::add, Op::sub, Op::neg, Op::cast};
    return is_complex(inst.dtype) && !casts_as_result(inst) &&
           (moves(inst) || std::ranges::find(ops, inst.op) != ops.end());
  };
  return kernel.loops.size() == 1 && !is_reduction(kernel) && !is_scan(kernel) &&
         kernel.params.empty() && std::ranges::all_of(kernel.operands, is_dense_complex) &&
         std::ranges::all_of(kernel.body, is_alike) && !std::ranges::all_of(kernel.body, moves);
}

SplitKernel interleave_parts(const Kernel& kernel) {
  SplitKernel split;
  split.is_interleaved = true;
  split.kernel = kernel;
  split.kernel.schedule = Schedule::unscheduled;
  Loop& loop = split.kernel.loops.front();
  loop = {.kind = loop.kind == LoopKind::sequential ? loop.kind : LoopKind::parallel};
  for (Operand& operand : split.kernel.operands) {
    operand.dtype = real_dtype(operand.dtype);
    split.operands.push_back({static_cast<std::uint8_t>(split.operands.size()), 0});
  }
  for (Inst& inst : split.kernel.body) inst.dtype = real_dtype(inst.dtype);
  run_pipeline(split.kernel);
  return split;
}

bool has_complex(const Kernel& kernel) {
  return std::ranges::any_of(kernel.body, [](const Inst& inst) {
    return is_complex(inst.dtype) || is_complex(result_dtype(inst));
  });
}

}  // namespace weft::ir
