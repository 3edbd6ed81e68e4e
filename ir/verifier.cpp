// What makes a kernel valid.  The rules, by number:
//
//   V1   There are at most 255 operands and 255 parameters; outputs come before others.
//   V2   There are 1 to 64 loops, and each operand has one stride class a loop: -1 to 4, or `*`.
//        Bytes ahead are those of inputs, 0 to 2^30.
//   V3   Only the innermost loop is a vector loop; lanes and unroll are 1 to 64, and 1 on other
//        loops.
//   V4   An argument is a value defined earlier; a store defines none.
//   V5   An instruction has as many arguments as its op takes.
//   V6   A load reads no output, a store writes one, a param names a parameter.
//   V7   The op computes in the instruction's dtype.
//   V8   Arguments, operands and parameters have the dtype that the instruction says (args[0] of
//        `where` is bool; those of cast and bitcast are free).  A place is an i64, of an operand
//        and of what accumulates.
//   V9   A bitcast keeps the size in bytes, and neither makes a bool nor touches complex types.
//   V10  A constant's bits fit its dtype (a bool's are 0 or 1); only constants have bits, only
//        loads, stores and params have an operand, and casts that are steps the number 1.
//   V11  Each output is stored to exactly once, and no load follows a store.
//   V12  Hoisted instructions are neither stores nor loads that move along the innermost loop.
//   V13  The schedule fits: `linear` has inner strides 0 and 1 only, outputs 1; `tile` has one tile
//        loop, around the innermost, and an operand to transpose, and no other schedule has one;
//        `inner_reduce` has a reduce loop innermost, `outer_reduce` around the innermost; vector
//        loops are linear, strided, tile or outer_reduce; vector_bytes is 0, 16, 32 or 64, and not
//        0 for a vector loop; what is unfenced is streaming.
//   V14  The body has at most 4096 instructions.
//   V15  Reduce loops and a tree come together.  Around reduce loops are parallel ones, and inside
//        of them at most one loop, parallel or vector.  So it is with a scan loop, which is one
//        and has no tree; inside of it there is at most one parallel loop.
//   V16  With reduce loops or a scan loop the body stores nothing and accumulates once into each
//        output, of which there are 1 to 4, and which stand still along reduce loops; without, it
//        accumulates nothing.  A scan may keep f64 of what becomes f32, c128 of what becomes c64.
//   V17  What accumulates names an op of the table that has an identity and computes in its dtype,
//        and for a place one of the extrema, of what is no small float; no other instruction names
//        one.
//   V18  A tree's lanes are a power of two and make at most 256 bytes of each output, its block is
//        a multiple of them and at most 1048576.  There is one lane where the innermost loop is no
//        reduce loop; else the vectors of an iteration, if any, are as many as the lanes.
//   V19  Argument 1 of table_entry, which says in which table it looks, is a constant.
#include "ir/verifier.h"

#include "ir/combine.h"
#include "ir/limits.h"
#include "ir/text.h"

#include <weft/error.h>

#include <algorithm>

namespace weft::ir {
namespace {

constexpr int max_tree_block = 1 << 20;

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel) : kernel_(kernel) {}

  std::vector<std::string> run() {
    check_operands();
    check_loops();
    if (kernel_.body.size() > max_instructions)
      report("V14: the body has ", kernel_.body.size(), " instructions; at most ", max_instructions,
             " are allowed");
    if (kernel_.num_hoisted > kernel_.body.size())
      report("V12: ", kernel_.num_hoisted, " instructions are hoisted out of a body of ",
             kernel_.body.size());
    stores_.resize(kernel_.operands.size());
    for (ValueId id = 0; id < kernel_.body.size(); ++id) check_inst(id);
    for (std::size_t i = 0; i < kernel_.operands.size(); ++i)
      if (kernel_.operands[i].role == Role::output && stores_[i] != 1)
        report(reduces_or_scans() ? "V16" : "V11", ": output $", i, " is ",
               reduces_or_scans() ? "accumulated into " : "stored to ", stores_[i],
               " times; once is right");
    check_schedule();
    check_nest();
    if (reduces_or_scans()) check_outputs();
    if (is_reduction(kernel_)) check_tree();
    return std::move(found_);
  }

 private:
  bool reduces_or_scans() const { return is_reduction(kernel_) || is_scan(kernel_); }

  template <class... Parts>
  void report(const Parts&... parts) {
    found_.push_back(detail::concat(parts...));
  }
  template <class... Parts>
  void report_at(ValueId id, std::string_view rule, const Parts&... parts) {
    report(rule, ": '", print(kernel_, id), "': ", parts...);
  }

