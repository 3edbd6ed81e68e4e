// NVRTC on generated source: what it makes of it, what is remembered, and what errors say.  Tests
// that need the library are left out, loudly, where it is not.
#include "ir/pass.h"
#include "jit/nvrtc/backend.h"
#include "runtime/cuda_libraries.h"
#include "tests/jit/nvrtc/batch.h"
#include "tests/matchers.h"
#include "tests/temporary_folder.h"

#include <weft/error.h>

#include <gtest/gtest.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <locale>
#include <set>
#include <thread>
#include <vector>

namespace weft::jit::nvrtc {
namespace {

namespace fs = std::filesystem;
using matchers::AllOf;
using matchers::HasSubstr;
using matchers::Not;
using test::cuda_copy;
using test::cuda_kernel;

/// A kernel with the variant of an aligned call on many items.
struct Compiled {
  ir::Kernel kernel;
  Variant variant;
};

Compiled widest(const ir::Kernel& kernel) {
  Prepared prepared = prepare(kernel);
  EXPECT_EQ(prepared.refusal, "");
  Variant variant{.items = most_items(prepared.kernel), .index_bits = 32};
  constexpr std::uint64_t many = 1 << 20;
  if (prepared.kernel.schedule == ir::Schedule::tile)
    variant.tile = choose_tile(prepared.kernel, variant.items, many, many, many);
  return {std::move(prepared.kernel), variant};
}

std::string error_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& error) {
    return std::string(error.kind()) + ": " + error.what();
  }
  return "nothing is thrown";
}

class NvrtcCompiler : public testing::Test {
 protected:
  void SetUp() override {
    if (!weft::nvrtc().library.reason.empty())
      GTEST_SKIP() << "NVRTC: " << weft::nvrtc().library.reason;
  }

  static DeviceCode compile(const ir::Kernel& kernel, const char* arch = "sm_90") {
    const Compiled compiled = widest(kernel);
    return compile_source(weft::nvrtc(), emit_source(compiled.kernel, compiled.variant),
                          {.arch = arch});
  }
};

TEST_F(NvrtcCompiler, ContiguousAddMoves16BytesAtOnce) {
  for (const DType dtype : {DType::u8, DType::bf16, DType::f32, DType::f64, DType::i64}) {
    const DeviceCode code = compile(cuda_kernel(Op::add, dtype));
    // 128 bits are four words or two double words.
    const char* const parts = itemsize_bytes(dtype) == 8 ? "v2" : "v4";
    EXPECT_THAT(code.ptx, HasSubstr(std::string("ld.global.") + parts)) << name(dtype);
    EXPECT_THAT(code.ptx, HasSubstr(std::string("st.global.") + parts)) << name(dtype);
  }
}

TEST_F(NvrtcCompiler, CompilesForAllGenerations) {
  for (const char* arch : {"sm_80", "sm_90", "sm_100"}) {
    const DeviceCode code = compile(cuda_kernel(Op::gelu, DType::bf16), arch);
    EXPECT_THAT(code.ptx, HasSubstr(std::string(".target ") + arch));
    ASSERT_GT(code.cubin.size(), 4u);
    EXPECT_EQ(code.cubin[1], std::byte{'E'});
    EXPECT_GT(code.compile_us, 0);
  }
}

TEST_F(NvrtcCompiler, EveryArchitectureIsKnown) {
  int count = 0;
  ASSERT_EQ(weft::nvrtc().GetNumSupportedArchs(&count), 0);
  std::vector<int> supported(static_cast<std::size_t>(count));
  ASSERT_EQ(weft::nvrtc().GetSupportedArchs(supported.data()), 0);
  const std::set<int> before_weft{50, 52, 53, 60, 61, 62, 70, 72};
  const std::set<int> renamed{101};  // sm_110 since CUDA 13
  for (const int arch : supported)
    if (!before_weft.contains(arch) && !renamed.contains(arch)) {
      EXPECT_NO_THROW(check_arch("sm_" + std::to_string(arch)));
    }
}

TEST_F(NvrtcCompiler, TransposesGoThroughSharedMemory) {
  const auto any = ir::stride_any;
  const DeviceCode code = compile(cuda_copy(DType::f32, DType::f32, {1, any}, {any, 1}));
  EXPECT_THAT(code.ptx, AllOf(HasSubstr("ld.shared.v4"), HasSubstr("st.shared.v4"),
                              HasSubstr("bar.sync"), Not(HasSubstr(".local"))));
}

TEST_F(NvrtcCompiler, LeavesProductsAndSumsAsTheKernelHasThem) {
  ir::Kernel kernel = cuda_kernel(Op::addcmul, DType::f32);
  EXPECT_THAT(compile(kernel).ptx, Not(HasSubstr("fma.rn.f32")));
  kernel.numerics = Numerics::fast;
  EXPECT_THAT(compile(kernel).ptx, HasSubstr("fma.rn.f32"));
}

