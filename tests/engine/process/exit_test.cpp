// Calls that come when their thread, or the process, has all but ended: from the destructors of
// what was made before weft was first called.
#include "tests/in_child.h"

#include <weft.h>

#include <weft/define.h>
#include <weft/engine.h>
#include <weft/expr.h>

#include <gtest/gtest.h>

#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

namespace weft::testing {
namespace {

/// Counts what is wrong.  `number` makes kernels that no other call has.
int num_wrong_calls(Engine& engine, weft_engine* c_engine, double number) {
  int num_wrong = 0;
  const Tensor small = full({64}, 2.0, DType::f32);
  Expr chain(small);
  for (double i = 0; i < number; ++i) chain = chain * small;
  num_wrong +=
      engine.eval(chain).data_as<float>()[63] != std::ldexp(2.0F, static_cast<int>(number));
  // Large enough for a stage of the thread's own.
  const Tensor a = full({1024, 512}, 1.0, DType::f32), b = full({512, 1024}, number, DType::f32);
  const Tensor sum = engine.eval(Expr(a) + Expr(b.t()));
  num_wrong += sum.data_as<float>()[1024 * 512 - 1] != static_cast<float>(1 + number);
  num_wrong += engine.eval(engine.call("exit_twice", {Expr(small)})).data_as<float>()[0] != 4;
  weft_tensor* out = nullptr;
  const std::string unknown = "no_such_function(" + std::to_string(number) + ")";
  num_wrong += weft_eval(c_engine, unknown.c_str(), 0, nullptr, &out) != WEFT_ERROR_ARGUMENT;
  num_wrong += weft_last_error_message() == nullptr;
  return num_wrong;
}

struct Engines {
  Engine cpp;
  weft_engine* c = nullptr;

  Engines() {
    cpp.define("exit_twice(x)", "x + x");
    weft_engine_create(nullptr, &c);
  }
  ~Engines() { weft_engine_destroy(c); }
};

/// Ends the process by _exit() if one of its last calls is wrong.
struct LastCalls {
  std::unique_ptr<Engines> engines;
  double number = 0;

  ~LastCalls() {
    if (num_wrong_calls(engines->cpp, engines->c, number) != 0) _exit(1);
  }
};

TEST(Exits, DestructorsOfStaticsMayCall) {
  EXPECT_EQ(in_child([]() -> int {
              static LastCalls last;  // before the library's own
              last.engines = std::make_unique<Engines>();
              last.number = 4;
              if (num_wrong_calls(last.engines->cpp, last.engines->c, 3) != 0) return 2;
              std::exit(0);
            }),
            0);
}

TEST(Exits, DestructorsOfAThreadsObjectsMayCall) {
  EXPECT_EQ(in_child([]() -> int {
              std::thread([] {
                static thread_local LastCalls last;
                last.engines = std::make_unique<Engines>();
                last.number = 6;
                if (num_wrong_calls(last.engines->cpp, last.engines->c, 5) != 0) _exit(2);
              }).join();
              return 0;
            }),
            0);
}

}  // namespace
}  // namespace weft::testing
