// SPDX-License-Identifier: MIT
// Chooses the format and the style of a terminal, and lays out whole documents. Rows of endless
// results go through RowPrinter instead.
#include "render/render.h"

#include <sys/ioctl.h>
#include <unistd.h>
#include <algorithm>

#include <cstdlib>
#include <set>
#include <utility>

#include "base/text.h"
#include "render/row_text.h"

namespace fathom::render {

namespace {

struct NamedFormat {
  std::string_view name;
  Format format;
};

constexpr char kNotes[] = "notes";  // of all tables of a document
constexpr char kUnits[] = "units";  // of their columns

constexpr NamedFormat kFormats[] = {
    {"table", Format::kTable},
    {"json", Format::kJson},
    {"csv", Format::kCsv},
    {"md", Format::kMarkdown},
};

std::string environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets variables
  return value != nullptr ? value : "";
}

// COLUMNS counts where there is no terminal: pagers and tests set it.
std::size_t terminal_width(int fd) {
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const auto columns = parse_int(environment("COLUMNS"));
  constexpr std::int64_t kSensible = 10'000;
  if (columns && *columns > 0 && *columns <= kSensible) return static_cast<std::size_t>(*columns);
  return kNoLimit;
}

void append_json_rows(JsonWriter& json, const Table& table) {
  const std::vector<std::string> names = distinct_names(table.columns);
  json.begin_array();
  for (const auto& row : table.rows) append_json_row(json, names, row);
  if (!table.rows.empty()) json.new_line();
  json.end_array();
}

std::string csv_table(const Table& table, const Style& style) {
  std::string out;
  append_csv_header(out, table.columns, style);
  for (const auto& row : table.rows) append_csv_row(out, row, style);
  return out;
}

// Titles as keys of a document, made distinct; two names are taken by notes and units.
std::vector<std::string> keys_of(std::span<const Table> tables) {
  std::vector<std::string> keys;
  std::set<std::string> taken = {kNotes, kUnits};
  for (const Table& table : tables) {
    const std::string title = snake_case(table.title);
    std::string key = title;
    for (int i = 2; !taken.insert(key).second; ++i) key = title + "_" + std::to_string(i);
    keys.push_back(key);
  }
  return keys;
}

bool has_unit(const Column& column) { return column.measure != Measure::kNone; }

// By table and column: what numbers are in. Texts, and numbers that are only names, have no unit.
void append_units(JsonWriter& json, std::span<const Table> tables,
                  const std::vector<std::string>& keys) {
  const auto measured = [](const Table& table) {
    return std::ranges::any_of(table.columns, has_unit);
  };
  if (std::ranges::none_of(tables, measured)) return;
  json.new_line().key(kUnits).begin_object();
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (!measured(tables[i])) continue;
    const std::vector<std::string> names = distinct_names(tables[i].columns);
    json.key(keys[i]).begin_object();
    for (std::size_t column = 0; column < names.size(); ++column) {
      if (!has_unit(tables[i].columns[column])) continue;
      json.key(names[column]).value(unit_of(tables[i].columns[column].measure));
    }
    json.end_object();
  }
  json.end_object();
}

std::string json_document(std::span<const Table> tables) {
  const std::vector<std::string> keys = keys_of(tables);
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  bool any_note = false;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    json.new_line().key(keys[i]);
    append_json_rows(json, tables[i]);
    any_note = any_note || !tables[i].note.empty();
  }
  if (any_note) {
    json.new_line().key(kNotes).begin_object();
    for (std::size_t i = 0; i < tables.size(); ++i) {
      if (!tables[i].note.empty()) json.key(keys[i]).value(tables[i].note);
    }
    json.end_object();
  }
  append_units(json, tables, keys);
  json.new_line().end_object();
  return out + "\n";
}

std::string title_line(const std::string& text, Format format, const Style& style) {
  if (text.empty()) return "";
  const std::string title = escape_control(text);
  if (format == Format::kMarkdown) return "## " + markdown_text(title) + "\n\n";
  if (format == Format::kCsv) return "# " + title + "\n";
  return style.color ? "\x1b[1;36m" + title + "\x1b[0m\n" : title + "\n";
}

}  // namespace

Result<Format> parse_format(std::string_view name) {
  for (const NamedFormat& known : kFormats) {
    if (known.name == name) return known.format;
  }
  return usage_error("unknown format '" + std::string(name) + "'", "use table, json, csv or md");
}

Style style_for(int fd) {
  const bool terminal = isatty(fd) == 1;
  const bool color = terminal && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  return {.width = terminal_width(fd), .color = color};
}

std::string sentence_text(std::string_view sentence, Format format) {
  const std::string line = escape_control(sentence);
  return format == Format::kMarkdown ? markdown_text(line) : line;
}

std::string render(const Table& table, Format format, const Style& style) {
  switch (format) {
    case Format::kTable:
      return text_table(table, style);
    case Format::kJson: {
      std::string out;
      JsonWriter json(out);
      append_json_rows(json, table);
      return out + "\n";
    }
    case Format::kCsv:
      return csv_table(table, style);
    case Format::kMarkdown:
      return markdown_table(table);
  }
  return "";
}

std::string render_document(std::span<const Table> tables, Format format, const Style& style) {
  if (format == Format::kJson) return json_document(tables);
  std::string out;
  for (const Table& table : tables) {
    if (!out.empty()) out += "\n";
    out += title_line(table.title, format, style) + render(table, format, style);
  }
  return out;
}

RowPrinter::RowPrinter(Format format, Style style, Write write)
    : format_(format), style_(style), write_(std::move(write)) {}

// A table for people needs all rows to know its widths: they are kept. CSV and JSON go out as they
// come.
Status RowPrinter::rows(const Table& part) {
  const bool first = !std::exchange(begun_, true);
  if (first) kept_.columns = part.columns;
  if (format_ == Format::kTable || format_ == Format::kMarkdown) {
    kept_.rows.insert(kept_.rows.end(), part.rows.begin(), part.rows.end());
    return {};
  }
  std::string out;
  if (format_ == Format::kCsv) {
    if (first) append_csv_header(out, part.columns, style_);
    for (const auto& row : part.rows) append_csv_row(out, row, style_);
    return write_(out);
  }
  const std::vector<std::string> names = distinct_names(kept_.columns);
  for (const auto& row : part.rows) {
    out += std::exchange(any_row_, true) ? "," : "[";
    JsonWriter json(out);
    append_json_row(json, names, row);
  }
  return write_(out);
}

Status RowPrinter::finish() {
  if (format_ == Format::kCsv) return {};
  if (format_ == Format::kJson) return write_(any_row_ ? "\n]\n" : "[]\n");
  return write_(render(kept_, format_, style_));
}

}  // namespace fathom::render
