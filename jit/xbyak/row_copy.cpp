// Rows that are only copied: the processor's own loop, where that is faster than vectors.
#include "jit/row_copy.h"
#include "jit/xbyak/kernel_emitter.h"

#include <bit>

namespace weft::jit::xbyak {

using row_copy::elements_of;
using row_copy::least_copied_bytes;
using row_copy::least_row_bytes;

bool KernelEmitter::may_copy_rows() const {
  return row_copy::gains(code_.features()) && row_copy::is_all_of(kernel_) &&
         !operands_.streams() && operands_.has_all_registers();
}

// Elements of a row: of several rows fewer, if all of them have enough.
void KernelEmitter::choose_copied_rows() {
  if (!may_copy_rows() || num_outer() == 0) return;
  code_.mark("from how many elements on rows are copied by the processor's own loop");
  copied_row_slot_ = code_.allocate_frame(8, 8);
  code_.mov(code_.rax, code_.qword[gpr::arguments + offsetof(KernelArgs, extents)]);
  code_.mov(code_.rcx, code_.qword[code_.rax]);
  for (std::size_t loop = 1; loop <= num_outer(); ++loop)
    code_.imul(code_.rcx, code_.qword[code_.rax + 8 * loop]);
  code_.cmp(code_.rcx, elements_of(least_copied_bytes, kernel_));
  code_.mov(code_.ecx, elements_of(least_row_bytes, kernel_));
  code_.mov(code_.eax, elements_of(least_copied_bytes, kernel_));
  code_.cmovb(code_.ecx, code_.eax);
  code_.mov(code_.qword[code_.frame(copied_row_slot_)], code_.rcx);
}

void KernelEmitter::leave_copied_row() {
  if (!may_copy_rows()) return;
  if (num_outer() > 0)
    code_.cmp(gpr::remaining, code_.qword[code_.frame(copied_row_slot_)]);
  else
    code_.cmp(gpr::remaining, elements_of(least_copied_bytes, kernel_));
  const auto jump = code_.jump_if(Condition::not_below);
  copied_row_ = {jump, code_.here()};
}

// Leaves nothing to the loops that it returns to.
void KernelEmitter::emit_copied_row() {
  if (!copied_row_) return;
  code_.mark("a long row, copied by the processor's own loop");
  code_.bind(copied_row_->jump);
  code_.mov(code_.rax, gpr::arguments);
  code_.mov(code_.rcx, gpr::remaining);
  const std::size_t itemsize = itemsize_bytes(kernel_.operands[0].dtype);
  if (itemsize > 1) code_.shl(code_.rcx, std::countr_zero(itemsize));
  code_.mov(code_.rdi, operands_.pointer(0));
  code_.mov(code_.rsi, operands_.pointer(1));
  code_.rep();
  code_.movsb();
  code_.mov(gpr::arguments, code_.rax);
  code_.xor_(gpr::index.cvt32(), gpr::index.cvt32());
  code_.xor_(gpr::remaining.cvt32(), gpr::remaining.cvt32());
  code_.jmp(copied_row_->back);
}

}  // namespace weft::jit::xbyak