TEST_F(NvrtcCompiler, ReciprocalsAreNoDivisions) {
  // 1 / (1 + exp(-x)) has a -1 above the line.
  for (const Op op : {Op::reciprocal, Op::sigmoid})
    EXPECT_THAT(compile(cuda_kernel(op, DType::f32)).ptx,
                AllOf(HasSubstr("rcp.rn.f32"), Not(HasSubstr("div.rn.f32"))))
        << name(op);
}

TEST_F(NvrtcCompiler, ErrorsCarryTheLog) {
  const auto compile_for = [](const char* source, const char* arch) {
    return error_of([=] { compile_source(weft::nvrtc(), source, {.arch = arch}); });
  };
  EXPECT_THAT(compile_for("__global__ void f() { return x; }", "sm_90"),
              AllOf(HasSubstr("compile: nvrtc: NVRTC_ERROR_COMPILATION"), HasSubstr("\"x\"")));
  EXPECT_THAT(compile_for("", "sm_20"),
              AllOf(HasSubstr("compile: nvrtc: version"), HasSubstr("sm_20"), HasSubstr("sm_90")));
}

/// Digits one by one, with another decimal point.
class OddNumbers : public std::numpunct<char> {
 protected:
  char do_decimal_point() const override { return ';'; }
  char do_thousands_sep() const override { return '\''; }
  std::string do_grouping() const override { return "\1"; }
};

TEST(NvrtcSource, IsTheSameInEveryLocale) {
  const auto any = ir::stride_any;
  const Compiled add = widest(cuda_kernel(Op::gelu, DType::f64));
  const Compiled copy = widest(cuda_copy(DType::u8, DType::u8, {any, 1, any}, {any, any, 1}));
  const auto sources = [&] {
    return emit_source(add.kernel, add.variant) + emit_source(copy.kernel, copy.variant);
  };
  const std::string expected = sources();
  std::vector<std::locale> locales{std::locale(std::locale::classic(), new OddNumbers)};
  try {
    locales.emplace_back("de_DE.UTF-8");  // where it is installed, printf has its comma, too
  } catch (const std::runtime_error&) {
  }
  for (const std::locale& locale : locales) {
    const std::locale before = std::locale::global(locale);
    const std::string source = sources();
    std::locale::global(before);
    EXPECT_EQ(source, expected) << locale.name();
  }
}

TEST(NvrtcErrors, SayWhatIsMissing) {
  const Nvrtc none = open_nvrtc({"/nonexistent/libnvrtc.so"});
  EXPECT_THAT(error_of([&] { compile_source(none, "", {.arch = "sm_90"}); }),
              AllOf(HasSubstr("compile: nvrtc: not found (no /nonexistent/libnvrtc.so)"),
                    HasSubstr("nvidia-cuda-nvrtc")));
  // A library that fails to compile anything.
  const Nvrtc fake = open_nvrtc({WEFT_FAKE_CUDA});
  EXPECT_THAT(error_of([&] { compile_source(fake, "", {.arch = "sm_90"}); }),
              HasSubstr("compile: nvrtc: NVRTC_ERROR_COMPILATION\ntoo odd"));
  EXPECT_THAT(error_of([&] { compile_source(fake, "", {.arch = "sm_80"}); }),
              HasSubstr("does not compile for sm_80; it does for sm_90"));
  EXPECT_THAT(error_of([] { check_arch("sm_1"); }),
              AllOf(HasSubstr("argument: unknown arch 'sm_1'"), HasSubstr("sm_80, sm_86")));
}

TEST(NvrtcErrors, RefusalsNameTheInstruction) {
  // Before the passes, which leave no such instruction.
  EXPECT_THAT(refuses(cuda_kernel(Op::add, DType::f16)), HasSubstr("%2 add f16 has no lowering"));
  EXPECT_THAT(refuses(cuda_kernel(Op::gelu, DType::f32)), HasSubstr("%1 gelu f32 is a composite"));
  ir::Kernel kernel = cuda_kernel(Op::add, DType::f32);
  kernel.operands[0].strides = {0};
  EXPECT_THAT(prepare(kernel).refusal, HasSubstr("threads would race"));
  kernel = cuda_kernel(Op::add, DType::f32, 60,
                       std::vector<std::vector<ir::StrideClass>>(
                           3, std::vector<ir::StrideClass>(60, ir::stride_any)));
  EXPECT_EQ(prepare(kernel).refusal, "");
  kernel.operands.resize(12, kernel.operands[1]);
  EXPECT_THAT(prepare(kernel).refusal, HasSubstr("12 operands along 60 loops"));
}

