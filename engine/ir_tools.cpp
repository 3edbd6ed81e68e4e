#include <weft/ir_tools.h>

#include "engine/tensor/random_elements.h"
#include "ir/limits.h"
#include "ir/pass.h"
#include "ir/text.h"
#include "ir/verifier.h"
#include "jit/backend.h"

#include <weft/error.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <set>

namespace weft {
namespace {

constexpr std::int64_t max_iterations = std::int64_t{1} << 22;

ir::Kernel read_kernel(std::string_view text) {
  ir::Kernel kernel = ir::parse(text);
  const std::vector<std::string> found = ir::violations(kernel);
  std::string message;
  for (const std::string& violation : found)
    message.append(message.empty() ? "" : "; ").append(violation);
  WEFT_CHECK(found.empty(), ArgumentError, "the kernel is not valid: ", message);
  return kernel;
}

const ir::Pass& find_pass(std::string_view name) {
  const auto pass = std::ranges::find(ir::pipeline(), name, &ir::Pass::name);
  if (pass != ir::pipeline().end()) return *pass;
  std::string known = "all";
  for (const std::string& other : ir_pass_names()) known += ", " + other;
  throw ArgumentError(detail::concat("unknown pass '", name, "'; the passes are ", known));
}

/// An operand in memory of its own.
struct Buffer {
  std::vector<std::byte> bytes;
  std::vector<std::int64_t> strides;  ///< [loop], in elements
  std::int64_t first = 0;             ///< element with all indices 0
  std::size_t itemsize_bytes = 0;

