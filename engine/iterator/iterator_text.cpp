// A plan in words, how messages call operands, and the longer messages of build().
#include "engine/iterator/iter_plan.h"

#include <weft/error.h>
#include <weft/overlap.h>

#include <algorithm>
#include <locale>
#include <sstream>

namespace weft {

namespace iter {

std::string operand_label(int operand, int num_outputs, Names names) {
  const bool is_output = operand < num_outputs;
  std::string label = is_output ? "output " : "input ";
  label += std::to_string(is_output ? operand : operand - num_outputs);
  if (operand < std::ssize(names) && !names[operand].empty())
    label += detail::concat(" `", names[operand], "`");
  return label;
}

std::string operand_text(const IterOperands& operands, int operand, int num_outputs, Names names) {
  return operand_label(operand, num_outputs, names) + " is " + describe(operands.tensor(operand));
}

void throw_broadcast(const IterOperands& operands, int operand, IntSpan so_far, int num_outputs,
                     Names names) {
  const Dims& sizes = operands[operand].impl->sizes;
  const std::int64_t ndim = std::max<std::int64_t>(std::ssize(so_far), std::ssize(sizes));
  // The last dimension that doesn't fit is the one PyTorch names.
  std::int64_t from_end = 1;
  while (so_far[so_far.size() - from_end] == sizes[sizes.size() - from_end] ||
         so_far[so_far.size() - from_end] == 1 || sizes[sizes.size() - from_end] == 1) {
    ++from_end;
  }
  throw ArgumentError(
      detail::concat("The size of tensor a (", so_far[so_far.size() - from_end],
                     ") must match the size of tensor b (", sizes[sizes.size() - from_end],
                     ") at non-singleton dimension ", ndim - from_end, ": ",
                     operand_text(operands, operand, num_outputs, names),
                     ", the operands before it broadcast to ", dims_text(so_far), "."));
}

void throw_overlap(const IterOperands& operands, int output, std::optional<int> input,
                   int num_outputs, Names names) {
  const std::string label = operand_label(output, num_outputs, names);
  const Tensor& written = operands.tensor(output);
  if (input) {
    assert_no_partial_overlap(written, operands.tensor(*input), label,
                              operand_label(*input, num_outputs, names));
  }
  assert_no_internal_overlap(written, label);
  throw InternalError("an overlap was found that the check for its message does not see.");
}

}  // namespace iter

std::string TensorIterator::text() const {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << "operands\n";
  for (int i = 0; i < ntensors(); ++i) {
    const detail::IterOperand& operand = operands_[i];
    out << "  " << iter::operand_label(i, num_outputs_, names()) << ": " << layout_text(tensor(i));
    if (operand.will_resize) out << " new";
    if (operand.is_read_write) out << " read-write";
    if (operand.needs_temporary) out << " needs-temporary";
    out << "\n";
  }
  out << "shape " << dims_text(sizes()) << (is_reduction_ ? " reduction" : "")
      << (is_meta_ ? " meta" : "") << "\n";
  if (common_dtype_) out << "common dtype " << weft::name(*common_dtype_) << "\n";
  out << "fast set-up " << weft::name(fast_setup_) << "\n";
  out << "perm [";
  for (std::size_t i = 0; i < perm_.size(); ++i) out << (i == 0 ? "" : ", ") << perm_[i];
  out << "]\n";
  out << (has_coalesced_dimensions_ ? "coalesced" : "loops") << ", fastest first "
      << dims_text(shape()) << "\n";
  for (int i = 0; i < ntensors(); ++i) {
    out << "  " << iter::operand_label(i, num_outputs_, names()) << " stride bytes "
        << dims_text(stride_bytes(i)) << "\n";
  }
  return std::move(out).str();
}

}  // namespace weft
