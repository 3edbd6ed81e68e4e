// A case as a command line and as C++, and the command line read back.
#include "engine/expression/walk.h"
#include "engine/fuzz/case.h"
#include "engine/fuzz/storage.h"

#include <weft/error.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>

namespace weft::fuzzing {
namespace {

constexpr std::int64_t max_listed_elements = 256;

std::vector<Tensor> layouts_of(const std::vector<CaseTensor>& tensors) {
  std::vector<Tensor> result;
  result.reserve(tensors.size());
  for (const CaseTensor& tensor : tensors) result.push_back(layout_of(tensor));
  return result;
}

std::string operand_text(const CaseTensor& tensor) {
  return detail::concat(layout_text(layout_of(tensor)), "#", tensor.first_value,
                        tensor.is_uniform ? "*" : "", tensor.is_conj ? "~conj" : "",
                        tensor.is_neg ? "~neg" : "");
}

std::string list(std::span<const std::int64_t> numbers) {
  std::string result;
  for (const std::int64_t number : numbers)
    result.append(result.empty() ? "" : ", ").append(std::to_string(number));
  return "{" + result + "}";
}

std::string hexadecimal(std::uint64_t bits) {
  std::array<char, 24> buffer;
  std::snprintf(buffer.data(), buffer.size(), "0x%llx", static_cast<unsigned long long>(bits));
  return buffer.data();
}

std::string real_literal(double value) {
  if (value != value) return "std::numeric_limits<double>::quiet_NaN()";
  if (value - value != 0)
    return std::string(value < 0 ? "-" : "") + "std::numeric_limits<double>::infinity()";
  std::array<char, 40> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::fabs(value),
                                 std::chars_format::hex)
                       .ptr;
  return std::string(std::signbit(value) ? "-0x" : "0x").append(buffer.data(), end);
}

std::string scalar_literal(const Scalar& scalar) {
  const std::complex<double> value = scalar.as_complex();
  switch (scalar.kind()) {
    case Scalar::Kind::boolean: return scalar.as_integer() != 0 ? "true" : "false";
    case Scalar::Kind::integer:
      return detail::concat("static_cast<std::int64_t>(",
                            hexadecimal(static_cast<std::uint64_t>(scalar.as_integer())), ")");
    case Scalar::Kind::floating: return real_literal(value.real());
    case Scalar::Kind::complex:
      return detail::concat("std::complex<double>(", real_literal(value.real()), ", ",
                            real_literal(value.imag()), ")");
  }
  __builtin_unreachable();
}

std::string_view storage_type(std::size_t itemsize_bytes) {
  switch (itemsize_bytes) {
    case 1: return "std::uint8_t";
    case 2: return "std::uint16_t";
    case 4: return "std::uint32_t";
    default: return "std::uint64_t";  // two of them for 16 bytes
  }
}

std::string dtype_literal(DType dtype) {
  return is_boolean(dtype) ? "DType::boolean" : "DType::" + std::string(name(dtype));
}

std::string layout_arguments(const CaseTensor& tensor) {
  return detail::concat("std::vector<std::int64_t>", list(tensor.sizes),
                        ", std::vector<std::int64_t>", list(tensor.strides));
}

/// The tensor on its storage.  One that others share is a view of all of it, as they are.
std::string on_storage(const CaseTensor& tensor, std::optional<std::int64_t> shared_elements,
                       std::int64_t words) {
  const std::string storage = tensor.name + "_storage";
  const std::string dtype = dtype_literal(tensor.dtype);
  if (!shared_elements)
    return detail::concat("from_blob(", storage, " + ", tensor.offset * words, ", ",
                          layout_arguments(tensor), ", ", dtype, ")");
  return detail::concat("from_blob(", storage, ", std::vector<std::int64_t>{", *shared_elements,
                        "}, std::vector<std::int64_t>{1}, ", dtype, ").as_strided(",
                        layout_arguments(tensor), ", ", tensor.offset, ")");
}

/// Declares the storage of a tensor and the tensor.
std::string declaration(const CaseTensor& tensor, std::uint64_t seed,
                        std::optional<std::int64_t> shared_elements = {}) {
  const std::size_t itemsize = itemsize_bytes(tensor.dtype);
  const std::int64_t words = itemsize == 16 ? 2 : 1;
  const std::int64_t count = shared_elements.value_or(storage_elements(tensor));
  std::string result = detail::concat("static ", storage_type(itemsize), " ", tensor.name,
                                      "_storage[", std::max<std::int64_t>(count, 1) * words, "]");
  if (count <= max_listed_elements) {
    std::string values;
    for (std::int64_t i = 0; i < count; ++i) {
      const Bits bits = element_of(tensor, seed, i);
      values.append(values.empty() ? "" : ", ").append(hexadecimal(bits.lo));
      if (words == 2) values.append(", ").append(hexadecimal(bits.hi));
    }
    result += " = {" + values + "};\n";
  } else {
    result += ";  // too many values to list: the command makes them\n";
  }
  return result + detail::concat("const Tensor ", tensor.name, " = ",
                                 on_storage(tensor, shared_elements, words),
                                 tensor.is_conj ? ".conj()" : "",
                                 tensor.is_neg ? ".neg_view()" : "", ";\n");
}

/// Declares an output that has no storage of the case's own.
std::string view_declaration(const Case& fuzz_case, const CaseOutput& output) {
  const CaseTensor& tensor = output.tensor;
  const std::string declared = "const Tensor " + tensor.name + " = ";
  if (output.kind == CaseOutput::Kind::resized)
    return detail::concat(declared, "empty(std::vector<std::int64_t>", list(tensor.sizes), ", ",
                          dtype_literal(tensor.dtype), ");\n");
  if (output.kind != CaseOutput::Kind::shared) return {};
  return detail::concat(declared, fuzz_case.inputs[static_cast<std::size_t>(output.input)].name,
                        ".as_strided(", layout_arguments(tensor), ", ", tensor.offset, ");\n");
}

std::string definition(const Case& fuzz_case, const CaseNode& node) {
  std::string args;
  for (const int arg : node.args)
    args.append(args.empty() ? "v" : ", v").append(std::to_string(arg));
  switch (node.kind) {
    case CaseNode::Kind::tensor:
      return "(" + fuzz_case.inputs[static_cast<std::size_t>(node.tensor)].name + ")";
    case CaseNode::Kind::scalar: return "(Scalar(" + scalar_literal(node.scalar) + "))";
    case CaseNode::Kind::op:
      return detail::concat(" = apply(Op::", name(node.op), ", {", args, "})");
    case CaseNode::Kind::cast:
      return detail::concat(" = cast(", args, ", ", dtype_literal(node.dtype), ")");
  }
  __builtin_unreachable();
}

/// Takes `ending` off the text if it is there.
bool remove_ending(std::string_view& text, std::string_view ending) {
  if (!text.ends_with(ending)) return false;
  text.remove_suffix(ending.size());
  return true;
}

Tensor parse_named_layout(const std::string& name, std::string_view text) {
  try {
    return parse_layout(text);
  } catch (const ArgumentError& error) {
    throw ArgumentError(name + ": " + error.what());
  }
}

/// Reads NAME=LAYOUT#FIRST and LAYOUT alone, with ~conj and ~neg for lazy bits behind.
CaseTensor parse_tensor(std::string name, std::string_view text) {
  CaseTensor result;
  result.name = std::move(name);
  result.is_neg = remove_ending(text, "~neg");
  result.is_conj = remove_ending(text, "~conj");
  const std::size_t mark = text.find('#');
  if (mark != text.npos) {
    std::string_view number = text.substr(mark + 1);
    result.is_uniform = number.ends_with('*');
    if (result.is_uniform) number.remove_suffix(1);
    const auto [end, status] =
        std::from_chars(number.data(), number.data() + number.size(), result.first_value);
    WEFT_CHECK(status == std::errc() && end == number.data() + number.size(), ArgumentError,
               result.name, ": expected LAYOUT#NUMBER, got '", text, "'");
  }
  const Tensor layout = parse_named_layout(result.name, text.substr(0, mark));
  result.dtype = layout.dtype();
  result.sizes.assign(layout.sizes().begin(), layout.sizes().end());
  result.strides.assign(layout.strides().begin(), layout.strides().end());
  result.offset = layout.storage_offset();
  return result;
}

/// The nodes of an expression, behind those that there are.
class NodeCollector {
 public:
  NodeCollector(Case& fuzz_case, std::span<const Tensor> inputs)
      : case_(fuzz_case), inputs_(inputs) {}

