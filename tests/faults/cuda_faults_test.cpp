// Faults of the search for CUDA's libraries, of what is remembered of device code, and of the
// program that turns it into text; all on stand-ins.
#include "tests/faults/fixture.h"

#include <weft/disk_cache.h>

#include "ir/text.h"
#include "jit/nvrtc/backend.h"
#include "runtime/cuda_driver.h"
#include "runtime/cuda_libraries.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>

namespace weft::faults {
namespace {

namespace fs = std::filesystem;

class CudaFaults : public Faults {
 protected:
  CudaFaults() {
    ::setenv("TMPDIR", folder().c_str(), 1);
    fs::create_directories(folder() + "/bin");
    std::ofstream(folder() + "/bin/nvdisasm") << "#!/bin/sh\necho code\n";
    fs::permissions(folder() + "/bin/nvdisasm", fs::perms::owner_all);
    fs::create_directories(folder() + "/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib");
    std::ofstream(folder() + "/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
  }
  ~CudaFaults() override { ::unsetenv("TMPDIR"); }
};

TEST_F(CudaFaults, Libraries) {
  CudaEnvironment wheels;
  wheels.conda = folder();
  run_with_faults(Kind::system, [&] {
    // What can't be looked into holds nothing.
    EXPECT_FALSE(nvrtc_candidates(wheels).empty());
    return std::uint64_t{1};
  });
  run_with_faults(Kind::system, [] {
    const Nvrtc nvrtc = open_nvrtc({WEFT_FAKE_GPU});
    EXPECT_EQ(nvrtc.library.path.empty(), !nvrtc.library.reason.empty());
    return std::uint64_t{1};
  });
  run_with_faults(Kind::system, [] {
    const CudaDriver driver = open_cuda_driver({WEFT_FAKE_GPU});
    EXPECT_EQ(driver.library.path.empty(), !driver.library.reason.empty());
    return std::uint64_t{1};
  });
}

TEST_F(CudaFaults, CodeOnTheDisk) {
  const jit::nvrtc::Prepared prepared = jit::nvrtc::prepare(ir::parse(R"(
kernel default unscheduled 0 {
  $0 out f32 [1]
  $1 in f32 [1]
  parallel
body:
  %0 = load f32 $1
  %1 = neg f32 %0
  store f32 $0 %1
}
)"));
  ASSERT_EQ(prepared.refusal, "");
  const Nvrtc nvrtc = open_nvrtc({WEFT_FAKE_GPU});
  ASSERT_EQ(nvrtc.library.reason, "");
  run_with_faults(Kind::system, [&] {
    const auto disk =
        std::make_shared<DiskCache>(DiskCacheOptions{CacheMode::on, folder() + "/cache", 1 << 24});
    jit::nvrtc::CodeCache cache(nvrtc, disk);
    return cache.get(prepared.kernel, {}, "sm_90")->cubin.size();
  });
}

TEST_F(CudaFaults, CodeAsText) {
  const std::string code = "code";
  const auto cubin = std::as_bytes(std::span(code));
  const std::string program = folder() + "/bin/nvdisasm";
  run_with_faults(Kind::system, [&] {
    return std::uint64_t{jit::nvrtc::disassemble(cubin, program) == "code\n"};
  });
  const std::string before = std::getenv("PATH");
  ::setenv("PATH", (folder() + "/bin:" + before).c_str(), 1);
  run_with_faults(Kind::system, [] {
    find_cuda_program("nvdisasm");
    return std::uint64_t{1};
  });
  ::setenv("PATH", before.c_str(), 1);
}

}  // namespace
}  // namespace weft::faults
