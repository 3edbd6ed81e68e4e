// Options, errors, resizing and reductions.
#include <weft/iterator.h>

#include <weft/error.h>

#include "runtime/log.h"
#include "tests/engine/support/ints.h"
#include "tests/matchers.h"
#include "tests/message_of.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace weft {
namespace {

using matchers::HasSubstr;
using testing::Ints;
using testing::ints;

Tensor f32(std::initializer_list<std::int64_t> sizes) { return empty(sizes, DType::f32); }

/// The message that building throws; empty if it doesn't.
std::string error_of(TensorIteratorConfig& config) {
  try {
    config.build();
    return "";
  } catch (const ArgumentError& error) {
    return error.what();
  }
}

TEST(Iterator, BroadcastErrorNamesTheOperand) {
  const Tensor a = f32({3, 2});
  const Tensor b = f32({3, 4});
  Tensor out = f32({7});
  TensorIteratorConfig config;
  config.set_names({"sum", "a", "b"}).add_output(out).add_input(a).add_input(b);
  const std::string message = error_of(config);
  EXPECT_THAT(message, HasSubstr("The size of tensor a (2) must match the size of tensor b (4) at "
                                 "non-singleton dimension 1"));
  EXPECT_THAT(message, HasSubstr("input 1 `b` is f32[3, 4]"));
  EXPECT_EQ(ints(out.sizes()), (Ints{7}));
}

TEST(Iterator, DtypeErrors) {
  const Tensor floats = f32({2});
  const Tensor doubles = empty({2}, DType::f64);
  const Tensor integers = empty({2}, DType::i32);
  TensorIteratorConfig mixed;
  mixed.add_output(floats).add_input(floats).add_input(doubles);
  EXPECT_THAT(error_of(mixed), HasSubstr("Found dtype Double but expected Float"));
  EXPECT_THROW(TensorIterator::binary_op(integers, floats, floats), ArgumentError);
  TensorIteratorConfig unsafe;
  unsafe.promote_inputs_to_common_dtype(true).enforce_safe_casting_to_output(true);
  unsafe.add_output(integers).add_input(floats).add_input(integers);
  EXPECT_THAT(error_of(unsafe),
              HasSubstr("result type Float can't be cast to the desired output type Int"));
}

TEST(Iterator, MisuseOfTheConfig) {
  const Tensor x = f32({2});
  const Tensor undefined;
  const Ints shape = {2};
  EXPECT_THROW(TensorIteratorConfig().add_input(x).add_output(x), ArgumentError);
  EXPECT_THROW(TensorIteratorConfig().declare_static_dtype(DType::f32), ArgumentError);
  EXPECT_THROW(TensorIteratorConfig().declare_static_shape(shape), ArgumentError);
  EXPECT_THROW(TensorIteratorConfig().promote_integer_inputs_to_float(true), ArgumentError);
  const std::vector<int> squash = {1};
  EXPECT_THROW(TensorIteratorConfig().resize_outputs(false).declare_static_shape(shape, squash),
               ArgumentError);
  TensorIteratorConfig config;
  config.add_output(x).add_input(undefined);
  EXPECT_THAT(error_of(config), HasSubstr("Found undefined input tensor!"));
}

/// The texts of the option's own errors, each from the call that it is for.
TEST(Iterator, MisuseIsNamedInPyTorchsWords) {
  const Tensor x = f32({2});
  const Ints shape = {2};
  const std::vector<int> squash = {1};
  const std::vector<std::pair<std::string, std::function<void()>>> calls = {
      {"Keep in mind that you have to add all outputs first before adding any input",
       [&] { TensorIteratorConfig().add_input(x).add_output(x); }},
      {"check_all_same_dtype(false) must be called before declare_static_dtype(...)",
       [&] { TensorIteratorConfig().declare_static_dtype(DType::f32); }},
      {"check_all_same_dtype(false) must be called before declare_static_device(...)",
       [&] { TensorIteratorConfig().declare_static_device({}); }},
      {"check_all_same_dtype(false) must be called before declare_static_dtype_and_device(...)",
       [&] { TensorIteratorConfig().declare_static_dtype_and_device(DType::f32, {}); }},
      {"resize_outputs(false) must be called before declare_static_shape(...)",
       [&] { TensorIteratorConfig().declare_static_shape(shape); }},
      {"squash_dim 1 must be in [0, 1).",
       [&] { TensorIteratorConfig().resize_outputs(false).declare_static_shape(shape, squash); }},
      {"promote_inputs_to_common_dtype(true) must be called before",
       [&] { TensorIteratorConfig().promote_integer_inputs_to_float(true); }},
      {"an operation has at most 255 operands",
       [&] {
         TensorIteratorConfig config;
         for (int i = 0; i < 256; ++i) config.add_input(x);
       }},
  };
  for (const auto& [text, call] : calls) {
    try {
      call();
      ADD_FAILURE() << "nothing is thrown for: " << text;
    } catch (const ArgumentError& error) {
      EXPECT_THAT(error.what(), HasSubstr(text));
    }
  }
}

TEST(Iterator, DevicesAreComparedInPyTorchsWords) {
  const Tensor a = empty({2}, {DType::f32, {DeviceType::meta, 0}, {}});
  const Tensor number = f32({}), vector = f32({2}), out;
  TensorIteratorConfig mixed;
  mixed.allow_cpu_scalars(true).add_output(out).add_input(a).add_input(vector);
  EXPECT_THAT(error_of(mixed), HasSubstr("Expected all tensors to be on the same device, but found "
                                         "at least two devices, meta"));
  TensorIteratorConfig one;
  one.allow_cpu_scalars(true).add_output(out).add_input(a).add_input(number);
  EXPECT_EQ(error_of(one), "");
  TensorIteratorConfig two;
  two.allow_cpu_scalars(true).add_output(out).add_input(a).add_input(number).add_input(number);
  EXPECT_THAT(error_of(two), HasSubstr("Trying to pass too many CPU scalars to non-CPU kernel!"));
}

TEST(Iterator, OutputsOfAReductionAgree) {
  const Tensor a = f32({2, 3});
  const Tensor meta = empty({2, 3}, {DType::f32, {DeviceType::meta, 0}, {}});
  const std::vector<std::pair<std::string, Tensor>> seconds = {
      {"expected both outputs to be defined.", Tensor()},
      {"be on same device, but output1 is on cpu and output2 is on meta", meta},
      {"have same number of dims, but output1 has 2 and output2 has 1", f32({3})},
      {"have same sizes, but output1 has [2, 3] and output2 has [2, 4]", f32({2, 4})},
      {"have same strides, but output1 has [3, 1] and output2 has [1, 2]", f32({3, 2}).t()},
  };
  for (const auto& [text, second] : seconds) {
    try {
      TensorIterator::reduce_op(f32({2, 3}), second, a);
      ADD_FAILURE() << "nothing is thrown for: " << text;
    } catch (const ArgumentError& error) {
      EXPECT_THAT(error.what(), HasSubstr(text));
    }
  }
}

TEST(Iterator, ResizingAnOutputWithElementsIsLogged) {
  const Tensor a = f32({2, 3});
  set_log_topics("plan");
  ::testing::internal::CaptureStderr();
  TensorIterator::binary_op(f32({0}), a, a);
  TensorIterator::binary_op(f32({4}), a, a);
  const std::string lines = ::testing::internal::GetCapturedStderr();
  set_log_topics("");
  EXPECT_EQ(lines,
            "weft plan: An output with one or more elements was resized since it had shape [4], "
            "which does not match the required output shape [2, 3].\n");
}

/// Owned operands live as long as the plan and its copies, wherever these are moved.
TEST(Iterator, OwnedOperandsStayAlive) {
  std::vector<TensorIterator> kept;
  {
    const Tensor a = f32({6, 4}).t();
    const Tensor out = f32({4, 6});
    TensorIterator whole = TensorIterator::binary_op(out, a, a);
    kept.push_back(whole.split(0));
    kept.push_back(std::move(whole));
  }
  for (const TensorIterator& part : kept) {
    EXPECT_EQ(ints(part.output().sizes()), (Ints{4, 6}));
    EXPECT_TRUE(part.input(0).is_same(part.input(1)));
    EXPECT_EQ(part.device(1).type, DeviceType::cpu);
  }
  EXPECT_TRUE(kept[0].input(0).is_same(kept[1].input(0)));
}

TEST(Iterator, OutputsAreResizedOnlyAfterEveryCheck) {
  const Tensor a = f32({2, 3});
  const Tensor out = f32({4});
  const TensorIterator iterator = TensorIterator::binary_op(out, a, a);
  EXPECT_EQ(ints(out.sizes()), (Ints{2, 3}));
  EXPECT_TRUE(iterator.was_resized(0));

  float memory[4] = {};
  const Tensor borrowed = from_blob(memory, Ints{4}, DType::f32);
  const Tensor resizable = f32({1});
  TensorIteratorConfig config;
  config.add_output(resizable).add_output(borrowed).add_input(a);
  EXPECT_THAT(error_of(config), HasSubstr("Trying to resize storage that is not resizable"));
  EXPECT_EQ(ints(resizable.sizes()), (Ints{1}));
  EXPECT_EQ(ints(borrowed.sizes()), (Ints{4}));

  const Tensor small = f32({3});
  TensorIteratorConfig in_place;
  in_place.add_output(small).add_input(small).add_input(a);
  EXPECT_THAT(error_of(in_place),
              HasSubstr("output with shape [3] doesn't match the broadcast shape [2, 3]"));
}

TEST(Iterator, OutputOfTheRightSizeKeepsItsStrides) {
  const Tensor out = f32({4, 3}).t();
  const Tensor a = f32({3, 4});
  TensorIterator::binary_op(out, a, a);
  EXPECT_EQ(ints(out.strides()), (Ints{1, 3}));
}

TEST(Iterator, SizesThatOverflowAreRefused) {
  const Ints column = {std::int64_t{1} << 40, 1};
  const Ints row = {1, std::int64_t{1} << 40};
  const Ints zero_strides = {0, 0};
  const Tensor a = unbacked(column, zero_strides, DType::f32);
  const Tensor b = unbacked(row, zero_strides, DType::f32);
  TensorIteratorConfig config;
  const Tensor out;
  config.add_output(out).add_input(a).add_input(b);
  EXPECT_THAT(error_of(config), HasSubstr("overflow"));
}

TEST(Iterator, MetaPlansWithoutDataOrCoalescing) {
  const TensorOptions meta = {DType::f32, {DeviceType::meta, 0}, MemoryFormat::contiguous};
  const Tensor a = empty({2, 3}, meta);
  const Tensor b = empty({3}, meta);
  const TensorIterator iterator = TensorIterator::binary_op(Tensor(), a, b);
  EXPECT_TRUE(iterator.is_meta());
  EXPECT_EQ(iterator.output().device().type, DeviceType::meta);
  EXPECT_EQ(ints(iterator.shape()), (Ints{3, 2}));
  EXPECT_EQ(iterator.data(0), nullptr);
  EXPECT_THROW(TensorIterator::binary_op(Tensor(), a, f32({2, 3})), ArgumentError);
}

TEST(Iterator, Presets) {
  const Tensor bytes = empty({2}, DType::u8);
  EXPECT_EQ(TensorIterator::binary_float_op(Tensor(), bytes, bytes).output().dtype(), DType::f32);
  EXPECT_EQ(TensorIterator::unary_float_op(Tensor(), bytes).common_dtype(), DType::f32);
  EXPECT_EQ(TensorIterator::comparison_op(Tensor(), bytes, bytes).output().dtype(), DType::boolean);
  EXPECT_EQ(TensorIterator::unary_force_boolean_op(Tensor(), bytes).output().dtype(),
            DType::boolean);
  EXPECT_EQ(TensorIterator::unary_op(Tensor(), bytes).output().dtype(), DType::u8);
  EXPECT_EQ(TensorIterator::ternary_op(Tensor(), bytes, bytes, f32({2})).output().dtype(),
            DType::f32);
  EXPECT_EQ(TensorIterator::nullary_op(bytes).ntensors(), 1);
}

/// What the presets that check the same things have in common.
using Preset = std::function<TensorIterator(const Tensor& out, const Tensor& in)>;

const std::map<std::string, Preset> presets = {
    {"binary_op",
     [](const auto& out, const auto& in) { return TensorIterator::binary_op(out, in, in); }},
    {"binary_float_op",
     [](const auto& out, const auto& in) { return TensorIterator::binary_float_op(out, in, in); }},
    {"comparison_op",
     [](const auto& out, const auto& in) { return TensorIterator::comparison_op(out, in, in); }},
    {"unary_op", [](const auto& out, const auto& in) { return TensorIterator::unary_op(out, in); }},
    {"unary_float_op",
     [](const auto& out, const auto& in) { return TensorIterator::unary_float_op(out, in); }},
    {"unary_force_boolean_op",
     [](const auto& out, const auto& in) {
       return TensorIterator::unary_force_boolean_op(out, in);
     }},
    {"ternary_op",
     [](const auto& out, const auto& in) { return TensorIterator::ternary_op(out, in, in, in); }}};

TEST(Iterator, PresetsCheckOverlap) {
  for (const auto& [name, preset] : presets) {
    SCOPED_TRACE(name);
    const DType dtype = name == "unary_force_boolean_op" ? DType::boolean : DType::f32;
    const Tensor all = empty({5}, dtype);
    EXPECT_THROW(preset(all.slice(0, 0, 4), all.slice(0, 1, 5)), ArgumentError);
    EXPECT_THROW(preset(empty({1}, dtype).expand({4}), all.slice(0, 0, 4)), ArgumentError);
    EXPECT_NO_THROW(preset(all, all));
  }
  EXPECT_THROW(TensorIterator::nullary_op(f32({1}).expand({4})), ArgumentError);
}

TEST(Iterator, PresetsThatCastAreSafe) {
  for (const char* name : {"binary_op", "binary_float_op", "unary_float_op", "ternary_op"}) {
    SCOPED_TRACE(name);
    EXPECT_THROW(presets.at(name)(empty({4}, DType::i32), f32({4})), ArgumentError);
    EXPECT_EQ(presets.at(name)(empty({4}, DType::f16), f32({4})).common_dtype(), DType::f32);
  }
  EXPECT_THROW(TensorIterator::unary_op(empty({4}, DType::f64), f32({4})), ArgumentError);
}

TEST(Iterator, ComparisonsIntoGivenOutputs) {
  for (const DType dtype : {DType::u8, DType::i64, DType::f16, DType::f64}) {
    const Tensor out = empty({4}, dtype);
    const TensorIterator iterator = TensorIterator::comparison_op(out, f32({4}), f32({4}));
    EXPECT_TRUE(iterator.output().is_same(out)) << name(dtype);
    EXPECT_EQ(iterator.common_dtype(), DType::f32);
  }
  const Tensor flags = empty({4}, DType::boolean);
  EXPECT_TRUE(TensorIterator::comparison_op(flags, f32({4}), f32({4})).output().is_same(flags));
}

TEST(Iterator, ReducedDimensionsComeFirst) {
  const Tensor a = f32({4, 5, 6});
  const Tensor out = f32({1, 5, 1}).as_strided({4, 5, 6}, {0, 1, 0});
  const TensorIterator iterator = TensorIterator::reduce_op(out, a);
  EXPECT_TRUE(iterator.is_dim_reduced(0));
  EXPECT_EQ(iterator.num_reduce_dims(), 2);
  EXPECT_EQ(iterator.num_output_elements(), 5);
  EXPECT_EQ(TensorIterator::unary_op(Tensor(), a).num_output_elements(), 120);
  EXPECT_EQ(TensorIterator::unary_op(Tensor(), f32({4, 0})).num_output_elements(), 0);
  EXPECT_EQ(ints(iterator.shape()), (Ints{6, 4, 5}));
  EXPECT_THROW(TensorIterator::reduce_op(out, f32({5}), a), ArgumentError);
}

TEST(Iterator, StaticShape) {
  const Tensor out = f32({2, 3});
  const Tensor in = f32({2, 5});
  const Ints shape = {2, 7};
  const std::vector<int> squash = {1};
  TensorIteratorConfig config;
  const TensorIterator iterator = config.check_all_same_dtype(false)
                                      .resize_outputs(false)
                                      .declare_static_shape(shape, squash)
                                      .add_output(out)
                                      .add_input(in)
                                      .build();
  EXPECT_EQ(ints(iterator.shape()), (Ints{2}));
  EXPECT_EQ(ints(iterator.stride_bytes(1)), (Ints{20}));
}

TEST(Iterator, LinearIterationKeepsTheOrder) {
  const Tensor a = f32({3, 4}).t();
  const Tensor out;
  TensorIteratorConfig config;
  const TensorIterator iterator =
      config.enforce_linear_iteration().add_output(out).add_input(a).build();
  EXPECT_EQ(ints(iterator.shape()), (Ints{3, 4}));
  EXPECT_EQ(ints(iterator.stride_bytes(1)), (Ints{16, 4}));
}

TEST(Iterator, DimensionsThatTheFirstInputLacksAreThoseOfTheSecond) {
  const TensorIterator iterator =
      TensorIterator::binary_op(Tensor(), f32({4}), f32({3, 1, 4}).narrow(2, 0, 4));
  EXPECT_EQ(ints(iterator.sizes()), (Ints{3, 1, 4}));
  EXPECT_EQ(iterator.numel(), 12);
}

TEST(Iterator, AllocatedOutputsHaveTheBytesOfTheirElements) {
  for (const Tensor& input : {f32({3, 5}), f32({5, 3}).t(), f32({3, 8}).narrow(1, 0, 5)}) {
    const TensorIterator iterator = TensorIterator::unary_op(Tensor(), input);
    EXPECT_EQ(iterator.output().storage()->size_bytes(), 15 * 4);
  }
  EXPECT_EQ(TensorIterator::unary_op(Tensor(), f32({0, 5})).output().storage()->size_bytes(), 0);
  const Tensor none = unbacked(Ints{3}, Ints{1}, DType::f32);
  EXPECT_EQ(TensorIterator::unary_op(Tensor(), none).output().data(), nullptr);
}

TEST(Iterator, OperandsAndDimensionsThatThereAreNotAreRefused) {
  const TensorIterator iterator =
      TensorIterator::unary_op(full({3}, 1, DType::f32), full({3}, 1, DType::f32));
  const auto said = [](const auto& call) { return test::message_of<ArgumentError>(call); };
  for (const int index : {-1, 1}) {
    const std::string of_one = detail::concat(" ", index, " of 1.");
    const std::string no_output = "there is no output" + of_one,
                      no_input = "there is no input" + of_one;
    EXPECT_EQ(said([&] { iterator.output(index); }), no_output);
    EXPECT_EQ(said([&] { iterator.was_resized(index); }), no_output);
    EXPECT_EQ(said([&] { iterator.input(index); }), no_input);
    EXPECT_EQ(said([&] { iterator.input_dtype(index); }), no_input);
    EXPECT_EQ(said([&] { iterator.needs_temporary(index); }), no_input);
    EXPECT_EQ(said([&] { iterator.is_dim_reduced(index); }),
              detail::concat("is_dim_reduced: there is no dimension ", index, " of shape [3]."));
  }
  EXPECT_EQ(said([&] { iterator.dtype(2); }), "there is no operand 2 of 2.");
}

TEST(Iterator, TextShowsEveryStage) {
  const Tensor a = f32({2, 3});
  const Tensor b = f32({3, 1});
  TensorIteratorConfig config;
  const Tensor out;
  const Tensor column = f32({2, 1});
  const TensorIterator iterator =
      config.set_names({"out", "a", "b"}).add_output(out).add_input(a).add_input(column).build();
  EXPECT_EQ(iterator.text(),
            "operands\n"
            "  output 0 `out`: f32[2,3] new\n"
            "  input 0 `a`: f32[2,3]\n"
            "  input 1 `b`: f32[2,1]\n"
            "shape [2, 3]\n"
            "common dtype f32\n"
            "fast set-up none\n"
            "perm [1, 0]\n"
            "coalesced, fastest first [3, 2]\n"
            "  output 0 `out` stride bytes [4, 12]\n"
            "  input 0 `a` stride bytes [4, 12]\n"
            "  input 1 `b` stride bytes [0, 4]\n");
}

}  // namespace
}  // namespace weft
