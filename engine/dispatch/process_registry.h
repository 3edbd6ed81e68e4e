// The registry of the process, with what has been defined in it so far.
#pragma once

#include <weft/dispatch.h>

namespace weft::detail {

/// registry() without defining the engine's operators first: for the one who defines them.
Registry& process_registry();

}  // namespace weft::detail
