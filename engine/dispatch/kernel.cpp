#include <weft/dispatch.h>
#include <weft/error.h>

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

namespace weft {
namespace {

struct BoxedKernel final : detail::KernelBase {
  explicit BoxedKernel(BoxedFunction f) : function(std::move(f)) {}
  static void call(detail::KernelBase& self, const OperatorHandle& op, DispatchKeySet keys,
                   ValueStack& stack) {
    static_cast<BoxedKernel&>(self).function(op, keys, stack);
  }
  BoxedFunction function;
};

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

}  // namespace

std::string source_text(SourceLine where) { return detail::concat(where.file, ":", where.line); }

std::string CppSignature::text() const {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(type_->name(), nullptr, nullptr, &status), &std::free);
  std::string text = demangled ? demangled.get() : type_->name();
  // The same for every argument, and longer than all that differs.
  replace_all(text, "weft::", "");
  replace_all(text, ", 18446744073709551615ul", "");
  replace_all(text,
              "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >",
              "std::string");
  replace_all(text, "std::basic_string_view<char, std::char_traits<char> >", "std::string_view");
  return text;
}

KernelFunction KernelFunction::boxed(BoxedFunction function) {
  KernelFunction result;
  result.boxed_ = &BoxedKernel::call;
  result.kernel_ = std::make_shared<BoxedKernel>(std::move(function));
  return result;
}

KernelFunction KernelFunction::fallthrough() {
  // Calls go past it, so only an operator whose lowest row falls through gets here.
  KernelFunction result = boxed([](const OperatorHandle& op, DispatchKeySet, ValueStack&) {
    throw UnsupportedError(detail::concat("a call of ", op.name().text(),
                                          " fell through the kernels of all its keys"));
  });
  result.is_fallthrough_ = true;
  return result;
}

void detail::throw_wrong_result_count(const OperatorHandle& op, std::size_t given,
                                      std::size_t expected) {
  throw InternalError(concat("a boxed kernel of ", op.name().text(), " left ", given,
                             " values on the stack, expected ", expected));
}

}  // namespace weft
