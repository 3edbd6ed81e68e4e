// The same steps as in jit/xbyak/short_transpose.h: 16 bytes from each line, where lane g of the
// k-th register has those of line g * side + k, so that after transposing within lanes a register
// is a row of what is written.  A step that would reach past a line's end starts earlier instead.
// With AVX-512 lines that there aren't are read as the last one and masked when stored.  With AVX2
// there are two groups of lines, the second of which ends with the last line: where it overlaps the
// first both write the same.

#include "jit/llvm/builder.h"
#include "jit/llvm/squares.h"
#include "jit/llvm/tile.h"

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace weft::jit {
namespace {

constexpr int most_lanes = 4;

class ShortTransposeEmitter {
 public:
  ShortTransposeEmitter(int itemsize, const Target& target, llvm::Function* function)
      : itemsize_(itemsize),
        side_(lane_bytes / itemsize),
        function_(function),
        builder_(function, target.features) {}

  void emit();

 private:
  using Values = std::vector<llvm::Value*>;

  llvm::Value* field(std::size_t offset, const char* name) {
    const bool is_pointer =
        offset == offsetof(tiles::ShortPlanes, from) || offset == offsetof(tiles::ShortPlanes, to);
    return builder_.CreateAlignedLoad(
        is_pointer ? static_cast<llvm::Type*>(builder_.getPtrTy()) : builder_.getInt64Ty(),
        builder_.CreateConstGEP1_64(builder_.getInt8Ty(), function_->getArg(0), offset),
        llvm::Align(8), name);
  }
  void load_arguments();
  /// What writes `side_` rows, or a part of each, from and to these addresses.
  using Step = std::function<void(llvm::Value* from, llvm::Value* to)>;

  llvm::Value* lines_mask(int num_lanes);
  llvm::Value* after_lines(llvm::Value* count) { return builder_.CreateMul(count, from_stride_); }
  void planes_of(const Step& step);
  Step masked_step(int num_lanes);
  Step overlapping_step(int num_lanes, int num_more_lanes);
  void write_group(int num_lanes, llvm::Value* from, llvm::Value* to);
  void emit_upto(std::int64_t most_lines, const std::function<Step()>& make_step);

  const int itemsize_;
  const int side_;  ///< items of a lane
  llvm::Function* function_;
  Builder builder_;
  llvm::Value* from_ = nullptr;  ///< the fields of tiles::ShortPlanes
  llvm::Value* from_stride_ = nullptr;
  llvm::Value* to_ = nullptr;
  llvm::Value* to_stride_ = nullptr;
  llvm::Value* num_lines_ = nullptr;
  llvm::Value* last_item_ = nullptr;  ///< where the last step starts
  llvm::Value* count_ = nullptr;
  llvm::Value* from_step_ = nullptr;
  llvm::Value* to_step_ = nullptr;
};

void ShortTransposeEmitter::load_arguments() {
  from_ = field(offsetof(tiles::ShortPlanes, from), "from");
  from_stride_ = field(offsetof(tiles::ShortPlanes, from_stride_bytes), "from_stride");
  to_ = field(offsetof(tiles::ShortPlanes, to), "to");
  to_stride_ = field(offsetof(tiles::ShortPlanes, to_stride_bytes), "to_stride");
  num_lines_ = field(offsetof(tiles::ShortPlanes, num_lines), "num_lines");
  last_item_ = builder_.CreateSub(field(offsetof(tiles::ShortPlanes, num_items), "num_items"),
                                  builder_.number(side_), "last_item");
  count_ = field(offsetof(tiles::ShortPlanes, count), "count");
  from_step_ = field(offsetof(tiles::ShortPlanes, from_step_bytes), "from_step");
  to_step_ = field(offsetof(tiles::ShortPlanes, to_step_bytes), "to_step");
}

/// The lines that there are, of those that such a register has.
llvm::Value* ShortTransposeEmitter::lines_mask(int num_lanes) {
  std::vector<llvm::Constant*> numbers;
  for (int line = 0; line < num_lanes * side_; ++line)
    numbers.push_back(builder_.getInt32(static_cast<std::uint32_t>(line)));
  llvm::Constant* const lines = llvm::ConstantVector::get(numbers);
  llvm::Value* const count = builder_.CreateTrunc(num_lines_, builder_.getInt32Ty());
  return builder_.CreateICmpSLT(
      lines, builder_.CreateVectorSplat(static_cast<unsigned>(numbers.size()), count), "lines");
}

/// For lines that fill `num_lanes` lanes.
ShortTransposeEmitter::Step ShortTransposeEmitter::masked_step(int num_lanes) {
  const int width_lanes = num_lanes == 3 ? 4 : num_lanes;
  llvm::Value* const mask = lines_mask(width_lanes);
  llvm::Value* const last_line = builder_.CreateSub(num_lines_, builder_.number(1));
  Values last_lane;
  for (int k = 0; k < side_; ++k)
    last_lane.push_back(after_lines(builder_.CreateBinaryIntrinsic(
        llvm::Intrinsic::smin, last_line, builder_.number((num_lanes - 1) * side_ + k))));
  return [=, this, last_lane = std::move(last_lane)](llvm::Value* from, llvm::Value* to) {
    llvm::FixedVectorType* const type = items_type(builder_, itemsize_, width_lanes * lane_bytes);
    const Values lines = strided_addresses(builder_, from, from_stride_, (num_lanes - 1) * side_);
    Values rows(static_cast<std::size_t>(side_));
    for (int line = 0; line < num_lanes * side_; ++line) {
      const auto k = static_cast<std::size_t>(line % side_);
      const bool is_last_lane = line / side_ + 1 == num_lanes;
      llvm::Value* const at =
          is_last_lane ? builder_.after(from, last_lane[k]) : lines[static_cast<std::size_t>(line)];
      rows[k] = load_lane(builder_, type, rows[k], line / side_, at);
    }
    rows = transpose_lanes(builder_, std::move(rows));
    const Values places = strided_addresses(builder_, to, to_stride_, side_);
    for (std::size_t k = 0; k < rows.size(); ++k)
      builder_.CreateMaskedStore(rows[k], places[k], llvm::Align(1), mask);
  };
}

void ShortTransposeEmitter::write_group(int num_lanes, llvm::Value* from, llvm::Value* to) {
  llvm::FixedVectorType* const type = items_type(builder_, itemsize_, num_lanes * lane_bytes);
  const Values lines = strided_addresses(builder_, from, from_stride_, num_lanes * side_);
  Values rows(static_cast<std::size_t>(side_));
  for (std::size_t line = 0; line < lines.size(); ++line) {
    llvm::Value*& row = rows[line % rows.size()];
    row = load_lane(builder_, type, row, static_cast<int>(line) / side_, lines[line]);
  }
  rows = transpose_lanes(builder_, std::move(rows));
  const Values places = strided_addresses(builder_, to, to_stride_, side_);
  for (std::size_t k = 0; k < rows.size(); ++k)
    builder_.CreateAlignedStore(rows[k], places[k], llvm::Align(1));
}

/// For a group of `num_lanes` lanes and, unless they are 0, one of `num_more_lanes`.
ShortTransposeEmitter::Step ShortTransposeEmitter::overlapping_step(int num_lanes,
                                                                    int num_more_lanes) {
  llvm::Value* const second =
      builder_.CreateSub(num_lines_, builder_.number(num_more_lanes * side_));
  llvm::Value* const from_second = after_lines(second);
  llvm::Value* const to_second = builder_.CreateMul(second, builder_.number(itemsize_));
  return [=, this](llvm::Value* from, llvm::Value* to) {
    write_group(num_lanes, from, to);
    if (num_more_lanes > 0)
      write_group(num_more_lanes, builder_.after(from, from_second), builder_.after(to, to_second));
  };
}

/// All planes, step by step.
void ShortTransposeEmitter::planes_of(const Step& step) {
  llvm::BasicBlock* const before = builder_.GetInsertBlock();
  llvm::BasicBlock* const plane = builder_.new_block("plane");
  llvm::BasicBlock* const next_step = builder_.new_block("step");
  llvm::BasicBlock* const next_plane = builder_.new_block("next_plane");
  llvm::BasicBlock* const done = builder_.new_block("done");
  builder_.CreateBr(plane);
  builder_.SetInsertPoint(plane);
  llvm::PHINode* const from = builder_.CreatePHI(builder_.getPtrTy(), 2);
  llvm::PHINode* const to = builder_.CreatePHI(builder_.getPtrTy(), 2);
  llvm::PHINode* const left = builder_.CreatePHI(builder_.getInt64Ty(), 2);
  from->addIncoming(from_, before);
  to->addIncoming(to_, before);
  left->addIncoming(count_, before);
  builder_.CreateBr(next_step);

  builder_.SetInsertPoint(next_step);
  llvm::PHINode* const item = builder_.CreatePHI(builder_.getInt64Ty(), 2);
  item->addIncoming(builder_.number(0), plane);
  step(builder_.after(from, builder_.CreateMul(item, builder_.number(itemsize_))),
       builder_.after(to, builder_.CreateMul(item, to_stride_)));
  llvm::Value* const following = builder_.CreateBinaryIntrinsic(
      llvm::Intrinsic::smin, builder_.CreateAdd(item, builder_.number(side_)), last_item_);
  item->addIncoming(following, next_step);
  builder_.CreateCondBr(builder_.CreateICmpEQ(item, last_item_), next_plane, next_step);

  builder_.SetInsertPoint(next_plane);
  from->addIncoming(builder_.after(from, from_step_), next_plane);
  to->addIncoming(builder_.after(to, to_step_), next_plane);
  llvm::Value* const fewer = builder_.CreateSub(left, builder_.number(1));
  left->addIncoming(fewer, next_plane);
  builder_.CreateCondBr(builder_.CreateIsNotNull(fewer), plane, done);
  builder_.SetInsertPoint(done);
  builder_.CreateRetVoid();
}

/// Returns if there are not more lines.
void ShortTransposeEmitter::emit_upto(std::int64_t most_lines,
                                      const std::function<Step()>& make_step) {
  llvm::BasicBlock* const fits = builder_.new_block("fits");
  llvm::BasicBlock* const has_more = builder_.new_block("has_more");
  builder_.CreateCondBr(builder_.CreateICmpSLE(num_lines_, builder_.number(most_lines)), fits,
                        has_more);
  builder_.SetInsertPoint(fits);
  planes_of(make_step());
  builder_.SetInsertPoint(has_more);
}

void ShortTransposeEmitter::emit() {
  load_arguments();
  if (builder_.features().isa == Isa::avx512) {
    for (int num_lanes = 1; num_lanes < most_lanes; ++num_lanes)
      emit_upto(num_lanes * side_, [&] { return masked_step(num_lanes); });
    return planes_of(masked_step(most_lanes));
  }
  emit_upto(side_, [&] { return overlapping_step(1, 0); });
  emit_upto(2 * side_ - 1, [&] { return overlapping_step(1, 1); });
  emit_upto(2 * side_, [&] { return overlapping_step(2, 0); });
  emit_upto(3 * side_, [&] { return overlapping_step(2, 1); });
  planes_of(overlapping_step(2, 2));
}

}  // namespace

void emit_short_transpose(int itemsize, const Target& target, llvm::Module& module,
                          const std::string& symbol) {
  llvm::Function* const function = add_function(
      target.features, module, symbol, {llvm::PointerType::getUnqual(module.getContext())});
  ShortTransposeEmitter(itemsize, target, function).emit();
}

}  // namespace weft::jit
