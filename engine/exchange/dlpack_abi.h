// The structs of DLPack's C ABI, version 1.1, as they lie in memory.  Declared here because Debian
// 12 packages a version that knows neither the versioned struct nor bool and fp8; in a namespace of
// our own, so that a program may include any dlpack.h as well.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::dlpack {

inline constexpr std::uint32_t major_version = 1;
inline constexpr std::uint32_t minor_version = 1;

enum Code : std::uint8_t {
  code_int = 0,
  code_uint = 1,
  code_float = 2,
  code_bfloat = 4,
  code_complex = 5,
  code_bool = 6,
  code_float8_e4m3fn = 10,
  code_float8_e5m2 = 12,
};

inline constexpr std::int32_t device_cpu = 1;
inline constexpr std::int32_t device_cuda = 2;
inline constexpr std::uint64_t flag_read_only = 1;

struct Device {
  std::int32_t type;
  std::int32_t id;
};

struct DataType {
  std::uint8_t code;
  std::uint8_t bits;  ///< of one lane
  std::uint16_t lanes;
};

struct Tensor {
  void* data;
  Device device;
  std::int32_t ndim;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  ///< in elements; null: contiguous
  std::uint64_t byte_offset;
};

/// What capsules named "dltensor" hold.
struct Managed {
  Tensor tensor;
  void* context;
  void (*deleter)(Managed*);
};

/// What capsules named "dltensor_versioned" hold.  Members up to `deleter` are where every version
/// has them.
struct ManagedVersioned {
  std::uint32_t major;
  std::uint32_t minor;
  void* context;
  void (*deleter)(ManagedVersioned*);
  std::uint64_t flags;
  Tensor tensor;
};

static_assert(sizeof(Device) == 8 && sizeof(DataType) == 4);
static_assert(sizeof(Tensor) == 48 && offsetof(Tensor, shape) == 24 &&
              offsetof(Tensor, byte_offset) == 40);
static_assert(sizeof(Managed) == 64 && offsetof(Managed, deleter) == 56);
static_assert(sizeof(ManagedVersioned) == 80 && offsetof(ManagedVersioned, deleter) == 16 &&
              offsetof(ManagedVersioned, tensor) == 32);

}  // namespace weft::dlpack
