// Replays binary_layout.jsonl: what PyTorch's TensorIterator makes of real operands.
#include <weft/error.h>
#include <weft/iterator.h>

#include "tests/engine/recordings.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

using nlohmann::json;
using testing::Ints;
using testing::ints;

/// The configuration that PyTorch's op of this name uses.
void configure(TensorIteratorConfig& config, const std::string& op,
               const std::vector<Tensor>& inputs, const Tensor& out) {
  if (op == "where") {
    config.check_all_same_dtype(false).set_common_dtype(result_type(inputs[1], inputs[2]));
    return;
  }
  config.promote_inputs_to_common_dtype(true);
  if (op == "lt" || op == "eq" || op == "ne_self") {
    if (!out.defined()) config.declare_static_dtype(DType::boolean);
    return;
  }
  config.cast_common_dtype_to_outputs(true).enforce_safe_casting_to_output(true);
  if (op == "atan2") config.promote_integer_inputs_to_float(true);
}

std::string expected_fast_setup(const json& recorded) {
  if (recorded["fast"].is_null()) return "none";
  const std::string text = recorded["fast"];
  return text == "dense" ? "non_overlapping_dense" : text;
}

void check_plan(const TensorIterator& iterator, const json& recorded) {
  EXPECT_EQ(std::string(name(iterator.output().dtype())), recorded["odt"]);
  EXPECT_EQ(ints(iterator.output().sizes()), recorded["osz"].get<Ints>());
  const json& strides =
      recorded.contains("ost_on_the_fly") ? recorded["ost_on_the_fly"] : recorded["ost"];
  EXPECT_EQ(ints(iterator.output().strides()), strides.get<Ints>());
  // The rest was recorded on operands that PyTorch had converted first.
  if (recorded.contains("cast_in")) return;
  EXPECT_EQ(name(iterator.fast_setup()), expected_fast_setup(recorded));
  EXPECT_EQ((Ints{iterator.perm().begin(), iterator.perm().end()}), recorded["perm"].get<Ints>());
  EXPECT_EQ(ints(iterator.shape()), recorded["coalesced_shape"].get<Ints>());
  const auto stride_bytes = recorded["coalesced_stride_bytes"].get<std::vector<Ints>>();
  ASSERT_EQ(iterator.ntensors(), std::ssize(stride_bytes));
  for (int i = 0; i < iterator.ntensors(); ++i) {
    EXPECT_EQ(ints(iterator.stride_bytes(i)), stride_bytes[i]) << "operand " << i;
  }
}

void replay(const json& recorded) {
  const std::string op = recorded["op"];
  std::vector<Tensor> inputs;
  for (const json& input : recorded["in"]) inputs.push_back(testing::recorded_layout(input));
  if (op == "ne_self" && inputs.size() == 1) inputs.push_back(inputs[0]);
  Tensor out;
  if (recorded.contains("out")) out = testing::recorded_layout(recorded["out"]);

  TensorIteratorConfig config;
  configure(config, op, inputs, out);
  config.add_output(out);
  for (const Tensor& input : inputs) config.add_input(input);
  try {
    const TensorIterator iterator = config.build();
    ASSERT_FALSE(recorded.contains("err"));
    check_plan(iterator, recorded);
  } catch (const ArgumentError& error) {
    EXPECT_EQ(testing::error_kind(error.what()), recorded.value("err", "no error"));
  }
}

TEST(IteratorRecordings, PlansAreThoseOfPyTorch) {
  const int count = testing::for_each_recording("binary_layout.jsonl",
                                                [](const json& recorded, const std::string& line) {
                                                  SCOPED_TRACE(line);
                                                  replay(recorded);
                                                });
  EXPECT_GT(count, 0) << count;
}

}  // namespace
}  // namespace weft
