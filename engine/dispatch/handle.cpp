#include <weft/dispatch.h>
#include <weft/error.h>

#include "engine/dispatch/operator_entry.h"

#include <mutex>
#include <span>

namespace weft {
namespace {

DispatchKeySet keys_of_value(const Value& value) {
  if (const auto* tensor = std::get_if<Tensor>(&value)) return dispatch_keys_of(*tensor);
  if (const auto* list = std::get_if<std::vector<Tensor>>(&value))
    return detail::keys_of_argument(*list);
  return {};
}

}  // namespace

OperatorHandle::OperatorHandle(detail::OperatorEntry& entry)
    : table_(&entry.table), entry_(&entry) {}

const OperatorName& OperatorHandle::name() const { return entry_->name; }

bool OperatorHandle::has_schema() const {
  return entry_->is_defined.load(std::memory_order_acquire);
}

const FunctionSchema& OperatorHandle::schema() const {
  const FunctionSchema* schema = entry_->schema.load(std::memory_order_acquire);
  WEFT_CHECK(schema != nullptr, ArgumentError, "Tried to access the schema for ", name().text(),
             " which doesn't have a schema registered yet");
  return *schema;
}

void OperatorHandle::check_signature(CppSignature signature,
                                     const detail::InferredTypes& inferred) const {
  const std::lock_guard lock(entry_->context.mutex);
  entry_->pin_signature_of_handle(signature, inferred);
}

const KernelFunction& OperatorHandle::settle(DispatchKeySet& keys) const {
  for (;;) {
    const KernelFunction& kernel = table_->row(keys);
    if (!kernel.is_fallthrough() || keys.empty()) return kernel;
    keys = keys.below(keys.highest());
  }
}

DispatchKeySet OperatorHandle::keys_of_arguments(const ValueStack& stack) const {
  const std::vector<SchemaArgument>& expected = schema().arguments;
  WEFT_CHECK(stack.size() >= expected.size(), ArgumentError, schema().text(), " takes ",
             expected.size(), " arguments, got ", stack.size());
  const auto given = std::span(stack).last(expected.size());
  DispatchKeySet arguments;
  for (std::size_t index = 0; index < given.size(); ++index) {
    const SchemaArgument& argument = expected[index];
    WEFT_CHECK(accepts(argument.type, given[index]), ArgumentError, schema().name.text(),
               ": argument ", index + 1, " (", argument.name, ") must be ",
               type_text(argument.type), ", got ", value_text(given[index]));
    arguments = arguments | keys_of_value(given[index]);
  }
  return arguments;
}

void OperatorHandle::call_boxed(ValueStack& stack) const {
  DispatchKeySet keys = table_->select(keys_of_arguments(stack));
  settle(keys).call_boxed(*this, keys, stack);
}

void OperatorHandle::redispatch_boxed(DispatchKeySet keys, ValueStack& stack) const {
  keys_of_arguments(stack);  // for its checks
  settle(keys).call_boxed(*this, keys, stack);
}

bool OperatorHandle::has_kernel_for(DispatchKey key) const {
  const std::lock_guard lock(entry_->context.mutex);
  return entry_->newest_kernel(key) != nullptr;
}

bool OperatorHandle::has_computed_kernel_for(DispatchKey key) const {
  WEFT_CHECK(!is_alias(key), ArgumentError, "the table has rows for runtime keys, got the alias ",
             weft::name(key));
  const std::lock_guard lock(entry_->context.mutex);
  return !entry_->compute_row(key).is_error();
}

std::string OperatorHandle::dump_state() const {
  const std::lock_guard lock(entry_->context.mutex);
  return entry_->dump_state();
}

std::string OperatorHandle::dump_computed_table() const {
  const std::lock_guard lock(entry_->context.mutex);
  return entry_->dump_computed_table();
}

void OperatorHandle::check_invariants() const {
  const std::lock_guard lock(entry_->context.mutex);
  entry_->check_invariants();
}

}  // namespace weft
