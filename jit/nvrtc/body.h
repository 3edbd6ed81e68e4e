// The parts of generated source that all walks have in common: lines, arguments, the body.
#pragma once

#include "ir/kernel.h"
#include "jit/nvrtc/emit.h"

#include <weft/error.h>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::jit::nvrtc {

/// Lines of source, indented by the blocks that are open.
class Source {
 public:
  template <class... Parts>
  void line(const Parts&... parts) {
    text_.append(2 * depth_, ' ').append(detail::concat(parts...)).push_back('\n');
  }
  template <class... Parts>
  void open(const Parts&... parts) {
    line(parts..., sizeof...(parts) == 0 ? "{" : " {");
    ++depth_;
  }
  void close(const char* after = "") {
    --depth_;
    line("}", after);
  }
  /// Lines that open and close blocks by the braces at their ends and beginnings, whatever their
  /// own indentation.
  void lines(std::string_view text);
  /// A loop that is unrolled whole.
  void open_unrolled(const char* variable, int count) {
    text_ += "#pragma unroll\n";
    open("for (int ", variable, " = 0; ", variable, " < ", count, "; ++", variable, ")");
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::size_t depth_ = 0;
};

/// Whether an operand's elements are dense and in order along the innermost loop, in memory.
inline bool is_dense(const ir::Operand& operand) {
  return operand.strides.back() == 1 && operand.role != ir::Role::place;
}

/// What the launch and the code agree on: struct Args.
void emit_arguments(Source& source, const ir::Kernel& kernel, const Variant& variant);
/// The function `locate`: from the number of a vector (a tile) to the operands' bytes from their
/// bases, and, of a tile, to its first column and row.
void emit_locate(Source& source, const ir::Kernel& kernel, const Variant& variant);
/// The stride of an operand along a loop, as an expression in bytes.
std::string stride_text(const ir::Kernel& kernel, std::size_t loop, std::size_t operand);

/// The instructions as statements, each where its value first is the same.
class Body {
 public:
  enum class Level { kernel, vector, item };  ///< what a value is the same for

  /// `has_vectors`: what is the same along a vector is computed once for it.
  Body(const ir::Kernel& kernel, bool has_vectors);

  /// Writes the statements of one level.  `load` gives the element of an operand that is loaded,
  /// `store` takes the one that is stored or accumulated, of a place with it: "v3, v5".
  using Load = std::function<std::string(std::size_t operand)>;
  using Store = std::function<void(std::size_t operand, const std::string& element)>;
  void emit(Source& source, Level level, const Load& load, const Store& store) const;

 private:
  std::string expression(const ir::Inst& inst, const Load& load) const;
  /// Whether f32 are divided by what is the same for all of the kernel.
  bool divides_by_constant(const ir::Inst& inst) const;

  const ir::Kernel& kernel_;
  std::vector<Level> levels_;
  std::vector<bool> are_dividers_;  ///< of values: such divisors
};

/// Whether an instruction loads, stores the operand.
bool is_loaded(const ir::Kernel& kernel, std::size_t operand);

/// The function that moves single elements of an operand: "load" and "store", or by halves; what
/// says a place.
std::string element_access(const char* access, const ir::Kernel& kernel, const Variant& variant,
                           std::size_t operand);

void emit_rows(Source& source, const ir::Kernel& kernel, const Variant& variant);
void emit_tiles(Source& source, const ir::Kernel& kernel, const Variant& variant);
/// The arguments, too, which are others where a kernel reduces or scans.
void emit_reduction(Source& source, const ir::Kernel& kernel, const Variant& variant);
void emit_scan(Source& source, const ir::Kernel& kernel, const Variant& variant);

}  // namespace weft::jit::nvrtc
