#include "jit/nvrtc/walk_emitter.h"

#include "ir/combine.h"
#include "jit/nvrtc/combine.h"
#include "jit/nvrtc/operators.h"
#include "jit/nvrtc/reduce.h"

#include <algorithm>

namespace weft::jit::nvrtc {

WalkEmitter::WalkEmitter(Source& source, const ir::Kernel& kernel, const Variant& variant,
                         int items, int kept_items)
    : source_(source),
      kernel_(kernel),
      variant_(variant),
      items_(items),
      kept_items_(kept_items),
      is_inner_(is_inner_walk(kernel)),
      inner_(kernel.loops.size() - 1),
      num_kept_(num_kept_loops(kernel)),
      num_operands_(kernel.operands.size()),
      num_outputs_(num_outputs(kernel)),
      body_(kernel, true) {
  numbers_ = {{"bits", variant.index_bits},
              {"operands", static_cast<int>(num_operands_)},
              {"loops", static_cast<int>(kernel.loops.size())},
              {"params", static_cast<int>(kernel.params.size())},
              {"items", items},
              {"kept_items", kept_items},
              {"set_bytes", set_bytes()},
              {"group_items", variant.items},
              {"groups", std::max(items / variant.items, 1)},
              {"strip", warp_size * items},
              {"steps", steps_at_once()},
              {"warps", warps_per_block},
              {"threads", threads_per_block}};
}

std::string WalkEmitter::value(std::string_view name, const Subject& of) const {
  for (const auto& [known, number] : numbers_)
    if (known == name) return std::to_string(number);
  const std::string element(memory_type(kernel_.operands[of.k].dtype));
  if (name == "k") return std::to_string(of.k);
  if (name == "loop") return std::to_string(of.loop);
  if (name == "stride") return stride_text(kernel_, of.loop, of.k);
  if (name == "element") return element;
  if (name == "group") return detail::concat("Vector<", element, ", ", variant_.items, ">");
  if (name == "load" || name == "store")
    return element_access(name == "load" ? "load" : "store", kernel_, variant_, of.k);
  const ir::Inst& inst = accumulate_of(kernel_, of.k);
  if (name == "kept") return std::string(memory_type(kept_dtype(inst)));
  // Before or behind all places, whichever gives way to others.
  if (name == "no_place")
    return ir::is_scan(kernel_) ? "i64(0x8000000000000000ull)" : "0x7fffffffffffffffll";
  if (name == "extremum") return std::string(memory_type(inst.dtype));
  if (name == "bytes") return std::to_string(thread_bytes(kept_dtype(inst)));
  if (name == "extremum_bytes") return std::to_string(thread_bytes(inst.dtype));
  if (name == "offset") return std::to_string(offset_of(of.k));
  if (name == "extremum_offset")
    return std::to_string(offset_of(of.k) + warp_size * thread_bytes(kept_dtype(inst)));
  WEFT_ASSERT(name == "identity", "$", name, " stands for nothing");
  return constant_text(inst.dtype, *ir::identity_of(inst.combine, inst.dtype));
}

int WalkEmitter::thread_bytes(DType dtype) const {
  return kept_items_ * static_cast<int>(itemsize_bytes(dtype));
}

int WalkEmitter::offset_of(std::size_t output) const {
  int offset = 0;
  for (std::size_t o = 0; o < output; ++o)
    offset += warp_size * kept_items_ * kept_bytes(accumulate_of(kernel_, o));
  return offset;
}

std::string WalkEmitter::filled(std::string_view text, const Subject& of) const {
  const auto is_part_of_name = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  std::string result;
  while (!text.empty()) {
    const std::size_t at = std::min(text.find('$'), text.size());
    result += text.substr(0, at);
    text.remove_prefix(at);
    if (text.empty()) break;
    std::size_t end = 1;
    while (end < text.size() && is_part_of_name(text[end])) ++end;
    result += value(text.substr(1, end - 1), of);
    text.remove_prefix(end);
  }
  return result;
}

bool WalkEmitter::is_place(std::size_t output) const {
  return accumulate_of(kernel_, output).op == Op::accumulate_place;
}

void WalkEmitter::write_for_inputs(std::string_view grouped, std::string_view strided,
                                   std::string_view constant) {
  for (std::size_t k = num_outputs_; k < num_operands_; ++k)
    if (is_loaded(kernel_, k))
      write(is_grouped(k) ? grouped : is_constant(k) ? constant : strided, k);
}

void WalkEmitter::emit_steps(std::size_t begin, std::size_t end, std::size_t first_operand) {
  for (std::size_t loop = end; loop-- > begin;) {
    source_.lines(filled(loop == begin ? "const Index index$loop = at;" :
                                       R"(const Index rest$loop = quotient(at, args.divide[$loop]);
const Index index$loop = at - rest$loop * Index(args.divide[$loop].divisor);
at = rest$loop;)",
                         {0, loop}));
    for (std::size_t k = first_operand; k < num_operands_; ++k)
      if (kernel_.operands[k].strides[loop] != 0)
        source_.lines(filled("offset[$k] += stepped(index$loop, $stride);", {k, loop}));
  }
}

