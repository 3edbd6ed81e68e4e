// In generated code, what jit/exact_quotients.h finds out.
#pragma once

#include "jit/exact_quotients.h"
#include "jit/xbyak/assembler.h"

#include <array>

namespace weft::jit::xbyak {

/// divides_in_two_products() of a divisor that all lanes have: leaves zero in eax if it does.
/// high, low: registers or memory.  `temps` are overwritten.
void emit_two_products_test(Assembler& code, const Xmm& divisor, const Xbyak::Operand& high,
                            const Xbyak::Operand& low, const std::array<Xmm, 3>& temps);

}  // namespace weft::jit::xbyak
