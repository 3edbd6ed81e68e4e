// Many different calls with known results, for threads that make them all at once.
#pragma once

#include <weft/engine.h>

#include <cstring>
#include <vector>

namespace weft::testing {

/// Calls number 0 to size() - 1, each of a signature of its own.
///
/// Threads: is_right() may be called by many threads at once.
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
    for (int call = 0; call < size; ++call) expected_.push_back(interpreter.eval(expression(call)));
  }

  int size() const { return static_cast<int>(expected_.size()); }

  /// Makes a call and compares all bits.
  bool is_right(Engine& engine, int call) const {
    const Tensor& expected = expected_[static_cast<std::size_t>(call)];
    const Tensor result = engine.contiguous(engine.eval(expression(call)));
    const Tensor wanted = engine.contiguous(expected);
    return result.dtype() == expected.dtype() && result.numel() == expected.numel() &&
           std::memcmp(result.data(), wanted.data(),
                       static_cast<std::size_t>(wanted.numel()) * itemsize_bytes(wanted.dtype())) ==
               0;
  }

 private:
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
