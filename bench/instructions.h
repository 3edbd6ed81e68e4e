// Counts the instructions that this thread executes, where the kernel and the machine let us.
#pragma once

#include <cstdint>
#include <optional>

namespace weft::bench {

class InstructionCounter {
 public:
  InstructionCounter();
  ~InstructionCounter();
  InstructionCounter(const InstructionCounter&) = delete;
  InstructionCounter& operator=(const InstructionCounter&) = delete;

  /// Counts from 0.
  void start() const;
  /// Since start(), those of the kernel left out; nothing where there is no counter, as in most
  /// virtual machines.
  std::optional<std::uint64_t> stop() const;

 private:
  int file_ = -1;
};

}  // namespace weft::bench
