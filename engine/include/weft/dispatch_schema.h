// Schemas: what an operator is called, takes and returns, written as PyTorch writes it.
#pragma once

#include <weft/dispatch_value.h>

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace [[gnu::visibility("default")]] weft {

/// "weft::add.Tensor": namespace, name, and the overload if there is one.
struct OperatorName {
  std::string name_space;
  std::string name;
  std::string overload;

  std::string text() const;
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const OperatorName&, const OperatorName&) = default;
};

/// The "(a!)" of "Tensor(a!)".
struct AliasAnnotation {
  std::string set;
  bool is_written = false;
  friend bool operator==(const AliasAnnotation&, const AliasAnnotation&) = default;
};

struct SchemaArgument {
  std::string name;  ///< may be empty in returns
  SchemaType type;
  std::optional<AliasAnnotation> alias;
  std::optional<Value> default_value;
  bool is_keyword_only = false;
};

struct FunctionSchema {
  OperatorName name;
  std::vector<SchemaArgument> arguments;
  std::vector<SchemaArgument> returns;

  /// The schema in the one spelling that parse_schema() reads back.
  std::string text() const;
};

/// Reads "weft::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor".
///
/// Types are Tensor, int, float, bool, str, Scalar, ScalarType, MemoryFormat and Device, of which
/// the first four also make lists (`int[]`, `int[2]`); `?` makes any of them optional, and tensors
/// may carry an alias annotation (`Tensor(a!)`).
/// Errors: ArgumentError that shows the place with a caret.
FunctionSchema parse_schema(std::string_view text);

/// Reads "weft::add.Tensor".  Errors: ArgumentError with a caret.
OperatorName parse_operator_name(std::string_view text);

}  // namespace weft
