// Rows that leave a buffer past the caches whole cache lines at a time, wherever each of them
// begins.
#pragma once

#include "jit/tiles/move.h"

#include <cstddef>
#include <cstdint>

namespace weft::jit::tiles {

/// Rows of bytes that are in a buffer, and go to where they stay unread for a while.
struct Rows {
  std::byte* to;
  std::int64_t to_stride;
  const std::byte* from;
  std::int64_t from_stride;
  std::int64_t num_rows;
  std::int64_t size_bytes;
};

/// Copies rows, whole cache lines past the caches.
void stream_rows(const Rows& rows);

/// A line of which one part is stored past the caches and another through them is written to memory
/// twice, and read in between.  So what there is of a row's last line stays in the buffer, in front
/// of what follows, until the rest of the line is there; only the first and last lines of rows go
/// through the caches, where they share them with others.
class RowsByLines {
 public:
  static constexpr std::int64_t least_piece_bytes = line_bytes;  ///< so that each ends a line

  RowsByLines() = default;  // without values
  /// Rows of `to_stride` bytes from one to the next, of which the buffer holds pieces of at most
  /// `piece_bytes`.  Requires: size_bytes(num_rows, piece_bytes) bytes at `buffer`.
  RowsByLines(std::byte* buffer, std::int64_t to_stride, std::int64_t piece_bytes)
      : buffer_(buffer), to_stride_(to_stride), stride_(stride_bytes(piece_bytes)) {}

  static std::int64_t size_bytes(std::int64_t num_rows, std::int64_t piece_bytes) {
    return num_rows * stride_bytes(piece_bytes);
  }

  /// Where the piece of row 0 is put; those of the others are stride_bytes() apart.
  std::byte* pieces() const { return buffer_ + line_bytes; }
  std::int64_t stride_bytes() const { return stride_; }

  /// Writes pieces of `size_bytes`, which begin where those written before ended unless they are
  /// the first of their rows, the first one to `to`.  What is left of their last lines is kept
  /// unless they are the last.  Requires: least_piece_bytes of pieces that others follow.
  void write(std::byte* to, std::int64_t num_rows, std::int64_t size_bytes, bool is_first,
             bool is_last) const;

 private:
  /// An odd number of lines, so that pieces don't fight for the same places of a cache.
  static std::int64_t stride_bytes(std::int64_t piece_bytes) {
    const std::int64_t lines = (piece_bytes + line_bytes - 1) / line_bytes + 1;
    return (lines | 1) * line_bytes;
  }

  std::byte* buffer_;
  std::int64_t to_stride_;
  std::int64_t stride_;
};

}  // namespace weft::jit::tiles
