// copy.jsonl: every byte of the destination's storage after a copy.
#include "tests/conformance/replay.h"

namespace weft::conformance {

Verdict replay_copy(Context& context, const json& recorded) {
  const Tensor dst = recorded_tensor(recorded.at("dst"));
  const Tensor src = recorded_tensor(recorded.at("src"));
  if (recorded.contains("err")) {
    const std::string before = hex_of(storage_bytes(dst));
    expect_error(recorded.at("err"), [&] { context.engine.copy(dst, src); });
    expect_equal("storage after the error", hex_of(storage_bytes(dst)), before);
    return Verdict::passed;
  }
  context.engine.copy(dst, src);
  expect_equal("storage", hex_of(storage_bytes(dst)), recorded.at("after").get<std::string>());
  return Verdict::passed;
}

}  // namespace weft::conformance
