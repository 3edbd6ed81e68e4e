// The loops behind jit/fold/exact.h on vectors of WEFT_VECTOR_BYTES.  Like jit/fold/loops.h this is
// compiled once an instruction set: everything has internal linkage and no function of the standard
// library is used.
#include "jit/fold/exact.h"

#include <type_traits>

namespace weft::jit {
namespace {

constexpr int vector_bytes = WEFT_VECTOR_BYTES;
constexpr int per_vector = vector_bytes / 8;
constexpr int num_vectors = 2;
constexpr int num_lanes = num_vectors * per_vector;

template <class T, int lanes>
struct VectorOf {
  using type __attribute__((vector_size(lanes * sizeof(T)))) = T;
};
template <class T>
using Vector = typename VectorOf<T, per_vector>::type;
using Doubles = Vector<double>;
using Words = Vector<std::int64_t>;

/// Steps that are added at once, as a power of two: so many numbers of the lane's size add up
/// without rounding, and sums of two of them.
constexpr int log2_steps = 8;
/// The same for all lanes together.
constexpr int log2_numbers = 12;
static_assert(num_lanes << log2_steps <= 1 << log2_numbers);

template <class T>
[[gnu::always_inline]] inline Doubles load(const std::byte* from) {
  Vector<T> value;
  __builtin_memcpy(&value, from, sizeof value);
  return __builtin_convertvector(value, Doubles);
}

/// What is added at once, and the places where it is split.
struct Block {
  const std::byte* data;
  std::int64_t stride_bytes;
  std::int64_t num_steps;
  Doubles split[num_vectors];  ///< 1.5 * 2^k: numbers below are rounded to multiples of 2^(k - 52)
  std::int64_t distance;       ///< of a split's exponent to the next one's
};

/// The next places to split at: what was left over is below 2^(k - 53).
[[gnu::always_inline]] inline Doubles next_split(const Doubles& split, std::int64_t distance) {
  Words bits = reinterpret_cast<Words>(split) - (distance << 52);
  const Words smallest = Words{} + (std::int64_t{3} << 51);  // of the normal numbers
  bits = bits < smallest ? smallest : bits;
  return reinterpret_cast<Doubles>(bits);
}

/// Sums of the parts of all numbers at each of `levels` places; false if something is left over.
template <class T, int levels>
[[gnu::always_inline]] inline bool add_parts(const Block& block,
                                             Doubles (&sums)[levels][num_vectors]) {
  Doubles splits[levels][num_vectors];
  Words rest[num_vectors];
#pragma GCC unroll 2
  for (int i = 0; i < num_vectors; ++i) {
    splits[0][i] = block.split[i];
#pragma GCC unroll 8
    for (int level = 0; level < levels; ++level) {
      if (level > 0) splits[level][i] = next_split(splits[level - 1][i], block.distance);
      sums[level][i] = Doubles{};
    }
    rest[i] = Words{};
  }
  const std::byte* data = block.data;
  for (std::int64_t step = 0; step < block.num_steps; ++step, data += block.stride_bytes)
#pragma GCC unroll 2
    for (int i = 0; i < num_vectors; ++i) {
      Doubles x = load<T>(data + i * per_vector * static_cast<std::int64_t>(sizeof(T)));
#pragma GCC unroll 8
      for (int level = 0; level < levels; ++level) {
        const Doubles part = (x + splits[level][i]) - splits[level][i];
        sums[level][i] += part;
        x -= part;
      }
      rest[i] |= reinterpret_cast<Words>(x);
    }
  const Words any = (rest[0] | rest[1]) << 1;  // either zero is nothing
  std::int64_t left_over = 0;
  for (int lane = 0; lane < per_vector; ++lane) left_over |= any[lane];
  return left_over == 0;
}

template <class T, int levels>
bool add_block(const Block& block, ExactSum* sums, std::size_t mask) {
  Doubles parts[levels][num_vectors];
  if (!add_parts<T, levels>(block, parts)) return false;
  for (int level = 0; level < levels; ++level) {
    if (mask == 0) {  // split at one place
      double sum = 0;
      for (int lane = 0; lane < num_lanes; ++lane)
        sum += parts[level][lane / per_vector][lane % per_vector];
      if (sum != 0) sums->add(sum);
      continue;
    }
    for (int lane = 0; lane < num_lanes; ++lane) {
      const double sum = parts[level][lane / per_vector][lane % per_vector];
      if (sum != 0) sums[static_cast<std::size_t>(lane) & mask].add(sum);
    }
  }
  return true;
}

/// One by one.
template <class T>
[[gnu::noinline]] void add_each(const Block& block, ExactSum* sums, std::size_t mask) {
  for (std::int64_t step = 0; step < block.num_steps; ++step)
    for (int lane = 0; lane < num_lanes; ++lane) {
      T x;
      __builtin_memcpy(
          &x, block.data + step * block.stride_bytes + lane * static_cast<std::int64_t>(sizeof(T)),
          sizeof x);
      sums[static_cast<std::size_t>(lane) & mask].add(static_cast<double>(x));
    }
}

/// Decides where to split by the largest numbers; false if some are too large, infinite or NaN.
template <class T>
[[gnu::always_inline]] inline bool place_splits(Block& block, bool is_one_sum) {
  constexpr std::int64_t size_bits = ~(std::int64_t{1} << 63);
  Words largest[num_vectors] = {};
  const std::byte* data = block.data;
  for (std::int64_t step = 0; step < block.num_steps; ++step, data += block.stride_bytes)
#pragma GCC unroll 2
    for (int i = 0; i < num_vectors; ++i) {
      const Doubles x = load<T>(data + i * per_vector * static_cast<std::int64_t>(sizeof(T)));
      const Words size = reinterpret_cast<Words>(x) & size_bits;
      largest[i] = size > largest[i] ? size : largest[i];
    }
  const Words both = largest[0] > largest[1] ? largest[0] : largest[1];
  std::int64_t most = 0;
  for (int lane = 0; lane < per_vector; ++lane) most = both[lane] > most ? both[lane] : most;
  constexpr std::int64_t too_large = 0x7ff - 2 * log2_numbers;
  if (most >> 52 >= too_large) return false;
  const int room = is_one_sum ? log2_numbers : log2_steps;
  if (is_one_sum) largest[0] = largest[1] = Words{} + most;
  block.distance = 53 - room;
  for (int i = 0; i < num_vectors; ++i) {
    Words exponent = largest[i] >> 52;
    exponent = exponent < 1 ? Words{} + 1 : exponent;
    block.split[i] =
        reinterpret_cast<Doubles>((exponent + (1 + room)) << 52 | std::int64_t{1} << 51);
  }
  return true;
}

template <class T>
void add_steps(ExactSum* sums, std::size_t mask, const std::byte* data, std::int64_t stride_bytes,
               std::int64_t num_steps) {
  // What f32 has left over after one split is rare, and seven reach all that it can be; f64 has 53
  // bits of its own.
  constexpr int few = sizeof(T) == 4 ? 1 : 2, many = sizeof(T) == 4 ? 7 : 6;
  constexpr std::int64_t max_steps = std::int64_t{1} << log2_steps;
  while (num_steps > 0) {
    Block block{data, stride_bytes, num_steps < max_steps ? num_steps : max_steps, {}, 0};
    const bool is_done =
        place_splits<T>(block, mask == 0) &&
        (add_block<T, few>(block, sums, mask) || add_block<T, few + 1>(block, sums, mask) ||
         add_block<T, many>(block, sums, mask));
    if (!is_done) add_each<T>(block, sums, mask);
    data += block.num_steps * stride_bytes;
    num_steps -= block.num_steps;
  }
}

template <class T>
constexpr ExactLoops exact_table_of{num_lanes, &add_steps<T>, Isa::generic};

// A look-up takes no instructions but those of every machine (jit/fold/loop_tables.h).
const ExactLoops* find_exact_loops(DType dtype) {
  return dtype == DType::f32 ? &exact_table_of<float> : &exact_table_of<double>;
}

}  // namespace
}  // namespace weft::jit
