// Faults of memory that is mapped, kept by a thread, or used by several of them.
#include "tests/faults/fixture.h"

#include <weft/parallel.h>
#include <weft/story.h>
#include <weft/tuning.h>

#include "runtime/allocator.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <thread>

namespace weft::faults {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

/// What the scenario computes on a thread that has nothing yet.
std::uint64_t on_new_thread(const Scenario& scenario) {
  std::uint64_t result = 0;
  std::exception_ptr failure;
  std::thread thread([&] {
    try {
      result = scenario();
    } catch (...) {
      failure = std::current_exception();
    }
  });
  thread.join();
  if (failure != nullptr) std::rethrow_exception(failure);
  return result;
}

/// A block that is given back in any case.
class Block {
 public:
  explicit Block(std::size_t size_bytes)
      : size_bytes_(size_bytes), data_(allocate_bytes(size_bytes)) {
    data_[0] = data_[size_bytes - 1] = std::byte{1};
  }
  ~Block() { free_bytes(data_, size_bytes_); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

 private:
  std::size_t size_bytes_;
  std::byte* data_;
};

class PooledMemory : public Faults {
 protected:
  ~PooledMemory() override { set_retained_limit_bytes(std::size_t{1} << 30); }
};

TEST_F(PooledMemory, IsGivenBack) {
  run_with_faults(Kind::system, [] {
    set_retained_limit_bytes(64 * mib);
    { const Block large(4 * mib), small(1000); }
    set_retained_limit_bytes(0);
    { const Block large(4 * mib), small(1000); }
    set_retained_limit_bytes(64 * mib);
    { const Block large(4 * mib); }
    trim();
    return std::uint64_t{1};
  });
}

/// Blocks of one size are unmapped for those of another, and where the system has none left.
TEST_F(PooledMemory, MakesRoom) {
  run_with_faults(Kind::system, [] {
    trim();
    set_retained_limit_bytes(8 * mib);
    { const Block first(2 * mib), second(2 * mib), third(2 * mib), fourth(2 * mib); }
    { const Block other(6 * mib); }
    trim();
    { const Block kept(2 * mib); }
    { const Block other(6 * mib); }
    return std::uint64_t{1};
  });
}

/// Small blocks that leave a thread's cache, while it lives and when it ends.
TEST_F(PooledMemory, OfThreadsMakesRoom) {
  constexpr std::size_t block_bytes = mib / 2;
  run_with_faults(Kind::system, [] {
    return on_new_thread([] {
      trim();
      set_retained_limit_bytes(2 * mib);
      { const Block large(2 * mib); }
      {
        const Block a(block_bytes), b(block_bytes), c(block_bytes), d(block_bytes), e(block_bytes),
            f(block_bytes), g(block_bytes), h(block_bytes);
      }
      { const Block large(2 * mib); }
      return std::uint64_t{1};
    });
  });
}

/// Small blocks that a thread has kept until it ends.
TEST_F(PooledMemory, OfEndedThreadsMakesRoom) {
  run_with_faults(Kind::system, [] {
    return on_new_thread([] {
      trim();
      set_retained_limit_bytes(2 * mib);
      { const Block small(60000); }
      { const Block large(2 * mib); }
      return std::uint64_t{1};
    });
  });
}

TEST_F(PooledMemory, IsMappedOffHugePages) {
  const MappingsOffHugePages placed;
  run_with_faults(Kind::system, [] {
    trim();
    { const Block large(4 * mib); }
    trim();
    return std::uint64_t{1};
  });
}

class OfThreads : public Faults {};

TEST_F(OfThreads, BuffersOfOne) {
  const Tensor x = full({128, 96}, 3, {DType::f32, {}, {}});
  const Tensor y = full({96, 128}, 4, {DType::f32, {}, {}}).t();
  const auto scenario = [&] {
    return on_new_thread([&] {
      Tuning tuning;
      tuning.tile_large_bytes = 1;  // so that tiles are staged in the large buffer
      const TuningScope scope(tuning);
      Engine engine(options_with("auto", "xbyak"));
      return hash_of(engine, engine.binary(Op::add, x, y));
    });
  };
  run_with_faults(Kind::memory, scenario);
}

TEST_F(OfThreads, SeveralInACall) {
  Tuning tuning;
  tuning.thread_work_ns = 10;
  const TuningScope scope(tuning);
  EngineOptions options = options_with("auto", "xbyak");
  options.num_threads = 4;
  Engine first(options);
  const Tensor x = first.to(arange(96 * 100).view({96, 100}), DType::f32);
  const auto scenario = [&] {
    Engine engine(options);
    return hash_of(engine, x.t()) +
           hash_of(engine, engine.reduce(Reduction::sum, x, {.dims = {1}}));
  };
  run_with_faults(Kind::system, scenario);
  run_with_faults(Kind::memory, scenario);
}

TEST_F(OfThreads, MeasuredMachine) {
  run_with_faults(Kind::memory, [] {
    Story story;
    return measure_machine(story).copied_bytes > 0 ? std::uint64_t{1} : 0;
  });
}

}  // namespace
}  // namespace weft::faults
