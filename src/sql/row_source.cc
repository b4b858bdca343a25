// SPDX-License-Identifier: MIT
// DuckDB calls these functions back from its own threads. A source is found by its ticket under a
// lock, because no pointer may stand in SQL.
#include "sql/row_source.h"

#include <algorithm>
#include <utility>

namespace fathom::sql {

namespace {

// A callback gets no pointer of ours before it calls DuckDB for it; so it asks for the process's
// one binding, which exists since somebody registered the callback.
const DuckdbApi& api_in_callback() { return *duckdb_api().value(); }

void bind_rows(duckdb_bind_info info) {
  const DuckdbApi& api = api_in_callback();
  const auto* sources =
      static_cast<const std::shared_ptr<RowSources>*>(api.bind_get_extra_info(info));
  duckdb_value argument = api.bind_get_parameter(info, 0);
  const std::int64_t ticket = api.get_int64(argument);
  api.destroy_value(&argument);
  RowSource* source = (*sources)->find(ticket);
  if (source == nullptr) {
    api.bind_set_error(info, "no rows are on offer under this number");
    return;
  }
  for (const VectorWriter& column : source->columns()) {
    api.bind_add_result_column(info, column.name().c_str(), column.type());
  }
  api.bind_set_bind_data(info, source, [](void*) {});  // whoever offers the source owns it
}

// Rows have an order, and a source has one reader.
void init_rows(duckdb_init_info info) { api_in_callback().init_set_max_threads(info, 1); }

void produce_rows(duckdb_function_info info, duckdb_data_chunk chunk) {
  const DuckdbApi& api = api_in_callback();
  const Status filled = static_cast<RowSource*>(api.function_get_bind_data(info))->fill(chunk);
  if (!filled) api.function_set_error(info, filled.error().message.c_str());
}

}  // namespace

RowSource::RowSource(const DuckdbApi& api, const Batch& batch) : api_(&api), batch_(batch) {
  for (std::size_t i = 0; i < batch.columns.size(); ++i) {
    const ColumnDef& column = batch.columns[i];
    columns_.emplace_back(api, column, Dictionary(column.dictionary, batch.data[i].codes));
  }
}

Status RowSource::fill(duckdb_data_chunk chunk) {
  Status filled = failure_ ? Status(*failure_) : try_fill(chunk);
  if (!filled) {
    failure_ = filled.error();
    api_->data_chunk_set_size(chunk, 0);
  }
  return filled;
}

Status RowSource::try_fill(duckdb_data_chunk chunk) {
  const std::size_t rows = std::min<std::size_t>(api_->vector_size(), batch_.rows - at_);
  for (std::size_t i = 0; rows > 0 && i < columns_.size(); ++i) {
    const ColumnData data = rows_of(batch_.columns[i].kind, batch_.data[i], at_, rows);
    FATHOM_TRY(columns_[i].write(data, rows, api_->data_chunk_get_vector(chunk, i)));
  }
  at_ += rows;
  api_->data_chunk_set_size(chunk, rows);
  return {};
}

std::int64_t RowSources::offer(RowSource& source) {
  const std::lock_guard lock(mutex_);
  sources_.emplace(next_ticket_, &source);
  return next_ticket_++;
}

void RowSources::withdraw(std::int64_t ticket) {
  const std::lock_guard lock(mutex_);
  sources_.erase(ticket);
}

RowSource* RowSources::find(std::int64_t ticket) {
  const std::lock_guard lock(mutex_);
  const auto found = sources_.find(ticket);
  return found == sources_.end() ? nullptr : found->second;
}

Status register_row_function(const DuckdbApi& api, duckdb_connection connection,
                             const std::shared_ptr<RowSources>& sources) {
  duckdb_table_function function = api.create_table_function();
  api.table_function_set_name(function, kRowFunction);
  api.table_function_add_parameter(function, LogicalType::of(api, DUCKDB_TYPE_BIGINT).get());
  api.table_function_set_extra_info(
      function, new std::shared_ptr<RowSources>(sources),
      [](void* data) { delete static_cast<std::shared_ptr<RowSources>*>(data); });
  api.table_function_set_bind(function, bind_rows);
  api.table_function_set_init(function, init_rows);
  api.table_function_set_function(function, produce_rows);
  const duckdb_state state = api.register_table_function(connection, function);
  api.destroy_table_function(&function);
  if (state == DuckDBSuccess) return {};
  return Error{Code::kUnsupported, "DuckDB refused our table function", "DuckDB 1.5.5 is needed"};
}

}  // namespace fathom::sql
