#include "engine/plan/pass_list.h"

#include "engine/expression/node_index.h"
#include "engine/fold/row_program.h"
#include "engine/tensor/tensor_impl.h"
#include "runtime/store_fence.h"

#include <weft/parallel.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

namespace weft {
namespace {

/// Places blocks that are in use during some of the steps, each where no other is at that time.
class Arena {
 public:
  /// Returns the offset of a block.
  std::size_t place(std::size_t num_bytes, std::size_t first_step, std::size_t last_step) {
    Block block{0, (num_bytes + 63) / 64 * 64, first_step, last_step};
    // Blocks lie in the order of their offsets, so that the first gap that is met is the lowest.
    auto behind = blocks_.begin();
    for (auto other = blocks_.begin(); other != blocks_.end(); ++other) {
      if (other->last_step < first_step || last_step < other->first_step) continue;
      if (other->offset >= block.offset + block.num_bytes) break;
      block.offset = std::max(block.offset, other->offset + other->num_bytes);
    }
    while (behind != blocks_.end() && behind->offset < block.offset) ++behind;
    blocks_.insert(behind, block);
    num_bytes_ = std::max(num_bytes_, block.offset + block.num_bytes);
    return block.offset;
  }
  std::size_t num_bytes() const { return num_bytes_; }

 private:
  struct Block {
    std::size_t offset, num_bytes, first_step, last_step;
  };
  std::vector<Block> blocks_;
  std::size_t num_bytes_ = 0;
};

/// Finds where operands of steps lie.  Offsets of temporaries are from their own first byte, until
/// all of them are known.
class Origins {
 public:
  Origins(std::span<const Tensor> outputs, const CallKey& key) : outputs_(outputs), key_(key) {}

  /// None for another view of an input: the next call's inputs may lie apart.
  std::optional<Origin> find(const Tensor& operand, bool is_written, std::size_t step) {
    // What is written is the call's output, where that is an input as well.
    for (std::size_t i = 0; i < key_.inputs.size() && !is_written; ++i)
      if (key_.inputs[i]->is_same(operand)) return Origin{outputs_.size() + i, 0};
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      if (outputs_[i].storage() == operand.storage())
        return Origin{i, operand.data() - outputs_[i].data()};
    for (const Tensor* input : key_.inputs)
      if (input->storage() == operand.storage()) return {};
    const Storage* const storage = operand.storage().get();
    auto place = std::ranges::find(temporaries_, storage, &Temporary::storage);
    if (place == temporaries_.end()) place = temporaries_.insert(place, {storage, step, step});
    place->last_step = step;
    return Origin{first_temporary() + static_cast<std::size_t>(place - temporaries_.begin()),
                  operand.data() - storage->data()};
  }

  /// Gives the temporaries of `passes` their places in one block, and returns its size in bytes.
  std::size_t place_temporaries(std::span<Pass> passes) const {
    Arena arena;
    std::vector<std::int64_t> offsets;
    for (const Temporary& each : temporaries_)
      offsets.push_back(static_cast<std::int64_t>(
          arena.place(each.storage->size_bytes(), each.first_step, each.last_step)));
    for (Pass& pass : passes)
      for (Origin& origin : pass.operands)
        if (origin.operand >= first_temporary()) {
          origin.offset_bytes += offsets[origin.operand - first_temporary()];
          origin.operand = Origin::temporary;
        }
    return arena.num_bytes();
  }

