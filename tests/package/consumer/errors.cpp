// Errors cross the boundary of the library in both directions, and are what they were.
#include <weft/cancel.h>
#include <weft/engine.h>

#include <iostream>
#include <span>
#include <stdexcept>
#include <string_view>

namespace {

/// What only this program knows.
struct OwnError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

int num_wrong = 0;

/// Whether `call` throws an Expected, which is a Base, too.
template <class Expected, class Base = weft::Error, class Call>
void expect(std::string_view what, const Call& call) {
  try {
    call();
  } catch (const Base& error) {
    const auto* const expected = dynamic_cast<const Expected*>(&error);
    if (expected != nullptr && !std::string_view(expected->what()).empty()) return;
    std::cout << what << ": another error: " << error.what() << "\n";
    ++num_wrong;
    return;
  } catch (...) {
  }
  std::cout << what << ": nothing was caught as what it is\n";
  ++num_wrong;
}

}  // namespace

int main() {
  weft::Engine engine;
  const weft::Tensor x = weft::arange(12).view({3, 4});
  expect<weft::ArgumentError>("sizes", [&] { engine.binary(weft::Op::add, x, x.t()); });
  expect<weft::ArgumentError>("text", [&] { engine.define("f(x)", "x +"); });
  expect<weft::ArgumentError>("view", [&] { x.view({5}); });
  expect<weft::ArithmeticError>("division", [&] {
    engine.binary(weft::Op::remainder, x, weft::zeros({4}, {weft::DType::i64, {}, {}}));
  });
  expect<weft::ArgumentError>("backend", [] {
    weft::EngineOptions options;
    options.backend = "none";
    weft::Engine other(options);
  });
  // Divisors are looked at before each run, which a plan has no time for.
  expect<weft::UnsupportedError>(
      "plan", [&] { engine.prepare(weft::ops::remainder(weft::Expr(x), weft::Expr(x))); });
  expect<weft::CancelledError>("token", [&] {
    weft::CancellationToken token;
    token.cancel();
    const weft::CancellationScope scope(token);
    engine.reduce(weft::Reduction::sum, x.expand({1 << 20, 3, 4}));
  });
  engine.define("own", 1, [](std::span<const weft::Expr>) -> weft::Expr {
    throw OwnError("from a function of the program's");
  });
  expect<OwnError, std::exception>("own", [&] { engine.call("own", {weft::Expr(x)}); });
  if (num_wrong == 0) std::cout << "every error was what it is\n";
  return num_wrong;
}
