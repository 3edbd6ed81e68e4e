// The tile schedule: what of it is machine code, and the walk that calls it.
//
// Operands that are dense along the loop around the innermost are transposed a tile at a time into
// a buffer that stays in the first cache; an ordinary kernel, compiled for the two innermost loops,
// then runs over the tile as if they had always lain that way, and outputs go the reverse way.  A
// kernel that only copies needs neither buffer nor kernel: it is the transposition itself.
//
// The walk is the same for all backends; they emit what it calls.
#pragma once

#include "jit/code_object.h"
#include "jit/tiles/functions.h"

#include "ir/kernel.h"
#include "runtime/cache_line.h"

#include <weft/tuning.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace weft::jit::tiles {

/// Where a function starts, in bytes from the start of the code; 0, the entry, stands for none.
using FunctionOffset = std::uint32_t;

/// What a tile kernel knows of an operand.
struct TileOperand {
  int itemsize = 0;
  bool is_output = false;
  bool is_staged = false;                  ///< goes through the buffer
  bool is_reversed = false;                ///< dense downwards
  FunctionOffset wide_transpose = 0;       ///< by steps of wide_step_bytes
  FunctionOffset narrow_transpose = 0;     ///< by steps of 16 bytes, for few lines
  FunctionOffset streaming_transpose = 0;  ///< as the wide one, past the caches; for copies
  /// Items between neighbours along the innermost loop if those are 2 to 4, else 0: pixels of so
  /// many channels, which `interleave` takes apart (inputs) or puts together (outputs).
  int ways = 0;
  int group_items = 0;  ///< pixels that it moves at once
  FunctionOffset interleave = 0;
  FunctionOffset streaming_interleave = 0;
};

/// The context of a tile kernel; immutable once its code is in place.
struct TileCode {
  const std::byte* code = nullptr;
  std::size_t num_loops = 0;
  bool is_copy = false;  ///< one staged operand, one that is not, and nothing to compute
  std::vector<TileOperand> operands;
  FunctionOffset rows = 0;  ///< the kernel for the two innermost loops; none for copies
  /// The same with the outputs that are not staged written past the caches, if there are any.
  FunctionOffset streaming_rows = 0;
  /// For copies: planes of few lines, many of them in one call; none where items are of other
  /// sizes.
  FunctionOffset short_transpose = 0;
  std::int64_t least_short_lines = 0;
  /// The kernel for rows whose transposed inputs stay in registers.  Extents are multiples of
  /// fused_step_rows and fused_step_columns.
  FunctionOffset fused_rows = 0;
  /// The same for large calls: it asks for what it reads later, and where `large_fused_streams`
  /// writes past the caches, to rows that must begin with a cache line.
  FunctionOffset large_fused_rows = 0;
  bool large_fused_streams = false;
  int fused_step_rows = 0;
  int fused_step_columns = 0;
  /// The kernel for pixels as they lie, if all operands are pixels of as many channels or the same
  /// for every pixel: those are repeated in a buffer as often as there are pixels in a row.
  FunctionOffset pixel_rows = 0;
  FunctionOffset streaming_pixel_rows = 0;  ///< the same, past the caches
  /// The same for runs of short rows in which inputs that stand still along them are gathered, too:
  /// every operand is dense.  None where there are no such inputs.
  FunctionOffset gathered_rows = 0;
  /// A call that moves so much no longer fits the second cache; the lines that a transposition
  /// writes all over its output are then better not fetched first.
  std::int64_t streaming_bytes = 0;
  std::int64_t copy_streaming_bytes = 0;  ///< the same for copies
  std::int64_t large_bytes = 0;           ///< from here on, tiles are better large
  /// The buffer of a large call's tiles, and that of one which fits the last cache: what the second
  /// cache can spare.
  std::int64_t large_buffer_bytes = 0;
  std::int64_t cached_buffer_bytes = 0;
  std::int64_t last_cache_bytes = 0;
  /// Of a large tile, which a transposition fills as wide panels at a time: as many lines as make
  /// it are read at once.
  std::int64_t panel_bytes = 0;
  /// Whether few rows that are written past the caches go through a buffer where they lie a
  /// multiple of a page apart.
  bool stages_aliases = false;
  /// Planes of as many rows and columns keep transposed inputs in registers in large calls, too, up
  /// to those that move `most_fused_bytes`.
  std::int64_t fused_side = 0;
  std::int64_t most_fused_bytes = 0;
  bool fuses_aliases = false;  ///< or more, if lines fight for a cache
  /// Whether transposed lines that fight for the first cache are better off with a buffer in large
  /// calls, and rows whose loads wait for the stores of other rows in all.
  bool stages_fighting_lines = false;
  std::int64_t most_large_fused_bytes = 0;  ///< the same for the code for large calls
  /// The least for that code where transposed lines fight for a cache, unless rows of the outputs
  /// lie a multiple of a page apart.
  std::int64_t least_fighting_fused_bytes = 0;
  /// Copies of planes that move so much write pairs of lines past the caches: two lines of a row,
  /// and then the next row.  Others read as many lines at once as processors keep track of.
  std::int64_t least_pairs_bytes = 0;
  /// What row kernels write leaves by a buffer, where rows share lines, in calls that move so much.
  std::int64_t least_joined_bytes = 0;
  std::int64_t least_fetched_bytes = 0;  ///< calls that move so much ask for what they read later
  /// Whether long lines are always asked for along them: those that fight for the first cache with
  /// what a row kernel reads, too.
  bool fetches_along = false;
  bool copies_fetch_along = false;  ///< those without gaps, by copies

