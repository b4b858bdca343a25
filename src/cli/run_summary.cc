// SPDX-License-Identifier: MIT
// The summary after a run comes from sums in memory, so that it appears before packing has ended.
// All but its advice needs no DuckDB.
#include "cli/run_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <vector>

#include "base/demangle.h"
#include "base/escape.h"
#include "base/plural.h"
#include "base/text.h"
#include "base/utf8.h"
#include "render/wrap.h"
#include "trace/rows/layers.h"
#include "trace/spool/losses.h"

namespace fathom::cli {
namespace {

constexpr std::size_t kTop = 5;
constexpr std::size_t kNameWidth = 48;
constexpr char kGoesOn[] =
    "\n  still running: what the program left behind is recorded until it ends\n";

struct Sum {
  std::int64_t self = 0;
  std::int64_t calls = 0;
  std::int64_t bytes = 0;

  void add(const trace::SummaryRow& row) {
    self += row.self;
    calls += row.calls;
    if (row.bytes != trace::kNull) bytes += row.bytes;
  }
  void add(const Sum& other) {
    self += other.self;
    calls += other.calls;
    bytes += other.bytes;
  }
};
using Sums = std::map<std::string, Sum, std::less<>>;

struct Overview {
  Sums layers, functions, files;
};

// Layers inside the program see different calls, and add up. The kernel's see the same again: where
// there are only such, the one that took longest stands for all.
Sum sum_of_layers(const Sums& layers) {
  Sum inside;
  Sum longest;
  for (const auto& [layer, sum] : layers) {
    if (trace::is_code(layer) || trace::is_io(layer)) inside.add(sum);
    if (sum.self >= longest.self) longest = sum;
  }
  return inside.calls > 0 ? inside : longest;
}

Overview overview_of(const trace::SummaryTable& summary, const trace::Strings& strings) {
  Overview overview;
  std::map<std::string, Sums, std::less<>> files;
  for (const trace::SummaryRow& row : summary.rows()) {
    const std::string_view layer = strings.view(row.key.layer);
    const std::uint32_t place = row.key.file != trace::kNoString ? row.key.file : row.key.peer;
    if (place != trace::kNoString)
      files[std::string(strings.view(place))][std::string(layer)].add(row);
    if (row.calls == 0) continue;  // the second file of a copy: its bytes count once
    overview.layers[std::string(layer)].add(row);
    overview
        .functions[fmt::format("{} ({})", demangle(std::string(strings.view(row.key.name))), layer)]
        .add(row);
  }
  for (const auto& [file, layers] : files) overview.files[file] = sum_of_layers(layers);
  return overview;
}

std::vector<std::pair<std::string, Sum>> top(const Sums& sums) {
  std::vector<std::pair<std::string, Sum>> rows(sums.begin(), sums.end());
  std::ranges::sort(rows,
                    [](const auto& a, const auto& b) { return a.second.self > b.second.self; });
  if (rows.size() > kTop) rows.resize(kTop);
  return rows;
}

// The end of a long path tells more than its start.
std::string shortened(const std::string& text) {
  std::string plain = escape_name(text);
  if (plain.size() <= kNameWidth) return plain;
  std::size_t cut = plain.size() - kNameWidth + 1;
  while (cut < plain.size() && (static_cast<unsigned char>(plain[cut]) & 0xc0U) == 0x80U) ++cut;
  return "…" + plain.substr(cut);
}

std::string section(std::string_view title, const Sums& sums) {
  if (sums.empty()) return "";
  std::string text = fmt::format("\n  {:<{}}  {:>10}  {:>10}  {:>10}\n", title, kNameWidth, "self",
                                 "calls", "bytes");
  for (const auto& [name, sum] : top(sums)) {
    text += fmt::format("  {:<{}}  {:>10}  {:>10}  {:>10}\n", shortened(name), kNameWidth,
                        human_ns(static_cast<double>(sum.self)),
                        human_count(static_cast<double>(sum.calls)),
                        sum.bytes > 0 ? human_bytes(static_cast<double>(sum.bytes)) : "");
  }
  return text;
}

constexpr std::size_t kStateWidth = 9;
constexpr std::int64_t kLeastShown = 1000;  // of the whole: less is rounding

// The start of a function's name tells more than its end.
std::string shortened_function(const std::string& name) {
  constexpr std::size_t kMost = kNameWidth - kStateWidth;
  std::string plain = escape_name(name);
  if (plain.size() <= kMost) return plain;
  std::size_t cut = kMost - 1;
  while (cut > 0 && (static_cast<unsigned char>(plain[cut]) & 0xc0U) == 0x80U) --cut;
  return plain.substr(0, cut) + "…";
}

std::string time_line(std::string_view state, const std::string& what, std::int64_t ns,
                      const trace::ThreadTime& time) {
  if (ns <= 0) return "";
  const double share = 100 * static_cast<double>(ns) / static_cast<double>(time.life);
  const std::string name = fmt::format("{:<{}}{}", state, kStateWidth, shortened_function(what));
  return fmt::format("  {:<{}}  {:>10}  {:>8.1f} %\n", name, kNameWidth,
                     human_ns(static_cast<double>(ns)), share);
}

// What threads did, with functions and the sums of their waits.
std::string time_section(const trace::ThreadTime& time) {
  if (time.life <= 0 || time.unexplained() == time.life) return "";  // no samples
  std::string text =
      fmt::format("\n  {:<{}}  {:>10}  {:>10}\n", "all threads' time", kNameWidth, "time", "share");
  std::int64_t rest = time.running;
  for (std::size_t i = 0; i < std::min(kTop, time.functions.size()); i++) {
    const auto& [name, ns] = time.functions[i];
    text += time_line("running", name, ns, time);
    rest -= ns;
  }
  text += time_line("running", time.functions.empty() ? "" : "(other functions)", rest, time);
  text += time_line("waiting", "", time.waiting, time);
  text += time_line("ready", "(no CPU was free)", time.ready, time);
  const bool shows = time.unexplained() >= time.life / kLeastShown;
  return text + (shows ? time_line("unexplained", "", time.unexplained(), time) : "");
}

// Where the library cannot be in a program, none of its layers is recorded.
std::string without_library(const trace::Manifest& manifest) {
  const auto posix = std::ranges::find(manifest.layers, "posix", &trace::LayerState::layer);
  if (posix == manifest.layers.end() || posix->state != "unavailable") return "";
  std::vector<std::string> layers;
  for (const trace::LayerState& layer : manifest.layers) {
    if (layer.state == posix->state && layer.reason == posix->reason) layers.push_back(layer.layer);
  }
  return fmt::format("  not recorded: {} ({})\n", join(layers, ", "),
                     escape_control(posix->reason));
}

std::string remarks(const trace::Manifest& manifest) {
  std::string text = without_library(manifest);
  for (const trace::Loss& loss : manifest.losses) {
    // What somebody asked to leave out is counted all the same.
    if (loss.count > 0)
      text += fmt::format("  {}{} {} ({})\n", trace::is_lost(loss) ? "lost: " : "", loss.count,
                          escape_control(loss.reason),
                          loss.layer.empty() ? "all layers" : escape_control(loss.layer));
  }
  for (const trace::NotCovered& one : manifest.not_covered) {
    text += fmt::format("  not covered: {} ({})\n", escape_name(one.program),
                        escape_control(one.reason));
  }
  for (const trace::LayerState& layer : manifest.layers) {
    if (layer.layer != "gpu" || (layer.state != "on" && layer.state != "partial")) continue;
    text +=
        layer.reason.empty()
            ? "  layer gpu: CUPTI ran inside the program and used threads and memory of its own\n"
            : fmt::format("  layer gpu: {}\n", escape_control(layer.reason));
  }
  for (const trace::LayerState& layer : manifest.layers) {
    if (layer.layer == "user" && layer.state == "partial")
      text += fmt::format("  layer user: {}\n", layer.reason);
  }
  if (const auto dear = manifest.facts.find("kernel.user.dear"); dear != manifest.facts.end())
    text += "  " + escape_control(dear->second) + "\n";
  return text.empty() ? text : "\n" + text;
}

// Lives, not pids: a number may be given away again.
std::size_t lives_of(const std::vector<trace::ProcessRow>& processes) {
  return static_cast<std::size_t>(
      std::max<std::ptrdiff_t>(1, std::ranges::count(processes, 0, &trace::ProcessRow::image)));
}

std::string advice_text(const analysis::Insight& advice, std::size_t width) {
  const auto line = [&](const std::string& words) {
    return render::wrapped(escape_control(words), 4, width);
  };
  return fmt::format("\n  advice: {} ({})\n", escape_control(advice.title), advice.rule) +
         line(advice.says + ".") +
         line(fmt::format("Could save up to {}. Try: {}.",
                          human_ns(static_cast<double>(advice.gain_ns.value_or(0))),
                          advice.advice));
}

}  // namespace

std::string run_summary(const session::Ended& ended, const std::optional<analysis::Insight>& advice,
                        std::size_t width) {
  const trace::Manifest& manifest = ended.totals.manifest;
  const Overview overview = overview_of(ended.totals.summary, ended.strings);
  const std::size_t processes = lives_of(ended.totals.processes);
  std::string text = fmt::format(
      "fathom: {} wall time, {}, {}, {}\n",
      human_ns(static_cast<double>(manifest.duration_ns.value_or(0))),
      counted(processes, "process"),
      counted_roughly(static_cast<double>(ended.totals.events), "event"),
      std::ranges::any_of(manifest.losses, trace::is_lost) ? "some lost" : "nothing lost");
  text += time_section(ended.totals.time);
  text += section("layer", overview.layers);
  text += section("function", overview.functions);
  text += section("file, pipe, socket", overview.files);
  text += remarks(manifest);
  if (manifest.state == trace::RunState::kRunning) text += kGoesOn;
  if (advice) text += advice_text(*advice, width);
  const std::string place = escape_control(shell_quote(ended.directory));
  text +=
      fmt::format("\n  recorded in {}\n  next: fathom {} {}{}\n", escape_control(ended.directory),
                  advice ? "show" : "report", place, advice ? " " + advice->rule : "");
  return text;
}

}  // namespace fathom::cli
