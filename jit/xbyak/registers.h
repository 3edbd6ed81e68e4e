// Which register or stack slot each value of the body lives in, decided while the code is emitted.
#pragma once

#include "ir/kernel.h"
#include "jit/xbyak/assembler.h"

#include <weft/error.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace weft::jit::xbyak {

/// A value needs a register, and those that have one must keep it.
struct NoRegister : CompileError {
  NoRegister() : CompileError("values find no registers") {}
};

/// A body is a straight line, so one pass suffices: a register is taken when a value is defined,
/// and when none is free the value whose next use is furthest away goes to the stack (Belady's
/// rule). Hoisted values stay in their registers ("resident") as far as these suffice, else in the
/// frame.
///
/// Several copies of the body, each for a vector of its own, may be emitted instruction by
/// instruction in turn: what waits for the instruction before it then stands next to what doesn't,
/// and the processor's scheduler need not look far ahead.
///
/// With AVX-512 a bool value lives in a mask register, one bit a lane.  With AVX2 it is a vector of
/// lanes of all ones or all zeros, as wide as the items that it was made from.
class Registers {
 public:
  /// The last `num_reserved` vector registers are left alone.  At most `max_copies` of the body are
  /// emitted in turn.
  Registers(Assembler& code, const ir::Kernel& kernel, int num_reserved = 0, int max_copies = 1);

  /// A vector register that is no value's from here on, for what a loop reads again and again; none
  /// if the values may need all.  Calls overwrite it.
  ///
  /// Requires: no value has been given a register.
  std::optional<int> keep();
  /// Loads an item that is repeated over `bytes` bytes into such a register.  False if none is
  /// left.
  bool keep_splat(std::uint64_t item, int itemsize, int bytes);
  /// The register that keep_splat() has loaded with so many bytes of the item or more, if any.
  std::optional<int> kept_splat(std::uint64_t item, int itemsize, int bytes) const;

  /// How many copies of the body may be emitted in turn: whose values find registers.
  int max_copies() const { return max_copies_; }

  int lanes() const { return lanes_; }
  /// Bytes of an item of this value in its register.
  int itemsize(ir::ValueId id) const { return values_[id].itemsize; }
  bool is_mask(ir::ValueId id) const { return values_[id].is_mask; }
  /// Whether a hoisted value depends on parameters and constants only, not on where the loops are.
  bool is_global(ir::ValueId id) const { return values_[id].is_global; }
  /// Constants are not defined where they stand but made when needed, unless they are resident.
  bool is_lazy(ir::ValueId id) const { return values_[id].is_constant && !values_[id].is_resident; }

  /// Forgets what is not resident.  To be called at each place where control flow joins.
  enum class Section : std::uint8_t { hoisted, body };
  void start(Section section, int num_copies = 1);
  /// Which copy of the body the next instruction belongs to.
  void select_copy(int copy) { copy_ = static_cast<ir::ValueId>(copy); }
  /// The register that holds a value, or is to hold a new one.  Stays so until finish().
  Xmm use(ir::ValueId id);
  Xmm define(ir::ValueId id);
  /// Whether `argument`, whose register is in use, is needed no more after instruction `user`.
  bool can_replace(ir::ValueId user, ir::ValueId argument) const;
  /// The register of such an argument, which from here on holds `id`.
  Xmm define_over(ir::ValueId id, ir::ValueId argument);
  /// Whether a value of 4- or 8-byte items is a constant in no register, which one instruction may
  /// take from memory() instead of use().
  bool is_in_memory(ir::ValueId id) const;
  Address memory(ir::ValueId id);
  Opmask use_mask(ir::ValueId id);
  Opmask define_mask(ir::ValueId id);
  /// A register until finish().
  Xmm temp(int bytes);
  Opmask temp_mask();
  /// Frees the temporaries taken since marked_temps() returned `mark`.
  std::uint32_t marked_temps() const { return vectors_.temporary; }
  void free_temps_since(std::uint32_t mark);
  /// Before a call: everything that is needed after it goes to the frame.  `id` is the instruction
  /// that calls; its arguments have been used.
  void save_for_call(ir::ValueId id);
  /// After it: residents and the tail's mask are in their registers again.
  void restore_after_call();
  /// Ends the emission of instruction `id`: temporaries are free again, and so are values used up.
  void finish(ir::ValueId id);

  static constexpr int tail_mask_index = 1;

 private:
  struct Value {
    bool is_mask = false;
    bool is_constant = false;
    bool is_global = false;
    bool is_resident = false;
    bool is_long_lived = false;  ///< hoisted, and used after the section that defines it
    std::uint8_t itemsize = 0;
    std::int8_t index = -1;
    std::int32_t slot = -1;
    std::uint32_t hoisted_uses = 0;
    std::uint32_t body_uses = 0;
    std::uint32_t uses_left = 0;
  };
  struct KeptSplat {
    std::uint64_t item;
    int itemsize;
    int bytes;
    int index;
  };
  /// A value of a copy of the body: its index in values_.
  using Place = std::uint32_t;
  struct Bank {
    std::array<Place, 32> owner;
    std::uint32_t free = 0;       ///< bit set of registers
    std::uint32_t held = 0;       ///< those that hold values
    std::uint32_t pinned = 0;     ///< used by the current instruction
    std::uint32_t temporary = 0;  ///< of the pinned, those that hold no value
  };

  /// Most values of a copy that live at a time.
  struct Live {
    int vectors = 0;
    int masks = 0;
  };

  void classify(const ir::Kernel& kernel);
  int mask_itemsize(const ir::Inst& inst) const;
  void choose_residents(const Live& live);
  int spare_vectors(const Live& live) const;
  Live live_at_most() const;
  void choose_copies(const Live& live, int max_copies);
  Place place_of(ir::ValueId id) const {
    return id < kernel_.num_hoisted ? id : id + copy_ * num_body_values();
  }
  ir::ValueId value_at(Place place) const {
    return place < kernel_.body.size()
               ? place
               : kernel_.num_hoisted + (place - kernel_.num_hoisted) % num_body_values();
  }
  Place num_body_values() const {
    return static_cast<Place>(kernel_.body.size() - kernel_.num_hoisted);
  }
  Bank& bank_of(const Value& value) { return value.is_mask ? masks_ : vectors_; }
  int take(Bank& bank);
  int furthest(const Bank& bank, std::uint32_t candidates) const;
  void evict(Bank& bank, int index);
  void release(Place place);
  int acquire(Place place);
  void reload(Place place);
  void save(Place place);
  void store(Place place);
  bool is_last_use(ir::ValueId user, ir::ValueId id) const;
  void materialise(Place place);
  int bytes_of(const Value& value) const { return value.itemsize * lanes_; }

  Assembler& code_;
  const ir::Kernel& kernel_;
  int lanes_;
  int num_vectors_;            ///< that it may use
  int headroom_;               ///< of these, kept for what an instruction needs
  std::vector<Value> values_;  ///< of the first copy, hoisted ones included, then of the others
  std::vector<int> free_slots_;
  Bank vectors_;
  Bank masks_;
  int max_copies_ = 1;
  ir::ValueId num_copies_ = 1;  ///< that are being emitted in turn
  ir::ValueId copy_ = 0;
  ir::ValueId position_ = 0;
  std::vector<KeptSplat> kept_splats_;
  int tail_mask_slot_ = -1;
};

}  // namespace weft::jit::xbyak
