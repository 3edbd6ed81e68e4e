// A fuzz case as data, so that it can be changed, written down and run again.
#pragma once

#include <weft/expr.h>
#include <weft/fuzz.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weft::fuzzing {

/// A layout and its values.  An element's value follows from its place in the storage, so that
/// cutting the sizes down leaves the remaining values as they are.
struct CaseTensor {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;  ///< in elements
  std::int64_t offset = 0;            ///< in elements, of the one with all indices 0
  std::int64_t first_value = 0;       ///< number of the random element at place 0 of the storage
  bool is_uniform = false;            ///< every element has number first_value
  bool is_conj = false;               ///< the lazy bits of the view
  bool is_neg = false;
};

struct CaseNode {
  enum class Kind : std::uint8_t { tensor, scalar, op, cast };
  Kind kind = Kind::tensor;
  int tensor = 0;  ///< which of Case::inputs
  Scalar scalar;
  Op op = Op::load;
  DType dtype = DType::f32;  ///< Kind::cast
  std::vector<int> args;     ///< earlier nodes
};

struct CaseOutput {
  /// Kind::shared is another view of an input's storage, Kind::resized a tensor of other sizes.
  enum class Kind : std::uint8_t { fresh, given, in_place, shared, resized };
  Kind kind = Kind::fresh;
  CaseTensor tensor;  ///< Kind::given, shared and resized
  int input = 0;      ///< Kind::in_place and shared: which of Case::inputs
};

struct Case {
  std::uint64_t seed = 1;
  Numerics numerics = Numerics::strict;
  std::vector<CaseTensor> inputs;
  std::vector<CaseNode> nodes;
  std::vector<int> roots;
  std::vector<CaseOutput> outputs;  ///< one a root
};

/// The expression of each node.  Errors: ArgumentError from weft::apply.
std::vector<Expr> build_expressions(const Case& fuzz_case, std::span<const Tensor> inputs);

/// A layout without bytes.
Tensor layout_of(const CaseTensor& tensor);
/// The view with the lazy bits of `tensor`.
Tensor with_lazy_bits(const Tensor& view, const CaseTensor& tensor);
/// Whether an output writes to an input.
inline bool writes_to(const CaseOutput& output, int input) {
  const bool is_view =
      output.kind == CaseOutput::Kind::in_place || output.kind == CaseOutput::Kind::shared;
  return is_view && output.input == input;
}
/// The sizes that the inputs of the roots broadcast to.  Errors: ArgumentError if they don't.
std::vector<std::int64_t> shape_of(const Case& fuzz_case);
/// The same of one root: the sizes of its result.
std::vector<std::int64_t> shape_of_root(const Case& fuzz_case, int root);
/// How many elements the storage needs.
std::int64_t storage_elements(const CaseTensor& tensor);
/// The same for an input and the outputs that are views of its storage; nothing if there are none.
std::optional<std::int64_t> shared_storage_elements(const Case& fuzz_case, int input);

/// Drops the nodes and inputs that no root needs.
Case without_unused(const Case& fuzz_case);

/// The command that repeats the case on `backend`.
std::string command_text(const Case& fuzz_case, const std::string& backend);
/// The same as the body of a C++ function.
std::string cxx_text(const Case& fuzz_case, const std::string& backend);
/// Reads what command_text() wrote.  Errors: ArgumentError.
Case parse_case(const FuzzReplay& replay);

}  // namespace weft::fuzzing
