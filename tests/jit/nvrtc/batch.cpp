#include "tests/jit/nvrtc/batch.h"

#include "ir/pass.h"
#include "ir/text.h"
#include "ir/verifier.h"
#include "jit/interp/backend.h"
#include "jit/nvrtc/body.h"
#include "runtime/cuda_libraries.h"
#include "tests/temporary_folder.h"

#include <weft/convert.h>

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <regex>
#include <set>
#include <sstream>

namespace weft::jit::test {
namespace {

namespace fs = std::filesystem;

/// The distance of two numbers in units in the last place of the second, or of `larger`.
double ulp_distance(double a, double b, double larger, DType dtype) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  if (!std::isfinite(a) || !std::isfinite(b)) return HUGE_VAL;
  const double places = std::isfinite(larger) ? std::max(std::fabs(b), std::fabs(larger)) : b;
  const int digits = dtype == DType::f32 ? 24 : 53, lowest = dtype == DType::f32 ? -149 : -1074;
  const int exponent = places == 0 ? lowest : std::max(std::ilogb(places) - digits + 1, lowest);
  return std::ldexp(std::fabs(a - b), -exponent);
}

/// `other`: the other part of the complex number that `b` is of, or `b`.
bool is_close(const std::byte* a, const std::byte* b, const std::byte* other, DType dtype,
              const Tolerance& tolerance) {
  if (tolerance.ulp == 0) return false;
  return visit_dtype(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    if constexpr (std::is_floating_point_v<T>) {
      T x, y, z;
      std::memcpy(&x, a, sizeof x);
      std::memcpy(&y, b, sizeof y);
      std::memcpy(&z, other, sizeof z);
      if (tolerance.compares_zeros && x == 0 && y == 0) return std::signbit(x) == std::signbit(y);
      return ulp_distance(x, y, z, dtype_of<T>) <= tolerance.ulp;
    } else {
      return false;
    }
  });
}

/// Few numbers, some calls of which have infinities or NaN among them.
double few_number(std::mt19937_64& random, bool has_edges) {
  constexpr double few[] = {0, -0.0, 1, -1, 2, -2, 2.5, -2.5, 1, 2, -1, 0};
  constexpr double edges[] = {HUGE_VAL, -HUGE_VAL, NAN};
  if (has_edges && random() % 64 == 0) return edges[random() % std::size(edges)];
  return few[random() % std::size(few)];
}

/// Random numbers between -1 and 1, of integers as many as there are; or few of them.
void fill_with_numbers(std::vector<std::byte>& bytes, DType dtype, bool are_few,
                       std::mt19937_64& random) {
  const bool has_edges = random() % 2 == 0;
  visit_dtype(real_dtype(dtype), [&](auto type) {
    using T = typename decltype(type)::type;
    for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
      const bool is_whole = is_integral(dtype_of<T>);
      const T value = are_few ? convert<T>(few_number(random, has_edges))
                      : is_whole
                          ? convert<T>(static_cast<std::int64_t>(random()))
                          : convert<T>(std::uniform_real_distribution<double>(-1, 1)(random));
      std::memcpy(bytes.data() + at, &value, sizeof value);
    }
  });
}

}  // namespace

void* build_library(const std::string& source) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "kernels.cpp", library = folder.path() / "kernels.so",
                 log = folder.path() / "log";
  std::ofstream(file) << source;
  const std::string command = detail::concat(WEFT_SHIM_COMPILER, " -o ", library.string(), " ",
                                             file.string(), " > ", log.string(), " 2>&1");
  if (std::system(command.c_str()) != 0) {
    std::ifstream text(log);
    ADD_FAILURE() << std::string(std::istreambuf_iterator<char>(text), {}).substr(0, 4000);
    return nullptr;
  }
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) ADD_FAILURE() << dlerror();
  return handle;
}

