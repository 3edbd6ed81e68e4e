#include "tests/faults/fixture.h"

#include <weft/disk_cache.h>
#include <weft/error.h>

#include "runtime/allocator.h"
#include "runtime/hash.h"

#include <exception>
#include <new>
#include <utility>

namespace weft::faults {
namespace {

/// What is held now and was not before; empty if nothing is.
std::string leak_since(const Held& before) {
  trim();
  const Held now = held();
  std::string leak;
  const auto compare = [&](const char* what, std::int64_t then, std::int64_t after) {
    if (after > then) leak += " " + std::to_string(after - then) + " " + what;
  };
  compare("blocks", before.blocks, now.blocks);
  compare("mapped bytes", before.mapped_bytes, now.mapped_bytes);
  compare("files", before.files, now.files);
  compare("bytes of tensors", before.tensor_bytes, now.tensor_bytes);
  return leak;
}

}  // namespace

void Faults::run_with_faults(Kind kind, const Scenario& scenario) {
  const std::uint64_t expected = scenario();
  ASSERT_EQ(scenario(), expected);
  for (const auto span : {Injection::Span::once, Injection::Span::from_then_on}) {
    std::int64_t nth = 1;
    for (; nth < most_faults; ++nth) {
      bool has_hit = false;
      for (int attempt = 0; attempt < 3; ++attempt) {
        trim();  // what the pool keeps would hide that memory has run out
        const Held before = held();
        ASSERT_EQ(outcome_of(kind, nth, span, scenario, expected, has_hit), "") << "fault " << nth;
        const std::string leak = leak_since(before);
        if (leak.empty()) break;
        EXPECT_LT(attempt, 2) << "fault " << nth << " leaks" << leak;
      }
      if (!has_hit) break;
      ASSERT_EQ(scenario(), expected) << "after fault " << nth;
    }
    ASSERT_LT(nth, most_faults) << "the work never ends without a fault";
    RecordProperty(span == Injection::Span::once ? "faults_once" : "faults_from_then_on",
                   static_cast<int>(nth - 1));
  }
}

std::string outcome_of(Kind kind, std::int64_t nth, Injection::Span span, const Scenario& scenario,
                       std::uint64_t expected, bool& has_hit) {
  std::string surprise;
  std::uint64_t result = expected;
  const Injection injection(kind, nth, span);
  try {
    result = scenario();
  } catch (const InternalError& error) {
    surprise = error.what();
  } catch (const Error&) {  // of a type that says whose fault it is
  } catch (const std::bad_alloc&) {
  } catch (const std::exception& error) {
    surprise = error.what();
  }
  has_hit = injection.has_hit();
  if (surprise.empty() && result != expected) surprise = "the result is wrong";
  return surprise;
}

EngineOptions options_with(std::string backend, std::string tiers) {
  EngineOptions options;
  options.backend = std::move(backend);
  options.tiers = std::move(tiers);
  options.num_threads = 1;
  options.background = false;
  options.disk_cache = DiskCacheOptions{CacheMode::off, "", 0};
  return options;
}

std::uint64_t hash_of(Engine& engine, const Tensor& tensor) {
  const Tensor dense = engine.contiguous(tensor);
  return hash_bytes(dense.data(),
                    static_cast<std::size_t>(dense.numel()) * itemsize_bytes(dense.dtype()));
}

std::uint64_t first_calls(const EngineOptions& options) {
  Engine engine(options);
  const Tensor x = engine.to(arange(60).view({5, 12}), DType::f32);
  const Tensor y = engine.eval(ops::tanh(Expr(x) * 2 + 1));
  engine.binary(Op::add, x, y, y);
  return hash_of(engine, y) + hash_of(engine, x.t());
}

}  // namespace weft::faults
