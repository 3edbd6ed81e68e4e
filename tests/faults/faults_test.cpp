// Every allocation and every system call of representative work fails once, and then all from there
// on: what comes of it is the right result or a typed error, nothing leaks, and the same work goes
// well afterwards.
#include "tests/faults/fixture.h"
#include "tests/matchers.h"

#include <weft.h>
#include <weft/disk_cache.h>
#include <weft/dispatch.h>
#include <weft/dlpack.h>
#include <weft/engine.h>
#include <weft/error.h>
#include <weft/npy.h>
#include <weft/parallel.h>

#include "engine/exchange/dlpack_abi.h"
#include "runtime/exec_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace weft::faults {
namespace {

namespace fs = std::filesystem;

std::uint64_t new_tensors() {
  const Tensor small = full({7, 9}, 3);
  const Tensor large = zeros({1 << 20});
  const Tensor sum = empty_like(small.permute({1, 0}));
  return static_cast<std::uint64_t>(small.numel() + large.numel() + sum.numel());
}

/// Blocks that leave no room, so that the next code needs memory from the system.
std::vector<CodeBlock> fill_code_memory() {
  constexpr std::size_t chunk_bytes = 1 << 20, block_bytes = 1 << 14;
  std::vector<CodeBlock> blocks;
  const std::size_t before = mapped_code_bytes();
  while (mapped_code_bytes() == before) blocks.push_back(allocate_code(block_bytes));
  for (std::size_t i = 1; i < chunk_bytes / block_bytes; ++i)
    blocks.push_back(allocate_code(block_bytes));
  return blocks;
}

TEST_F(Faults, CodeMemory) {
  const auto scenario = [] {
    const std::vector<CodeBlock> blocks = fill_code_memory();
    return first_calls(options_with("auto", "xbyak"));
  };
  run_with_faults(Kind::system, scenario);
}

TEST_F(Faults, NewTensors) {
  run_with_faults(Kind::memory, new_tensors);
  run_with_faults(Kind::system, new_tensors);
}

TEST_F(Faults, FirstCalls) {
  for (const char* tiers : {"xbyak", ""}) {
    const auto scenario = [&] { return first_calls(options_with("auto", tiers)); };
    run_with_faults(Kind::memory, scenario);
    run_with_faults(Kind::system, scenario);
  }
}

TEST_F(Faults, CachedCalls) {
  Engine engine(options_with("auto", "xbyak"));
  const Tensor x = engine.to(arange(60).view({5, 12}), DType::f32);
  const Tensor out = empty({5, 12}, DType::f32);
  const auto scenario = [&] {
    engine.eval(Expr(x) * x - 1, out);
    return hash_of(engine, out);
  };
  run_with_faults(Kind::memory, scenario);
  run_with_faults(Kind::system, scenario);
}

// Whose layouts lie on the heap, and are put back when a call fails.
TEST_F(Faults, OutputsOfManyDimensions) {
  const Tensor x = full({1, 2, 1, 2, 1, 2, 1, 2}, 3, DType::f32);
  run_with_faults(Kind::memory, [&] {
    Engine engine(options_with("auto", "xbyak"));
    const Tensor same = empty({1, 2, 1, 2, 1, 2, 1, 2}, DType::f32), other = empty({0}, DType::f32);
    engine.eval(Expr(x) + 1, same);
    engine.eval(ops::sum(Expr(x) * x), other);
    const Tensor out = empty({1, 1, 1, 1, 1, 1, 1, 0}, DType::f32);
    engine.binary(Op::mul, x, x, out);
    return hash_of(engine, same) + hash_of(engine, other) + hash_of(engine, out);
  });
}

TEST_F(Faults, ClaimedNamespaces) {
  run_with_faults(Kind::memory, [] {
    const Library library(registry(), LibraryKind::definitions, "claimed");
    return std::uint64_t{1};
  });
}

/// What could not be registered is as it was, so that another attempt goes well.
TEST_F(Faults, Registrations) {
  run_with_faults(Kind::memory, [] {
    Registry own;
    int num_told = 0;
    const auto attempt = [&] {
      num_told = 0;
      const Registration listener =
          own.add_listener({[&](const OperatorHandle&) { ++num_told; }, nullptr});
      const Registration schema = own.def("t::f(Tensor x) -> Tensor");
      const auto same = [](const Tensor& x) { return x; };
      const Registration kernel = own.impl("t::f", DispatchKey::cpu, KernelFunction::typed(+same));
      const Registration fallback =
          own.fallback(DispatchKey::user_outer1, KernelFunction::fallthrough());
      own.check_invariants();
    };
    try {
      attempt();
    } catch (const std::bad_alloc&) {
      EXPECT_TRUE(own.operators().empty());
      num_told = 0;
      attempt();
    }
    return static_cast<std::uint64_t>(num_told);
  });
}

TEST_F(Faults, ExpressionsAndUserOperators) {
  run_with_faults(Kind::memory, [] {
    Engine engine(options_with("auto", ""));
    engine.define("swish(x, beta)", "x / (1 + exp(-x * beta))");
    const std::pair<std::string, Tensor> names[] = {
        {"a", engine.to(arange(24).view({4, 6}), DType::f64)}};
    const Expr expr = parse_expr("where(a > 3, swish(a, 2), -a)", names, engine.definitions());
    return hash_of(engine, engine.eval(expr)) + text(expr).size();
  });
}

TEST_F(Faults, Reductions) {
  const auto scenario = [] {
    Engine engine(options_with("auto", "xbyak"));
    const Tensor x = engine.to(arange(-30, 30).view({5, 12}), DType::f32);
    const auto [values, indices] = engine.max(x, 0);
    return hash_of(engine, engine.reduce(Reduction::sum, x)) +
           hash_of(engine, engine.reduce(Reduction::cumsum, x, {.dims = {1}})) +
           hash_of(engine, values) + hash_of(engine, indices);
  };
  run_with_faults(Kind::memory, scenario);
  run_with_faults(Kind::system, scenario);
}

TEST_F(Faults, CopiesAndTiles) {
  const auto scenario = [] {
    Engine engine(options_with("auto", "xbyak"));
    const Tensor x = engine.to(arange(128 * 96).view({128, 96}), DType::f32);
    return hash_of(engine, x.t()) + hash_of(engine, engine.to(x, DType::bf16)) +
           hash_of(engine, engine.reshape(x.t(), {96 * 128}));
  };
  run_with_faults(Kind::memory, scenario);
  run_with_faults(Kind::system, scenario);
}

TEST_F(Faults, DiskCache) {
  const std::string cache = folder() + "/deep/cache";
  const auto scenario = [&] {
    const auto bytes = [](std::string_view text) {
      return std::as_bytes(std::span(text.data(), text.size()));
    };
    fs::remove_all(folder() + "/deep");
    DiskCache disk({CacheMode::on, cache, 1 << 20});
    disk.store(bytes("key"), bytes("blob"));
    // What was not stored is missing, and what is found is what was stored.
    const auto found = disk.find(bytes("key"));
    EXPECT_TRUE(!found || std::ranges::equal(*found, bytes("blob")));
    disk.remove(bytes("key"));
    return std::uint64_t{1};
  };
  run_with_faults(Kind::memory, scenario);
  run_with_faults(Kind::system, scenario);
}

#if WEFT_HAS_LLVM
/// LLVM itself leaks or ends the process where memory runs out, so that only the system fails here.
TEST_F(Faults, CompiledByLlvmAndLoadedFromDisk) {
  const std::string cache = folder() + "/cache";
  EngineOptions options = options_with("auto", "llvm");
  options.threshold = 0;
  options.disk_cache = DiskCacheOptions{CacheMode::on, cache, 1 << 20};
  const auto call = [&] {
    Engine engine(options);
    const Tensor x = full({60}, 4, {DType::f32, {}, {}});
    return hash_of(engine, engine.eval(ops::tanh(x) + 1));
  };
  run_with_faults(Kind::system, [&] {
    fs::remove_all(cache);
    return call();
  });
  run_with_faults(Kind::system, call);
}
#endif

TEST_F(Faults, ArrayFiles) {
  const std::string path = folder() + "/x.npy", archive = folder() + "/x.npz";
  const auto scenario = [&] {
    Engine engine(options_with("auto", ""));
    const Tensor x = engine.to(arange(60).view({5, 12}), DType::i16);
    check_npy_write(path, x.t());
    npy_write(path, x.t());
    const NamedTensor tensors[] = {{"x", x}, {"y", x.t()}};
    npz_write(archive, tensors, NpzCompression::deflated);
    return hash_of(engine, npy_read(path)) + hash_of(engine, npy_map(path)) +
           hash_of(engine, npz_read(archive, "y")) + npz_read(archive).size();
  };
  run_with_faults(Kind::memory, scenario);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder()), fs::directory_iterator()), 2)
      << "unfinished files are left";
  run_with_faults(Kind::system, scenario);  // removing them fails, too
}

