// copy.jsonl: every byte of the destination's storage after a copy.
#include "tests/conformance/replay.h"

namespace weft::conformance {
namespace {

/// Whether two storages hold the same elements, where a part that is zero may have either sign.
bool differ_in_signs_of_zeros(DType part, const Bytes& a, const Bytes& b) {
  const std::size_t size = itemsize_bytes(part);
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); i += size)
    if (!same_bits(part, &a[i], &b[i]) &&
        (number_of(part, &a[i]) != 0 || number_of(part, &b[i]) != 0))
      return false;
  return true;
}

}  // namespace

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
  const Bytes after = bytes_of_hex(recorded.at("after"));
  // PyTorch negates complex zeros to 0 in its vector loops, and to -0 in their tails and in its
  // scalar loops; docs/divergences.md.
  const bool negates_complex = is_complex(dst.dtype()) && dst.is_neg() != src.is_neg();
  if (negates_complex &&
      differ_in_signs_of_zeros(real_dtype(dst.dtype()), storage_bytes(dst), after))
    return Verdict::passed;
  expect_equal("storage", hex_of(storage_bytes(dst)), hex_of(after));
  return Verdict::passed;
}

}  // namespace weft::conformance
