// Schema strings: what is read, how it is printed, and what errors point at.
#include "tests/matchers.h"

#include <weft/dispatch.h>

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace weft {
namespace {

using matchers::HasSubstr;

std::string error_of(std::string_view schema) {
  try {
    parse_schema(schema);
  } catch (const ArgumentError& error) {
    return error.what();
  }
  return "no error";
}

// Tensors have no ==, so values are compared by type and text.
std::string shown(const Value& value) {
  return std::to_string(value.index()) + ": " + value_text(value);
}

TEST(DispatchSchema, ReadsWhatItPrints) {
  for (const std::string text : {
           "weft::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
           "weft::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> "
           "Tensor(a!)",
           "weft::nothing() -> ()",
           "a::b(Tensor(a!)[] list, Tensor(b)? maybe) -> Tensor(a!)[]",
           "a::max(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
           "a::to(Tensor self, ScalarType? dtype=None, MemoryFormat? memory_format=preserve) -> "
           "Tensor",
           "a::pool(Tensor self, int[2] kernel, int[2] stride=[1, 2], int[]? dims=None) -> Tensor",
           "a::full(int[] size, float value=-0.5, str mode=\"a \\\"b\\\"\", Device device=cpu) -> "
           "Tensor",
           "a::lists(float[] f=[1.0, 2.5], bool[] b=[True, False], Tensor[] t=[]) -> (int, float)",
           "a::dtype(ScalarType dtype=bf16, float limit=inf, *, Device? where=meta) -> bool",
       }) {
    EXPECT_EQ(parse_schema(text).text(), text);
  }
}

TEST(DispatchSchema, KeepsTheParts) {
  const FunctionSchema schema =
      parse_schema("weft::add.out(Tensor self, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)");
  EXPECT_EQ(schema.name, (OperatorName{"weft", "add", "out"}));
  ASSERT_EQ(schema.arguments.size(), 3u);
  EXPECT_FALSE(schema.arguments[0].is_keyword_only);
  EXPECT_TRUE(schema.arguments[1].is_keyword_only);
  EXPECT_EQ(schema.arguments[1].type, SchemaType{BaseType::scalar});
  EXPECT_EQ(shown(schema.arguments[1].default_value.value()), shown(std::int64_t{1}));
  EXPECT_EQ(schema.arguments[2].alias, (AliasAnnotation{"a", true}));
  EXPECT_EQ(schema.returns.at(0).alias, (AliasAnnotation{"a", true}));
  EXPECT_FALSE(schema.arguments[0].default_value.has_value());
}

TEST(DispatchSchema, DefaultsTakeTheirTypes) {
  const auto default_of = [](const std::string& argument) {
    return parse_schema("a::b(" + argument + ") -> ()").arguments.at(0).default_value.value();
  };
  EXPECT_EQ(shown(default_of("float x=2")), shown(2.0));
  EXPECT_EQ(shown(default_of("float x=1e3")), shown(1000.0));
  EXPECT_EQ(shown(default_of("float x=-inf")), shown(-INFINITY));
  EXPECT_EQ(shown(default_of("int x=-9223372036854775808")), shown(INT64_MIN));
  EXPECT_EQ(shown(default_of("int[3] x=7")), shown(std::vector<std::int64_t>{7, 7, 7}));
  EXPECT_EQ(shown(default_of("int? x=None")), shown(Value()));
  EXPECT_EQ(shown(default_of("str x='it\\'s'")), shown(std::string("it's")));
  EXPECT_EQ(shown(default_of("MemoryFormat x=channels_last_3d")),
            shown(MemoryFormat::channels_last_3d));
  EXPECT_EQ(shown(default_of("MemoryFormat x=contiguous_format")), shown(MemoryFormat::contiguous));
  EXPECT_EQ(shown(default_of("Device x=cuda")), shown(Device{DeviceType::cuda}));
  EXPECT_EQ(shown(default_of("Scalar x=0.5")), shown(0.5));
}

TEST(DispatchSchema, ErrorsPointAtThePlace) {
  EXPECT_EQ(error_of("a::b(Tensr x) -> ()"),
            "schema, column 6: there is no type 'Tensr'\n"
            "  a::b(Tensr x) -> ()\n"
            "       ^");
  struct Case {
    std::string schema, message;
    int column;
  };
  for (const Case& wrong : std::vector<Case>{
           {"", "expected the operator's namespace", 1},
           {"add(Tensor x) -> Tensor", "expected '::' and the operator's name", 4},
           {"a::b.(Tensor x) -> Tensor", "expected the overload's name", 6},
           {"a::b Tensor x", "expected '('", 6},
           {"a::b(Tensor) -> ()", "expected the argument's name", 12},
           {"a::b(Tensor x", "expected ')'", 14},
           {"a::b(Tensor x)", "expected '->'", 15},
           {"a::b(Tensor x) ->", "expected a type", 18},
           {"a::b(Tensor x) -> Tensor y", "expected the end", 26},
           {"a::b(Tensor x, int x) -> ()", "a second argument with the name 'x'", 16},
           {"a::b(int x=1, int y) -> ()", "an argument without default follows one with default",
            15},
           {"a::b(Tensor x, *) -> ()", "expected an argument after '*'", 17},
           {"a::b(*, int x, *, int y) -> ()", "only one '*' may part the arguments", 16},
           {"a::b(Scalar[] x) -> ()", "there are no lists of Scalar", 12},
           {"a::b(int?[] x) -> ()", "lists of optionals and lists of lists are not supported", 10},
           {"a::b(int[65] x) -> ()", "a list has from 0 to 64 elements", 10},
           {"a::b(int x=None) -> ()", "this is no default for int", 12},
           {"a::b(int x=1.5) -> ()", "this is no default for int", 12},
           {"a::b(int x=99999999999999999999) -> ()", "this number does not fit into 64 bits", 12},
           {"a::b(int[2] x=[1]) -> ()", "this is no default for int[2]", 15},
           {"a::b(ScalarType x=f31) -> ()", "'f31' is no value of ScalarType", 19},
           {"a::b(str x=\"abc) -> ()", "this string has no end", 12},
           {"a::b(Tensor(a x) -> ()", "expected ')'", 15},
       }) {
    const std::string error = error_of(wrong.schema);
    EXPECT_THAT(error,
                HasSubstr("schema, column " + std::to_string(wrong.column) + ": " + wrong.message))
        << wrong.schema << "\n"
        << error;
  }
}

// Cut, doubled and replaced characters: an ArgumentError or a schema that reads back, never worse.
TEST(DispatchSchema, SurvivesDamagedText) {
  const std::string whole =
      "weft::pool.out(Tensor(a!)[] x, int[2] k=[1, 2], *, float? p=1e-3, str s='q') -> (Tensor v)";
  std::mt19937 random(7);
  for (int round = 0; round < 20'000; ++round) {
    std::string text = whole;
    for (int edits = static_cast<int>(random() % 3); edits >= 0; --edits) {
      const std::size_t at = random() % text.size();
      switch (random() % 3) {
        case 0: text.erase(at, 1 + random() % 4); break;
        case 1: text.insert(at, 1, text[random() % text.size()]); break;
        default: text[at] = static_cast<char>(random() % 256); break;
      }
      if (text.empty()) text.push_back('x');
    }
    try {
      const std::string printed = parse_schema(text).text();
      EXPECT_EQ(parse_schema(printed).text(), printed) << text;
    } catch (const ArgumentError&) {
    }
  }
}

TEST(DispatchSchema, KernelIsCheckedAgainstIt) {
  Registry registry;
  const Registration schema =
      registry.def("a::f(Tensor x, int[2] dims, float p) -> Tensor", SourceLine{"ops.cpp", 12});
  const auto error_of_kernel = [&](auto kernel) -> std::string {
    try {
      const Registration impl =
          registry.impl("a::f", DispatchKey::cpu, KernelFunction::typed(kernel), {"cpu.cpp", 34});
    } catch (const ArgumentError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(error_of_kernel([](const Tensor& x, IntSpan, double) { return x; }), "no error");
  EXPECT_EQ(error_of_kernel([](Tensor x, const std::vector<std::int64_t>&, double) { return x; }),
            "no error");
  const std::string error = error_of_kernel([](const Tensor& x, IntSpan, bool) { return x; });
  EXPECT_THAT(error, HasSubstr("expected schema: a::f(Tensor x, int[2] dims, float p) -> Tensor\n"
                               "    registered at ops.cpp:12"));
  EXPECT_THAT(error, HasSubstr("inferred schema: (Tensor _0, int[] _1, bool _2) -> Tensor\n"
                               "    registered at cpu.cpp:34"));
  EXPECT_THAT(error, HasSubstr("reason: Type mismatch in argument 3 (p): float vs bool."));
  EXPECT_THAT(error_of_kernel([](const Tensor& x) { return x; }),
              HasSubstr("reason: The number of arguments is different. 3 vs 1."));
  EXPECT_THAT(error_of_kernel([](const Tensor&, IntSpan, double) { return true; }),
              HasSubstr("reason: Type mismatch in return 1: Tensor vs bool."));
}

TEST(DispatchSchema, IsCheckedAgainstEarlierKernels) {
  Registry registry;
  const Registration impl = registry.impl(
      "a::f", DispatchKey::cpu, KernelFunction::typed([](const Tensor&, std::optional<DType>) {}),
      {"cpu.cpp", 34});
  EXPECT_THROW(registry.def("a::f(Tensor x, ScalarType dtype) -> ()").reset(), ArgumentError);
  EXPECT_FALSE(registry.find("a::f").has_value());
  const Registration schema = registry.def("a::f(Tensor x, ScalarType? dtype) -> ()");
  EXPECT_TRUE(registry.find("a::f").has_value());
}

TEST(DispatchSchema, EveryTypeHasACppCounterpart) {
  Registry registry;
  Library library(registry, LibraryKind::definitions, "a");
  library.def(
      "all(Tensor a, Tensor? b, Tensor[] c, int d, int? e, int[] f, int[]? g, float h, bool i, "
      "str j, Scalar k, Scalar? l, ScalarType m, MemoryFormat? n, Device o, bool[] p, float[] q) "
      "-> (Tensor, Tensor[], int, str, Scalar, float[])",
      [](const Tensor& a, const std::optional<Tensor>& b, std::span<const Tensor> c, std::int64_t d,
         std::optional<std::int64_t> e, IntSpan f, std::optional<IntSpan> g, double h, bool i,
         std::string_view j, const Scalar& k, const std::optional<Scalar>& l, DType m,
         std::optional<MemoryFormat> n, Device o, const std::vector<bool>& p,
         std::span<const double> q) {
        EXPECT_TRUE(!b && !e && !l && g && g->size() == 1 && h == 3.0 && i && n && p.at(1));
        EXPECT_EQ(m, DType::c64);
        EXPECT_EQ(o.type, DeviceType::meta);
        return std::tuple(a, std::vector<Tensor>(c.begin(), c.end()),
                          d + static_cast<std::int64_t>(f.size()), std::string(j), k,
                          std::vector<double>(q.begin(), q.end()));
      });
  const Tensor a = empty({2}), c = empty({3});
  ValueStack stack{std::string("kept below"),
                   a,
                   Value(),
                   std::vector<Tensor>{c, a},
                   std::int64_t{40},
                   Value(),
                   std::vector<std::int64_t>{1, 2},
                   std::vector<std::int64_t>{9},
                   std::int64_t{3},
                   true,
                   std::string("text"),
                   2.5,
                   Value(),
                   DType::c64,
                   MemoryFormat::preserve,
                   Device{DeviceType::meta},
                   std::vector<bool>{false, true},
                   std::vector<double>{0.5}};
  registry.op("a::all").call_boxed(stack);
  ASSERT_EQ(stack.size(), 7u);
  EXPECT_EQ(shown(stack[0]), shown(std::string("kept below")));
  EXPECT_TRUE(std::get<Tensor>(stack[1]).is_same(a));
  EXPECT_TRUE(std::get<std::vector<Tensor>>(stack[2]).at(0).is_same(c));
  EXPECT_EQ(shown(stack[3]), shown(std::int64_t{42}));
  EXPECT_EQ(shown(stack[4]), shown(std::string("text")));
  EXPECT_EQ(shown(stack[5]), shown(Scalar(2.5)));
  EXPECT_EQ(shown(stack[6]), shown(std::vector<double>{0.5}));
}

}  // namespace
}  // namespace weft
