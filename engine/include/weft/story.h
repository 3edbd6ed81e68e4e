// How one call goes from its operands to code, for people: what Engine::explain() finds out besides
// the fields that programs read, and the two ways to show it.
#pragma once

#include <weft/dtype.h>

#include <cstdint>
#include <string>
#include <vector>

namespace [[gnu::visibility("default")]] weft {

struct Explanation;

/// The path of one call in the order in which it is walked.
struct Story {
  /// One stage: its name, and what happened there and why, a sentence a line.
  struct Chapter {
    std::string title;
    std::vector<std::string> lines;
  };
  /// An operand as it was given, or as it was allocated.
  struct Operand {
    std::string name;
    bool is_output = false;
    bool is_new = false;  ///< an output that the call allocates or resizes
    std::string layout;   ///< in the layout notation
    DType dtype = DType::f32;
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> strides;  ///< in elements
    std::int64_t offset = 0;            ///< of the first element, in elements
    std::int64_t touched_bytes = 0;     ///< by the call; broadcast elements count once
  };
  /// A loop while dimensions merge, fastest first.
  struct Loop {
    std::vector<int> dims;  ///< of the result that have become this loop, fastest first
    std::int64_t extent = 1;
    std::vector<std::int64_t> stride_bytes;  ///< [operand]
  };
  using Loops = std::vector<Loop>;
  /// The kernel before the first pass, and after each that changed it.
  struct IrStep {
    std::string name;  ///< "as lowered", or the pass
    std::string ir;
  };
  /// The loop of the machine code in which a large call spends its time.
  struct HotLoop {
    std::int64_t instructions = 0;   ///< 0: there is no machine code to read
    std::int64_t elements = 0;       ///< an iteration; 0: it can't be told
    double cycles = 0;               ///< an iteration by LLVM's model; 0: LLVM does not know it
    std::string modelled_processor;  ///< whose model that is
  };

  std::string expression;
  std::string result;  ///< its layout
  std::vector<Chapter> chapters;
  std::vector<Operand> operands;  ///< outputs first
  std::vector<Loops> merging;     ///< the loops in order, and after each merge; the last is `shape`
  std::vector<IrStep> ir_steps;
  std::int64_t numel = 0;
  std::int64_t read_bytes = 0;
  std::int64_t written_bytes = 0;
  std::int64_t operations = 0;  ///< of the body, an element: moves and conversions are none
  std::int64_t code_instructions = 0;
  HotLoop hot_loop;
  int vector_lanes = 1;
};

/// What this machine does in a second, as far as predictions go.  Units: bytes, Hz.
struct MachineSpeed {
  double bytes_per_second = 0;    ///< read and written by a copy of as many bytes, one thread
  double clock_hz = 0;            ///< of dependent additions
  std::int64_t copied_bytes = 0;  ///< what was copied, read and written together
  std::string source;             ///< how the figures were come by, in words
};

/// Measures within some 20 ms: the copy of as many bytes as the call moves (at most 64 MiB, so that
/// larger ones are judged by that), best of a few, and the clock.
MachineSpeed measure_machine(const Story& story);

/// About how long one thread takes at the least, and what holds it up.
struct Prediction {
  double memory_ns = 0;
  double compute_ns = 0;  ///< if four instructions of the hot loop end a cycle; 0: not known
  double ns() const { return memory_ns > compute_ns ? memory_ns : compute_ns; }
};
Prediction predict(const Story& story, const MachineSpeed& machine);

struct StoryStyle {
  bool colours = false;  ///< escape sequences of a terminal
};

/// The story as text, with the prediction for `machine` at its end.
std::string story_text(const Explanation& explanation, const MachineSpeed& machine,
                       const StoryStyle& style = {});
/// The same, with what measure_machine() finds.
std::string story_text(const Explanation& explanation, const StoryStyle& style = {});

}  // namespace weft
