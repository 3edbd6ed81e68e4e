// The LLVM tier's objects on disk.
#include "ir/pass.h"
#include "ir/text.h"
#include "jit/kernel_cache.h"
#include "jit/llvm/backend.h"
#include "runtime/disk_entry.h"
#include "tests/in_child.h"
#include "tests/jit/llvm/support.h"
#include "tests/temporary_folder.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

namespace weft::jit::test {
namespace {

namespace fs = std::filesystem;

class LlvmDisk : public testing::Test {
 protected:
  void SetUp() override { need_llvm(); }

  std::shared_ptr<DiskCache> open(CacheMode mode = CacheMode::on) const {
    DiskCacheOptions options;
    options.mode = mode;
    options.folder = folder_;
    return std::make_shared<DiskCache>(options);
  }
  Target target(std::shared_ptr<DiskCache> disk, Isa isa = isas().front()) const {
    Target target = target_for(isa);
    target.disk = std::move(disk);
    return target;
  }
  static ir::Kernel kernel(Op op, Isa isa = isas().front()) {
    ir::Kernel kernel = kernel_of(op, DType::f32, isa);
    ir::run_pipeline(kernel);
    return kernel;
  }

  /// That code computes what the interpreter does.
  static void expect_right(const CodeObject& code, Op op) {
    const ir::Kernel checked = kernel(op);
    const auto expected = find_backend("interp")->compile(checked, target_for(isas().front()));
    std::mt19937_64 random(3);
    Call call = make_call(checked, {100}, random);
    auto& input = call.operands[1].bytes;
    for (std::size_t i = 0; i < 100; ++i) {
      const float value = static_cast<float>(i) / 8;
      std::memcpy(input.data() + 4 * i, &value, 4);
    }
    if (call.operands.size() > 2) call.operands[2].bytes = input;
    EXPECT_EQ(run(code, call, GuardedBytes::Side::upper),
              run(*expected, call, GuardedBytes::Side::upper));
  }

