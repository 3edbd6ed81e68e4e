#include "engine/fuzz/check.h"

#include "engine/expression/walk.h"
#include "engine/fuzz/compare.h"
#include "engine/fuzz/storage.h"

#include <weft/error.h>
#include <weft/naive.h>

#include <algorithm>
#include <vector>

namespace weft::fuzzing {
namespace {

/// Whether an op has nothing but numbers for arguments.  As a text that is Python's arithmetic,
/// which refuses some of what tensors compute, as 1 % 0.
bool computes_with_numbers(const Expr& expr) {
  const auto is_number = [](const auto& arg) { return arg->kind == ExprNode::Kind::scalar; };
  return any_node(std::span(&expr, 1), [&](const ExprNode& node) {
    return node.kind == ExprNode::Kind::op && std::ranges::all_of(node.args, is_number);
  });
}

/// A case in memory.
class Run {
 public:
  explicit Run(const Case& fuzz_case) : case_(fuzz_case) {
    for (std::size_t i = 0; i < fuzz_case.inputs.size(); ++i)
      inputs_.push_back(
          std::make_unique<GuardedTensor>(fuzz_case.inputs[i], fuzz_case.seed,
                                          shared_storage_elements(fuzz_case, static_cast<int>(i))));
    for (const CaseOutput& output : fuzz_case.outputs)
      outputs_.push_back(output.kind == CaseOutput::Kind::given
                             ? std::make_unique<GuardedTensor>(output.tensor, fuzz_case.seed)
                             : nullptr);
    if (writes_to(fuzz_case.outputs[0], fuzz_case.outputs[0].input))
      apart_ = std::make_unique<GuardedTensor>(output_layout(0), fuzz_case.seed);
    std::vector<Tensor> tensors;
    for (const auto& input : inputs_) tensors.push_back(input->tensor());
    const std::vector<Expr> nodes = build_expressions(fuzz_case, tensors);
    for (const int root : fuzz_case.roots) exprs_.push_back(nodes[static_cast<std::size_t>(root)]);
    for (std::size_t i = 0; i < exprs_.size(); ++i) given_.push_back(given_output(i));
    rounds_between_ops_ = std::ranges::any_of(nodes, [](const Expr& expr) {
      const DType dtype = expr.node().compute_dtype;
      return is_small_float(dtype) || dtype == DType::c32 || is_small_float(expr.dtype()) ||
             expr.dtype() == DType::c32;
    });
  }

  /// Whether the numerics leave nothing open, so that index arithmetic gives the same bits.
  bool is_exact() const {
    return case_.numerics == Numerics::strict ||
           (case_.numerics == Numerics::standard && !rounds_between_ops_);
  }

  /// How far each result of a backend may lie from the interpreter's.
  std::vector<Tolerance> tolerances(const std::string& backend) const {
    std::vector<Tolerance> result;
    for (std::size_t i = 0; i < exprs_.size(); ++i)
      result.push_back(tolerance_of(exprs_[i], result_dtype(i), case_.numerics, backend));
    return result;
  }

  /// The results by plain index arithmetic.
  std::vector<Tensor> naive() {
    restore();
    std::vector<Tensor> results;
    for (std::size_t i = 0; i < exprs_.size(); ++i) {
      results.push_back(empty(shape_of_root(case_, case_.roots[i]),
                              TensorOptions{result_dtype(i), {}, MemoryFormat::contiguous}));
      naive_eval(exprs_[i], results.back());
    }
    return results;
  }

  /// The results of one call.
  std::vector<Tensor> eval(Engine& engine) {
    restore();
    return engine.eval(exprs_, given_);
  }

  /// How an output that is an input's memory is called: there, or in memory of its own.
  enum class Aliasing : std::uint8_t { as_given, apart };

  /// The result of the same call by unary(), binary(), ternary() or copy(); nothing if it is none.
  std::optional<Tensor> eval_eagerly(Engine& engine, Aliasing aliasing) {
    const CaseNode& root = case_.nodes[static_cast<std::size_t>(case_.roots[0])];
    std::vector<const Tensor*> in;
    const auto add = [&](const CaseNode& node) {
      if (node.kind == CaseNode::Kind::tensor)
        in.push_back(&inputs_[static_cast<std::size_t>(node.tensor)]->tensor());
    };
    if (root.kind == CaseNode::Kind::tensor) add(root);
    for (const int arg : root.args) add(case_.nodes[static_cast<std::size_t>(arg)]);
    const bool is_copy = root.kind == CaseNode::Kind::tensor;
    const bool is_one_op = root.kind == CaseNode::Kind::op && in.size() == root.args.size();
    const Tensor out = call_output(aliasing);
    if (exprs_.size() != 1 || !(is_copy ? can_copy() : is_one_op)) return {};
    if (is_copy) {
      engine.copy(out, *in[0]);
      return out;
    }
    switch (in.size()) {
      case 1: return called(out, [&](auto&... to) { return engine.unary(root.op, *in[0], to...); });
      case 2:
        return called(out,
                      [&](auto&... to) { return engine.binary(root.op, *in[0], *in[1], to...); });
      case 3:
        return called(out, [&](auto&... to) {
          return engine.ternary(root.op, *in[0], *in[1], *in[2], to...);
        });
      default: return {};
    }
  }

