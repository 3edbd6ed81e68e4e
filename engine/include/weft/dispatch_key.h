// Dispatch keys: why a call may need a kernel of its own, in the order in which they are asked.
// Mirrors c10/core/DispatchKey.h and DispatchKeySet.h of PyTorch, with one bit a key.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace [[gnu::visibility("default")]] weft {

class Tensor;

/// Runtime keys in ascending priority, then the aliases, which stand for several runtime keys when
/// kernels are registered and never occur in a key set.
enum class DispatchKey : std::uint8_t {
  undefined,  ///< no tensor argument and nothing included: the row of the empty set
  // backends: who computes
  cpu,
  cuda,
  meta,
  lazy,  ///< a functional backend: CompositeExplicitAutogradNonFunctional is not for it
  private_use1,
  private_use2,
  other1,  ///< backends without an Autograd key of their own
  other2,
  // between autograd and the backends
  user_inner1,
  user_inner2,
  // autograd, one a backend; `autograd_other` serves other1 and other2
  autograd_other,
  autograd_cpu,
  autograd_cuda,
  autograd_meta,
  autograd_lazy,
  autograd_private_use1,
  autograd_private_use2,
  // outside of autograd
  batched,
  user_outer1,
  user_outer2,
  profile,  ///< asked first, so that its times hold everything below
  // aliases
  autograd,
  composite_implicit_autograd,
  composite_explicit_autograd,
  composite_explicit_autograd_non_functional,
  batched_decomposition,
};

inline constexpr std::size_t num_runtime_keys = static_cast<std::size_t>(DispatchKey::autograd);
inline constexpr std::size_t num_dispatch_keys =
    static_cast<std::size_t>(DispatchKey::batched_decomposition) + 1;

constexpr bool is_alias(DispatchKey key) { return key >= DispatchKey::autograd; }
constexpr bool is_backend(DispatchKey key) {
  return key >= DispatchKey::cpu && key <= DispatchKey::other2;
}

/// PyTorch's spelling: "CPU", "CompositeImplicitAutograd".
std::string_view name(DispatchKey key);
std::optional<DispatchKey> parse_dispatch_key(std::string_view text);

/// A set of runtime keys.  A call goes to the kernel of the highest.
class DispatchKeySet {
 public:
  constexpr DispatchKeySet() = default;
  constexpr DispatchKeySet(DispatchKey key) : bits_(bit(key)) {}
  constexpr DispatchKeySet(std::initializer_list<DispatchKey> keys) {
    for (const DispatchKey key : keys) bits_ |= bit(key);
  }
  static constexpr DispatchKeySet from_bits(std::uint64_t bits) {
    DispatchKeySet result;
    result.bits_ = bits;
    return result;
  }
  static constexpr DispatchKeySet all() {
    return from_bits((std::uint64_t{1} << (num_runtime_keys - 1)) - 1);
  }

