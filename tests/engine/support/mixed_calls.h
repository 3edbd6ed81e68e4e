// Many different calls with known results, for threads that make them all at once.
#pragma once

#include <weft/cancel.h>
#include <weft/engine.h>

#include <cstring>
#include <iterator>
#include <string>
#include <vector>

namespace weft::testing {

/// Calls number 0 to size() - 1, each of a signature of its own: expressions, reductions, scans,
/// transposed copies, prepared plans, and calls after one that was cancelled.
///
/// Threads: all functions may be called by many threads at once.
class MixedCalls {
 public:
  explicit MixedCalls(int size) {
    EngineOptions options;
    options.backend = "interp";
    options.disk_cache = DiskCacheOptions{CacheMode::off, "", 0};
    Engine interpreter(options);
    a_ = interpreter.to(arange(-300, 300).view({20, 30}), DType::f32);
    b_ = interpreter.to(arange(600).view({30, 20}).t(), DType::f64);
    c_ = interpreter.to(arange(1, 31), DType::i16);
    for (int call = 0; call < size; ++call) expected_.push_back(result(interpreter, call));
  }

  int size() const { return static_cast<int>(expected_.size()); }

  /// Makes a call and compares all bits.
  bool is_right(Engine& engine, int call) const {
    if (kind(call) == Kind::cancelled && !is_stopped(engine)) return false;
    return has_same_bits(engine, result(engine, call), expected_[static_cast<std::size_t>(call)]);
  }

  /// Defines an operator, which may be there already, and compares what it computes with the same
  /// expression written out.
  bool is_defined(Engine& engine, int factor) const {
    const std::string name = "times_" + std::to_string(factor);
    engine.define(name + "(x)", "x * " + std::to_string(factor) + " + 1");
    return has_same_bits(engine, engine.eval(engine.call(name, {Expr(a_)})),
                         engine.eval(Expr(a_) * factor + 1));
  }

 private:
  enum class Kind { eval, reduced, scanned, transposed, prepared, cancelled };

  static Kind kind(int call) {
    constexpr Kind kinds[] = {Kind::eval, Kind::reduced,    Kind::eval,     Kind::scanned,
                              Kind::eval, Kind::transposed, Kind::prepared, Kind::cancelled};
    return kinds[static_cast<std::size_t>(call) % std::size(kinds)];
  }

  Tensor result(Engine& engine, int call) const {
    const Expr expr = expression(call);
    switch (kind(call)) {
      case Kind::reduced: return engine.eval(ops::sum(expr, {.dims = {call % 3 == 0 ? 0 : 1}}));
      case Kind::scanned: return engine.eval(ops::cumsum(expr, {.dims = {call % 3 == 0 ? 0 : 1}}));
      case Kind::transposed: return engine.contiguous(engine.eval(expr).t());
      case Kind::prepared: {
        const PreparedPlan plan = engine.prepare(expr);
        plan.run();
        return plan.outputs().front();
      }
      default: return engine.eval(expr);
    }
  }

  /// A call that is long enough to be looked at before it begins, and cancelled by then.
  bool is_stopped(Engine& engine) const {
    CancellationToken token;
    token.cancel();
    const CancellationScope scope(token);
    try {
      engine.reduce(Reduction::sum, a_.expand({4000, 20, 30}));
    } catch (const CancelledError&) {
      return true;
    }
    return false;
  }

  static bool has_same_bits(Engine& engine, const Tensor& actual, const Tensor& expected) {
    const Tensor result = engine.contiguous(actual), wanted = engine.contiguous(expected);
    return result.dtype() == wanted.dtype() && result.numel() == wanted.numel() &&
           std::memcmp(result.data(), wanted.data(),
                       static_cast<std::size_t>(wanted.numel()) * itemsize_bytes(wanted.dtype())) ==
               0;
  }

  /// The digits of a number, in base 7, as operators.  Of them only tan is compiled a second time,
  /// by LLVM, where kernels become hot.
  Expr expression(int call) const {
    Expr result = a_;
    for (int digits = call; digits > 0; digits /= 7) {
      switch (digits % 7) {
        case 0: result = result + b_; break;
        case 1: result = ops::maximum(result, Expr(c_)); break;
        case 2: result = ops::where(result > 7, result, Expr(c_) * 2); break;
        case 3: result = -result * 0.5; break;
        case 4: result = ops::abs(result) - c_; break;
        case 5: result = ops::tan(result); break;
        default: result = cast(cast(result, DType::f32), DType::f64); break;
      }
    }
    return result;
  }

  Tensor a_, b_, c_;
  std::vector<Tensor> expected_;
};

}  // namespace weft::testing
