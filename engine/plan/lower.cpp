#include "engine/plan/lower.h"

#include "engine/plan/streaming.h"
#include "jit/short_rows.h"
#include "jit/tiles/functions.h"

#include <weft/error.h>
#include <weft/inline_array.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <span>

namespace weft {
namespace {

/// Whether the body only moves bytes: loads of one dtype stored as they are.
bool moves_only(const std::vector<ir::Inst>& body) {
  for (const ir::Inst& inst : body)
    if ((inst.op != Op::load && inst.op != Op::store) || inst.dtype != body.front().dtype)
      return false;
  return !body.empty();
}

/// The unsigned integer that moves items of this size; c128 has none and stays as it is.
DType mover(DType dtype) {
  switch (itemsize_bytes(dtype)) {
    case 1: return DType::u8;
    case 2: return DType::u16;
    case 4: return DType::u32;
    case 8: return DType::u64;
    default: return dtype;
  }
}

/// Copies without conversion are the same work for all dtypes of a size, so they share one kernel.
void share_moves(ir::Kernel& kernel) {
  if (!moves_only(kernel.body)) return;
  const DType dtype = mover(kernel.body.front().dtype);
  for (ir::Inst& inst : kernel.body) inst.dtype = dtype;
  for (ir::Operand& operand : kernel.operands) operand.dtype = dtype;
}

/// c128 moves become two u64 moves an item: of runs of items twice as many, and on a device, where
/// neighbouring threads take them, an innermost loop of two.  Others stay what they are, for loops
/// of two start anew with each item; backends move their parts side by side.
void split_wide_moves(Lowered& lowered, DeviceType runs_on) {
  ir::Kernel& kernel = lowered.kernel;
  if (!moves_only(kernel.body) || kernel.body.front().dtype != DType::c128) return;
  const bool is_dense = std::ranges::all_of(
      kernel.operands, [](const ir::Operand& operand) { return operand.strides.back() == 1; });
  if (!is_dense && runs_on == DeviceType::cpu) return;
  for (ir::Inst& inst : kernel.body) inst.dtype = DType::u64;
  for (ir::Operand& operand : kernel.operands) operand.dtype = DType::u64;
  const std::size_t num_operands = kernel.operands.size();
  if (is_dense) {
    lowered.extents.back() *= 2;
    std::fill_n(lowered.stride_bytes.rbegin(), num_operands, 8);
    return;
  }
  kernel.loops.push_back({});
  lowered.extents.push_back(2);
  for (ir::Operand& operand : kernel.operands) {
    operand.strides.back() = ir::stride_any;
    operand.strides.push_back(1);
    lowered.stride_bytes.push_back(8);
  }
}

/// Rows shorter than this fill no vector, and cost more to start than to run.
constexpr std::int64_t small_inner_extent = 8;

/// Iterations below which walking tile by tile costs more to set up than it saves; rectangles that
/// are not narrow pay earlier.
constexpr std::int64_t min_tiled_iterations = 512;
constexpr std::int64_t min_square_iterations = 144;

/// Whether rows of so many items fill half a register at least, by the widest of the operands.
bool fill_vectors(std::int64_t num_items, std::span<const DType> dtypes) {
  std::int64_t widest = 1;
  for (const DType dtype : dtypes)
    widest = std::max(widest, static_cast<std::int64_t>(itemsize_bytes(dtype)));
  return num_items > small_inner_extent ||
         (num_items == small_inner_extent && num_items * widest >= 2 * jit::tiles::lane_bytes);
}

/// The dimension that becomes the innermost loop.  It is the iterator's fastest, unless its rows
/// are so short (the channels of an image) that strided vectors along the longest dimension do
/// better.
std::size_t innermost_dim(IntSpan shape, std::span<const DType> dtypes) {
  if (shape.size() < 2 || fill_vectors(shape[0], dtypes)) return 0;
  const auto longest = std::max_element(shape.begin(), shape.end()) - shape.begin();
  return shape[static_cast<std::size_t>(longest)] >= 4 * shape[0]
             ? static_cast<std::size_t>(longest)
             : 0;
}

/// Stands for no dimension.
constexpr std::size_t no_dim = std::numeric_limits<std::size_t>::max();

/// Pixels in fewer bytes a channel than this are taken apart faster with strides.
constexpr std::int64_t min_pixel_row_bytes = 512;

/// Whether an operand that is dense along `dim` is pixels without gaps along `inner`, and many.
bool has_pixels(IntSpan shape, IntSpan strides, std::size_t dim, std::size_t inner,
                std::int64_t itemsize) {
  return std::abs(strides[inner]) == wrapping_product(shape[dim], itemsize) &&
         shape[inner] >= min_pixel_row_bytes / itemsize;
}

/// Whether it does better tile by tile: its runs fill vectors, or are pixels; of few elements, if
/// they are no narrow rectangle and fill what transpositions read at once.
bool has_tiles(const TensorIterator& iterator, IntSpan strides, std::size_t dim, std::size_t inner,
               std::int64_t itemsize) {
  const IntSpan shape = iterator.shape();
  if (iterator.numel() >= min_tiled_iterations)
    return shape[dim] >= small_inner_extent || has_pixels(shape, strides, dim, inner, itemsize);
  return std::min(shape[dim], shape[inner]) > small_inner_extent &&
         std::max(shape[dim], shape[inner]) * itemsize >= jit::tiles::lane_bytes;
}

/// The dimension along which most of the bytes are dense that are not so along `inner`; no_dim if
/// the operands agree about the fastest dimension.  Inputs with rows too short for a vector (the
/// channels of an image) count only where they are moved as they are: a body reads them faster with
/// strides than from a buffer.
std::size_t tile_dim(const TensorIterator& iterator, const Program& program,
                     std::span<const DType> dtypes, std::size_t inner) {
  const bool is_move = program.body.size() <= 2;  // a load and a store
  const IntSpan shape = iterator.shape();
  if (iterator.numel() < min_square_iterations) return no_dim;
  InlineArray<std::size_t, 8> bytes(shape.size());
  std::ranges::fill(bytes, 0);
  for (std::size_t i = 0; i < dtypes.size(); ++i) {
    const auto strides = iterator.stride_bytes(static_cast<int>(i));
    const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(dtypes[i]));
    if (strides[inner] == 0 || std::abs(strides[inner]) == itemsize) continue;
    for (std::size_t dim = 0; dim < shape.size(); ++dim)
      if (std::abs(strides[dim]) == itemsize && shape[dim] > 1 &&
          (is_move || static_cast<int>(i) < program.num_outputs ||
           shape[dim] >= small_inner_extent) &&
          has_tiles(iterator, strides, dim, inner, itemsize))
        bytes[dim] += itemsize_bytes(dtypes[i]);
  }
  const auto most = std::max_element(bytes.begin(), bytes.end());
  return most == bytes.end() || *most == 0 ? no_dim
                                           : static_cast<std::size_t>(most - bytes.begin());
}

/// Which dimension becomes the innermost loop, and which the loop around it if there are tiles.
struct Nesting {
  std::size_t inner = 0;
  std::size_t tile = no_dim;
};

constexpr std::int64_t most_channels = 4;  ///< of pixels

/// The dimension other than the fastest along which inputs are dense; no_dim if all operands agree
/// with the fastest, or not all others with one other.
std::size_t other_dense_dim(const TensorIterator& iterator, int num_outputs,
                            std::span<const DType> dtypes) {
  std::size_t found = no_dim;
  for (std::size_t i = 0; i < dtypes.size(); ++i) {
    const IntSpan strides = iterator.stride_bytes(static_cast<int>(i));
    const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(dtypes[i]));
    const bool is_output = static_cast<int>(i) < num_outputs;
    if (strides[0] == itemsize || (strides[0] == 0 && !is_output)) continue;
    const auto dense = std::ranges::find_if(
        strides.subspan(1), [&](std::int64_t stride) { return std::abs(stride) == itemsize; });
    const auto dim = static_cast<std::size_t>(dense - strides.begin());
    if (is_output || dense == strides.end() || iterator.shape()[dim] < 2) return no_dim;
    if (found != no_dim && found != dim) return no_dim;
    found = dim;
  }
  return found;
}

