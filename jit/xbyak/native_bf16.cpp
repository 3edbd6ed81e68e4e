#include "jit/xbyak/native_bf16.h"

#include <algorithm>
#include <utility>

namespace weft::jit::xbyak {

using namespace bf16_rounding;

namespace {

constexpr std::uint8_t is_unordered = 3;  ///< of vcmpps

}  // namespace

void NativeBf16::emit(Registers& registers, const ir::Kernel& kernel, ir::ValueId id,
                      int num_copies) {
  for (int first = 0; first < num_copies; first += vectors_a_test) {
    const int last = std::min(first + vectors_a_test, num_copies);
    Group group;
    std::vector<Opmask> masks;
    for (int copy = first; copy < last; ++copy) {
      registers.select_copy(copy);
      const Xmm x = registers.use(kernel.body[id].args[0]);
      group.vectors.push_back({registers.define(id), x});
      masks.push_back(registers.temp_mask());
    }
    group.mask = masks.front();
    group.temp = registers.temp(width_bytes(group.vectors.front().x));
    // No register is taken from here on: the code branches.
    for (std::size_t i = 0; i < masks.size(); ++i) {
      const auto& [out, x] = group.vectors[i];
      code_.vfpclassps(masks[i], x, rare_classes);
      code_.vcvtneps2bf16(resized(out, std::max(16, width_bytes(x) / 2)), x, Xbyak::EvexEncoding);
    }
    code_.kortestw(masks.front(), masks.back());
    group.jump = code_.jump_if(Condition::not_zero);
    group.back = code_.here();
    groups_.push_back(std::move(group));
    for (int copy = first; copy < last; ++copy) {
      registers.select_copy(copy);
      registers.finish(id);
    }
  }
}

void NativeBf16::round(const Vector& vector, const Xmm& temp, const Opmask& mask) {
  const Xmm& x = vector.x;
  const int bytes = width_bytes(x);
  code_.vpaddd(temp, x, code_.splat(half_less_one, 4, bytes));
  code_.vptestmd(mask, x, code_.splat(last_kept_bit, 4, bytes));
  code_.vpaddd(temp | mask, x, code_.splat(half_less_one + 1, 4, bytes));
  code_.vcmpps(mask, x, x, is_unordered);
  code_.vmovdqa32(temp | mask, code_.splat(nan_bits, 4, bytes));
  code_.vpsrld(temp, temp, 16);
  code_.vpmovdw(resized(vector.out, std::max(16, bytes / 2)), temp);
}

void NativeBf16::emit_rare() {
  for (const Group& group : groups_) {
    code_.mark("subnormal numbers and NaN");
    code_.bind(group.jump);
    for (const Vector& vector : group.vectors) round(vector, group.temp, group.mask);
    code_.jmp(group.back);
  }
}

}  // namespace weft::jit::xbyak
