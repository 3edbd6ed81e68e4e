// Runs a kernel in blocks along the innermost loop: each instruction is one call of a block
// function of ir/evaluate.h on the values of the whole block.  All loads of a block come before its
// first store, so an output may be the memory of an input with the same strides.  A kernel that
// reduces is run so leaf by leaf, and one that scans along its scan loop.
#include "jit/interp/backend.h"

#include "ir/combine.h"
#include "ir/evaluate.h"
#include "ir/limits.h"
#include "jit/fold/places.h"
#include "jit/fold/reduction.h"

#include <weft/error.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

namespace weft::jit {
namespace {

using ir::BlockFunction;
using ir::Inst;
using ir::Kernel;
using ir::no_value;

constexpr std::size_t scratch_bytes = 128 << 10;
constexpr std::size_t max_block = 256;
constexpr std::size_t value_alignment = 16;

/// One instruction with everything looked up.
struct Step {
  Op op;
  std::uint8_t operand;
  std::uint8_t num_args;
  std::uint8_t itemsize;   ///< of the value; of the stored value for a store
  std::uint32_t slot = 0;  ///< byte offset of the value's block in the scratch memory
  std::array<std::uint32_t, max_arity> arg_slots{};
  Bits bits;
  BlockFunction function = nullptr;  ///< table ops and casts; accumulate: what combines
  std::optional<PlaceFold> places = std::nullopt;  ///< accumulate_place: what combines
  bool loads_place = false;
  bool loads_truth = false;       ///< bytes viewed as bool, as 0 and 1
  BlockFunction round = nullptr;  ///< scans: from what is kept to what is written
};

struct Program {
  std::size_t num_operands;
  std::size_t num_loops;
  std::size_t block;  ///< elements
  std::size_t num_hoisted;
  std::size_t inner;  ///< the loop that blocks lie along
  bool scans;
  std::size_t num_lanes;  ///< elements accumulate into in turn; 0: each into its own
  std::vector<Step> steps;
};

/// The most elements whose values all fit the scratch memory.
std::size_t block_size(const Kernel& kernel) {
  std::size_t bytes = 0, num_values = 0;
  for (const Inst& inst : kernel.body) {
    // accumulate has a value of its own, the combined one.
    if (inst.op == Op::store || inst.op == Op::accumulate_place) continue;
    bytes += itemsize_bytes(result_dtype(inst));
    ++num_values;
  }
  const std::size_t padding = num_values * value_alignment;
  const std::size_t block = bytes == 0 ? max_block : (scratch_bytes - padding) / bytes;
  return std::min(block, max_block);
}
// Values of 16 bytes, padded, leave room for one element.
static_assert(ir::max_instructions * (16 + value_alignment) <= scratch_bytes);

std::size_t inner_loop(const Kernel& kernel) {
  const auto scan = std::ranges::find(kernel.loops, ir::LoopKind::scan, &ir::Loop::kind);
  const auto loop = static_cast<std::size_t>(scan - kernel.loops.begin());
  return std::min(loop, kernel.loops.size() - 1);
}

/// What a scan begins with, and how it writes.
void look_up_scan(const Kernel& kernel, const Inst& inst, Step& step) {
  const DType written = kernel.operands[inst.operand].dtype;
  step.bits = *ir::identity_of(inst.combine, inst.dtype);
  if (inst.op == Op::accumulate && written != inst.dtype)
    step.round = ir::cast_function(written, inst.dtype);
}

Program make_program(const Kernel& kernel) {
  Program program{.num_operands = kernel.operands.size(),
                  .num_loops = kernel.loops.size(),
                  .block = block_size(kernel),
                  .num_hoisted = ir::is_scan(kernel) ? 0 : kernel.num_hoisted,
                  .inner = inner_loop(kernel),
                  .scans = ir::is_scan(kernel),
                  .num_lanes = kernel.loops.back().kind == ir::LoopKind::reduce
                                   ? static_cast<std::size_t>(kernel.tree.lanes)
                                   : 0,
                  .steps = {}};
  std::uint32_t next_slot = 0;
  for (const Inst& inst : kernel.body) {
    const DType dtype = writes(inst) ? inst.dtype : result_dtype(inst);
    Step step{.op = inst.op,
              .operand = inst.operand,
              .num_args = 0,
              .itemsize = static_cast<std::uint8_t>(itemsize_bytes(dtype)),
              .bits = inst.bits};
    for (ir::ValueId arg : inst.args)
      if (arg != no_value) step.arg_slots[step.num_args++] = program.steps[arg].slot;
    if (inst.op == Op::cast)
      step.function = ir::cast_function(inst.dtype, result_dtype(kernel.body[inst.args[0]]));
    else if (inst.op == Op::accumulate)
      step.function = ir::block_function(inst.combine, inst.dtype);
    else if (inst.op == Op::accumulate_place)
      step.places.emplace(inst.combine, inst.dtype, program.scans);
    else if (info(inst.op).form != Form::structural)
      step.function = ir::block_function(inst.op, inst.dtype);
    if (program.scans && accumulates(inst)) look_up_scan(kernel, inst, step);
    step.loads_place = inst.op == Op::load && kernel.operands[inst.operand].role == ir::Role::place;
    step.loads_truth = inst.op == Op::load && is_boolean(inst.dtype);
    if (inst.op != Op::store && inst.op != Op::accumulate_place) {
      step.slot = next_slot;
      const std::size_t bytes = program.block * step.itemsize;
      next_slot += static_cast<std::uint32_t>((bytes + value_alignment - 1) / value_alignment *
                                              value_alignment);
    }
    program.steps.push_back(step);
  }
  return program;
}

template <class Function>
void with_element_size(std::size_t itemsize, Function&& function) {
  switch (itemsize) {
    case 1: return function(std::integral_constant<std::size_t, 1>{});
    case 2: return function(std::integral_constant<std::size_t, 2>{});
    case 4: return function(std::integral_constant<std::size_t, 4>{});
    case 8: return function(std::integral_constant<std::size_t, 8>{});
    default: return function(std::integral_constant<std::size_t, 16>{});
  }
}

/// Copies elements from one stride to another.
void copy_strided(std::byte* to, std::int64_t to_stride, const std::byte* from,
                  std::int64_t from_stride, std::size_t itemsize, std::size_t num_elements) {
  with_element_size(itemsize, [&](auto size) {
    const auto contiguous = static_cast<std::int64_t>(size());
    if (to_stride == contiguous && from_stride == contiguous) {
      std::memcpy(to, from, size() * num_elements);
      return;
    }
    for (std::size_t i = 0; i < num_elements; ++i) {
      const auto at = static_cast<std::int64_t>(i);
      std::memcpy(to + at * to_stride, from + at * from_stride, size());
    }
  });
}

/// One innermost loop's blocks.
class InnerLoop {
 public:
  InnerLoop(const Program& program, const KernelArgs& args, std::byte* scratch)
      : program_(program),
        args_(args),
        scratch_(scratch),
        strides_(args.stride_bytes + program.inner * program.num_operands) {}