  std::byte* base() { return bytes.data() + static_cast<std::size_t>(first) * itemsize_bytes; }
};

/// Strides that have the operand's classes, and room for what they reach.
Buffer make_buffer(const ir::Operand& operand, std::span<const std::int64_t> extents) {
  Buffer buffer;
  buffer.itemsize_bytes = itemsize_bytes(operand.dtype);
  buffer.strides.resize(extents.size());
  std::int64_t span = 1;  // elements that the loops inside of this one reach
  for (std::size_t loop = extents.size(); loop-- > 0;) {
    const ir::StrideClass given = operand.strides[loop];
    // One more than needed, lest it is one of the constants that have classes of their own.
    const std::int64_t stride =
        given == ir::stride_any ? std::max<std::int64_t>(span, 5) + 1 : given;
    buffer.strides[loop] = stride;
    const std::int64_t reach = std::abs(stride) * (extents[loop] - 1);
    if (stride < 0) buffer.first += reach;
    span += reach;
  }
  buffer.bytes.resize(static_cast<std::size_t>(span) * buffer.itemsize_bytes);
  return buffer;
}

void fill(Buffer& buffer, DType dtype, std::uint64_t seed) {
  const std::size_t count = buffer.bytes.size() / buffer.itemsize_bytes;
  for (std::size_t i = 0; i < count; ++i) {
    const Bits bits = random_element(dtype, seed, i);
    std::memcpy(buffer.bytes.data() + i * buffer.itemsize_bytes, &bits, buffer.itemsize_bytes);
  }
}

/// Calls `visit` with the element of each iteration, in order.
template <class Visit>
void for_each_element(const Buffer& buffer, std::span<const std::int64_t> extents,
                      const Visit& visit) {
  std::vector<std::int64_t> index(extents.size());
  while (true) {
    visit(std::inner_product(index.begin(), index.end(), buffer.strides.begin(), buffer.first));
    std::size_t loop = extents.size();
    while (loop > 0 && ++index[loop - 1] == extents[loop - 1]) index[--loop] = 0;
    if (loop == 0) return;
  }
}

std::vector<std::int64_t> some_extents(std::size_t num_loops) {
  std::vector<std::int64_t> extents(num_loops, 1);
  extents.back() = 37;  // no multiple of a vector
  for (std::size_t i = 2; i <= std::min<std::size_t>(num_loops, 4); ++i) extents[num_loops - i] = 3;
  return extents;
}

void check_extents(const ir::Kernel& kernel, std::span<const std::int64_t> extents) {
  WEFT_CHECK(extents.size() == kernel.loops.size(), ArgumentError, "the kernel has ",
             kernel.loops.size(), " loops, but ", extents.size(),
             extents.size() == 1 ? " extent is given" : " extents are given");
  std::int64_t iterations = 1;
  for (const std::int64_t extent : extents) {
    WEFT_CHECK(extent >= 1, ArgumentError, "an extent is at least 1, not ", extent);
    WEFT_CHECK(extent <= max_iterations / iterations, ArgumentError, "the extents make more than ",
               max_iterations, " iterations");
    iterations *= extent;
  }
}

/// One run of a kernel on data that follows from the seed.
std::vector<Buffer> run_code(const ir::Kernel& kernel, const jit::CodeObject& code,
                             std::span<const std::int64_t> extents, std::uint64_t seed) {
  std::vector<Buffer> buffers;
  buffers.reserve(kernel.operands.size());
  std::vector<std::byte*> base;
  base.reserve(kernel.operands.size());
  for (std::size_t i = 0; i < kernel.operands.size(); ++i) {
    buffers.push_back(make_buffer(kernel.operands[i], extents));
    fill(buffers.back(), kernel.operands[i].dtype, seed + i);
  }
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    // Places are in no memory: the first one counts from the buffer's beginning.
    const bool is_place = kernel.operands[i].role == ir::Role::place;
    const std::ptrdiff_t first_bytes = buffers[i].base() - buffers[i].bytes.data();
    base.push_back(is_place ? reinterpret_cast<std::byte*>(first_bytes) : buffers[i].base());
  }
  std::vector<std::int64_t> stride_bytes;
  for (std::size_t loop = 0; loop < extents.size(); ++loop)
    for (const Buffer& buffer : buffers)
      stride_bytes.push_back(buffer.strides[loop] *
                             static_cast<std::int64_t>(buffer.itemsize_bytes));
  std::vector<Bits> params;
  for (std::size_t i = 0; i < kernel.params.size(); ++i)
    params.push_back(random_element(kernel.params[i], seed + kernel.operands.size(), i));
  const jit::KernelArgs args{base.data(), extents.data(), stride_bytes.data(), params.data(),
                             code.context};
  code.entry(&args);
  return buffers;
}

std::shared_ptr<const jit::CodeObject> compile(const ir::Kernel& kernel,
                                               const std::string& backend) {
  jit::Target target;
  target.features = host_features();
  std::string refusals;
  for (const jit::Backend* candidate : jit::backends()) {
    if (backend != "auto" && candidate->name != backend) continue;
    std::string reason = candidate->refuses(kernel, target);
    if (reason.empty() && candidate->name != "interp" &&
        kernel.vector_bytes > target.vector_bytes())
      reason = detail::concat("the kernel is made for vectors of ", kernel.vector_bytes,
                              " bytes, this machine has ", target.vector_bytes());
    if (reason.empty()) return candidate->compile(kernel, target);
    refusals += detail::concat(refusals.empty() ? "" : "; ", candidate->name, ": ", reason);
  }
  if (refusals.empty()) {
    jit::check_usable(backend);
    refusals = detail::concat(backend, ": kernels are run on the CPU");
  }
  throw UnsupportedError("no backend can compile this kernel; " + refusals);
}

bool is_nan(const Tensor& one) {
  const std::complex<double> value = one.item().as_complex();
  return value.real() != value.real() || value.imag() != value.imag();
}

/// The elements of an output, and where they first differ from `expected`.
Tensor gather(const Buffer& actual, const Buffer& expected, DType dtype,
              std::span<const std::int64_t> extents, std::string& difference, std::size_t operand) {
  Tensor result = empty(extents, TensorOptions{dtype, {}, MemoryFormat::contiguous});
  const Tensor other = empty({}, dtype);
  const Tensor own = empty({}, dtype);
  const std::size_t itemsize = actual.itemsize_bytes;
  std::byte* to = result.data();
  std::int64_t number = 0;
  for_each_element(actual, extents, [&](std::int64_t element) {
    const std::size_t at = static_cast<std::size_t>(element) * itemsize;
    std::memcpy(to, actual.bytes.data() + at, itemsize);
    if (difference.empty() && std::memcmp(to, expected.bytes.data() + at, itemsize) != 0) {
      std::memcpy(own.data(), to, itemsize);
      std::memcpy(other.data(), expected.bytes.data() + at, itemsize);
      if (!is_nan(own) || !is_nan(other))
        difference = detail::concat("element ", number, " of $", operand, " is ", own.item().text(),
                                    ", the interpreter's is ", other.item().text());
    }
    to += itemsize;
    ++number;
  });
  return result;
}

/// The iterations that write another element of an output each: of reduce loops, one.
std::vector<std::int64_t> output_extents(const ir::Kernel& kernel,
                                         std::span<const std::int64_t> extents) {
  std::vector<std::int64_t> result(extents.begin(), extents.end());
  for (std::size_t loop = 0; loop < result.size(); ++loop)
    if (kernel.loops[loop].kind == ir::LoopKind::reduce) result[loop] = 1;
  return result;
}

void check_written_once(const Buffer& buffer, std::span<const std::int64_t> extents,
                        std::size_t operand) {
  std::vector<bool> is_written(buffer.bytes.size() / buffer.itemsize_bytes);
  for_each_element(buffer, extents, [&](std::int64_t element) {
    const auto place = static_cast<std::size_t>(element);
    WEFT_CHECK(!is_written[place], ArgumentError, "with these extents output $", operand,
               " is written twice at one place");
    is_written[place] = true;
  });
}

}  // namespace