void NvrtcBatch::add(const ir::Kernel& kernel, const std::vector<std::int64_t>& extents,
                     const std::vector<std::vector<std::int64_t>>& stride_bytes,
                     Tolerance tolerance, std::size_t shift_bytes, std::uint64_t max_blocks) {
  Case one;
  one.kernel = kernel;
  one.call = make_call(kernel, extents, stride_bytes, random_);
  if (numbers_ != Numbers::ordinary)
    for (std::size_t k = 0; k < kernel.operands.size(); ++k)
      fill_with_numbers(one.call.operands[k].bytes, kernel.operands[k].dtype,
                        numbers_ == Numbers::few, random_);
  one.tolerance = tolerance;
  append(std::move(one), shift_bytes, max_blocks);
}

void NvrtcBatch::add_in_place(const ir::Kernel& kernel, const std::vector<std::int64_t>& extents,
                              const std::vector<std::vector<std::int64_t>>& stride_bytes,
                              std::size_t input) {
  ASSERT_EQ(stride_bytes[input], stride_bytes[0]);
  ASSERT_EQ(kernel.operands[input].dtype, kernel.operands[0].dtype);
  Case one;
  one.kernel = kernel;
  one.call = make_call(kernel, extents, stride_bytes, random_);
  one.call.operands[0] = one.call.operands[input];
  one.in_place = input;
  append(std::move(one), 0, 3);
}

void NvrtcBatch::append(Case one, std::size_t shift_bytes, std::uint64_t max_blocks) {
  one.prepared = nvrtc::prepare(one.kernel);
  ASSERT_EQ(one.prepared.refusal, "") << ir::print(one.kernel);
  ASSERT_TRUE(ir::violations(one.prepared.kernel).empty()) << ir::print(one.prepared.kernel);
  nvrtc::Nest nest;
  nest.extents = one.call.extents;
  for (std::size_t loop = 0; loop < nest.extents.size(); ++loop)
    for (const OperandData& operand : one.call.operands)
      nest.stride_bytes.push_back(operand.stride_bytes[loop]);
  nest.params = one.call.params;
  for (OperandData& operand : one.call.operands) {
    // Bases that are aligned unless they are not to be: the lower side starts with a page.
    const bool is_upper = (operand.bytes.size() + shift_bytes) % 16 == 0 && random_() % 2 == 0;
    operand.bytes.insert(operand.bytes.begin(), shift_bytes, std::byte{0});
    operand.first += shift_bytes;
    if (one.in_place != 0 && one.memory.size() == one.in_place) {
      one.memory.push_back(one.memory[0]);
    } else {
      one.memory.push_back(std::make_shared<GuardedBytes>(
          operand.bytes.size(), is_upper ? GuardedBytes::Side::upper : GuardedBytes::Side::lower));
      std::ranges::copy(operand.bytes, one.memory.back()->data());
    }
    nest.base.push_back(
        operand.place_address != 0
            ? operand.place_address
            : reinterpret_cast<std::uint64_t>(one.memory.back()->data() + operand.first));
  }
  nest = nvrtc::nest_of_parts(one.prepared, nest);
  one.variant = nvrtc::choose_variant(one.prepared.kernel, nest);
  if (uses_64_bit_indices_) one.variant.index_bits = 64;
  one.planned = nvrtc::plan_launches(one.prepared.kernel, one.variant, nest, max_blocks);
  std::string source = nvrtc::emit_source(one.prepared.kernel, one.variant);
  one.source = static_cast<std::size_t>(std::ranges::find(sources_, source) - sources_.begin());
  if (one.source == sources_.size()) sources_.push_back(std::move(source));
  cases_.push_back(std::move(one));
}

