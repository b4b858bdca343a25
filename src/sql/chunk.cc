// SPDX-License-Identifier: MIT
// Reads DuckDB's vectors where they lie. Separate from value_reader.cc, which copies each value:
// passes over millions of rows must not.
#include "sql/chunk.h"

#include "sql/duckdb_api.h"
#include "sql/result_set.h"

namespace fathom::sql {

std::optional<std::string_view> Chunk::text(std::size_t column, std::size_t row) const {
  if (is_null(column, row)) return std::nullopt;
  const auto& text = static_cast<const duckdb_string_t*>(columns_[column].data)[row];
  const std::uint32_t length = text.value.inlined.length;
  const bool inlined = length <= sizeof text.value.inlined.inlined;
  return std::string_view(inlined ? text.value.inlined.inlined : text.value.pointer.ptr, length);
}

Status ResultSet::each_chunk(const OnChunk& use) {
  const idx_t count = api_.column_count(&handle_);
  for (;;) {
    FATHOM_ASSIGN(duckdb_data_chunk chunk, fetch());
    if (chunk == nullptr) return {};
    std::vector<Chunk::Column> columns;
    for (idx_t i = 0; i < count; ++i) {
      duckdb_vector vector = api_.data_chunk_get_vector(chunk, i);
      columns.push_back({api_.vector_get_data(vector), api_.vector_get_validity(vector)});
    }
    const Status used = use(Chunk(api_.data_chunk_get_size(chunk), std::move(columns)));
    api_.destroy_data_chunk(&chunk);
    FATHOM_TRY(used);
  }
}

}  // namespace fathom::sql
