// The search for NVRTC and the CUDA driver, in folders and with libraries made for the test.
#include "runtime/cuda_driver.h"
#include "tests/matchers.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace weft {
namespace {

namespace fs = std::filesystem;
using matchers::AllOf;
using matchers::Contains;
using matchers::ElementsAre;
using matchers::HasSubstr;

class CudaLibraries : public testing::Test {
 protected:
  std::string place(const fs::path& relative) {
    const fs::path path = folder_ / relative;
    fs::create_directories(path.parent_path());
    fs::create_symlink(WEFT_FAKE_CUDA, path);
    return path;
  }

  const TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

std::size_t index_of(const std::vector<std::string>& candidates, const std::string& path) {
  return static_cast<std::size_t>(std::ranges::find(candidates, path) - candidates.begin());
}

TEST_F(CudaLibraries, ToolkitsComeBeforeWheelsAndNewVersionsFirst) {
  const std::string toolkit = place("toolkit/lib64/libnvrtc.so.12");
  const std::string new_wheel =
      place("venv/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
  const std::string old_wheel =
      place("venv/lib/python3.9/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
  const std::string own_wheel =
      place("me/.local/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
  CudaEnvironment environment;
  environment.cuda_home = folder_ / "toolkit";
  environment.virtual_env = folder_ / "venv";
  environment.home = folder_ / "me";
  const std::vector<std::string> found = nvrtc_candidates(environment);
  EXPECT_EQ(index_of(found, "libnvrtc.so.13"), 0u);  // where the dynamic linker looks by itself
  EXPECT_LT(index_of(found, "libnvrtc.so"), index_of(found, toolkit));
  EXPECT_LT(index_of(found, toolkit), index_of(found, new_wheel));
  EXPECT_LT(index_of(found, new_wheel), index_of(found, old_wheel));
  EXPECT_LT(index_of(found, old_wheel), index_of(found, own_wheel));
  EXPECT_LT(index_of(found, own_wheel), found.size());
}

TEST_F(CudaLibraries, OverridesStandAlone) {
  CudaEnvironment environment;
  environment.cuda_home = folder_;
  environment.nvrtc = "/here/libnvrtc.so";
  environment.driver = "/there/libcuda.so";
  EXPECT_THAT(nvrtc_candidates(environment), ElementsAre("/here/libnvrtc.so"));
  EXPECT_THAT(cuda_driver_candidates(environment), ElementsAre("/there/libcuda.so"));
  EXPECT_THAT(cuda_driver_candidates({}), Contains("libcuda.so.1"));
}

TEST_F(CudaLibraries, OpensTheFirstThatCanBeUsed) {
  const Nvrtc found = open_nvrtc({"/nonexistent/libnvrtc.so", WEFT_FAKE_CUDA});
  EXPECT_EQ(found.library.reason, "");
  EXPECT_EQ(found.library.path, WEFT_FAKE_CUDA);
  EXPECT_EQ(found.library.version, "12.4");
  int arch = 0;
  EXPECT_EQ(found.GetSupportedArchs(&arch), 0);
  EXPECT_EQ(arch, 90);
}

TEST_F(CudaLibraries, SaysWhatIsMissingAndHowToGetIt) {
  const std::string text = folder_ / "libnvrtc.so";
  std::ofstream(text) << "no library";
  const Nvrtc none = open_nvrtc({"/nonexistent/libnvrtc.so", text, WEFT_OLD_FAKE_CUDA});
  EXPECT_EQ(none.library.path, "");
  EXPECT_EQ(none.library.version, "");
  EXPECT_THAT(none.library.reason,
              AllOf(HasSubstr("/nonexistent/libnvrtc.so"), HasSubstr(text),
                    HasSubstr("no function nvrtcGetCUBINSize"), HasSubstr("older than 11.2"),
                    HasSubstr("nvidia-cuda-nvrtc"), HasSubstr("WEFT_NVRTC")));
  const CudaDriver no_driver = open_cuda_driver({"/nonexistent/libcuda.so", WEFT_FAKE_CUDA});
  EXPECT_THAT(no_driver.library.reason,
              AllOf(HasSubstr("/nonexistent/libcuda.so"), HasSubstr("no function cuInit"),
                    HasSubstr("driver of an NVIDIA GPU"), HasSubstr("WEFT_CUDA_DRIVER")));
}

TEST_F(CudaLibraries, FindsPrograms) {
  EXPECT_EQ(find_cuda_program("a program that nobody has"), "");
  EXPECT_TRUE(find_cuda_program("sh").ends_with("/sh"));
}

}  // namespace
}  // namespace weft
