// SPDX-License-Identifier: MIT
// Wraps any stream, so that exporters need not know about anonymising. Extensions of files stay:
// they say what a program works on and nothing about whom.
#include "render/export/anonymous_stream.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <span>

#include "analysis/layers.h"
#include "base/hex.h"
#include "base/md5.h"

namespace fathom::render {
namespace {

constexpr std::size_t kMostKnown = 1 << 20;  // remembered hashes: beyond that they are made anew
constexpr std::size_t kLongestExtension = 8;

bool is_number(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  return !text.empty() && std::from_chars(text.data(), end, number).ptr == end;
}

// ".txt" of "a.txt"; "" where the name has none.
std::string_view extension_of(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || name.size() - dot > kLongestExtension) return {};
  return name.substr(dot);
}

// Whether an argument holds a word that our sources chose, or a function's name. What the program's
// own code says under such a key may be anything.
bool is_fixed(std::string_view layer, std::string_view key) {
  constexpr std::string_view kKeys[] = {"block", "clock", "direction", "grid", "kernel", "memory"};
  return !analysis::is_code(layer) && std::ranges::find(kKeys, key) != std::end(kKeys);
}

template <class Make>
std::string_view remember(std::unordered_map<std::string, std::string>& known,
                          std::string_view text, Make make) {
  if (known.size() >= kMostKnown) known.clear();
  const auto [found, is_new] = known.try_emplace(std::string(text));
  if (is_new) found->second = make();
  return found->second;
}

}  // namespace

std::string Anonymizer::hash(std::string_view text) const {
  const std::array<std::uint8_t, 16> digest = md5(key_ + '\n' + std::string(text) + '\n' + key_);
  constexpr std::size_t kShown = 6;
  return "h" + to_hex(std::span(digest).first(kShown));
}

std::string Anonymizer::part(std::string_view name) const {
  return hash(name) + std::string(extension_of(name));
}

std::string_view Anonymizer::word(std::string_view text) {
  if (text.empty()) return {};
  return remember(words_, text, [&] { return hash(text); });
}

std::string_view Anonymizer::path(std::string_view text) {
  if (text.empty()) return {};
  return remember(paths_, text, [&] {
    std::string out;
    std::size_t from = 0;
    while (from <= text.size()) {
      const std::size_t to = std::min(text.find('/', from), text.size());
      if (to > from) out += part(text.substr(from, to - from));
      if (to < text.size()) out += '/';
      from = to + 1;
    }
    return out;
  });
}

std::string_view Anonymizer::text(std::string_view text) {
  if (text.empty() || is_number(text)) return text;
  return text.find('/') != std::string_view::npos ? path(text) : word(text);
}

Status AnonymousStream::processes(const std::function<Status(const ExportProcess&)>& use) {
  return from_.processes([&](ExportProcess process) {
    const std::string host(names_.word(process.host));
    const std::string name(names_.word(process.name));
    process.host = host;
    process.name = name;
    process.command = names_.word(process.command);
    return use(process);
  });
}

Status AnonymousStream::threads(const std::function<Status(const ExportThread&)>& use) {
  return from_.threads([&](ExportThread thread) {
    const std::string host(names_.word(thread.host));
    thread.host = host;
    thread.name = names_.word(thread.name);
    return use(thread);
  });
}

Status AnonymousStream::events(EventOrder order,
                               const std::function<Status(const ExportEvent&)>& use) {
  std::vector<std::string> values;
  std::vector<ExportArg> args;
  return from_.events(order, [&](ExportEvent event) {
    const std::string host(names_.word(event.host));
    const std::string file(names_.path(event.file));
    const std::string program(names_.word(event.program));
    event.host = host;
    event.program = program;
    event.file = file;
    values.clear();
    args.clear();
    for (const auto& [key, value] : event.args)
      values.emplace_back(is_fixed(event.layer, key) ? value : names_.text(value));
    for (std::size_t i = 0; i < values.size(); ++i)
      args.emplace_back(event.args[i].first, values[i]);
    event.args = args;
    return use(event);
  });
}

Status AnonymousStream::counters(const std::function<Status(const ExportCounter&)>& use) {
  return from_.counters([&](ExportCounter counter) {
    counter.host = names_.word(counter.host);
    return use(counter);
  });
}

Status AnonymousStream::intervals(IntervalDetail detail,
                                  const std::function<Status(const ExportInterval&)>& use) {
  return from_.intervals(detail, [&](ExportInterval interval) {
    interval.host = names_.word(interval.host);
    interval.file = names_.path(interval.file);
    return use(interval);
  });
}

Status AnonymousStream::samples(const std::function<Status(const ExportSample&)>& use) {
  std::vector<std::string> paths;
  std::vector<ExportFrame> frames;
  return from_.samples([&](ExportSample sample) {
    const std::string host(names_.word(sample.host));
    const std::string program(names_.word(sample.program));
    sample.host = host;
    sample.program = program;
    paths.clear();
    for (const ExportFrame& frame : sample.frames) {
      paths.emplace_back(names_.path(frame.module));
      paths.emplace_back(names_.path(frame.file));
    }
    frames.assign(sample.frames.begin(), sample.frames.end());
    for (std::size_t i = 0; i < frames.size(); ++i) {
      frames[i].module = paths[2 * i];
      frames[i].file = paths[2 * i + 1];
    }
    sample.frames = frames;
    return use(sample);
  });
}

void AnonymousStream::hide(Value& cell, std::string_view column, std::string_view layer) {
  if (auto* const text = std::get_if<std::string>(&cell.data)) {
    const bool path = column == "file" || column == "path" || column == "module";
    const bool word = column == "host" || column == "command" || column == "container" ||
                      column == "program" || column == "peer";
    if (path) *text = names_.path(std::string(*text));
    if (word) *text = names_.word(std::string(*text));
  } else if (auto* const entries = std::get_if<Object>(&cell.data)) {
    for (auto& [key, value] : *entries) {
      auto* const inner = std::get_if<std::string>(&value.data);
      if (inner != nullptr && !is_fixed(layer, key)) *inner = names_.text(std::string(*inner));
    }
  }
}

Status AnonymousStream::table(const std::function<Status(const Table&)>& use) {
  return from_.table([&](Table rows) {
    // What belongs to a layer is named by its function, which stays. Programs and threads do not.
    const auto layer = std::ranges::find(rows.columns, "layer", &Column::name);
    const bool functions = layer != rows.columns.end();
    const auto at = static_cast<std::size_t>(layer - rows.columns.begin());
    for (auto& row : rows.rows) {
      const auto* const text = functions ? std::get_if<std::string>(&row[at].data) : nullptr;
      const std::string of = text != nullptr ? *text : "app";
      for (std::size_t i = 0; i < row.size(); ++i) {
        const std::string& column = rows.columns[i].name;
        hide(row[i], !functions && column == "name" ? "command" : std::string_view(column), of);
      }
    }
    return use(rows);
  });
}

Status AnonymousStream::write_parquet(const std::string& /*path*/) {
  return usage_error("format parquet cannot be anonymous", "csv can");
}

}  // namespace fathom::render
