// Division by values that stay the same along the innermost loop, without the divider: it takes ten
// cycles for 16 floats, what stands in for it four, and one or two where the dividends are
// integers.
#pragma once

#include "jit/xbyak/registers.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace weft::jit::xbyak {

/// Whether a division of the body has a hoisted divisor that InvariantDivision takes care of.
bool divides_by_invariants(const ir::Kernel& kernel, const CpuFeatures& features);

/// Emits quotients that have the very bits of the division: x times the reciprocal, corrected by
/// the remainder; or, of f32 that come from integers, two products (jit/exact_quotients.h).  Where
/// a number is so large or small that the remainder might not be exact, the division itself is
/// done.
class InvariantDivision {
 public:
  /// Reciprocals stay in registers if these suffice and no `calls` overwrite them.
  ///
  /// has_loops: whether there is a loop for divisors that allow two products, and another one.
  InvariantDivision(Assembler& code, Registers& registers, const ir::Kernel& kernel, bool calls,
                    bool has_loops);

  /// Whether divide() can emit this instruction of the body.
  bool can_divide(ir::ValueId id) const { return divisor_of(id) != nullptr; }
  /// To be called for every hoisted instruction, when its value has been defined and not yet been
  /// finished.  rax and rcx are overwritten.  Calls whose innermost loop has fewer than
  /// `least_extent` iterations must not come to what divide() emits.
  void prepare(ir::ValueId id, int least_extent);
  /// Jumps if a divisor, or what was added to a dividend, is out of the range that is taken care
  /// of: to be called before loops that divide() without `looks_at_divisors`.
  std::optional<Assembler::Jump> jump_if_outside();
  /// Jumps if a divisor does not allow two products: to be called, after jump_if_outside(), before
  /// loops that divide() `in_two_products`.
  std::optional<Assembler::Jump> jump_if_inexact();
  void divide(ir::ValueId id, bool looks_at_divisors, bool in_two_products);
  /// The divisions themselves, which seldom run: to be emitted where the code before does not lead.
  void emit_divisions();

 private:
  /// A divisor that is only known at run time, or a constant.
  struct Divisor {
    ir::ValueId id = ir::no_value;
    std::optional<int> reciprocal;  ///< the register that keeps it
    int reciprocal_slot = 0;        ///< a vector, if no register does; of constants there is none
    int outside_slot = 0;    ///< 32 bits: not zero if it is out of the range that is taken care of
    bool has_low = false;    ///< whether quotients may be two products
    std::optional<int> low;  ///< as `reciprocal`: low_factor()
    int low_slot = 0;
    int inexact_slot = 0;  ///< 32 bits: not zero if they may not
  };

  /// A hoisted value that is added to, or subtracted from, numbers of ordinary size before a
  /// division: where it is of such a size itself, or zero, so are its sums, and need no test.
  struct Term {
    ir::ValueId id = ir::no_value;
    ir::ValueId divisor = ir::no_value;  ///< by which the numbers are divided, if not a constant
    int outside_slot = 0;                ///< 32 bits: not zero if it, or the divisor, is not
  };

  /// A division that is jumped to from one or two places, and the place that it goes back to.
  struct Division {
    bool is_double;
    Xmm out, x, divisor;
    std::vector<Assembler::Jump> jumps;
    const std::uint8_t* back;
  };

  const ir::Inst* divisor_of(ir::ValueId id) const;
  const Divisor* prepared(ir::ValueId id) const;
  Term term_of(ir::ValueId dividend) const;
  const Term* known_term(ir::ValueId dividend) const;
  bool is_checked(ir::ValueId dividend) const;
  bool may_take_two_products(ir::ValueId id) const;
  void add_divisor(ir::ValueId id, bool calls);
  void add_low(Divisor& divisor, bool calls);
  void add_term(ir::ValueId dividend);
  int bytes_of(const ir::Inst& inst) const;
  Address splat(const ir::Inst& inst, std::uint64_t item);
  Xmm kept(const Divisor& divisor, int index) const;
  void prepare_constant(const Divisor& divisor);
  void prepare_low(const Divisor& divisor, const Xmm& x, const std::array<Xmm, 3>& temps);
  std::optional<Assembler::Jump> jump_if_any(std::span<const int> slots);
  /// The reciprocal and low_factor() in memory: where no register keeps them, or of a constant.
  Address high_of(const Divisor& divisor);
  Address low_of(const Divisor& divisor);
  void multiply_twice(const Divisor& known, const Xmm& out, const Xmm& x);
  void multiply_and_correct(const ir::Inst& inst, const Xmm& out, const Xmm& x, const Xmm& divisor,
                            const Xmm& remainder, const Xbyak::Operand& reciprocal);
  /// Registers in which is found out what is out of range: the mask, or without AVX-512 the signs
  /// of the bits.
  struct Outside {
    Xmm bits, zeros;
    Opmask mask;
  };
  Outside outside_registers(const ir::Inst& inst);
  void find_greater(const ir::Inst& inst, std::uint64_t limit, const Outside& outside);
  void find_outside(const ir::Inst& inst, int exponent, const Xmm& x, const Outside& outside);
  void outside_to_eax(const ir::Inst& inst, const Outside& outside);

  Assembler& code_;
  Registers& registers_;
  const ir::Kernel& kernel_;
  bool has_loops_;
  std::vector<Divisor> divisors_;
  std::vector<Term> terms_;
  std::vector<Division> divisions_;
};

}  // namespace weft::jit::xbyak
