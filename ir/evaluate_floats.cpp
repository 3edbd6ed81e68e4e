// The rows of the op table for float and double.
#include "ir/evaluate_rows.h"

namespace weft::ir {

template BlockFunction find_block_function<float>(Op);
template BlockFunction find_block_function<double>(Op);

}  // namespace weft::ir
