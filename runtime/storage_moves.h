// How often a storage has moved in this process: lets prepared plans see with one load that every
// address they hold is still right.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::detail {

/// Counted by Storage::resize_bytes() when data() changes.
extern std::atomic<std::uint64_t> num_storage_moves;

}  // namespace weft::detail