  void check_operands() {
    if (kernel_.operands.size() > max_operands || kernel_.params.size() > max_operands)
      report("V1: there are ", kernel_.operands.size(), " operands and ", kernel_.params.size(),
             " parameters; at most ", max_operands, " of each are allowed");
    for (std::size_t i = 0; i < kernel_.operands.size(); ++i) {
      const Operand& operand = kernel_.operands[i];
      if (i != 0 && operand.role == Role::output && kernel_.operands[i - 1].role != Role::output)
        report("V1: output $", i, " comes after input $", i - 1);
      if (operand.role == Role::place && operand.dtype != DType::i64)
        report("V8: place $", i, " is ", name(operand.dtype), ", not i64");
      if (operand.strides.size() != kernel_.loops.size())
        report("V2: operand $", i, " has ", operand.strides.size(), " stride classes for ",
               kernel_.loops.size(), " loops");
      for (StrideClass stride : operand.strides)
        if (stride != stride_any && (stride < -1 || stride > 4))
          report("V2: operand $", i, " has a stride class ", int{stride}, "; -1 to 4 and * exist");
      constexpr std::int32_t most_ahead_bytes = 1 << 30;
      if (operand.ahead_bytes < 0 || operand.ahead_bytes > most_ahead_bytes)
        report("V2: operand $", i, " is asked for ", operand.ahead_bytes,
               " bytes ahead; 0 to 2^30 are possible");
      if (operand.ahead_bytes != 0 && operand.role != Role::input)
        report("V2: operand $", i, " is no input, and asked for ahead");
    }
  }

  void check_loops() {
    if (kernel_.loops.empty() || kernel_.loops.size() > max_loops)
      report("V2: there are ", kernel_.loops.size(), " loops; 1 to ", max_loops, " are allowed");
    for (std::size_t i = 0; i < kernel_.loops.size(); ++i) {
      const Loop& loop = kernel_.loops[i];
      const bool is_vector = loop.kind == LoopKind::vector;
      if (is_vector && i + 1 != kernel_.loops.size())
        report("V3: loop ", i, " is a vector loop but not the innermost");
      const bool has_vectors =
          is_vector || (loop.kind == LoopKind::reduce && i + 1 == kernel_.loops.size());
      const int limit = has_vectors ? 64 : 1;
      if (loop.lanes < 1 || loop.lanes > limit || loop.unroll < 1 || loop.unroll > limit)
        report("V3: loop ", i, " has ", loop.lanes, " lanes unrolled ", loop.unroll,
               " times; 1 to ", limit, " are allowed for a ", name(loop.kind), " loop");
    }
  }

  /// Checks the arguments' definitions; false if their dtypes cannot be asked for.
  bool check_args(ValueId id) {
    const Inst& inst = kernel_.body[id];
    const auto arity = static_cast<std::size_t>(info(inst.op).arity);
    bool usable = true;
    for (std::size_t i = 0; i < inst.args.size(); ++i) {
      const ValueId arg = inst.args[i];
      if (i >= arity && arg != no_value) {
        report_at(id, "V5", "has more than the ", arity, " arguments that ", name(inst.op),
                  " takes");
      } else if (i < arity && arg == no_value) {
        report_at(id, "V5", "lacks argument ", i, " of ", arity);
        usable = false;
      } else if (i < arity && arg >= id) {
        report_at(id, "V4", "argument %", arg, " is not defined before");
        usable = false;
      } else if (i < arity && writes(kernel_.body[arg])) {
        report_at(id, "V4", "argument %", arg, " is ",
                  accumulates(kernel_.body[arg]) ? "an accumulate" : "a store",
                  ", which defines no value");
        usable = false;
      }
    }
    return usable;
  }

  void expect_dtype(ValueId id, std::string_view what, DType given, DType expected) {
    if (given != expected) report_at(id, "V8", what, " is ", name(given), ", not ", name(expected));
  }

