#include "tests/jit/xbyak/harness.h"

#include "ir/pass.h"
#include "ir/text.h"
#include "jit/backend.h"
#include "jit/interp/backend.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <limits>
#include <optional>
#include <stdexcept>

namespace weft::jit::testing {
namespace {

constexpr std::size_t region_bytes = std::size_t{1} << 20;
constexpr std::byte pattern{0xa5};
/// How far around an operand each run looks; the whole regions are looked at once a kernel.
constexpr std::size_t near_bytes = std::size_t{16} << 10;

/// Accessible bytes between two pages that are not, filled with a pattern while nothing is in them.
class GuardedRegion {
 public:
  GuardedRegion() {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* mapped =
        mmap(nullptr, region_bytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::runtime_error("mmap failed");
    begin_ = static_cast<std::byte*>(mapped) + page;
    if (mprotect(begin_, region_bytes, PROT_READ | PROT_WRITE) != 0)
      throw std::runtime_error("mprotect failed");
    clear(begin_, region_bytes);
  }
  std::byte* begin() const { return begin_; }
  std::byte* end() const { return begin_ + region_bytes; }
  static void clear(std::byte* from, std::size_t size_bytes) {
    std::memset(from, static_cast<int>(pattern), size_bytes);
  }
  /// Whether `count` bytes from `from` on are the pattern.
  static bool is_clear(const std::byte* from, std::size_t count) {
    // By memcmp, since tests are not optimised.
    return count == 0 || (*from == pattern && std::memcmp(from, from + 1, count - 1) == 0);
  }
  bool is_clear() const { return is_clear(begin_, region_bytes); }

 private:
  std::byte* begin_;  // kept until the process ends
};

GuardedRegion& region(std::size_t index) {
  static std::array<std::optional<GuardedRegion>, 66> regions;
  std::optional<GuardedRegion>& one = regions.at(index);
  return one ? *one : one.emplace();
}

template <class T>
T interesting_float(Random& random) {
  using Limits = std::numeric_limits<T>;
  static constexpr std::array<T, 28> special = {T(0),
                                                T(-0.0),
                                                T(1),
                                                T(-1),
                                                T(0.5),
                                                T(-0.5),
                                                T(1.5),
                                                T(2.5),
                                                T(-2.5),
                                                T(127.7),
                                                T(-128.9),
                                                T(255.5),
                                                T(256),
                                                T(65535.5),
                                                T(-32769),
                                                T(2147483648.0),
                                                T(-2147483648.0),
                                                T(4294967296.0),
                                                T(9223372036854775808.0),
                                                T(-9223372036854775808.0),
                                                T(18446744073709551616.0),
                                                T(1e30),
                                                Limits::infinity(),
                                                -Limits::infinity(),
                                                Limits::quiet_NaN(),
                                                Limits::max(),
                                                Limits::denorm_min(),
                                                Limits::min()};
  switch (random() % 4) {
    case 0: return special[random() % special.size()];
    case 1: return static_cast<T>(static_cast<std::int64_t>(random() % 2001) - 1000) / T(8);
    case 2: return static_cast<T>(static_cast<std::int64_t>(random()) >> (random() % 64));
    default: break;
  }
  using Word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return std::bit_cast<T>(static_cast<Word>(random()));
}

/// Where a float has its exponent; all of it in a NaN.
std::uint64_t exponent_bits(DType dtype) {
  switch (dtype) {
    case DType::f8e4m3fn: return 0x78;
    case DType::f8e5m2: return 0x7c;
    case DType::bf16: return 0x7f80;
    case DType::f16: return 0x7c00;
    case DType::f32: return 0x7f800000;
    case DType::f64: return 0x7ff0000000000000;
    default: return 0;
  }
}

std::uint64_t interesting_bits(DType dtype, Random& random) {
  if (is_floating(dtype) && random() % 8 == 0) return random() | exponent_bits(dtype);
  if (dtype == DType::f32) return std::bit_cast<std::uint32_t>(interesting_float<float>(random));
  if (dtype == DType::f64) return std::bit_cast<std::uint64_t>(interesting_float<double>(random));
  if (dtype == DType::boolean) return random() & 1;
  if (is_integer(dtype) && random() % 2 == 0)
    return random() % 40 - 8;  // shift counts, and equal pairs
  return random();
}

/// An element; of a complex dtype, of two such parts.
Bits interesting_element(DType dtype, Random& random) {
  const std::size_t part_bytes = itemsize_bytes(real_dtype(dtype));
  Bits element;
  for (std::size_t at = 0; at < itemsize_bytes(dtype); at += part_bytes) {
    const std::uint64_t part = interesting_bits(real_dtype(dtype), random);
    std::memcpy(reinterpret_cast<std::byte*>(&element) + at, &part, part_bytes);
  }
  return element;
}

bool is_nan(DType dtype, const std::byte* at) {
  const auto read = [&](auto value) {
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  switch (dtype) {
    case DType::f8e4m3fn: return (read(std::uint8_t{}) & 0x7f) == 0x7f;
    case DType::f8e5m2: return (read(std::uint8_t{}) & 0x7f) > 0x7c;
    case DType::bf16: return (read(std::uint16_t{}) & 0x7fff) > 0x7f80;
    case DType::f16: return (read(std::uint16_t{}) & 0x7fff) > 0x7c00;
    case DType::f32: return (read(std::uint32_t{}) & 0x7fffffff) > 0x7f800000;
    case DType::f64:
      return (read(std::uint64_t{}) & ~(std::uint64_t{1} << 63)) > 0x7ff0000000000000;
    default: return false;
  }
}

/// One operand's place in a region: strides, and where the elements begin and end.
struct Layout {
  std::vector<std::int64_t> stride_bytes;
  std::int64_t first = 0;  ///< offset of the first element from the lowest byte
  std::int64_t size = 0;
};

Layout lay_out(const ir::Operand& operand, std::size_t index, const Run& run) {
  const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(operand.dtype));
  Layout layout;
  layout.stride_bytes.resize(run.extents.size());
  std::int64_t low = 0, high = itemsize;
  for (std::size_t loop = run.extents.size(); loop-- > 0;) {
    const ir::StrideClass known = operand.strides[loop];
    const bool is_inner = loop + 1 == run.extents.size();
    std::int64_t stride = known * itemsize;
    if (known == ir::stride_any)
      stride = is_inner ? run.open_stride * itemsize : high - low + (random() % 3);
    if (!run.stride_bytes.empty()) stride = run.stride_bytes[index][loop];
    layout.stride_bytes[loop] = stride;
    const std::int64_t reach = (run.extents[loop] - 1) * stride;
    (reach < 0 ? low : high) += reach;
  }
  layout.first = -low;
  layout.size = high - low;
  return layout;
}

/// `expected` with the NaNs of `actual` where both have one.
std::vector<std::byte> with_nans_of(const std::byte* actual, std::vector<std::byte> expected,
                                    DType dtype, const Layout& layout,
                                    const std::vector<std::int64_t>& extents) {
  const DType part = real_dtype(dtype);
  const auto part_bytes = static_cast<std::int64_t>(itemsize_bytes(part));
  const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(dtype));
  std::vector<std::int64_t> index(extents.size());
  for (std::int64_t at = layout.first;;) {
    for (std::int64_t byte = at; byte < at + itemsize; byte += part_bytes)
      if (is_nan(part, actual + byte) && is_nan(part, expected.data() + byte))
        std::copy_n(actual + byte, part_bytes, expected.data() + byte);
    std::size_t loop = extents.size();
    while (loop > 0 && ++index[loop - 1] == extents[loop - 1]) {
      at -= (extents[loop - 1] - 1) * layout.stride_bytes[loop - 1];
      index[--loop] = 0;
    }
    if (loop == 0) return expected;
    at += layout.stride_bytes[loop - 1];
  }
}

/// An operand's elements in a region, which is cleared of them in the end.
class Placed {
 public:
  Placed(const GuardedRegion& region, std::int64_t size_bytes, Placement placement)
      : region_(region),
        size_bytes_(static_cast<std::size_t>(size_bytes)),
        low_(placement == Placement::at_end ? region.end() - size_bytes : region.begin()) {}
  ~Placed() { GuardedRegion::clear(low_, size_bytes_); }
  Placed(const Placed&) = delete;
  Placed& operator=(const Placed&) = delete;
  std::byte* low() const { return low_; }
  std::vector<std::byte> bytes() const { return {low_, low_ + size_bytes_}; }
  /// Whether the bytes around it are as they were.
  bool is_alone() const {
    const std::byte* const high = low_ + size_bytes_;
    const auto below = std::min(near_bytes, static_cast<std::size_t>(low_ - region_.begin()));
    const auto above = std::min(near_bytes, static_cast<std::size_t>(region_.end() - high));
    return GuardedRegion::is_clear(low_ - below, below) && GuardedRegion::is_clear(high, above);
  }

