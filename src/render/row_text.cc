// SPDX-License-Identifier: MIT
// CSV, JSON and Markdown of single rows. Markdown and CSV are escaped against links and formulas,
// since names come from the traced program.
#include "render/row_text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>

#include "base/escape.h"
#include "base/text.h"
#include "base/utf8.h"
#include "render/cell_text.h"

namespace fathom::render {

namespace {

// Nothing is NULL, so an empty text must be quoted.
void append_csv_field(std::string& out, std::string_view text) {
  if (!text.empty() && text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

bool is_decimal(std::string_view text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number);
  return failure == std::errc() && stop == end;
}

// Whether a spreadsheet would compute the cell. White space before the sign does not keep all of
// them from it, nor do the signs' full-width forms.
bool is_formula(std::string_view text) {
  constexpr std::string_view kSigns[] = {"=", "+", "-", "@", "＝", "＋", "－", "＠"};
  constexpr std::string_view kBlanks[] = {" ", "\t", "\n", "\u00a0", "\u3000"};
  const auto begins = [&](std::string_view part) { return text.starts_with(part); };
  if (begins("\t")) return true;
  for (;;) {
    const auto* const blank = std::ranges::find_if(kBlanks, begins);
    if (blank == std::end(kBlanks)) break;
    text.remove_prefix(blank->size());
  }
  return std::ranges::any_of(kSigns, begins) && !is_decimal(text);
}

void append_csv_text(std::string& out, std::string_view text, const Style& style) {
  const std::string cell = escape_cell(text);
  append_csv_field(out, style.safe_csv && is_formula(cell) ? "'" + cell : cell);
}

}  // namespace

std::vector<std::string> distinct_names(const std::vector<Column>& columns) {
  std::set<std::string> taken;
  std::vector<std::string> names;
  for (const Column& column : columns) {
    std::string name = column.name;
    for (int i = 1; !taken.insert(name).second; ++i) name = column.name + ":" + std::to_string(i);
    names.push_back(name);
  }
  return names;
}

void append_json_row(JsonWriter& json, const std::vector<std::string>& names,
                     const std::vector<Value>& row) {
  json.new_line().begin_object();
  for (std::size_t i = 0; i < names.size() && i < row.size(); ++i) json.key(names[i]).value(row[i]);
  json.end_object();
}

void append_csv_header(std::string& out, const std::vector<Column>& columns, const Style& style) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) out += ',';
    append_csv_text(out, columns[i].name, style);
  }
  out += '\n';
}

void append_csv_row(std::string& out, const std::vector<Value>& row, const Style& style) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) out += ',';
    if (const auto* text = std::get_if<std::string>(&row[i].data)) {
      append_csv_text(out, *text, style);
    } else if (!row[i].is_null()) {
      append_csv_field(out, plain_text(row[i]));
    }
  }
  out += '\n';
}

std::vector<bool> numeric_columns(const Table& table) {
  std::vector<bool> numeric(table.columns.size(), false);
  for (std::size_t i = 0; i < numeric.size(); ++i) {
    bool any = table.columns[i].measure != Measure::kNone;
    bool other = false;
    for (const auto& row : table.rows) {
      if (i >= row.size() || row[i].is_null()) continue;
      (is_number(row[i]) ? any : other) = true;
    }
    numeric[i] = any && !other;
  }
  return numeric;
}

// Neither markup nor HTML, links, pictures and formulas; an address is shown and does not become a
// link.
std::string markdown_text(std::string_view text) {
  constexpr std::string_view kMarkup = "|\\`*_<>[]&~$";
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    const bool address = rest.starts_with("://") || (rest[0] == '.' && out.ends_with("www"));
    if (address || kMarkup.find(rest[0]) != std::string_view::npos) out += '\\';
    out += rest[0];
  }
  return out;
}

std::string markdown_table(const Table& table) {
  const std::vector<bool> numeric = numeric_columns(table);
  std::string out = "|";
  for (const Column& column : table.columns)
    out += " " + markdown_text(escape_name(column.name)) + " |";
  out += "\n|";
  for (const bool right : numeric) out += right ? " ---: |" : " --- |";
  out += "\n";
  for (const auto& row : table.rows) {
    out += "|";
    for (std::size_t i = 0; i < row.size() && i < table.columns.size(); ++i) {
      out += " " + markdown_text(human_text(row[i], table.columns[i].measure)) + " |";
    }
    out += "\n";
  }
  if (!table.note.empty()) out += "\n" + markdown_text(escape_control(table.note)) + "\n";
  return out;
}

std::string snake_case(std::string_view title) {
  std::string out;
  for (const char c : title) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || byte >= 0x80) {
      out += static_cast<char>(std::tolower(byte));
    } else if (!out.empty() && out.back() != '_') {
      out += '_';
    }
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  return out.empty() ? "table" : out;
}

}  // namespace fathom::render
