// Engines, calls, plans and explanations, for C.
#include "engine/c/handles.h"
#include "engine/tensor/tensor_impl.h"

#include <weft/define.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <new>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace weft;
using weft::c::array, weft::c::engine_of, weft::c::given, weft::c::guard, weft::c::new_handle,
    weft::c::read_names, weft::c::tensor_of, weft::c::text_at;

namespace {

EngineOptions read_options(const weft_engine_options* given_options) {
  EngineOptions options;
  if (given_options == nullptr) return options;
  WEFT_CHECK(given_options->struct_bytes >= sizeof(size_t), ArgumentError,
             "expected struct_bytes = sizeof(weft_engine_options), got ",
             given_options->struct_bytes);
  // Programs that were compiled with an older header have fewer members, but no part of one.
  weft_engine_options known{};
  const auto take = [&](auto weft_engine_options::*member) {
    const auto* const first = reinterpret_cast<const std::byte*>(given_options);
    const auto* const end = reinterpret_cast<const std::byte*>(&(given_options->*member) + 1);
    if (static_cast<size_t>(end - first) <= given_options->struct_bytes)
      known.*member = given_options->*member;
  };
  take(&weft_engine_options::backend);
  take(&weft_engine_options::numerics);
  take(&weft_engine_options::num_threads);
  if (known.backend != nullptr) options.backend = known.backend;
  if (known.numerics != nullptr) {
    const auto numerics = parse_numerics(known.numerics);
    WEFT_CHECK(numerics.has_value(), ArgumentError, "unknown numerics '", known.numerics,
               "'; expected ", numerics_names());
    options.numerics = *numerics;
  }
  options.num_threads = known.num_threads;
  return options;
}

/// Runs `call(out)`, which returns a tensor or writes `out`, and hands out what is new.
template <class Function>
weft_status run_call(weft_tensor** out, const Function& call) {
  return guard([&] {
    weft_tensor*& result = given(out, "a place for the result");
    if (result != nullptr)
      call(result->tensor);
    else
      result = new_handle(call(Tensor()));
  });
}

Op op_named(const char* op, int arity) {
  const std::optional<Op> found = parse_op(text_at(op, "the name of an op"));
  WEFT_CHECK(found && is_callable(*found), ArgumentError, "unknown op '", op, "'");
  WEFT_CHECK(info(*found).arity == arity, ArgumentError, op, " takes ", info(*found).arity,
             " operands, got ", arity);
  return *found;
}

/// One op on two or three operands goes the same way as an expression of it.
weft_status call_op(weft_engine* engine, const char* op,
                    std::initializer_list<const weft_tensor*> inputs, weft_tensor** out) {
  return run_call(out, [&](const Tensor& into) {
    Engine& self = engine_of(engine);
    const Op which = op_named(op, static_cast<int>(inputs.size()));
    std::vector<Tensor> given_tensors;
    for (const weft_tensor* input : inputs) given_tensors.push_back(tensor_of(input));
    const auto call = [&](const auto&... tensors) {
      if constexpr (sizeof...(tensors) == 1)
        return into.defined() ? (self.unary(which, tensors..., into), into)
                              : self.unary(which, tensors...);
      else if constexpr (sizeof...(tensors) == 2)
        return into.defined() ? (self.binary(which, tensors..., into), into)
                              : self.binary(which, tensors...);
      else
        return into.defined() ? (self.ternary(which, tensors..., into), into)
                              : self.ternary(which, tensors...);
    };
    const std::vector<Tensor>& t = given_tensors;
    return t.size() == 1 ? call(t[0]) : t.size() == 2 ? call(t[0], t[1]) : call(t[0], t[1], t[2]);
  });
}

Expr read_expression(Engine& engine, const char* expression,
                     const std::vector<NamedTensor>& names) {
  return parse_expr(text_at(expression, "an expression"), names, engine.definitions());
}

std::vector<std::string> split_commas(const char* text) {
  std::vector<std::string> result;
  std::istringstream parts(text == nullptr ? "" : text);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t first = part.find_first_not_of(' ');
    if (first != part.npos)
      result.push_back(part.substr(first, part.find_last_not_of(' ') - first + 1));
  }
  return result;
}

std::string text_of(const Explanation& explanation) {
  std::ostringstream out;
  out << "result: "
      << layout_text(unbacked(explanation.result_sizes, explanation.result_strides,
                              explanation.result_dtype))
      << "\ncommon dtype: " << name(explanation.common_dtype)
      << "\nfast set-up: " << explanation.fast_setup << "\nshape: " << dims_text(explanation.shape)
      << "\nschedule: " << explanation.schedule << "\nbackend: " << explanation.backend << '\n';
  for (const std::string& refusal : explanation.refusals) out << "not " << refusal << '\n';
  for (const std::string& pass : explanation.passes) out << "pass: " << pass << '\n';
  for (const Explanation::Operand& operand : explanation.operands)
    out << operand.role << ' ' << operand.name << ": " << name(operand.dtype) << " stride_bytes "
        << dims_text(operand.stride_bytes) << '\n';
  for (const auto& [stage, text] : explanation.texts)
    out << "\n--- " << stage << " ---\n" << text << (text.ends_with('\n') ? "" : "\n");
  return std::move(out).str();
}

