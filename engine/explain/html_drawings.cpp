// Drawings of layouts, merges and the roofline.  Sizes are in the units of the drawing, about a
// pixel each.
#include "engine/explain/html.h"
#include "engine/explain/story.h"

#include <weft/error.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace weft::html {
namespace {

constexpr std::int64_t max_rows = 8, max_columns = 12, max_grids = 6;

/// As SVG has it, whatever the program's locale has for a decimal point.
std::string fixed(double value) {
  std::array<char, 32> text;
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, 1).ptr;
  return std::string(text.data(), end);
}

std::string dimension_names(const Story::Loop& loop) {
  std::string names;
  for (const int dim : loop.dims) names += detail::concat(names.empty() ? "d" : " d", dim);
  return names;
}

/// What of an operand is drawn: all dimensions but the last two, cut to a few grids.
struct Grids {
  std::int64_t count = 1;  ///< all there are
  std::int64_t shown = 1;
  std::int64_t rows = 1, columns = 1;  ///< of one, shown
};

Grids grids_of(const Story::Operand& operand) {
  Grids grids;
  const std::size_t ndim = operand.sizes.size();
  for (std::size_t dim = 0; dim + 2 < ndim; ++dim)
    if (__builtin_mul_overflow(grids.count, operand.sizes[dim], &grids.count))
      grids.count = max_grids + 1;
  grids.shown = std::min(grids.count, max_grids);
  if (ndim > 1) grids.rows = std::min(operand.sizes[ndim - 2], max_rows);
  if (ndim > 0) grids.columns = std::min(operand.sizes[ndim - 1], max_columns);
  return grids;
}

/// The element at the row and column of a grid, counted from the operand's first.
std::int64_t place(const Story::Operand& operand, std::int64_t grid, std::int64_t row,
                   std::int64_t column) {
  const std::size_t ndim = operand.sizes.size();
  std::int64_t offset = operand.offset;
  if (ndim > 0) offset += column * operand.strides[ndim - 1];
  if (ndim > 1) offset += row * operand.strides[ndim - 2];
  for (std::size_t dim = ndim < 2 ? 0 : ndim - 2; dim-- > 0; grid /= operand.sizes[dim])
    offset += grid % operand.sizes[dim] * operand.strides[dim];
  return offset;
}

/// From light to dark with the place in memory, among those that are shown.
std::string shade(std::int64_t at, std::int64_t first, std::int64_t last) {
  const double part =
      last == first ? 0 : static_cast<double>(at - first) / static_cast<double>(last - first);
  return detail::concat("hsl(212,60%,", fixed(94 - 40 * part), "%)");
}

std::string layout(const Story::Operand& operand) {
  const Grids grids = grids_of(operand);
  std::int64_t first = operand.offset, last = operand.offset;
  const auto each_cell = [&](const auto& visit) {
    for (std::int64_t grid = 0; grid < grids.shown; ++grid)
      for (std::int64_t row = 0; row < grids.rows; ++row)
        for (std::int64_t column = 0; column < grids.columns; ++column)
          visit(grid, row, column, place(operand, grid, row, column));
  };
  std::size_t digits = 1;
  each_cell([&](auto, auto, auto, std::int64_t at) {
    first = std::min(first, at);
    last = std::max(last, at);
    digits = std::max(digits, std::to_string(at).size());
  });
  const auto cell_width = static_cast<std::int64_t>(8 + 6 * digits);
  constexpr std::int64_t cell_height = 17, gap = 12, grids_a_row = 3;
  const std::int64_t grid_width = grids.columns * cell_width + gap,
                     grid_height = grids.rows * cell_height + gap;
  const std::int64_t width =
      std::max<std::int64_t>(1, std::min(grids.shown, grids_a_row)) * grid_width;
  const std::int64_t height =
      std::max<std::int64_t>(1, (grids.shown + grids_a_row - 1) / grids_a_row) * grid_height;
  std::string cells;
  each_cell([&](std::int64_t grid, std::int64_t row, std::int64_t column, std::int64_t at) {
    const std::int64_t x = grid % grids_a_row * grid_width + column * cell_width + 1;
    const std::int64_t y = grid / grids_a_row * grid_height + row * cell_height + 1;
    cells += detail::concat("<rect x=\"", x, "\" y=\"", y, "\" width=\"", cell_width,
                            "\" height=\"", cell_height, "\" fill=\"", shade(at, first, last),
                            "\" stroke=\"#fff\"/><text x=\"", x + cell_width / 2, "\" y=\"", y + 12,
                            "\" text-anchor=\"middle\">", at, "</text>\n");
  });
  const bool is_cut =
      grids.shown < grids.count ||
      (operand.sizes.size() > 1 && grids.rows < operand.sizes[operand.sizes.size() - 2]) ||
      (!operand.sizes.empty() && grids.columns < operand.sizes.back());
  return detail::concat("<div class=\"operand\"><h3>", escaped(operand.name), ": ",
                        escaped(operand.layout), "</h3>\n<svg viewBox=\"0 0 ", width, " ", height,
                        "\" width=\"", width, "\" height=\"", height, "\" role=\"img\">\n", cells,
                        "</svg>\n", is_cut ? "<p class=\"note\">the beginning of it</p>\n" : "",
                        "</div>\n");
}

