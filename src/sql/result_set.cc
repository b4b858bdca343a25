// SPDX-License-Identifier: MIT
// Streams a result instead of materialising it, so that a query over all events needs the memory of
// one chunk.
#include "sql/result_set.h"

#include <string>
#include <utility>

#include "sql/engine_error.h"
#include "sql/logical_type.h"

namespace fathom::sql {

ResultSet::~ResultSet() {
  if (arrow_options_ != nullptr) api_.destroy_arrow_options(&arrow_options_);
  api_.destroy_result(&handle_);
}

Status ResultSet::execute(duckdb_prepared_statement statement) {
  if (api_.execute_prepared_streaming(statement, &handle_) == DuckDBSuccess) return {};
  const char* text = api_.result_error(&handle_);
  return engine_error(text != nullptr ? text : "");
}

std::vector<std::string> ResultSet::column_names() const {
  std::vector<std::string> names;
  const idx_t count = api_.column_count(&handle_);
  for (idx_t i = 0; i < count; ++i) names.emplace_back(api_.column_name(&handle_, i));
  return names;
}

Status ResultSet::open_columns(Table& rows) {
  idx_t i = 0;
  for (const std::string& name : column_names()) {
    auto reader =
        ValueReader::make(api_, LogicalType(api_, api_.column_logical_type(&handle_, i++)));
    if (!reader) return std::move(reader).error().with(name);
    readers_.push_back(std::move(reader).value());
    rows.columns.push_back({name, Measure::kNone});
  }
  return {};
}

Result<duckdb_data_chunk> ResultSet::fetch() {
  duckdb_data_chunk chunk = api_.fetch_chunk(handle_);
  while (chunk != nullptr && api_.data_chunk_get_size(chunk) == 0) {
    api_.destroy_data_chunk(&chunk);
    chunk = api_.fetch_chunk(handle_);
  }
  if (chunk != nullptr) return chunk;
  const char* text = api_.result_error(&handle_);
  if (text != nullptr && *text != '\0') return engine_error(text);
  return chunk;
}

Status ResultSet::next(Table& rows) {
  rows.rows.clear();
  FATHOM_ASSIGN(duckdb_data_chunk chunk, fetch());
  if (chunk == nullptr) return {};
  read_chunk(chunk, rows);
  api_.destroy_data_chunk(&chunk);
  return {};
}

void ResultSet::read_chunk(duckdb_data_chunk chunk, Table& rows) {
  const idx_t count = api_.data_chunk_get_size(chunk);
  rows.rows.resize(count);
  for (auto& row : rows.rows) row.resize(readers_.size());
  for (std::size_t column = 0; column < readers_.size(); ++column) {
    ValueReader& reader = readers_[column];
    reader.attach(api_.data_chunk_get_vector(chunk, column));
    for (idx_t row = 0; row < count; ++row) rows.rows[row][column] = reader.read(row);
  }
}

Status ResultSet::outcome(duckdb_error_data error) {
  Status status;
  if (error != nullptr && api_.error_data_has_error(error)) {
    const char* text = api_.error_data_message(error);
    status = engine_error(text != nullptr ? text : "");
  }
  if (error != nullptr) api_.destroy_error_data(&error);
  return status;
}

Status ResultSet::arrow_schema(ArrowSchema& out) {
  if (arrow_options_ == nullptr) arrow_options_ = api_.result_get_arrow_options(&handle_);
  std::vector<LogicalType> types;
  std::vector<duckdb_logical_type> handles;
  std::vector<const char*> names;
  const idx_t count = api_.column_count(&handle_);
  for (idx_t i = 0; i < count; ++i) {
    types.emplace_back(api_, api_.column_logical_type(&handle_, i));
    handles.push_back(types.back().get());
    names.push_back(api_.column_name(&handle_, i));
  }
  return outcome(api_.to_arrow_schema(arrow_options_, handles.data(), names.data(), count, &out));
}

Status ResultSet::next_arrow(ArrowArray& out) {
  out = {};
  if (arrow_options_ == nullptr) arrow_options_ = api_.result_get_arrow_options(&handle_);
  FATHOM_ASSIGN(duckdb_data_chunk chunk, fetch());
  if (chunk == nullptr) return {};
  Status status = outcome(api_.data_chunk_to_arrow(arrow_options_, chunk, &out));
  api_.destroy_data_chunk(&chunk);
  return status;
}

}  // namespace fathom::sql
