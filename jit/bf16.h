// What backends share that round f32 to bf16 by the instruction of AVX512_BF16, vcvtneps2bf16.  It
// takes subnormal numbers for zeros and keeps the payload of a NaN, unlike weft/convert.h: vectors
// with one or the other are found by a test, and rounded by integer arithmetic.
#pragma once

#include "ir/kernel.h"

namespace weft::jit::bf16_rounding {

inline constexpr std::uint32_t half_less_one = 0x7fff;  ///< added before the lower half is cut off
inline constexpr std::uint32_t last_kept_bit = 0x10000;
inline constexpr std::uint32_t nan_bits = 0x7fc00000;
/// The classes of numbers that vfpclassps is to find.
inline constexpr std::uint8_t rare_classes = 0xa1;
/// So many vectors share a test: of more, one rare number makes too many ordinary ones wait.
inline constexpr int vectors_a_test = 2;

/// Whether an instruction is a cast that ir::restore_bf16_casts() leaves.
inline bool is_cast(const ir::Kernel& kernel, const ir::Inst& inst) {
  return inst.op == Op::cast && inst.dtype == DType::bf16 &&
         result_dtype(kernel.body[inst.args[0]]) == DType::f32;
}

}  // namespace weft::jit::bf16_rounding
