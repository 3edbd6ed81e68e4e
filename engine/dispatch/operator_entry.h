// What the registry knows of one operator: its registrations, and the table computed from them.
#pragma once

#include <weft/dispatch.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace weft::detail {

struct RegisteredKernel {
  KernelFunction function;
  SourceLine where;
};
using KernelStack = std::vector<const RegisteredKernel*>;  ///< newest last

/// What all operators of a registry share.
struct DispatchContext {
  std::recursive_mutex mutex;  ///< recursive, so that a listener may ask and register
  std::array<KernelStack, num_runtime_keys> fallbacks;
};

/// The rule that filled a row of a dispatch table, in the order in which they are tried.
enum class DispatchRule : std::uint8_t {
  direct,                             // 1
  composite_explicit_non_functional,  // 2.1
  composite_explicit,                 // 2.2
  composite_implicit,                 // 2.3
  ambiguous_autograd_other,           // 2.3, an error
  autograd,                           // 2.4
  batched_decomposition,              // 2.5
  backend_fallback,                   // 3
  missing,                            // 4, an error
};
std::string_view name(DispatchRule rule);

struct ComputedRow {
  const RegisteredKernel* kernel;
  DispatchRule rule;
  bool is_error() const {
    return rule == DispatchRule::missing || rule == DispatchRule::ambiguous_autograd_other;
  }
};

/// The C++ signature that every typed kernel and handle of an operator must have.
struct PinnedSignature {
  CppSignature signature;
  const InferredTypes* types;
  std::optional<SourceLine> where;  ///< of a kernel; nothing: a handle was asked for first

  /// "registered at a.cpp:1"
  std::string origin() const;
};

/// Threads: everything but `table`, `schema` and `is_defined` is guarded by the context's mutex.
class OperatorEntry {
 public:
  OperatorEntry(OperatorName name, DispatchContext& context);

  OperatorHandle handle() { return OperatorHandle(*this); }
  /// The kernels for exactly this key or alias.
  KernelStack kernels(DispatchKey key) const;
  /// Null without one.
  const RegisteredKernel* newest_kernel(DispatchKey key) const {
    for (std::size_t i = kernels_.size(); i-- > 0;) {
      if (kernels_[i].key == key) return kernels_[i].kernel;
    }
    return nullptr;
  }
  bool has_kernels() const { return !kernels_.empty(); }
  /// Makes its signature the operator's, if that has none yet.  Returns the kernel that is now
  /// shadowed, if there is one.
  ///
  /// Requires: check_signature_of() has passed.
  const RegisteredKernel* add_kernel(DispatchKey key, const RegisteredKernel& kernel);
  void remove_kernel(DispatchKey key, const RegisteredKernel& kernel);

  void define(const FunctionSchema& schema, SourceLine where);
  void undefine();

  /// Errors: ArgumentError if it contradicts the operator's schema or the other kernels.
  void check_signature_of(const KernelFunction& kernel, DispatchKey key, SourceLine where) const;
  /// Makes this the operator's signature, or checks that it is.
  void pin_signature_of_handle(CppSignature signature, const InferredTypes& types);

  ComputedRow compute_row(DispatchKey key) const;
  void update_row(DispatchKey key);

  /// "weft::add(Tensor self) -> Tensor", or the name of an operator without schema.
  std::string title() const;
  /// "registered at a.cpp:1", or that there is no schema yet.
  std::string debug() const;
  std::string dump_state() const;
  std::string dump_computed_table() const;
  std::string list_available_keys() const;
  void check_invariants() const;
  [[noreturn]] void throw_missing(DispatchKeySet keys) const;

  const OperatorName name;
  DispatchContext& context;
  DispatchTable table;
  std::atomic<const FunctionSchema*> schema{nullptr};  ///< the newest ever
  std::atomic<bool> is_defined{false};

 private:
  static const RegisteredKernel& missing_kernel();
  static const RegisteredKernel& ambiguous_kernel();
  void update_rows();
  void set_first_rows();
  void check_schema(const FunctionSchema& schema, SourceLine where,
                    const PinnedSignature& pinned) const;

  struct KeyedKernel {
    DispatchKey key;
    const RegisteredKernel* kernel;
  };
  /// In the order of their registration.  An operator has a few, so that a list of them all takes
  /// less memory, and no more time, than one for each key.
  std::vector<KeyedKernel> kernels_;
  SourceLine schema_where_;
  std::optional<PinnedSignature> pinned_;
  bool has_typed_handles_ = false;  ///< they trust the pinned signature for ever
};

/// What differs between a schema and the types of a C++ signature; empty if nothing does.
std::string schema_difference(const FunctionSchema& schema, const InferredTypes& types);
/// "(Tensor _0, int _1) -> Tensor": the schema that a C++ signature implies.
std::string inferred_text(const InferredTypes& types);

}  // namespace weft::detail
