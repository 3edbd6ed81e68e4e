#include <weft/dispatch.h>
#include <weft/error.h>

#include <utility>

namespace weft {

Library::Library(Registry& registry, LibraryKind kind, std::string_view name_space,
                 SourceLine where)
    : registry_(&registry), kind_(kind), name_space_(name_space), where_(where) {
  if (kind_ == LibraryKind::definitions)
    registrations_.push_back(registry_->claim_namespace(name_space_, where));
}

Library& Library::def(std::string_view schema, SourceLine where) {
  require_definitions("def");
  registrations_.push_back(registry_->def(qualified(schema), where));
  return *this;
}

Library& Library::def_with(std::string_view schema, KernelFunction kernel, SourceLine where) {
  require_definitions("def");
  const std::string text = qualified(schema);
  const std::string op_name = parse_schema(text).name.text();
  // Both or none: a kernel that contradicts the schema takes the definition away with it.
  Registration definition = registry_->def(text, where);
  registrations_.push_back(
      registry_->impl(op_name, DispatchKey::composite_implicit_autograd, std::move(kernel), where));
  registrations_.push_back(std::move(definition));
  return *this;
}

Library& Library::impl_with(std::string_view op_name, DispatchKey key, KernelFunction kernel,
                            SourceLine where) {
  registrations_.push_back(registry_->impl(qualified(op_name), key, std::move(kernel), where));
  return *this;
}

Library& Library::fallback(DispatchKey key, KernelFunction kernel, SourceLine where) {
  registrations_.push_back(registry_->fallback(key, std::move(kernel), where));
  return *this;
}

std::string Library::qualified(std::string_view text) const {
  const std::string_view name = text.substr(0, text.find('('));
  const std::size_t colons = name.find("::");
  if (colons == name.npos) {
    std::string result;
    result.reserve(name_space_.size() + 2 + text.size());
    return result.append(name_space_).append("::").append(text);
  }
  WEFT_CHECK(name.substr(0, colons) == name_space_, ArgumentError, "\"", name,
             "\" is not in the namespace ", name_space_, " of the library made at ",
             source_text(where_));
  return std::string(text);
}

void Library::require_definitions(std::string_view what) const {
  WEFT_CHECK(kind_ != LibraryKind::kernels, ArgumentError, what,
             "() is for the library that defines the namespace ", name_space_,
             " or a fragment of it, not for a library of kernels made at ", source_text(where_));
}

}  // namespace weft