  void check_inst(ValueId id) {
    const Inst& inst = kernel_.body[id];
    const OpInfo& op = info(inst.op);
    const bool usable = check_args(id);
    if (!computes_in(op.domain, op.result, inst.dtype))
      report_at(id, "V7", op.name, " does not compute in ", name(inst.dtype));
    const auto arg_dtype = [&](std::size_t i) { return result_dtype(kernel_.body[inst.args[i]]); };
    switch (inst.op) {
      case Op::constant: break;
      case Op::param: check_param(id); break;
      case Op::load: check_access(id, Role::input); break;
      case Op::store:
      case Op::accumulate:
        check_access(id, Role::output);
        check_write(id);
        if (usable) expect_dtype(id, "the argument", arg_dtype(0), inst.dtype);
        break;
      case Op::accumulate_place:
        check_access(id, Role::output);
        check_write(id);
        if (usable) expect_dtype(id, "the argument", arg_dtype(0), inst.dtype);
        if (usable) expect_dtype(id, "the place", arg_dtype(1), DType::i64);
        break;
      case Op::cast: break;
      case Op::bitcast:
        if (usable && !is_valid_bitcast(arg_dtype(0), inst.dtype))
          report_at(id, "V9", "reinterprets ", name(arg_dtype(0)), " as ", name(inst.dtype));
        break;
      case Op::table_entry:
        if (usable && kernel_.body[inst.args[1]].op != Op::constant)
          report_at(id, "V19", "argument 1, the table, is no constant");
        [[fallthrough]];
      default:
        for (std::size_t i = 0; usable && i < static_cast<std::size_t>(op.arity); ++i) {
          const bool is_mask = op.result == ResultRule::select && i == 0;
          expect_dtype(id, detail::concat("argument ", i), arg_dtype(i),
                       is_mask ? DType::boolean : inst.dtype);
        }
    }
    check_unused_fields(id);
    if (id < kernel_.num_hoisted) check_hoisted(id);
  }

  static bool is_valid_bitcast(DType from, DType to) {
    const auto has_bits = [](DType dtype) { return !is_boolean(dtype) && !is_complex(dtype); };
    return itemsize_bytes(from) == itemsize_bytes(to) && has_bits(from) && has_bits(to);
  }

  void check_param(ValueId id) {
    const Inst& inst = kernel_.body[id];
    if (inst.operand >= kernel_.params.size())
      report_at(id, "V6", "there are only ", kernel_.params.size(), " parameters");
    else
      expect_dtype(id, "the parameter", kernel_.params[inst.operand], inst.dtype);
  }

  void check_access(ValueId id, Role role) {
    const Inst& inst = kernel_.body[id];
    if (inst.operand >= kernel_.operands.size()) {
      report_at(id, "V6", "there are only ", kernel_.operands.size(), " operands");
      return;
    }
    const Operand& operand = kernel_.operands[inst.operand];
    const bool is_place = inst.op == Op::accumulate_place;
    const bool is_rounded =
        is_scan(kernel_) && inst.op == Op::accumulate && is_kept_wider(inst.dtype, operand.dtype);
    if ((operand.role == Role::output) != (role == Role::output))
      report_at(id, "V6", "$", int{inst.operand}, " is an ",
                role == Role::input ? "output" : "input");
    else if (!is_rounded)
      expect_dtype(id, "the operand", operand.dtype, is_place ? DType::i64 : inst.dtype);
    if (writes(inst)) {
      ++stores_[inst.operand];
      has_stored_ = true;
    } else if (has_stored_) {
      report_at(id, "V11", "a load after a store");
    }
  }

  static bool is_kept_wider(DType kept, DType written) {
    return (kept == DType::f64 && written == DType::f32) ||
           (kept == DType::c128 && written == DType::c64);
  }

  void check_write(ValueId id) {
    const Inst& inst = kernel_.body[id];
    if (accumulates(inst) != reduces_or_scans())
      report_at(id, "V16",
                accumulates(inst)       ? "in a kernel without reduce loops"
                : is_reduction(kernel_) ? "a store in a kernel with reduce loops"
                                        : "a store in a kernel with a scan loop");
    if (!accumulates(inst)) return;
    const OpInfo& combine = info(inst.combine);
    if (combine.form == Form::structural || !identity_of(inst.combine, inst.dtype))
      report_at(id, "V17", combine.name, " has no identity");
    else if (!computes_in(combine.domain, combine.result, inst.dtype))
      report_at(id, "V17", combine.name, " does not compute in ", name(inst.dtype));
    else if (inst.op == Op::accumulate_place && !has_places(inst.combine, inst.dtype))
      report_at(id, "V17", combine.name, " of ", name(inst.dtype), " has no places");
  }
  static bool has_places(Op op, DType dtype) {
    return (op == Op::maximum || op == Op::minimum) && !is_small_float(dtype);
  }

