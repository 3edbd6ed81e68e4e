// Register assignment on the fly.  See "Register Allocation" in any compiler book under Belady
// (1966): in straight-line code, evicting the value used furthest ahead minimises the number of
// reloads.
#include "jit/xbyak/registers.h"

#include "jit/live_values.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

namespace weft::jit::xbyak {
namespace {

// What the hungriest row needs beyond the values that live: its result, temporaries, constants
// that are made for it, loads' indices.
constexpr int most_headroom = 10;
constexpr int headroom_of_f32 = 6;
/// Of six mask registers: less a resident one and a temporary.
constexpr int masks_for_copies = 4;

int arity(const ir::Inst& inst) { return info(inst.op).arity; }

/// Vectors of f32, the integers of their bits and halves of these, which lie side by side or stand
/// still.  Division of integers is no such thing: it goes through f64.
bool is_plain_f32(const ir::Kernel& kernel) {
  const auto narrows = [&](const ir::Inst& inst) {
    const DType from = ir::result_dtype(kernel.body[inst.args[0]]);
    return is_integer(inst.dtype) && itemsize_bytes(inst.dtype) == 2 && is_integer(from) &&
           itemsize_bytes(from) == 4;
  };
  const auto is_half = [](const ir::Inst& inst) {
    return (inst.op == Op::bitcast || inst.op == Op::cast || inst.op == Op::store) &&
           itemsize_bytes(ir::result_dtype(inst)) == 2;
  };
  const auto is_plain = [&](const ir::Inst& inst) {
    const DType dtype = ir::result_dtype(inst);
    return (inst.op != Op::cast || narrows(inst)) && inst.op != Op::quotient &&
           (itemsize_bytes(dtype) == 4 || dtype == DType::boolean || is_half(inst));
  };
  const auto is_dense = [](const ir::Operand& operand) {
    const auto itemsize = itemsize_bytes(operand.dtype);
    return (itemsize == 4 || (itemsize == 2 && operand.role == ir::Role::output)) &&
           (operand.strides.back() == 0 || operand.strides.back() == 1);
  };
  return std::ranges::all_of(kernel.body, is_plain) &&
         std::ranges::all_of(kernel.operands, is_dense);
}

}  // namespace

Registers::Registers(Assembler& code, const ir::Kernel& kernel, int num_reserved, int max_copies)
    : code_(code),
      kernel_(kernel),
      lanes_(kernel.loops.back().lanes),
      num_vectors_(code.num_vectors() - num_reserved),
      headroom_(is_plain_f32(kernel) ? headroom_of_f32 : most_headroom),
      values_(kernel.body.size()) {
  vectors_.free = 0xffffffffu >> (32 - num_vectors_);
  masks_.free = code.has_avx512() ? 0xfcu : 0;  // k0 means "no mask", k1 is the tail's
  classify(kernel);
  if (max_copies == 1 && kernel.num_hoisted == 0) return;
  const Live live = live_at_most();
  choose_copies(live, max_copies);
  choose_residents(live);
  if (max_copies_ == 1) return;
  const std::vector<Value> body(values_.begin() + kernel.num_hoisted, values_.end());
  for (int copy = 1; copy < max_copies_; ++copy)
    values_.insert(values_.end(), body.begin(), body.end());
}

// The item size of a bool that lives in a vector: that of the items it comes from, so that
// comparing and selecting in one dtype needs no conversion.
int Registers::mask_itemsize(const ir::Inst& inst) const {
  switch (inst.op) {
    case Op::load:
    case Op::constant:
    case Op::param: return 1;
    default: {
      const ir::ValueId source = inst.op == Op::where ? inst.args[1] : inst.args[0];
      // What complex numbers give comes from a call, as bytes.
      return is_complex(result_dtype(kernel_.body[source])) ? 1 : values_[source].itemsize;
    }
  }
}

void Registers::classify(const ir::Kernel& kernel) {
  for (ir::ValueId id = 0; id < kernel.body.size(); ++id) {
    const ir::Inst& inst = kernel.body[id];
    Value& value = values_[id];
    const bool is_hoisted = id < kernel.num_hoisted;
    value.is_constant = inst.op == Op::constant;
    value.is_global = is_hoisted && inst.op != Op::load && !writes(inst);
    for (int i = 0; i < arity(inst); ++i) {
      Value& argument = values_[inst.args[i]];
      ++(is_hoisted ? argument.hoisted_uses : argument.body_uses);
      value.is_global &= argument.is_global;
    }
    if (writes(inst)) continue;
    const DType dtype = result_dtype(inst);
    value.is_mask = dtype == DType::boolean && code_.has_avx512();
    value.itemsize = static_cast<std::uint8_t>(
        dtype == DType::boolean && !value.is_mask ? mask_itemsize(inst) : itemsize_bytes(dtype));
  }
  for (ir::ValueId id = 0; id < kernel.num_hoisted; ++id) {
    values_[id].is_long_lived |= values_[id].body_uses > 0;
    for (int i = 0; i < arity(kernel.body[id]); ++i) {
      Value& argument = values_[kernel.body[id].args[i]];
      argument.is_long_lived |= argument.is_global && !values_[id].is_global;
    }
  }
}

Registers::Live Registers::live_at_most() const {
  const auto is_mask = [&](ir::ValueId id) { return values_[id].is_mask; };
  const bool has_masks =
      std::ranges::any_of(values_, [](const Value& value) { return value.is_mask; });
  return {most_live(kernel_, std::not_fn(is_mask)), has_masks ? most_live(kernel_, is_mask) : 0};
}

void Registers::choose_copies(const Live& live, int max_copies) {
  const int vectors = (num_vectors_ - headroom_) / std::max(1, live.vectors);
  const int masks =
      live.masks == 0 || !code_.has_avx512() ? max_copies : masks_for_copies / live.masks;
  max_copies_ = std::max(1, std::min({max_copies, vectors, masks}));
}

void Registers::choose_residents(const Live& live) {
  if (kernel_.num_hoisted == 0) return;
  std::vector<ir::ValueId> candidates;
  for (ir::ValueId id = 0; id < kernel_.num_hoisted; ++id)
    if (values_[id].is_long_lived) candidates.push_back(id);
  std::stable_sort(candidates.begin(), candidates.end(), [&](ir::ValueId a, ir::ValueId b) {
    return values_[a].body_uses > values_[b].body_uses;
  });
  int vectors_left = spare_vectors(live);
  int masks_left = 1;  // of six; where on bools takes five
  for (const ir::ValueId id : candidates) {
    int& left = values_[id].is_mask ? masks_left : vectors_left;
    if (left == 0) continue;
    --left;
    values_[id].is_resident = true;
  }
}

/// Those that neither the values that live at a time nor what instructions need besides will take.
int Registers::spare_vectors(const Live& live) const {
  return std::max(0, num_vectors_ - headroom_ - max_copies_ * live.vectors);
}

std::optional<int> Registers::keep() {
  const auto num_kept = num_vectors_ - std::popcount(vectors_.free);
  const auto num_residents = std::ranges::count_if(
      values_, [](const Value& value) { return value.is_resident && !value.is_mask; });
  if (spare_vectors(live_at_most()) <= num_kept + num_residents) return std::nullopt;
  const int index = std::bit_width(vectors_.free) - 1;
  vectors_.free &= ~(1u << index);
  return index;
}

bool Registers::keep_splat(std::uint64_t item, int itemsize, int bytes) {
  const std::optional<int> index = keep();
  if (!index) return false;
  const Xmm kept = vector_register(*index, bytes);
  code_.note_written(kept);
  code_.vmovups(kept, code_.splat(item, itemsize, bytes));
  kept_splats_.push_back({item, itemsize, bytes, *index});
  return true;
}

std::optional<int> Registers::kept_splat(std::uint64_t item, int itemsize, int bytes) const {
  for (const KeptSplat& kept : kept_splats_)
    if (kept.item == item && kept.itemsize == itemsize && kept.bytes >= bytes) return kept.index;
  return std::nullopt;
}

void Registers::start(Section section, int num_copies) {
  for (Bank* bank : {&vectors_, &masks_})
    for (std::uint32_t rest = bank->held; rest != 0; rest &= rest - 1) {
      const int index = std::countr_zero(rest);
      Value& value = values_[bank->owner[index]];
      if (value.is_resident) continue;
      value.index = -1;
      bank->free |= 1u << index;
      bank->held &= ~(1u << index);
    }
  num_copies_ = static_cast<ir::ValueId>(num_copies);
  copy_ = 0;
  for (Place place = 0; place < values_.size(); ++place) {
    Value& value = values_[place];
    value.uses_left = section == Section::hoisted   ? value.hoisted_uses
                      : place < kernel_.num_hoisted ? value.body_uses * num_copies_
                                                    : value.body_uses;
  }
  position_ = section == Section::hoisted ? 0 : kernel_.num_hoisted;
}

int Registers::furthest(const Bank& bank, std::uint32_t candidates) const {
  const auto owner_bit = [&](Place place) {
    const Value& value = values_[place];
    return value.index >= 0 && &bank == (value.is_mask ? &masks_ : &vectors_) ? 1u << value.index
                                                                              : 0u;
  };
  for (ir::ValueId id = position_; id < kernel_.body.size(); ++id)
    for (int i = 0; i < arity(kernel_.body[id]); ++i) {
      const ir::ValueId argument = kernel_.body[id].args[i];
      const Place copies = argument < kernel_.num_hoisted ? 1 : num_copies_;
      for (Place copy = 0; copy < copies; ++copy) {
        const std::uint32_t rest = candidates & ~owner_bit(argument + copy * num_body_values());
        if (rest == 0) return std::countr_zero(candidates);
        candidates = rest;
      }
    }
  return std::countr_zero(candidates);
}

int Registers::take(Bank& bank) {
  if (bank.free == 0) {
    std::uint32_t candidates = 0;
    for (std::uint32_t rest = bank.held & ~bank.pinned; rest != 0; rest &= rest - 1)
      if (!values_[bank.owner[std::countr_zero(rest)]].is_resident) candidates |= rest & -rest;
    if (candidates == 0) throw NoRegister();
    evict(bank, furthest(bank, candidates));
  }
  // Registers 16 to 31 first: they need no vzeroupper.
  const std::uint32_t upper = bank.free & 0xffff0000u;
  const int index = std::countr_zero(upper != 0 ? upper : bank.free);
  bank.free &= ~(1u << index);
  bank.pinned |= 1u << index;
  return index;
}

void Registers::evict(Bank& bank, int index) {
  const Place place = bank.owner[index];
  if (values_[place].slot < 0 && !values_[place].is_constant) save(place);
  values_[place].index = -1;
  bank.free |= 1u << index;
  bank.held &= ~(1u << index);
}

void Registers::save(Place place) {
  Value& value = values_[place];
  const int slot_bytes = code_.has_avx512() ? 64 : 32;
  if (free_slots_.empty()) {
    value.slot = code_.allocate_frame(slot_bytes, slot_bytes);
  } else {
    value.slot = free_slots_.back();
    free_slots_.pop_back();
  }
  store(place);
}

void Registers::store(Place place) {
  const Value& value = values_[place];
  if (value.is_mask) {
    code_.kmovq(code_.ptr[code_.frame(value.slot)], Opmask(value.index));
  } else {
    const int bytes = std::max(16, bytes_of(value));
    code_.store_bytes(code_.frame(value.slot), vector_register(value.index, bytes), bytes);
  }
}

void Registers::reload(Place place) {
  const Value& value = values_[place];
  if (value.is_constant) return materialise(place);
  if (value.is_mask) {
    code_.kmovq(Opmask(value.index), code_.ptr[code_.frame(value.slot)]);
  } else {
    const int bytes = std::max(16, bytes_of(value));
    code_.load_bytes(vector_register(value.index, bytes), code_.frame(value.slot), bytes);
  }
}

void Registers::materialise(Place place) {
  const Value& value = values_[place];
  const ir::Inst& constant = kernel_.body[value_at(place)];
  std::uint64_t bits = constant.bits.lo;
  if (value.is_mask) {
    const Opmask mask(value.index);
    bits != 0 ? code_.kxnorq(mask, mask, mask) : code_.kxorq(mask, mask, mask);
    return;
  }
  const Xmm out = vector_register(value.index, bytes_of(value));
  code_.note_written(out);
  if (bits == 0) return code_.set_zero(out);
  if (constant.dtype == DType::boolean) bits = 0xff;
  switch (value.itemsize) {
    case 1: code_.vpbroadcastb(out, code_.splat(bits, 1, 1)); break;
    case 2: code_.vpbroadcastw(out, code_.splat(bits, 2, 2)); break;
    case 4: code_.vpbroadcastd(out, code_.splat(bits, 4, 4)); break;
    default: code_.vpbroadcastq(out, code_.splat(bits, 8, 8)); break;
  }
}

int Registers::acquire(Place place) {
  Value& value = values_[place];
  Bank& bank = bank_of(value);
  if (value.index < 0) {
    value.index = static_cast<std::int8_t>(take(bank));
    bank.owner[value.index] = place;
    bank.held |= 1u << value.index;
    return -1 - value.index;  // negative: nothing is in it yet
  }
  bank.pinned |= 1u << value.index;
  return value.index;
}

Xmm Registers::use(ir::ValueId id) {
  const Place place = place_of(id);
  if (acquire(place) < 0) reload(place);
  return vector_register(values_[place].index, bytes_of(values_[place]));
}

Xmm Registers::define(ir::ValueId id) {
  const Place place = place_of(id);
  acquire(place);
  const Xmm out = vector_register(values_[place].index, bytes_of(values_[place]));
  code_.note_written(out);
  return out;
}

bool Registers::can_replace(ir::ValueId user, ir::ValueId argument) const {
  const Value& value = values_[place_of(argument)];
  const auto& args = kernel_.body[user].args;
  const auto uses = std::count(args.begin(), args.begin() + arity(kernel_.body[user]), argument);
  return value.index >= 0 && !value.is_resident &&
         value.uses_left == static_cast<std::uint32_t>(uses);
}

Xmm Registers::define_over(ir::ValueId id, ir::ValueId argument) {
  Value& from = values_[place_of(argument)];
  Value& to = values_[place_of(id)];
  to.index = std::exchange(from.index, std::int8_t{-1});
  vectors_.owner[to.index] = place_of(id);
  return vector_register(to.index, bytes_of(to));
}

bool Registers::is_in_memory(ir::ValueId id) const {
  const Value& value = values_[place_of(id)];
  return value.is_constant && value.index < 0 && !value.is_mask && value.itemsize >= 4;
}

Address Registers::memory(ir::ValueId id) {
  const Value& value = values_[place_of(id)];
  return code_.repeated(kernel_.body[id].bits.lo, value.itemsize, bytes_of(value));
}

Opmask Registers::use_mask(ir::ValueId id) {
  const Place place = place_of(id);
  if (acquire(place) < 0) reload(place);
  return Opmask(values_[place].index);
}

Opmask Registers::define_mask(ir::ValueId id) {
  const Place place = place_of(id);
  acquire(place);
  return Opmask(values_[place].index);
}

Xmm Registers::temp(int bytes) {
  const int index = take(vectors_);
  vectors_.temporary |= 1u << index;
  const Xmm out = vector_register(index, bytes);
  code_.note_written(out);
  return out;
}

Opmask Registers::temp_mask() {
  const int index = take(masks_);
  masks_.temporary |= 1u << index;
  return Opmask(index);
}

void Registers::free_temps_since(std::uint32_t mark) {
  const std::uint32_t released = vectors_.temporary & ~mark;
  vectors_.free |= released;
  vectors_.pinned &= ~released;
  vectors_.temporary = mark;
}

bool Registers::is_last_use(ir::ValueId user, ir::ValueId id) const {
  const ir::Inst& inst = kernel_.body[user];
  std::uint32_t uses = 0;
  for (int i = 0; i < arity(inst); ++i) uses += inst.args[i] == id ? 1 : 0;
  return values_[id].uses_left == uses;
}

void Registers::save_for_call(ir::ValueId id) {
  for (Bank* bank : {&vectors_, &masks_}) {
    for (std::uint32_t rest = bank->held; rest != 0; rest &= rest - 1) {
      const int index = std::countr_zero(rest);
      const Place owner = bank->owner[index];
      Value& value = values_[owner];
      if (!value.is_resident) {
        if (is_last_use(id, value_at(owner)) && !value.is_long_lived) {
          value.index = -1;
          bank->free |= 1u << index;
          bank->held &= ~(1u << index);
        } else {
          evict(*bank, index);
        }
      } else if (!value.is_constant) {
        // Each time: the code before this may have been jumped over.
        value.slot < 0 ? save(owner) : store(owner);
      }
    }
    bank->pinned = 0;
  }
  if (!code_.has_avx512()) return;
  if (tail_mask_slot_ < 0) tail_mask_slot_ = code_.allocate_frame(8, 8);
  code_.kmovq(code_.ptr[code_.frame(tail_mask_slot_)], Opmask(tail_mask_index));
}

void Registers::restore_after_call() {
  for (Bank* bank : {&vectors_, &masks_})
    for (std::uint32_t rest = bank->held; rest != 0; rest &= rest - 1)
      reload(bank->owner[std::countr_zero(rest)]);
  if (code_.has_avx512())
    code_.kmovq(Opmask(tail_mask_index), code_.ptr[code_.frame(tail_mask_slot_)]);
}

void Registers::release(Place place) {
  Value& value = values_[place];
  if (value.index >= 0 && !value.is_resident) {
    bank_of(value).free |= 1u << value.index;
    bank_of(value).held &= ~(1u << value.index);
    value.index = -1;
  }
  if (value.slot >= 0 && !value.is_long_lived) {
    free_slots_.push_back(value.slot);
    value.slot = -1;
  }
}

void Registers::finish(ir::ValueId id) {
  const ir::Inst& inst = kernel_.body[id];
  for (Bank* bank : {&vectors_, &masks_}) {
    bank->free |= bank->temporary;
    bank->temporary = 0;
    bank->pinned = 0;
  }
  for (int i = 0; i < arity(inst); ++i) {
    const Place argument = place_of(inst.args[i]);
    if (--values_[argument].uses_left == 0) release(argument);
  }
  const Place place = place_of(id);
  const Value& value = values_[place];
  if (value.index >= 0) {
    const bool keeps = value.is_long_lived && !value.is_resident && !value.is_constant;
    // Code that computes it may be emitted at several places, each of which fills the same slot.
    if (keeps) value.slot < 0 ? save(place) : store(place);
    if (value.uses_left == 0) release(place);
  }
  position_ = copy_ + 1 == num_copies_ ? id + 1 : id;
}

}  // namespace weft::jit::xbyak
