#include "tests/conformance/tensors.h"

#include <weft/error.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace weft::conformance {
namespace {

int digit(char character) {
  if ('0' <= character && character <= '9') return character - '0';
  if ('a' <= character && character <= 'f') return character - 'a' + 10;
  throw Mismatch(std::string("not a hexadecimal digit: '") + character + "'");
}

/// Elements that a layout reaches, counted from its storage's beginning.
std::int64_t storage_elements(const json& operand) {
  const Ints sizes = operand.at("sz"), strides = operand.at("st");
  if (sizes.size() != strides.size()) throw Mismatch("sz and st differ in length");
  std::int64_t elements = operand.value("off", std::int64_t{0}) + 1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return 0;
    elements += (sizes[i] - 1) * strides[i];
  }
  return elements;
}

Tensor with_layout(const Tensor& storage, const json& operand) {
  const Ints sizes = operand.at("sz"), strides = operand.at("st");
  Tensor view = storage.as_strided(sizes, strides, operand.value("off", std::int64_t{0}));
  if (operand.contains("conj")) view = view.conj();
  if (operand.contains("neg")) view = view.neg_view();
  return view;
}

}  // namespace

Bytes bytes_of_hex(const std::string& hex) {
  if (hex.size() % 2 != 0) throw Mismatch("an odd number of hexadecimal digits");
  Bytes bytes(hex.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
  return bytes;
}

std::string hex_of(const Bytes& bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hex;
  for (const std::byte byte : bytes) {
    hex += digits[std::to_integer<std::size_t>(byte) >> 4];
    hex += digits[std::to_integer<std::size_t>(byte) & 15];
  }
  return hex;
}

DType dtype_named(const std::string& name) {
  if (const std::optional<DType> dtype = parse_dtype(name)) return *dtype;
  throw Mismatch("weft has no dtype called '" + name + "'");
}

Tensor storage_of(const Bytes& bytes, DType dtype) {
  const std::size_t itemsize = itemsize_bytes(dtype);
  if (bytes.size() % itemsize != 0) throw Mismatch("the bytes end within an element");
  const Tensor storage = empty({static_cast<std::int64_t>(bytes.size() / itemsize)}, dtype);
  if (!bytes.empty()) std::memcpy(storage.data(), bytes.data(), bytes.size());
  return storage;
}

Tensor recorded_tensor(const json& operand) {
  const DType dtype = dtype_named(operand.at("dt"));
  return with_layout(storage_of(bytes_of_hex(operand.at("hex")), dtype), operand);
}

Tensor recorded_layout(const json& operand) {
  const DType dtype = dtype_named(operand.at("dt"));
  const auto elements = static_cast<std::size_t>(storage_elements(operand));
  return with_layout(storage_of(Bytes(elements * itemsize_bytes(dtype)), dtype), operand);
}

Tensor unbacked_layout(const json& operand) {
  const Ints sizes = operand.at("sz"), strides = operand.at("st");
  return unbacked(sizes, strides, dtype_named(operand.at("dt")),
                  operand.value("off", std::int64_t{0}));
}

Bytes logical_bytes(const Tensor& tensor) {
  if (tensor.is_conj() || tensor.is_neg()) throw Mismatch("the result is a lazy view");
  const std::size_t itemsize = itemsize_bytes(tensor.dtype());
  Bytes bytes(static_cast<std::size_t>(tensor.numel()) * itemsize);
  for (std::int64_t linear = 0; linear < tensor.numel(); ++linear) {
    std::int64_t rest = linear, offset = 0;
    for (int dim = tensor.dim() - 1; dim >= 0; --dim) {
      offset += rest % tensor.size(dim) * tensor.stride(dim);
      rest /= tensor.size(dim);
    }
    std::memcpy(&bytes[static_cast<std::size_t>(linear) * itemsize],
                tensor.data() + offset * static_cast<std::int64_t>(itemsize), itemsize);
  }
  return bytes;
}

Bytes storage_bytes(const Tensor& tensor) {
  const std::byte* data = tensor.storage()->data();
  return {data, data + tensor.storage()->size_bytes()};
}

Scalar recorded_number(const json& value, const std::string& kind) {
  if (kind == "py_bool") return Scalar(value.get<bool>());
  if (kind == "py_int") return Scalar(value.get<std::int64_t>());
  if (kind == "py_float") return Scalar(value.get<double>());
  if (kind == "py_complex")
    return Scalar(std::complex<double>(value.at(0).get<double>(), value.at(1).get<double>()));
  throw Mismatch("'" + kind + "' is no kind of number");
}

std::string error_kind(const std::exception& error) {
  // Distinctive parts of PyTorch's messages, which are weft's.
  constexpr std::pair<std::string_view, std::string_view> parts[] = {
      {"must match the size of tensor b", "broadcast"},
      {"doesn't match the broadcast shape", "out_shape"},
      {"can't be cast to the desired output type", "cast"},
      {"Subtraction, the `-` operator, with", "bool_sub"},
      {"does not take", "unsupported"},
      {"ZeroDivisionError", "zero_div"},
      {"Integers to negative integer powers are not allowed", "int_neg_pow"},
      {"more than one element of the written-to tensor", "internal_overlap"},
      {"some elements of the input tensor and the written-to tensor", "partial_overlap"},
      {"to have non-zero size", "empty_reduction"},
      {"for input.numel() == 0", "empty_reduction"},
      {"does not have an identity", "empty_reduction"},
  };
  const std::string_view message = error.what();
  for (const auto& [part, kind] : parts)
    if (message.find(part) != std::string_view::npos) return std::string(kind);
  return {};
}

}  // namespace weft::conformance
