// The operator registry and the dispatcher: operators by name, and for each a table that leads from
// dispatch keys to kernels.  Mirrors aten/src/ATen/core/dispatch of PyTorch; docs/dispatch.md tells
// the rules.
#pragma once

#include <weft/dispatch_kernel.h>
#include <weft/dispatch_key.h>
#include <weft/dispatch_schema.h>
#include <weft/dispatch_value.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace [[gnu::visibility("default")]] weft {

class Registry;
template <class Signature>
class TypedOperatorHandle;

namespace detail {

class OperatorEntry;

/// What a call reads.  Written under the registry's lock, read without one: each row points to a
/// kernel that never changes and lives as long as the registry.
struct DispatchTable {
  std::atomic<std::uint64_t> dispatchable{0};  ///< the keys whose row is no fallthrough
  std::array<std::atomic<const KernelFunction*>, num_runtime_keys> rows{};

  const KernelFunction& row(DispatchKeySet keys) const {
    return *rows[keys.highest_index()].load(std::memory_order_acquire);
  }
  /// The keys that take part in a call: those of the arguments and of this thread, less those that
  /// are excluded or fall through.
  DispatchKeySet select(DispatchKeySet arguments) const {
    const LocalDispatchKeys local = local_dispatch_keys;
    const auto mask = DispatchKeySet::from_bits(dispatchable.load(std::memory_order_acquire));
    return ((arguments | local.included) - local.excluded) & mask;
  }
};

template <class T>
DispatchKeySet keys_of_argument(const T& argument) {
  if constexpr (std::is_same_v<T, Tensor>) {
    return dispatch_keys_of(argument);
  } else if constexpr (std::is_same_v<T, std::optional<Tensor>>) {
    return argument ? dispatch_keys_of(*argument) : DispatchKeySet();
  } else if constexpr (std::is_convertible_v<const T&, std::span<const Tensor>>) {
    DispatchKeySet keys;
    for (const Tensor& tensor : std::span<const Tensor>(argument))
      keys = keys | dispatch_keys_of(tensor);
    return keys;
  } else {
    return {};
  }
}

}  // namespace detail

/// Refers to an operator, which is never forgotten while its registry lives.  Cheap to copy.
///
/// Threads: all functions may be called concurrently, also while kernels are registered.
class OperatorHandle {
 public:
  const OperatorName& name() const;
  /// False before def() and after its registration has ended.
  bool has_schema() const;
  /// The newest schema; it stays readable after its registration has ended.
  ///
  /// Errors: ArgumentError if there has never been one.
  const FunctionSchema& schema() const;

  /// A handle to call with C++ arguments; costs a lock, so it is kept rather than asked for anew.
  /// An operator that had no C++ signature yet has this one from now on.
  ///
  /// Errors: ArgumentError that begins "Tried to access or call an operator with a wrong
  /// signature."
  template <class Signature>
  TypedOperatorHandle<Signature> typed() const {
    check_signature(CppSignature::of<Signature>(), detail::SignatureTraits<Signature>::inferred());
    return TypedOperatorHandle<Signature>(*this);
  }

  /// Takes the arguments of the schema off the end of the stack and leaves the results.
  ///
  /// Errors: ArgumentError if values are too few or of other types than the schema says.
  void call_boxed(ValueStack& stack) const;
  /// Goes to the kernel of the highest of `keys` as they are, whatever this thread includes or
  /// excludes.
  ///
  /// Errors: as call_boxed().
  void redispatch_boxed(DispatchKeySet keys, ValueStack& stack) const;

  /// The keys that take part in a call with these of its arguments.
  DispatchKeySet selected_keys(DispatchKeySet arguments) const { return table_->select(arguments); }
  /// The kernel that such a call goes to.
  const KernelFunction& kernel_for(DispatchKeySet arguments) const {
    DispatchKeySet keys = table_->select(arguments);
    return kernel(keys);
  }

  /// Whether a kernel is registered for exactly this key or alias.
  bool has_kernel_for(DispatchKey key) const;
  /// Whether a call with this runtime key finds a kernel, wherever it comes from.
  bool has_computed_kernel_for(DispatchKey key) const;

