// Given outputs: their size, dtype, strides and what they share with the inputs.
#include "tests/engine/support/elements.h"
#include "tests/matchers.h"

#include <weft/engine.h>
#include <weft/error.h>

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

namespace weft::testing {
namespace {

using matchers::ElementsAre;
using matchers::ElementsAreArray;
using matchers::HasSubstr;

Tensor range(std::int64_t count, std::int64_t start = 0) {
  const Tensor result = new_tensor({count}, DType::f32);
  for (std::int64_t i = 0; i < count; ++i) put<float>(result, i, static_cast<float>(start + i));
  return result;
}

Sizes strides_of(const Tensor& tensor) {
  return {tensor.strides().begin(), tensor.strides().end()};
}
Sizes sizes_of(const Tensor& tensor) { return {tensor.sizes().begin(), tensor.sizes().end()}; }

template <class ErrorType, class Call>
std::string message(const Call& call) {
  try {
    call();
  } catch (const ErrorType& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another kind of error: " << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing is thrown";
  return {};
}

// Items of a byte that are computed in eight lanes of f64 lie in registers of 16: what a tail of
// more than eight elements stored in the others, its next step would read.
TEST(engine_outputs, bytes_in_place_through_long_bodies_of_f64) {
  const auto scaled = [](const Tensor& bytes) {
    Expr value = cast(Expr(bytes), DType::f64);
    for (int i = 0; i < 8; ++i) value = value * 1.0625 + 0.5 * i;
    return cast(value, DType::u8);
  };
  Engine plain({.backend = "interp"});
  Engine engine;
  for (std::int64_t size = 1; size <= 80; ++size) {
    const Tensor x = engine.to(range(size), DType::u8);
    const Tensor expected = plain.eval(scaled(x));
    engine.eval(scaled(x), x);
    ASSERT_EQ(std::memcmp(x.data(), expected.data(), static_cast<std::size_t>(size)), 0) << size;
  }
}

TEST(engine_outputs, right_size_keeps_strides) {
  Engine engine;
  const Tensor a = range(12).view({4, 3});
  const Tensor out = new_tensor({3, 4}, DType::f32).t();
  for (int repeat = 0; repeat < 2; ++repeat) {
    engine.binary(Op::add, a, a, out);
    EXPECT_EQ(strides_of(out), (Sizes{1, 4}));
    for (std::int64_t i = 0; i < 12; ++i) EXPECT_EQ(get<float>(out, i), 2 * i);
  }
}

TEST(engine_outputs, wrong_size_is_resized) {
  Engine engine;
  const Tensor a = range(6).view({2, 3});
  for (int repeat = 0; repeat < 2; ++repeat) {
    const Tensor out = new_tensor({4}, DType::f32);
    engine.unary(Op::neg, a, out);
    EXPECT_EQ(sizes_of(out), (Sizes{2, 3}));
    EXPECT_THAT(elements<float>(out), ElementsAre(-0.0f, -1, -2, -3, -4, -5));
    engine.unary(Op::square, a.select(0, 1), out);  // smaller now
    EXPECT_EQ(sizes_of(out), (Sizes{3}));
    EXPECT_THAT(elements<float>(out), ElementsAreArray({9, 16, 25}));
  }
}

/// Halves of four numbers, which a call with more of them makes grow into one another.
TEST(engine_outputs, that_reach_one_another_when_resized_are_refused) {
  Engine engine;
  for (const std::int64_t other : {6, 5}) {  // one pass, or one for each size
    const Tensor both = range(4);
    const Tensor first = both.narrow(0, 0, 2), second = both.narrow(0, 2, 2);
    const Expr exprs[] = {Expr(range(6)) + 100, Expr(range(other)) + 200};
    const Tensor outputs[] = {first, second};
    EXPECT_THAT(message<ArgumentError>([&] { engine.eval(exprs, outputs); }),
                HasSubstr("output 0"));
    EXPECT_EQ(sizes_of(first), (Sizes{2}));
    EXPECT_EQ(sizes_of(second), (Sizes{2}));
    EXPECT_THAT(elements<float>(both), ElementsAre(0, 1, 2, 3));
  }
}

TEST(engine_outputs, resized_in_the_format_of_the_inputs) {
  Engine engine;
  const Tensor a = new_tensor({2, 3, 4, 5}, DType::f32, MemoryFormat::channels_last);
  const Tensor out = new_tensor({0}, DType::f32);
  engine.binary(Op::add, a, a, out);
  EXPECT_EQ(strides_of(out), (Sizes{60, 1, 15, 3}));
}

TEST(engine_outputs, an_output_that_is_an_input_is_not_resized) {
  Engine engine;
  const Tensor a = range(3);
  const Tensor b = range(6).view({2, 3});
  EXPECT_THAT(message<ArgumentError>([&] { engine.binary(Op::add, a, b, a); }),
              HasSubstr("output with shape [3] doesn't match the broadcast shape [2, 3]"));
  EXPECT_THAT(elements<float>(a), ElementsAreArray({0, 1, 2}));
}

TEST(engine_outputs, results_are_cast) {
  Engine engine;
  const Tensor ints = tensor_of<std::int32_t>({1, -2, 300});
  const Tensor wide = new_tensor({3}, DType::f64);
  engine.binary(Op::add, ints, ints, wide);
  EXPECT_THAT(elements<double>(wide), ElementsAreArray({2, -4, 600}));
  const Tensor narrow = new_tensor({3}, DType::u8);  // narrowing and signed -> unsigned are allowed
  engine.binary(Op::add, ints, ints, narrow);
  EXPECT_THAT(elements<std::uint8_t>(narrow), ElementsAreArray({2, 252, 88}));
  const Tensor floats = new_tensor({3}, DType::f16);
  engine.binary(Op::div, ints, ints, floats);
  EXPECT_EQ(convert<float>(get<f16>(floats, 2)), 1.0f);
}

TEST(engine_outputs, forbidden_casts_leave_the_output_alone) {
  Engine engine;
  const Tensor floats = range(3);
  const Tensor ints = tensor_of<std::int32_t>({7, 8, 9});
  for (int repeat = 0; repeat < 2; ++repeat)
    EXPECT_THAT(message<ArgumentError>([&] { engine.binary(Op::add, floats, floats, ints); }),
                HasSubstr("can't be cast to the desired output type"));
  EXPECT_THAT(elements<std::int32_t>(ints), ElementsAreArray({7, 8, 9}));
  const Tensor wrong_size = new_tensor({5}, DType::boolean);
  message<ArgumentError>([&] { engine.binary(Op::add, ints, ints, wrong_size); });
  EXPECT_EQ(sizes_of(wrong_size), Sizes{5});
  const Tensor complex = tensor_of<c64>({c64(1, 2)});
  message<ArgumentError>([&] { engine.unary(Op::neg, complex, floats); });
  EXPECT_THAT(elements<float>(floats), ElementsAreArray({0, 1, 2}));
}

TEST(engine_outputs, a_call_that_cannot_be_compiled_resizes_nothing) {
  Engine engine(EngineOptions{"xbyak", Numerics::standard, 0});
  Expr sum(tensor_of<c128>({c128(1, 2), c128(3, 4)}));
  for (int i = 0; i < 40; ++i) sum = sum + Expr(tensor_of<c128>({c128(1, 2)}));
  const Tensor out = new_tensor({5}, DType::c128);
  EXPECT_THAT(message<UnsupportedError>([&] { engine.eval(sum, out); }),
              HasSubstr("xbyak: 84 parts of operands are more than 64"));
  EXPECT_EQ(sizes_of(out), Sizes{5});
  EXPECT_EQ(strides_of(out), Sizes{1});
}

TEST(engine_outputs, borrowed_memory_cannot_grow) {
  Engine engine;
  std::vector<float> memory(4, 7);
  const Sizes sizes{4};
  const Tensor out = from_blob(memory.data(), IntSpan(sizes), DType::f32);
  EXPECT_THAT(message<ArgumentError>([&] { engine.unary(Op::neg, range(9), out); }),
              HasSubstr("not resizable"));
  EXPECT_EQ(sizes_of(out), sizes);
  EXPECT_THAT(memory, ElementsAreArray({7, 7, 7, 7}));
}

TEST(engine_outputs, in_place) {
  Engine engine;
  const Tensor a = range(100);
  for (int repeat = 1; repeat <= 3; ++repeat) {
    engine.binary(Op::add, a, a, a);
    for (std::int64_t i = 0; i < 100; ++i) EXPECT_EQ(get<float>(a, i), std::ldexp(i, repeat));
  }
  const Tensor same = a.view({100});  // another handle on the same elements
  engine.unary(Op::neg, same, a);
  EXPECT_EQ(get<float>(a, 99), -99.0f * 8);
}

TEST(engine_outputs, dense_partial_overlap_is_refused) {
  Engine engine;
  const Tensor x = range(10);
  const Tensor before = engine.clone(x);
  const Tensor out = x.slice(0, 1, 9);
  for (int repeat = 0; repeat < 2; ++repeat)
    EXPECT_THAT(message<ArgumentError>([&] { engine.unary(Op::neg, x.slice(0, 0, 8), out); }),
                HasSubstr("unsupported operation: some elements of the input tensor and the "
                          "written-to tensor refer to a single memory location. Please clone() the "
                          "tensor before performing the operation."));
  EXPECT_TRUE(same_tensor(x, before));
}

TEST(engine_outputs, expanded_outputs_are_refused) {
  Engine engine;
  const Tensor out = new_tensor({1}, DType::f32).expand({4});
  EXPECT_THAT(message<ArgumentError>([&] { engine.unary(Op::neg, range(4), out); }),
              HasSubstr("unsupported operation: more than one element of the written-to tensor "
                        "refers to a single memory location. Please clone() the tensor before "
                        "performing the operation."));
}

/// PyTorch computes this wrongly; NumPy gives 2, 6, 10, 14.
TEST(engine_outputs, strided_overlap_reads_before_it_writes) {
  for (const char* backend : {"interp", "xbyak", "auto"}) {
    Engine engine(EngineOptions{backend, Numerics::standard, 0});
    for (int repeat = 0; repeat < 3; ++repeat) {
      const Tensor x = range(10);
      const Tensor out = x.slice(0, 2, 10, 2);
      engine.binary(Op::add, out, x.slice(0, 0, 8, 2), out);
      EXPECT_THAT(elements<float>(x), ElementsAreArray({0, 1, 2, 3, 6, 5, 10, 7, 14, 9}))
          << backend;
    }
    const Tensor grid = range(40).view({8, 5});
    engine.binary(Op::add, grid.slice(1, 1, 3), grid.slice(1, 0, 2), grid.slice(1, 1, 3));
    for (std::int64_t row = 0; row < 8; ++row) {
      const auto first = static_cast<float>(5 * row);
      EXPECT_EQ(get<float>(grid, 5 * row + 1), 2 * first + 1);
      EXPECT_EQ(get<float>(grid, 5 * row + 2), 2 * first + 3);
    }
  }
}

TEST(engine_outputs, long_strided_overlap_in_both_directions) {
  Engine engine;
  for (const std::int64_t shift : {1, 2, 37}) {
    for (const bool up : {true, false}) {
      const std::int64_t count = 1000;
      const Tensor x = range(2 * (count + shift));
      const Tensor low = x.slice(0, 0, 2 * count, 2);
      const Tensor high = x.slice(0, 2 * shift, 2 * (count + shift), 2);
      engine.copy(up ? high : low, up ? low : high);
      for (std::int64_t i = 0; i < count; ++i)
        ASSERT_EQ(get<float>(up ? high : low, i), static_cast<float>(2 * (up ? i : i + shift)));
    }
  }
  const Tensor x = range(101);
  engine.copy(x, x.flip({0}));  // in place, the other way round
  for (std::int64_t i = 0; i < 101; ++i) ASSERT_EQ(get<float>(x, i), static_cast<float>(100 - i));
  // Dense views that lie on each other in another order are PyTorch's partial overlap.
  const Tensor square = range(9 * 9).view({9, 9});
  EXPECT_THROW(engine.copy(square, square.t()), ArgumentError);
}

TEST(engine_outputs, several_results_of_one_pass) {
  Engine engine;
  const Tensor a = range(50);
  const Expr x(a);
  const std::vector<Expr> exprs{x + 1, x < 10, cast(x * 2, DType::i16)};
  const Tensor given = new_tensor({7}, DType::boolean);
  for (int repeat = 0; repeat < 2; ++repeat) {
    const std::vector<Tensor> outs{Tensor(), given, Tensor()};
    const std::vector<Tensor> results = engine.eval(exprs, outs);
    ASSERT_EQ(results.size(), 3u);
    EXPECT_TRUE(results[1].is_same(given));
    EXPECT_EQ(results[0].dtype(), DType::f32);
    EXPECT_EQ(results[2].dtype(), DType::i16);
    for (std::int64_t i = 0; i < 50; ++i) {
      EXPECT_EQ(get<float>(results[0], i), static_cast<float>(i + 1));
      EXPECT_EQ(get<bool>(given, i), i < 10);
      EXPECT_EQ(get<std::int16_t>(results[2], i), 2 * i);
    }
  }
  EXPECT_EQ(engine.stats().kernel_misses, 1u);
}

TEST(engine_outputs, results_that_are_inputs_of_one_another) {
  Engine engine;
  const Tensor a = range(33);
  const Tensor b = range(33, 100);
  const std::vector<Expr> swapped{Expr(b), Expr(a)};
  const std::vector<Tensor> outs{a, b};
  engine.eval(swapped, outs);
  for (std::int64_t i = 0; i < 33; ++i) {
    EXPECT_EQ(get<float>(a, i), static_cast<float>(100 + i));
    EXPECT_EQ(get<float>(b, i), static_cast<float>(i));
  }
  EXPECT_TRUE(engine.eval(std::span<const Expr>()).empty());
  message<ArgumentError>([&] { engine.eval(swapped, std::span(outs.data(), 1)); });
}

TEST(engine_outputs, outputs_that_share_memory_are_refused) {
  Engine engine;
  const Tensor a = range(33);
  const Tensor memory = range(34, 500);
  const std::vector<Expr> exprs{Expr(a) + Expr(1), Expr(a) + Expr(2)};
  const std::vector<Tensor> shifted{memory.narrow(0, 0, 33), memory.narrow(0, 1, 33)};
  const std::vector<Tensor> same{shifted[0], shifted[0]};
  for (const auto& outs : {shifted, same})
    EXPECT_THAT(message<ArgumentError>([&] { engine.eval(exprs, outs); }),
                matchers::HasSubstr("single memory location"));
  for (std::int64_t i = 0; i < 34; ++i)
    EXPECT_EQ(get<float>(memory, i), static_cast<float>(500 + i));
}

TEST(engine_outputs, what_one_of_several_sizes_refuses_leaves_all_outputs_alone) {
  Engine engine;
  const Tensor a = scalar_tensor(1.5);
  const Tensor b = tensor_of<double>({2, 3});
  const std::vector<Tensor> outs{scalar_tensor(7.0), tensor_of<double>({8, 9})};
  for (const bool is_first : {true, false}) {
    const Expr forbidden = cast(is_first ? a : b, DType::c64);  // no f64 without a loss
    const std::vector<Expr> exprs{is_first ? forbidden : Expr(a), is_first ? Expr(b) : forbidden};
    message<ArgumentError>([&] { engine.eval(exprs, outs); });
    EXPECT_EQ(get<double>(outs[0], 0), 7);
    EXPECT_EQ(elements<double>(outs[1]), (std::vector<double>{8, 9}));
  }
}

TEST(engine_outputs, one_of_several_sizes_that_cannot_be_written_leaves_all_outputs_alone) {
  Engine engine;
  std::vector<double> memory{5};
  const Sizes one{1}, two{2};
  const Tensor a = scalar_tensor(1.5), b = tensor_of<double>({2, 3});
  const Tensor unwritable[] = {tensor_of<double>({8, 9}).as_read_only(), zero_tensor(two),
                               from_blob(memory.data(), IntSpan(one), DType::f64)};
  for (const Tensor& refused : unwritable) {
    const Tensor other = scalar_tensor(7.0);
    const std::vector<Expr> exprs{Expr(a), Expr(b)}, swapped{Expr(b), Expr(a)};
    message<ArgumentError>([&] { engine.eval(exprs, std::vector<Tensor>{other, refused}); });
    message<ArgumentError>([&] { engine.eval(swapped, std::vector<Tensor>{refused, other}); });
    message<ArgumentError>([&] { engine.infer(Expr(b), refused); });
    EXPECT_EQ(get<double>(other, 0), 7);
  }
  EXPECT_EQ(get<double>(unwritable[0], 0), 8);
  EXPECT_EQ(memory[0], 5);
}

TEST(engine_outputs, several_sizes_are_not_written_to_one_place) {
  Engine engine;
  const Tensor a = tensor_of<double>({2, 3}), memory = tensor_of<double>({8, 9});
  const std::vector<Expr> exprs{Expr(a) + Expr(1), reduce(Reduction::sum, Expr(a))};
  const std::vector<Tensor> outs{memory, memory.select(0, 1)};
  EXPECT_THAT(message<ArgumentError>([&] { engine.eval(exprs, outs); }),
              HasSubstr("element [] of output 1 and element [1] of output 0"));
  message<ArgumentError>([&] { engine.prepare(exprs, outs); });
  EXPECT_EQ(elements<double>(memory), (std::vector<double>{8, 9}));
}

TEST(engine_outputs, several_are_apart_exactly) {
  Engine engine;
  const Tensor memory = new_tensor({206}, DType::f32), a = zeros({100});
  const Tensor even = memory.slice(0, 0, 200, 2), later = memory.slice(0, 6, 206, 2),
               odd = memory.slice(0, 1, 201, 2), dense = memory.slice(0, 0, 100, 1);
  const std::vector<Expr> exprs{Expr(a) + 1, Expr(a) * 100};
  for (const Tensor& other : {later, dense})
    EXPECT_THAT(message<ArgumentError>([&] {
                  engine.eval(exprs, std::vector<Tensor>{even, other});
                }),
                HasSubstr("of output 0"));
  engine.eval(exprs, std::vector<Tensor>{even, odd});
  EXPECT_EQ(get<float>(memory, 0), 1);
}

TEST(engine_outputs, one_of_several_sizes_is_converted_as_a_copy) {
  Engine engine;
  const Tensor a = tensor_of<std::uint64_t>({7, 8}).neg_view();
  const Tensor spread = new_tensor({8}, DType::f32).slice(0, 0, 8, 4);
  const std::vector<Expr> exprs{Expr(scalar_tensor(1.0F)), Expr(a)};
  engine.eval(exprs, std::vector<Tensor>{Tensor(), spread});
  EXPECT_EQ(elements<float>(spread), (std::vector<float>{-7, -8}));
}

}  // namespace
}  // namespace weft::testing
