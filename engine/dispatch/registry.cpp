#include <weft/dispatch.h>
#include <weft/error.h>

#include "engine/dispatch/operator_entry.h"
#include "engine/dispatch/process_registry.h"
#include "engine/messages/nearest.h"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <list>
#include <map>
#include <utility>

namespace weft {

using detail::OperatorEntry;
using detail::RegisteredKernel;

struct Registry::State : detail::DispatchContext {
  // Kernels and schemas are kept for good: calls read them without a lock.
  std::deque<RegisteredKernel> registered_kernels;
  std::deque<FunctionSchema> schemas;
  std::map<std::string, OperatorEntry, std::less<>> entries;
  std::map<std::string, SourceLine, std::less<>> namespaces;
  std::list<std::shared_ptr<const RegistryListener>> listeners;  ///< null: stopped when it was told
  int num_telling = 0;                                           ///< loops over the listeners
  std::function<void(const std::string&)> on_warning;

  /// Those who are told may stop listening, or start to; allocates nothing, as ends of
  /// registrations must not.
  void tell(std::function<void(const OperatorHandle&)> RegistryListener::*what,
            OperatorEntry& entry) {
    struct Telling {
      State& state;
      explicit Telling(State& told) : state(told) { ++state.num_telling; }
      ~Telling() {
        if (--state.num_telling == 0) state.listeners.remove(nullptr);
      }
    } const telling(*this);
    auto place = listeners.begin();
    for (std::size_t left = listeners.size(); left > 0; --left, ++place) {
      const std::shared_ptr<const RegistryListener> listener = *place;
      if (listener != nullptr && (*listener).*what) ((*listener).*what)(entry.handle());
    }
  }
  OperatorEntry& entry(const OperatorName& name) {
    return entries.try_emplace(name.text(), name, *this).first->second;
  }
  const RegisteredKernel& keep(KernelFunction kernel, SourceLine where) {
    return registered_kernels.emplace_back(RegisteredKernel{std::move(kernel), where});
  }
  void update_rows(DispatchKey key) {
    for (auto& [name, entry] : entries) entry.update_row(key);
  }
  void warn_of_shadowing(const OperatorEntry& entry, DispatchKey key,
                         const RegisteredKernel& shadowed, const RegisteredKernel& added) const {
    const std::string warning = detail::concat(
        "Overriding a previously registered kernel for the same operator and the same dispatch "
        "key\n  operator: ",
        entry.title(), "\n    ", entry.debug(), "\n  dispatch key: ", name(key),
        "\n  previous kernel: registered at ", source_text(shadowed.where),
        "\n       new kernel: registered at ", source_text(added.where));
    if (on_warning) {
      on_warning(warning);
    } else {
      std::fprintf(stderr, "weft: warning: %s\n", warning.c_str());
    }
  }
};

Registry::Registry() : state_(std::make_shared<State>()) {
  const auto falls_through = [&](DispatchKey key) {
    state_->fallbacks[static_cast<std::size_t>(key)].push_back(
        &state_->keep(KernelFunction::fallthrough(), SourceLine::current()));
  };
  for (std::size_t index = 0; index < num_runtime_keys; ++index) {
    const auto key = static_cast<DispatchKey>(index);
    if (key != DispatchKey::undefined && !is_backend(key)) falls_through(key);
  }
}

Registry::~Registry() = default;

// What registers knows how to undo it before it does it: whatever throws on the way, no memory or a
// listener, leaves nothing registered.

Registration Registry::def(std::string_view text, SourceLine where) {
  FunctionSchema parsed = parse_schema(text);
  const std::lock_guard lock(state_->mutex);
  OperatorEntry& entry = state_->entry(parsed.name);
  WEFT_CHECK(
      !entry.is_defined, ArgumentError, "Tried to register an operator (", parsed.text(),
      ") with the same name and overload name multiple times. Each overload's schema should "
      "only be registered with a single call to def(). Duplicate registration: registered at ",
      source_text(where), ". Original registration: ", entry.debug(), ".");
  const FunctionSchema& schema = state_->schemas.emplace_back(std::move(parsed));
  Registration registration([state = state_, &entry] {
    const std::lock_guard guard(state->mutex);
    if (!entry.is_defined) return;
    state->tell(&RegistryListener::on_deregistered, entry);
    entry.undefine();
  });
  entry.define(schema, where);
  state_->tell(&RegistryListener::on_registered, entry);
  return registration;
}

Registration Registry::impl(std::string_view op_name, DispatchKey key, KernelFunction kernel,
                            SourceLine where) {
  const std::lock_guard lock(state_->mutex);
  const auto known = state_->entries.find(op_name);
  OperatorEntry& entry =
      known != state_->entries.end() ? known->second : state_->entry(parse_operator_name(op_name));
  entry.check_signature_of(kernel, key, where);
  const RegisteredKernel& kept = state_->keep(std::move(kernel), where);
  Registration registration([state = state_, &entry, key, &kept] {
    const std::lock_guard guard(state->mutex);
    entry.remove_kernel(key, kept);
  });
  if (const RegisteredKernel* shadowed = entry.add_kernel(key, kept))
    state_->warn_of_shadowing(entry, key, *shadowed, kept);
  return registration;
}

Registration Registry::fallback(DispatchKey key, KernelFunction kernel, SourceLine where) {
  WEFT_CHECK(!is_alias(key), ArgumentError, "a fallback is for one runtime key, got the alias ",
             name(key));
  WEFT_CHECK(!kernel.is_typed(), ArgumentError,
             "a fallback serves operators of every signature and must be boxed, got ",
             kernel.signature()->text(), " for ", name(key));
  const std::lock_guard lock(state_->mutex);
  const RegisteredKernel& kept = state_->keep(std::move(kernel), where);
  Registration registration([state = state_, key, &kept] {
    const std::lock_guard guard(state->mutex);
    std::erase(state->fallbacks[static_cast<std::size_t>(key)], &kept);
    state->update_rows(key);
  });
  state_->fallbacks[static_cast<std::size_t>(key)].push_back(&kept);
  state_->update_rows(key);
  return registration;
}

Registration Registry::claim_namespace(std::string_view name_space, SourceLine where) {
  WEFT_CHECK(!name_space.empty() && name_space.find(':') == std::string_view::npos, ArgumentError,
             "'", printable(name_space), "' is no namespace: no operator's name can begin with it");
  const std::lock_guard lock(state_->mutex);
  const auto claimed = state_->namespaces.find(name_space);
  WEFT_CHECK(claimed == state_->namespaces.end(), ArgumentError,
             "Only a single library can define the namespace ", name_space,
             "; please put all of your definitions in a single library, or into fragments. "
             "Previous library: registered at ",
             source_text(claimed->second), "; latest library: registered at ", source_text(where),
             ".");
  Registration registration([state = state_, owned = std::string(name_space)] {
    const std::lock_guard guard(state->mutex);
    state->namespaces.erase(owned);
  });
  state_->namespaces.emplace(name_space, where);
  return registration;
}

Registration Registry::add_listener(RegistryListener listener) {
  std::list<std::shared_ptr<const RegistryListener>> added;
  const auto told = std::make_shared<const RegistryListener>(std::move(listener));
  added.push_back(told);
  const std::lock_guard lock(state_->mutex);
  const auto place = added.begin();
  Registration registration([state = state_, place] {
    const std::lock_guard guard(state->mutex);
    place->reset();
    if (state->num_telling == 0) state->listeners.erase(place);
  });
  state_->listeners.splice(state_->listeners.end(), added);
  if (told->on_registered) {
    for (const OperatorHandle& op : operators()) told->on_registered(op);
  }
  return registration;
}

void Registry::set_warning_handler(std::function<void(const std::string&)> handler) {
  const std::lock_guard lock(state_->mutex);
  state_->on_warning = std::move(handler);
}

std::optional<OperatorHandle> Registry::find(std::string_view op_name) const {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->entries.find(op_name);
  if (found == state_->entries.end() || !found->second.is_defined) return std::nullopt;
  return found->second.handle();
}

OperatorHandle Registry::op(std::string_view op_name) const {
  if (const auto found = find(op_name)) return *found;
  std::vector<std::string> known;
  for (const OperatorHandle& defined : operators()) known.push_back(defined.name().text());
  const std::string hint = known.empty() ? "" : "; did you mean: ";
  throw ArgumentError(detail::concat("Could not find schema for ", op_name, hint,
                                     nearest_first(op_name, std::move(known), 3)));
}

std::vector<OperatorHandle> Registry::operators() const {
  const std::lock_guard lock(state_->mutex);
  std::vector<OperatorHandle> result;
  for (auto& [name, entry] : state_->entries) {
    if (entry.is_defined) result.push_back(entry.handle());
  }
  return result;
}

std::vector<OperatorHandle> Registry::dangling_impls() const {
  const std::lock_guard lock(state_->mutex);
  std::vector<OperatorHandle> result;
  for (auto& [name, entry] : state_->entries) {
    if (!entry.is_defined && entry.has_kernels()) result.push_back(entry.handle());
  }
  return result;
}

void Registry::check_invariants() const {
  const std::lock_guard lock(state_->mutex);
  for (const auto& [name, entry] : state_->entries) {
    WEFT_ASSERT(entry.name.text() == name, "listed as ", name);
    entry.check_invariants();
  }
}

std::string Registry::text() const {
  const std::lock_guard lock(state_->mutex);
  std::string result;
  for (const OperatorHandle& op : operators()) {
    result += op.schema().text() + "\n";
    const std::string table = op.dump_computed_table();
    for (std::size_t begin = 0; begin < table.size();) {
      const std::size_t end = table.find('\n', begin) + 1;
      result += "  " + table.substr(begin, end - begin);
      begin = end;
    }
  }
  return result;
}

Registry& detail::process_registry() {
  // Never destroyed: static objects of other files may hold registrations and make calls at exit.
  static Registry* const made = new Registry();
  return *made;
}

Registration& Registration::operator=(Registration&& other) noexcept {
  if (this != &other) {
    reset();
    undo_ = std::exchange(other.undo_, nullptr);
  }
  return *this;
}

void Registration::reset() noexcept {
  if (const auto undo = std::exchange(undo_, nullptr)) undo();
}

}  // namespace weft