  void check_unused_fields(ValueId id) {
    const Inst& inst = kernel_.body[id];
    const bool has_operand = inst.op == Op::load || writes(inst) || inst.op == Op::param;
    if (!accumulates(inst) && inst.combine != Op::constant)
      report_at(id, "V17", "names ", name(inst.combine), " to combine with");
    if (!has_operand && inst.operand > (inst.op == Op::cast ? 1 : 0))
      report_at(id, "V10", "names operand ", int{inst.operand});
    if (inst.op != Op::constant) {
      if (inst.bits != Bits{}) report_at(id, "V10", "has bits");
      return;
    }
    const std::size_t size = itemsize_bytes(inst.dtype);
    const std::uint64_t limit = is_boolean(inst.dtype) ? 1
                                : size >= 8            ? ~std::uint64_t{0}
                                                       : (std::uint64_t{1} << size * 8) - 1;
    if (inst.bits.lo > limit || (size < 16 && inst.bits.hi != 0))
      report_at(id, "V10", "the bits don't fit ", name(inst.dtype));
  }

  void check_hoisted(ValueId id) {
    const Inst& inst = kernel_.body[id];
    if (writes(inst)) report_at(id, "V12", "a hoisted ", name(inst.op));
    if (inst.op != Op::load || inst.operand >= kernel_.operands.size()) return;
    const auto& strides = kernel_.operands[inst.operand].strides;
    if (!strides.empty() && strides.back() != 0)
      report_at(id, "V12", "a hoisted load whose operand moves along the innermost loop");
  }

  void check_schedule() {
    const int bytes = kernel_.vector_bytes;
    if (bytes != 0 && bytes != 16 && bytes != 32 && bytes != 64)
      report("V13: vector_bytes is ", bytes, "; 0, 16, 32 and 64 exist");
    if (kernel_.is_unfenced && !kernel_.is_streaming)
      report("V13: unfenced, but not streaming: there is nothing to fence");
    if (kernel_.schedule == Schedule::linear)
      for (std::size_t i = 0; i < kernel_.operands.size(); ++i) {
        const Operand& operand = kernel_.operands[i];
        if (operand.strides.empty()) continue;
        const StrideClass inner = operand.strides.back();
        if (inner != 1 && (inner != 0 || operand.role == Role::output))
          report("V13: a linear schedule, but the inner stride class of $", i, " is ",
                 inner == stride_any ? "*" : std::to_string(inner));
      }
    check_tile();
    if (kernel_.loops.empty()) return;
    const bool is_inner = kernel_.loops.back().kind == LoopKind::reduce;
    if ((kernel_.schedule == Schedule::inner_reduce && !is_inner) ||
        (kernel_.schedule == Schedule::outer_reduce && (is_inner || !is_reduction(kernel_))))
      report("V13: the schedule is ", name(kernel_.schedule), ", but the innermost loop is ",
             name(kernel_.loops.back().kind));
    if (kernel_.loops.back().kind != LoopKind::vector) return;
    if (kernel_.schedule != Schedule::linear && kernel_.schedule != Schedule::strided &&
        kernel_.schedule != Schedule::tile && kernel_.schedule != Schedule::outer_reduce)
      report("V13: a vector loop in a schedule that is ", name(kernel_.schedule));
    if (bytes == 0) report("V13: a vector loop with vector_bytes 0");
  }

  /// Which kinds of loops are around which.
  void check_nest() {
    const auto& loops = kernel_.loops;
    check_scan();
    const auto is_reduce = [](const Loop& loop) { return loop.kind == LoopKind::reduce; };
    const auto first = std::find_if(loops.begin(), loops.end(), is_reduce);
    const bool has_reduce = first != loops.end();
    if (has_reduce != is_reduction(kernel_))
      report("V15: ", has_reduce ? "reduce loops without a tree" : "a tree without reduce loops");
    if (!has_reduce) return;
    const auto last = std::find_if_not(first, loops.end(), is_reduce);
    const auto is_kept = [](const Loop& loop) { return loop.kind == LoopKind::parallel; };
    if (!std::all_of(loops.begin(), first, is_kept))
      report("V15: a loop around reduce loops is no parallel loop");
    const bool has_inside = last != loops.end();
    if (loops.end() - last > 1 ||
        (has_inside && last->kind != LoopKind::parallel && last->kind != LoopKind::vector))
      report("V15: inside of reduce loops there is more than one parallel or vector loop");
  }

