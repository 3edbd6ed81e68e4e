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
  std::string_view keys;  ///< that a case may have besides `id` and `tag`; what else there is
                          ///< would not be looked at
};

Verdict replay_layout(Context& context, const json& recorded);
Verdict replay_binary_layout(Context& context, const json& recorded);
Verdict replay_promotion(Context& context, const json& recorded);
Verdict replay_overlap(Context& context, const json& recorded);
Verdict replay_values(Context& context, const json& recorded);
Verdict replay_reduce(Context& context, const json& recorded);
Verdict replay_copy(Context& context, const json& recorded);

inline constexpr RecordingKind recording_kinds[] = {
    {"layout.jsonl", replay_layout,
     "sz st off numel c cl cl3 nod overlap smf smf_exact el_p el_c clone_p contig contig_self "
     "to_dt "
     "el_cl clone_cl contig_cl to_cl el_cl3 clone_cl3 contig_cl3 to_cl3"},
    {"binary_layout.jsonl", replay_binary_layout,
     "op in out err odt osz ost fast perm coalesced_shape coalesced_stride_bytes ost_slow cast_in "
     "ost_on_the_fly"},
    {"promotion.jsonl", replay_promotion, "k op a b r e o cpu"},
    {"overlap.jsonl", replay_overlap,
     "op dt n out in internal status res after order_dependent newer"},
    {"values.jsonl", replay_values,
     "op in out t ref alt ub err crash via alpha value scalar scalar_kind mixed dst direct"},
    {"reduce.jsonl", replay_reduce, "op in dim keepdim p correction dtype out t ref64 err"},
    {"copy.jsonl", replay_copy, "dst src after err"},
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