  /// Name, schema, and every registered kernel with its place, shadowed ones too.
  std::string dump_state() const;
  /// The dispatch table: for each runtime key the kernel and the rule that chose it.
  std::string dump_computed_table() const;
  /// Errors: InternalError if the table differs from what the registrations imply.
  void check_invariants() const;

  friend bool operator==(const OperatorHandle&, const OperatorHandle&) = default;

 private:
  friend class Registry;
  friend class detail::OperatorEntry;
  template <class Signature>
  friend class TypedOperatorHandle;
  explicit OperatorHandle(detail::OperatorEntry& entry);
  void check_signature(CppSignature signature, const detail::InferredTypes& inferred) const;
  /// The kernel of the highest of `keys`, which lose those that fall through.  Calls need it when a
  /// kernel is registered between their look at the mask and their look at the row.
  const KernelFunction& settle(DispatchKeySet& keys) const;
  /// Of what the schema takes off the end of the stack.  Errors: as call_boxed().
  DispatchKeySet keys_of_arguments(const ValueStack& stack) const;

  const KernelFunction& kernel(DispatchKeySet& keys) const {
    const KernelFunction& found = table_->row(keys);
    return found.is_typed() ? found : settle(keys);
  }

  const detail::DispatchTable* table_;
  detail::OperatorEntry* entry_;
};

/// An operator whose C++ signature was checked once, so that a call costs a few nanoseconds.
template <class R, class... Args>
class TypedOperatorHandle<R(Args...)> {
 public:
  /// Calls the kernel for the arguments' keys and this thread's.
  ///
  /// Errors: UnsupportedError if there is none, and whatever the kernel throws.
  R call(Args... args) const {
    DispatchKeySet arguments;
    ((arguments = arguments | detail::keys_of_argument(args)), ...);
    DispatchKeySet keys = op_.table_->select(arguments);
    return op_.kernel(keys).template call<R, Args...>(op_, keys, std::forward<Args>(args)...);
  }
  R operator()(Args... args) const { return call(std::forward<Args>(args)...); }

  /// Goes to the kernel of the highest of `keys` as they are.  A kernel that received `keys` and
  /// serves `key` passes `keys.below(key)`.
  R redispatch(DispatchKeySet keys, Args... args) const {
    return op_.kernel(keys).template call<R, Args...>(op_, keys, std::forward<Args>(args)...);
  }
  const OperatorHandle& untyped() const { return op_; }

 private:
  friend class OperatorHandle;
  explicit TypedOperatorHandle(OperatorHandle op) : op_(op) {}
  OperatorHandle op_;
};

/// Undoes a registration when it goes out of scope; what was registered before is then in force
/// again.  Calls under way finish with the kernel that they found.
class [[nodiscard]] Registration {
 public:
  Registration() = default;
  explicit Registration(std::function<void()> undo) : undo_(std::move(undo)) {}
  Registration(Registration&& other) noexcept : undo_(std::exchange(other.undo_, nullptr)) {}
  Registration& operator=(Registration&& other) noexcept;
  ~Registration() { reset(); }
  /// Ends the registration now.
  void reset() noexcept;

 private:
  std::function<void()> undo_;
};

/// Told of operators as they get and lose their schema, under the registry's lock.
struct RegistryListener {
  std::function<void(const OperatorHandle&)> on_registered;  ///< neither may throw
  std::function<void(const OperatorHandle&)> on_deregistered;
};

/// All operators.  A registration or its end takes a lock; calls never do.
///
/// A kernel stays in memory after its registration has ended (a call in another thread may be about
/// to enter it), so registrations are for program start, plug-ins and tests, not for loops.
class Registry {
 public:
  /// Has the fallthrough fallbacks of every autograd, batched, user and profile key.
  Registry();
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  /// Errors: ArgumentError if the schema can't be parsed, is there already, or contradicts the C++
  /// signature of a kernel registered before it.
  Registration def(std::string_view schema, SourceLine where = SourceLine::current());
  /// Registers a kernel for a runtime key or an alias; the operator need not be defined yet.
  ///
  /// Errors: ArgumentError if the kernel's C++ signature contradicts the schema or other kernels.
  Registration impl(std::string_view op_name, DispatchKey key, KernelFunction kernel,
                    SourceLine where = SourceLine::current());
  /// Registers what runs for a runtime key where an operator has nothing of its own.
  ///
  /// Errors: ArgumentError for an alias, or a kernel that isn't boxed.
  Registration fallback(DispatchKey key, KernelFunction kernel,
                        SourceLine where = SourceLine::current());
  /// Makes the caller the one library that defines operators in this namespace.
  ///
  /// Errors: ArgumentError that names both places if there is one already, and for a name that is
  ///         empty or has a colon.
  Registration claim_namespace(std::string_view name_space,
                               SourceLine where = SourceLine::current());
  /// Tells the listener of all defined operators, then of every change.
  Registration add_listener(RegistryListener listener);
  /// Receives warnings (a kernel that shadows another) instead of stderr.
  void set_warning_handler(std::function<void(const std::string&)> handler);

