// Random kernels that the verifier accepts, and random elements with the values that break things.
#pragma once

#include "ir/builder.h"
#include "ir/combine.h"
#include "ir/kernel.h"

#include <weft/convert.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>
#include <vector>

namespace weft::ir {

using Random = std::mt19937_64;

inline std::size_t pick(Random& random, std::size_t count) { return random() % count; }

/// Any bit pattern, or often a value that is special or small.
inline Bits random_bits(Random& random, DType dtype) {
  static constexpr double interesting[] = {0,
                                           -0.0,
                                           1,
                                           -1,
                                           0.5,
                                           2,
                                           3,
                                           -7,
                                           127,
                                           128,
                                           255,
                                           256,
                                           448,
                                           464,
                                           480,
                                           1e-3,
                                           6e-5,
                                           65504,
                                           1e9,
                                           -1e9,
                                           3e38,
                                           4e-42,
                                           1e18,
                                           1e300,
                                           std::numeric_limits<double>::infinity(),
                                           std::numeric_limits<double>::quiet_NaN()};
  return visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    Bits bits;
    if (std::is_same_v<T, bool>) {
      bits.lo = random() & 1;
    } else if (pick(random, 2) == 0) {
      const T value = convert<T>(interesting[pick(random, std::size(interesting))]);
      std::memcpy(static_cast<void*>(&bits), &value, sizeof value);
    } else {
      const std::uint64_t words[2] = {random(), random()};
      std::memcpy(static_cast<void*>(&bits), words, sizeof(T));
    }
    return bits;
  });
}

struct RandomKernelOptions {
  std::span<const DType> dtypes = all_dtypes;
  int max_loops = 4;
  int max_instructions = 24;
  bool may_reduce = false;  ///< half of the kernels do then
  bool may_scan = false;    ///< the same, before it is decided whether it reduces
};

/// A kernel with random operands, layout and body, unscheduled.
class RandomKernel {
 public:
  RandomKernel(Random& random, RandomKernelOptions options)
      : random_(random), options_(options), builder_(kernel_.body) {}

  Kernel make() {
    kernel_.numerics = pick(random_, 2) == 0 ? Numerics::strict : Numerics::standard;
    kernel_.vector_bytes = static_cast<int>(std::array{0, 16, 32, 64}[pick(random_, 4)]);
    kernel_.is_streaming = pick(random_, 2) == 0;
    kernel_.is_unfenced = kernel_.is_streaming && kernel_.numerics == Numerics::strict;
    kernel_.loops.resize(1 + pick(random_, static_cast<std::size_t>(options_.max_loops)));
    if (options_.may_scan && pick(random_, 2) == 0)
      choose_scan_loop();
    else if (options_.may_reduce && pick(random_, 2) == 0)
      choose_reduce_loops();
    const std::size_t num_outputs = choose_num_outputs();
    kernel_.operands.resize(num_outputs);  // their dtypes are known at the end
    for (std::size_t i = 0; i < pick(random_, 2); ++i) add_param();
    const std::size_t num_inputs = 1 + pick(random_, 3);
    for (std::size_t i = 0; i < num_inputs; ++i) add_input();
    const auto count =
        static_cast<int>(pick(random_, static_cast<std::size_t>(options_.max_instructions)));
    for (int i = 0; i < count; ++i) add_inst();
    for (std::size_t i = 0; i < num_outputs; ++i) {
      const Value value = any_value();
      const bool is_rounded = scans_ && value.dtype == DType::f64 && pick(random_, 2) == 0;
      kernel_.operands[i] = {is_rounded ? DType::f32 : value.dtype, Role::output,
                             random_strides(true)};
      write(static_cast<std::uint8_t>(i), value);
    }
    if (reduces_) choose_tree();
    return kernel_;
  }

 private:
  bool reduces_along(std::size_t loop) const {
    return kernel_.loops[loop].kind == LoopKind::reduce;
  }

  /// The innermost loop and some around it, or some around the innermost.
  void choose_reduce_loops() {
    const std::size_t num_loops = kernel_.loops.size();
    const bool is_inner = num_loops == 1 || pick(random_, 2) == 0;
    const std::size_t end = is_inner ? num_loops : num_loops - 1;
    for (std::size_t loop = pick(random_, end); loop < end; ++loop)
      kernel_.loops[loop].kind = LoopKind::reduce;
    reduces_ = true;
    is_dense_ = pick(random_, 4) != 0;  // or else few backends take it
  }

  /// The innermost loop, or the one around it.
  void choose_scan_loop() {
    const std::size_t num_loops = kernel_.loops.size();
    const std::size_t inside = num_loops == 1 ? 0 : pick(random_, 2);
    kernel_.loops[num_loops - 1 - inside].kind = LoopKind::scan;
    scans_ = true;
  }

  std::size_t choose_num_outputs() {
    if (scans_) return pick(random_, 16) == 0 ? 2 : 1;
    if (!reduces_) return 1 + pick(random_, 2);
    return pick(random_, 2) == 0 ? 1 + pick(random_, 4) : 1;
  }

