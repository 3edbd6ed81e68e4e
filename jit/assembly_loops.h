// Loops in machine code that is there as text: where they begin and end, how deep they lie, and
// which of them a large call spends its time in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::jit {

struct AssemblyLoop {
  std::string label;             ///< of its first instruction: ".L3"
  std::size_t first_line = 0;    ///< that of the label
  std::size_t last_line = 0;     ///< that of the last jump back
  int depth = 1;                 ///< 1: in no other loop
  std::size_t first_offset = 0;  ///< of its code, in bytes
  std::size_t end_offset = 0;    ///< of what follows it; 0: nothing does
  bool calls = false;            ///< some function
  std::int64_t instructions = 0;
  /// Of one iteration, by vector stores and by all instructions that load; the stack is left out.
  std::int64_t stored_bytes = 0;
  std::int64_t loaded_bytes = 0;
};

struct AssemblyLoops {
  std::vector<AssemblyLoop> loops;  ///< by first line
  std::int64_t instructions = 0;    ///< of all the code
  int hot = -1;  ///< which loop stores most of those that hold no other; -1: there is none
};

/// The lines of a text, without their ends.
std::vector<std::string_view> lines_of(std::string_view text);

/// Reads the format of disassemble(), with or without annotate()'s comments.  A loop is what lies
/// between a label and the last jump back to it, if no way leads to that jump but through the
/// label, and the code does not return in between.
AssemblyLoops find_loops(std::string_view assembly);

/// `assembly` with a line before each loop's label that says what it is, and `>` before the
/// instructions of the hot loop.  `bytes_per_element` are stored: they tell how many elements an
/// iteration has; 0 if that can't be known.  Text without instructions, such as bytes that nothing
/// could read, stays as it is.
std::string with_loops(std::string_view assembly, const AssemblyLoops& found,
                       std::int64_t bytes_per_element);

/// Of the innermost loops the one that loads most, up to `most_bytes` an iteration, in the fewest
/// instructions: what a fold spends its time in.  -1 if none loads.
int most_loading(const AssemblyLoops& found, std::int64_t most_bytes);

/// The same text where `elements` of an iteration of the hot loop are known; 0: they are not.
std::string with_loops_of(std::string_view assembly, const AssemblyLoops& found,
                          std::int64_t elements);

/// The elements of one iteration, or 0.
std::int64_t elements_of(const AssemblyLoop& loop, std::int64_t bytes_per_element);

}  // namespace weft::jit
