// How fast a loop of machine code could run, for explanations.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace weft::jit {

/// What LLVM's model of a processor makes of a loop, if nothing waits for memory.
struct Throughput {
  double cycles = 0;      ///< an iteration; 0: not known
  std::string processor;  ///< whose model it is: "sapphirerapids"
  std::string reason;     ///< why it is not known
};

/// `loop`: x86-64 code from the loop's first instruction to its jump back.
Throughput loop_throughput(std::span<const std::byte> loop);

}  // namespace weft::jit
