// SPDX-License-Identifier: MIT
// Owns one of DuckDB's logical types. Included by .cc files of this room only.
#pragma once

#include <memory>
#include <string>

#include "sql/duckdb_api.h"

namespace fathom::sql {

// Copies share the handle, which goes with the last of them. The functions (`api`) live as long as
// the process.
class LogicalType {
 public:
  // Takes the handle over.
  LogicalType(const DuckdbApi& api, duckdb_logical_type handle)
      : handle_(handle, [&api](duckdb_logical_type type) { api.destroy_logical_type(&type); }) {}
  static LogicalType of(const DuckdbApi& api, duckdb_type id) {
    return {api, api.create_logical_type(id)};
  }

  [[nodiscard]] duckdb_logical_type get() const { return handle_.get(); }

 private:
  std::shared_ptr<_duckdb_logical_type> handle_;
};

// A text that DuckDB allocated, taken over; empty where there is none.
inline std::string take_text(const DuckdbApi& api, char* text) {
  if (text == nullptr) return {};
  std::string copy = text;
  api.free(text);
  return copy;
}

}  // namespace fathom::sql