  int collect(const Expr& expr) {
    kept_.push_back(expr);
    for_each_in_order(
        &expr.node(), [&](const ExprNode* node) { return numbers_.contains(node); },
        [&](const ExprNode* node) { numbers_[node] = append(*node); });
    return numbers_.at(&expr.node());
  }

 private:
  int append(const ExprNode& node) {
    CaseNode result;
    result.scalar = node.scalar;
    result.op = node.op;
    result.dtype = node.dtype;
    for (const auto& arg : node.args) result.args.push_back(numbers_.at(arg.get()));
    switch (node.kind) {
      case ExprNode::Kind::tensor: {
        const auto input = std::ranges::find_if(
            inputs_, [&](const Tensor& tensor) { return tensor.is_same(node.tensor); });
        result.tensor = static_cast<int>(input - inputs_.begin());
        break;
      }
      case ExprNode::Kind::scalar: result.kind = CaseNode::Kind::scalar; break;
      case ExprNode::Kind::op: result.kind = CaseNode::Kind::op; break;
      case ExprNode::Kind::cast: result.kind = CaseNode::Kind::cast; break;
      case ExprNode::Kind::fold:
        throw UnsupportedError("fuzz cases are elementwise: they have no reductions");
    }
    case_.nodes.push_back(std::move(result));
    return static_cast<int>(case_.nodes.size() - 1);
  }

