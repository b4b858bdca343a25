// SPDX-License-Identifier: MIT
// The pieces that render() and RowPrinter share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/table.h"
#include "render/json_writer.h"
#include "render/render.h"

namespace fathom::render {

// Names of the columns, made distinct: an object of JSON has each key once. "x", "x:1", …
std::vector<std::string> distinct_names(const std::vector<Column>& columns);

void append_json_row(JsonWriter& json, const std::vector<std::string>& names,
                     const std::vector<Value>& row);

void append_csv_header(std::string& out, const std::vector<Column>& columns, const Style& style);
void append_csv_row(std::string& out, const std::vector<Value>& row, const Style& style);

// Text of a Markdown page.
std::string markdown_text(std::string_view text);
std::string markdown_table(const Table& table);
std::string text_table(const Table& table, const Style& style);

// Columns of numbers are set right-aligned.
std::vector<bool> numeric_columns(const Table& table);

// "Top files (by time)" as "top_files_by_time".
std::string snake_case(std::string_view title);

}  // namespace fathom::render
