// Definitions that generated source may stand on.
#pragma once

#include <span>
#include <string_view>

namespace weft::jit::nvrtc {

/// A definition, which stands in the source if its name is used.
struct Definition {
  std::string_view name;
  std::string_view text;
};

/// Functions of complex numbers, in order: what stands further up may be used by what stands
/// further down.  They use no definitions but these.
std::span<const Definition> complex_functions();

}  // namespace weft::jit::nvrtc
