// The rows of the op table for integers and bool.
#include "ir/evaluate_rows.h"

namespace weft::ir {

template BlockFunction find_block_function<bool>(Op);
template BlockFunction find_block_function<std::uint8_t>(Op);
template BlockFunction find_block_function<std::uint16_t>(Op);
template BlockFunction find_block_function<std::uint32_t>(Op);
template BlockFunction find_block_function<std::uint64_t>(Op);
template BlockFunction find_block_function<std::int8_t>(Op);
template BlockFunction find_block_function<std::int16_t>(Op);
template BlockFunction find_block_function<std::int32_t>(Op);
template BlockFunction find_block_function<std::int64_t>(Op);

}  // namespace weft::ir