 private:
  struct Temporary {
    const Storage* storage;
    std::size_t first_step, last_step;
  };
  /// Behind all outputs and inputs.
  std::size_t first_temporary() const { return outputs_.size() + key_.inputs.size(); }
  std::span<const Tensor> outputs_;
  const CallKey& key_;
  std::vector<Temporary> temporaries_;
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

void PassList::run(std::byte* const* base, const Bits* params) const {
  Temporaries temporaries(temporary_bytes);
  std::array<std::byte*, ir::max_launch_operands> usual;
  std::vector<std::byte*> many;  // a list in the list may have more
  for (const Pass& pass : passes) {
    std::byte** operands = usual.data();
    if (pass.operands.size() > usual.size()) {
      many.resize(pass.operands.size());
      operands = many.data();
    }
    for (std::size_t i = 0; i < pass.operands.size(); ++i)
      operands[i] = pass.operands[i].address(base, temporaries.data());
    weft::run(*pass.plan, operands, params + pass.first_param);
  }
}

CallPlan::Output planned_output(const Tensor& output, bool is_new) {
  if (!is_new) return {};
  CallPlan::Output planned{true, output.storage()->size_bytes(), output.device(), *output.impl()};
  planned.layout.storage.reset();
  return planned;
}

void PassRecorder::add(std::shared_ptr<const CallPlan> plan, std::span<const Tensor> outputs,
                       const CallKey& key) {
  if (!is_repeatable_) return;
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
  if (!is_repeatable_ || !own_their_memory(given, outputs)) return nullptr;
  const std::shared_ptr<CallPlan> plan = begin_plan(key, given, outputs);
  Origins origins(outputs, key);
  NodeIndex numbers;
  for (const ExprNode* number : key.numbers) numbers.add(number);
  PassList list;
  for (const Step& step : steps_) {
    if (step.plan->is_empty) continue;
    Pass& pass = list.passes.emplace_back();
    pass.plan = step.plan;
    for (const Tensor& operand : step.operands) {
      const bool is_written = pass.operands.size() < step.plan->outputs.size();
      const std::optional<Origin> origin =
          origins.find(operand, is_written, list.passes.size() - 1);
      if (!origin) return nullptr;
      pass.operands.push_back(*origin);
    }
    pass.first_param = plan->params.size();
    for (std::size_t i = 0; i < step.numbers.size(); ++i) {
      const std::int64_t number = numbers.find(step.numbers[i]);
      if (number < 0) return nullptr;
      plan->params.push_back({static_cast<std::uint32_t>(number), step.plan->params[i].dtype});
    }
  }
  list.temporary_bytes = origins.place_temporaries(list.passes);
  for (const Pass& pass : list.passes) plan->steps.push_back(pass.plan);
  plan->passes = std::make_shared<const PassList>(std::move(list));
  plan->pass = [list = plan->passes](std::byte* const* base, const Bits* params) {
    list->run(base, params);
  };
  return plan;
}

namespace {

/// Bytes from one row to the next of the operands of a block, 0 for those that all blocks share;
/// nothing if the operands of the first block don't begin where those of the call do.
std::optional<std::vector<std::int64_t>> row_bytes_of(const CallPlan& block, const CallKey& key,
                                                      const CallKey& block_key,
                                                      std::span<const Tensor> outputs) {
  std::vector<std::int64_t> row_bytes;
  const auto bytes_of_row = [](const Tensor& tensor) {
    return stride_in_bytes(tensor.stride(0), tensor.size(0),
                           static_cast<std::int64_t>(itemsize_bytes(tensor.dtype())));
  };
  for (const Tensor& output : outputs) row_bytes.push_back(bytes_of_row(output));
  for (const std::uint32_t leaf : block.leaves) {
    const Tensor& whole = *key.inputs[leaf];
    const Tensor& part = *block_key.inputs[leaf];
    if (part.data() != whole.data()) return {};
    const bool is_cut = !std::ranges::equal(part.sizes(), whole.sizes());
    row_bytes.push_back(is_cut ? bytes_of_row(whole) : 0);
  }
  return row_bytes;
}

void run_rows(const RowPasses& passes, std::span<const std::int64_t> row_bytes,
              std::byte* const* base, const Bits* params) {
  const std::int64_t rows = passes.rows_per_block;
  const auto run_blocks = [&](std::int64_t begin, std::int64_t end) {
    std::array<std::byte*, ir::max_launch_operands> operands;
    const auto move_to = [&](std::int64_t block) {
      for (std::size_t i = 0; i < row_bytes.size(); ++i)
        operands[i] = base[i] + block * rows * row_bytes[i];
    };
    if (const PassList* const list = passes.block->passes.get();
        list != nullptr && RowProgram::can_run(*list)) {
      move_to(begin);
      const std::int64_t last = std::min(end, passes.num_rows / rows);
      RowProgram(*list, operands.data(), row_bytes, rows, params).run(last - begin);
      begin = last;
    }
    for (std::int64_t block = begin; block < end; ++block) {
      move_to(block);
      const bool is_whole = (block + 1) * rows <= passes.num_rows;
      weft::run(is_whole ? *passes.block : *passes.last_block, operands.data(), params);
    }
    if (passes.needs_fence) store_fence();
  };
  constexpr std::int64_t bytes_per_ns = 16;  // so that a look at the token is seldom
  std::int64_t work_ns = 1;
  for (const std::int64_t bytes : row_bytes)
    work_ns += passes.num_rows * std::abs(bytes) / bytes_per_ns;
  parallel_for(0, (passes.num_rows + rows - 1) / rows, 1, run_blocks,
               {passes.max_threads, work_ns});
}

}  // namespace

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
  const auto row_bytes = row_bytes_of(*passes.block, key, block_key, outputs);
  if (!row_bytes) return nullptr;
  std::shared_ptr<CallPlan> plan = begin_plan(key, given, outputs);
  plan->leaves = passes.block->leaves;
  plan->params = passes.block->params;
  plan->steps = {passes.block, passes.last_block};
  plan->pass = [passes, row_bytes = *row_bytes](std::byte* const* base, const Bits* params) {
    run_rows(passes, row_bytes, base, params);
  };
  return plan;
}

}  // namespace weft