 private:
  const GuardedRegion& region_;
  std::size_t size_bytes_;
  std::byte* low_;
};

struct Launch {
  std::vector<std::byte*> base;
  std::vector<std::int64_t> strides;
};

}  // namespace

std::uint64_t seed() {
  const char* text = std::getenv("WEFT_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 1;
}

Target target_for(Isa isa) {
  Target target;
  target.features = target_features(isa);
  return target;
}

std::vector<Isa> runnable_isas() {
  std::vector<Isa> result;
  for (const Isa isa : {Isa::avx2, Isa::avx512})
    if (host_features().isa >= isa) result.push_back(isa);
  return result;
}

ir::Kernel make_kernel(const std::vector<DType>& dtypes, std::size_t num_loops,
                       ir::StrideClass stride) {
  ir::Kernel kernel;
  for (const DType dtype : dtypes) {
    const ir::Role role = kernel.operands.empty() ? ir::Role::output : ir::Role::input;
    kernel.operands.push_back({dtype, role, std::vector<ir::StrideClass>(num_loops, stride)});
  }
  kernel.loops.resize(num_loops);
  return kernel;
}

ir::Kernel op_kernel(Op op, DType dtype, DType result) {
  const int arity = info(op).arity;
  std::vector<DType> dtypes(static_cast<std::size_t>(arity) + 1, dtype);
  dtypes[0] = result;
  if (info(op).result == ResultRule::select) dtypes[1] = DType::boolean;
  ir::Kernel kernel = make_kernel(dtypes, 1);
  ir::Inst inst{.op = op, .dtype = dtype};
  for (int i = 0; i < arity; ++i) {
    const auto operand = static_cast<std::size_t>(i) + 1;
    inst.args[static_cast<std::size_t>(i)] = static_cast<ir::ValueId>(kernel.body.size());
    kernel.body.push_back(
        {.op = Op::load, .dtype = dtypes[operand], .operand = static_cast<std::uint8_t>(operand)});
  }
  kernel.body.push_back(inst);
  const auto computed = static_cast<ir::ValueId>(kernel.body.size() - 1);
  kernel.body.push_back({.op = Op::store,
                         .dtype = result,
                         .operand = 0,
                         .args = {computed, ir::no_value, ir::no_value, ir::no_value}});
  return kernel;
}

ir::Kernel cast_kernel(DType from, DType to) {
  ir::Kernel kernel = make_kernel({to, from}, 1);
  const auto none = ir::no_value;
  kernel.body = {{.op = Op::load, .dtype = from, .operand = 1},
                 {.op = Op::cast, .dtype = to, .args = {0, none, none, none}},
                 {.op = Op::store, .dtype = to, .operand = 0, .args = {1, none, none, none}}};
  return kernel;
}

ir::Kernel scheduled(ir::Kernel kernel, Isa isa) {
  kernel.vector_bytes = target_for(isa).vector_bytes();
  ir::run_pipeline(kernel);
  return kernel;
}

Comparison::Comparison(const ir::Kernel& kernel, const Target& target, std::string_view name)
    : kernel_(kernel), isa_(target.features.isa) {
  const Backend* const backend = find_backend(name);
  refusal_ = backend == nullptr ? unavailable_reason(name) : backend->refuses(kernel, target);
  if (!refusal_.empty()) return;
  compiled_ = backend->compile(kernel, target);
  interpreted_ = interp_backend().compile(kernel, target);
}

Comparison::~Comparison() {
  for (std::size_t i = 0; refusal_.empty() && i < kernel_.operands.size(); ++i)
    EXPECT_TRUE(region(i).is_clear())
        << name(isa_) << ": bytes far from operand " << i << " changed\n"
        << ir::print(kernel_);
}

::testing::AssertionResult Comparison::agree(const Run& run, Random& random) const {
  if (!refusal_.empty()) return ::testing::AssertionFailure() << "refused: " << refusal_;
  const std::size_t num_operands = kernel_.operands.size();
  Launch launch{std::vector<std::byte*>(num_operands),
                std::vector<std::int64_t>(run.extents.size() * num_operands)};
  std::vector<Bits> params;
  for (const DType dtype : kernel_.params) params.push_back(interesting_element(dtype, random));
  std::deque<Placed> placed;
  std::vector<Layout> layouts;
  std::vector<std::vector<std::byte>> expected(num_operands), before(num_operands);
  for (std::size_t i = 0; i < num_operands; ++i) {
    const ir::Operand& operand = kernel_.operands[i];
    const Layout& layout = layouts.emplace_back(lay_out(operand, i, run));
    if (layout.size > static_cast<std::int64_t>(region_bytes))
      return ::testing::AssertionFailure() << "test too large";
    std::byte* const low = placed.emplace_back(region(i), layout.size, run.placement).low();
    launch.base[i] = low + layout.first;
    for (std::size_t loop = 0; loop < run.extents.size(); ++loop)
      launch.strides[loop * num_operands + i] = layout.stride_bytes[loop];
    const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(operand.dtype));
    for (std::int64_t at = 0; at + itemsize <= layout.size; at += itemsize) {
      const Bits element = interesting_element(operand.dtype, random);
      std::memcpy(low + at, &element, static_cast<std::size_t>(itemsize));
    }
    before[i] = placed[i].bytes();
  }
  const KernelArgs compiled_args{launch.base.data(), run.extents.data(), launch.strides.data(),
                                 params.data(), compiled_->context};
  KernelArgs interpreted_args = compiled_args;
  interpreted_args.context = interpreted_->context;
  interpreted_->entry(&interpreted_args);
  for (std::size_t i = 0; i < num_operands; ++i) {
    expected[i] = placed[i].bytes();
    std::copy(before[i].begin(), before[i].end(), placed[i].low());
  }
  (run.takes_whole_rows ? compiled_->rows : compiled_->entry)(&compiled_args);
  for (std::size_t i = 0; i < num_operands; ++i) {
    if (!placed[i].is_alone())
      return ::testing::AssertionFailure()
             << name(isa_) << ": bytes around operand " << i << " changed\n"
             << ir::print(kernel_);
    const std::byte* const low = placed[i].low();
    if (std::equal(expected[i].begin(), expected[i].end(), low)) continue;
    const DType dtype = kernel_.operands[i].dtype;
    if (!run.compares_nans)
      expected[i] = with_nans_of(low, std::move(expected[i]), dtype, layouts[i], run.extents);
    const auto differs = std::mismatch(expected[i].begin(), expected[i].end(), low).first;
    if (differs == expected[i].end()) continue;
    return ::testing::AssertionFailure()
           << name(isa_) << ": operand " << i << " differs at byte "
           << differs - expected[i].begin() << " of " << expected[i].size() << "; inner extent "
           << run.extents.back() << ", WEFT_SEED=" << seed() << "\n"
           << ir::print(kernel_);
  }
  return ::testing::AssertionSuccess();
}

std::vector<std::int64_t> interesting_sizes(const ir::Kernel& kernel) {
  const std::int64_t lanes = kernel.loops.back().lanes;
  const std::int64_t step = lanes * kernel.loops.back().unroll;
  std::vector<std::int64_t> sizes = {
      1,        2,    3,        lanes / 2 + 1, lanes - 1,           lanes, lanes + 1, 2 * lanes,
      step - 1, step, step + 1, 2 * step + 3,  3 * step + lanes + 5};
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  sizes.erase(sizes.begin(),
              std::find_if(sizes.begin(), sizes.end(), [](std::int64_t n) { return n > 0; }));
  return sizes;
}

}  // namespace weft::jit::testing