  /// Mostly as many lanes as fit, as plans have it.
  void choose_tree() {
    std::size_t widest = 1;
    for (const Operand& operand : kernel_.operands)
      if (operand.role == Role::output) widest = std::max(widest, itemsize_bytes(operand.dtype));
    std::size_t lanes = max_partial_bytes / widest;
    if (pick(random_, 4) == 0)
      lanes = std::size_t{1} << pick(random_, static_cast<std::size_t>(std::bit_width(lanes)));
    if (!reduces_along(kernel_.loops.size() - 1)) lanes = 1;
    kernel_.tree = {static_cast<int>(lanes), static_cast<int>(lanes * (1 + pick(random_, 16)))};
  }

  Op any_combine(DType dtype) {
    std::vector<Op> possible;
    for (const Op op : all_ops())
      if (identity_of(op, dtype) && computes_in(info(op).domain, info(op).result, dtype))
        possible.push_back(op);
    return possible[pick(random_, possible.size())];
  }

  void write(std::uint8_t output, const Value& value) {
    if (!reduces_ && !scans_) return builder_.store(output, value);
    Inst inst{.op = Op::accumulate, .dtype = value.dtype, .operand = output};
    inst.combine = any_combine(value.dtype);
    inst.args[0] = value.id;
    builder_.append(inst);
  }

  std::vector<StrideClass> random_strides(bool is_output) {
    std::vector<StrideClass> strides(kernel_.loops.size(), stride_any);
    static constexpr StrideClass inner[] = {1, 1, 0, 2, 3, 4, -1, stride_any};
    strides.back() = inner[pick(random_, is_dense_ ? 3 : std::size(inner))];
    if (!is_output) return strides;
    if (strides.back() == 0) strides.back() = is_dense_ ? 1 : stride_any;
    for (std::size_t loop = 0; loop < strides.size(); ++loop)
      if (reduces_along(loop)) strides[loop] = 0;
    return strides;
  }
  DType any_dtype() { return options_.dtypes[pick(random_, options_.dtypes.size())]; }
  Value any_value() { return values_[pick(random_, values_.size())]; }

  void add_input() {
    const DType dtype = any_dtype();
    const std::int32_t ahead_bytes = pick(random_, 4) == 0 ? 64 << pick(random_, 20) : 0;
    kernel_.operands.push_back({dtype, Role::input, random_strides(false), ahead_bytes});
    values_.push_back(builder_.load(static_cast<std::uint8_t>(kernel_.operands.size() - 1), dtype));
  }
  void add_param() {
    kernel_.params.push_back(any_dtype());
    values_.push_back(builder_.param(static_cast<std::uint8_t>(kernel_.params.size() - 1),
                                     kernel_.params.back()));
  }

  /// A value of `dtype`, made if there is none.
  Value value_of(DType dtype) {
    for (int attempt = 0; attempt < 4; ++attempt)
      if (const Value value = any_value(); value.dtype == dtype) return value;
    const Value value = pick(random_, 4) == 0
                            ? builder_.constant(dtype, random_bits(random_, dtype))
                            : cast(any_value(), dtype);
    values_.push_back(value);
    return value;
  }
  Value cast(const Value& value, DType dtype) {
    if (value.dtype == dtype || pick(random_, 4) != 0) return builder_.cast(value, dtype);
    Inst inst{.op = Op::cast, .dtype = dtype, .operand = 1};  // as results of ops
    inst.args[0] = value.id;
    return builder_.append(inst);
  }

  void add_inst() {
    if (pick(random_, 5) == 0) {
      values_.push_back(builder_.cast(any_value(), any_dtype()));
      return;
    }
    const Op op = all_ops()[pick(random_, all_ops().size())];
    const DType dtype = any_value().dtype;
    if (!computes_in(info(op).domain, info(op).result, dtype)) return;
    Inst inst{.op = op, .dtype = dtype};
    for (int i = 0; i < info(op).arity; ++i) {
      const bool is_mask = info(op).result == ResultRule::select && i == 0;
      // Which NaN an op gives is not defined, and these two would show its sign.
      const bool shows_sign =
          i == (op == Op::copysign ? 1 : 0) && (op == Op::copysign || op == Op::signbit);
      inst.args[static_cast<std::size_t>(i)] =
          shows_sign ? builder_.constant(dtype, random_bits(random_, dtype)).id
                     : value_of(is_mask ? DType::boolean : dtype).id;
    }
    values_.push_back(builder_.append(inst));
  }

  Random& random_;
  RandomKernelOptions options_;
  bool reduces_ = false;
  bool scans_ = false;
  bool is_dense_ = false;  ///< inner strides are 0 and 1
  Kernel kernel_;
  Builder builder_;
  std::vector<Value> values_;
};

inline Kernel random_kernel(Random& random, RandomKernelOptions options = {}) {
  return RandomKernel(random, options).make();
}

}  // namespace weft::ir
