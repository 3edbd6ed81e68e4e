// The list of targets, and libFuzzer's interface to the one that the command line names.
#include "tests/fuzz/targets/target.h"

#include <cstdio>
#include <cstdlib>

namespace weft::fuzzing {
namespace {

constexpr FuzzTarget all_targets[] = {
    {"layout", fuzz_layout}, {"expression", fuzz_expression},
    {"ir", fuzz_ir},         {"npy", fuzz_npy},
    {"npz", fuzz_npz},       {"cache_entry", fuzz_cache_entry},
#if WEFT_HAS_LLVM
    {"object", fuzz_object},
#endif
    {"dlpack", fuzz_dlpack}, {"iterator", fuzz_iterator},
    {"kernel", fuzz_kernel}, {"reduce", fuzz_reduce},
};

const FuzzTarget* chosen = nullptr;  ///< set once, before the first input

const FuzzTarget& find_target(std::string_view name) {
  for (const FuzzTarget& target : all_targets)
    if (target.name == name) return target;
  std::fprintf(stderr, "usage: weft_fuzz_targets TARGET [OPTION...] [FILE|FOLDER...]; targets:");
  for (const FuzzTarget& target : all_targets)
    std::fprintf(stderr, " %.*s", static_cast<int>(target.name.size()), target.name.data());
  std::fprintf(stderr, "\n");
  std::exit(2);
}

}  // namespace

std::span<const FuzzTarget> fuzz_targets() { return all_targets; }

void report_broken(std::string_view what) {
  std::fprintf(stderr, "broken: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

}  // namespace weft::fuzzing

/// Takes the target's name off the command line.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  weft::fuzzing::chosen = &weft::fuzzing::find_target(*argc > 1 ? (*argv)[1] : "");
  for (int i = 1; i < *argc; ++i) (*argv)[i] = (*argv)[i + 1];
  --*argc;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  weft::fuzzing::chosen->run(std::as_bytes(std::span(data, size)));
  return 0;
}