/// Whether the rows of these operands follow one another for a while, each as it goes on within
/// one.
template <class IsMeant>
bool have_runs(const TensorIterator& iterator, std::size_t num_operands, IsMeant is_meant) {
  const IntSpan shape = iterator.shape();
  std::int64_t items = shape[0];
  const auto follows = [&](std::size_t dim) {
    for (std::size_t i = 0; i < num_operands; ++i) {
      const IntSpan strides = iterator.stride_bytes(static_cast<int>(i));
      if (is_meant(i) && strides[dim] != items * strides[0]) return false;
    }
    return true;
  };
  for (std::size_t dim = 1; dim < shape.size() && items <= jit::most_short_row_items; ++dim)
    if (follows(dim)) items *= shape[dim];
  return items > jit::most_short_row_items;
}

/// Whether there are such runs of all operands that are dense along the rows, or the same all
/// along; or, where few inputs lie otherwise than the outputs, at least of the outputs.
bool has_runs(const TensorIterator& iterator, int num_outputs, std::span<const DType> dtypes) {
  const auto strides = [&](std::size_t i) { return iterator.stride_bytes(static_cast<int>(i)); };
  const auto itemsize = [&](std::size_t i) {
    return static_cast<std::int64_t>(itemsize_bytes(dtypes[i]));
  };
  const auto is_in_order = [&](std::size_t i) {
    return strides(i)[0] == 0 || strides(i)[0] == itemsize(i);
  };
  if (have_runs(iterator, dtypes.size(), is_in_order)) return true;
  const auto lies_as_output = [&](std::size_t i) {
    return std::ranges::equal(strides(i), strides(0), [&](std::int64_t x, std::int64_t y) {
      return x * itemsize(0) == y * itemsize(i);
    });
  };
  const auto is_output = [&](std::size_t i) { return i < static_cast<std::size_t>(num_outputs); };
  std::size_t num_others = 0;
  for (std::size_t i = 0; i < dtypes.size(); ++i)
    if (!is_output(i) && !lies_as_output(i)) ++num_others;
  return num_others <= jit::most_gathered_inputs && have_runs(iterator, dtypes.size(), is_output);
}