TEST(NvrtcErrors, DisassemblersAreRun) {
  const std::vector<std::byte> cubin(100, std::byte{'c'});
  EXPECT_THAT(
      error_of([&] { disassemble(cubin, ""); }),
      AllOf(HasSubstr("unsupported: sass: "), HasSubstr("nvdisasm"), HasSubstr("cuda-cuobjdump")));
  EXPECT_THAT(error_of([&] { disassemble(cubin, "/nonexistent/nvdisasm"); }),
              HasSubstr("device: can't run /nonexistent/nvdisasm"));
  const TemporaryFolder folder;
  const std::string good = folder.path() / "nvdisasm", bad = folder.path() / "cuobjdump";
  std::ofstream(good) << "#!/bin/sh\necho \"$1\"; cat \"$2\"\n";
  std::ofstream(bad) << "#!/bin/sh\necho \"$1 is bad\" >&2; exit 3\n";
  for (const std::string& program : {good, bad}) fs::permissions(program, fs::perms::owner_all);
  EXPECT_EQ(disassemble(cubin, good), "-c\n" + std::string(100, 'c'));
  EXPECT_THAT(error_of([&] { disassemble(cubin, bad); }), HasSubstr("failed: -sass is bad"));
}

TEST(NvrtcErrors, SignalsDoNotEndADisassembly) {
  const TemporaryFolder folder;
  const std::string program = folder.path() / "nvdisasm";
  std::ofstream(program) << "#!/bin/sh\nsleep 0.1; echo code; exec >&- 2>&-; sleep 0.1; exit 3\n";
  fs::permissions(program, fs::perms::owner_all);
  // Signals come while the output is read and while the program is waited for.
  struct sigaction handler {
  }, before{};
  handler.sa_handler = [](int) {};
  sigaction(SIGALRM, &handler, &before);
  const itimerval often{{0, 5000}, {0, 5000}}, never{};
  setitimer(ITIMER_REAL, &often, nullptr);
  const std::string error = error_of([&] { disassemble({}, program); });
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_THAT(error, HasSubstr("failed: code"));
}

class NvrtcCodeCache : public NvrtcCompiler {
 protected:
  std::shared_ptr<DiskCache> disk(CacheMode mode = CacheMode::on) const {
    return std::make_shared<DiskCache>(DiskCacheOptions{.mode = mode, .folder = folder_});
  }

  const TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

TEST_F(NvrtcCodeCache, CompilesOnceForManyThreads) {
  CodeCache cache(weft::nvrtc(), nullptr);
  const Compiled add = widest(cuda_kernel(Op::add, DType::f32));
  std::vector<std::thread> threads;
  std::atomic<int> num_same{0};
  const auto first = cache.get(add.kernel, add.variant, "sm_90");
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] { num_same += cache.get(add.kernel, add.variant, "sm_90") == first; });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(num_same.load(), 4);
  EXPECT_EQ(cache.stats().compilations, 1u);
  EXPECT_EQ(cache.stats().hits, 4u);
  // Another architecture and another variant are other code.
  EXPECT_NE(cache.get(add.kernel, add.variant, "sm_80"), first);
  EXPECT_NE(cache.get(add.kernel, {.items = 1, .index_bits = 64}, "sm_90"), first);
  EXPECT_EQ(cache.stats().compilations, 3u);
}

TEST_F(NvrtcCodeCache, KeepsCodeOnTheDisk) {
  const Compiled add = widest(cuda_kernel(Op::add, DType::f32));
  CodeCache first(weft::nvrtc(), disk());
  const auto compiled = first.get(add.kernel, add.variant, "sm_90");
  EXPECT_FALSE(compiled->is_from_disk);
  CodeCache second(weft::nvrtc(), disk());
  const auto loaded = second.get(add.kernel, add.variant, "sm_90");
  EXPECT_TRUE(loaded->is_from_disk);
  EXPECT_EQ(loaded->cubin, compiled->cubin);
  EXPECT_EQ(second.stats().compilations, 0u);
  EXPECT_EQ(second.stats().disk_hits, 1u);
  // Not for another architecture, nor by another build of the same version.
  EXPECT_FALSE(second.get(add.kernel, add.variant, "sm_80")->is_from_disk);
  Nvrtc patched = weft::nvrtc();
  patched.library.path = WEFT_FAKE_CUDA;
  EXPECT_FALSE(CodeCache(patched, disk()).get(add.kernel, add.variant, "sm_90")->is_from_disk);
}

TEST_F(NvrtcCodeCache, CompilesAgainWhatIsDamaged) {
  const Compiled add = widest(cuda_kernel(Op::add, DType::f32));
  const auto compiled = CodeCache(weft::nvrtc(), disk()).get(add.kernel, add.variant, "sm_90");
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder_))
    if (entry.is_regular_file()) fs::resize_file(entry.path(), fs::file_size(entry.path()) - 8);
  CodeCache cache(weft::nvrtc(), disk());
  const auto again = cache.get(add.kernel, add.variant, "sm_90");
  EXPECT_FALSE(again->is_from_disk);
  EXPECT_EQ(again->cubin, compiled->cubin);
}

}  // namespace
}  // namespace weft::jit::nvrtc
