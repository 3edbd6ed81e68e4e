#include "tests/jit/calls.h"

#include <weft/convert.h>
#include <weft/error.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <new>

namespace weft::jit::test {
namespace {

constexpr std::byte pattern{0xa5};
constexpr std::uint64_t first_place = 1000;

std::size_t round_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// Values at the edges of some type or some operator.
constexpr double edges[] = {0.0,
                            -0.0,
                            1.0,
                            -1.0,
                            0.5,
                            -0.5,
                            1.5,
                            -1.5,
                            2.0,
                            2.5,
                            -2.5,
                            3.0,
                            7.0,
                            8.0,
                            15.0,
                            16.0,
                            31.0,
                            32.0,
                            33.0,
                            63.0,
                            64.0,
                            100.0,
                            127.0,
                            128.0,
                            -128.0,
                            -129.0,
                            255.0,
                            256.0,
                            448.0,
                            464.0,
                            480.0,
                            32767.0,
                            -32768.0,
                            32768.0,
                            57344.0,
                            61440.0,
                            65504.0,
                            65519.0,
                            65520.0,
                            65535.0,
                            2147483647.0,
                            2147483648.0,
                            -2147483648.0,
                            -2147483648.5,
                            -2147483649.0,
                            4294967295.0,
                            4294967296.0,
                            9223372036854775807.0,
                            -9223372036854775808.0,
                            1e19,
                            18446744073709551616.0,
                            1e30,
                            -1e30,
                            1e300,
                            1e-3,
                            1e-8,
                            1e-40,
                            1e-310,
                            0.9999999,
                            88.7,
                            -103.9,
                            709.7,
                            -745.1,
                            0.1,
                            -0.3,
                            3.14159274,
                            1e5};

template <class T>
T sample(std::mt19937_64& random) {
  if constexpr (std::is_same_v<T, c32>) {
    return {sample<f16>(random), sample<f16>(random)};
  } else if constexpr (is_complex(dtype_of<T>)) {
    return {sample<typename T::value_type>(random), sample<typename T::value_type>(random)};
  } else if (random() % 3 == 0) {
    std::uint64_t bits = random();
    T value;
    std::memcpy(&value, &bits, sizeof value);
    if constexpr (std::is_same_v<T, bool>) value = (bits & 1) != 0;
    return value;
  } else {
    switch (random() % 12) {
      case 0: return convert<T>(std::numeric_limits<double>::infinity());
      case 1: return convert<T>(-std::numeric_limits<double>::infinity());
      case 2: return convert<T>(std::numeric_limits<double>::quiet_NaN());
      case 3: return convert<T>(std::numeric_limits<std::int64_t>::min());
      case 4: return convert<T>(std::numeric_limits<std::uint64_t>::max());
      case 5: return convert<T>(std::uniform_real_distribution<double>(-4, 4)(random));
      case 6: return convert<T>(std::uniform_real_distribution<double>(-200, 200)(random));
      default: return convert<T>(edges[random() % std::size(edges)]);
    }
  }
}

/// Strides of one operand: the innermost by its class, the outer ones beyond what the inner ones
/// span.
std::vector<std::int64_t> make_strides(const ir::Operand& operand,
                                       const std::vector<std::int64_t>& extents,
                                       std::mt19937_64& random) {
  const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(operand.dtype));
  std::vector<std::int64_t> strides(extents.size());
  std::int64_t span = 1;
  for (std::size_t loop = extents.size(); loop-- > 0;) {
    const ir::StrideClass known = operand.strides[loop];
    std::int64_t items = known;
    if (known == ir::stride_any)
      items = loop + 1 == extents.size() ? (random() % 2 == 0 ? 5 : -3)
                                         : (span + 2) * (random() % 2 == 0 ? 1 : -1);
    span += (extents[loop] - 1) * std::abs(items);
    strides[loop] = items * itemsize;
  }
  return strides;
}

}  // namespace

bool is_nan_element(const std::byte* bytes, DType dtype) {
  return visit_dtype(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    if constexpr (is_floating(dtype_of<T>)) {
      T value;
      std::memcpy(&value, bytes, sizeof value);
      return std::isnan(convert<double>(value));
    } else {
      return false;
    }
  });
}

bool same_elements(std::span<const std::byte> a, std::span<const std::byte> b, DType dtype) {
  if (std::ranges::equal(a, b)) return true;
  const DType part = real_dtype(dtype);
  const std::size_t itemsize = itemsize_bytes(part);
  if (!is_floating(part) || a.size() != b.size()) return false;
  for (std::size_t at = 0; at + itemsize <= a.size(); at += itemsize)
    if (std::memcmp(&a[at], &b[at], itemsize) != 0 &&
        !(is_nan_element(&a[at], part) && is_nan_element(&b[at], part)))
      return false;
  return true;
}

