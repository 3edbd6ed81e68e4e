#include "jit/complex_parts.h"

#include <array>
#include <cstring>
#include <utility>
#include <vector>

namespace weft::jit {
namespace {

/// What the launch of a split kernel is made with.
struct Parts {
  std::shared_ptr<const CodeObject> code;
  std::vector<ir::PartOf> operands;
  std::vector<ir::PartOf> params;
  std::size_t num_loops = 0;
  std::size_t num_whole_operands = 0;
};

void run(const KernelArgs* whole) {
  const auto& parts = *static_cast<const Parts*>(whole->context);
  const std::size_t num_operands = parts.operands.size();
  // Only what is used of them is touched.
  std::array<std::byte*, ir::max_launch_operands> base;
  std::array<std::int64_t, ir::max_launch_operands * ir::max_launch_loops> stride_bytes;
  // Bytes, for Bits would all be cleared.
  alignas(Bits) std::array<std::byte, sizeof(Bits) * ir::max_launch_params> param_bytes;
  auto* const params = reinterpret_cast<Bits*>(param_bytes.data());
  for (std::size_t i = 0; i < num_operands; ++i) {
    const ir::PartOf part = parts.operands[i];
    base[i] = whole->base[part.source] + part.offset_bytes;
    for (std::size_t loop = 0; loop < parts.num_loops; ++loop)
      stride_bytes[loop * num_operands + i] =
          whole->stride_bytes[loop * parts.num_whole_operands + part.source];
  }
  for (std::size_t i = 0; i < parts.params.size(); ++i) {
    const ir::PartOf part = parts.params[i];
    const auto* const bytes = reinterpret_cast<const std::byte*>(&whole->params[part.source]);
    params[i] = {};
    std::memcpy(&params[i], bytes + part.offset_bytes, sizeof(Bits) - part.offset_bytes);
  }
  const KernelArgs args{base.data(), whole->extents, stride_bytes.data(), params,
                        parts.code->context};
  parts.code->entry(&args);
}

/// Of SplitKernel::is_interleaved.
void run_interleaved(const KernelArgs* whole) {
  const auto& parts = *static_cast<const Parts*>(whole->context);
  const std::int64_t extent = 2 * *whole->extents;
  std::array<std::int64_t, ir::max_launch_operands> stride_bytes;
  for (std::size_t i = 0; i < parts.operands.size(); ++i)
    stride_bytes[i] = whole->stride_bytes[i] / 2;
  const KernelArgs args{whole->base, &extent, stride_bytes.data(), nullptr, parts.code->context};
  parts.code->entry(&args);
}

}  // namespace

std::shared_ptr<const CodeObject> code_of_parts(const ir::Kernel& kernel,
                                                const ir::SplitKernel& split,
                                                std::shared_ptr<const CodeObject> parts) {
  auto code = std::make_shared<CodeObject>(*parts);
  auto context = std::make_shared<const Parts>(Parts{std::move(parts), split.operands, split.params,
                                                     kernel.loops.size(), kernel.operands.size()});
  code->entry = split.is_interleaved ? run_interleaved : run;
  code->context = context.get();
  code->memory = std::move(context);
  code->instruction_bytes = 0;  // `entry` is ours
  return code;
}

}  // namespace weft::jit