char* copy_of(const std::string& text) {
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

}  // namespace

weft_status weft_engine_create(const weft_engine_options* options, weft_engine** engine) {
  return guard([&] {
    weft_engine*& result = given(engine, "a place for the engine");
    result = new weft_engine{Engine(read_options(options))};
  });
}

void weft_engine_destroy(weft_engine* engine) { weft::c::destroy(engine); }

weft_status weft_engine_define(weft_engine* engine, const char* signature, const char* expression) {
  return guard([&] {
    engine_of(engine).define(text_at(signature, "a signature"),
                             text_at(expression, "an expression"));
  });
}

weft_status weft_engine_wait_optimised(weft_engine* engine) {
  return guard([&] { engine_of(engine).wait_optimised(); });
}

weft_status weft_copy(weft_engine* engine, weft_tensor* destination, const weft_tensor* source) {
  return guard([&] { engine_of(engine).copy(tensor_of(destination), tensor_of(source)); });
}

weft_status weft_unary(weft_engine* engine, const char* op, const weft_tensor* a,
                       weft_tensor** out) {
  return call_op(engine, op, {a}, out);
}

weft_status weft_binary(weft_engine* engine, const char* op, const weft_tensor* a,
                        const weft_tensor* b, weft_tensor** out) {
  return call_op(engine, op, {a, b}, out);
}

weft_status weft_ternary(weft_engine* engine, const char* op, const weft_tensor* a,
                         const weft_tensor* b, const weft_tensor* c, weft_tensor** out) {
  return call_op(engine, op, {a, b, c}, out);
}

weft_status weft_eval(weft_engine* engine, const char* expression, size_t num_names,
                      const weft_named_tensor* names, weft_tensor** out) {
  return weft_eval_many(engine, 1, &expression, num_names, names, out);
}

weft_status weft_eval_many(weft_engine* engine, size_t num_expressions,
                           const char* const* expressions, size_t num_names,
                           const weft_named_tensor* names, weft_tensor** outs) {
  return guard([&] {
    Engine& self = engine_of(engine);
    const std::vector<NamedTensor> named = read_names(num_names, names);
    const auto results = array(outs, num_expressions, "places for results");
    std::vector<Expr> exprs;
    for (const char* expression : array(expressions, num_expressions, "expressions"))
      exprs.push_back(read_expression(self, expression, named));
    std::vector<Tensor> given_outs;
    std::vector<std::unique_ptr<weft_tensor>> made;
    for (const weft_tensor* out : results) {
      given_outs.push_back(out == nullptr ? Tensor() : out->tensor);
      made.push_back(out == nullptr ? std::make_unique<weft_tensor>() : nullptr);
    }
    std::vector<Tensor> tensors = self.eval(exprs, given_outs);
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (made[i] == nullptr) continue;
      made[i]->tensor = std::move(tensors[i]);
      results[i] = made[i].release();
    }
  });
}

weft_status weft_prepare(weft_engine* engine, const char* expression, size_t num_names,
                         const weft_named_tensor* names, weft_tensor** out, weft_plan** plan) {
  return guard([&] {
    Engine& self = engine_of(engine);
    weft_tensor*& output = given(out, "a place for the result");
    weft_plan*& result = given(plan, "a place for the plan");
    const Expr expr = read_expression(self, expression, read_names(num_names, names));
    auto made = std::make_unique<weft_tensor>();
    auto prepared = std::make_unique<weft_plan>(
        weft_plan{self.prepare(expr, output == nullptr ? Tensor() : output->tensor)});
    if (output == nullptr) {
      made->tensor = prepared->plan.outputs().at(0);
      output = made.release();
    }
    result = prepared.release();
  });
}

weft_status weft_plan_run(const weft_plan* plan) {
  return weft::c::guard_run([&] { given(plan, "a plan").plan.run(); });
}

void weft_plan_destroy(weft_plan* plan) { weft::c::destroy(plan); }

weft_status weft_explain(weft_engine* engine, const char* expression, size_t num_names,
                         const weft_named_tensor* names, const char* emit, char** text) {
  return guard([&] {
    Engine& self = engine_of(engine);
    char*& result = given(text, "a place for the text");
    const Expr expr = read_expression(self, expression, read_names(num_names, names));
    ExplainOptions options;
    options.backend = self.options().backend;
    options.numerics = self.options().numerics;
    options.emit = split_commas(emit);
    result = copy_of(text_of(self.explain(expr, {}, options)));
  });
}

void weft_text_destroy(char* text) { std::free(text); }
