// Schemas as text, and compared with what a C++ signature implies.
#include <weft/dispatch_schema.h>

#include "engine/dispatch/operator_entry.h"

#include <weft/error.h>

#include <algorithm>

namespace weft {
namespace {

// "Tensor(a!)[]?": the annotation belongs to the base type.
std::string annotated_type(const SchemaArgument& argument) {
  std::string text = type_text(argument.type);
  if (!argument.alias) return text;
  const std::string annotation =
      "(" + argument.alias->set + (argument.alias->is_written ? "!" : "") + ")";
  return text.insert(std::min(text.find_first_of("[?"), text.size()), annotation);
}

std::string argument_text(const SchemaArgument& argument) {
  std::string text = annotated_type(argument);
  if (!argument.name.empty()) text.append(" ").append(argument.name);
  if (argument.default_value) text.append("=").append(value_text(*argument.default_value));
  return text;
}

}  // namespace

std::string OperatorName::text() const {
  return name_space + "::" + name + (overload.empty() ? "" : "." + overload);
}

std::string FunctionSchema::text() const {
  std::string result = name.text() + "(";
  std::string_view separator;
  bool is_keyword_only = false;
  for (const SchemaArgument& argument : arguments) {
    result += separator;
    separator = ", ";
    if (argument.is_keyword_only && !is_keyword_only) result += "*, ";
    is_keyword_only = argument.is_keyword_only;
    result += argument_text(argument);
  }
  result += ") -> ";
  const bool is_bare = returns.size() == 1 && returns[0].name.empty();
  if (is_bare) return result + argument_text(returns[0]);
  separator = "(";
  for (const SchemaArgument& argument : returns) {
    result += separator;
    separator = ", ";
    result += argument_text(argument);
  }
  return result + (returns.empty() ? "()" : ")");
}

namespace detail {
namespace {

// A fixed length says how a bare number is repeated; in C++ it is a list like any other.
bool same_type(SchemaType a, SchemaType b) {
  a.list_size = b.list_size = -1;
  return a == b;
}

std::string side_difference(std::string_view what, const std::vector<SchemaArgument>& expected,
                            const std::vector<SchemaType>& inferred) {
  if (expected.size() != inferred.size()) {
    return concat("The number of ", what, "s is different. ", expected.size(), " vs ",
                  inferred.size(), ".");
  }
  for (std::size_t index = 0; index < expected.size(); ++index) {
    if (same_type(expected[index].type, inferred[index])) continue;
    const std::string& name = expected[index].name;
    return concat("Type mismatch in ", what, " ", index + 1, name.empty() ? "" : " (" + name + ")",
                  ": ", type_text(expected[index].type), " vs ", type_text(inferred[index]), ".");
  }
  return "";
}

}  // namespace

std::string schema_difference(const FunctionSchema& schema, const InferredTypes& types) {
  const std::string arguments = side_difference("argument", schema.arguments, types.arguments);
  return arguments.empty() ? side_difference("return", schema.returns, types.returns) : arguments;
}

std::string inferred_text(const InferredTypes& types) {
  FunctionSchema schema;
  for (const SchemaType& type : types.arguments)
    schema.arguments.push_back({concat("_", schema.arguments.size()), type, {}, {}, false});
  for (const SchemaType& type : types.returns) schema.returns.push_back({"", type, {}, {}, false});
  return schema.text().substr(schema.name.text().size());
}

}  // namespace detail
}  // namespace weft
