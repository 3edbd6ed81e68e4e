#include "tests/faults/inject.h"

#include "runtime/allocator.h"
#include "tests/faults/sites.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <new>

namespace weft::faults {
namespace {

constinit std::atomic<bool> is_armed{false};
constinit std::atomic<int> armed_kind{0};
constinit std::atomic<bool> fails_from_then_on{false};
constinit std::atomic<std::int64_t> calls_left{0};
constinit std::atomic<bool> was_hit{false};
constinit std::atomic<std::int64_t> live_blocks{0};
constinit std::atomic<std::int64_t> mapped_bytes{0};
constinit std::atomic<bool> is_off_huge_pages{false};

}  // namespace

Injection::Injection(Kind kind, std::int64_t nth, Span span) {
  prepare_sites();
  armed_kind = static_cast<int>(kind);
  fails_from_then_on = span == Span::from_then_on;
  calls_left = nth;
  was_hit = false;
  is_armed = true;
}

Injection::~Injection() { is_armed = false; }

bool Injection::has_hit() const { return was_hit; }

bool fails(Kind kind) noexcept {
  const auto armed = static_cast<Kind>(armed_kind.load());
  if (!is_armed.load() || (armed != Kind::any && armed != kind)) return false;
  const std::int64_t left = calls_left.fetch_sub(1);
  if (left > 1 || (left < 1 && !fails_from_then_on.load())) return false;
  was_hit = true;
  return true;
}

MappingsOffHugePages::MappingsOffHugePages() { is_off_huge_pages = true; }
MappingsOffHugePages::~MappingsOffHugePages() { is_off_huge_pages = false; }
bool maps_off_huge_pages() noexcept { return is_off_huge_pages; }

Held held() {
  namespace fs = std::filesystem;
  Held now{live_blocks, mapped_bytes, 0, static_cast<std::int64_t>(allocator_stats().live_bytes)};
  now.files = std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  return now;
}

void count_mapped_bytes(std::int64_t change) noexcept { mapped_bytes += change; }

}  // namespace weft::faults

namespace {

constexpr std::size_t usual = 16;

void* new_block(std::size_t size_bytes, std::size_t alignment) noexcept {
  namespace faults = weft::faults;
  if (faults::fails(faults::Kind::memory)) return nullptr;
  alignment = std::max(alignment, usual);  // posix_memalign() takes no smaller one than a pointer's
  const std::size_t padded_bytes = (size_bytes + alignment - 1) / alignment * alignment;
  void* block = nullptr;
  if (posix_memalign(&block, alignment, std::max<std::size_t>(padded_bytes, 1)) != 0)
    return nullptr;
  ++faults::live_blocks;
  return block;
}

void* new_block_or_throw(std::size_t size_bytes, std::size_t alignment) {
  void* const block = new_block(size_bytes, alignment);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

void delete_block(void* block) noexcept {
  if (block == nullptr) return;
  --weft::faults::live_blocks;
  std::free(block);
}

}  // namespace

using std::align_val_t, std::nothrow_t, std::size_t;

void* operator new(size_t size) { return new_block_or_throw(size, usual); }
void* operator new[](size_t size) { return new_block_or_throw(size, usual); }
void* operator new(size_t size, align_val_t alignment) {
  return new_block_or_throw(size, static_cast<size_t>(alignment));
}
void* operator new[](size_t size, align_val_t alignment) {
  return new_block_or_throw(size, static_cast<size_t>(alignment));
}
void* operator new(size_t size, const nothrow_t&) noexcept { return new_block(size, usual); }
void* operator new[](size_t size, const nothrow_t&) noexcept { return new_block(size, usual); }
void operator delete(void* block) noexcept { delete_block(block); }
void operator delete[](void* block) noexcept { delete_block(block); }
void operator delete(void* block, size_t) noexcept { delete_block(block); }
void operator delete[](void* block, size_t) noexcept { delete_block(block); }
void operator delete(void* block, align_val_t) noexcept { delete_block(block); }
void operator delete[](void* block, align_val_t) noexcept { delete_block(block); }
void operator delete(void* block, size_t, align_val_t) noexcept { delete_block(block); }
void operator delete[](void* block, size_t, align_val_t) noexcept { delete_block(block); }
void operator delete(void* block, const nothrow_t&) noexcept { delete_block(block); }
void operator delete[](void* block, const nothrow_t&) noexcept { delete_block(block); }
