// Where in the process this code is.
#pragma once

#include <dlfcn.h>
#include <link.h>

namespace weft {

/// The file of the library that this code was linked into, as the dynamic loader knows it; "" in a
/// program, which has no name there.  (What dladdr() calls a program is what its caller made of
/// argv[0], and may lead a program that has more rights to a place of the caller's.)
inline const char* own_library() {
  Dl_info names{};
  void* found = nullptr;
  dladdr1(reinterpret_cast<const void*>(&own_library), &names, &found, RTLD_DL_LINKMAP);
  return found == nullptr ? "" : static_cast<const link_map*>(found)->l_name;
}

}  // namespace weft
