#include "bench/support.h"

#include <weft/error.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <list>
#include <span>

namespace weft::bench {
namespace {

/// "4x64x64" -> {4, 64, 64}; "1e4" -> {10000}.
std::vector<std::int64_t> parse_size(const std::string& size) {
  if (size.find('x') == std::string::npos)
    return {static_cast<std::int64_t>(std::strtod(size.c_str(), nullptr))};
  std::vector<std::int64_t> numbers;
  for (const char* place = size.c_str(); *place != '\0'; place += *place == 'x' ? 1 : 0) {
    char* end = nullptr;
    numbers.push_back(std::strtoll(place, &end, 10));
    place = end;
  }
  return numbers;
}

/// Reads `#1*4*#2` at `place`; `#` without a number is all of `size`.
std::string expand_term(const std::string& layout, std::size_t& place,
                        std::span<const std::int64_t> size) {
  const auto is_digit = [&] {
    return place < layout.size() && layout[place] >= '0' && layout[place] <= '9';
  };
  if (++place; !is_digit()) {
    std::string all;
    for (std::int64_t number : size) {
      if (!all.empty()) all += ',';
      all += std::to_string(number);
    }
    return all;
  }
  std::int64_t product = 1;
  for (bool is_index = true;; ++place) {
    if (!is_index && place < layout.size() && layout[place] == '#') is_index = true, ++place;
    std::int64_t number = 0;
    for (; is_digit(); ++place) number = number * 10 + (layout[place] - '0');
    product *= is_index ? size[static_cast<std::size_t>(number)] : number;
    is_index = false;
    if (place >= layout.size() || layout[place] != '*') return std::to_string(product);
  }
}

std::string expand(const std::string& layout, std::span<const std::int64_t> size) {
  std::string expanded;
  for (std::size_t place = 0; place < layout.size();) {
    if (layout[place] == '#')
      expanded += expand_term(layout, place, size);
    else
      expanded += layout[place++];
  }
  return expanded;
}

Tensor with_bytes(const std::string& layout) {
  const Tensor shape = parse_layout(layout);
  return empty_strided(shape.sizes(), shape.strides(),
                       {shape.dtype(), {}, MemoryFormat::contiguous});
}

std::int64_t size_bytes(const Tensor& tensor) {
  return tensor.numel() * static_cast<std::int64_t>(itemsize_bytes(tensor.dtype()));
}

std::unique_ptr<Case> make_case(const Workload& workload, const std::string& size) {
  const std::vector<std::int64_t> numbers = parse_size(size);
  std::vector<std::pair<std::string, Tensor>> names;
  std::vector<Tensor> inputs;
  std::int64_t bytes_read = 0;
  for (const std::string& layout : workload.inputs) {
    inputs.push_back(with_bytes(expand(layout, numbers)));
    fill(inputs.back(), workload.positive, inputs.size() - 1);
    bytes_read += size_bytes(inputs.back());
    names.emplace_back(std::string(1, static_cast<char>('a' + names.size())), inputs.back());
  }
  const Tensor out = with_bytes(expand(workload.out, numbers));
  Case made{
      workload.name, inputs,          out, parse_expr(workload.expression, names), empty_like(out),
      bytes_read,    size_bytes(out), {}};
  engine_with("interp").eval(made.expr, made.expected);
  return std::make_unique<Case>(std::move(made));
}

std::uint64_t word_at(const Tensor& tensor, std::int64_t index, std::size_t size_bytes) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, tensor.data() + static_cast<std::size_t>(index) * size_bytes, size_bytes);
  return bits;
}

bool is_close(double actual, double expected) {
  if (std::isnan(expected)) return std::isnan(actual);
  if (!std::isfinite(expected)) return actual == expected;
  return std::fabs(actual - expected) <= 4e-6 * std::max(1.0, std::fabs(expected));
}

/// Numbers of the same place, or parts of complex ones, which may differ by a rounding.
bool is_close(const Tensor& actual, const Tensor& expected, std::int64_t index) {
  const DType dtype = real_dtype(actual.dtype());
  if (dtype == DType::f32)
    return is_close(reinterpret_cast<const float*>(actual.data())[index],
                    reinterpret_cast<const float*>(expected.data())[index]);
  if (dtype == DType::f64)
    return is_close(reinterpret_cast<const double*>(actual.data())[index],
                    reinterpret_cast<const double*>(expected.data())[index]);
  const std::size_t size = itemsize_bytes(dtype);
  const std::uint64_t a = word_at(actual, index, size), b = word_at(expected, index, size);
  return a == b || (is_floating(dtype) && std::max(a, b) - std::min(a, b) <= 1);
}

}  // namespace

