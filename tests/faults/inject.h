// Makes the n-th allocation or system call of weft fail, by functions that the linker puts in front
// of the real ones (--wrap) and by operator new.  Nothing of it is in the library.
#pragma once

#include <cstdint>

namespace weft::faults {

enum class Kind { memory, system, any };

/// Fails the n-th call of a kind, or that and all later ones, as long as it lives.
///
/// Threads: calls of all threads count; one object at a time.
class Injection {
 public:
  enum class Span { once, from_then_on };
  Injection(Kind kind, std::int64_t nth, Span span);
  ~Injection();
  Injection(const Injection&) = delete;
  Injection& operator=(const Injection&) = delete;

  /// Whether any call has failed.
  bool has_hit() const;
};

/// Whether this call, of memory or of the system, is to fail.
bool fails(Kind kind) noexcept;

/// While it lives, the system places what is mapped off pages of 2 MiB; it may do so at any time.
class MappingsOffHugePages {
 public:
  MappingsOffHugePages();
  ~MappingsOffHugePages();
  MappingsOffHugePages(const MappingsOffHugePages&) = delete;
  MappingsOffHugePages& operator=(const MappingsOffHugePages&) = delete;
};
bool maps_off_huge_pages() noexcept;

/// What weft holds now, of each kind that a fault could make it lose.
struct Held {
  std::int64_t blocks = 0;        ///< of operator new
  std::int64_t mapped_bytes = 0;  ///< of mmap(), less what munmap() was asked for
  std::int64_t files = 0;         ///< descriptors of the process
  std::int64_t tensor_bytes = 0;  ///< of storages
};
Held held();
void count_mapped_bytes(std::int64_t change) noexcept;

}  // namespace weft::faults