  Case& case_;
  std::span<const Tensor> inputs_;
  std::vector<Expr> kept_;  ///< so that addresses stay those of one node
  std::map<const ExprNode*, int> numbers_;
};

CaseOutput parse_output(const Case& fuzz_case, const std::string& text, std::size_t index) {
  CaseOutput output;
  if (text == "-") return output;
  const auto input = std::ranges::find(fuzz_case.inputs, text, &CaseTensor::name);
  if (input != fuzz_case.inputs.end()) {
    output.kind = CaseOutput::Kind::in_place;
    output.input = static_cast<int>(input - fuzz_case.inputs.begin());
    return output;
  }
  const std::string name = "out" + std::to_string(index);
  constexpr std::string_view resized = "resize:";
  if (text.starts_with(resized)) {
    output.kind = CaseOutput::Kind::resized;
    output.tensor = parse_tensor(name, std::string_view(text).substr(resized.size()));
    return output;
  }
  const std::size_t split = text.find(':');
  const auto viewed =
      split == text.npos
          ? fuzz_case.inputs.end()
          : std::ranges::find(fuzz_case.inputs, text.substr(0, split), &CaseTensor::name);
  if (viewed != fuzz_case.inputs.end()) {
    output.kind = CaseOutput::Kind::shared;
    output.input = static_cast<int>(viewed - fuzz_case.inputs.begin());
    output.tensor = parse_tensor(name, std::string_view(text).substr(split + 1));
    return output;
  }
  output.kind = CaseOutput::Kind::given;
  output.tensor = parse_tensor(name, text);
  return output;
}

}  // namespace

std::string command_text(const Case& fuzz_case, const std::string& backend) {
  const std::vector<Tensor> layouts = layouts_of(fuzz_case.inputs);
  const std::vector<Expr> nodes = build_expressions(fuzz_case, layouts);
  std::string expressions;
  for (const int root : fuzz_case.roots)
    expressions.append(expressions.empty() ? "" : "; ")
        .append(text(nodes[static_cast<std::size_t>(root)]));
  std::string result = "weft fuzz --replay='" + expressions + "'";
  for (const CaseTensor& input : fuzz_case.inputs)
    result += " '" + input.name + "=" + operand_text(input) + "'";
  for (const CaseOutput& output : fuzz_case.outputs) {
    result += " --out='";
    switch (output.kind) {
      case CaseOutput::Kind::fresh: result += "-"; break;
      case CaseOutput::Kind::given: result += operand_text(output.tensor); break;
      case CaseOutput::Kind::in_place:
        result += fuzz_case.inputs[static_cast<std::size_t>(output.input)].name;
        break;
      case CaseOutput::Kind::shared:
        result += fuzz_case.inputs[static_cast<std::size_t>(output.input)].name + ":" +
                  operand_text(output.tensor);
        break;
      case CaseOutput::Kind::resized: result += "resize:" + operand_text(output.tensor); break;
    }
    result += "'";
  }
  return result + detail::concat(" --seed=", fuzz_case.seed,
                                 " --numerics=", name(fuzz_case.numerics), " --backend=", backend);
}

