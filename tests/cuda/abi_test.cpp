// weft's own declarations of the CUDA driver against cuda.h, where there is one.
#include "runtime/cuda_driver.h"

#include <gtest/gtest.h>

#include <type_traits>

#if __has_include(<cuda.h>)
#include <cuda.h>
#define HAS_CUDA_HEADER 1
#endif

namespace weft {
namespace {

#if HAS_CUDA_HEADER

// The header's declarations must not depend on macros that pick versions.
static_assert(CUDA_VERSION >= 11020);

/// Whether a value of one type is passed as one of the other is: pointers as pointers, numbers as
/// numbers of the same size.
template <class A, class B>
constexpr bool is_passed_alike() {
  if constexpr (std::is_pointer_v<A> || std::is_pointer_v<B>) {
    return std::is_pointer_v<A> && std::is_pointer_v<B>;
  } else {
    constexpr bool are_integers =
        (std::is_integral_v<A> || std::is_enum_v<A>)&&(std::is_integral_v<B> || std::is_enum_v<B>);
    return (are_integers && sizeof(A) == sizeof(B)) || std::is_same_v<A, B>;
  }
}

template <class Ours, class Theirs>
struct IsCompatible : std::false_type {};
template <class OurResult, class... Ours, class TheirResult, class... Theirs>
requires(sizeof...(Ours) ==
         sizeof...(Theirs)) struct IsCompatible<OurResult (*)(Ours...), TheirResult (*)(Theirs...)>
    : std::bool_constant<is_passed_alike<OurResult, TheirResult>() &&
                         (is_passed_alike<Ours, Theirs>() && ...)> {
};

static_assert(!IsCompatible<int (*)(unsigned), int (*)(std::size_t)>::value);
static_assert(!IsCompatible<int (*)(unsigned), int (*)(unsigned, unsigned)>::value);
static_assert(!IsCompatible<int (*)(void*), int (*)(CUdeviceptr)>::value);

#define WEFT_CUDA_FUNCTION(name, symbol, arguments)                                 \
  static_assert(IsCompatible<decltype(CudaDriver::name), decltype(&symbol)>::value, \
                #symbol " is declared otherwise in cuda.h");
#include "runtime/cuda_driver.def"

#define WEFT_CUDA_CONSTANT(name, number, theirs) \
  static_assert(number == static_cast<int>(theirs), #theirs " is another number in cuda.h");
#include "runtime/cuda_constants.def"

static_assert(sizeof(CudaAddress) == sizeof(CUdeviceptr));

TEST(CudaAbi, PerThreadStreamIsTwo) {
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(CU_STREAM_PER_THREAD), 2u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(CU_STREAM_LEGACY), 1u);
}

#else

TEST(CudaAbi, NeedsTheHeader) { GTEST_SKIP() << "no cuda.h to compare with"; }

#endif

}  // namespace
}  // namespace weft
