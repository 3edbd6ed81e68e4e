// The vector functions that generated code calls give the bits of the scalar ones that the oracle
// calls.
#include "ir/vector_math.h"

#include "ir/evaluate.h"
#include "tests/ir/random_kernel.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace weft::ir {
namespace {

TEST(VectorMath, NamesExist) {
  EXPECT_EQ(sleef_symbol(Op::library_exp, DType::f32, 16), "Sleef_finz_expf16_u10avx512f");
  EXPECT_EQ(sleef_symbol(Op::library_log1p, DType::f64, 4), "Sleef_finz_log1pd4_u10avx2");
  EXPECT_EQ(sleef_symbol(Op::library_exp, DType::f32, 3), "");
  EXPECT_EQ(sleef_symbol(Op::add, DType::f32, 16), "");
#if defined(__x86_64__)
  const std::vector<std::size_t> vectors_bytes{16, 32, 64};
#else
  const std::vector<std::size_t> vectors_bytes;  // what calls them is made for x86-64
#endif
  for (const Op op : all_ops()) {
    if (sleef_stem(op).empty()) continue;
    for (const DType dtype : {DType::f32, DType::f64}) {
      std::vector<std::size_t> sizes_bytes = vectors_bytes;
      sizes_bytes.push_back(itemsize_bytes(dtype));
      for (const std::size_t bytes : sizes_bytes) {
        const std::string symbol =
            sleef_symbol(op, dtype, static_cast<int>(bytes / itemsize_bytes(dtype)));
        EXPECT_NE(dlsym(RTLD_DEFAULT, symbol.c_str()), nullptr) << symbol;
      }
    }
  }
}

#if defined(__x86_64__)
template <class Vector, class Element>
[[gnu::target("avx512f")]] void call_avx512(void* function, const Element* x, Element* out) {
  Vector vector;
  std::memcpy(&vector, x, sizeof vector);
  vector = reinterpret_cast<Vector (*)(Vector)>(function)(vector);
  std::memcpy(out, &vector, sizeof vector);
}
template <class Vector, class Element>
[[gnu::target("avx2")]] void call_avx2(void* function, const Element* x, Element* out) {
  Vector vector;
  std::memcpy(&vector, x, sizeof vector);
  vector = reinterpret_cast<Vector (*)(Vector)>(function)(vector);
  std::memcpy(out, &vector, sizeof vector);
}

template <class Element, class Vector, class Call>
void compare_with_scalar(Call call) {
  constexpr std::size_t lanes = sizeof(Vector) / sizeof(Element);
  constexpr DType dtype = dtype_of<Element>;
  Random random(31);
  for (const Op op : all_ops()) {
    const std::string symbol = sleef_symbol(op, dtype, lanes);
    if (symbol.empty()) continue;
    void* const function = const_cast<void*>(sleef_function(symbol));
    ASSERT_NE(function, nullptr) << symbol;
    for (int round = 0; round < 2000; ++round) {
      std::array<Element, lanes> x, scalar, vector;
      for (Element& value : x) {
        const Bits bits = random_bits(random, dtype);
        std::memcpy(&value, &bits, sizeof value);
        if (round % 2 == 0)
          value = static_cast<Element>(static_cast<double>(random()) * 0x1p-60 - 8);
      }
      const void* args[] = {x.data()};
      block_function(op, dtype)(scalar.data(), args, lanes);
      call(function, x.data(), vector.data());
      for (std::size_t i = 0; i < lanes; ++i) {
        const bool same = std::memcmp(&scalar[i], &vector[i], sizeof(Element)) == 0 ||
                          (scalar[i] != scalar[i] && vector[i] != vector[i]);
        ASSERT_TRUE(same) << symbol << '(' << x[i] << ") = " << vector[i] << ", scalar "
                          << scalar[i];
      }
    }
  }
}

TEST(VectorMath, SameBitsAsScalar) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
    GTEST_SKIP() << "needs AVX2";
  compare_with_scalar<float, __m128>(call_avx2<__m128, float>);
  compare_with_scalar<double, __m128d>(call_avx2<__m128d, double>);
  compare_with_scalar<float, __m256>(call_avx2<__m256, float>);
  compare_with_scalar<double, __m256d>(call_avx2<__m256d, double>);
  if (!__builtin_cpu_supports("avx512f")) return;
  compare_with_scalar<float, __m512>(call_avx512<__m512, float>);
  compare_with_scalar<double, __m512d>(call_avx512<__m512d, double>);
}
#endif

}  // namespace
}  // namespace weft::ir
