// Code memory: runs, is never writable and executable at one address, is given back.
#include "runtime/exec_memory.h"

#include <weft/error.h>

#include <gtest/gtest.h>

#include <sys/resource.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <limits>
#include <string>
#include <thread>
#include <vector>

namespace weft {
namespace {

/// Permissions of the mapping that holds `address`, "r-xs" for example.
std::string permissions_of(const void* address) {
  std::ifstream maps("/proc/self/maps");
  std::uintptr_t begin = 0, end = 0;
  char dash = 0;
  std::string permissions, rest;
  while (maps >> std::hex >> begin >> dash >> end >> permissions && std::getline(maps, rest)) {
    const auto wanted = reinterpret_cast<std::uintptr_t>(address);
    if (begin <= wanted && wanted < end) return permissions;
  }
  return "not mapped";
}

TEST(ExecMemory, BlocksAreAlignedAndTheTwoMappingsShowTheSameBytes) {
  for (std::size_t size_bytes : {1ul, 64ul, 257ul, 100000ul, 3000000ul}) {
    const CodeBlock block = allocate_code(size_bytes);
    EXPECT_EQ(block.size_bytes, size_bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.run) % 64, 0u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.write) % 64, 0u);
    std::memset(block.write, 0x5a, size_bytes);
    EXPECT_EQ(block.run[0], std::byte{0x5a});
    EXPECT_EQ(block.run[size_bytes - 1], std::byte{0x5a});
    EXPECT_EQ(permissions_of(block.write), "rw-s");
    EXPECT_EQ(permissions_of(block.run), "r-xs");
  }
}

#if defined(__x86_64__)
using Function = int (*)();

/// mov eax, value; ret
CodeBlock function_returning(std::int32_t value) {
  CodeBlock block = allocate_code(6);
  block.write[0] = std::byte{0xb8};
  std::memcpy(block.write + 1, &value, sizeof(value));
  block.write[5] = std::byte{0xc3};
  return block;
}

int call(const CodeBlock& block) {
  return reinterpret_cast<Function>(reinterpret_cast<std::uintptr_t>(block.run))();
}

TEST(ExecMemory, CodeRuns) {
  std::vector<CodeBlock> blocks;
  for (int i = 0; i < 1000; ++i) blocks.push_back(function_returning(i));
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(call(blocks[static_cast<std::size_t>(i)]), i);
}

TEST(ExecMemory, ThreadsEmitAndRunAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 2000; ++i)
        ASSERT_EQ(call(function_returning(t * 10000 + i)), t * 10000 + i);
    });
  for (std::thread& thread : threads) thread.join();
}
#endif

TEST(ExecMemory, TheOwnerKeepsABlockAndItsDeathFreesIt) {
  const std::size_t before = mapped_code_bytes();
  std::vector<CodeBlock> blocks;
  for (int i = 0; i < 40; ++i) blocks.push_back(allocate_code(200000));  // several chunks
  EXPECT_GE(mapped_code_bytes(), 40u * 200000);
  const std::shared_ptr<const void> last = blocks.back().owner;
  const std::byte* run = blocks.back().run;
  blocks.clear();
  EXPECT_EQ(permissions_of(run), "r-xs");
  EXPECT_LE(mapped_code_bytes(), before + (std::size_t{1} << 20));  // the chunk in use stays
}

TEST(ExecMemory, DeadChunksAreFilledAgain) {
  { allocate_code(64); }
  const std::size_t before = mapped_code_bytes();
  for (int i = 0; i < 100000; ++i) allocate_code(100);
  EXPECT_EQ(mapped_code_bytes(), before);
}

TEST(ExecMemory, RefusalIsADeviceError) {
  EXPECT_THROW(allocate_code(std::numeric_limits<std::size_t>::max()), DeviceError);
  EXPECT_THROW(allocate_code(std::size_t{1} << 60), DeviceError);
  EXPECT_THROW(allocate_code(0), DeviceError);
}

/// Ends the process with what allocate_code() says when the system gives out no more files.
[[noreturn]] void report_refusal() {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_NOFILE, &none);
  try {
    allocate_code(std::size_t{1} << 20);
  } catch (const DeviceError& error) {
    std::cerr << error.what();
  }
  std::_Exit(0);  // at once: what a sanitizer does at exit needs files
}

TEST(ExecMemoryDeathTest, RefusalNamesTheCallAndTheReason) {
  EXPECT_EXIT(report_refusal(), testing::ExitedWithCode(0),
              "Executable memory is not available: memfd_create of 1048576 bytes failed: ");
}

}  // namespace
}  // namespace weft
