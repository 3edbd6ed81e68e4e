#include "jit/disassemble.h"
#include "tests/matchers.h"
#include "tests/required_backends.h"

#include <vector>

namespace weft::jit {
namespace {

using matchers::HasSubstr;
using matchers::StartsWith;

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> result;
  for (int value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

/// Without the LLVM module there is none.
bool has_disassembler() { return disassemble(bytes({0xc3})).find("ret") != std::string::npos; }

TEST(Disassemble, NoCodeIsNoText) {
  if (!has_disassembler()) return leave_out_without("llvm", disassemble({}));
  EXPECT_EQ(disassemble({}), "");
}

TEST(Disassemble, OneInstructionALine) {
  if (!has_disassembler()) return leave_out_without("llvm", disassemble({}));
  // The bytes are from Intel's manual: vaddps zmm0, zmm1, zmm2; vpaddd ymm0, ymm1, ymm2; ret.
  const auto code = bytes({0x62, 0xf1, 0x74, 0x48, 0x58, 0xc2, 0xc5, 0xf5, 0xfe, 0xc2, 0xc3});
  EXPECT_EQ(disassemble(code),
            "     0  vaddps zmm0, zmm1, zmm2\n"
            "     6  vpaddd ymm0, ymm1, ymm2\n"
            "     a  ret\n");
  EXPECT_THAT(disassemble(code, 0x1000), StartsWith("  1000  vaddps"));
}

TEST(Disassemble, JumpsNameLabels) {
  if (!has_disassembler()) return leave_out_without("llvm", disassemble({}));
  // jmp +2; L: nop; ret; jne L
  const auto code = bytes({0xeb, 0x02, 0x90, 0xc3, 0x75, 0xfc});
  EXPECT_EQ(disassemble(code, 0x40),
            "    40  jmp .L1\n"
            ".L0:\n"
            "    42  nop\n"
            "    43  ret\n"
            ".L1:\n"
            "    44  jne .L0\n");
}

TEST(Disassemble, EqualCodeGivesEqualTextWhereverItLies) {
  const auto code = bytes({0x48, 0x8b, 0x05, 0x10, 0, 0, 0, 0x74, 0xf7, 0xe8, 0, 1, 0, 0, 0xc3});
  const std::vector<std::byte> elsewhere(code);
  EXPECT_EQ(disassemble(code), disassemble(elsewhere));
}

TEST(Disassemble, BytesThatAreNoInstruction) {
  if (!has_disassembler()) return leave_out_without("llvm", disassemble({}));
  EXPECT_EQ(disassemble(bytes({0x06, 0xc3})), "     0  .byte 0x06\n     1  ret\n");
  EXPECT_EQ(disassemble(bytes({0x62})), "     0  .byte 0x62\n");
}

TEST(Disassemble, HexadecimalWithoutLlvm) {
  if (has_disassembler()) GTEST_SKIP() << "the LLVM module is here";
  EXPECT_THAT(disassemble(bytes({0x90, 0xc3}), 0x10), HasSubstr("    10: 90 c3\n"));
  EXPECT_THAT(disassemble({}), StartsWith("; no disassembler: "));
}

}  // namespace
}  // namespace weft::jit