/// For outputs that are written in short rows while inputs are dense along another dimension: tiles
/// of such sides are gathered item by item.  Without a tile for anything else.
Nesting short_tiles(const TensorIterator& iterator, const Program& program,
                    std::span<const DType> dtypes) {
  const IntSpan shape = iterator.shape();
  if (iterator.numel() < min_tiled_iterations || shape[0] > jit::most_short_row_items) return {};
  const std::size_t dim = other_dense_dim(iterator, program.num_outputs, dtypes);
  if (dim == no_dim || !has_runs(iterator, program.num_outputs, dtypes)) return {};
  const bool is_pixels = shape[0] <= most_channels && innermost_dim(shape, dtypes) == dim &&
                         has_pixels(shape, iterator.stride_bytes(0), 0, dim,
                                    static_cast<std::int64_t>(itemsize_bytes(dtypes[0])));
  const bool is_short = std::min(shape[0], shape[dim]) <= small_inner_extent ||
                        shape[0] * shape[dim] <= jit::most_short_plane_items;
  return is_pixels || !is_short ? Nesting{} : Nesting{.inner = 0, .tile = dim};
}

/// On a device neighbouring threads take neighbours of the output, however short its rows are.
Nesting device_nesting(const TensorIterator& iterator, const Program& program,
                       std::span<const DType> dtypes) {
  const IntSpan shape = iterator.shape();
  const std::size_t tile = tile_dim(iterator, program, dtypes, 0);
  const bool is_short = tile == no_dim || std::min(shape[0], shape[tile]) < small_inner_extent;
  return {0, is_short ? no_dim : tile};
}

Nesting nesting(const TensorIterator& iterator, const Program& program,
                std::span<const DType> dtypes, DeviceType runs_on) {
  if (runs_on != DeviceType::cpu) return device_nesting(iterator, program, dtypes);
  const Nesting found = short_tiles(iterator, program, dtypes);
  if (found.tile != no_dim) return found;
  const std::size_t inner = innermost_dim(iterator.shape(), dtypes);
  return {inner, tile_dim(iterator, program, dtypes, inner)};
}

