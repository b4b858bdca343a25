// SPDX-License-Identifier: MIT
// Bars in eighths of a character. A share above zero always gets at least one eighth, so that small
// values do not look like none.
#include "render/bars.h"

#include <algorithm>
#include <cmath>

#include "base/table.h"
#include "base/text.h"
#include "render/cell_text.h"
#include "render/display_width.h"

namespace fathom::render {

namespace {

constexpr std::size_t kEighths = 8;
constexpr const char* kPartial[kEighths] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string blanks(width - std::min(width, display_width(text)), ' ');
  return right ? blanks + text : text + blanks;
}

}  // namespace

std::string bar(double share, std::size_t width) {
  if (!std::isfinite(share) || share <= 0) return "";
  const double filled = std::min(share, 1.0) * static_cast<double>(width * kEighths);
  const auto eighths = std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(filled)));
  std::string out;
  for (std::size_t i = 0; i < eighths / kEighths; ++i) out += "█";
  return out + kPartial[eighths % kEighths];
}

std::string histogram(std::span<const Bin> bins, std::size_t width) {
  std::int64_t most = 0;
  std::int64_t total = 0;
  std::size_t label_width = 0;
  std::size_t count_width = 0;
  for (const Bin& bin : bins) {
    most = std::max(most, bin.count);
    total += bin.count;
    label_width = std::max(label_width, display_width(escape_control(bin.label)));
    count_width = std::max(count_width, with_thousands(bin.count).size());
  }
  std::string out;
  for (const Bin& bin : bins) {
    const auto count = static_cast<double>(bin.count);
    const double percent = total > 0 ? 100 * count / static_cast<double>(total) : 0;
    out += padded(escape_control(bin.label), label_width, true) + "  ";
    out +=
        padded(bar(most > 0 ? count / static_cast<double>(most) : 0, width), width, false) + "  ";
    out += padded(with_thousands(bin.count), count_width, true) + "  ";
    out += padded(human_text(percent, Measure::kPercent), sizeof "100.0 %" - 1, true) + "\n";
  }
  return out;
}

}  // namespace fathom::render