std::vector<std::size_t> NvrtcBatch::all_sources() const {
  std::vector<std::size_t> all(sources_.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::string NvrtcBatch::unit_of(std::span<const std::size_t> indices, bool for_cpu) const {
  std::string text;
  if (for_cpu)
    text =
        "#include \"tests/jit/nvrtc/cuda_shim.h\"\n"
        "extern \"C\" void set_recorder(void (*record)(const shim::Access&)) { shim::record = "
        "record; }\n";
  for (const std::size_t i : indices) {
    text += detail::concat("#define weft_kernel weft_kernel_", i, "\nnamespace k", i, " {\n",
                           sources_[i], "}\n#undef weft_kernel\n");
    if (!for_cpu) continue;
    const bool has_barriers = sources_[i].find("__syncthreads") != std::string::npos;
    text += detail::concat("static void call_", i, "(const void* args) { k", i, "::weft_kernel_", i,
                           "(*(const k", i, "::Args*)args); }\nextern \"C\" const char* run_", i,
                           "(const void* args, unsigned blocks) { return shim::launch(call_", i,
                           ", args, blocks, ", has_barriers ? "true" : "false",
                           "); }\nextern \"C\" unsigned long args_bytes_", i,
                           "() { return sizeof(k", i, "::Args); }\n");
  }
  return text;
}

void NvrtcBatch::check(const Case& one) {
  ir::Kernel kernel = one.kernel;
  ir::run_pipeline(kernel);
  const auto interpreted = interp_backend().compile(kernel, {});
  const auto expected = jit::test::run(*interpreted, one.call, GuardedBytes::Side::upper);
  for (std::size_t k = 0; k < expected.size(); ++k) {
    if (one.in_place != 0 && k == one.in_place) continue;  // is the output by now
    ASSERT_EQ(one.memory[k]->damage(), std::nullopt) << "operand " << k << "\n" << source_of(one);
    const DType whole = kernel.operands[k].dtype, dtype = real_dtype(whole);  // of a part
    const std::size_t itemsize = itemsize_bytes(dtype);
    // The bytes before the base that moves it stay as they are.
    const std::size_t start = one.call.operands[k].first % itemsize;
    for (std::size_t at = start; at + itemsize <= expected[k].size(); at += itemsize) {
      const std::byte* const a = one.memory[k]->data() + at;
      const std::byte* const e = expected[k].data() + at;
      if (std::memcmp(a, e, itemsize) == 0) continue;
      if (!one.tolerance.compares_nans && is_nan_element(a, dtype) && is_nan_element(e, dtype))
        continue;
      const bool is_first = (at - start) / itemsize % 2 == 0, is_alone = dtype == whole;
      const std::byte* const other = is_alone ? e : is_first ? e + itemsize : e - itemsize;
      if (is_close(a, e, other, dtype, one.tolerance)) continue;
      Bits a_bits, e_bits;
      std::memcpy(&a_bits, a, itemsize);
      std::memcpy(&e_bits, e, itemsize);
      FAIL() << "operand " << k << ", part " << at / itemsize << ": " << std::hex << a_bits.lo
             << ", the interpreter says " << e_bits.lo << "\n"
             << source_of(one);
    }
  }
}

void NvrtcBatch::run() {
  void* const library = build_library(unit_of(all_sources(), true));
  ASSERT_NE(library, nullptr);
  for (std::size_t i = 0; i < cases_.size(); ++i) {
    const auto find = [&](const char* name) {
      return dlsym(library, (name + std::to_string(cases_[i].source)).c_str());
    };
    const auto run = reinterpret_cast<const char* (*)(const void*, unsigned)>(find("run_"));
    const auto args_bytes = reinterpret_cast<unsigned long (*)()>(find("args_bytes_"));
    const nvrtc::Launches& planned = cases_[i].planned;
    const GuardedBytes partials(planned.temporary_bytes, GuardedBytes::Side::upper);
    for (nvrtc::Launch launch : planned.launches) {
      ASSERT_EQ(args_bytes(), 8 * launch.arguments.size()) << source_of(cases_[i]);
      if (ir::is_reduction(cases_[i].kernel) || ir::is_scan(cases_[i].kernel))
        nvrtc::place_partials(launch, cases_[i].prepared.operands.size(),
                              reinterpret_cast<std::uint64_t>(partials.data()),
                              launch.arguments.data());
      const char* const wrong = run(launch.arguments.data(), static_cast<unsigned>(launch.blocks));
      EXPECT_EQ(wrong, nullptr) << wrong << "\n" << source_of(cases_[i]);
    }
    check(cases_[i]);
    if (testing::Test::HasFatalFailure()) return;
  }
}

std::vector<std::vector<Access>> NvrtcBatch::record() {
  void* const library = build_library(unit_of(all_sources(), true));
  if (library == nullptr) return {};
  static std::vector<Access> accesses;
  const auto set_recorder =
      reinterpret_cast<void (*)(void (*)(const Access&))>(dlsym(library, "set_recorder"));
  set_recorder([](const Access& access) { accesses.push_back(access); });
  std::vector<std::vector<Access>> all;
  for (const Case& one : cases_) {
    accesses.clear();
    const auto run = reinterpret_cast<const char* (*)(const void*, unsigned)>(
        dlsym(library, ("run_" + std::to_string(one.source)).c_str()));
    run(one.planned.launches[0].arguments.data(), 1);
    all.push_back(accesses);
  }
  return all;
}

bool NvrtcBatch::is_global(std::size_t index, const void* address) const {
  const auto* const byte = static_cast<const std::byte*>(address);
  const Case& one = cases_[index];
  for (std::size_t k = 0; k < one.memory.size(); ++k) {
    const std::byte* const begin = one.memory[k]->data();
    if (byte >= begin && byte < begin + one.call.operands[k].bytes.size()) return true;
  }
  return false;
}

/// Whether `source` has a line that is not among `lines`, which it adds to them, but for the
/// numbers in it: those of values, parameters and places.
static bool adds_lines(const std::string& source, std::set<std::string>& lines) {
  bool is_new = false;
  std::istringstream text(source);
  for (std::string line; std::getline(text, line);) {
    std::string plain;
    bool is_in_word = false;  // f32 is a word, and no number
    for (const char c : line) {
      const bool is_digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
      const bool is_name_of_value = plain.ends_with(" v") || plain.ends_with("(v");
      if (!is_digit || (is_in_word && !is_name_of_value)) plain += c;
      is_in_word = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    }
    is_new |= lines.insert(std::move(plain)).second;
  }
  return is_new;
}

void NvrtcBatch::run_and_compile() {
  if (testing::Test::HasFatalFailure()) return;
  run();
  compile_with_nvrtc("sm_90");
}

void NvrtcBatch::compile_with_nvrtc(const std::string& arch, unsigned long most_stack_bytes) {
  const Nvrtc& library = weft::nvrtc();
  if (!library.library.reason.empty()) GTEST_SKIP() << "NVRTC: " << library.library.reason;
  const auto text_of = [&](std::size_t i) {
    return detail::concat(arch, " ", most_stack_bytes, " ", sources_[i]);
  };
  static std::set<std::string> passed;  ///< what compiled as it should
  std::vector<std::size_t> fresh;
  for (const std::size_t i : all_sources())
    if (!passed.contains(text_of(i))) fresh.push_back(i);
  // Each takes a tenth of a second: of hundreds that differ little, some of those that say
  // something new.
  std::set<std::string> lines;
  std::erase_if(fresh, [&](std::size_t i) { return !adds_lines(sources_[i], lines); });
  constexpr std::size_t most = 24;
  if (const std::size_t each = (fresh.size() + most - 1) / most; each > 1) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < fresh.size(); i += each) fresh[kept++] = fresh[i];
    fresh.resize(kept);
  }
  constexpr std::size_t at_once = 25;  // of 100 together each takes a quarter longer
  for (std::size_t first = 0; first < fresh.size(); first += at_once) {
    const std::size_t count = std::min(at_once, fresh.size() - first);
    const nvrtc::DeviceCode code = nvrtc::compile_source(
        library, unit_of({fresh.data() + first, count}, false), {.arch = arch, .is_verbose = true});
    EXPECT_FALSE(code.cubin.empty());
    static const std::regex kernel(
        "Function properties for (\\w+)\\s[^\\n]*?(\\d+) bytes stack frame, (\\d+) bytes spill "
        "stores, (\\d+) bytes spill loads");
    std::size_t num_kernels = 0;
    for (std::sregex_iterator it(code.log.begin(), code.log.end(), kernel), end; it != end; ++it) {
      const std::smatch& match = *it;
      if (match[1].str().find("weft_kernel") == std::string::npos) continue;
      ++num_kernels;
      const std::string& source = sources_[std::stoul(match[1].str().substr(12))];
      EXPECT_LE(std::stoul(match[2]), most_stack_bytes) << match[0] << "\n" << source;
      EXPECT_EQ(match[3].str() + " " + match[4].str(), "0 0") << match[0] << "\n" << source;
    }
    EXPECT_EQ(num_kernels, count) << code.log;
    if (testing::Test::HasFailure()) continue;
    for (std::size_t i = first; i < first + count; ++i) passed.insert(text_of(fresh[i]));
  }
}