/// The iterator's dimensions as loops, outermost first.
InlineArray<std::size_t, 8> loop_order(std::size_t num_dims, std::size_t inner, std::size_t tile) {
  InlineArray<std::size_t, 8> order;
  for (std::size_t dim = num_dims; dim-- > 0;)
    if (dim != inner && dim != tile) order.push_back(dim);
  if (tile != no_dim) order.push_back(tile);
  order.push_back(inner);
  return order;
}

/// Walks the rows of a streaming call in the order in which the largest input lies, unless as much
/// is read in the outputs' order: lines that go past the caches whole may do so in any order, while
/// prefetchers want reads one after the other.  Whether that changed the order.
bool follow_reads(InlineArray<std::size_t, 8>& order, const TensorIterator& iterator) {
  const std::span<std::size_t> outer(order.data(), order.size() - 1);
  double bytes_in_order = 0, other_bytes = 0;  // of layouts without memory they may be any number
  std::int64_t most_bytes = 0;
  IntSpan followed;
  for (int operand = iterator.noutputs(); operand < iterator.ntensors(); ++operand) {
    const IntSpan strides = iterator.stride_bytes(operand);
    const auto distance = [&](std::size_t dim) { return std::abs(strides[dim]); };
    const std::int64_t bytes = touched_bytes(iterator, operand);
    if (std::ranges::is_sorted(outer, std::ranges::greater(), distance)) {
      bytes_in_order += static_cast<double>(bytes);
      continue;
    }
    other_bytes += static_cast<double>(bytes);
    if (bytes <= most_bytes) continue;
    most_bytes = bytes;
    followed = strides;
  }
  if (other_bytes <= bytes_in_order) return false;
  std::ranges::stable_sort(outer, std::ranges::greater(),
                           [&](std::size_t dim) { return std::abs(followed[dim]); });
  return true;
}

/// Elements of the innermost loop after which the short rows start over: what they share stays in
/// L1.
constexpr std::int64_t small_inner_block = 1024;

/// The classes that code is made for: along the innermost loop, and along the loop around it if
/// that is the one to transpose.
std::vector<ir::StrideClass> stride_classes(const Lowered& lowered, DType dtype,
                                            std::size_t operand, std::size_t num_operands) {
  const std::size_t inner = lowered.extents.size() - 1;
  const auto class_along = [&](std::size_t loop) {
    return inner_class(lowered.stride_bytes[loop * num_operands + operand], lowered.extents[loop],
                       dtype);
  };
  std::vector<ir::StrideClass> classes(inner + 1, ir::stride_any);
  classes[inner] = class_along(inner);
  if (lowered.is_tiled && classes[inner] != 0 && !ir::is_adjacent(classes[inner]) &&
      ir::is_adjacent(class_along(inner - 1)))
    classes[inner - 1] = class_along(inner - 1);
  return classes;
}

}  // namespace

ir::StrideClass inner_class(std::int64_t stride_bytes, std::int64_t extent, DType dtype) {
  if (extent == 1) return 1;  // never stepped along
  const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(dtype));
  if (stride_bytes % itemsize != 0) return ir::stride_any;
  const std::int64_t items = stride_bytes / itemsize;
  return items >= -1 && items <= 4 ? static_cast<ir::StrideClass>(items) : ir::stride_any;
}

