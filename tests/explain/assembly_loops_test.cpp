// Loops found in assembly text that is written here, so that nothing depends on a compiler.
#include "jit/assembly_loops.h"
#include "tests/matchers.h"

#include <gtest/gtest.h>

namespace weft::jit {
namespace {

using matchers::HasSubstr;

constexpr std::string_view nest = R"(        ; entry
     0  push rbx
.L0:
     2  mov rax, qword ptr [rdi]
     8  nop word ptr [rax + rax]
.L1:
        ; %0 = load f32 $1
    10  vmovups zmm0, zmmword ptr [rbx]
        ; store f32 $0 %0
    18  vmovups zmmword ptr [r9], zmm0
    20  vmovups zmmword ptr [r9 + 0x40], zmm0
    28  vmovups zmmword ptr [rsp + 0x40], zmm0
    30  jae .L1
.L2:
    38  vmovups zmmword ptr [r9], zmm0
    40  jae .L2
    48  dec rcx
    4a  jne .L0
    50  ret
.L3:
    58  vdivps zmm0, zmm0, zmm1
    60  jmp .L1
)";

TEST(assembly_loops, folds_are_hot_where_they_load) {
  const AssemblyLoops found = find_loops(R"(     0  endbr64
.L0:
     4  vaddps zmm0, zmm0, zmmword ptr [rsi]
     8  vaddps zmm1, zmm1, zmmword ptr [rsi + 0x40]
     c  vaddps zmm1, zmm1, zmmword ptr [rsp + 0x40]
    10  jne .L0
.L1:
    14  vaddps zmm0, zmm0, zmmword ptr [rsi]
    18  vmovups zmmword ptr [rdi], zmm0
    1c  jne .L1
.L2:
    20  vaddps zmm0, zmm0, zmmword ptr [rsi]
    24  cmp byte ptr [rsi], 0x0
    28  jne .L2
    2c  ret
)");
  ASSERT_EQ(found.loops.size(), 3u);
  EXPECT_EQ(found.loops[0].loaded_bytes, 128);  // the stack's left out
  EXPECT_EQ(found.loops[1].loaded_bytes, 64);   // what is stored as well
  EXPECT_EQ(found.loops[2].loaded_bytes, 65);
  EXPECT_EQ(found.hot, 1);  // by what is stored
  EXPECT_EQ(most_loading(found, 1000), 0);
  EXPECT_EQ(most_loading(found, 100), 2);
  EXPECT_EQ(most_loading(found, 10), -1);
}

TEST(assembly_loops, code_that_lies_elsewhere_makes_no_loop) {
  const AssemblyLoops found = find_loops(R"(     0  test rdi, rdi
     3  jae .L1
.L0:
     6  vmovups zmmword ptr [rdi], zmm0
     a  jae .L0
     c  jmp .L2
.L1:
    10  dec rdi
    14  jmp .L0
.L2:
    18  vmovups zmmword ptr [rdi], zmm0
    20  ret
)");
  ASSERT_EQ(found.loops.size(), 1u);
  EXPECT_EQ(found.loops[0].instructions, 2);
}

TEST(assembly_loops, finds_loops_their_depth_and_the_hot_one) {
  const AssemblyLoops found = find_loops(nest);
  EXPECT_EQ(found.instructions, 14);  // padding is none
  ASSERT_EQ(found.loops.size(), 3u);  // the jump back from behind the end makes no loop
  EXPECT_EQ(found.loops[0].label, ".L0");
  EXPECT_EQ(found.loops[0].depth, 1);
  EXPECT_EQ(found.loops[1].depth, 2);
  EXPECT_EQ(found.loops[1].instructions, 5);
  EXPECT_EQ(found.loops[1].stored_bytes, 128);  // the stack's left out
  ASSERT_EQ(found.hot, 1);
  EXPECT_EQ(elements_of(found.loops[1], 4), 32);
  EXPECT_EQ(elements_of(found.loops[1], 0), 0);
  EXPECT_EQ(elements_of(found.loops[1], 3), 0);
}

TEST(assembly_loops, marks_them) {
  const std::string text = with_loops(nest, find_loops(nest), 4);
  EXPECT_THAT(text, HasSubstr("; 14 instructions\n"));
  EXPECT_THAT(text, HasSubstr("; hot loop .L1 at depth 2: 5 instructions for 32 elements\n.L1:\n"));
  EXPECT_THAT(text, HasSubstr("; loop .L0 at depth 1: "));
  EXPECT_THAT(text, HasSubstr("\n>   10  vmovups"));
  EXPECT_THAT(text, HasSubstr("\n    38  vmovups"));
}

TEST(assembly_loops, text_without_code_has_none) {
  for (const std::string_view text :
       {"", "\n", "; no disassembler: for a reason\n     0: 90 90\n"}) {
    const AssemblyLoops found = find_loops(text);
    EXPECT_TRUE(found.loops.empty());
    EXPECT_EQ(found.hot, -1);
    EXPECT_EQ(found.instructions, 0);
    EXPECT_EQ(with_loops(text, found, 4), text);
  }
}

}  // namespace
}  // namespace weft::jit