  void check_scan() {
    if (!is_scan(kernel_)) return;
    const auto& loops = kernel_.loops;
    const auto scan = std::ranges::find(loops, LoopKind::scan, &Loop::kind);
    const auto is_parallel = [](const Loop& loop) { return loop.kind == LoopKind::parallel; };
    if (!std::all_of(loops.begin(), scan, is_parallel) ||
        !std::all_of(scan + 1, loops.end(), is_parallel) || loops.end() - scan > 2)
      report(
          "V15: beside a scan loop there are others than parallel ones, of which one may be "
          "inside");
  }

  void check_outputs() {
    std::size_t num_outputs = 0;
    for (std::size_t i = 0; i < kernel_.operands.size(); ++i) {
      const Operand& operand = kernel_.operands[i];
      if (operand.role != Role::output) continue;
      ++num_outputs;
      for (std::size_t loop = 0; loop < kernel_.loops.size(); ++loop)
        if (kernel_.loops[loop].kind == LoopKind::reduce && loop < operand.strides.size() &&
            operand.strides[loop] != 0)
          report("V16: output $", i, " moves along reduce loop ", loop);
    }
    if (num_outputs == 0) report("V16: no output to reduce to");
    if (num_outputs > max_reduced_outputs)
      report("V16: ", num_outputs, " outputs; at most ", max_reduced_outputs,
             " can be reduced together");
  }

  void check_tree() {
    const auto [lanes, block] = kernel_.tree;
    if (lanes < 1 || (lanes & (lanes - 1)) != 0)
      return report("V18: ", lanes, " lanes are no power of two");
    for (const Operand& operand : kernel_.operands)
      if (operand.role == Role::output &&
          itemsize_bytes(operand.dtype) * static_cast<std::size_t>(lanes) > max_partial_bytes)
        report("V18: ", lanes, " lanes of ", name(operand.dtype), " are more than ",
               max_partial_bytes, " bytes");
    if (block < lanes || block % lanes != 0 || block > max_tree_block)
      report("V18: a block of ", block, " elements; a multiple of ", lanes, " up to ",
             max_tree_block, " is right");
    if (kernel_.loops.empty()) return;
    const Loop& inner = kernel_.loops.back();
    if (inner.kind != LoopKind::reduce) {
      if (lanes != 1) report("V18: ", lanes, " lanes, but the innermost loop is no reduce loop");
    } else if ((inner.lanes != 1 || inner.unroll != 1) &&
               std::int64_t{inner.lanes} * inner.unroll != lanes) {
      report("V18: ", inner.unroll, " vectors of ", inner.lanes, " are not the tree's ", lanes,
             " lanes");
    }
  }

  void check_tile() {
    const bool is_tile = kernel_.schedule == Schedule::tile;
    const std::size_t num_loops = kernel_.loops.size();
    bool has_tile_loop = false;
    for (std::size_t i = 0; i < num_loops; ++i) {
      if (kernel_.loops[i].kind != LoopKind::tile) continue;
      if (is_tile && i + 2 == num_loops)
        has_tile_loop = true;
      else
        report("V13: loop ", i, " is a tile loop, which only the loop around the innermost of a ",
               "tile schedule can be");
    }
    if (!is_tile) return;
    if (!has_tile_loop) return report("V13: a tile schedule without a tile loop");
    const auto is_one = [&](const Operand& operand) {
      return operand.strides.size() == num_loops && is_transposed(operand);
    };
    if (std::none_of(kernel_.operands.begin(), kernel_.operands.end(), is_one))
      report("V13: a tile schedule, but no operand is to be transposed");
  }

  const Kernel& kernel_;
  std::vector<std::string> found_;
  std::vector<int> stores_;  ///< [operand]
  bool has_stored_ = false;
};

}  // namespace

std::vector<std::string> violations(const Kernel& kernel) { return Verifier(kernel).run(); }

void check_size(const Kernel& kernel) {
  WEFT_CHECK(kernel.body.size() <= max_instructions, ir::KernelLimitError,
             "the expression is too long for one kernel: it makes ", kernel.body.size(),
             " instructions, and at most ", max_instructions,
             " are possible; compute parts of it first");
}

void check_size_between(std::size_t num_instructions) {
  WEFT_CHECK(num_instructions <= max_instructions_between, ir::KernelLimitError,
             "the expression is too long for one kernel: it makes more than ",
             max_instructions_between,
             " instructions before those that are equal are shared; compute parts of it first");
}

void verify(const Kernel& kernel) {
  const std::vector<std::string> found = violations(kernel);
  if (found.empty()) return;
  std::string message = "The kernel is not valid.";
  for (const std::string& violation : found) message += "\n  " + violation;
  throw InternalError(message + '\n' + print(kernel));
}

}  // namespace weft::ir
