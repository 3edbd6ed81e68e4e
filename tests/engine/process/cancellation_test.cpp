// Calls that are cancelled while they compute.  Their operand is address space that nobody has read
// yet: who reads a part of it first waits until another thread has cancelled, so that calls are in
// flight then however busy the machine is, and what was read tells how far they went on.
#include "engine/expression/expr_node.h"

#include <weft/cancel.h>
#include <weft/engine.h>
#include <weft/loops.h>

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace weft::testing {
namespace {

constexpr std::size_t memory_bytes = std::size_t{1} << 30;
constexpr std::size_t part_bytes = std::size_t{1} << 20;
/// That some threads read of the parts after a call was cancelled: far more than the blocks that
/// they have begun, and less than a share of one thread.
constexpr int most_of_blocks = 64;
/// The same where nothing but a loop's estimate of two milliseconds limits them.
constexpr int most_of_loops = 512;
/// That the interpreter, which computes a part in milliseconds, reads of long rows.
constexpr int most_of_rows = 12;

/// Zeros in parts that can be read once somebody has cancelled.  There is one object at a time.
class GuardedZeros {
 public:
  GuardedZeros() {
    void* const memory = ::mmap(nullptr, memory_bytes, PROT_NONE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return;
    data_ = static_cast<std::byte*>(memory);
    guarded = this;
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, &before_);
  }
  ~GuardedZeros() {
    if (data_ == nullptr) return;
    sigaction(SIGSEGV, &before_, nullptr);
    guarded = nullptr;
    ::munmap(data_, memory_bytes);
  }
  GuardedZeros(const GuardedZeros&) = delete;
  GuardedZeros& operator=(const GuardedZeros&) = delete;

  std::byte* data() const { return data_; }  ///< null where the system has no address space left
  /// Cancels when the first part is read.
  void cancel_once_read(CancellationToken token) {
    while (num_read_ == 0 && !is_given_up_)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    token.cancel();
    may_be_read_ = true;
  }
  void give_up() { is_given_up_ = true; }
  int num_read() const { return num_read_; }

 private:
  static void on_fault(int, siginfo_t* info, void*) {
    auto* const address = static_cast<std::byte*>(info->si_addr);
    GuardedZeros* const zeros = guarded;
    if (zeros == nullptr || address < zeros->data_ || address >= zeros->data_ + memory_bytes) {
      std::signal(SIGSEGV, SIG_DFL);  // happens again then
      return;
    }
    ++zeros->num_read_;
    while (!zeros->may_be_read_) std::this_thread::yield();
    const auto offset = static_cast<std::size_t>(address - zeros->data_);
    ::mprotect(zeros->data_ + offset / part_bytes * part_bytes, part_bytes, PROT_READ);
  }

  static inline std::atomic<GuardedZeros*> guarded = nullptr;

  std::byte* data_ = nullptr;
  struct sigaction before_ {};
  std::atomic<int> num_read_{0};
  std::atomic<bool> may_be_read_{false}, is_given_up_{false};
};

struct LongCall {
  const char* text;
  DType dtype;
  std::vector<std::int64_t> sizes, strides;
  int most_parts = most_of_blocks;
};

const std::vector<std::int64_t> row = {1 << 28}, one = {1}, rows = {1 << 17, 2000},
                                rows_apart = {2048, 1}, columns = {1 << 26, 4}, dense = {4, 1},
                                four_rows = {4, 1 << 26}, along_rows = {1 << 26, 1};

const std::vector<LongCall> long_calls = {
    {"a + 1", DType::f32, row, one, most_of_loops},
    {"sum(a)", DType::f32, row, one},
    {"sum(a)", DType::f32, rows, rows_apart},
    {"sum(a * a)", DType::f32, row, one},
    {"sum(a * a, dims=[0])", DType::f32, columns, dense},
    {"sum(a, dims=[0])", DType::f32, columns, dense},
    {"sum(a, numerics=layout_invariant)", DType::f32, row, one},
    {"sum(a, numerics=exact)", DType::f32, row, one},
    {"sum(a, dims=[0], numerics=exact)", DType::f32, columns, dense},
    {"argmax(a)", DType::f32, row, one},
    {"argmin(a)", DType::f32, rows, rows_apart},
    {"argmax(a, dim=0)", DType::f32, columns, dense},
    {"var(a)", DType::f32, row, one},
    {"cumsum(a, dim=0)", DType::f32, row, one},
    {"cumsum(a, dim=0, reverse=true)", DType::i64, {1 << 27}, one},
    {"cumsum(a, dim=0, numerics=layout_invariant)", DType::f32, row, one},
    {"cumsum(a, dim=0)", DType::f32, columns, dense},
    {"cumsum(a, dim=1)", DType::f32, four_rows, along_rows},
    {"cumsum(a, dim=1, numerics=layout_invariant)", DType::f32, four_rows, along_rows},
    {"cumsum(a, dim=0)", DType::c64, {1 << 27}, one},
    {"cumprod(a, dim=0)", DType::f32, row, one},
    {"cummax(a, dim=0)", DType::f64, {1 << 27}, one},
    {"cumsum(a * 2, dim=0)", DType::f32, row, one},
    {"cumsum(a * 2, dim=0)", DType::f32, columns, dense},
    {"cummax(a + 1, dim=0)", DType::f32, row, one},
    {"logcumsumexp(a, dim=0)", DType::f32, row, one},
};

/// Runs `call(engine, operand)`, which is cancelled as soon as it has begun to read.
template <class Call>
void expect_cancelled(const LongCall& long_call, const EngineOptions& options, const Call& call) {
  const std::string what = std::string(long_call.text) + " of " +
                           std::string(name(long_call.dtype)) + ", " + options.backend + ", " +
                           std::to_string(options.num_threads) + " threads";
  GuardedZeros zeros;
  ASSERT_NE(zeros.data(), nullptr);
  const Tensor a = from_blob(zeros.data(), long_call.sizes, long_call.strides, long_call.dtype);
  Engine engine(options);
  CancellationToken token;
  std::thread canceller([&] { zeros.cancel_once_read(token); });
  {
    const CancellationScope scope(token);
    EXPECT_THROW(call(engine, a), CancelledError) << what;
  }
  zeros.give_up();
  canceller.join();
  EXPECT_GE(zeros.num_read(), 1) << what;
  EXPECT_LE(zeros.num_read(), long_call.most_parts) << what;
}

class CancelledCalls : public ::testing::TestWithParam<std::string> {
 protected:
  static EngineOptions options(int num_threads) {
    EngineOptions options;
    options.backend = GetParam();
    options.num_threads = num_threads;
    return options;
  }
};

TEST_P(CancelledCalls, LeaveTheRestUndone) {
  for (const int num_threads : {1, 3})
    for (const LongCall& long_call : long_calls)
      expect_cancelled(long_call, options(num_threads), [&](Engine& engine, const Tensor& a) {
        const std::pair<std::string, Tensor> names[] = {{"a", a}};
        engine.eval(parse_expr(long_call.text, names));
      });
}

/// A row is not a piece of work, however many of them there are.
TEST(CancelledRows, LeaveTheRestUndone) {
  const LongCall long_call = {
      "sqrt(a + 1)", DType::f32, {64, (1 << 22) - 1}, {1 << 22, 1}, most_of_rows};
  EngineOptions options;
  options.backend = "interp";
  for (const int num_threads : {1, 3}) {
    options.num_threads = num_threads;
    expect_cancelled(long_call, options,
                     [&](Engine& engine, const Tensor& a) { engine.eval(ops::sqrt(Expr(a) + 1)); });
  }
}

/// What a call of a known layout takes block by block is looked at between the blocks.
TEST(CancelledRows, OfBlocksLeaveTheRestUndone) {
  const LongCall long_call = {
      "a - mean(a, dims=[1], keepdim=true)", DType::f32, {16384, 2000}, {2048, 1}, most_of_blocks};
  const auto centred = [](const Tensor& a) {
    return Expr(a) - ops::mean(a, {.dims = {1}, .keepdim = true});
  };
  for (const int num_threads : {1, 3}) {
    EngineOptions options;
    options.num_threads = num_threads;
    expect_cancelled(long_call, options, [&](Engine& engine, const Tensor& a) {
      engine.eval(centred(zeros(std::vector<std::int64_t>{16384, 2048}).narrow(1, 0, 2000)));
      engine.eval(centred(a));
    });
  }
}

/// Rows that the interpreter is expected to be busy with for milliseconds each.
TEST(CancelledRows, AreWhatTheyAreWithoutAScope) {
  EngineOptions options;
  options.backend = "interp";
  for (const std::vector<std::int64_t>& sizes :
       {std::vector<std::int64_t>{64, 65535}, {65, 3, 30001}, {64, 30001, 3}}) {
    std::vector<std::int64_t> apart = sizes;
    apart.back() += 1;
    const std::int64_t count = std::accumulate(apart.begin(), apart.end(), std::int64_t{1},
                                               std::multiplies<std::int64_t>());
    const Tensor a = Engine().to(arange(count), DType::f32).view(apart).narrow(-1, 0, sizes.back());
    const Tensor b = Engine().to(arange(sizes.back()), DType::f32);
    Expr chain = Expr(a) + b;
    for (int step = 0; step < 8; ++step) chain = chain * 0.5f + a;
    for (const int num_threads : {1, 3}) {
      options.num_threads = num_threads;
      Engine engine(options);
      const Tensor expected = engine.eval(chain);
      const CancellationScope scope{CancellationToken()};
      const Tensor in_pieces = engine.eval(chain);
      EXPECT_EQ(std::memcmp(in_pieces.data(), expected.data(),
                            static_cast<std::size_t>(expected.numel()) * sizeof(float)),
                0);
    }
  }
}

TEST_P(CancelledCalls, LeavePlacesOfExtremaUndone) {
  const LongCall long_call = {"places of cummax", DType::f64, {1 << 27}, one};
  for (const int num_threads : {1, 3})
    expect_cancelled(long_call, options(num_threads), [&](Engine& engine, const Tensor& a) {
      engine.eval(scan_places(Op::maximum, a, 0));
    });
}

/// Loops that one thread runs look at the token as well.
TEST(CancelledLoops, OfOneThreadLeaveTheRestUndone) {
  const Tensor in = zeros({1 << 20}), out = zeros({1 << 20});
  CancellationToken token;
  const CancellationScope scope(token);
  std::int64_t num_seen = 0;
  EXPECT_THROW(cpu_serial_kernel(TensorIterator::unary_op(out, in),
                                 [&](float value) {
                                   if (++num_seen == 1000) token.cancel();
                                   return value;
                                 }),
               CancelledError);
  EXPECT_GE(num_seen, 1000);
  EXPECT_LT(num_seen, 1 << 19);

  CancellationToken second;
  const CancellationScope inner(second);
  int num_calls = 0;
  const TensorIterator sums = TensorIterator::reduce_op(zeros({100, 1}), zeros({100, 8}));
  EXPECT_THROW(foreach_reduced_elt(
                   sums,
                   [&](TensorIterator&) {
                     if (++num_calls == 3) second.cancel();
                   },
                   false),
               CancelledError);
  EXPECT_EQ(num_calls, 3);
}

INSTANTIATE_TEST_SUITE_P(Backends, CancelledCalls, ::testing::Values("auto", "interp"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace weft::testing
