// From recorded JSON to tensors and back to bytes.  Results are read by plain index arithmetic, so
// that no iterator of weft's takes part in the comparison.
#pragma once

#include <weft/tensor.h>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace weft::conformance {

using nlohmann::json;
using Bytes = std::vector<std::byte>;
using Ints = std::vector<std::int64_t>;

/// What weft did differs from what was recorded, or the recording is not understood.
class Mismatch : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Errors: Mismatch unless `got == expected`; the message names `what` and shows both.
template <class T>
void expect_equal(std::string_view what, const T& got, const T& expected) {
  if (!(got == expected))
    throw Mismatch(std::string(what) + " is " + json(got).dump() + ", recorded " +
                   json(expected).dump());
}

Bytes bytes_of_hex(const std::string& hex);
std::string hex_of(const Bytes& bytes);

/// Errors: Mismatch for a name that is no dtype.
DType dtype_named(const std::string& name);
inline Ints ints(IntSpan span) { return {span.begin(), span.end()}; }

/// A dense tensor of one dimension that holds these bytes.
Tensor storage_of(const Bytes& bytes, DType dtype);
/// The operand {dt, sz, st, off, hex, conj, neg} on a storage of its own.
Tensor recorded_tensor(const json& operand);
/// The layout {dt, sz, st, off} on a storage of zeros that is just large enough.
Tensor recorded_layout(const json& operand);
/// The layout without bytes.
Tensor unbacked_layout(const json& operand);

/// The elements in row-major order.
Bytes logical_bytes(const Tensor& tensor);
/// All bytes of the storage, gaps included.
Bytes storage_bytes(const Tensor& tensor);

/// A Python number: true, 3, 0.5, or [re, im].
Scalar recorded_number(const json& value, const std::string& kind);

/// The README's word for what went wrong ("broadcast", "cast" ...), or an empty string for any
/// other error.
std::string error_kind(const std::exception& error);

}  // namespace weft::conformance
