#include "engine/pass_list.h"

#include <weft/parallel.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace weft {
namespace {

/// Where an operand of a step lies: so many bytes behind an operand of the call, or in the block of
/// temporaries.
struct Origin {
  static constexpr std::size_t temporary = ~std::size_t{0};
  std::size_t operand = temporary;
  std::int64_t offset_bytes = 0;
};

struct Pass {
  std::shared_ptr<const CallPlan> plan;
  std::vector<Origin> operands;
  std::size_t first_param = 0;
};

/// Immutable.
struct PassList {
  std::vector<Pass> passes;
  std::size_t temporary_bytes = 0;

  void run(std::byte* const* base, const Bits* params) const {
    // Most temporaries are a few numbers.
    alignas(64) std::byte few[2048];
    std::shared_ptr<Storage> many;
    if (temporary_bytes > sizeof few) many = Storage::allocate(temporary_bytes);
    std::byte* const temporaries = many != nullptr ? many->data() : few;
    std::array<std::byte*, ir::max_launch_operands> operands;
    for (const Pass& pass : passes) {
      for (std::size_t i = 0; i < pass.operands.size(); ++i) {
        const Origin& origin = pass.operands[i];
        std::byte* const from =
            origin.operand == Origin::temporary ? temporaries : base[origin.operand];
        operands[i] = from + origin.offset_bytes;
      }
      weft::run(*pass.plan, operands.data(), params + pass.first_param);
    }
  }
};

/// Finds where operands of steps lie.
class Origins {
 public:
  Origins(std::span<const Tensor> outputs, const CallKey& key) : outputs_(outputs), key_(key) {}

  /// None for another view of an input: the next call's inputs may lie apart.
  std::optional<Origin> find(const Tensor& operand, bool is_written) {
    // What is written is the call's output, where that is an input as well.
    for (std::size_t i = 0; i < key_.inputs.size() && !is_written; ++i)
      if (key_.inputs[i]->is_same(operand)) return Origin{outputs_.size() + i, 0};
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      if (outputs_[i].storage() == operand.storage())
        return Origin{i, operand.data() - outputs_[i].data()};
    for (const Tensor* input : key_.inputs)
      if (input->storage() == operand.storage()) return {};
    const Storage* const storage = operand.storage().get();
    auto place = std::ranges::find(temporaries_, storage, &Temporary::first);
    if (place == temporaries_.end()) {
      place = temporaries_.insert(place, {storage, static_cast<std::int64_t>(temporary_bytes_)});
      temporary_bytes_ += (storage->size_bytes() + 63) / 64 * 64;
    }
    return Origin{Origin::temporary, place->second + (operand.data() - storage->data())};
  }
  std::size_t temporary_bytes() const { return temporary_bytes_; }

 private:
  using Temporary = std::pair<const Storage*, std::int64_t>;
  std::span<const Tensor> outputs_;
  const CallKey& key_;
  std::vector<Temporary> temporaries_;
  std::size_t temporary_bytes_ = 0;
};

/// Whether each new result is memory of its own that begins with it.
bool own_their_memory(std::span<const Tensor> given, std::span<const Tensor> outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (given[i].defined()) continue;
    if (outputs[i].impl()->storage_offset != 0) return false;
    for (std::size_t j = 0; j < i; ++j)
      if (outputs[j].storage() == outputs[i].storage()) return false;
  }
  return true;
}

/// A plan of the call's outputs and all of its inputs, without anything to run.
std::shared_ptr<CallPlan> begin_plan(const CallKey& key, std::span<const Tensor> given,
                                     std::span<const Tensor> outputs) {
  auto plan = std::make_shared<CallPlan>();
  for (std::size_t i = 0; i < outputs.size(); ++i)
    plan->outputs.push_back(planned_output(outputs[i], !given[i].defined()));
  for (std::size_t i = 0; i < key.inputs.size(); ++i)
    plan->leaves.push_back(static_cast<std::uint32_t>(i));
  return plan;
}

}  // namespace

CallPlan::Output planned_output(const Tensor& output, bool is_new) {
  if (!is_new) return {};
  CallPlan::Output planned{true, output.storage()->size_bytes(), output.device(), *output.impl()};
  planned.layout.storage.reset();
  return planned;
}

void PassRecorder::add(std::shared_ptr<const CallPlan> plan, std::span<const Tensor> outputs,
                       const CallKey& key) {
  Step step;
  step.operands.assign(outputs.begin(), outputs.end());
  for (const std::uint32_t leaf : plan->leaves) step.operands.push_back(*key.inputs[leaf]);
  for (const CallPlan::Param& param : plan->params)
    step.numbers.push_back(key.numbers[param.number]);
  step.plan = std::move(plan);
  steps_.push_back(std::move(step));
}