  void run(std::byte* const* base) {
    if (program_.scans) begin_scan();
    const auto extent = static_cast<std::size_t>(args_.extents[program_.inner]);
    const std::size_t first_block = std::min(extent, program_.block);
    for (std::size_t i = 0; i < program_.num_hoisted; ++i)
      run_step(program_.steps[i], base, 0, first_block);
    for (std::size_t begin = 0; begin < extent; begin += program_.block) {
      const std::size_t count = std::min(program_.block, extent - begin);
      for (std::size_t i = program_.num_hoisted; i < program_.steps.size(); ++i)
        run_step(program_.steps[i], base, begin, count);
    }
  }

 private:
  void run_step(const Step& step, std::byte* const* base, std::size_t begin, std::size_t count) {
    std::byte* out = scratch_ + step.slot;
    switch (step.op) {
      case Op::constant: fill(out, step.bits, step.itemsize, count); break;
      case Op::param: fill(out, args_.params[step.operand], step.itemsize, count); break;
      case Op::load:
        if (step.loads_place) return load_places(out, address(step, base, begin), step, count);
        copy_strided(out, step.itemsize, address(step, base, begin), strides_[step.operand],
                     step.itemsize, count);
        if (step.loads_truth) take_truth(out, count);
        break;
      case Op::store:
        copy_strided(address(step, base, begin), strides_[step.operand],
                     scratch_ + step.arg_slots[0], step.itemsize, step.itemsize, count);
        break;
      case Op::accumulate:
      case Op::accumulate_place:
        if (program_.scans) return scan(step, base, begin, count);
        if (step.places) return accumulate_places(step, base, begin, count);
        return accumulate(step, base, begin, count);
      case Op::bitcast:
        std::memcpy(out, scratch_ + step.arg_slots[0], step.itemsize * count);
        break;
      default: {
        std::array<const void*, max_arity> pointers{};
        for (std::size_t i = 0; i < step.num_args; ++i) pointers[i] = scratch_ + step.arg_slots[i];
        step.function(out, pointers.data(), count);
      }
    }
  }

  /// Partial results are dense.
  void accumulate(const Step& step, std::byte* const* base, std::size_t begin, std::size_t count) {
    const std::size_t num_lanes = program_.num_lanes;
    for (std::size_t done = 0; done < count;) {
      const std::size_t lane = num_lanes == 0 ? begin : (begin + done) % num_lanes;
      const std::size_t n = num_lanes == 0 ? count : std::min(count - done, num_lanes - lane);
      std::byte* const partial = base[step.operand] + lane * step.itemsize;
      const std::array<const void*, 2> args{partial,
                                            scratch_ + step.arg_slots[0] + done * step.itemsize};
      step.function(scratch_ + step.slot, args.data(), n);
      std::memcpy(partial, scratch_ + step.slot, n * step.itemsize);
      done += n;
    }
  }

