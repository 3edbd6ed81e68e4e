// The conversions between all pairs of dtypes as loops over arrays.
#include "ir/evaluate.h"

#include <weft/convert.h>

namespace weft::ir {
namespace {

template <class To, class From>
void convert_block(void* out, const void* const* args, std::size_t num_elements) {
  const From* from = static_cast<const From*>(args[0]);
  To* to = static_cast<To*>(out);
  for (std::size_t i = 0; i < num_elements; ++i) to[i] = convert<To>(from[i]);
}

}  // namespace

BlockFunction cast_function(DType to, DType from) {
  return visit_dtype(to, [from]<class To>(std::type_identity<To>) {
    return visit_dtype(from, []<class From>(std::type_identity<From>) -> BlockFunction {
      return &convert_block<To, From>;
    });
  });
}

}  // namespace weft::ir