  /// The operator with this name, if it is defined.
  std::optional<OperatorHandle> find(std::string_view op_name) const;
  /// Errors: ArgumentError that suggests similar names if it isn't defined.
  OperatorHandle op(std::string_view op_name) const;
  /// Defined operators, sorted by name.
  std::vector<OperatorHandle> operators() const;
  /// Operators that have kernels but no schema.
  std::vector<OperatorHandle> dangling_impls() const;
  /// Errors: InternalError, see OperatorHandle::check_invariants.
  void check_invariants() const;
  /// Every operator's schema and computed table; what `weft ops --registry` prints.
  std::string text() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// The registry of the process.  The engine's own operators are in it when this returns: the first
/// call defines those that no engine has called yet, which takes a millisecond.
Registry& registry();
/// registry().text().
std::string registry_text();

enum class LibraryKind : std::uint8_t {
  definitions,  ///< the one library of its namespace
  fragment,     ///< adds to a namespace that another library defines
  kernels,      ///< registers kernels only
};

/// A group of registrations in one namespace that end together.
class Library {
 public:
  Library(Registry& registry, LibraryKind kind, std::string_view name_space,
          SourceLine where = SourceLine::current());

  /// Defines an operator; the namespace may be left out of the schema.
  Library& def(std::string_view schema, SourceLine where = SourceLine::current());
  /// Defines an operator with a kernel for every backend (CompositeImplicitAutograd).
  template <class F>
  Library& def(std::string_view schema, F kernel, SourceLine where = SourceLine::current()) {
    return def_with(schema, as_kernel(std::move(kernel)), where);
  }
  /// Registers a function pointer, callable object or KernelFunction.
  template <class F>
  Library& impl(std::string_view op_name, DispatchKey key, F kernel,
                SourceLine where = SourceLine::current()) {
    return impl_with(op_name, key, as_kernel(std::move(kernel)), where);
  }
  Library& fallback(DispatchKey key, KernelFunction kernel,
                    SourceLine where = SourceLine::current());

 private:
  template <class F>
  static KernelFunction as_kernel(F kernel) {
    if constexpr (std::is_same_v<F, KernelFunction>) {
      return kernel;
    } else {
      return KernelFunction::typed(std::move(kernel));
    }
  }
  Library& def_with(std::string_view schema, KernelFunction kernel, SourceLine where);
  Library& impl_with(std::string_view op_name, DispatchKey key, KernelFunction kernel,
                     SourceLine where);
  std::string qualified(std::string_view text) const;
  void require_definitions(std::string_view what) const;

  Registry* registry_;
  LibraryKind kind_;
  std::string name_space_;
  SourceLine where_;
  std::vector<Registration> registrations_;
};

/// One operator's row in a profile.
struct ProfileRow {
  std::string op;
  std::uint64_t calls = 0;
  std::uint64_t total_ns = 0;  ///< with the operators that it calls
  std::uint64_t self_ns = 0;   ///< without them
};

/// Counts and times every operator called on the threads that include DispatchKey::profile, by a
/// fallback kernel for that key; the constructing thread includes it while the profile lives.
///
/// Threads: other threads take part with an IncludeDispatchKeyGuard.  Destroy it on its own thread.
class Profile {
 public:
  explicit Profile(Registry& registry = weft::registry());
  /// Rows by falling self time.
  std::vector<ProfileRow> rows() const;
  /// A table of rows().
  std::string text() const;

 private:
  struct Counters;
  std::shared_ptr<Counters> counters_;
  Registration fallback_;
  IncludeDispatchKeyGuard include_;
};

}  // namespace weft
