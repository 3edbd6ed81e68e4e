// Turns the words of a command line into what the engine takes.
#pragma once

#include <weft/define.h>
#include <weft/numerics.h>
#include <weft/tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::cli {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// What `read` gives; the name is put in front of what it throws.
Tensor read_named(const std::string& name, const std::function<Tensor()>& read);

/// Reads NAME=VALUE words; `make` gives the tensor of a value.
///
/// Errors: ArgumentError on a word of another form, and whatever `make` throws, with the name in
/// front.
NamedTensors read_operands(const std::vector<std::string>& words,
                           const std::function<Tensor(const std::string&)>& make);

/// Reads an expression over the operands that may call the user operators that are defined by
/// NAME(PARAMETERS)=EXPRESSION words, in this order.
Expr read_expression(const std::string& text, const NamedTensors& operands,
                     const std::vector<std::string>& definitions);
/// The same for several expressions with commas between them.
std::vector<Expr> read_expressions(const std::string& text, const NamedTensors& operands,
                                   const std::vector<std::string>& definitions);

/// "a,b" -> {"a", "b"}; empty parts are left out.
std::vector<std::string> split_commas(std::string_view text);

/// Those that this process can use; the interpreter is one of them.
std::vector<std::string> usable_backends();
/// Errors: ArgumentError that lists what there is.
void check_backend(std::string_view backend);
/// Errors: ArgumentError that lists what there is.
Numerics read_numerics(std::string_view text);

/// "[2, 3, 4]".
std::string text(IntSpan numbers);
/// All 16 digits.
std::string hex16(std::uint64_t value);

}  // namespace weft::cli