  /// The result of the same call prepared, and run twice; nothing where it cannot be prepared.
  std::optional<Tensor> eval_prepared(Engine& engine) {
    if (exprs_.size() != 1) return {};
    const Tensor out = call_output(Aliasing::as_given);
    const PreparedPlan plan = engine.prepare(exprs_[0], out);
    for (int run = 0; run < 2; ++run) {
      restore();
      plan.run();
    }
    return plan.outputs()[0];
  }

  /// The results of the same call with the expression as a user operator of its inputs, or nothing
  /// where it cannot be written down or has none.
  std::optional<Tensor> eval_as_user_operator(Engine& engine) {
    const std::string written = text(exprs_[0]);
    if (written.size() > 4096 || inputs_.empty() || computes_with_numbers(exprs_[0])) return {};
    Definitions definitions;
    std::string parameters;
    std::vector<Expr> args;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      parameters.append(parameters.empty() ? "" : ", ").append(case_.inputs[i].name);
      args.emplace_back(inputs_[i]->tensor());
    }
    definitions.define("user_operator(" + parameters + ")", written);
    restore();
    return engine.eval(definitions.call("user_operator", args));
  }

  /// The result of the expression as its text is read.
  Tensor eval_as_text(Engine& engine) {
    std::vector<std::pair<std::string, Tensor>> names;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      names.emplace_back(case_.inputs[i].name, inputs_[i]->tensor());
    restore();
    return engine.eval(parse_expr(text(exprs_[0]), names));
  }

  /// What lies where it should not, after eval(); empty if all is well.
  std::string damage() const {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      std::vector<Tensor> written;
      for (std::size_t out = 0; out < given_.size(); ++out)
        if (writes_to(case_.outputs[out], static_cast<int>(i))) written.push_back(given_[out]);
      if (!inputs_[i]->is_intact(written))
        return "the call wrote to input " + case_.inputs[i].name +
               (written.empty() ? "" : ", outside of the output's elements");
    }
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      if (outputs_[i] && !outputs_[i]->is_intact(std::span(&outputs_[i]->tensor(), 1)))
        return detail::concat("the call wrote outside of the elements of output ", i);
    if (apart_ && !apart_->is_intact(std::span(&apart_->tensor(), 1)))
      return "the call wrote outside of the elements of an output that is no input";
    return {};
  }

  /// What a call that was refused has changed; empty if all is well.
  std::string damage_after_error() const {
    for (std::size_t i = 0; i < given_.size(); ++i)
      if (given_[i].defined() && !std::ranges::equal(given_[i].sizes(), output_layout(i).sizes))
        return detail::concat("a call that failed resized output ", i);
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (!inputs_[i]->is_intact({})) return "a call that failed wrote to " + case_.inputs[i].name;
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      if (outputs_[i] && !outputs_[i]->is_intact({}))
        return detail::concat("a call that failed wrote to output ", i);
    return {};
  }

 private:
  /// Requires: the output is given.
  const CaseTensor& output_layout(std::size_t i) const {
    const CaseOutput& output = case_.outputs[i];
    return output.kind == CaseOutput::Kind::in_place
               ? case_.inputs[static_cast<std::size_t>(output.input)]
               : output.tensor;
  }

  DType result_dtype(std::size_t i) const {
    return given_[i].defined() ? given_[i].dtype() : exprs_[i].dtype();
  }

  /// Copies go into outputs that have their sizes already.
  bool can_copy() const {
    const CaseOutput::Kind kind = case_.outputs[0].kind;
    return kind != CaseOutput::Kind::fresh && kind != CaseOutput::Kind::resized;
  }

  /// The only output of a call, with everything as it was at first.
  Tensor call_output(Aliasing aliasing) {
    restore();
    const bool is_apart = aliasing == Aliasing::apart && apart_;
    return is_apart ? apart_->tensor() : given_[0];
  }

  /// The result of `call(out)`, or of `call()` without an output.
  template <class Function>
  static Tensor called(const Tensor& out, const Function& call) {
    if (!out.defined()) return call();
    call(out);
    return out;
  }

