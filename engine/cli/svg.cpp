// The picture of weft bench as SVG.
#include "engine/cli/plot.h"
#include "engine/cli/table.h"

#include <weft/error.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace weft::cli {
namespace {

constexpr int row_height = 26, bar_height = 18;
constexpr int names_width = 80, bars_width = 420, labels_width = 220;
constexpr int title_height = 34, axis_height = 40;

/// Text of XML: what has a meaning there is spelled out, and what may not stand there is replaced.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    if (letter == '&')
      result += "&amp;";
    else if (letter == '<')
      result += "&lt;";
    else if (letter == '>')
      result += "&gt;";
    else
      result += static_cast<unsigned char>(letter) < 0x20 || letter == '\x7f' ? ' ' : letter;
  }
  return result;
}

/// 1, 2 or 5 times a power of ten: about five to the whole length.
double tick_distance(double most) {
  const double power = std::pow(10, std::floor(std::log10(most / 5)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (most / (factor * power) <= 6) return factor * power;
  return 10 * power;
}

std::string coordinate(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

}  // namespace

std::string plot_title(const BenchReport& report) {
  constexpr std::size_t most_letters = 70;
  std::string expression = report.expression;
  if (expression.size() > most_letters) expression = expression.substr(0, most_letters) + " ...";
  return detail::concat(expression, ": ", report.bytes, " bytes a call, ", report.threads,
                        report.threads == 1 ? " thread" : " threads");
}

std::string bar_label(const BenchReport::Row& row) {
  return short_number(row.gbps) + " GB/s, " + short_number(row.ns) + " ns";
}

double limit_gbps(const BenchReport& report) {
  const auto row = std::ranges::find(report.rows, "memcpy", &BenchReport::Row::variant);
  return row == report.rows.end() ? 0 : row->gbps;
}

std::string svg_of(const BenchReport& report) {
  double most = 0;
  for (const BenchReport::Row& row : report.rows) most = std::max(most, row.gbps);
  if (most <= 0) most = 1;
  const auto x_of = [&](double gbps) { return names_width + gbps / most * bars_width; };
  const int bottom = title_height + row_height * static_cast<int>(report.rows.size());
  const int width = names_width + bars_width + labels_width, height = bottom + axis_height;

  std::string svg = detail::concat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", width, "\" height=\"", height,
      "\" viewBox=\"0 0 ", width, " ", height,
      "\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" "
      "fill=\"#ffffff\"/>\n<text x=\"8\" y=\"20\" font-weight=\"bold\">",
      escaped(plot_title(report)), "</text>\n");
  const double distance = tick_distance(most);
  for (int i = 0; i * distance <= most; ++i) {
    const std::string x = coordinate(x_of(i * distance));
    svg += detail::concat("<line x1=\"", x, "\" x2=\"", x, "\" y1=\"", title_height, "\" y2=\"",
                          bottom, "\" stroke=\"#dddddd\"/>\n<text x=\"", x, "\" y=\"", bottom + 16,
                          "\" text-anchor=\"middle\">", short_number(i * distance), "</text>\n");
  }
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const BenchReport::Row& row = report.rows[i];
    const int top = title_height + row_height * static_cast<int>(i) + (row_height - bar_height) / 2;
    svg += detail::concat("<text x=\"", names_width - 6, "\" y=\"", top + 13,
                          "\" text-anchor=\"end\">", escaped(row.variant), "</text>\n<rect x=\"",
                          names_width, "\" y=\"", top, "\" width=\"",
                          coordinate(x_of(row.gbps) - names_width), "\" height=\"", bar_height,
                          "\" fill=\"#4477aa\"/>\n<text x=\"", coordinate(x_of(row.gbps) + 6),
                          "\" y=\"", top + 13, "\">", bar_label(row), "</text>\n");
  }
  if (const double limit = limit_gbps(report); limit > 0) {
    const std::string x = coordinate(x_of(limit));
    svg += detail::concat("<line x1=\"", x, "\" x2=\"", x, "\" y1=\"", title_height, "\" y2=\"",
                          bottom, "\" stroke=\"#cc3311\" stroke-dasharray=\"5 3\"/>\n");
  }
  svg += detail::concat("<text x=\"", names_width, "\" y=\"", bottom + 33,
                        "\">GB/s (dashed: memcpy)</text>\n</svg>\n");
  return svg;
}

}  // namespace weft::cli
