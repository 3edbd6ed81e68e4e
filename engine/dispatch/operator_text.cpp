// What an operator says of itself: dumps, the missing-kernel message, and the check of its table.
#include "engine/dispatch/operator_entry.h"

#include <weft/error.h>

#include <array>

namespace weft::detail {
namespace {

constexpr auto rule_names = std::to_array<std::string_view>({
    "kernel",
    "CompositeExplicitAutogradNonFunctional",
    "CompositeExplicitAutograd",
    "CompositeImplicitAutograd",
    "ambiguous AutogradOther",
    "Autograd",
    "BatchedDecomposition",
    "backend fallback",
    "missing",
});
static_assert(rule_names.size() == static_cast<std::size_t>(DispatchRule::missing) + 1);

std::string kernel_text(const RegisteredKernel& kernel) {
  const std::string what = kernel.function.is_fallthrough() ? "fallthrough "
                           : kernel.function.is_typed()     ? ""
                                                            : "boxed ";
  return what + "registered at " + source_text(kernel.where);
}

}  // namespace

std::string_view name(DispatchRule rule) { return rule_names[static_cast<std::size_t>(rule)]; }

std::string OperatorEntry::title() const {
  return is_defined ? schema.load()->text() : name.text();
}

std::string OperatorEntry::debug() const {
  return is_defined ? "registered at " + source_text(schema_where_) : "no schema is registered yet";
}

std::string OperatorEntry::dump_state() const {
  std::string result = "name: " + name.text() + "\nschema: ";
  result += is_defined ? schema.load()->text() : "(none)";
  result += "\ndebug: " + debug() + "\n";
  if (pinned_)
    result += "C++ signature: " + pinned_->signature.text() + ", " + pinned_->origin() + "\n";
  for (std::size_t index = 0; index < num_dispatch_keys; ++index) {
    const auto key = static_cast<DispatchKey>(index);
    const KernelStack stack = kernels(key);
    for (auto kernel = stack.rbegin(); kernel != stack.rend(); ++kernel) {
      result += weft::name(key);
      if (is_alias(key)) result += "[alias]";
      if (kernel != stack.rbegin()) result += " (inactive)";
      result += ": " + kernel_text(**kernel) + "\n";
    }
  }
  return result;
}

std::string OperatorEntry::dump_computed_table() const {
  std::string result;
  for (std::size_t index = 0; index < num_runtime_keys; ++index) {
    const auto key = static_cast<DispatchKey>(index);
    const ComputedRow row = compute_row(key);
    if (row.rule == DispatchRule::missing) continue;
    result += concat(weft::name(key), ": ");
    if (!row.is_error()) result += kernel_text(*row.kernel) + " ";
    result += concat("[", detail::name(row.rule), "]\n");
  }
  return result;
}

std::string OperatorEntry::list_available_keys() const {
  std::string result;
  for (std::size_t index = 0; index < num_runtime_keys; ++index) {
    const auto key = static_cast<DispatchKey>(index);
    const ComputedRow row = compute_row(key);
    if (row.is_error() || row.kernel->function.is_fallthrough()) continue;
    if (!result.empty()) result += ", ";
    result += weft::name(key);
  }
  return "[" + result + "]";
}

void OperatorEntry::check_invariants() const {
  WEFT_ASSERT(!is_defined || schema.load()->name == name, name.text(), " has the schema of ",
              schema.load()->name.text());
  std::uint64_t dispatchable = 0;
  for (std::size_t index = 0; index < num_runtime_keys; ++index) {
    const auto key = static_cast<DispatchKey>(index);
    const KernelFunction& expected = compute_row(key).kernel->function;
    WEFT_ASSERT(table.rows[index].load() == &expected, "the row ", weft::name(key), " of ",
                name.text(), " is out of date\n", dump_state());
    if (!expected.is_fallthrough()) dispatchable |= DispatchKeySet(key).bits();
  }
  WEFT_ASSERT(table.dispatchable.load() == dispatchable, "the fallthrough mask of ", name.text(),
              " is out of date\n", dump_state());
  for (const KeyedKernel& registered : kernels_) {
    const auto& signature = registered.kernel->function.signature();
    WEFT_ASSERT(!signature || (pinned_ && *signature == pinned_->signature), "a kernel of ",
                name.text(), " has another C++ signature\n", dump_state());
  }
}

void OperatorEntry::throw_missing(DispatchKeySet keys) const {
  const std::lock_guard lock(context.mutex);
  const std::string op = name.text();
  if (keys.empty()) {
    throw UnsupportedError(concat(
        "There were no tensor arguments to this function (e.g., you passed an empty list of "
        "Tensors), but no fallback function is registered for schema ",
        op, ".  Available functions are ", list_available_keys(), ".\n\n", dump_computed_table()));
  }
  throw UnsupportedError(
      concat("Could not run '", op, "' with arguments from the '", weft::name(keys.highest()),
             "' backend. This could be because the operator doesn't exist for this backend. '", op,
             "' is only available for these backends: ", list_available_keys(), ".\n\n",
             dump_computed_table()));
}

}  // namespace weft::detail
