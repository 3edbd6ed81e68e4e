// Which processor this is, for what was measured on it.
#pragma once

#include <string>

namespace weft {

/// This machine's processor and its caches, in one line: "GenuineIntel 6-143-8 Intel Xeon
/// Processor; L1d 48 KiB, L2 2048 KiB, L3 107520 KiB".
std::string cpu_model();

}  // namespace weft