GuardedBytes::GuardedBytes(std::size_t size_bytes, Side side) : size_bytes_(size_bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t inside = round_up(std::max<std::size_t>(size_bytes, 1), page);
  mapping_bytes_ = inside + 2 * page;
  void* mapping = mmap(nullptr, mapping_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  mapping_ = static_cast<std::byte*>(mapping);
  if (mprotect(mapping_ + page, inside, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  std::fill_n(mapping_ + page, inside, pattern);
  data_ = mapping_ + page + (side == Side::upper ? inside - size_bytes : 0);
}

GuardedBytes::~GuardedBytes() { munmap(mapping_, mapping_bytes_); }

std::optional<std::ptrdiff_t> GuardedBytes::damage() const {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::byte* const begin = mapping_ + page;
  const std::byte* const end = mapping_ + mapping_bytes_ - page;
  const auto is_damaged = [](std::byte byte) { return byte != pattern; };
  const std::byte* const first = data_;
  const std::byte* const below = std::find_if(begin, first, is_damaged);
  if (below != first) return below - first;
  const std::byte* const above = std::find_if(first + size_bytes_, end, is_damaged);
  if (above != end) return above - first;
  return {};
}

void fill_with_samples(std::vector<std::byte>& bytes, DType dtype, std::mt19937_64& random) {
  visit_dtype(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
      const T value = sample<T>(random);
      std::memcpy(bytes.data() + at, &value, sizeof value);
    }
  });
}

void fill_with_ordinary(std::vector<std::byte>& bytes, DType dtype, std::mt19937_64& random) {
  fill_with_samples(bytes, dtype, random);
  if (is_integral(dtype)) return;
  const DType part = real_dtype(dtype);
  const std::size_t itemsize = itemsize_bytes(part);
  for (std::size_t at = 0; at + itemsize <= bytes.size(); at += itemsize) {
    if (random() % 2048 == 0) continue;
    const Bits bits = Scalar(static_cast<double>(random() % 2001) / 777 - 1.3).bits(part);
    std::memcpy(bytes.data() + at, &bits, itemsize);
  }
}

Call make_call(const ir::Kernel& kernel, const std::vector<std::int64_t>& extents,
               std::mt19937_64& random) {
  std::vector<std::vector<std::int64_t>> strides;
  for (const ir::Operand& operand : kernel.operands)
    strides.push_back(make_strides(operand, extents, random));
  return make_call(kernel, extents, strides, random);
}

Call make_call(const ir::Kernel& kernel, const std::vector<std::int64_t>& extents,
               const std::vector<std::vector<std::int64_t>>& stride_bytes,
               std::mt19937_64& random) {
  const auto fill = ir::is_reduction(kernel) ? fill_with_ordinary : fill_with_samples;
  Call call;
  call.extents = extents;
  for (const ir::Operand& operand : kernel.operands) {
    OperandData data;
    data.stride_bytes = stride_bytes[call.operands.size()];
    std::int64_t lowest = 0, highest = 0;
    for (std::size_t loop = 0; loop < extents.size(); ++loop) {
      const std::int64_t reach = data.stride_bytes[loop] * (extents[loop] - 1);
      (reach < 0 ? lowest : highest) += reach;
    }
    data.first = static_cast<std::size_t>(-lowest);
    if (operand.role == ir::Role::place) {
      data.place_address = first_place * 8 + data.first;
      data.first = 0;
      call.operands.push_back(std::move(data));
      continue;
    }
    data.bytes.resize(static_cast<std::size_t>(highest - lowest) + itemsize_bytes(operand.dtype));
    fill(data.bytes, operand.dtype, random);
    call.operands.push_back(std::move(data));
  }
  for (DType dtype : kernel.params) {
    std::vector<std::byte> bytes(itemsize_bytes(dtype));
    fill(bytes, dtype, random);
    Bits bits;
    std::memcpy(&bits, bytes.data(), bytes.size());
    call.params.push_back(bits);
  }
  return call;
}

std::vector<std::vector<std::byte>> run(const CodeObject& code, const Call& call,
                                        GuardedBytes::Side side) {
  std::vector<std::unique_ptr<GuardedBytes>> memory;
  std::vector<std::byte*> bases;
  std::vector<std::int64_t> strides;
  for (const OperandData& operand : call.operands) {
    memory.push_back(std::make_unique<GuardedBytes>(operand.bytes.size(), side));
    std::copy(operand.bytes.begin(), operand.bytes.end(), memory.back()->data());
    bases.push_back(operand.place_address != 0 ? reinterpret_cast<std::byte*>(operand.place_address)
                                               : memory.back()->data() + operand.first);
  }
  for (std::size_t loop = 0; loop < call.extents.size(); ++loop)
    for (const OperandData& operand : call.operands) strides.push_back(operand.stride_bytes[loop]);
  const KernelArgs args{bases.data(), call.extents.data(), strides.data(), call.params.data(),
                        code.context};
  code.entry(&args);
  for (std::size_t i = 0; i < memory.size(); ++i)
    if (const auto at = memory[i]->damage())
      throw InternalError(detail::concat(code.backend, " wrote to byte ", *at, " of operand ", i,
                                         ", which has ", call.operands[i].bytes.size()));
  std::vector<std::vector<std::byte>> results;
  for (std::size_t i = 0; i < memory.size(); ++i)
    results.emplace_back(memory[i]->data(), memory[i]->data() + call.operands[i].bytes.size());
  return results;
}

}  // namespace weft::jit::test
