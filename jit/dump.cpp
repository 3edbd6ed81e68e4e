#include "jit/dump.h"

#include "ir/text.h"
#include "jit/assembly_loops.h"
#include "runtime/file.h"
#include "runtime/never_destroyed.h"
#include "runtime/text.h"

#include <weft/error.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::jit {
namespace {

namespace fs = std::filesystem;

constexpr auto known_stages =
    std::to_array<std::string_view>({"signature", "ir", "llvm", "asm", "cuda", "ptx", "sass"});

struct DumpOptions {
  std::vector<std::string> stages;  ///< none: nothing is dumped
  fs::path folder;

  bool has(std::string_view stage) const {
    return std::ranges::find(stages, stage) != stages.end();
  }
};

/// Only the first fault is told: the next ones are most likely the same.
void complain(const std::string& what) noexcept {
  static std::atomic<bool> has_complained{false};
  if (!has_complained.exchange(true)) std::fprintf(stderr, "weft: WEFT_DUMP: %s\n", what.c_str());
}

DumpOptions read_options() {
  // Programs with more rights than their caller write no files where the caller says.
  const char* const given = secure_getenv("WEFT_DUMP");
  if (given == nullptr || *given == '\0') return {};
  const std::string_view text(given);
  const std::size_t colon = text.find(':');
  if (colon == text.npos || colon + 1 == text.size()) {
    complain(detail::concat("expected STAGES:FOLDER as in ir,asm:dumps, but it is '", text, "'"));
    return {};
  }
  DumpOptions options;
  options.folder = fs::path(text.substr(colon + 1));
  for (std::string_view rest = text.substr(0, colon); !rest.empty();) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    const std::string_view stage = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (std::ranges::find(known_stages, stage) != known_stages.end())
      options.stages.emplace_back(stage);
    else
      complain(detail::concat("unknown stage '", stage,
                              "'; the stages are signature, ir, llvm, asm, cuda, ptx and sass"));
  }
  return options;
}

/// Read once.
const DumpOptions& options() {
  static const NeverDestroyed<DumpOptions> read(read_options);
  return *read;
}

std::string file_name(std::uint64_t signature_hash, std::string_view rest) {
  return detail::concat(hex16(signature_hash), ".", rest);
}

void write(const std::string& name, std::string_view text) {
  const std::string target = options().folder / name;
  std::error_code ignored;  // the file says what is wrong
  fs::create_directories(options().folder, ignored);
  try {
    OutputFile file(target);
    file.write(std::as_bytes(std::span(text)));
    file.commit();
  } catch (const DeviceError& error) {
    complain(detail::concat("cannot write ", target, ": ", error.what()));
  }
}

void write_code(const ir::Kernel& kernel, const CodeObject& code, const Target& target) {
  const std::string backend = code.backend;
  Target with_texts = target;
  with_texts.keep_texts = true;
  with_texts.run = false;
  with_texts.disk = nullptr;
  // Compiled once more: what is kept of code that runs is no text.
  const Backend* const compiler = find_backend(backend);
  if (compiler == nullptr) return;
  const std::shared_ptr<const CodeObject> again = compiler->compile(kernel, with_texts);
  for (const auto& [stage, text] : again->texts) {
    if (!options().has(stage)) continue;
    write(file_name(target.signature_hash, detail::concat(backend, ".", stage)),
          stage == "asm" ? with_loops(text, find_loops(text), 0) : text);
  }
}

/// Runs `action`; whatever goes wrong is told and forgotten.
template <class Action>
void guarded(const Action& action) noexcept {
  try {
    action();
  } catch (const std::exception& error) {
    complain(error.what());
  }
}

}  // namespace

void prepare_dump() { options(); }

void dump(const ir::Kernel& kernel, const CodeObject& code, const Target& target) noexcept {
  guarded([&] {
    if (options().stages.empty()) return;
    if (options().has("ir")) write(file_name(target.signature_hash, "ir"), ir::print(kernel));
    const bool only_ir = std::ranges::all_of(options().stages, [](const std::string& stage) {
      return stage == "ir" || stage == "signature";
    });
    if (!only_ir) write_code(kernel, code, target);
  });
}

void dump_signature(const Signature& signature) noexcept {
  guarded([&] {
    if (options().has("signature"))
      write(file_name(hash(signature), "signature"), text(signature) + "\n");
  });
}

}  // namespace weft::jit
