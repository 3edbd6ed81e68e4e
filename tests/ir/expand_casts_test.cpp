// The casts rebuilt from integer arithmetic against weft/convert.h, value by value.
#include "ir/evaluate.h"
#include "ir/pass.h"
#include "ir/text.h"
#include "ir/verifier.h"
#include "tests/ir/random_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace weft::ir {
namespace {

/// out = cast(in), after the pass.
Kernel expanded_cast(DType to, DType from) {
  Kernel kernel;
  kernel.loops.resize(1);
  kernel.operands = {{to, Role::output, {1}}, {from, Role::input, {1}}};
  Builder builder(kernel.body);
  builder.store(0, builder.cast(builder.load(1, from), to));
  expand_casts(kernel);
  verify(kernel);
  return kernel;
}

bool is_primitive(DType to, DType from) {
  if (is_complex(from)) return is_complex(to) || from == DType::c32;
  const auto is_rebuilt = [](DType dtype) { return is_small_float(dtype) && dtype != DType::f16; };
  if (is_rebuilt(to) || is_rebuilt(from)) return false;
  if (to == DType::f16) return from == DType::f32;
  return from != DType::f16 || to == DType::f32;
}

/// The body's value for `input`.
class BodyRunner {
 public:
  explicit BodyRunner(const Kernel& kernel) : body_(kernel.body), values_(kernel.body.size()) {}

  Bits run(Bits input) {
    for (std::size_t i = 0; i < body_.size(); ++i) {
      const Inst& inst = body_[i];
      if (inst.op == Op::store) return values_[inst.args[0]];
      if (inst.op == Op::load || inst.op == Op::constant) {
        values_[i] = inst.op == Op::load ? input : inst.bits;
        continue;
      }
      std::array<Bits, max_arity> args{};
      std::size_t num_args = 0;
      for (ValueId arg : inst.args)
        if (arg != no_value) args[num_args++] = values_[arg];
      values_[i] =
          evaluate(inst, std::span(args.data(), num_args), result_dtype(body_[inst.args[0]]));
    }
    return {};
  }

 private:
  const std::vector<Inst>& body_;
  std::vector<Bits> values_;
};

/// All patterns of small types; edges, random patterns and halfway cases of the others.
std::vector<Bits> inputs_of(DType dtype, Random& random) {
  std::vector<Bits> inputs;
  const std::size_t size = itemsize_bytes(dtype);
  if (size <= 2) {
    const std::uint64_t count = is_boolean(dtype) ? 2 : std::uint64_t{1} << size * 8;
    for (std::uint64_t i = 0; i < count; ++i) inputs.push_back({i, 0});
    return inputs;
  }
  for (int i = 0; i < 3000; ++i) inputs.push_back(random_bits(random, dtype));
  const std::uint64_t mask = size == 4 ? 0xffffffffu : ~std::uint64_t{0};
  for (unsigned bit = 0; bit < std::min<std::size_t>(size * 8, 64); ++bit)
    for (int i = 0; i < 40; ++i) {
      // Around a power of two, around a number of few bits, and exactly between two of those.
      const std::uint64_t power = std::uint64_t{1} << bit;
      const std::uint64_t few_bits = ((random() & 0xfff) << bit) + (power >> 1);
      for (const std::uint64_t pattern : {power, few_bits})
        for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
          inputs.push_back({(pattern + offset) & mask, 0});
          inputs.push_back({(0 - pattern + offset) & mask, 0});
        }
    }
  return inputs;
}

TEST(ExpandCasts, GivesTheBitsOfConvert) {
  Random random(5);
  for (const DType from : all_dtypes)
    for (const DType to : all_dtypes) {
      if (is_complex(to) || from == to || is_primitive(to, from)) continue;
      const Kernel kernel = expanded_cast(to, from);
      BodyRunner body(kernel);
      for (const Bits input : inputs_of(from, random)) {
        const Bits expected = evaluate({.op = Op::cast, .dtype = to}, std::span(&input, 1), from);
        ASSERT_EQ(body.run(input), expected) << name(from) << " 0x" << std::hex << input.lo
                                             << " to " << name(to) << ": 0x" << expected.lo << '\n'
                                             << print(kernel);
      }
    }
}

TEST(ExpandCasts, LeavesOnlyPrimitiveCasts) {
  for (const DType from : all_dtypes)
    for (const DType to : all_dtypes) {
      if (is_complex(to) || from == to) continue;
      const Kernel kernel = expanded_cast(to, from);
      for (const Inst& inst : kernel.body) {
        if (inst.op != Op::cast) continue;
        EXPECT_TRUE(is_primitive(inst.dtype, result_dtype(kernel.body[inst.args[0]])))
            << print(kernel);
      }
      Kernel again = kernel;
      EXPECT_FALSE(expand_casts(again)) << print(kernel);
    }
}

}  // namespace
}  // namespace weft::ir