/// How many steps have their loads on the way at once.
int WalkEmitter::steps_at_once() const {
  constexpr std::size_t most_bytes = 256, most_instructions = 512;
  std::size_t bytes = 1;
  for (std::size_t k = num_outputs_; k < num_operands_; ++k) {
    // What is loaded by itself takes a register.
    const std::size_t itemsize = itemsize_bytes(kernel_.operands[k].dtype);
    if (is_loaded(kernel_, k))
      bytes += is_grouped(k) ? itemsize : std::max<std::size_t>(itemsize, 4);
  }
  const auto items = static_cast<std::size_t>(items_);
  // Of bytes with strides more loads than a scan, which also stores, has registers for addresses;
  // beside places there are fewer registers, too.
  const bool has_places = ir::has_places(kernel_);
  std::size_t steps = ir::is_scan(kernel_) ? std::clamp<std::size_t>(16 / items, 1, 8)
                      : has_places         ? 8
                                           : 16;
  while (steps > 1 && (steps * items * bytes > most_bytes ||
                       steps * items * kernel_.body.size() > most_instructions))
    steps /= 2;
  return static_cast<int>(steps);
}

void WalkEmitter::declare_loads() {
  write_for_inputs("$group x$k[$steps][$groups];", "$element x$k[$steps][$items];",
                   is_inner_ ? "" : "$element x$k[$steps];");
}

void WalkEmitter::emit_loads() {
  write_for_inputs(R"(#pragma unroll
for (int g = 0; g < $groups; ++g) {
  x$k[u][g] = load<$group>(args.base[$k] + offset[$k] + stepped(at + g * $group_items, $stride));
})",
                   R"(#pragma unroll
for (int j = 0; j < $items; ++j) {
  x$k[u][j] = $load<$element>(args.base[$k] + offset[$k] + stepped(at + j, $stride));
})",
                   is_inner_ ? "" : "x$k[u] = $load<$element>(args.base[$k] + offset[$k]);");
}

std::string WalkEmitter::loaded(std::size_t k) const {
  return filled(is_grouped(k)    ? "x$k[u][j / $group_items].item[j % $group_items]"
                : is_constant(k) ? "x$k[u]"
                                 : "x$k[u][j]",
                {k, inner_});
}