std::string cxx_text(const Case& fuzz_case, const std::string& backend) {
  std::string result;
  for (std::size_t i = 0; i < fuzz_case.inputs.size(); ++i)
    result += declaration(fuzz_case.inputs[i], fuzz_case.seed,
                          shared_storage_elements(fuzz_case, static_cast<int>(i)));
  for (const CaseOutput& output : fuzz_case.outputs)
    if (output.kind == CaseOutput::Kind::given)
      result += declaration(output.tensor, fuzz_case.seed);
  for (const CaseOutput& output : fuzz_case.outputs) result += view_declaration(fuzz_case, output);
  for (std::size_t i = 0; i < fuzz_case.nodes.size(); ++i)
    result += detail::concat("const Expr v", i, definition(fuzz_case, fuzz_case.nodes[i]), ";\n");
  std::string roots, outs;
  for (const int root : fuzz_case.roots)
    roots += (roots.empty() ? "v" : ", v") + std::to_string(root);
  for (const CaseOutput& output : fuzz_case.outputs) {
    if (!outs.empty()) outs += ", ";
    if (output.kind == CaseOutput::Kind::fresh) outs += "Tensor()";
    if (output.kind != CaseOutput::Kind::fresh && output.kind != CaseOutput::Kind::in_place)
      outs += output.tensor.name;
    if (output.kind == CaseOutput::Kind::in_place)
      outs += fuzz_case.inputs[static_cast<std::size_t>(output.input)].name;
  }
  const std::string_view numerics =
      fuzz_case.numerics == Numerics::standard ? "standard" : name(fuzz_case.numerics);
  return result +
         detail::concat("Engine engine({.backend = \"", backend,
                        "\", .numerics = Numerics::", numerics,
                        "});\nconst std::vector<Tensor> results = engine.eval(std::vector<Expr>{",
                        roots, "}, std::vector<Tensor>{", outs, "});\n");
}

Case parse_case(const FuzzReplay& replay) {
  Case result;
  result.seed = replay.seed;
  result.numerics = replay.numerics;
  std::vector<std::pair<std::string, Tensor>> names;
  for (const std::string& operand : replay.operands) {
    const std::size_t split = operand.find('=');
    WEFT_CHECK(split != operand.npos && split > 0, ArgumentError,
               "expected NAME=LAYOUT#NUMBER, got '", operand, "'");
    result.inputs.push_back(parse_tensor(operand.substr(0, split), operand.substr(split + 1)));
  }
  const std::vector<Tensor> layouts = layouts_of(result.inputs);
  for (std::size_t i = 0; i < layouts.size(); ++i)
    names.emplace_back(result.inputs[i].name, layouts[i]);
  NodeCollector collector(result, layouts);
  std::string_view rest = replay.expressions;
  while (true) {
    const std::size_t end = std::min(rest.find(';'), rest.size());
    result.roots.push_back(collector.collect(parse_expr(rest.substr(0, end), names)));
    if (end == rest.size()) break;
    rest.remove_prefix(end + 1);
  }
  WEFT_CHECK(replay.outputs.empty() || replay.outputs.size() == result.roots.size(), ArgumentError,
             result.roots.size(), " expressions, but ", replay.outputs.size(), " outputs");
  for (std::size_t i = 0; i < result.roots.size(); ++i)
    result.outputs.push_back(replay.outputs.empty() ? CaseOutput()
                                                    : parse_output(result, replay.outputs[i], i));
  return result;
}

}  // namespace weft::fuzzing
