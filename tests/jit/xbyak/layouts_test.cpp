// Loop nests, strides and long bodies of the xbyak backend against the interpreter.
#include "tests/jit/xbyak/harness.h"

#include "ir/builder.h"

#include <weft/dtype.h>
#include <weft/op.h>

#include <algorithm>
#include <array>
#include <vector>

namespace weft::jit::testing {
namespace {

using ir::no_value;
using ir::StrideClass;
using ir::ValueId;

class XbyakLayouts : public ::testing::TestWithParam<Isa> {
 protected:
  Random random_{seed()};

  template <class T>
  T pick(std::initializer_list<T> values) {
    return values.begin()[random_() % values.size()];
  }
};

constexpr std::initializer_list<StrideClass> inner_classes = {-1, 0, 1, 2, 3, 4, ir::stride_any};

TEST_P(XbyakLayouts, InnerStridesOfInputs) {
  for (const DType dtype : {DType::boolean, DType::u8, DType::i16, DType::f32, DType::f64})
    for (const DType to : {DType::u8, DType::f32, DType::f64})
      for (const StrideClass stride : inner_classes) {
        ir::Kernel kernel = cast_kernel(dtype, to);
        kernel.operands[1].strides[0] = stride;
        kernel = scheduled(kernel, GetParam());
        const Comparison comparison(kernel, GetParam());
        for (const std::int64_t size : interesting_sizes(kernel))
          for (const Placement placement : {Placement::at_end, Placement::at_start})
            for (const std::int64_t open_stride : {7, -2, 0})
              ASSERT_TRUE(comparison.agree({.extents = {size},
                                            .open_stride = open_stride,
                                            .placement = placement,
                                            .compares_nans = true},
                                           random_));
      }
}

// Processors with AVX-512 but without VBMI cannot permute bytes across a register.
TEST_P(XbyakLayouts, StridedBytesWithoutVbmi) {
  Target target = target_for(GetParam());
  target.features.avx512_vbmi = false;
  for (const DType to : {DType::u8, DType::u16, DType::f32, DType::f64})
    for (const StrideClass stride : inner_classes) {
      ir::Kernel kernel = cast_kernel(DType::u8, to);
      kernel.operands[1].strides[0] = stride;
      kernel = scheduled(kernel, GetParam());
      const Comparison comparison(kernel, target);
      for (const std::int64_t size : interesting_sizes(kernel))
        for (const Placement placement : {Placement::at_end, Placement::at_start})
          ASSERT_TRUE(comparison.agree({.extents = {size}, .placement = placement}, random_));
    }
}

/// Such operands may be wider than a register for each lane.
/// One value, written twice.
ir::Kernel twice_kernel(DType dtype) {
  ir::Kernel kernel = make_kernel({dtype, dtype, dtype}, 1);
  kernel.operands[1].role = ir::Role::output;
  const auto store = [&](int operand) {
    return ir::Inst{.op = Op::store,
                    .dtype = dtype,
                    .operand = static_cast<std::uint8_t>(operand),
                    .args = {0, no_value, no_value, no_value}};
  };
  kernel.body = {{.op = Op::load, .dtype = dtype, .operand = 2}, store(0), store(1)};
  return kernel;
}

// Whether rows end with a store under a mask or with several depends on who made the processor.
TEST_P(XbyakLayouts, EndsOfRowsWhoeverMadeTheProcessor) {
  std::vector<ir::Kernel> kernels;
  for (const DType dtype : {DType::u8, DType::u16, DType::u32, DType::u64})
    kernels.push_back(twice_kernel(dtype));
  for (const DType from : {DType::u8, DType::f32, DType::f64})
    for (const DType to : {DType::i16, DType::i32, DType::f32, DType::f64})
      if (from != to) kernels.push_back(cast_kernel(from, to));
  for (const int amd_family : {0, zen3_family, zen5_family})
    for (const ir::Kernel& kernel : kernels) {
      Target target = target_for(GetParam());
      target.features.amd_family = amd_family;
      const Comparison comparison(scheduled(kernel, GetParam()), target);
      for (std::int64_t size = 1; size <= 70; ++size)
        for (const Placement placement : {Placement::at_end, Placement::at_start})
          ASSERT_TRUE(comparison.agree({.extents = {size}, .placement = placement}, random_))
              << "family " << amd_family;
    }
}

TEST_P(XbyakLayouts, InnerStridesOfInputsThatNothingReads) {
  for (const StrideClass stride : inner_classes) {
    ir::Kernel kernel = make_kernel({DType::u8, DType::u8, DType::f64}, 1);
    ir::Builder builder(kernel.body);
    builder.store(0, builder.load(1, DType::u8));
    kernel.operands[2].strides[0] = stride;
    kernel = scheduled(kernel, GetParam());
    const Comparison comparison(kernel, GetParam());
    for (const std::int64_t size : interesting_sizes(kernel))
      ASSERT_TRUE(comparison.agree({.extents = {size}}, random_));
  }
}

TEST_P(XbyakLayouts, InnerStridesOfOutputs) {
  for (const DType dtype : {DType::boolean, DType::u8, DType::i16, DType::f32, DType::f64})
    for (const StrideClass stride : inner_classes) {
      ir::Kernel kernel = cast_kernel(DType::i32, dtype);
      kernel.operands[0].strides[0] = stride;
      kernel = scheduled(kernel, GetParam());
      const Comparison comparison(kernel, GetParam());
      for (const std::int64_t size : interesting_sizes(kernel))
        for (const Placement placement : {Placement::at_end, Placement::at_start})
          for (const std::int64_t open_stride : {7, -2})
            ASSERT_TRUE(comparison.agree(
                {.extents = {size}, .open_stride = open_stride, .placement = placement}, random_));
    }
}

TEST_P(XbyakLayouts, RandomNests) {
  for (int trial = 0; trial < 300; ++trial) {
    const std::size_t num_loops = 1 + random_() % 4;
    const DType dtype = pick({DType::u8, DType::i16, DType::f32, DType::f64});
    ir::Kernel kernel = op_kernel(Op::add, dtype, dtype);
    kernel.loops.resize(num_loops);
    for (ir::Operand& operand : kernel.operands) {
      operand.strides.assign(num_loops, ir::stride_any);
      const bool is_output = operand.role == ir::Role::output;
      operand.strides.back() = is_output ? pick<StrideClass>({1, 1, -1, 3, ir::stride_any})
                                         : pick<StrideClass>({1, 1, 0, -1, 2, 3, ir::stride_any});
      if (!is_output)
        for (std::size_t loop = 0; loop + 1 < num_loops; ++loop)
          if (random_() % 3 == 0) operand.strides[loop] = pick<StrideClass>({0, 1, -1, 3});
    }
    kernel = scheduled(kernel, GetParam());
    const Comparison comparison(kernel, GetParam());
    for (int run = 0; run < 4; ++run) {
      std::vector<std::int64_t> extents;
      for (std::size_t loop = 0; loop < num_loops; ++loop)
        extents.push_back(1 +
                          static_cast<std::int64_t>(random_() % (loop + 1 == num_loops ? 150 : 4)));
      const Placement placement = pick({Placement::at_end, Placement::at_start});
      ASSERT_TRUE(comparison.agree({.extents = extents, .placement = placement}, random_));
    }
  }
}

/// The product of all inputs, in rows; every second input has another inner stride.
ir::Kernel product_of_inputs(std::uint8_t num_operands, StrideClass stride) {
  ir::Kernel kernel = make_kernel(std::vector<DType>(num_operands, DType::f32), 2, ir::stride_any);
  for (ir::Operand& operand : kernel.operands) operand.strides.back() = 1;
  for (std::size_t i = 1; i < num_operands; i += 2) kernel.operands[i].strides.back() = stride;
  kernel.body.push_back({.op = Op::load, .dtype = DType::f32, .operand = 1});
  for (std::uint8_t i = 2; i < num_operands; ++i) {
    const auto product = static_cast<ValueId>(kernel.body.size() - 1);
    kernel.body.push_back({.op = Op::load, .dtype = DType::f32, .operand = i});
    kernel.body.push_back(
        {.op = Op::mul, .dtype = DType::f32, .args = {product, product + 1, no_value, no_value}});
  }
  const auto last = static_cast<ValueId>(kernel.body.size() - 1);
  kernel.body.push_back({.op = Op::store,
                         .dtype = DType::f32,
                         .operand = 0,
                         .args = {last, no_value, no_value, no_value}});
  return kernel;
}

TEST_P(XbyakLayouts, ManyOperands) {
  for (const std::uint8_t num_operands : {16, 40, 64})
    for (const StrideClass stride : inner_classes) {
      const ir::Kernel kernel = scheduled(product_of_inputs(num_operands, stride), GetParam());
      const Comparison comparison(kernel, GetParam());
      for (const std::int64_t size : interesting_sizes(kernel))
        ASSERT_TRUE(comparison.agree({.extents = {3, size}}, random_));
    }
  EXPECT_EQ(Comparison(scheduled(product_of_inputs(65, 1), GetParam()), GetParam()).refusal(),
            "65 operands are more than 64");
}

/// A body of `length` random instructions on values of several dtypes, all of them alive to the
/// end.
class RandomBody {
 public:
  RandomBody(Random& random, std::size_t length) : random_(random) {
    kernel_ =
        make_kernel({DType::f32, DType::u8, DType::f32, DType::f32, DType::i64, DType::boolean}, 2,
                    ir::stride_any);
    kernel_.operands[1].role = ir::Role::output;
    for (ir::Operand& operand : kernel_.operands) operand.strides.back() = 1;
    kernel_.operands[3].strides.back() = 0;
    kernel_.params = {DType::f32, DType::i64, DType::boolean};
    for (std::uint8_t i = 2; i < 6; ++i)
      kernel_.body.push_back({.op = Op::load, .dtype = kernel_.operands[i].dtype, .operand = i});
    for (std::uint8_t i = 0; i < 3; ++i)
      kernel_.body.push_back({.op = Op::param, .dtype = kernel_.params[i], .operand = i});
    while (kernel_.body.size() < length) append();
    const ValueId sum = fold(DType::f32, Op::add);
    const ValueId mixed = fold(DType::u8, Op::bitwise_xor);
    push({.op = Op::store,
          .dtype = DType::f32,
          .operand = 0,
          .args = {sum, no_value, no_value, no_value}});
    push({.op = Op::store,
          .dtype = DType::u8,
          .operand = 1,
          .args = {mixed, no_value, no_value, no_value}});
  }
  const ir::Kernel& kernel() const { return kernel_; }