void WalkEmitter::open_rows_of_columns(std::string_view first) {
  write(detail::concat("for (Index row = ", first, "; row < end; row += $steps) {"));
  declare_loads();
  write(R"(#pragma unroll
for (int u = 0; u < $steps; ++u) {
i64 offset[$operands];
const Index at = 0;
locate_row(args, set, row + u < end ? row + u : row, offset);)");
  emit_loads();
  write(R"(}
#pragma unroll
for (int u = 0; u < $steps; ++u) {
if (row + u >= end) continue;)");
  body_.emit(source_, Body::Level::vector, [&](std::size_t k) { return loaded(k); }, {});
}

std::string WalkEmitter::loaded_at(std::size_t k) const {
  return filled("$load<$element>(args.base[$k] + offset[$k] + stepped(at, $stride))", {k, inner_});
}

std::string WalkEmitter::item(std::size_t output, const std::string& share,
                              const std::string& at) const {
  const auto of = [&](const char* part) {
    return detail::concat(share, ".", part, output, ".item[", at, "]");
  };
  return is_place(output) ? of("v") + ", " + of("y") : of("y");
}

void WalkEmitter::emit_arguments() {
  write(R"(typedef u$bits Index;
struct Args {
u8* base[$operands];
u8* from;  // sets of partial results, which are leaves; null: elements are read
u8* to;    // where sets go; null: they become results
i64 stride_bytes[$loops][$operands];
u64 units;               // of work, which are subtrees
u64 leaves;              // of an output or a strip of columns
u64 warps, warp_leaves;  // that share a unit; a power of two for each of them
u64 inner, rows, leaf_rows;
Divisor units_a_set;
Divisor parts;  // leaves of a long row, or strips of columns
Divisor divide[$loops];
)");
  if (!kernel_.params.empty()) write("u64 param[$params][2];");
  write("};");
}

/// A thread's share of a set: the identity, two of them combined, and the way to memory.
void WalkEmitter::emit_partials() {
  const auto open_kept = [&] { source_.open_unrolled("j", kept_items_); };
  emit_combinations(source_, kernel_);
  write("struct Partials {");
  write_for_outputs("Vector<$kept, $kept_items> y$k;");
  write_for_places("Vector<$extremum, $kept_items> v$k;");
  write("};\n__device__ __forceinline__ void clear(Partials& sums) {");
  open_kept();
  for (std::size_t o = 0; o < num_outputs_; ++o)
    write(is_place(o) ? "sums.y$k.item[j] = $no_place;\nsums.v$k.item[j] = $identity;"
                      : "sums.y$k.item[j] = $identity;",
          o);
  write(R"(}
}
__device__ __forceinline__ void combine(Partials& sums, const Partials& more) {)");
  open_kept();
  for (std::size_t o = 0; o < num_outputs_; ++o)
    emit_combine(o, item(o, "sums", "j"), item(o, "more", "j"));
  write("}\n}\n__device__ __forceinline__ void get(const u8* set, u32 lane, Partials& sums) {");
  write_for_outputs("sums.y$k = load<Vector<$kept, $kept_items> >(set + $offset + lane * $bytes);");
  write_for_places(
      "sums.v$k = load<Vector<$extremum, $kept_items> >(set + $extremum_offset + lane * "
      "$extremum_bytes);");
  write("}\n__device__ __forceinline__ void put(u8* set, u32 lane, const Partials& sums) {");
  write_for_outputs("store(set + $offset + lane * $bytes, sums.y$k);");
  write_for_places("store(set + $extremum_offset + lane * $extremum_bytes, sums.v$k);");
  write("}");
}

/// From the number of an output, or of a strip of columns, to where the operands of a thread's
/// partial results begin; threads beyond the last column read the strip's first.
// Two blocks a multiprocessor at least: left to itself, ptxas spills to fit more.
void WalkEmitter::open_units(std::string_view shared) {
  write(R"(extern "C" __global__ void __launch_bounds__($threads, 2) weft_kernel(
const __grid_constant__ Args args) {)");
  write(shared);
  write(R"(const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
const u32 warps = u32(args.warps), at_once = $warps / warps;
const Index units = Index(args.units), step = Index(gridDim.x) * at_once;
for (Index first = Index(blockIdx.x) * at_once; first < units; first += step) {
const Index unit = first + warp / warps;
if (unit >= units) continue;
const Index at = quotient(unit, args.units_a_set);
const Index chunk = unit - at * Index(args.units_a_set.divisor);
Index column;
i64 set[$operands];
locate_set(args, at, lane, column, set);)");
}

void WalkEmitter::emit_locate_set() {
  write(R"(__device__ __forceinline__ void locate_set(const Args& args, Index at, u32 lane,
Index& column, i64 (&offset)[$operands]) {
column = 0;)");
  for (std::size_t k = 0; k < num_operands_; ++k) write("offset[$k] = 0;", k);
  if (!is_inner_) {
    write(R"(const Index rest = quotient(at, args.parts);
const Index first = (at - rest * Index(args.parts.divisor)) * $strip;
at = rest;
column = first + lane * $items;
const Index read = column < Index(args.inner) ? column : first;)");
    for (std::size_t k = 0; k < num_operands_; ++k)
      if (!is_constant(k)) write("offset[$k] += stepped(read, $stride);", k);
  }
  emit_steps(0, num_kept_, 0);
  write("}");
}

/// From the number of a row to where the inputs' begin.
void WalkEmitter::emit_locate_row() {
  write(
      R"(__device__ __forceinline__ void locate_row(const Args& args, const i64 (&set)[$operands],
Index at, i64 (&offset)[$operands]) {)");
  for (std::size_t k = num_outputs_; k < num_operands_; ++k) write("offset[$k] = set[$k];", k);
  emit_steps(num_kept_, inner_, num_outputs_);
  write("}");
}

void WalkEmitter::emit_from_lane(const std::string& to, const std::string& which,
                                 const std::string& from, const std::string& apart) {
  for (const char* const part : {"y", "v"}) {
    const std::string text = detail::concat(to, ".", part, "$k = from_lane<", which, ">(", from,
                                            ".", part, "$k, ", apart, ");");
    *part == 'y' ? write_for_outputs(text) : write_for_places(text);
  }
}

void WalkEmitter::emit_combine(std::size_t output, const std::string& kept,
                               const std::string& value) {
  const ir::Inst& inst = accumulate_of(kernel_, output);
  if (inst.op == Op::accumulate_place) {
    const std::string how = inst.combine == Op::maximum ? "true" : "false";
    const char* const which = ir::is_scan(kernel_) ? ", true>(" : ", false>(";
    return source_.lines("keep_place<" + how + which + kept + ", " + value + ");");
  }
  source_.lines(kept + " = " + combined_text(inst, kept, value) + ";");
}

}  // namespace weft::jit::nvrtc