  const TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
};

TEST_F(LlvmDisk, StoresAndLoads) {
  const auto disk = open();
  EXPECT_EQ(load_llvm_code(kernel(Op::library_tan), target(disk)), nullptr);
  const auto compiled = llvm_backend().compile(kernel(Op::library_tan), target(disk));
  EXPECT_FALSE(compiled->is_from_disk);
  const auto loaded = load_llvm_code(kernel(Op::library_tan), target(open()));
  ASSERT_NE(loaded, nullptr);
  EXPECT_TRUE(loaded->is_from_disk);
  EXPECT_EQ(loaded->backend, "llvm");
  EXPECT_EQ(loaded->code_bytes, compiled->code_bytes);
  expect_right(*compiled, Op::library_tan);
  expect_right(*loaded, Op::library_tan);
  EXPECT_TRUE(llvm_backend().compile(kernel(Op::library_tan), target(disk))->is_from_disk);
  EXPECT_EQ(disk->stats().stores, 1u);
}

/// Rows that are summed as `combine` and `block` say.
ir::Kernel reduction(const std::string& combine, int block = 512) {
  ir::Kernel kernel = ir::parse(
      "kernel default unscheduled 0 { $0 out f32 [* 0] $1 in f32 [* 2] parallel reduce "
      "tree lanes 64 block " +
      std::to_string(block) + " body: %0 = load f32 $1 accumulate f32 $0 " + combine + " %0 }");
  kernel.vector_bytes = target_for(isas().front()).vector_bytes();
  ir::run_pipeline(kernel);
  return kernel;
}

TEST_F(LlvmDisk, StoresAndLoadsWhatReduces) {
  const ir::Kernel summed = reduction("add");
  const auto compiled = llvm_backend().compile(summed, target(open()));
  const auto loaded = load_llvm_code(summed, target(open()));
  ASSERT_NE(loaded, nullptr);
  EXPECT_TRUE(loaded->is_from_disk);
  EXPECT_NE(loaded->leaf, nullptr);
  EXPECT_NE(loaded->rows, nullptr);
  EXPECT_EQ(loaded->code_bytes, compiled->code_bytes);
  const auto expected = find_backend("interp")->compile(summed, target(nullptr));
  std::mt19937_64 random(4);
  Call call = make_call(summed, {3, 1100}, {{4, 0}, {8800, 8}}, random);
  for (std::size_t at = 0; at + 4 <= call.operands[1].bytes.size(); at += 4) {
    const float value = static_cast<float>(random() % 1000) / 7;
    std::memcpy(call.operands[1].bytes.data() + at, &value, 4);
  }
  EXPECT_EQ(run(*loaded, call, GuardedBytes::Side::upper),
            run(*expected, call, GuardedBytes::Side::upper));
  // What it combines with and its tree belong to the key.
  EXPECT_EQ(load_llvm_code(reduction("mul"), target(open())), nullptr);
  EXPECT_EQ(load_llvm_code(reduction("add", 1024), target(open())), nullptr);
}

TEST_F(LlvmDisk, OtherProcessorsAndKernelsHaveEntriesOfTheirOwn) {
  const auto disk = open();
  llvm_backend().compile(kernel(Op::add), target(disk));
  EXPECT_EQ(load_llvm_code(kernel(Op::sub), target(disk)), nullptr);
  for (Isa isa : isas()) llvm_backend().compile(kernel(Op::add, isa), target(disk, isa));
  Target foreign = target(disk);
  foreign.features.avx512_vbmi = !foreign.features.avx512_vbmi;
  EXPECT_EQ(load_llvm_code(kernel(Op::add), foreign), nullptr);
  EXPECT_EQ(disk->content().num_entries, isas().size());
}

TEST_F(LlvmDisk, TextsAreMadeAnew) {
  const auto disk = open();
  Target asked = target(disk);
  asked.keep_texts = true;
  llvm_backend().compile(kernel(Op::add), asked);
  EXPECT_EQ(disk->content().num_entries, 0u);
}

/// Changes the content of the only entry, soundly.
void change_blob(const std::string& folder,
                 const std::function<void(std::vector<std::byte>&)>& change) {
  for (const auto& file : fs::directory_iterator(folder)) {
    std::ifstream in(file.path(), std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    const DecodedEntry entry = decode_entry(std::as_bytes(std::span(text.data(), text.size())));
    ASSERT_EQ(entry.fault, "");
    std::vector<std::byte> blob(entry.blob.begin(), entry.blob.end());
    change(blob);
    const std::vector<std::byte> replaced = encode_entry(entry.key, blob);
    std::ofstream(file.path(), std::ios::binary | std::ios::trunc)
        .write(reinterpret_cast<const char*>(replaced.data()),
               static_cast<std::streamsize>(replaced.size()));
  }
}

/// Puts other content into the only entry.
void replace_blob(const std::string& folder, std::span<const std::byte> blob) {
  change_blob(folder,
              [&](std::vector<std::byte>& changed) { changed.assign(blob.begin(), blob.end()); });
}

/// A sum of which one operand is to be transposed.
ir::Kernel tiled_sum() {
  ir::Kernel kernel = kernel_of(Op::add, DType::f32, isas().front());
  kernel.loops.resize(2);
  kernel.operands[0].strides = kernel.operands[1].strides = {ir::stride_any, 1};
  kernel.operands[2].strides = {1, ir::stride_any};
  ir::run_pipeline(kernel);
  return kernel;
}

TEST_F(LlvmDisk, StoresAndLoadsWhatGoesTileByTile) {
  const ir::Kernel sum = tiled_sum();
  ASSERT_EQ(sum.schedule, ir::Schedule::tile);
  const auto compiled = llvm_backend().compile(sum, target(open()));
  const auto loaded = load_llvm_code(sum, target(open()));
  ASSERT_NE(loaded, nullptr);
  EXPECT_TRUE(loaded->is_from_disk);
  EXPECT_TRUE(loaded->walks_in_blocks);
  EXPECT_EQ(loaded->code_bytes, compiled->code_bytes);
  const auto expected = find_backend("interp")->compile(sum, target(nullptr));
  std::mt19937_64 random(4);
  const Call call = make_call(sum, {70, 90}, {{360, 4}, {360, 4}, {4, 280}}, random);
  for (const GuardedBytes::Side side : both_sides) {
    const auto actual = run(*loaded, call, side);
    EXPECT_TRUE(same_elements(actual[0], run(*expected, call, side)[0], DType::f32));
  }
}

TEST_F(LlvmDisk, AnObjectThatLacksAFunctionIsMadeAnew) {
  llvm_backend().compile(tiled_sum(), target(open()));
  int num_changed = 0;
  change_blob(folder_, [&](std::vector<std::byte>& object) {
    const std::string_view symbol = "weft_transpose_4_by_64";
    const auto found =
        std::ranges::search(object, std::as_bytes(std::span(symbol.data(), symbol.size())));
    if (found.empty()) return;
    found.front() = std::byte{'W'};
    ++num_changed;
  });
  ASSERT_EQ(num_changed, 1);
  const auto disk = open();
  EXPECT_EQ(load_llvm_code(tiled_sum(), target(disk)), nullptr);
  EXPECT_EQ(disk->stats().damaged, 1u);
  EXPECT_FALSE(llvm_backend().compile(tiled_sum(), target(open()))->is_from_disk);
}

TEST_F(LlvmDisk, CheckingFindsOtherCode) {
  llvm_backend().compile(kernel(Op::library_tan), target(open()));
  const auto same = open(CacheMode::check);
  EXPECT_TRUE(llvm_backend().compile(kernel(Op::library_tan), target(same))->is_from_disk);
  EXPECT_EQ(same->stats().mismatches, 0u);

  std::vector<std::byte> other(1000);
  replace_blob(folder_, other);
  const auto different = open(CacheMode::check);
  expect_right(*llvm_backend().compile(kernel(Op::library_tan), target(different)),
               Op::library_tan);
  EXPECT_EQ(different->stats().mismatches, 1u);
  EXPECT_EQ(different->stats().hits, 0u);
  EXPECT_EQ(different->stats().misses, 1u);
  EXPECT_TRUE(
      llvm_backend().compile(kernel(Op::library_tan), target(open()))->is_from_disk);  // replaced
}

TEST_F(LlvmDisk, ASoundEntryWithoutAnObjectIsMadeAnew) {
  llvm_backend().compile(kernel(Op::library_tan), target(open()));
  for (const std::size_t size : {0u, 1u, 64u, 5000u}) {
    replace_blob(folder_, std::vector<std::byte>(size));
    const auto disk = open();
    EXPECT_EQ(load_llvm_code(kernel(Op::library_tan), target(disk)), nullptr);
    EXPECT_EQ(disk->stats().hits, 0u);
    EXPECT_EQ(disk->stats().misses, 1u);
    EXPECT_EQ(disk->stats().damaged, 1u);
    const auto code = llvm_backend().compile(kernel(Op::library_tan), target(open()));
    EXPECT_FALSE(code->is_from_disk);
    expect_right(*code, Op::library_tan);
  }
}

/// A kernel of the tiers that keep their code in the folder.
class LlvmDiskTiers : public LlvmDisk {
 protected:
  explicit LlvmDiskTiers() {
    Trial::clock = [] { return ticks += step; };
  }
  ~LlvmDiskTiers() override { Trial::clock = real_clock_; }

  /// In an engine, or process, of its own, that LLVM's code is compiled in on the second call.
  std::shared_ptr<TieredKernel> tiered(const std::shared_ptr<DiskCache>& disk) {
    TierOptions options;
    options.threshold = 1;
    options.in_background = false;
    caches_.push_back(std::make_unique<KernelCache>(options, disk));
    Signature signature{kernel_of(Op::library_tan, DType::f32, isas().front()),
                        target(disk).features, "auto"};
    return caches_.back()->get(signature);
  }
  /// So many calls, of which every other one takes `even` ticks, the first among them.
  static void call(const TieredKernel& kernel, int times, std::uint64_t even, std::uint64_t odd) {
    std::mt19937_64 random(3);
    Call call = make_call(kernel.kernel(), {8}, random);
    for (int i = 0; i < times; ++i) {
      step = i % 2 == 0 ? even : odd;
      std::array<std::byte*, 2> base{call.operands[0].bytes.data(), call.operands[1].bytes.data()};
      const std::array<std::int64_t, 2> stride_bytes{4, 4};
      const KernelArgs args{base.data(), call.extents.data(), stride_bytes.data(), nullptr,
                            kernel.context()};
      kernel.entry()(&args);
    }
  }

 private:
  static inline std::uint64_t ticks = 0, step = 0;
  Trial::Clock real_clock_ = Trial::clock;
  std::vector<std::unique_ptr<KernelCache>> caches_;
};

TEST_F(LlvmDiskTiers, AHotKernelIsMissedOnce) {
  const auto disk = open();
  call(*tiered(disk), 1, 100, 100);
  EXPECT_EQ(disk->stats().misses, 1u);
  EXPECT_EQ(disk->stats().hits, 0u);
  EXPECT_EQ(disk->stats().stores, 1u);
}

TEST_F(LlvmDiskTiers, CodeThatWasSlowerIsNotWhatTheNextProcessBeginsWith) {
  // The first call after the promotion is one of the new code, the next one of the old.
  const auto slower = tiered(open());
  call(*slower, 1, 100, 100);
  EXPECT_EQ(open()->content().num_entries, 1u);
  call(*slower, 20, 1000, 100);
  EXPECT_NE(slower->tier(), "llvm");
  EXPECT_EQ(open()->content().num_entries, 0u);
  EXPECT_NE(tiered(open())->tier(), "llvm");

  const auto faster = tiered(open());
  call(*faster, 1, 100, 100);
  call(*faster, 20, 100, 1000);
  EXPECT_EQ(faster->tier(), "llvm");
  EXPECT_EQ(tiered(open())->tier(), "llvm");
}

TEST_F(LlvmDisk, ManyProcessesOnAColdFolder) {
  // WEFT_FULL=1: 16 processes and 200 kernels, some minutes on few cores.
  const char* full = std::getenv("WEFT_FULL");
  const std::size_t num_kernels = full != nullptr ? 200 : 6;
  std::vector<ir::Kernel> kernels;
  for (const Op op : {Op::library_tan, Op::atan, Op::sqrt, Op::neg, Op::abs, Op::exp})
    for (std::size_t repeats = 0; repeats < (num_kernels + 5) / 6; ++repeats) {
      ir::Kernel each = kernel_of(op, DType::f32, isas().front());
      for (std::size_t i = 0; i < repeats; ++i) {
        const ir::ValueId value = each.body.back().args[0];
        ir::Inst again{.op = Op::add, .dtype = DType::f32};
        again.args[0] = value;
        again.args[1] = value;
        each.body.insert(each.body.end() - 1, again);
        each.body.back().args[0] = static_cast<ir::ValueId>(each.body.size() - 2);
      }
      ir::run_pipeline(each);
      kernels.push_back(each);
    }
  const auto work = [&](std::uint64_t seed) {
    if (full != nullptr) alarm(0);
    const auto disk = open();
    std::mt19937_64 random(seed);
    std::ranges::shuffle(kernels, random);
    bool all_right = true;
    for (const ir::Kernel& each : kernels) {
      const auto code = llvm_backend().compile(each, target(disk));
      const auto expected = find_backend("interp")->compile(each, target(nullptr));
      Call call = make_call(each, {40}, random);
      for (std::size_t at = 0; at < 40; ++at) {
        const float value = static_cast<float>(at) / 8;
        std::memcpy(call.operands[1].bytes.data() + 4 * at, &value, 4);
      }
      all_right &= run(*code, call, GuardedBytes::Side::lower) ==
                   run(*expected, call, GuardedBytes::Side::lower);
    }
    const DiskCacheStats stats = disk->stats();
    return all_right && stats.damaged == 0 && stats.failures == 0 ? 0 : 1;
  };
  std::vector<pid_t> children;
  for (std::uint64_t i = 0; i < 16; ++i) {
    children.push_back(fork_flushed());
    if (children.back() == 0) work_and_exit([&] { return work(i); });
  }
  for (const pid_t child : children) EXPECT_EQ(exit_status(child), 0);
  EXPECT_EQ(open()->content().num_entries, kernels.size());
  EXPECT_TRUE(open()->damaged().empty());
}

}  // namespace
}  // namespace weft::jit::test
