// layout.jsonl: what a layout is, and which strides copies of it have.
#include "tests/conformance/replay.h"

#include <weft/overlap.h>

namespace weft::conformance {
namespace {

std::string recorded_name(MemoryFormat format) { return std::string(name(format)); }

/// The flags, which need no bytes.
void check_flags(const Tensor& tensor, const json& recorded) {
  const auto flag = [&](const char* key, bool value) {
    expect_equal(key, value ? 1 : 0, recorded.at(key).get<int>());
  };
  expect_equal("numel", tensor.numel(), recorded.at("numel").get<std::int64_t>());
  flag("c", tensor.is_contiguous());
  flag("cl", tensor.is_contiguous(MemoryFormat::channels_last));
  flag("cl3", tensor.is_contiguous(MemoryFormat::channels_last_3d));
  flag("nod", tensor.is_non_overlapping_and_dense());
  expect_equal("overlap", static_cast<int>(has_internal_overlap(tensor)),
               recorded.at("overlap").get<int>());
  expect_equal("smf", recorded_name(tensor.suggest_memory_format()),
               recorded.at("smf").get<std::string>());
  expect_equal("smf_exact", recorded_name(tensor.suggest_memory_format(true)),
               recorded.at("smf_exact").get<std::string>());
}

void check_strides(const char* key, const Tensor& tensor, const json& recorded) {
  expect_equal(std::string("strides of ") + key, ints(tensor.strides()),
               recorded.at(key).get<Ints>());
}

/// The results that depend on a channels_last format, recorded for tensors of its rank.
void check_channels_last(Engine& engine, const Tensor& tensor, const json& recorded,
                         MemoryFormat format, const std::string& suffix) {
  if (!recorded.contains("el_" + suffix)) return;
  check_strides(("el_" + suffix).c_str(), empty_like(tensor, {}, format), recorded);
  check_strides(("clone_" + suffix).c_str(), engine.clone(tensor, format), recorded);
  check_strides(("contig_" + suffix).c_str(), engine.contiguous(tensor, format), recorded);
  ToOptions options;
  options.memory_format = format;
  check_strides(("to_" + suffix).c_str(), engine.to(tensor, options), recorded);
}

}  // namespace

Verdict replay_layout(Context& context, const json& recorded) {
  json operand = recorded;
  operand["dt"] = "f32";
  check_flags(unbacked_layout(operand), recorded);
  const Tensor tensor = recorded_layout(operand);
  check_flags(tensor, recorded);

  Engine& engine = context.engine;
  check_strides("el_p", empty_like(tensor), recorded);
  check_strides("el_c", empty_like(tensor, {}, MemoryFormat::contiguous), recorded);
  check_strides("clone_p", engine.clone(tensor), recorded);
  check_strides("to_dt", engine.to(tensor, DType::f64), recorded);
  const Tensor contiguous = engine.contiguous(tensor);
  check_strides("contig", contiguous, recorded);
  expect_equal("contig_self", contiguous.storage() == tensor.storage() ? 1 : 0,
               recorded.at("contig_self").get<int>());
  check_channels_last(engine, tensor, recorded, MemoryFormat::channels_last, "cl");
  check_channels_last(engine, tensor, recorded, MemoryFormat::channels_last_3d, "cl3");
  return Verdict::passed;
}

}  // namespace weft::conformance
