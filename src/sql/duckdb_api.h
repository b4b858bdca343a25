// SPDX-License-Identifier: MIT
// DuckDB's C functions that we use, bound when first needed: libduckdb.so is 70 MB and most
// commands never ask anything. Included by .cc files of this room only.
#pragma once

#include <duckdb.h>

#include <span>
#include <string>
#include <vector>

#include "base/result.h"

// clang-format off
#define FATHOM_DUCKDB_FUNCTIONS(X)                                                                \
  X(library_version) X(create_config) X(set_config) X(destroy_config) X(open_ext) X(close)        \
  X(connect) X(disconnect) X(interrupt) X(free) X(query) X(prepare) X(prepare_error) X(destroy_prepare)        \
  X(prepared_statement_type) X(nparams) X(extract_statements) X(extract_statements_error)         \
  X(prepare_extracted_statement) X(destroy_extracted) X(bind_boolean) X(bind_int64)               \
  X(bind_uint64) X(bind_double) X(bind_varchar_length) X(bind_null)                               \
  X(execute_prepared_streaming) X(fetch_chunk) X(destroy_result) X(result_error)                  \
  X(column_count) X(column_name) X(column_logical_type) X(destroy_data_chunk)                     \
  X(data_chunk_get_size) X(data_chunk_set_size) X(data_chunk_get_vector) X(vector_size)           \
  X(vector_get_data) X(vector_get_validity) X(vector_ensure_validity_writable)                    \
  X(vector_assign_string_element_len) X(list_vector_get_child) X(list_vector_set_size)            \
  X(list_vector_reserve) X(struct_vector_get_child) X(array_vector_get_child)                     \
  X(create_logical_type) X(create_enum_type) X(create_list_type) X(create_map_type)               \
  X(destroy_logical_type) X(get_type_id) X(enum_internal_type) X(enum_dictionary_value)           \
  X(decimal_internal_type) X(decimal_width) X(decimal_scale) X(list_type_child_type)              \
  X(array_type_child_type) X(array_type_array_size) X(map_type_key_type) X(map_type_value_type)   \
  X(struct_type_child_count) X(struct_type_child_name) X(struct_type_child_type)                  \
  X(destroy_value) X(get_varchar) X(get_int64) X(create_hugeint) X(create_uhugeint)               \
  X(create_decimal) X(create_date) X(create_time) X(create_time_ns) X(create_time_tz_value)       \
  X(create_timestamp) X(create_timestamp_tz) X(create_timestamp_s) X(create_timestamp_ms)         \
  X(create_timestamp_ns) X(create_interval) X(create_bit) X(create_uuid)                          \
  X(create_table_function) X(destroy_table_function) X(table_function_set_name)                   \
  X(table_function_add_parameter) X(table_function_set_extra_info) X(table_function_set_bind)     \
  X(table_function_set_init) X(table_function_set_function) X(register_table_function)            \
  X(bind_get_extra_info) X(bind_get_parameter) X(bind_add_result_column) X(bind_set_bind_data)    \
  X(bind_set_error) X(init_set_max_threads) X(function_get_bind_data) X(function_set_error)       \
  X(prepared_statement_column_count) X(prepared_statement_column_name)                            \
  X(result_get_arrow_options) X(destroy_arrow_options) X(to_arrow_schema) X(data_chunk_to_arrow)  \
  X(error_data_has_error) X(error_data_message) X(destroy_error_data)
// clang-format on

namespace fathom::sql {

// A pointer for each function, by its name without "duckdb_". All are there, or loading fails: a
// library that lacks one is another version.
struct DuckdbApi {
#define FATHOM_DUCKDB_MEMBER(name) decltype(&duckdb_##name) name = nullptr;
  FATHOM_DUCKDB_FUNCTIONS(FATHOM_DUCKDB_MEMBER)
#undef FATHOM_DUCKDB_MEMBER
};

// Binds the first of the candidates that can be loaded. A library stays loaded until the process
// ends.
Result<DuckdbApi> load_duckdb(std::span<const std::string> candidates);

// Where the library is looked for: $FATHOM_DUCKDB alone if set, else beside the file that this code
// is in (our program, or a library of ours), then the loader's path.
std::vector<std::string> duckdb_candidates();

// The process's one binding, made at the first call, by whichever thread comes first. A failure is
// remembered.
Result<const DuckdbApi*> duckdb_api();

}  // namespace fathom::sql
