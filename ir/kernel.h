// The kernel IR: one perfect loop nest over operands plus one straight-line SSA body of scalar
// operators.  Nothing here knows a tensor or a machine.  docs/ir.md has the text form.
#pragma once

#include <weft/numerics.h>
#include <weft/op.h>
#include <weft/scalar.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace weft::ir {

// Limits of the kernels that are planned and compiled, less than what the IR can say: arrays of
// these sizes stand on stacks.
inline constexpr std::size_t max_launch_operands = 64;
inline constexpr std::size_t max_launch_loops = 65;  ///< 64 dimensions; moves of c128 add one
inline constexpr std::size_t max_launch_params = 255;

/// A value is named by the index of the instruction that defines it.
using ValueId = std::uint32_t;
inline constexpr ValueId no_value = std::numeric_limits<ValueId>::max();

/// One SSA instruction.  A body is a straight line: select instead of branches, and a value is
/// always defined before it is used, so an index is enough to name it.
struct Inst {
  Op op = Op::constant;
  /// The type the op computes in.  load, store: of the operand.  constant, param: of the value.
  /// cast, bitcast: of the result.  Table ops: of the arguments after promotion; see
  /// result_dtype().
  DType dtype = DType::f32;
  /// load, store, accumulate, accumulate_place: which operand; param: which argument.  cast: 1
  /// where an op of several steps converts, and rounds no more than results of ops are.
  std::uint8_t operand = 0;
  Op combine = Op::constant;  ///< what accumulates: the op of the table; constant elsewhere
  std::array<ValueId, max_arity> args{no_value, no_value, no_value, no_value};
  Bits bits{};  ///< constant: the element

  friend bool operator==(const Inst&, const Inst&) = default;
};

/// Whether it is a cast that rounds as results of ops do, which legalise_dtypes settles.
inline bool casts_as_result(const Inst& inst) { return inst.op == Op::cast && inst.operand != 0; }

/// Whether it combines what loops find, and defines no value.
inline bool accumulates(const Inst& inst) {
  return inst.op == Op::accumulate || inst.op == Op::accumulate_place;
}
/// Whether it writes to an output and defines no value.
inline bool writes(const Inst& inst) { return inst.op == Op::store || accumulates(inst); }

/// The dtype of the value that `inst` defines (bool for comparisons, f32 for abs of c64 ...).
DType result_dtype(const Inst& inst);

/// What is known, when code is generated, of an operand's stride along one loop, in items: the
/// constants -1, 0, 1, 2, 3, 4, or `stride_any` for a stride that is only known at launch.
using StrideClass = std::int8_t;
inline constexpr StrideClass stride_any = std::numeric_limits<StrideClass>::min();

/// Whether a stride class is that of neighbours in memory, in either order.
inline bool is_adjacent(StrideClass stride) { return stride == 1 || stride == -1; }

enum class Role : std::uint8_t {
  input,
  output,
  /// An i64 without memory: what is loaded is its address, counted in items.  So the base says
  /// which place an element at index 0 has, and strides how far places are apart.
  place,
};

struct Operand {
  DType dtype = DType::f32;
  Role role = Role::input;
  std::vector<StrideClass> strides;  ///< one a loop, outermost first
  /// Where inputs are read, the lines that lie so many bytes further on are asked for, into the
  /// second cache: what comes after this call reads them.  0: none.
  std::int32_t ahead_bytes = 0;
  /// Its elements lie right behind those of the operand before, of which they are the imaginary
  /// parts.  A backend that has split complex numbers says so to itself: texts leave it out, as
  /// what they say of memory is nothing to rely on.
  bool is_imaginary = false;

  friend bool operator==(const Operand&, const Operand&) = default;
};

/// Whether the operand's elements are neighbours along the loop around the innermost, and neither
/// neighbours nor all the same along the innermost: the tile schedule transposes it, tile by tile.
/// Requires: at least two loops.
bool is_transposed(const Operand& operand);

