// The rows of the op table for complex numbers.
#include "ir/evaluate_rows.h"

namespace weft::ir {

template BlockFunction find_block_function<c64>(Op);
template BlockFunction find_block_function<c128>(Op);

}  // namespace weft::ir