Case& find_case(const Workload& workload, const std::string& size) {
  constexpr std::int64_t kept_bytes = std::int64_t{3} << 30;
  static std::list<std::pair<std::string, std::unique_ptr<Case>>> recent;  // newest first
  const std::string key = workload.name + "/" + size;
  const auto found = std::ranges::find(recent, key, [](const auto& entry) { return entry.first; });
  if (found != recent.end()) {
    recent.splice(recent.begin(), recent, found);
    return *recent.front().second;
  }
  recent.emplace_front(key, make_case(workload, size));
  std::int64_t total_bytes = 0;
  for (auto entry = recent.begin(); entry != recent.end();) {
    total_bytes += entry->second->bytes_read + 2 * entry->second->bytes_written;
    entry = total_bytes > kept_bytes && entry != recent.begin() ? recent.erase(entry)
                                                                : std::next(entry);
  }
  return *recent.front().second;
}

bool is_right(const Tensor& actual, const Tensor& expected, Check check) {
  if (check == Check::none) return true;
  if (std::memcmp(actual.data(), expected.data(), static_cast<std::size_t>(size_bytes(expected))) ==
      0)
    return true;
  if (check == Check::bits) return false;
  const std::int64_t num_parts = is_complex(expected.dtype()) ? 2 : 1;
  for (std::int64_t i = 0; i < num_parts * expected.numel(); ++i)
    if (!is_close(actual, expected, i)) return false;
  return true;
}

static bool wrong_result = false;
void note_wrong_result() { wrong_result = true; }
bool has_wrong_result() { return wrong_result; }

/// Bools that never repeat: a processor learns a period of thousands, and a branch on them would
/// cost nothing.
static void fill_randomly(const Tensor& tensor, std::size_t operand) {
  std::uint64_t state = 0x9e3779b97f4a7c15 * (2 * operand + 1);
  std::byte* to = tensor.storage()->data();
  for (std::size_t i = 0; i < tensor.storage()->size_bytes(); ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    to[i] = static_cast<std::byte>(state >> 40 & 1);
  }
}

void fill(const Tensor& tensor, bool positive, std::size_t operand) {
  if (is_boolean(tensor.dtype())) return fill_randomly(tensor, operand);
  constexpr std::size_t period = 4099;  // prime, so that no two rows are the same
  const DType dtype = real_dtype(tensor.dtype());
  const std::size_t item = itemsize_bytes(dtype), storage = tensor.storage()->size_bytes();
  std::vector<std::byte> pattern(period * item);
  auto state = static_cast<std::uint32_t>(12345 + 7919 * operand);
  for (std::size_t i = 0; i < period; ++i) {
    state = state * 1664525U + 1013904223U;
    const double unit = static_cast<double>(state >> 8) / double{1 << 24};
    const Bits bits = is_integer(dtype) ? Scalar(static_cast<int>(unit * 100)).bits(dtype)
                      : positive        ? Scalar(8 * unit + 0.125).bits(dtype)
                                        : Scalar(16 * unit - 8).bits(dtype);
    std::memcpy(pattern.data() + i * item, &bits, item);
  }
  std::byte* to = tensor.storage()->data();
  for (std::size_t done = 0; done < storage; done += pattern.size())
    std::memcpy(to + done, pattern.data(), std::min(pattern.size(), storage - done));
}

void poison(const Tensor& tensor) {
  std::memset(tensor.data(), 0xA5, static_cast<std::size_t>(size_bytes(tensor)));
}

Engine& engine_with(const std::string& backend) {
  static std::map<std::string, std::unique_ptr<Engine>> engines;
  std::unique_ptr<Engine>& engine = engines[backend];
  if (!engine) engine = std::make_unique<Engine>(EngineOptions{backend, Numerics::standard, 1});
  return *engine;
}

std::optional<double> number_of_child(const std::string& option) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  std::FILE* const output = popen(("'" + program + "' " + option).c_str(), "r");
  if (output == nullptr) return {};
  double number = 0;
  const bool is_read = std::fscanf(output, "%lf", &number) == 1;
  if (pclose(output) != 0 || !is_read) return {};
  return number;
}

bool has_backend(const std::string& backend) {
  const Tensor layout =
      unbacked(std::vector<std::int64_t>{16}, std::vector<std::int64_t>{1}, DType::f32);
  try {
    ExplainOptions options;
    options.backend = backend;
    engine_with(backend).explain(Expr(layout) + Expr(layout), {}, options);
    return true;
  } catch (const UnsupportedError&) {
    return false;
  }
}

}  // namespace weft::bench
