// SPDX-License-Identifier: MIT
// Panels have the same time axis, so that what a function did to the machine is read off straight
// down. Points closer than a pixel are drawn as their mean.
#include "render/plot_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/plural.h"
#include "base/text.h"
#include "render/cell_text.h"
#include "render/export/html_charts.h"
#include "render/export/json_fields.h"

namespace fathom::render {
namespace {

using analysis::Picture;
using analysis::PictureBar;
using analysis::PictureCurve;
using analysis::Point;

constexpr double kWidth = 1000, kLeft = 170, kRight = 20, kTop = 44;
constexpr double kBarHeight = 16, kPanel = 90, kGap = 26;
constexpr double kPlot = kWidth - kLeft - kRight;
constexpr std::array kColors = {"#0969da", "#bf8700", "#1a7f37", "#8250df", "#cf222e",
                                "#0f766e", "#bc4c00", "#a40e73", "#6e7781", "#4d2d00"};

std::string px(double value) {
  std::string out;
  append_real(out, std::round(value * 10) / 10);
  return out;
}

std::string text_at(double x, double y, const std::string& words, const char* anchor = "start",
                    const char* fill = "#1b1f24") {
  return "<text x=\"" + px(x) + "\" y=\"" + px(y) + "\" text-anchor=\"" + anchor + "\" fill=\"" +
         fill + "\">" + html_text(words) + "</text>\n";
}

std::string cut(std::string text) {
  constexpr std::size_t kMost = 22;
  if (text.size() <= kMost) return text;
  std::size_t end = kMost;  // not within a character
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + "…";
}

std::string bar(const PictureBar& one, double y, const char* color) {
  std::string out = text_at(kLeft - 8, y + kBarHeight - 4, cut(one.name), "end");
  out += "<g fill=\"" + std::string(color) + "\"" + (one.is_loop ? " fill-opacity=\"0.5\"" : "") +
         "><title>" + html_text(one.name) + ": " +
         html_text(human_text(Value(one.total_s * 1e9), Measure::kNanoseconds)) + "</title>\n";
  for (const auto& [from, to] : one.spans) {
    out += "<rect x=\"" + px(kLeft + from * kPlot) + "\" y=\"" + px(y + 2) + "\" width=\"" +
           px(std::max((to - from) * kPlot, 0.5)) + "\" height=\"" + px(kBarHeight - 4) + "\"/>\n";
  }
  return out + "</g>\n";
}

// Where the function that took most of its own panels ran, behind the curve.
std::string bands(const Picture& picture, double y) {
  constexpr std::size_t kMostSpans = 60;
  std::string out;
  std::size_t color = 0;
  for (const PictureBar& one : picture.bars) {
    const char* const fill = kColors[color++ % kColors.size()];
    if (one.spans.size() > kMostSpans) continue;
    for (const auto& [from, to] : one.spans) {
      out += fmt::format(
          "<line x1=\"{0}\" y1=\"{1}\" x2=\"{0}\" y2=\"{2}\" stroke=\"{3}\" stroke-width=\"0.6\" "
          "stroke-dasharray=\"3 3\"/>\n",
          px(kLeft + from * kPlot), px(y), px(y + kPanel), fill);
    }
  }
  return out;
}

// The mean of the points of each pixel.
// More points than pixels would make the file large and the line no finer.
std::string line_of(const PictureCurve& curve, std::int64_t wall_ns, double most, double y) {
  std::string points;
  double sum = 0;
  double count = 0;
  std::int64_t column = -1;
  const auto flush = [&] {
    if (count == 0) return;
    const double height = most > 0 ? std::clamp(sum / count / most, 0.0, 1.0) * kPanel : 0;
    points += px(kLeft + static_cast<double>(column)) + "," + px(y + kPanel - height) + " ";
    sum = count = 0;
  };
  for (const Point& point : curve.points) {
    const double share =
        static_cast<double>(point.ts) / static_cast<double>(std::max<std::int64_t>(wall_ns, 1));
    const auto at = static_cast<std::int64_t>(std::clamp(share, 0.0, 1.0) * kPlot);
    if (at != column) flush();
    column = at;
    sum += point.value;
    ++count;
  }
  flush();
  return "<polyline points=\"" + points +
         "\" fill=\"none\" stroke=\"#0969da\" "
         "stroke-width=\"1.4\"/>\n";
}

std::string panel(const Picture& picture, const PictureCurve& curve, double y) {
  double most = curve.is_percent ? 100 : 0;
  for (const Point& point : curve.points) most = std::max(most, point.value);
  const Measure measure = curve.is_percent ? Measure::kPercent : Measure::kBytes;
  std::string out = "<rect x=\"" + px(kLeft) + "\" y=\"" + px(y) + "\" width=\"" + px(kPlot) +
                    "\" height=\"" + px(kPanel) + "\" fill=\"#f6f8fa\" stroke=\"#d1d9e0\"/>\n";
  out += bands(picture, y) + line_of(curve, picture.wall_ns, most, y);
  out += text_at(kLeft - 8, y + kPanel / 2 + 4, curve.name, "end");
  out +=
      text_at(kLeft + 4, y + 12, human_text(Value(std::round(most)), measure), "start", "#59636e");
  return out;
}

std::string axis(std::int64_t wall_ns, double y) {
  constexpr int kTicks = 5;
  std::string out;
  for (int i = 0; i <= kTicks; ++i) {
    const double share = static_cast<double>(i) / kTicks;
    const char* const anchor = i == 0 ? "start" : i == kTicks ? "end" : "middle";
    out += text_at(kLeft + share * kPlot, y,
                   human_text(Value(share * static_cast<double>(wall_ns)), Measure::kNanoseconds),
                   anchor, "#59636e");
  }
  return out;
}

}  // namespace

std::string plot_svg(const Picture& picture) {
  std::string body = text_at(kLeft, 24, picture.title.empty() ? "A run" : picture.title);
  double y = kTop;
  std::size_t color = 0;
  for (const PictureBar& one : picture.bars) {
    body += bar(one, y, kColors[color++ % kColors.size()]);
    y += kBarHeight;
  }
  if (picture.bars_left_out > 0) {
    body += text_at(kLeft, y + 14, counted(picture.bars_left_out, "shorter one") + " not shown",
                    "start", "#59636e");
    y += 18;
  }
  y += 10;
  for (const PictureCurve& curve : picture.curves) {
    body += panel(picture, curve, y);
    y += kPanel + kGap / 2;
  }
  body += axis(picture.wall_ns, y + 8);
  const std::string height = px(y + 24);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + px(kWidth) + "\" height=\"" +
         height + "\" viewBox=\"0 0 " + px(kWidth) + " " + height +
         "\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" "
         "fill=\"#ffffff\"/>\n" +
         body + "</svg>\n";
}

}  // namespace fathom::render