namespace {

ir::ValueId append(ir::Kernel& kernel, Op op, DType dtype, std::uint8_t operand,
                   const std::vector<ir::ValueId>& args) {
  ir::Inst inst{.op = op, .dtype = dtype, .operand = operand};
  std::ranges::copy(args, inst.args.begin());
  kernel.body.push_back(inst);
  return static_cast<ir::ValueId>(kernel.body.size() - 1);
}

}  // namespace

ir::Kernel cuda_kernel(Op op, DType dtype) {
  return cuda_kernel(
      op, dtype, 1,
      std::vector<std::vector<ir::StrideClass>>(static_cast<std::size_t>(info(op).arity) + 1, {1}));
}

ir::Kernel cuda_kernel(Op op, DType dtype, std::size_t num_loops,
                       const std::vector<std::vector<ir::StrideClass>>& classes) {
  ir::Kernel kernel;
  kernel.loops.resize(num_loops);
  kernel.operands.resize(1);
  std::vector<ir::ValueId> args;
  for (int i = 0; i < info(op).arity; ++i) {
    const DType loaded = i == 0 && info(op).result == ResultRule::select ? DType::boolean : dtype;
    const auto k = static_cast<std::size_t>(i) + 1;
    kernel.operands.push_back({loaded, ir::Role::input, classes[k]});
    args.push_back(append(kernel, Op::load, loaded, static_cast<std::uint8_t>(k), {}));
  }
  const ir::ValueId value = append(kernel, op, dtype, 0, args);
  const DType result = result_dtype(kernel.body[value]);
  kernel.operands[0] = {result, ir::Role::output, classes[0]};
  append(kernel, Op::store, result, 0, {value});
  return kernel;
}

ir::Kernel cuda_copy(DType from, DType to, const std::vector<ir::StrideClass>& from_classes,
                     const std::vector<ir::StrideClass>& to_classes) {
  ir::Kernel kernel;
  kernel.loops.resize(to_classes.size());
  kernel.operands = {{to, ir::Role::output, to_classes}, {from, ir::Role::input, from_classes}};
  ir::ValueId value = append(kernel, Op::load, from, 1, {});
  if (from != to) value = append(kernel, Op::cast, to, 0, {value});
  append(kernel, Op::store, to, 0, {value});
  return kernel;
}

std::vector<std::int64_t> dense_strides(const std::vector<std::int64_t>& extents,
                                        const std::vector<std::size_t>& order, DType dtype,
                                        std::int64_t padding) {
  std::vector<std::int64_t> strides(extents.size());
  auto stride = static_cast<std::int64_t>(itemsize_bytes(dtype));
  for (std::size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = stride;
    stride *= extents[order[i]] + (i + 1 == order.size() ? padding : 0);
  }
  return strides;
}

}  // namespace weft::jit::test
