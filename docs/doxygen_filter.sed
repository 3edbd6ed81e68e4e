# What Doxygen takes for commands, tags, or classes that derive from themselves.
s/@offset/\\@offset/
s/<cmath>/cmath/
s/ : \(FunctionTraits\|KernelTraits\)<decltype.*operator())>//
