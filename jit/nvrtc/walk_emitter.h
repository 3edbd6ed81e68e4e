// What the walks of kernels that accumulate have in common, reductions and scans: text in which
// names are filled in, where operands are, loads of several steps, and how values are combined.
#pragma once

#include "ir/kernel.h"
#include "jit/nvrtc/body.h"
#include "jit/nvrtc/emit.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::jit::nvrtc {

class WalkEmitter {
 protected:
  /// A thread has `items` neighbours along the innermost loop, and of each output `kept_items`
  /// partial results in a set.
  WalkEmitter(Source& source, const ir::Kernel& kernel, const Variant& variant, int items,
              int kept_items);

  /// What a `$name` stands for: a number of the walk, or something of the operand `k`, or of its
  /// stride along the loop `loop`.
  struct Subject {
    std::size_t k, loop;
  };
  std::string value(std::string_view name, const Subject& of) const;
  std::string filled(std::string_view text, const Subject& of) const;
  void name_number(std::string_view name, int number) { numbers_.emplace_back(name, number); }

  void write(std::string_view text, std::size_t k = 0) { source_.lines(filled(text, {k, inner_})); }
  void write_for_outputs(std::string_view text) {
    for (std::size_t o = 0; o < num_outputs_; ++o) write(text, o);
  }
  /// For the outputs that are places, beside which extrema are kept.
  void write_for_places(std::string_view text) {
    for (std::size_t o = 0; o < num_outputs_; ++o)
      if (is_place(o)) write(text, o);
  }
  /// Begins the kernel: a loop over units of work, of which one or more warps take each, left open
  /// where that is located.  `shared` is declared before it.
  void open_units(std::string_view shared = "");
  void open_items() { source_.open_unrolled("j", items_); }

  bool is_place(std::size_t output) const;
  /// Whether an operand is moved in groups.
  bool is_grouped(std::size_t k) const {
    return variant_.items > 1 && is_dense(kernel_.operands[k]);
  }
  /// Whether its elements are one along the innermost loop.
  bool is_constant(std::size_t k) const { return kernel_.operands[k].strides.back() == 0; }

  void emit_arguments();
  /// A thread's share of a set: the identity, two of them combined, and the way to memory.
  void emit_partials();
  /// From the number of an output, of a strip of columns or of a row that is scanned to where the
  /// operands of a thread begin; threads beyond the last column read the strip's first.
  void emit_locate_set();
  /// From the number of a row to where the inputs' begin.
  void emit_locate_row();
  /// Takes `at` apart into the indices of the loops [begin, end), and steps to them.
  void emit_steps(std::size_t begin, std::size_t end, std::size_t first_operand);

  /// Room for what several steps load.  What is constant along a row is loaded before them.
  void declare_loads();
  /// How many steps that is.
  int steps_at_once() const;
  /// The loads of step u, from item `at` on.
  void emit_loads();
  /// What they loaded.
  std::string loaded(std::size_t k) const;
  /// Of rows [`first`, end) across columns: the loads of several, and what is computed once of
  /// each. Leaves two loops open.
  void open_rows_of_columns(std::string_view first);
  /// The element at index `at` of a row, which is not among them.
  std::string loaded_at(std::size_t k) const;

  /// Item `at` of an output in a `share` of partial results, as emit_combine() takes it.
  std::string item(std::size_t output, const std::string& share, const std::string& at) const;
  /// Partial results of another lane, `apart` from it, in `to`; `which` is a way of the prelude's.
  void emit_from_lane(const std::string& to, const std::string& which, const std::string& from,
                      const std::string& apart);
  /// Combines `value` into `kept`.
  void emit_combine(std::size_t output, const std::string& kept, const std::string& value);

  Source& source_;
  const ir::Kernel& kernel_;
  const Variant& variant_;
  int items_, kept_items_;
  bool is_inner_;
  std::size_t inner_, num_kept_, num_operands_, num_outputs_;
  Body body_;

 private:
  /// Of partial results in memory: those of a thread, and where an output's begin.
  int thread_bytes(DType dtype) const;
  int offset_of(std::size_t output) const;
  int set_bytes() const { return offset_of(num_outputs_); }
  /// Of an input one text or the other, by how it is loaded.
  void write_for_inputs(std::string_view grouped, std::string_view strided,
                        std::string_view constant);

  std::vector<std::pair<std::string_view, int>> numbers_;
};

}  // namespace weft::jit::nvrtc
