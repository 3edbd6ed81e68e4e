// Kernels of two loops whose operands lie along and across each other, run by a backend and by the
// interpreter.
#pragma once

#include "jit/tiles/tile.h"
#include "tests/jit/xbyak/harness.h"
#include "tests/required_backends.h"

#include <weft/tuning.h>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace weft::jit::testing {

/// How the elements of one operand lie, in a nest of two loops: rows, and columns innermost.
struct Place {
  bool is_across = false;      ///< dense along the rows' loop
  bool is_reversed = false;    ///< downwards
  std::int64_t gap_bytes = 0;  ///< between what is dense
  ir::StrideClass pixel_items =
      0;  ///< dense pixels of so many channels; needs as many rows, or fewer
};

/// The kernel of one loop with another around it, and classes that fit the places.
inline ir::Kernel nested(ir::Kernel kernel, const std::vector<Place>& places) {
  kernel.loops.resize(2);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Place& place = places[i];
    const auto dense = static_cast<ir::StrideClass>(place.is_reversed ? -1 : 1);
    if (place.pixel_items != 0)
      kernel.operands[i].strides = {1, place.pixel_items};
    else if (place.is_across)
      kernel.operands[i].strides = {dense, ir::stride_any};
    else
      kernel.operands[i].strides = {ir::stride_any, 1};
  }
  return kernel;
}

/// The strides that the places have with so many rows and columns.
inline Run layout_run(const ir::Kernel& kernel, const std::vector<Place>& places, std::int64_t rows,
                      std::int64_t columns, Placement placement) {
  Run result{.extents = {rows, columns}, .placement = placement};
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Place& place = places[i];
    const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(kernel.operands[i].dtype));
    const std::int64_t dense = place.is_reversed ? -itemsize : itemsize;
    if (place.pixel_items != 0)
      result.stride_bytes.push_back({itemsize, place.pixel_items * itemsize});
    else if (place.is_across)
      result.stride_bytes.push_back({dense, rows * itemsize + place.gap_bytes});
    else
      result.stride_bytes.push_back({columns * itemsize + place.gap_bytes, itemsize});
  }
  return result;
}

/// The backend and the instructions.
class Tile : public ::testing::TestWithParam<std::tuple<std::string_view, Isa>> {
 protected:
  void SetUp() override {
    const std::string reason = unavailable_reason(backend());
    if (!reason.empty()) leave_out_without(backend(), reason);
  }

  static std::string_view backend() { return std::get<0>(GetParam()); }
  static Isa isa() { return std::get<1>(GetParam()); }
  static Target target() { return target_for(isa()); }

  void compare(const ir::Kernel& body, const std::vector<Place>& places,
               const std::vector<std::array<std::int64_t, 2>>& sizes) {
    const ir::Kernel kernel = scheduled(nested(body, places), isa());
    ASSERT_EQ(kernel.schedule, ir::Schedule::tile);
    const Comparison comparison(kernel, target(), backend());
    for (const auto& [rows, columns] : sizes)
      for (const Placement placement : {Placement::at_end, Placement::at_start})
        ASSERT_TRUE(comparison.agree(layout_run(kernel, places, rows, columns, placement), random_))
            << rows << " rows, " << columns << " columns";
  }

  /// The same, with a loop around that repeats the work until a call no longer fits the caches.
  void compare_large(const ir::Kernel& body, const std::vector<Place>& places,
                     const std::vector<std::array<std::int64_t, 2>>& sizes) {
    compare_large(body, places, sizes, target());
  }
  void compare_large(const ir::Kernel& body, const std::vector<Place>& places,
                     const std::vector<std::array<std::int64_t, 2>>& sizes, const Target& target) {
    constexpr std::int64_t large_bytes = 4 << 20;
    Tuning tuning;  // processors differ in where calls are large
    tuning.tile_streaming_bytes = large_bytes;
    const TuningScope scope(tuning);
    ir::Kernel kernel = nested(body, places);
    kernel.loops.resize(3);
    std::int64_t item_bytes = 0;
    for (ir::Operand& operand : kernel.operands) {
      operand.strides.insert(operand.strides.begin(), ir::stride_any);
      item_bytes += static_cast<std::int64_t>(itemsize_bytes(operand.dtype));
    }
    kernel = scheduled(kernel, isa());
    ASSERT_EQ(kernel.schedule, ir::Schedule::tile);
    const Comparison comparison(kernel, target, backend());
    for (const auto& [rows, columns] : sizes)
      for (const Placement placement : {Placement::at_end, Placement::at_start}) {
        jit::testing::Run run = layout_run(kernel, places, rows, columns, placement);
        run.extents.insert(run.extents.begin(), large_bytes / (rows * columns * item_bytes) + 1);
        for (auto& strides : run.stride_bytes) strides.insert(strides.begin(), 0);
        ASSERT_TRUE(comparison.agree(run, random_)) << rows << " rows, " << columns << " columns";
      }
  }

  Random random_{seed()};
};

inline ir::Kernel copy_kernel(DType dtype) {
  ir::Kernel kernel = make_kernel({dtype, dtype}, 1);
  kernel.body = {{.op = Op::load, .dtype = dtype, .operand = 1},
                 {.op = Op::store,
                  .dtype = dtype,
                  .operand = 0,
                  .args = {0, ir::no_value, ir::no_value, ir::no_value}}};
  return kernel;
}

/// Both backends, and what this machine can run of the instructions.
inline auto tile_targets() {
  return ::testing::Combine(::testing::Values("xbyak", "llvm"),
                            ::testing::ValuesIn(runnable_isas()));
}
inline std::string target_name(const ::testing::TestParamInfo<Tile::ParamType>& param) {
  return std::string(std::get<0>(param.param)) + "_" + std::string(name(std::get<1>(param.param)));
}

}  // namespace weft::jit::testing