std::vector<std::string> ir_pass_names() {
  std::vector<std::string> names;
  for (const ir::Pass& pass : ir::pipeline()) names.emplace_back(pass.name);
  return names;
}

std::string run_ir_passes(std::string_view text, const std::vector<std::string>& passes,
                          bool prints_after) {
  std::vector<const ir::Pass*> chosen;
  for (const std::string& name : passes) {
    if (name == "all") {
      for (const ir::Pass& pass : ir::pipeline()) chosen.push_back(&pass);
    } else {
      chosen.push_back(&find_pass(name));
    }
  }
  ir::Kernel kernel = read_kernel(text);
  std::string printed;
  for (const ir::Pass* pass : chosen) {
    const bool changed = pass->run(kernel);
    // What eliminate_dead_code has yet to remove may be too long, as it may in between for engines.
    if (kernel.body.size() <= ir::max_instructions) ir::verify(kernel);
    if (!prints_after) continue;
    printed += detail::concat("; ", pass->name, changed ? "\n" : ": unchanged\n");
    if (changed) printed += ir::print(kernel);
  }
  ir::check_size(kernel);
  return prints_after && !chosen.empty() ? printed : ir::print(kernel);
}

IrRun run_ir(std::string_view text, const IrRunOptions& options) {
  ir::Kernel kernel = read_kernel(text);
  IrRun result;
  result.extents = options.extents.empty() ? some_extents(kernel.loops.size()) : options.extents;
  check_extents(kernel, result.extents);
  const std::vector<std::int64_t> written = output_extents(kernel, result.extents);
  for (std::size_t i = 0; i < kernel.operands.size(); ++i)
    if (kernel.operands[i].role == ir::Role::output)
      check_written_once(make_buffer(kernel.operands[i], written), written, i);
  if (kernel.schedule == ir::Schedule::unscheduled) {
    kernel.vector_bytes = jit::Target{host_features()}.vector_bytes();
    ir::run_pipeline(kernel);
  }
  const auto code = compile(kernel, options.backend);
  const auto reference = compile(kernel, "interp");
  result.backend = code->backend;
  const std::vector<Buffer> actual = run_code(kernel, *code, result.extents, options.seed);
  const std::vector<Buffer> expected = run_code(kernel, *reference, result.extents, options.seed);
  for (std::size_t i = 0; i < kernel.operands.size(); ++i)
    if (kernel.operands[i].role == ir::Role::output)
      result.outputs.push_back(
          gather(actual[i], expected[i], kernel.operands[i].dtype, written, result.difference, i));
  return result;
}

}  // namespace weft