std::shared_ptr<CallPlan> PassRecorder::finish(const CallKey& key, std::span<const Tensor> given,
                                               std::span<const Tensor> outputs) const {
  const std::size_t num_operands = outputs.size() + key.inputs.size();
  if (!is_repeatable_ || num_operands > ir::max_launch_operands) return nullptr;
  if (!own_their_memory(given, outputs)) return nullptr;
  const std::shared_ptr<CallPlan> plan = begin_plan(key, given, outputs);
  Origins origins(outputs, key);
  PassList list;
  for (const Step& step : steps_) {
    if (step.plan->is_empty) continue;
    Pass& pass = list.passes.emplace_back();
    pass.plan = step.plan;
    for (const Tensor& operand : step.operands) {
      const bool is_written = pass.operands.size() < step.plan->outputs.size();
      const std::optional<Origin> origin = origins.find(operand, is_written);
      if (!origin) return nullptr;
      pass.operands.push_back(*origin);
    }
    pass.first_param = plan->params.size();
    for (std::size_t i = 0; i < step.numbers.size(); ++i) {
      const auto number = std::find(key.numbers.begin(), key.numbers.end(), step.numbers[i]);
      if (number == key.numbers.end()) return nullptr;
      plan->params.push_back(
          {static_cast<std::uint32_t>(number - key.numbers.begin()), step.plan->params[i].dtype});
    }
  }
  if (plan->params.size() > ir::max_launch_params) return nullptr;
  list.temporary_bytes = origins.temporary_bytes();
  plan->pass = [list = std::move(list)](std::byte* const* base, const Bits* params) {
    list.run(base, params);
  };
  return plan;
}

std::shared_ptr<CallPlan> plan_row_passes(const RowPasses& passes, const CallKey& key,
                                          const CallKey& block_key, std::span<const Tensor> given,
                                          std::span<const Tensor> outputs) {
  const auto& inputs = key.inputs;
  const std::size_t num_operands = outputs.size() + inputs.size();
  if (num_operands > ir::max_launch_operands || block_key.inputs.size() != inputs.size() ||
      !std::ranges::equal(block_key.numbers, key.numbers) || !own_their_memory(given, outputs))
    return nullptr;
  const auto is_same_param = [](const CallPlan::Param& a, const CallPlan::Param& b) {
    return a.number == b.number && a.dtype == b.dtype;
  };
  if (!std::ranges::equal(passes.block->params, passes.last_block->params, is_same_param) ||
      passes.block->leaves != passes.last_block->leaves)
    return nullptr;

  std::vector<std::int64_t> row_bytes;  // of the operands of a block
  const auto bytes_of_row = [](const Tensor& tensor) {
    return tensor.stride(0) * static_cast<std::int64_t>(itemsize_bytes(tensor.dtype()));
  };
  for (const Tensor& output : outputs) row_bytes.push_back(bytes_of_row(output));
  for (const std::uint32_t leaf : passes.block->leaves) {
    const Tensor& whole = *inputs[leaf];
    const Tensor& part = *block_key.inputs[leaf];
    if (part.data() != whole.data()) return nullptr;
    const bool is_cut = !std::ranges::equal(part.sizes(), whole.sizes());
    row_bytes.push_back(is_cut ? bytes_of_row(whole) : 0);
  }
  std::shared_ptr<CallPlan> plan = begin_plan(key, given, outputs);
  plan->leaves = passes.block->leaves;
  plan->params = passes.block->params;
  plan->pass = [passes, row_bytes](std::byte* const* base, const Bits* params) {
    const std::int64_t rows = passes.rows_per_block;
    const auto run_blocks = [&](std::int64_t begin, std::int64_t end) {
      std::array<std::byte*, ir::max_launch_operands> operands;
      for (std::int64_t block = begin; block < end; ++block) {
        for (std::size_t i = 0; i < row_bytes.size(); ++i)
          operands[i] = base[i] + block * rows * row_bytes[i];
        const bool is_whole = (block + 1) * rows <= passes.num_rows;
        weft::run(is_whole ? *passes.block : *passes.last_block, operands.data(), params);
      }
    };
    parallel_for(0, (passes.num_rows + rows - 1) / rows, 1, run_blocks, {passes.max_threads});
  };
  return plan;
}

}  // namespace weft