/// There is no memory for what owns a mapping, and it can't be unmapped either.
TEST_F(Faults, MappedArrayFiles) {
  const std::string path = folder() + "/x.npy";
  npy_write(path, full({5, 12}, 3));
  run_with_faults(Kind::any, [&] { return static_cast<std::uint64_t>(npy_map(path).numel()); });
}

/// Memory that others own: released once if it was taken over, and else not at all.
TEST_F(Faults, BorrowedMemory) {
  static int num_released;
  run_with_faults(Kind::memory, [] {
    float values[6] = {1, 2, 3, 4, 5, 6};
    num_released = 0;
    bool is_taken = false;
    try {
      const Tensor x = from_blob(values, {2, 3}, DType::f32, [](void*) { ++num_released; });
      is_taken = true;
      dlpack::ManagedVersioned lent{};
      std::int64_t sizes[] = {6};
      lent.major = dlpack::major_version;
      lent.deleter = [](dlpack::ManagedVersioned* managed) { ++managed->minor; };
      lent.tensor = {
          values, {dlpack::device_cpu, 0}, 1, {dlpack::code_float, 32, 1}, sizes, nullptr, 0};
      bool is_imported = false;
      try {
        const Tensor y = from_dlpack(reinterpret_cast<DLManagedTensorVersioned*>(&lent));
        is_imported = true;
        auto* const managed = reinterpret_cast<dlpack::Managed*>(to_dlpack(x));
        managed->deleter(managed);
      } catch (const std::exception&) {
        EXPECT_EQ(lent.minor, is_imported ? 1u : 0u);
        throw;
      }
      EXPECT_EQ(lent.minor, 1u);
    } catch (const std::exception&) {
      EXPECT_EQ(num_released, is_taken ? 1 : 0);
      throw;
    }
    EXPECT_EQ(num_released, 1);
    return std::uint64_t{1};
  });
}

