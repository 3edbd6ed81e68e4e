// Compiled kernels as files, for those who ask: WEFT_DUMP=ir,asm:FOLDER.
#pragma once

#include "ir/kernel.h"
#include "jit/backend.h"
#include "jit/code_object.h"
#include "jit/signature.h"

namespace weft::jit {

/// Writes FOLDER/HASH.ir, FOLDER/HASH.BACKEND.asm and so on, where HASH is that of the signature
/// and equal kernels give equal files.  What can't be written is said once on stderr, and is
/// nobody's error.  Does nothing where nobody has asked.
///
/// Threads: any number may call it; a file appears at once and whole.
void dump(const ir::Kernel& kernel, const CodeObject& code, const Target& target) noexcept;
/// The same for the stage "signature".
void dump_signature(const Signature& signature) noexcept;
/// Reads what is asked for.  The first dump does so, too.
void prepare_dump();

}  // namespace weft::jit