  Tensor given_output(std::size_t i) const {
    switch (case_.outputs[i].kind) {
      case CaseOutput::Kind::fresh: return {};
      case CaseOutput::Kind::given: return outputs_[i]->tensor();
      case CaseOutput::Kind::in_place:
        return inputs_[static_cast<std::size_t>(case_.outputs[i].input)]->tensor();
      case CaseOutput::Kind::shared: {
        const CaseTensor& view = case_.outputs[i].tensor;
        const Tensor& input = inputs_[static_cast<std::size_t>(case_.outputs[i].input)]->tensor();
        return input.as_strided(view.sizes, view.strides, view.offset);
      }
      case CaseOutput::Kind::resized:
        return empty(case_.outputs[i].tensor.sizes,
                     TensorOptions{case_.outputs[i].tensor.dtype, {}, MemoryFormat::contiguous});
    }
    __builtin_unreachable();
  }

  void restore() {
    for (const auto& input : inputs_) input->restore();
    for (const auto& output : outputs_)
      if (output) output->restore();
    if (apart_) apart_->restore();
    for (std::size_t i = 0; i < given_.size(); ++i)
      if (case_.outputs[i].kind == CaseOutput::Kind::resized) given_[i] = given_output(i);
  }

  const Case& case_;
  std::vector<std::unique_ptr<GuardedTensor>> inputs_;
  std::vector<std::unique_ptr<GuardedTensor>> outputs_;
  std::unique_ptr<GuardedTensor> apart_;  ///< laid out as an output that is an input's memory
  std::vector<Expr> exprs_;
  std::vector<Tensor> given_;
  bool rounds_between_ops_ = false;
};

std::vector<std::vector<std::int64_t>> strides_of(const std::vector<Tensor>& tensors) {
  std::vector<std::vector<std::int64_t>> result;
  for (const Tensor& tensor : tensors)
    result.emplace_back(tensor.strides().begin(), tensor.strides().end());
  return result;
}

std::optional<Finding> compare_strides(const std::vector<Tensor>& actual,
                                       const std::vector<std::vector<std::int64_t>>& expected,
                                       const std::string& backend) {
  const std::vector<std::vector<std::int64_t>> strides = strides_of(actual);
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (strides[i] != expected[i])
      return Finding{Finding::Kind::value,
                     backend,
                     detail::concat("result ", i, " has strides ", list_text(strides[i]),
                                    ", expected ", list_text(expected[i])),
                     {}};
  return {};
}

/// The results of an engine, or the error that it threw.
struct Attempt {
  std::vector<Tensor> results;
  std::string error_kind;
  std::string message;
};

Attempt attempt(Run& run, Engine& engine) {
  Attempt result;
  try {
    result.results = run.eval(engine);
  } catch (const Error& error) {
    result.error_kind = error.kind();
    result.message = error.what();
  }
  return result;
}

Finding error_finding(const std::string& backend, const std::string& what) {
  return {Finding::Kind::error, backend, what, {}};
}

bool is_bug(const Attempt& attempt) {
  return attempt.error_kind == "internal" || attempt.error_kind == "compile" ||
         attempt.error_kind == "device";
}

/// What results are compared with.
struct Expected {
  const std::vector<Tensor>& results;
  std::vector<Tolerance> tolerances;  ///< one a result, or none: all bits
};

std::optional<Finding> check_values(Run& run, Engine& engine, const std::string& backend,
                                    const Expected* expected) {
  // The second call finds the plan of the first.
  for (int call = 0; call < 2; ++call) {
    const std::vector<Tensor> results = run.eval(engine);
    if (expected != nullptr) {
      if (auto finding = compare(results, expected->results, expected->tolerances, backend)) {
        if (call > 0) finding->what += " (in a repeated call)";
        return finding;
      }
    }
    const std::string damage = run.damage();
    if (!damage.empty()) return Finding{Finding::Kind::memory, backend, damage, {}};
  }
  return {};
}

