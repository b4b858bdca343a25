// SPDX-License-Identifier: MIT
// A state machine over the lines of `perf script`. Fields are recognised by their shape, because
// their order depends on options and versions.
#include "analysis/import/perf_script.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "analysis/import/line_words.h"
#include "analysis/import/pfw_facts.h"
#include "base/text.h"

namespace fathom::analysis {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

// "12345.678901:"
std::optional<std::int64_t> time_of(std::string_view word) {
  if (!word.ends_with(':') || word.find('.') == std::string_view::npos) return {};
  word.remove_suffix(1);
  if (word.find_first_not_of("0123456789.") != std::string_view::npos) return {};
  return scaled(word, kNsPerSecond);
}

// "7/8" or "8"; perf writes -1 where it does not know.
bool read_ids(std::string_view word, PerfHead& head) {
  const std::size_t slash = word.find('/');
  const std::optional<std::int32_t> last =
      number_in<std::int32_t>(slash == std::string_view::npos ? word : word.substr(slash + 1));
  if (!last) return false;
  head.tid = *last;
  if (slash == std::string_view::npos) return true;
  head.pid = number_in<std::int32_t>(word.substr(0, slash));
  return head.pid.has_value();
}

// "comm 7/8 [001]": a thread's name may hold blanks, so it is what is left when the others are
// taken.
bool read_front(std::string_view line, std::span<const std::string_view> words, PerfHead& head) {
  if (!words.empty() && words.back().starts_with('[') && words.back().ends_with(']')) {
    head.cpu = number_in<std::int32_t>(words.back().substr(1, words.back().size() - 2));
    if (!head.cpu) return false;
    words = words.first(words.size() - 1);
  }
  if (words.size() < 2 || !read_ids(words.back(), head)) return false;
  const char* const begin = words.front().data();
  const std::string_view before = words[words.size() - 2];
  head.comm = line.substr(static_cast<std::size_t>(begin - line.data()),
                          static_cast<std::size_t>(before.data() + before.size() - begin));
  return true;
}

bool is_hex(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

std::optional<PerfHead> parse_perf_head(std::string_view line) {
  const std::vector<std::string_view> words = words_of_line(line);
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::optional<std::int64_t> ts = time_of(words[i]);
    PerfHead head;
    if (!ts || !read_front(line, std::span(words).first(i), head)) continue;
    head.ts = *ts;
    std::size_t next = i + 1;
    std::int64_t period = 0;
    if (next < words.size()) {
      const char* const end = words[next].data() + words[next].size();
      if (std::from_chars(words[next].data(), end, period).ptr == end) {
        head.period = period;
        ++next;
      }
    }
    if (next >= words.size() || !words[next].ends_with(':')) return {};
    head.event = words[next].substr(0, words[next].size() - 1);
    const char* const end = words[next].data() + words[next].size();
    head.rest = trim(line.substr(static_cast<std::size_t>(end - line.data())));
    return head.period < 0 || head.event.empty() ? std::nullopt : std::optional(head);
  }
  return {};
}

// "ffff800010 function+0x1c (/lib/libc.so.6)": C++ names hold parentheses, so the module is what
// stands in the last ones.
std::optional<ImportedFrame> parse_perf_frame(std::string_view line) {
  line = trim(line);
  const std::size_t blank = line.find_first_of(kBlank);
  if (blank == std::string_view::npos || !is_hex(line.substr(0, blank))) return {};
  std::string_view symbol = trim(line.substr(blank));
  ImportedFrame frame;
  const std::size_t open = symbol.rfind(" (");
  if (open != std::string_view::npos && symbol.ends_with(')')) {
    frame.module = symbol.substr(open + 2, symbol.size() - open - 3);
    symbol = trim(symbol.substr(0, open));
  } else if (symbol.starts_with('(') && symbol.ends_with(')')) {
    frame.module = symbol.substr(1, symbol.size() - 2);
    symbol = {};
  }
  const std::size_t plus = symbol.rfind("+0x");
  if (plus != std::string_view::npos && is_hex(symbol.substr(plus + 3)))
    symbol = symbol.substr(0, plus);
  if (symbol != "[unknown]") frame.function = symbol;
  if (frame.module == "[unknown]") frame.module = {};
  return frame;
}

void PerfScript::add_frame(const ImportedFrame& frame) {
  frames_.push_back({std::string(frame.function), std::string(frame.module), "", trace::kNull32});
}

// With srcline asked for, "work.c:12" stands below its frame.
bool PerfScript::add_source_line(std::string_view line) {
  line = trim(line);
  const std::size_t colon = line.rfind(':');
  if (frames_.empty() || colon == std::string_view::npos || colon == 0) return false;
  const std::optional<std::int32_t> number = number_in<std::int32_t>(line.substr(colon + 1));
  if (!number || line.find_first_of(kBlank) != std::string_view::npos) return false;
  frames_.back().file = line.substr(0, colon);
  frames_.back().line = *number;
  return true;
}

Result<bool> PerfScript::add(std::string_view line) {
  if (line.starts_with('#')) return true;
  if (trim(line).empty()) {
    FATHOM_TRY(finish());
    return true;
  }
  if (open_) {
    if (const std::optional<ImportedFrame> frame = parse_perf_frame(line)) {
      add_frame(*frame);
      return true;
    }
    if (add_source_line(line)) return true;
  }
  const std::optional<PerfHead> head = parse_perf_head(line);
  if (!head) return false;
  FATHOM_TRY(finish());
  open_ = true;
  head_ = line;
  if (const std::optional<ImportedFrame> frame = parse_perf_frame(head->rest)) add_frame(*frame);
  return true;
}

Status PerfScript::finish() {
  if (!open_) return {};
  open_ = false;
  const std::optional<PerfHead> head = parse_perf_head(head_);
  std::ranges::reverse(frames_);  // perf begins with the innermost
  std::vector<ImportedFrame> frames;
  for (const Kept& frame : frames_)
    frames.push_back({frame.function, frame.module, frame.file, frame.line});
  ImportedSample sample;
  sample.ts = head->ts;
  sample.pid = head->pid.value_or(head->tid);
  sample.tid = head->tid;
  if (sample.pid < 0) sample.pid = trace::kNull32;
  if (sample.tid < 0) sample.tid = trace::kNull32;
  sample.cpu = head->cpu.value_or(trace::kNull32);
  sample.event = head->event;
  sample.comm = head->comm;
  sample.weight = head->period;
  sample.frames = frames;
  Status status = on_sample_(sample);
  frames_.clear();
  return status;
}

namespace {

Result<ImportOutcome> write(std::span<const std::string> files, const std::string& directory,
                            const ImportOptions& options) {
  FATHOM_ASSIGN(SampleImport import, SampleImport::create(files, directory, options));
  PerfScript script([&](const ImportedSample& sample) { return import.add(sample); });
  return import.read(files, options,
                     {.line = [&](std::string_view line) { return script.add(line); },
                      .file_ends = [&] { return script.finish(); }});
}

// A head among the first lines.
bool matches(std::string_view head) {
  constexpr std::size_t kLines = 200;
  const std::vector<std::string_view> lines = split(head, '\n');
  const auto first = std::span(lines).first(std::min(lines.size(), kLines));
  return std::ranges::any_of(
      first, [](std::string_view line) { return parse_perf_head(line).has_value(); });
}

}  // namespace

extern const ImporterDef kPerfScriptImporter;
const ImporterDef kPerfScriptImporter = {
    .name = "perf-script",
    .summary = "samples of perf: the output of 'perf script'",
    .matches = matches,
    .write = write,
};

}  // namespace fathom::analysis
