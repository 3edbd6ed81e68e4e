// What the program replays: one function a kind of recording.
#pragma once

#include "tests/conformance/compare.h"
#include "tests/conformance/tensors.h"

#include <weft/engine.h>

#include <optional>
#include <span>
#include <string_view>

namespace weft::conformance {

enum class Verdict : std::uint8_t {
  passed,
  skipped,  ///< run, but the recording itself marks the result as implementation-defined
};

struct Context {
  Engine& engine;
  WorstUlps worst;  ///< of the file that is being replayed
};

/// Replays one case.
///
/// Errors: Mismatch if weft does otherwise than recorded, or the case is not understood;
///         whatever weft throws where nothing of the kind was recorded.
using Replay = Verdict (*)(Context& context, const json& recorded);

struct RecordingKind {
  std::string_view file;
  Replay replay;
};

Verdict replay_layout(Context& context, const json& recorded);
Verdict replay_binary_layout(Context& context, const json& recorded);
Verdict replay_promotion(Context& context, const json& recorded);
Verdict replay_overlap(Context& context, const json& recorded);
Verdict replay_values(Context& context, const json& recorded);
Verdict replay_reduce(Context& context, const json& recorded);
Verdict replay_copy(Context& context, const json& recorded);

inline constexpr RecordingKind recording_kinds[] = {
    {"layout.jsonl", replay_layout},       {"binary_layout.jsonl", replay_binary_layout},
    {"promotion.jsonl", replay_promotion}, {"overlap.jsonl", replay_overlap},
    {"values.jsonl", replay_values},       {"reduce.jsonl", replay_reduce},
    {"copy.jsonl", replay_copy},
};

/// The op that a recorded name means: PyTorch has two names for some, and a trailing underscore for
/// the in-place form.
///
/// Errors: Mismatch if weft has no such op.
Op recorded_op(std::string name);

/// Runs `action`, which was recorded as raising an error of `kind`.
///
/// Errors: Mismatch if it raises none or another one.
template <class Action>
void expect_error(const std::string& kind, const Action& action) {
  std::string got = "nothing";
  try {
    action();
  } catch (const Mismatch&) {
    throw;
  } catch (const Error& error) {
    if (error_kind(error) == kind) return;
    got = std::string(error.kind()) + " error '" + error.what() + "'";
  }
  throw Mismatch("recorded as raising " + kind + ", but weft raises " + got);
}

}  // namespace weft::conformance
