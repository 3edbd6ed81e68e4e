// Memory for generated code that is never writable and executable at one address: each chunk is
// mapped twice, once to write through and once to run from.  Publishing code costs no system call.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace weft {

/// Room for one piece of code.  Write through `write`; the bytes appear at `run` at once.
///
/// Code must not be changed after the first call of it: other threads may be anywhere in it.
struct CodeBlock {
  std::byte* write = nullptr;
  const std::byte* run = nullptr;
  std::size_t size_bytes = 0;
  std::shared_ptr<const void> owner;  ///< while any copy of it lives, so do both addresses
};

/// `size_bytes` bytes of code memory, aligned to 64 bytes.
///
/// The distance from `write` to `run` differs from chunk to chunk: code that is emitted at `write`
/// must be position independent, or be relocated for `run`.
///
/// Threads: may be called by many threads at once.
/// Errors:  DeviceError when the system allows no executable memory or none is left, and with
///          WEFT_JIT=off in the environment.
CodeBlock allocate_code(std::size_t size_bytes);

/// Why this process generates no code: WEFT_JIT=off in the environment, or a system that forbids
/// memory for it, which is found out by asking for some.  Empty where there is code memory, and
/// where only a lack of memory or files stands against it, which may pass.  WEFT_LOG=tier says it
/// once.
///
/// Threads: may be called by many threads at once.
std::string code_memory_refusal();

/// Registers what fork() has to do for code memory: both sides go on in chunks of their own.  The
/// first allocation does so, too; for those whose own handlers must run before these.
///
/// Threads: may be called by many threads at once.
void prepare_code_memory();

/// Bytes of address space mapped for code now, each chunk counted once.
std::size_t mapped_code_bytes();

}  // namespace weft