struct Axis {
  double low, high;  ///< powers of ten
  double begin, end;

  double at(double value) const {
    const double part = (std::log10(std::max(value, 1e-300)) - low) / (high - low);
    return begin + std::clamp(part, 0.0, 1.0) * (end - begin);
  }
};

std::string line(double x0, double y0, double x1, double y1, std::string_view attributes) {
  return detail::concat("<line x1=\"", fixed(x0), "\" y1=\"", fixed(y0), "\" x2=\"", fixed(x1),
                        "\" y2=\"", fixed(y1), "\" ", attributes, "/>\n");
}

std::string label(double x, double y, std::string_view text, std::string_view anchor = "start") {
  return detail::concat("<text x=\"", fixed(x), "\" y=\"", fixed(y), "\" text-anchor=\"", anchor,
                        "\">", escaped(text), "</text>\n");
}

std::string power_of_ten(int exponent) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), std::pow(10.0, exponent),
                                 std::chars_format::general, 6)
                       .ptr;
  return std::string(text.data(), end);
}

std::string grid_lines(const Axis& x, const Axis& y) {
  std::string lines;
  for (int power = static_cast<int>(x.low); power <= static_cast<int>(x.high); ++power) {
    const double at = x.at(std::pow(10.0, power));
    lines += line(at, y.begin, at, y.end, "stroke=\"#dfe6ee\"") +
             label(at, y.begin + 14, power_of_ten(power), "middle");
  }
  for (int power = static_cast<int>(y.low); power <= static_cast<int>(y.high); ++power) {
    const double at = y.at(std::pow(10.0, power));
    lines += line(x.begin, at, x.end, at, "stroke=\"#dfe6ee\"") +
             label(x.begin - 6, at + 3, power_of_ten(power), "end");
  }
  return lines;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '&': result += "&amp;"; break;
      case '"': result += "&quot;"; break;
      default:
        // Neither HTML nor XML has the other control characters.
        result += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? '?' : c;
    }
  }
  return result;
}

std::string layouts(const Story& story) {
  std::string drawings;
  for (const Story::Operand& operand : story.operands) drawings += layout(operand);
  return detail::concat("<div class=\"operands\">\n", drawings, "</div>\n");
}

std::string merging(const Story& story) {
  std::string rows;
  for (const Story::Loops& loops : story.merging) {
    rows += rows.empty() ? "<div class=\"loops\">" : "<div class=\"loops\">&#8594;";
    for (const Story::Loop& loop : loops)
      rows += detail::concat("<div class=\"loop", loop.dims.size() > 1 ? " merged" : "", "\">",
                             loop.extent, "<small>", dimension_names(loop), "</small></div>");
    rows += loops.empty() ? "a single element</div>\n" : "</div>\n";
  }
  return rows;
}

std::string roofline(const Story& story, const MachineSpeed& machine) {
  constexpr double vectors_a_cycle = 2;
  const double bytes = static_cast<double>(moved_bytes(story));
  const double operations =
      static_cast<double>(story.operations) * static_cast<double>(story.numel);
  const double ns = predict(story, machine).ns();
  if (bytes == 0 || ns == 0) return {};
  const double peak =
      machine.clock_hz * vectors_a_cycle * story.vector_lanes / 1e9;  // operations a ns
  const double bandwidth = machine.bytes_per_second / 1e9;
  const Axis x{-2, 2, 60, 620}, y{-1, 4, 300, 20};
  std::string drawing = grid_lines(x, y);
  const double ridge = peak / bandwidth;
  drawing += line(x.at(0.01), y.at(bandwidth * 0.01), x.at(ridge), y.at(peak),
                  "stroke=\"#3568a8\" stroke-width=\"2\"");
  drawing +=
      line(x.at(ridge), y.at(peak), x.end, y.at(peak), "stroke=\"#3568a8\" stroke-width=\"2\"");
  drawing += label(x.begin + 8, y.at(bandwidth * 0.01) - 14,
                   detail::concat("memory: ", fixed(bandwidth), " GB/s"));
  drawing +=
      label(x.end, y.at(peak) - 6,
            detail::concat("arithmetic: ", story.vector_lanes, " lanes, 2 vectors a cycle at ",
                           fixed(machine.clock_hz / 1e9), " GHz"),
            "end");
  drawing += label((x.begin + x.end) / 2, 330, "operations a byte", "middle") +
             label(x.begin, 12, "10^9 operations a second", "middle");
  const double at_x = x.at(operations / bytes),
               at_y = y.at(operations == 0 ? bandwidth * 0.01 : operations / ns);
  drawing += detail::concat("<circle cx=\"", fixed(at_x), "\" cy=\"", fixed(at_y),
                            "\" r=\"6\" fill=\"#c8452f\"/>\n");
  drawing +=
      label(at_x + 10, at_y + 14,
            operations == 0 ? "this call only moves: it lies on the memory roof, further left"
                            : "this call, at its best");
  return detail::concat("<svg viewBox=\"0 0 660 340\" width=\"660\" height=\"340\" role=\"img\">\n",
                        drawing, "</svg>\n");
}

}  // namespace weft::html
