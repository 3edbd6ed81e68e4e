// Rows past the caches: whole lines are stored by themselves, several pages in turn.
#include "jit/prefetching.h"
#include "jit/xbyak/kernel_emitter.h"

#include <algorithm>
#include <vector>

namespace weft::jit::xbyak {
namespace {

constexpr std::size_t max_streamed_instructions = 96;  ///< of all pages together
constexpr std::ptrdiff_t shortest_prefetched = 3;      ///< operations; shorter ones gain nothing

}  // namespace

// Rows that are neither begun nor ended by whole lines share lines with what is written before and
// after them.  A line of which one part is stored past the caches and another through them is
// written to memory twice, and read in between.
bool KernelEmitter::streams_by_lines() const {
  return num_outer() > 0 && operands_.line_vectors() > 1 && !operands_.has_lane_access() &&
         !has_calls();
}

void KernelEmitter::streaming_row() {
  const std::optional<Assembler::Jump> short_row = head();
  if (streams_by_lines()) vectors_before_line();
  const auto unaligned = operands_.jump_if_unaligned(streams_by_lines());
  interleaved_pages();
  std::optional<RegExp> behind;  // what is left after the last whole line
  if (streams_by_lines()) {
    behind = code_.frame(code_.allocate_frame(8, 8));
    code_.mov(code_.rcx, gpr::remaining);
    code_.and_(code_.ecx, operands_.line_vectors() * lanes_ - 1);
    code_.mov(code_.qword[*behind], code_.rcx);
    code_.sub(gpr::remaining, code_.rcx);
  }
  vectors(unroll(), true);
  if (behind) code_.add(gpr::remaining, code_.qword[*behind]);
  code_.bind(unaligned);
  if (short_row) code_.bind(*short_row);
  vectors(1, false);
}

void KernelEmitter::vectors_before_line() {
  code_.mark("vectors, up to where a line begins");
  const std::uint8_t* head = code_.here();
  const auto at_line = operands_.jump_if_line();
  code_.cmp(gpr::remaining, operands_.full_elements());
  const auto few = code_.jump_if(Condition::below);
  body({});
  code_.add(gpr::index, lanes_);
  operands_.advance(1);
  code_.sub(gpr::remaining, lanes_);
  code_.jump_back_if(Condition::not_zero, head);
  code_.bind(few);
  code_.bind(at_line);
}

// The elements before the streamed output is aligned, as a tail.  Of several rows, short ones that
// begin within a line have too much of them: the jump is taken to where nothing is streamed.
std::optional<Assembler::Jump> KernelEmitter::head() {
  constexpr int least_row_bytes = 512;
  code_.mark("head, up to where the output is aligned");
  operands_.count_to_alignment();
  std::optional<Assembler::Jump> short_row;
  if (num_outer() > 0) {
    code_.cmp(gpr::remaining, operands_.streamed_elements(least_row_bytes));
    const auto is_long = code_.jump_if(Condition::not_below);
    code_.test(gpr::count, gpr::count);
    short_row = code_.jump_if(Condition::not_zero);
    code_.bind(is_long);
  }
  code_.test(gpr::count, gpr::count);
  const auto none = code_.jump_if(Condition::zero);
  if (code_.has_avx512()) tail_mask();
  body({.is_tail = true});
  operands_.advance_by_count();
  code_.bind(none);
  return short_row;
}

// Prefetchers follow each page on its own and start anew in the next: working on several at once
// hides that, and keeps more of main memory's banks busy.
void KernelEmitter::interleaved_pages() {
  // Of the output; where an input has gaps, half a page comes from a whole one or more.
  const int page_bytes = operands_.reads_gaps() ? 2048 : 4096;
  const std::size_t length = kernel_.body.size() - kernel_.num_hoisted;
  if (!code_.features().pages_in_turn || operands_.has_lane_access() || has_calls()) return;
  if (num_streamed_pages * length > 2 * max_streamed_instructions) return;
  // As many vectors of a page as fill a line of the output.
  int together = std::max(1, operands_.line_vectors());
  while (together > 1 && together * num_streamed_pages * length > max_streamed_instructions)
    together /= 2;
  const int page_vectors = page_bytes / kernel_.vector_bytes;
  const int block = num_streamed_pages * page_vectors * lanes_;
  const int needed = block + operands_.full_streamed_elements() - lanes_;
  code_.sub(gpr::remaining, needed);
  const auto few = code_.jump_if(Condition::below);
  const auto outside = has_loop_that_divides() ? divisions_.jump_if_outside() : std::nullopt;
  const auto inexact = has_loop_that_divides() ? divisions_.jump_if_inexact() : std::nullopt;
  const std::uint8_t* block_head = code_.here();
  code_.mark("four pages in turn");
  code_.mov(gpr::count.cvt32(), page_vectors / together);
  code_.align(32);
  const std::uint8_t* head = code_.here();
  // What a long body computes waits for its loads where the processor would look for more of them:
  // the next four pages are asked for while these are at work.
  const int prefetched =
      num_operations(kernel_) >= shortest_prefetched ? num_streamed_pages * page_vectors : 0;
  std::vector<Step> steps;
  for (int page = 0; page < num_streamed_pages; ++page)
    for (int vector = 0; vector < together; ++vector)
      steps.push_back({.copy = page * page_vectors + vector,
                       .streams = true,
                       .is_main = true,
                       .in_two_products = true,
                       .prefetched = prefetched});
  in_turn(steps);
  code_.add(gpr::index, together * lanes_);
  operands_.advance(together);
  code_.dec(gpr::count.cvt32());
  code_.jump_back_if(Condition::not_zero, head);
  code_.add(gpr::index, (num_streamed_pages - 1) * page_vectors * lanes_);
  operands_.advance((num_streamed_pages - 1) * page_vectors);
  code_.sub(gpr::remaining, block);
  code_.jump_back_if(Condition::not_below, block_head);
  code_.bind(few);
  if (outside) code_.bind(*outside);
  if (inexact) code_.bind(*inexact);
  code_.add(gpr::remaining, needed);
}

}  // namespace weft::jit::xbyak