  void accumulate_places(const Step& step, std::byte* const* base, std::size_t begin,
                         std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = begin + i;
      const std::size_t lane = program_.num_lanes == 0 ? at : at % program_.num_lanes;
      std::byte* const partial = base[step.operand] + lane * sizeof(FoundPlace);
      FoundPlace kept;
      std::memcpy(&kept, partial, sizeof kept);
      std::int64_t place;
      std::memcpy(&place, scratch_ + step.arg_slots[1] + i * sizeof place, sizeof place);
      const std::byte* const element = scratch_ + step.arg_slots[0] + i * step.itemsize;
      step.places->take_in(kept, step.places->found(place, element));
      std::memcpy(partial, &kept, sizeof kept);
    }
  }

  void begin_scan() {
    for (const Step& step : program_.steps)
      if (step.places)
        kept_[step.operand] = step.places->identity();
      else if (step.op == Op::accumulate)
        std::memcpy(&kept_[step.operand], &step.bits, sizeof step.bits);
  }

  void scan(const Step& step, std::byte* const* base, std::size_t begin, std::size_t count) {
    FoundPlace& kept = kept_[step.operand];
    for (std::size_t i = 0; i < count; ++i) {
      const std::byte* const element = scratch_ + step.arg_slots[0] + i * step.itemsize;
      std::byte* const to = address(step, base, begin + i);
      if (step.places) {
        std::int64_t place;
        std::memcpy(&place, scratch_ + step.arg_slots[1] + i * sizeof place, sizeof place);
        step.places->take_in(kept, step.places->found(place, element));
        std::memcpy(to, &kept.place, sizeof kept.place);
        continue;
      }
      alignas(value_alignment) FoundPlace next{};
      const void* const args[] = {&kept, element};
      step.function(&next, args, 1);
      kept = next;
      const void* const rounded[] = {&kept};
      if (step.round != nullptr)
        step.round(to, rounded, 1);
      else
        std::memcpy(to, &kept, step.itemsize);
    }
  }

  /// Of an operand without memory, whose address is what it says.
  void load_places(std::byte* out, const std::byte* first, const Step& step, std::size_t count) {
    constexpr auto itemsize = static_cast<std::int64_t>(sizeof(std::int64_t));
    const auto address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(first));
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t place =
          (address + static_cast<std::int64_t>(i) * strides_[step.operand]) / itemsize;
      std::memcpy(out + i * sizeof place, &place, sizeof place);
    }
  }

  std::byte* address(const Step& step, std::byte* const* base, std::size_t begin) const {
    return base[step.operand] + static_cast<std::int64_t>(begin) * strides_[step.operand];
  }

  static void take_truth(std::byte* values, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) values[i] = std::byte{values[i] != std::byte{0}};
  }

  static void fill(std::byte* out, const Bits& bits, std::size_t itemsize, std::size_t count) {
    std::byte element[sizeof(Bits)];
    std::memcpy(element, &bits, sizeof bits);
    copy_strided(out, static_cast<std::int64_t>(itemsize), element, 0, itemsize, count);
  }

  const Program& program_;
  const KernelArgs& args_;
  std::byte* scratch_;
  const std::int64_t* strides_;  ///< [operand] of the loop that blocks lie along
  /// [output] of a scan; a value lies in the bytes of a place and its element.
  alignas(value_alignment) std::array<FoundPlace, ir::max_reduced_outputs> kept_;
};

/// Steps the outer loops as an odometer, the innermost of them fastest.
void run_program(const KernelArgs* args) {
  const Program& program = *static_cast<const Program*>(args->context);
  alignas(64) std::byte scratch[scratch_bytes];
  std::array<std::byte*, ir::max_operands> base;
  std::array<std::int64_t, ir::max_loops> position{};
  std::copy_n(args->base, program.num_operands, base.begin());
  InnerLoop inner(program, *args, scratch);
  while (true) {
    inner.run(base.data());
    std::size_t loop = program.num_loops;
    bool is_last = true;
    while (is_last && loop > 0) {
      if (--loop == program.inner) continue;
      const std::int64_t* strides = args->stride_bytes + loop * program.num_operands;
      const bool wraps = ++position[loop] == args->extents[loop];
      const std::int64_t steps = wraps ? 1 - args->extents[loop] : 1;
      for (std::size_t i = 0; i < program.num_operands; ++i) base[i] += steps * strides[i];
      is_last = wraps;
      if (wraps) position[loop] = 0;
    }
    if (is_last) return;
  }
}

std::string refuses(const Kernel& kernel, const Target&) {
  if (kernel.body.size() <= ir::max_instructions) return {};
  return detail::concat("a body of ", kernel.body.size(), " instructions, and the most is ",
                        ir::max_instructions);
}

std::shared_ptr<const CodeObject> compile(const Kernel& kernel, const Target&) {
  const auto program = std::make_shared<const Program>(make_program(kernel));
  auto code = std::make_shared<CodeObject>();
  code->entry = &run_program;
  code->context = program.get();
  code->backend = "interp";
  code->code_bytes = sizeof(Program) + program->steps.size() * sizeof(Step);
  code->memory = program;
  if (!ir::is_reduction(kernel)) return code;
  code->leaf = code->entry;
  code->leaf_context = code->context;
  return reduction_code(kernel, *code);
}

constexpr Backend backend{"interp", &refuses, &compile};

}  // namespace

const Backend& interp_backend() { return backend; }

}  // namespace weft::jit
