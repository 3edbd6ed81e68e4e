// KernelFunction: one implementation of an operator, callable with C++ arguments and with boxes
// whichever way it was written.
#pragma once

#include <weft/dispatch_key.h>
#include <weft/dispatch_value.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace [[gnu::visibility("default")]] weft {

class OperatorHandle;

/// Where in the source something was registered.  std::source_location, which clang has only from
/// version 16 on.
struct SourceLine {
  const char* file = "";
  unsigned line = 0;
  static constexpr SourceLine current(const char* file = __builtin_FILE(),
                                      unsigned line = __builtin_LINE()) {
    return {file, line};
  }
};
std::string source_text(SourceLine where);  ///< "file.cpp:12"

/// A function type as the compiler sees it.  Calls through unboxed pointers rely on its equality.
class CppSignature {
 public:
  template <class Signature>
  static CppSignature of() {
    return CppSignature(typeid(Signature));
  }
  bool operator==(const CppSignature& other) const { return *type_ == *other.type_; }
  std::string text() const;

 private:
  explicit CppSignature(const std::type_info& type) : type_(&type) {}
  const std::type_info* type_;
};

/// A kernel that works on boxes: it takes its arguments off the end of the stack and leaves its
/// results there.
using BoxedFunction = std::function<void(const OperatorHandle&, DispatchKeySet, ValueStack&)>;

namespace detail {

struct KernelBase {
  virtual ~KernelBase() = default;
};
using AnyFunction = void (*)();
using BoxedEntry = void (*)(KernelBase&, const OperatorHandle&, DispatchKeySet, ValueStack&);

/// The types at one end of an operator, as its C++ signature has them.
struct InferredTypes {
  std::vector<SchemaType> arguments;
  std::vector<SchemaType> returns;
};

template <class Signature>
struct SignatureTraits;

template <class R, class... Args>
struct SignatureTraits<R(Args...)> {
  static_assert((BoxableArgument<Args> && ...),
                "arguments are types of the schema language, by value or by const reference");
  /// One object for all kernels of this signature, which is never destroyed.
  static const InferredTypes& inferred() {
    static const auto* const types =
        new InferredTypes{{Boxing<std::remove_cvref_t<Args>>::type...}, BoxingResult<R>::types()};
    return *types;
  }
};

/// The signature of a function pointer or of an object with one operator(), and whether it asks for
/// the key set in front of the operator's arguments.
template <class F>
struct KernelTraits : KernelTraits<decltype(&F::operator())> {};
template <class R, class... Args>
struct KernelTraits<R(Args...)> {
  using Signature = R(Args...);
  static constexpr bool takes_keys = false;
};
template <class R, class... Args>
struct KernelTraits<R(DispatchKeySet, Args...)> {
  using Signature = R(Args...);
  static constexpr bool takes_keys = true;
};
template <class R, class... Args>
struct KernelTraits<R (*)(Args...)> : KernelTraits<R(Args...)> {};
template <class R, class... Args>
struct KernelTraits<R (*)(Args...) noexcept> : KernelTraits<R(Args...)> {};
template <class C, class R, class... Args>
struct KernelTraits<R (C::*)(Args...)> : KernelTraits<R(Args...)> {};
template <class C, class R, class... Args>
struct KernelTraits<R (C::*)(Args...) const> : KernelTraits<R(Args...)> {};
template <class C, class R, class... Args>
struct KernelTraits<R (C::*)(Args...) noexcept> : KernelTraits<R(Args...)> {};
template <class C, class R, class... Args>
struct KernelTraits<R (C::*)(Args...) const noexcept> : KernelTraits<R(Args...)> {};

template <class F, class Signature>
struct TypedKernel;

// Hidden, which gcc heeds: nobody else asks for these, and their long names would fill the tables
// of symbols.
template <class F, class R, class... Args>
struct [[gnu::visibility("hidden")]] TypedKernel<F, R(Args...)> final : KernelBase {
  explicit TypedKernel(F f) : function(std::move(f)) {}

  static R unboxed(KernelBase & self, DispatchKeySet keys, Args... args) {
    F& function = static_cast<TypedKernel&>(self).function;
    if constexpr (KernelTraits<F>::takes_keys) {
      return function(keys, std::forward<Args>(args)...);
    } else {
      return function(std::forward<Args>(args)...);
    }
  }

