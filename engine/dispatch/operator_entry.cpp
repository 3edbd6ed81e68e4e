// The dispatch table of an operator.  The order of the rules is that of
// OperatorEntry::computeDispatchTableEntryWithDebug in PyTorch.
#include "engine/dispatch/operator_entry.h"

#include <weft/error.h>

#include <algorithm>
#include <utility>

namespace weft::detail {
namespace {

bool is_included_in(DispatchKey key, DispatchKey alias) { return runtime_keys(alias).has(key); }

/// Nothing for a boxed kernel, which has none.
std::optional<PinnedSignature> signature_of(const KernelFunction& kernel, SourceLine where) {
  if (!kernel.signature()) return std::nullopt;
  return PinnedSignature{*kernel.signature(), kernel.inferred_types(), where};
}

}  // namespace

// Rows without a kernel hold one that throws, so that a call has nothing to check.  Made on first
// use and never destroyed, because other files register kernels before main() and call after it.
const RegisteredKernel& OperatorEntry::missing_kernel() {
  static const auto* const kernel = new RegisteredKernel{
      KernelFunction::boxed([](const OperatorHandle& op, DispatchKeySet keys, ValueStack&) {
        op.entry_->throw_missing(keys);
      }),
      {}};
  return *kernel;
}

const RegisteredKernel& OperatorEntry::ambiguous_kernel() {
  static const auto* const kernel = new RegisteredKernel{
      KernelFunction::boxed([](const OperatorHandle& op, DispatchKeySet, ValueStack&) {
        throw UnsupportedError(concat(
            op.name().text(),
            " has kernels registered to both CompositeImplicitAutograd and a backend mapped to "
            "AutogradOther. This makes the backend kernel unreachable; the dispatcher will always "
            "prefer the CompositeImplicitAutograd lowering. Register a CompositeExplicitAutograd "
            "kernel instead, or kernels for Autograd and AutogradOther."));
      }),
      {}};
  return *kernel;
}

OperatorEntry::OperatorEntry(OperatorName name, DispatchContext& context)
    : name(std::move(name)), context(context) {
  set_first_rows();
}

KernelStack OperatorEntry::kernels(DispatchKey key) const {
  KernelStack stack;
  for (const KeyedKernel& registered : kernels_) {
    if (registered.key == key) stack.push_back(registered.kernel);
  }
  return stack;
}

const RegisteredKernel* OperatorEntry::add_kernel(DispatchKey key, const RegisteredKernel& kernel) {
  const RegisteredKernel* shadowed = newest_kernel(key);
  kernels_.push_back({key, &kernel});
  if (!pinned_) pinned_ = signature_of(kernel.function, kernel.where);
  if (is_backend(key)) {
    // Nothing else depends on a backend's kernels; most registrations are of this kind.
    update_row(key);
    update_row(autograd_of(key));
  } else {
    update_rows();
  }
  return shadowed;
}

void OperatorEntry::remove_kernel(DispatchKey key, const RegisteredKernel& kernel) {
  std::erase_if(kernels_, [&](const KeyedKernel& registered) {
    return registered.key == key && registered.kernel == &kernel;
  });
  const bool has_typed_kernels = std::ranges::any_of(
      kernels_, [](const KeyedKernel& rest) { return rest.kernel->function.is_typed(); });
  if (!has_typed_kernels && !has_typed_handles_) pinned_.reset();
  update_rows();
}

void OperatorEntry::define(const FunctionSchema& new_schema, SourceLine where) {
  if (pinned_) check_schema(new_schema, where, *pinned_);
  schema_where_ = where;
  schema.store(&new_schema, std::memory_order_release);
  is_defined.store(true, std::memory_order_release);
}

void OperatorEntry::undefine() { is_defined.store(false, std::memory_order_release); }

std::string PinnedSignature::origin() const {
  return where ? "registered at " + source_text(*where) : "first accessed with typed()";
}

void OperatorEntry::check_schema(const FunctionSchema& checked, SourceLine where,
                                 const PinnedSignature& pinned) const {
  const std::string difference = schema_difference(checked, *pinned.types);
  WEFT_CHECK(difference.empty(), ArgumentError,
             "Inferred operator schema for a C++ kernel function doesn't match the expected "
             "function schema.\n  operator: ",
             name.text(), "\n  expected schema: ", checked.text(), "\n    registered at ",
             source_text(where), "\n  inferred schema: ", inferred_text(*pinned.types), "\n    ",
             pinned.origin(), "\n  C++ signature: ", pinned.signature.text(),
             "\n  reason: ", difference);
}

void OperatorEntry::check_signature_of(const KernelFunction& kernel, DispatchKey key,
                                       SourceLine where) const {
  const std::optional<PinnedSignature> added = signature_of(kernel, where);
  if (!added) return;
  WEFT_CHECK(!pinned_ || pinned_->signature == added->signature, ArgumentError,
             "Mismatch in kernel C++ signatures\n  operator: ", title(), "\n    ", debug(),
             "\n  kernel 1: ", pinned_->signature.text(), "\n    ", pinned_->origin(),
             "\n  kernel 2: ", added->signature.text(), "\n    dispatch key: ", weft::name(key),
             "\n    ", added->origin());
  if (is_defined.load(std::memory_order_relaxed))
    check_schema(*schema.load(std::memory_order_relaxed), schema_where_, *added);
}

void OperatorEntry::pin_signature_of_handle(CppSignature signature, const InferredTypes& types) {
  constexpr std::string_view wrong =
      "Tried to access or call an operator with a wrong signature.\n  operator: ";
  WEFT_CHECK(!pinned_ || pinned_->signature == signature, ArgumentError, wrong, title(), "\n    ",
             debug(), "\n  correct signature:  ", pinned_->signature.text(), "\n    ",
             pinned_->origin(), "\n  accessed/called as: ", signature.text());
  if (!pinned_) {
    if (is_defined.load(std::memory_order_relaxed)) {
      const std::string difference =
          schema_difference(*schema.load(std::memory_order_relaxed), types);
      WEFT_CHECK(difference.empty(), ArgumentError, wrong, title(), "\n    ", debug(),
                 "\n  accessed/called as: ", signature.text(), "\n  reason: ", difference);
    }
    pinned_ = PinnedSignature{signature, &types, std::nullopt};
  }
  has_typed_handles_ = true;
}

ComputedRow OperatorEntry::compute_row(DispatchKey key) const {
  const auto newest = [&](DispatchKey registered) { return newest_kernel(registered); };
  const auto has_any = [&](DispatchKeySet keys) {
    return std::ranges::any_of(kernels_, [&](const KeyedKernel& registered) {
      return !is_alias(registered.key) && keys.has(registered.key);
    });
  };
  const auto from_alias = [&](DispatchKey alias) {
    return is_included_in(key, alias) ? newest(alias) : nullptr;
  };
  // Without tensors there is no backend to ask for: composite kernels serve the empty key set too.
  const auto from_composite = [&](DispatchKey alias) {
    return key == DispatchKey::undefined ? newest(alias) : from_alias(alias);
  };
  using enum DispatchRule;

  if (const auto* kernel = newest(key)) return {kernel, direct};
  if (const auto* kernel = from_composite(DispatchKey::composite_explicit_autograd_non_functional))
    return {kernel, composite_explicit_non_functional};
  if (const auto* kernel = from_composite(DispatchKey::composite_explicit_autograd))
    return {kernel, composite_explicit};
  if (const auto* kernel = from_composite(DispatchKey::composite_implicit_autograd)) {
    if (key == DispatchKey::autograd_other && has_any(backends_of(key)))
      return {&ambiguous_kernel(), ambiguous_autograd_other};
    // An autograd row must not jump over a backend's own kernel to the decomposition.
    const bool has_backend_kernel =
        has_any(backends_of(key)) || newest(DispatchKey::composite_explicit_autograd) != nullptr;
    if (!has_backend_kernel) return {kernel, composite_implicit};
  }
  if (const auto* kernel = from_alias(DispatchKey::autograd)) return {kernel, autograd};
  if (const auto* kernel = from_alias(DispatchKey::batched_decomposition))
    return {kernel, batched_decomposition};
  const KernelStack& fallbacks = context.fallbacks[static_cast<std::size_t>(key)];
  if (!fallbacks.empty()) return {fallbacks.back(), backend_fallback};
  return {&missing_kernel(), missing};
}

// A reader looks at the mask first and at the row then.  A key that stops being dispatchable leaves
// the mask before its row becomes a fallthrough, and one that starts enters it after: a reader that
// still meets the fallthrough finds the mask without the key when it looks again.
void OperatorEntry::update_row(DispatchKey key) {
  const KernelFunction& kernel = compute_row(key).kernel->function;
  auto& row = table.rows[static_cast<std::size_t>(key)];
  const std::uint64_t bit = DispatchKeySet(key).bits();
  if (kernel.is_fallthrough()) {
    table.dispatchable.fetch_and(~bit, std::memory_order_acq_rel);
    row.store(&kernel, std::memory_order_release);
  } else {
    row.store(&kernel, std::memory_order_release);
    table.dispatchable.fetch_or(bit, std::memory_order_acq_rel);
  }
}

/// What update_rows() would do, for an operator without kernels that no reader knows yet.
void OperatorEntry::set_first_rows() {
  std::uint64_t dispatchable = 0;
  for (std::size_t index = 0; index < num_runtime_keys; ++index) {
    const KernelStack& fallbacks = context.fallbacks[index];
    const KernelFunction& kernel =
        fallbacks.empty() ? missing_kernel().function : fallbacks.back()->function;
    table.rows[index].store(&kernel, std::memory_order_relaxed);
    if (!kernel.is_fallthrough())
      dispatchable |= DispatchKeySet(static_cast<DispatchKey>(index)).bits();
  }
  table.dispatchable.store(dispatchable, std::memory_order_release);
}

void OperatorEntry::update_rows() {
  for (std::size_t index = 0; index < num_runtime_keys; ++index)
    update_row(static_cast<DispatchKey>(index));
}

}  // namespace weft::detail