  constexpr std::uint64_t bits() const { return bits_; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool has(DispatchKey key) const { return (bits_ & bit(key)) != 0; }
  constexpr bool has_any(DispatchKeySet other) const { return (bits_ & other.bits_) != 0; }
  constexpr DispatchKeySet operator|(DispatchKeySet other) const {
    return from_bits(bits_ | other.bits_);
  }
  constexpr DispatchKeySet operator&(DispatchKeySet other) const {
    return from_bits(bits_ & other.bits_);
  }
  constexpr DispatchKeySet operator-(DispatchKeySet other) const {
    return from_bits(bits_ & ~other.bits_);
  }
  constexpr bool operator==(const DispatchKeySet&) const = default;

  /// Row of the dispatch table: 0 for the empty set.
  constexpr std::size_t highest_index() const {
    return static_cast<std::size_t>(std::bit_width(bits_));
  }
  constexpr DispatchKey highest() const { return static_cast<DispatchKey>(highest_index()); }
  /// The keys of lower priority than `key`; for the alias `autograd`, those below every autograd
  /// key.  What a kernel passes to redispatch().
  constexpr DispatchKeySet below(DispatchKey key) const {
    if (key == DispatchKey::autograd) key = DispatchKey::autograd_other;
    const std::uint64_t key_bit = bit(key);
    return from_bits(key_bit == 0 ? 0 : bits_ & (key_bit - 1));
  }

 private:
  /// Neither `undefined` nor an alias is ever a member.
  static constexpr std::uint64_t bit(DispatchKey key) {
    if (key == DispatchKey::undefined || is_alias(key)) return 0;
    return std::uint64_t{1} << (static_cast<unsigned>(key) - 1);
  }
  std::uint64_t bits_ = 0;
};

/// "{CPU, AutogradCPU}", lowest priority first.
std::string text(DispatchKeySet keys);

inline constexpr DispatchKeySet backend_keys{
    DispatchKey::cpu,          DispatchKey::cuda,         DispatchKey::meta,   DispatchKey::lazy,
    DispatchKey::private_use1, DispatchKey::private_use2, DispatchKey::other1, DispatchKey::other2};
inline constexpr DispatchKeySet autograd_keys{
    DispatchKey::autograd_other,        DispatchKey::autograd_cpu,
    DispatchKey::autograd_cuda,         DispatchKey::autograd_meta,
    DispatchKey::autograd_lazy,         DispatchKey::autograd_private_use1,
    DispatchKey::autograd_private_use2,
};

/// The runtime keys that an alias stands for; of a runtime key, the key itself.
constexpr DispatchKeySet runtime_keys(DispatchKey key) {
  switch (key) {
    case DispatchKey::autograd: return autograd_keys;
    case DispatchKey::composite_implicit_autograd: return backend_keys | autograd_keys;
    case DispatchKey::composite_explicit_autograd: return backend_keys;
    case DispatchKey::composite_explicit_autograd_non_functional:
      return backend_keys - DispatchKey::lazy;
    case DispatchKey::batched_decomposition: return DispatchKey::batched;
    default: return key;
  }
}

/// The autograd key of a backend; `undefined` for other keys.
constexpr DispatchKey autograd_of(DispatchKey backend) {
  switch (backend) {
    case DispatchKey::cpu: return DispatchKey::autograd_cpu;
    case DispatchKey::cuda: return DispatchKey::autograd_cuda;
    case DispatchKey::meta: return DispatchKey::autograd_meta;
    case DispatchKey::lazy: return DispatchKey::autograd_lazy;
    case DispatchKey::private_use1: return DispatchKey::autograd_private_use1;
    case DispatchKey::private_use2: return DispatchKey::autograd_private_use2;
    case DispatchKey::other1:
    case DispatchKey::other2: return DispatchKey::autograd_other;
    default: return DispatchKey::undefined;
  }
}
/// The backends that an autograd key serves; empty for other keys.
constexpr DispatchKeySet backends_of(DispatchKey autograd) {
  DispatchKeySet result;
  for (std::size_t index = 1; index < num_runtime_keys; ++index) {
    const auto backend = static_cast<DispatchKey>(index);
    if (autograd != DispatchKey::undefined && autograd_of(backend) == autograd)
      result = result | backend;
  }
  return result;
}

/// What a tensor argument adds to a call: its device's backend key and that backend's autograd key;
/// nothing if it is undefined.
DispatchKeySet dispatch_keys_of(const Tensor& tensor) noexcept;

/// The keys that this thread adds to, and removes from, every call.
struct LocalDispatchKeys {
  DispatchKeySet included;
  DispatchKeySet excluded;  ///< wins over `included` and over the arguments
};

namespace detail {
// constinit on the declaration: callers then know that no thread has to initialise it, and a read
// is a load instead of a call.
extern constinit thread_local LocalDispatchKeys local_dispatch_keys;
}  // namespace detail

inline LocalDispatchKeys local_dispatch_keys() { return detail::local_dispatch_keys; }

/// Includes keys on this thread while it lives.  Of nested guards each undoes only what it added.
class [[nodiscard]] IncludeDispatchKeyGuard {
 public:
  explicit IncludeDispatchKeyGuard(DispatchKeySet keys)
      : added_(keys - detail::local_dispatch_keys.included) {
    auto& included = detail::local_dispatch_keys.included;
    included = included | added_;
  }
  ~IncludeDispatchKeyGuard() {
    auto& included = detail::local_dispatch_keys.included;
    included = included - added_;
  }
  IncludeDispatchKeyGuard(const IncludeDispatchKeyGuard&) = delete;
  IncludeDispatchKeyGuard& operator=(const IncludeDispatchKeyGuard&) = delete;

 private:
  DispatchKeySet added_;
};

/// Excludes keys on this thread while it lives.
class [[nodiscard]] ExcludeDispatchKeyGuard {
 public:
  explicit ExcludeDispatchKeyGuard(DispatchKeySet keys)
      : added_(keys - detail::local_dispatch_keys.excluded) {
    auto& excluded = detail::local_dispatch_keys.excluded;
    excluded = excluded | added_;
  }
  ~ExcludeDispatchKeyGuard() {
    auto& excluded = detail::local_dispatch_keys.excluded;
    excluded = excluded - added_;
  }
  ExcludeDispatchKeyGuard(const ExcludeDispatchKeyGuard&) = delete;
  ExcludeDispatchKeyGuard& operator=(const ExcludeDispatchKeyGuard&) = delete;

 private:
  DispatchKeySet added_;
};

/// Replaces this thread's sets while it lives: how work handed to another thread keeps the sets of
/// the thread that asked for it.
class [[nodiscard]] ForceDispatchKeyGuard {
 public:
  explicit ForceDispatchKeyGuard(LocalDispatchKeys keys) : saved_(detail::local_dispatch_keys) {
    detail::local_dispatch_keys = keys;
  }
  ~ForceDispatchKeyGuard() { detail::local_dispatch_keys = saved_; }
  ForceDispatchKeyGuard(const ForceDispatchKeyGuard&) = delete;
  ForceDispatchKeyGuard& operator=(const ForceDispatchKeyGuard&) = delete;

 private:
  LocalDispatchKeys saved_;
};

}  // namespace weft
