// The rows of the op table for the floats that are computed as float.
#include "ir/evaluate_rows.h"

namespace weft::ir {

template BlockFunction find_block_function<f16>(Op);
template BlockFunction find_block_function<bf16>(Op);
template BlockFunction find_block_function<f8e4m3fn>(Op);
template BlockFunction find_block_function<f8e5m2>(Op);

}  // namespace weft::ir
