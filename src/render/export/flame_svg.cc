// SPDX-License-Identifier: MIT
// Text of the picture. The first level is on top, so that a deep picture shows its beginning.
// Widths are percent and heights pixels: labels keep their size, whatever the width of the window
// is.
#include "render/export/flame_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/plural.h"
#include "base/text.h"
#include "render/display_width.h"
#include "render/export/html_charts.h"

namespace fathom::render {
namespace {

constexpr double kWidth = 1200;    // pixels that labels are cut for; the script cuts them anew
constexpr double kLetter = 6.7;    // pixels of a letter
constexpr std::size_t kRow = 17;   // pixels of a level
constexpr std::size_t kLine = 18;  // pixels of a line of text above the frames
constexpr std::size_t kTools = 34;
constexpr std::size_t kLongestName = 300;
constexpr double kHardlyChanged = 0.05;  // percentage points

// XML has no place for these two, escaped or not.
std::string xml_text(std::string_view text) {
  std::string out = html_text(text);
  for (const auto& [bytes, shown] :
       {std::pair("\xef\xbf\xbe", "\\u{fffe}"), std::pair("\xef\xbf\xbf", "\\u{ffff}")}) {
    for (std::size_t at = out.find(bytes); at != std::string::npos; at = out.find(bytes, at))
      out.replace(at, 3, shown);
  }
  return out;
}

std::string percent(double value) {
  std::string text = fmt::format("{:.4f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text + "%";
}

double change_of(const FlameBox& box) { return box.width - box.before.value_or(box.width); }

class Picture {
 public:
  Picture(const FlameTree& tree, const FlameLayout& layout) : tree_(tree), layout_(layout) {
    differs_ = !layout.boxes.empty() && layout.boxes[0].before.has_value();
    for (const FlameBox& box : layout.boxes)
      most_change_ = std::max(most_change_, std::abs(change_of(box)));
  }

  std::string text() {
    std::string body;
    add_line(body, "head", "Where the " + tree_.what + " went");
    for (const std::string& line : words()) add_line(body, "dim", line);
    body += legend();
    body += tools();
    body += "<g class=\"frames\">\n";
    for (const FlameBox& box : layout_.boxes) body += frame(box);
    body += "</g>\n";
    const std::size_t height = y_ + layout_.levels * kRow + 4;
    return fmt::format(
        "<svg class=\"flame\" xmlns=\"http://www.w3.org/2000/svg\" width=\"100%\" height=\"{}\" "
        "role=\"group\" aria-label=\"Flame graph: {}\">\n{}{}{}</svg>\n",
        height, xml_text(tree_.what), style(), body, script());
  }

 private:
  static std::string style() {
    return "<style>\nsvg.flame{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--dim:#59636e;"
           "--line:#d1d9e0;--card:#f6f8fa;background:var(--bg)}\n"
           "@media (prefers-color-scheme:dark){svg.flame{--bg:#0d1117;--fg:#e6edf3;--dim:#9198a1;"
           "--line:#3d444d;--card:#151b23}}\n" +
           std::string(flame_style()) + "</style>\n";
  }
  static std::string script() {
    return "<script><![CDATA[" + std::string(flame_script()) + "]]></script>\n";
  }

  void add_line(std::string& out, const char* style, std::string_view text) {
    y_ += kLine;
    out += fmt::format("<text class=\"{}\" x=\"4\" y=\"{}\">{}</text>\n", style, y_ - 4,
                       xml_text(text));
  }

  [[nodiscard]] std::string amount(std::int64_t value) const {
    const auto number = static_cast<double>(value);
    return tree_.is_time ? human_ns(number) : human_count(number) + " " + tree_.what;
  }

  // What the picture is of, and what is not in it.
  [[nodiscard]] std::vector<std::string> words() const {
    const StackSums::Sum& all = tree_.totals[tree_.root];
    const std::string number = tree_.what == "time in recorded calls"
                                   ? counted(all.count, "call")
                                   : counted(all.count, "sample");
    std::vector<std::string> lines = {
        tree_.is_time ? fmt::format("{} of {}, {}.", amount(all.amount), tree_.what, number)
                      : fmt::format("{}, {}.", amount(all.amount), number)};
    if (differs_) {
      lines.push_back(fmt::format(
          "Red frames have a larger share than in the other recording, blue ones a smaller share "
          "(up to {:.1f} percentage points). {:.1f} % of the other's time is in calls that are not "
          "here.",
          most_change_, layout_.gone));
    }
    std::vector<std::string> left;
    if (layout_.too_narrow > 0) left.push_back(counted(layout_.too_narrow, "narrow frame"));
    if (layout_.too_deep > 0)
      left.push_back(fmt::format("{} below level {}", counted(layout_.too_deep, "frame"),
                                 layout_.most_levels));
    if (!left.empty())
      lines.push_back(
          fmt::format("Left out: {}; --pid, --from and --to show a part.", join(left, " and ")));
    if (!tree_.remark.empty()) lines.push_back(tree_.remark);
    return lines;
  }

  std::string legend() {
    std::vector<std::pair<std::string, std::string>> entries;  // class, text
    if (differs_) {
      entries = {{"d5", "more"}, {"d0", "less"}, {"d3", "the same"}};
    } else {
      std::array<bool, 5> seen = {};
      for (const FlameBox& box : layout_.boxes)
        seen.at(static_cast<std::size_t>(kind_of(box))) = true;
      for (std::size_t i = 1; i < seen.size(); ++i) {
        if (seen.at(i))
          entries.emplace_back(fmt::format("k{}", i), kind_name(static_cast<FlameKind>(i)));
      }
    }
    std::string out = "<g class=\"key\">";
    double x = 4;
    for (const auto& [style, text] : entries) {
      out += fmt::format(
          "<g class=\"{}\"><rect x=\"{}\" y=\"{}\" width=\"12\" height=\"12\"/></g>"
          "<text x=\"{}\" y=\"{}\">{}</text>",
          style, x, y_ + 3, x + 17, y_ + 13, xml_text(text));
      x += 34 + 8 * static_cast<double>(text.size());
    }
    y_ += kLine + 2;
    return out + "</g>\n";
  }

  // They do nothing without the script, which shows them.
  std::string tools() {
    std::string out = fmt::format(
        "<foreignObject class=\"tools\" style=\"display:none\" x=\"0\" y=\"{}\" width=\"100%\" "
        "height=\"{}\"><div xmlns=\"http://www.w3.org/1999/xhtml\"><label>Search <input "
        "type=\"search\" autocomplete=\"off\"/></label> "
        "<button type=\"button\">Reset zoom</button> <output></output></div></foreignObject>\n"
        "<text class=\"detail\" x=\"4\" y=\"{}\" aria-live=\"polite\"></text>\n",
        y_, kTools, y_ + kTools + 12);
    y_ += kTools + kLine;
    return out;
  }

  [[nodiscard]] FlameKind kind_of(const FlameBox& box) const {
    return box.level == 0 ? FlameKind::kGroup : tree_.name(box.node).kind;
  }

  // Three steps of each colour, by the square root: small changes stay visible beside a large one.
  [[nodiscard]] std::string style_of(const FlameBox& box) const {
    if (!differs_) return fmt::format("k{}", static_cast<int>(kind_of(box)));
    const double change = change_of(box);
    if (std::abs(change) < kHardlyChanged) return "d3";
    const double strength = std::sqrt(std::abs(change) / most_change_);
    const int step = strength > 0.66 ? 3 : strength > 0.33 ? 2 : 1;
    return fmt::format("d{}", change > 0 ? 3 + step : 3 - step);
  }

  [[nodiscard]] std::string label_of(const FlameBox& box) const {
    std::string name = box.level == 0 ? "all" : escape_control(tree_.name(box.node).text);
    if (name.empty()) name = "?";
    name = shorten_middle(name, kLongestName);
    if (differs_ && box.level > 0) name += fmt::format(" ({:+.1f})", change_of(box));
    return name;
  }

  [[nodiscard]] std::string title_of(const FlameBox& box, const std::string& label) const {
    const std::int64_t total = tree_.totals[box.node].amount;
    const auto& sums = tree_.stacks.sums;
    const std::int64_t self = box.node < sums.size() ? sums[box.node].amount : 0;
    std::string text =
        xml_text(label) + "\n" + xml_text(amount(total)) + fmt::format(", {:.2f} %", box.width);
    if (box.before) {
      text += *box.before > 0 ? fmt::format(" (before: {:.2f} %)", *box.before) : " (before: none)";
    }
    if (self > 0 && self < total) text += ", self " + xml_text(amount(self));
    const FlameName& name = tree_.name(box.node);
    const std::string kind(kind_name(kind_of(box)));
    if (kind.empty()) return text;
    text += "\n" + kind;
    const std::string module = shorten_middle(escape_control(name.module), kLongestName);
    return module.empty() ? text : text + ", " + xml_text(module);
  }

  std::string frame(const FlameBox& box) {
    const std::string label = label_of(box);
    const std::size_t y = y_ + box.level * kRow;
    const std::string x = percent(box.x);
    const std::string width = percent(box.width);
    std::string out = fmt::format(
        "<g class=\"{}\"><title>{}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" "
        "height=\"{}\"/>",
        style_of(box), title_of(box, label), x, y, width, kRow);
    const double letters = (box.width / 100 * kWidth - 6) / kLetter;
    if (letters >= 3) {
      out += fmt::format(
          "<svg x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><text x=\"3\" "
          "y=\"12\">{}</text></svg>",
          x, y, width, kRow, xml_text(shorten_middle(label, static_cast<std::size_t>(letters))));
    }
    return out + "</g>\n";
  }

  const FlameTree& tree_;
  const FlameLayout& layout_;
  bool differs_ = false;
  double most_change_ = 0;
  std::size_t y_ = 0;
};

}  // namespace

std::string flame_file(const FlameTree& tree, const FlameLayout& layout) {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + Picture(tree, layout).text();
}

}  // namespace fathom::render