enum class LoopKind : std::uint8_t {
  parallel,    ///< iterations are independent, any order
  sequential,  ///< in order, one thread
  vector,      ///< iterations are independent and `lanes` of them run at once
  tile,        ///< iterations are independent; runs in blocks together with the vector loop inside
  reduce,      ///< iterations accumulate into the same elements, in the order of Kernel::tree
  scan,        ///< iterations accumulate, and each writes what there is so far
};

struct Loop {
  LoopKind kind = LoopKind::parallel;
  int lanes = 1;   ///< vector, reduce: elements an iteration of the vector code handles
  int unroll = 1;  ///< vector, reduce: vectors an iteration of the main loop handles
  friend bool operator==(const Loop&, const Loop&) = default;
};

enum class Schedule : std::uint8_t {
  unscheduled,
  scalar,   ///< one element at a time: nothing vectorises
  linear,   ///< every inner stride is 0 or 1: whole vectors
  strided,  ///< some inner stride is another constant or only known at launch
  tile,     ///< some operand is contiguous along the loop around the innermost: see is_transposed()
  inner_reduce,  ///< vectors run along a reduce loop: their lanes are combined at the end
  outer_reduce,  ///< vectors run along a loop that is kept: a lane an output
};

/// The order in which reduce loops combine; it is part of what a kernel means, since it decides the
/// bits of a float sum.  docs/reductions.md explains it.
///
/// A row is what the innermost loop gives to one output: all its iterations if it is a reduce loop,
/// else one.  Element i of a row goes to partial result i % lanes.  A leaf is a row's `block`
/// elements from a multiple of `block` on; or, where rows are shorter, as many whole rows, each
/// rounded up to `lanes`, as make no more than `block`, but at least one.  A leaf begins with the
/// identity and takes its elements in order.  Leaves are combined lane by lane as a binary tree
/// whose left part is the largest power of two of leaves that leaves the right part one or more;
/// lanes in the end by halves, lane i with lane i + lanes / 2.
struct Tree {
  int lanes = 0;  ///< partial results of one output; 0: there are no reduce loops
  int block = 0;
  friend bool operator==(const Tree&, const Tree&) = default;
};
/// No output has more bytes of partial results.
inline constexpr std::size_t max_partial_bytes = 256;

/// A loop nest over operands.  Extents, strides and base addresses are arguments of the compiled
/// code (jit/code_object.h), not part of the kernel, so that one kernel serves every shape.
struct Kernel {
  Numerics numerics = Numerics::standard;
  Schedule schedule = Schedule::unscheduled;
  int vector_bytes = 0;  ///< register width that vectorise() plans for; 0 = scalar
  /// Dense outputs go past the caches where the backend can: their bytes are more than fit there.
  bool is_streaming = false;
  /// Who calls the code fences those stores, after the last of several calls.
  bool is_unfenced = false;
  std::vector<Operand> operands;  ///< outputs first
  std::vector<DType> params;      ///< scalar arguments
  std::vector<Loop> loops;        ///< outermost first; at least one
  Tree tree;                      ///< of the reduce loops
  std::vector<Inst> body;
  std::uint32_t num_hoisted =
      0;  ///< the first so many instructions run once, before the innermost loop

  friend bool operator==(const Kernel&, const Kernel&) = default;
};

/// Whether the kernel reduces: it has reduce loops, and accumulates instead of storing.
inline bool is_reduction(const Kernel& kernel) { return kernel.tree.lanes != 0; }

/// Whether each of its outputs is one row that is reduced: the innermost loop is the only one that
/// reduces, inside of one over outputs.
bool reduces_rows(const Kernel& kernel);

/// Whether the kernel scans: it has a scan loop, and accumulates instead of storing.  What is kept
/// of floats may be rounded in another order by another backend.
bool is_scan(const Kernel& kernel);

/// Whether it knows of places: of an operand, or of what accumulates.
bool has_places(const Kernel& kernel);

/// A 64-bit hash of everything in the kernel; equal kernels have equal hashes.
std::uint64_t structural_hash(const Kernel& kernel);

std::string_view name(Role role);
std::string_view name(LoopKind kind);
std::string_view name(Schedule schedule);

}  // namespace weft::ir