  static void boxed(KernelBase & self, const OperatorHandle&, DispatchKeySet keys,
                    ValueStack& stack) {
    const auto call = [&]<std::size_t... index>(std::index_sequence<index...>)->R {
      [[maybe_unused]] const Value* args = stack.data() + stack.size() - sizeof...(Args);
      return unboxed(self, keys, Boxing<std::remove_cvref_t<Args>>::unbox(args[index])...);
    };
    const auto drop_arguments = [&] {
      stack.erase(stack.end() - static_cast<std::ptrdiff_t>(sizeof...(Args)), stack.end());
    };
    if constexpr (std::is_void_v<R>) {
      call(std::index_sequence_for<Args...>());
      drop_arguments();
    } else {
      const R result = call(std::index_sequence_for<Args...>());
      drop_arguments();
      BoxingResult<R>::push(stack, result);
    }
  }

  F function;
};

/// Throws InternalError: a boxed kernel of `op` left `given` results instead of `expected`.
[[noreturn]] void throw_wrong_result_count(const OperatorHandle& op, std::size_t given,
                                           std::size_t expected);

}  // namespace detail

/// Immutable after construction, so that any thread may call it.  Copies share the function object,
/// which must itself be safe to call from several threads.
class KernelFunction {
 public:
  /// Of a function pointer or a callable object with one operator().  A DispatchKeySet in front of
  /// the operator's arguments receives the key set of the call, for redispatch.
  template <class F>
  static KernelFunction typed(F function) {
    using Function = std::decay_t<F>;
    using Signature = typename detail::KernelTraits<Function>::Signature;
    using Kernel = detail::TypedKernel<Function, Signature>;
    KernelFunction result;
    result.unboxed_ = reinterpret_cast<detail::AnyFunction>(&Kernel::unboxed);
    result.boxed_ = &Kernel::boxed;
    result.kernel_ = std::make_shared<Kernel>(std::move(function));
    result.signature_ = CppSignature::of<Signature>();
    result.inferred_ = &detail::SignatureTraits<Signature>::inferred();
    return result;
  }
  static KernelFunction boxed(BoxedFunction function);
  /// Does nothing: its key is left out when the kernel of a call is chosen.
  static KernelFunction fallthrough();

  bool is_fallthrough() const { return is_fallthrough_; }
  bool is_typed() const { return unboxed_ != nullptr; }
  /// Whether both share one function object.
  bool is_copy_of(const KernelFunction& other) const { return kernel_ == other.kernel_; }
  /// Nothing for boxed kernels, which serve every signature.
  const std::optional<CppSignature>& signature() const { return signature_; }
  /// Null for boxed kernels.
  const detail::InferredTypes* inferred_types() const { return inferred_; }

  /// Requires: the operator's signature is R(Args...), and this isn't a fallthrough.
  template <class R, class... Args>
  R call(const OperatorHandle& op, DispatchKeySet keys, Args... args) const {
    if (unboxed_ == nullptr) [[unlikely]]
      return call_in_boxes<R, Args...>(op, keys, std::forward<Args>(args)...);
    using Unboxed = R (*)(detail::KernelBase&, DispatchKeySet, Args...);
    return reinterpret_cast<Unboxed>(unboxed_)(*kernel_, keys, std::forward<Args>(args)...);
  }
  void call_boxed(const OperatorHandle& op, DispatchKeySet keys, ValueStack& stack) const {
    boxed_(*kernel_, op, keys, stack);
  }

 private:
  KernelFunction() = default;

  template <class R, class... Args>
  [[gnu::noinline, gnu::visibility("hidden")]] R call_in_boxes(const OperatorHandle& op,
                                                               DispatchKeySet keys,
                                                               Args... args) const {
    ValueStack stack;
    stack.reserve(sizeof...(Args));
    (stack.push_back(detail::Boxing<std::remove_cvref_t<Args>>::box(args)), ...);
    call_boxed(op, keys, stack);
    const std::size_t num_results = detail::BoxingResult<R>::types().size();
    if (stack.size() != num_results)
      detail::throw_wrong_result_count(op, stack.size(), num_results);
    return detail::BoxingResult<R>::pop(stack);
  }

  detail::AnyFunction unboxed_ = nullptr;  ///< null for boxed kernels
  detail::BoxedEntry boxed_ = nullptr;
  std::shared_ptr<detail::KernelBase> kernel_;
  bool is_fallthrough_ = false;
  std::optional<CppSignature> signature_;
  const detail::InferredTypes* inferred_ = nullptr;
};

}  // namespace weft