/// The C interface: statuses, and no exception that would end the process.
std::uint64_t call_c(const char* backend) {
  weft_engine_options options{};
  options.struct_bytes = sizeof options;
  options.num_threads = 1;
  options.backend = backend;
  weft_engine* engine = nullptr;
  weft_tensor *x = nullptr, *out = nullptr, *view = nullptr;
  char* explained = nullptr;
  float values[6] = {1, 2, 3, 4, 5, 6};
  const std::int64_t sizes[] = {2, 3};
  const std::int32_t dims[] = {1, 0};
  const auto call = [&] {
    weft_status status = weft_engine_create(&options, &engine);
    if (status == WEFT_OK)
      status = weft_tensor_from_blob(values, WEFT_F32, 2, sizes, nullptr, nullptr, nullptr, &x);
    if (status == WEFT_OK) status = weft_tensor_permute(x, 2, dims, &view);
    const weft_named_tensor names[] = {{"x", view}};
    if (status == WEFT_OK) status = weft_eval(engine, "sum(x * 2, dims=[0])", 1, names, &out);
    if (status == WEFT_OK) status = weft_explain(engine, "x + 1", 1, names, "ir", &explained);
    return status;
  };
  const weft_status status = call();
  const bool is_right = status != WEFT_OK || (weft_tensor_numel(out) == 2 &&
                                              static_cast<float*>(weft_tensor_data(out))[1] == 30);
  EXPECT_NE(status, WEFT_ERROR_INTERNAL) << weft_last_error_message();
  weft_text_destroy(explained);
  weft_tensor_destroy(out);
  weft_tensor_destroy(view);
  weft_tensor_destroy(x);
  weft_engine_destroy(engine);
  return is_right ? 1 : 0;
}

TEST_F(Faults, CInterface) {
  // Explanations of code have LLVM read it back, which leaks where memory runs out.
  run_with_faults(Kind::memory, [] { return call_c("interp"); });
  run_with_faults(Kind::system, [] { return call_c("auto"); });
}

TEST_F(Faults, ThreadsThatCannotBeStarted) {
  std::atomic<std::int64_t> sum{0};
  parallel_for(0, 2, 1, [](std::int64_t, std::int64_t) {}, {2});  // prepares for fork(), too
  const Injection injection(Kind::system, 1, Injection::Span::from_then_on);
  // A process that had no threads a moment ago does not ask again at once.
  for (int attempt = 0; attempt < 1000 && !injection.has_hit(); ++attempt) {
    std::this_thread::sleep_for(std::chrono::milliseconds(attempt == 0 ? 0 : 10));
    sum = 0;
    parallel_for(0, 1000, 1,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i) sum += i;
                 },
                 {4});
    ASSERT_EQ(sum, 999 * 1000 / 2);
  }
  EXPECT_TRUE(injection.has_hit());
}

#if WEFT_HAS_LLVM
/// The first tier goes on serving; what failed is counted.
TEST_F(Faults, CompilationsInTheBackground) {
  EngineOptions options = options_with("auto", "llvm");
  options.threshold = 0;
  const Tensor x = full({60}, 4, {DType::f32, {}, {}});
  const auto call = [&](Engine& engine, int number) {
    const Expr base = number == 0 ? ops::tanh(x) : ops::exp(x);  // a kernel each
    const Tensor y = engine.eval(base * 2);
    engine.wait_optimised();
    return hash_of(engine, y);
  };
  Engine in_calls(options);
  options.background = true;
  Engine engine(options);
  std::uint64_t num_failed = 0;
  for (int number = 0; number < 2; ++number) {
    const std::uint64_t expected = call(in_calls, number);
    const std::vector<CodeBlock> blocks = fill_code_memory();
    {
      // At first no thread can be started, and then there is no memory for code.
      const Injection injection(Kind::system, 1, Injection::Span::from_then_on);
      EXPECT_EQ(call(engine, number), expected);
      EXPECT_TRUE(injection.has_hit());
    }
    EXPECT_GT(engine.stats().failed_kernels, num_failed) << number;
    num_failed = engine.stats().failed_kernels;
    Engine another(options);
    EXPECT_EQ(call(another, number), expected);
    EXPECT_EQ(another.stats().failed_kernels, 0u);
  }
}
#endif

}  // namespace
}  // namespace weft::faults