  template <class Function>
  Function* at(FunctionOffset offset) const {
    // POSIX allows the conversion of an object pointer to a function pointer that C++ leaves open.
    return reinterpret_cast<Function*>(reinterpret_cast<std::uintptr_t>(code + offset));
  }
};

/// Runs a tile kernel.  Does not throw.
void run_tiles(const KernelArgs* args, const TileCode* tile);

/// The kernels among a tile kernel's functions, and what code for them is called.
enum class RowKind : std::uint8_t {
  plain,
  streaming,
  pixels,
  streaming_pixels,
  gathered,
  fused,
  large_fused,  ///< for calls that move more than the caches hold
};
std::string_view name(RowKind kind);

/// What a backend has to make for a tile kernel.  Every call returns where the function is, or will
/// be; the same function may be asked for again.
class Functions {
 public:
  Functions() = default;
  Functions(const Functions&) = delete;
  Functions& operator=(const Functions&) = delete;
  virtual ~Functions() = default;

  /// A KernelFunction of a kernel that is linear or strided.
  virtual FunctionOffset rows(RowKind kind, const ir::Kernel& kernel) = 0;
  /// A KernelFunction of the two innermost loops of a tile kernel that can_fuse(), whose transposed
  /// inputs never leave the registers.  Extents are multiples of fused_rows_a_step() and of the
  /// lanes, and not zero; strides are those of the operands as they lie.  `large_fused` asks for
  /// what it reads later, and writes past the caches if fused_rows_stream().  0 if the backend has
  /// none.
  virtual FunctionOffset fused_rows(RowKind kind, const ir::Kernel& kernel) = 0;
  virtual FunctionOffset transpose(const TransposeShape& shape) = 0;
  virtual FunctionOffset interleave(const InterleaveShape& shape) = 0;
  /// Asked for where has_short_transpose().
  virtual FunctionOffset short_transpose(int itemsize) = 0;
};

/// Asks for all functions that a tile kernel needs and describes it in `tile`, of which the address
/// of the code and the thresholds are left as they are.
void describe_tile(const ir::Kernel& kernel, const CpuFeatures& features, Functions& functions,
                   TileCode& tile);

/// What a call moves, from which on it writes past the caches.
struct StreamingThresholds {
  std::int64_t bytes;
  std::int64_t copy_bytes;  ///< of copies
};
/// `tuning`'s, or if that has none, those that suit the processor.
StreamingThresholds streaming_thresholds(const CpuFeatures& features, const Tuning& tuning);

/// Sets the thresholds of TileCode to what this machine's are.
void set_thresholds(TileCode& tile, const CpuFeatures& features);

/// Whether the kernel copies one operand to another and does nothing else.
bool is_transposing_copy(const ir::Kernel& kernel);

/// Whether transposed inputs may stay in registers: they are few and no output is transposed, their
/// items fill the vectors, everything else is dense along the rows, and the body is short.
bool can_fuse(const ir::Kernel& kernel, const CpuFeatures& features);

/// The operands that such a kernel transposes.
std::vector<std::size_t> transposed_operands(const ir::Kernel& kernel);

/// Rows that fused rows come in: as many as 16 bytes of a transposed input have items.
int fused_rows_a_step(const ir::Kernel& kernel);

/// Whether every row of every output is written a whole cache line at a time.
bool fused_rows_stream(const ir::Kernel& kernel);

/// How far ahead large calls ask for lines of what is transposed, and for rows of what is not.
inline constexpr int fused_bytes_ahead = 3 * line_bytes;
inline constexpr int fused_rows_ahead = 32;

/// Steps that read a line of the cache to its end.
inline constexpr int fused_steps_a_block = line_bytes / lane_bytes;

/// The operands of a tile kernel of which large calls ask for rows ahead: inputs that are not
/// transposed, of pieces that are not so short that a line would be asked for four times.
///
/// Where there are any, each step asks for its share of a block's lines: all of them at once wait
/// for one another, and so do rows that are read in between.  Alone they do better at once.
std::vector<std::size_t> asked_rows(const ir::Kernel& kernel);

/// The kernel for the two innermost loops of a tile, in which staged operands have become linear.
ir::Kernel row_kernel(const ir::Kernel& kernel);

}  // namespace weft::jit::tiles