std::string why_not_tiled(const TensorIterator& iterator, const Program& program,
                          DeviceType runs_on) {
  if (iterator.ndim() < 2) return "there is one loop";
  InlineArray<DType, 8> dtypes;
  for (int i = 0; i < iterator.ntensors(); ++i) dtypes.push_back(iterator.dtype(i));
  const std::span<const DType> given(dtypes.data(), dtypes.size());
  const auto [inner, tile] = nesting(iterator, program, given, runs_on);
  if (tile != no_dim) return {};
  if (iterator.numel() < min_square_iterations)
    return detail::concat("fewer than ", min_square_iterations, " elements");
  if (iterator.numel() < min_tiled_iterations)
    return detail::concat("fewer than ", min_tiled_iterations, " elements, and narrow");
  bool is_dense_elsewhere = false;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const IntSpan strides = iterator.stride_bytes(static_cast<int>(i));
    const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(given[i]));
    if (strides[inner] == 0 || std::abs(strides[inner]) == itemsize) continue;
    for (std::size_t dim = 0; dim < strides.size(); ++dim)
      is_dense_elsewhere |= std::abs(strides[dim]) == itemsize && iterator.shape()[dim] > 1;
  }
  return is_dense_elsewhere ? "the rows along the other dimension are too short for tiles"
                            : "no operand is dense along another loop";
}

Lowered lower(const TensorIterator& iterator, const Program& program, Numerics numerics,
              std::int64_t streaming_bytes, DeviceType runs_on) {
  Lowered lowered;
  ir::Kernel& kernel = lowered.kernel;
  kernel.numerics = numerics;
  kernel.body = program.body;
  for (const Program::Param& param : program.params) kernel.params.push_back(param.dtype);

  const auto num_operands = static_cast<std::size_t>(iterator.ntensors());
  InlineArray<DType, 8> dtypes;
  for (std::size_t i = 0; i < num_operands; ++i)
    dtypes.push_back(static_cast<int>(i) < program.num_outputs
                         ? program.output_dtypes[i]
                         : iterator.dtype(static_cast<int>(i)));

  if (iterator.ndim() == 0) {
    kernel.loops.resize(1);
    lowered.extents = {1};
    lowered.stride_bytes.assign(num_operands, 0);
  } else {
    const auto [inner, tile] =
        nesting(iterator, program, std::span(dtypes.data(), dtypes.size()), runs_on);
    lowered.is_tiled = tile != no_dim;
    lowered.block_extent = inner == 0 ? 0 : small_inner_block;
    // Tiles decide by themselves, a call at a time, and have code for both.
    kernel.is_streaming = !lowered.is_tiled && streams_outputs(iterator, streaming_bytes);
    const std::size_t num_loops = iterator.shape().size();
    kernel.loops.reserve(num_loops);
    lowered.extents.reserve(num_loops);
    lowered.stride_bytes.reserve(num_loops * num_operands);
    InlineArray<std::size_t, 8> order = loop_order(num_loops, inner, tile);
    lowered.follows_reads = kernel.is_streaming && inner == 0 && writes_whole_lines(iterator) &&
                            follow_reads(order, iterator);
    for (const std::size_t dim : order) {
      kernel.loops.push_back({});
      lowered.extents.push_back(iterator.shape()[dim]);
      for (std::size_t i = 0; i < num_operands; ++i)
        lowered.stride_bytes.push_back(iterator.stride_bytes(static_cast<int>(i))[dim]);
    }
  }
  kernel.operands.reserve(num_operands);
  for (std::size_t i = 0; i < num_operands; ++i) {
    const bool is_output = static_cast<int>(i) < program.num_outputs;
    kernel.operands.push_back({dtypes[i], is_output ? ir::Role::output : ir::Role::input,
                               stride_classes(lowered, dtypes[i], i, num_operands)});
  }
  if (!lowered.is_tiled) split_wide_moves(lowered, runs_on);
  share_moves(kernel);
  return lowered;
}

void ask_ahead(Lowered& lowered, std::int32_t bytes) {
  if (lowered.is_tiled) return;
  const std::size_t num_operands = lowered.kernel.operands.size();
  for (std::size_t i = 0; i < num_operands; ++i) {
    ir::Operand& operand = lowered.kernel.operands[i];
    bool is_repeated = false;
    for (std::size_t loop = 0; loop < lowered.extents.size(); ++loop)
      is_repeated |=
          lowered.extents[loop] > 1 && lowered.stride_bytes[loop * num_operands + i] == 0;
    if (operand.role == ir::Role::input && operand.strides.back() == 1 && !is_repeated)
      operand.ahead_bytes = bytes;
  }
}

}  // namespace weft
