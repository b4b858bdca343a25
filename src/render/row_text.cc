// SPDX-License-Identifier: MIT
#include "render/row_text.h"

#include <algorithm>
#include <cctype>
#include <set>

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

std::string markdown_cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|' || c == '\\' || c == '`' || c == '*' || c == '_' || c == '<') out += '\\';
    out += c;
  }
  return out;
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

void append_csv_header(std::string& out, const std::vector<Column>& columns) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) out += ',';
    append_csv_field(out, escape_invalid_utf8(columns[i].name));
  }
  out += '\n';
}

void append_csv_row(std::string& out, const std::vector<Value>& row) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) out += ',';
    if (!row[i].is_null()) append_csv_field(out, plain_text(row[i]));
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

std::string markdown_table(const Table& table) {
  const std::vector<bool> numeric = numeric_columns(table);
  std::string out = "|";
  for (const Column& column : table.columns)
    out += " " + markdown_cell(escape_invalid_utf8(column.name)) + " |";
  out += "\n|";
  for (const bool right : numeric) out += right ? " ---: |" : " --- |";
  out += "\n";
  for (const auto& row : table.rows) {
    out += "|";
    for (std::size_t i = 0; i < row.size() && i < table.columns.size(); ++i) {
      out += " " + markdown_cell(human_text(row[i], table.columns[i].measure)) + " |";
    }
    out += "\n";
  }
  if (!table.note.empty()) out += "\n" + markdown_cell(escape_invalid_utf8(table.note)) + "\n";
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
