#include "engine/fold/precompiled.h"

#include "engine/fold/fold_plan.h"
#include "jit/disassemble.h"

#include <weft/error.h>

#include <utility>

namespace weft {
namespace {

/// Functions as addresses: what is done with them is to be read.
template <class Result, class... Args>
const void* address_of(Result (*function)(Args...)) {
  return reinterpret_cast<const void*>(function);
}

class Collector {
 public:
  explicit Collector(const FoldPlan& plan) : plan_(plan), fold_(plan.fold) {}

  std::vector<PrecompiledLoop> collect() && {
    if (plan_.is_fill || (plan_.reduction != nullptr && plan_.map == nullptr)) return {};
    if (plan_.order == FoldOrder::exact) {
      // Its passes read the same block several times, so elements can't be counted by bytes.
      add("add_steps of jit/fold/exact_loops.h", plan_.exact.isa, address_of(plan_.exact.add),
          "adds without rounding", 0);
    } else if (plan_.form == FoldForm::index) {
      add_places();
    } else {
      add_values();
    }
    return std::move(loops_);
  }

 private:
  void add(const std::string& function, Isa isa, const void* entry, const char* purpose,
           std::int64_t element_bytes) {
    const std::string what = detail::concat(function, ", ", name(fold_.op), " ", name(fold_.dtype));
    loops_.push_back({what, isa, entry, purpose, element_bytes});
  }

  /// A member of FoldLoops, and the op's row where that is what computes.
  void add_fold_loop(const char* member, const void* entry, const char* purpose) {
    const bool is_plain = fold_.calls_row;
    add(is_plain ? detail::concat("plain_", member, " of jit/fold/fold.cpp")
                 : detail::concat("Loops::", member, " of jit/fold/loops.h"),
        fold_.isa, entry, purpose, fold_.itemsize());
    // Several rows are taken at a time, but for extrema, which look for NaN row by row.
    const bool is_extremum = fold_.op == Op::maximum || fold_.op == Op::minimum;
    loops_.back().most_loaded_bytes =
        (is_extremum ? 1 : jit::FoldLoops::blocks_together) * jit::Fold::lanes_bytes;
    if (is_plain)
      add("the row of ir/include/weft/ops.def", Isa::generic, address_of(fold_.row),
          "which that calls for as many elements as 256 bytes hold", 0);
  }

  void add_rows(const char* purpose, bool are_many) {
    add_fold_loop("rows", address_of(fold_.loops.rows), purpose);
    if (!are_many) loops_.front().most_loaded_bytes = jit::Fold::lanes_bytes;
  }

  void add_places() {
    const Isa isa = plan_.extrema.isa;
    if (!plan_.is_inner)
      return add("Extrema::columns of jit/fold/extrema.h", isa, address_of(plan_.extrema.columns),
                 "keeps the extremum of each column and its row", fold_.itemsize());
    add_rows("finds the extremum", is_row_each(plan_) && plan_.kept[0].extent >= 4);
    add("Extrema::find of jit/fold/extrema.h", isa, address_of(plan_.extrema.find),
        "then finds the first place of it", fold_.itemsize());
  }

  void add_values() {
    constexpr std::int64_t together = jit::FoldLoops::blocks_together;
    if (reads_narrow_columns(plan_) &&
        (plan_.num_blocks >= together ||
         (has_short_columns(plan_) && plan_.kept[0].extent >= together)))
      return add_fold_loop("narrow_columns", address_of(fold_.loops.narrow_columns),
                           "folds groups of rows into a row of outputs each");
    if (!plan_.is_inner) {
      add_fold_loop("columns", address_of(fold_.loops.columns), "folds rows into a row of outputs");
      if (!fold_.in_order) return;
      loops_.front().most_loaded_bytes = 9 * jit::Fold::lanes_bytes;  // eight rows
      loops_.front().kept_bytes = jit::Fold::lanes_bytes;
      return;
    }
    if (is_row_each(plan_))
      return add_rows("folds rows to one element each", plan_.kept[0].extent >= 4);
    if (folds_blocks_together(plan_) && fold_.reads_side_by_side())
      return add_fold_loop("tree_of_blocks", address_of(fold_.loops.tree_of_blocks),
                           "folds four blocks of a long row into lanes");
    add_fold_loop("lanes", address_of(fold_.loops.lanes), "folds a block into lanes");
  }

  const FoldPlan& plan_;
  const jit::Fold& fold_;
  std::vector<PrecompiledLoop> loops_;
};

}  // namespace

std::vector<PrecompiledLoop> precompiled_loops(const FoldPlan& plan) {
  return Collector(plan).collect();
}

LoopListing list_loop(const PrecompiledLoop& loop) {
  LoopListing listing;
  const jit::FunctionListing function = jit::disassemble_function(loop.entry);
  listing.text = detail::concat("; ", loop.name, ": compiled with weft (", name(loop.isa), "), ",
                                loop.purpose, "\n");
  if (function.text.empty()) {
    listing.text += detail::concat("; its code can't be shown: ", function.reason, "\n");
    listing.throughput.reason = function.reason;
    return listing;
  }
  listing.loops = jit::find_loops(function.text);
  listing.loops.hot = jit::most_loading(listing.loops, loop.most_loaded_bytes);
  if (listing.loops.hot >= 0) {
    const jit::AssemblyLoop& hot = listing.loops.loops[static_cast<std::size_t>(listing.loops.hot)];
    const bool loads_kept = hot.loaded_bytes == loop.most_loaded_bytes;
    const std::int64_t folded_bytes = hot.loaded_bytes - (loads_kept ? loop.kept_bytes : 0);
    if (loop.element_bytes > 0 && folded_bytes % loop.element_bytes == 0)
      listing.elements = folded_bytes / loop.element_bytes;
    if (hot.calls)
      listing.throughput.reason = "the loop calls functions, which they know nothing of";
    else if (hot.end_offset > hot.first_offset)
      listing.throughput = jit::loop_throughput(
          {reinterpret_cast<const std::byte*>(function.load_bias + hot.first_offset),
           hot.end_offset - hot.first_offset});
  }
  listing.text += with_loops_of(function.text, listing.loops, listing.elements);
  return listing;
}

}  // namespace weft