/// The same call in other ways.  Each eager call comes twice, so that the second finds the plan of
/// the first; between them come calls of the same layouts whose memory is shared differently.
std::optional<Finding> check_other_ways(Run& run, Engine& engine, const std::string& backend,
                                        const Expected& expected) {
  const auto check = [&](const char* way, const auto& call) -> std::optional<Finding> {
    std::optional<Finding> finding;
    try {
      const std::optional<Tensor> result = call();
      if (result) finding = compare({*result}, expected.results, expected.tolerances, backend);
      const std::string damage = run.damage();
      if (!finding && !damage.empty())
        finding = Finding{Finding::Kind::memory, backend, damage, {}};
    } catch (const UnsupportedError&) {
      const std::string damage = run.damage_after_error();
      if (!damage.empty()) finding = Finding{Finding::Kind::memory, backend, damage, {}};
    } catch (const Error& error) {
      finding = error_finding(backend, error.what());
    }
    if (finding) finding->what += detail::concat(" (", way, ")");
    return finding;
  };
  for (const auto aliasing : {Run::Aliasing::as_given, Run::Aliasing::as_given,
                              Run::Aliasing::apart, Run::Aliasing::apart, Run::Aliasing::as_given})
    if (auto finding = check("called eagerly", [&] { return run.eval_eagerly(engine, aliasing); }))
      return finding;
  return check("prepared", [&] { return run.eval_prepared(engine); });
}

std::optional<Finding> check_user_operator(Run& run, Engine& interpreter,
                                           const std::vector<Tensor>& expected) {
  try {
    const auto result = run.eval_as_user_operator(interpreter);
    if (!result) return {};
    // A number that is shared becomes several as a text, and so do products of it: which of them
    // `fast` makes part of a sum depends on that.
    const bool is_fast = interpreter.options().numerics == Numerics::fast;
    auto finding = compare(
        {*result}, is_fast ? std::vector{run.eval_as_text(interpreter)} : expected, {}, "interp");
    if (finding) finding->what += " (as a user operator)";
    return finding;
  } catch (const UnsupportedError&) {
    return {};  // as a text, what nodes share is written and computed again: it may be too much
  } catch (const Error& error) {
    return error_finding("interp", std::string("as a user operator: ") + error.what());
  }
}

}  // namespace

Engine& Engines::get(const std::string& backend, Numerics numerics) {
  auto& engine = engines_[{backend, numerics}];
  if (!engine) {
    EngineOptions options;
    options.backend = backend;
    options.numerics = numerics;
    engine = std::make_unique<Engine>(options);
  }
  return *engine;
}

void Engines::count_case() {
  if (++num_cases_ % cases_an_engine == 0) engines_.clear();
}

std::optional<Finding> check_case(const Case& fuzz_case, const std::string& backend,
                                  Engines& engines, Outcome& outcome) {
  Run run(fuzz_case);
  outcome = Outcome::compared;
  Engine& interpreter = engines.get("interp", fuzz_case.numerics);
  const Attempt reference = attempt(run, interpreter);
  if (is_bug(reference)) return error_finding("interp", reference.message);
  if (!reference.error_kind.empty()) {
    outcome = Outcome::rejected;
    const std::string damage = run.damage_after_error();
    if (!damage.empty()) return Finding{Finding::Kind::memory, "interp", damage, {}};
  }
  const std::vector<Tensor> of_interpreter = copies(reference.results);
  const std::vector<std::vector<std::int64_t>> strides = strides_of(reference.results);
  if (backend == "interp") {
    if (outcome == Outcome::rejected) return {};
    const std::vector<Tensor> naive = run.naive();
    const bool is_plain =
        fuzz_case.outputs.size() == 1 && fuzz_case.outputs[0].kind == CaseOutput::Kind::fresh;
    if (is_plain && fuzz_case.seed % 4 == 0)
      if (auto finding = check_user_operator(run, interpreter, of_interpreter)) return finding;
    if (auto finding = check_other_ways(run, interpreter, backend, {of_interpreter, {}}))
      return finding;
    const Expected expected{naive, {}};
    return check_values(run, interpreter, backend, run.is_exact() ? &expected : nullptr);
  }
  Engine& engine = engines.get(backend, fuzz_case.numerics);
  const Attempt first = attempt(run, engine);
  if (is_bug(first)) return error_finding(backend, first.message);
  if (!first.error_kind.empty()) {
    const std::string damage = run.damage_after_error();
    if (!damage.empty()) return Finding{Finding::Kind::memory, backend, damage, {}};
  }
  if (outcome == Outcome::rejected) {
    // A divisor that the backend cannot compute is not looked at.
    if (first.error_kind == reference.error_kind || first.error_kind == "unsupported") return {};
    return error_finding(backend, "the interpreter says '" + reference.message + "', but not this");
  }
  if (first.error_kind == "unsupported") {
    outcome = Outcome::refused;
    return {};
  }
  if (!first.error_kind.empty()) return error_finding(backend, first.message);
  if (auto finding = compare_strides(first.results, strides, backend)) return finding;
  const Expected expected{of_interpreter, run.tolerances(backend)};
  if (auto finding = check_other_ways(run, engine, backend, expected)) return finding;
  return check_values(run, engine, backend, &expected);
}

}  // namespace weft::fuzzing
