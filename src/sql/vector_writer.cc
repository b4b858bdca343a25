// SPDX-License-Identifier: MIT
#include "sql/vector_writer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/utf8.h"

namespace fathom::sql {

namespace {

constexpr std::size_t kWordBits = 64;

// Whether the column has values at all in this run of rows; one that has none is NULL.
bool has_values(ColumnKind kind, const ColumnData& data) {
  switch (kind) {
    case ColumnKind::kInt64:
      return !data.int64s.empty();
    case ColumnKind::kInt32:
      return !data.int32s.empty();
    case ColumnKind::kDouble:
      return !data.doubles.empty();
    case ColumnKind::kDictionary:
      return !data.codes.empty();
    case ColumnKind::kText:
      return !data.texts.empty();
    case ColumnKind::kInt64List:
    case ColumnKind::kTextMap:
      return !data.offsets.empty();
  }
  return false;
}

// out[i] = member of codes[i], 0 for NULL. False where a code lies outside the dictionary.
template <class T>
bool copy_codes(std::span<const std::uint32_t> codes, std::span<const std::uint32_t> member_of_code,
                void* vector_data) {
  T* out = static_cast<T*>(vector_data);
  bool inside = true;
  for (const std::uint32_t code : codes) {
    const bool known = code < member_of_code.size();
    inside = inside && (known || code == kNullCode);
    *out++ = known ? static_cast<T>(member_of_code[code]) : T{0};
  }
  return inside;
}

// DuckDB's validity: a bit per row, lowest first.
template <class IsValid>
void set_bits(std::uint64_t* words, std::size_t rows, IsValid is_valid) {
  for (std::size_t begin = 0; begin < rows; begin += kWordBits) {
    const std::size_t end = std::min(begin + kWordBits, rows);
    std::uint64_t word = 0;
    for (std::size_t row = begin; row < end; ++row) {
      word |= static_cast<std::uint64_t>(is_valid(row)) << (row - begin);
    }
    *words++ = word;
  }
}

}  // namespace

VectorWriter::VectorWriter(const DuckdbApi& api, ColumnDef def, Dictionary dictionary)
    : api_(&api),
      def_(std::move(def)),
      dictionary_(std::move(dictionary)),
      type_(make_type()),
      code_type_(dictionary_.members().empty() ? DUCKDB_TYPE_VARCHAR
                                               : api.enum_internal_type(dictionary_type().get())) {}

LogicalType VectorWriter::make_type() const {
  switch (def_.kind) {
    case ColumnKind::kInt64:
      return LogicalType::of(*api_, DUCKDB_TYPE_BIGINT);
    case ColumnKind::kInt32:
      return LogicalType::of(*api_, DUCKDB_TYPE_INTEGER);
    case ColumnKind::kDouble:
      return LogicalType::of(*api_, DUCKDB_TYPE_DOUBLE);
    case ColumnKind::kDictionary:
      return dictionary_type();
    case ColumnKind::kText:
      return LogicalType::of(*api_, DUCKDB_TYPE_VARCHAR);
    case ColumnKind::kInt64List:
      return {*api_, api_->create_list_type(LogicalType::of(*api_, DUCKDB_TYPE_BIGINT).get())};
    case ColumnKind::kTextMap:
      return {*api_, api_->create_map_type(dictionary_type().get(),
                                           LogicalType::of(*api_, DUCKDB_TYPE_VARCHAR).get())};
  }
  return LogicalType::of(*api_, DUCKDB_TYPE_INVALID);
}

// An ENUM must have a member; a column that has none is NULL throughout, and VARCHAR says that as
// well.
LogicalType VectorWriter::dictionary_type() const {
  if (dictionary_.members().empty()) return LogicalType::of(*api_, DUCKDB_TYPE_VARCHAR);
  auto members = dictionary_.members();
  return {*api_, api_->create_enum_type(members.data(), members.size())};
}

Error VectorWriter::misfit(const std::string& what) const {
  return {Code::kInvalid, "column " + def_.name + ": " + what, ""};
}

Status VectorWriter::write(const ColumnData& data, std::size_t rows, duckdb_vector vector) const {
  if (!has_values(def_.kind, data)) {
    write_nulls(rows, vector);
    return {};
  }
  if (!data.valid.empty() && data.valid.size() < rows) return misfit("too few validity bytes");
  if (!data.valid.empty()) write_validity(data.valid.first(rows), vector);
  switch (def_.kind) {
    case ColumnKind::kInt64:
      return write_numbers(data.int64s, rows, vector);
    case ColumnKind::kInt32:
      return write_numbers(data.int32s, rows, vector);
    case ColumnKind::kDouble:
      return write_numbers(data.doubles, rows, vector);
    case ColumnKind::kDictionary:
      return write_dictionary(data, rows, vector);
    case ColumnKind::kText:
      return write_texts(data, rows, vector);
    case ColumnKind::kInt64List:
      return write_list(data, rows, vector);
    case ColumnKind::kTextMap:
      return write_map(data, rows, vector);
  }
  return {};
}

template <class T>
Status VectorWriter::write_numbers(std::span<const T> values, std::size_t rows,
                                   duckdb_vector vector) const {
  if (values.size() < rows) return misfit("too few values");
  std::memcpy(api_->vector_get_data(vector), values.data(), rows * sizeof(T));
  return {};
}

Status VectorWriter::write_texts(const ColumnData& data, std::size_t rows,
                                 duckdb_vector vector) const {
  if (data.texts.size() < rows) return misfit("too few texts");
  for (std::size_t row = 0; row < rows; ++row) {
    const bool null = !data.valid.empty() && data.valid[row] == 0;
    write_text(null ? std::string_view{} : data.texts[row], row, vector);
  }
  return {};
}

void VectorWriter::write_text(std::string_view text, std::size_t row, duckdb_vector vector) const {
  if (is_valid_utf8(text)) {
    const char* bytes = text.data() != nullptr ? text.data() : "";
    api_->vector_assign_string_element_len(vector, row, bytes, text.size());
    return;
  }
  const std::string escaped = escape_invalid_utf8(text);
  api_->vector_assign_string_element_len(vector, row, escaped.data(), escaped.size());
}

Status VectorWriter::write_dictionary(const ColumnData& data, std::size_t rows,
                                      duckdb_vector vector) const {
  if (data.codes.size() < rows) return misfit("too few codes");
  const auto codes = data.codes.first(rows);
  FATHOM_TRY(write_codes(codes, vector));
  if (std::find(codes.begin(), codes.end(), kNullCode) == codes.end()) return {};
  api_->vector_ensure_validity_writable(vector);
  set_bits(api_->vector_get_validity(vector), rows, [&](std::size_t row) {
    return codes[row] != kNullCode && (data.valid.empty() || data.valid[row] != 0);
  });
  return {};
}

Status VectorWriter::write_codes(std::span<const std::uint32_t> codes, duckdb_vector vector) const {
  const auto members = dictionary_.member_of_code();
  void* out = api_->vector_get_data(vector);
  bool inside = false;
  if (code_type_ == DUCKDB_TYPE_UTINYINT) {
    inside = copy_codes<std::uint8_t>(codes, members, out);
  } else if (code_type_ == DUCKDB_TYPE_USMALLINT) {
    inside = copy_codes<std::uint16_t>(codes, members, out);
  } else if (code_type_ == DUCKDB_TYPE_UINTEGER) {
    inside = copy_codes<std::uint32_t>(codes, members, out);
  } else {  // no text at all: a VARCHAR column, whose entries must be sound even where they are
            // NULL
    inside = std::all_of(codes.begin(), codes.end(), [](auto code) { return code == kNullCode; });
    std::memset(out, 0, codes.size() * sizeof(duckdb_string_t));
  }
  if (!inside) return misfit("a code lies outside the dictionary");
  return {};
}

// Where each row's items lie in the child vector, whose first item is the run's first.
Status VectorWriter::write_entries(const ColumnData& data, std::size_t items, std::size_t rows,
                                   duckdb_vector vector) const {
  if (data.offsets.size() < rows + 1) return misfit("too few offsets");
  const auto offsets = data.offsets.first(rows + 1);
  if (!std::is_sorted(offsets.begin(), offsets.end())) return misfit("offsets go back");
  if (offsets.back() > items) return misfit("offsets beyond the items");
  auto* entries = static_cast<duckdb_list_entry*>(api_->vector_get_data(vector));
  for (std::size_t row = 0; row < rows; ++row) {
    entries[row] = {offsets[row] - offsets[0], offsets[row + 1] - offsets[row]};
  }
  const idx_t count = offsets.back() - offsets.front();
  if (api_->list_vector_reserve(vector, count) != DuckDBSuccess ||
      api_->list_vector_set_size(vector, count) != DuckDBSuccess) {
    return misfit("no memory for its items");
  }
  return {};
}

Status VectorWriter::write_list(const ColumnData& data, std::size_t rows,
                                duckdb_vector vector) const {
  FATHOM_TRY(write_entries(data, data.int64s.size(), rows, vector));
  const std::size_t begin = data.offsets[0];
  const std::size_t count = data.offsets[rows] - begin;
  return write_numbers(data.int64s.subspan(begin, count), count,
                       api_->list_vector_get_child(vector));
}

Status VectorWriter::write_map(const ColumnData& data, std::size_t rows,
                               duckdb_vector vector) const {
  FATHOM_TRY(write_entries(data, std::min(data.codes.size(), data.texts.size()), rows, vector));
  const std::size_t begin = data.offsets[0];
  const std::size_t count = data.offsets[rows] - begin;
  const auto keys = data.codes.subspan(begin, count);
  if (std::find(keys.begin(), keys.end(), kNullCode) != keys.end()) return misfit("a key is NULL");
  duckdb_vector pairs = api_->list_vector_get_child(vector);
  FATHOM_TRY(write_codes(keys, api_->struct_vector_get_child(pairs, 0)));
  duckdb_vector texts = api_->struct_vector_get_child(pairs, 1);
  for (std::size_t i = 0; i < count; ++i) write_text(data.texts[begin + i], i, texts);
  return {};
}

void VectorWriter::write_validity(std::span<const std::uint8_t> valid, duckdb_vector vector) const {
  if (std::find(valid.begin(), valid.end(), 0) == valid.end()) return;
  api_->vector_ensure_validity_writable(vector);
  set_bits(api_->vector_get_validity(vector), valid.size(),
           [&](std::size_t row) { return valid[row] != 0; });
}

// DuckDB may look at the values behind NULLs, so they must be sound: zero is, for every type that
// we write.
void VectorWriter::write_nulls(std::size_t rows, duckdb_vector vector) const {
  std::size_t width = sizeof(duckdb_string_t);
  if (def_.kind == ColumnKind::kInt64 || def_.kind == ColumnKind::kDouble) width = 8;
  if (def_.kind == ColumnKind::kInt32) width = 4;
  if (def_.kind == ColumnKind::kDictionary) {
    if (code_type_ == DUCKDB_TYPE_UTINYINT) width = 1;
    if (code_type_ == DUCKDB_TYPE_USMALLINT) width = 2;
    if (code_type_ == DUCKDB_TYPE_UINTEGER) width = 4;
  }
  std::memset(api_->vector_get_data(vector), 0, rows * width);
  api_->vector_ensure_validity_writable(vector);
  set_bits(api_->vector_get_validity(vector), rows, [](std::size_t) { return false; });
}

}  // namespace fathom::sql