 private:
  ValueId some() { return static_cast<ValueId>(random_() % kernel_.body.size()); }
  DType dtype_of_value(ValueId id) const { return result_dtype(kernel_.body[id]); }

  ValueId some(DType dtype) {
    const ValueId start = some();
    for (std::size_t i = 0; i < kernel_.body.size(); ++i) {
      const auto id = static_cast<ValueId>((start + i) % kernel_.body.size());
      if (dtype_of_value(id) == dtype) return id;
    }
    return cast(start, dtype);
  }
  ValueId push(const ir::Inst& inst) {
    kernel_.body.push_back(inst);
    return static_cast<ValueId>(kernel_.body.size() - 1);
  }
  ValueId cast(ValueId value, DType to) {
    return push({.op = Op::cast, .dtype = to, .args = {value, no_value, no_value, no_value}});
  }
  void append() {
    static constexpr std::array ops = {Op::add,     Op::sub, Op::mul, Op::maximum,
                                       Op::minimum, Op::lt,  Op::eq,  Op::where,
                                       Op::where,   Op::neg, Op::abs};
    static constexpr std::array dtypes = {DType::f32, DType::f64, DType::i64,
                                          DType::u8,  DType::i32, DType::u16};
    const DType dtype = dtypes[random_() % dtypes.size()];
    if (random_() % 6 == 0)
      return void(push({.op = Op::constant,
                        .dtype = DType::f32,
                        .bits = {0x3f800000 + random_() % 0x1000000, 0}}));
    if (random_() % 4 == 0) return void(cast(some(), random_() % 8 == 0 ? DType::boolean : dtype));
    const Op op = ops[random_() % ops.size()];
    ir::Inst inst{.op = op, .dtype = dtype};
    const int arity = info(op).arity;
    for (int i = 0; i < arity; ++i)
      inst.args[static_cast<std::size_t>(i)] =
          some(op == Op::where && i == 0 ? DType::boolean : dtype);
    push(inst);
  }
  /// Joins every value of the body into one result, last ones first, so that registers run out.
  ValueId fold(DType dtype, Op op) {
    ValueId result = some(dtype);
    for (auto id = static_cast<ValueId>(kernel_.body.size()); id-- > 0;) {
      const ValueId other = dtype_of_value(id) == dtype ? id : cast(id, dtype);
      result = push({.op = op, .dtype = dtype, .args = {result, other, no_value, no_value}});
    }
    return result;
  }

  Random& random_;
  ir::Kernel kernel_;
};

TEST_P(XbyakLayouts, RandomBodies) {
  for (const std::size_t length : {10u, 15u, 20u, 30u, 40u, 60u, 100u, 200u})
    for (int trial = 0; trial < 6; ++trial) {
      const ir::Kernel kernel = scheduled(RandomBody(random_, length).kernel(), GetParam());
      const Comparison comparison(kernel, GetParam());
      for (const std::int64_t size : {1, 5, 8, 33, 70})
        ASSERT_TRUE(comparison.agree({.extents = {2, size}}, random_));
    }
}

INSTANTIATE_TEST_SUITE_P(Targets, XbyakLayouts, ::testing::ValuesIn(runnable_isas()),
                         [](const auto& param) { return std::string(name(param.param)); });

}  // namespace
}  // namespace weft::jit::testing
