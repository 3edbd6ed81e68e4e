// Tells profilers and debuggers about generated code, for those who ask: WEFT_PERF=1.
#pragma once

#include "ir/kernel.h"
#include "jit/code_object.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace weft::jit {

/// Whether WEFT_PERF is set to something other than 0.
bool is_code_registered();

/// "weft:add_mul.f32.linear.3f2a9c": the ops, the output's dtype, the schedule, and some of the
/// hash.
std::string symbol_name(const ir::Kernel& kernel);

/// Writes a line of /tmp/perf-PID.map, the convention of perf(1) and others, and enters the code
/// into the list that gdb and lldb read ("JIT Compilation Interface" in gdb's manual).  The
/// debugger forgets the code when the result dies; the map only grows, and its newest line counts.
///
/// Threads: may be called by many threads at once.  A map that can't be written is no error.
std::shared_ptr<const void> register_code(const std::string& name, std::span<const std::byte> code);

/// Registers what fork() has to do for that list.  The first code does so, too; for those whose own
/// handlers must run before.
void prepare_code_registry();

/// The code object; registered until it dies, if is_code_registered().
std::shared_ptr<const CodeObject> registered(std::shared_ptr<const CodeObject> code,
                                             const ir::Kernel& kernel);

}  // namespace weft::jit
