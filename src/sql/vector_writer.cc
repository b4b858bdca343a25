// SPDX-License-Identifier: MIT
// The counterpart of value_reader.cc. Values behind NULLs are set to zero, because DuckDB may look
// at them.
#include "sql/vector_writer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/utf8.h"

namespace fathom::sql {

namespace {

constexpr std::size_t kWordBits = 64;

// out[i] = member of codes[i], 0 for NULL.
template <class T>
void copy_codes(std::span<const std::uint32_t> codes, std::span<const std::uint32_t> member_of_code,
                void* vector_data) {
  T* out = static_cast<T*>(vector_data);
  for (const std::uint32_t code : codes) {
    *out++ = code == kNullCode ? T{0} : static_cast<T>(member_of_code[code]);
  }
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

Status VectorWriter::write(const ColumnData& data, std::size_t rows, duckdb_vector vector) const {
  if (!has_values(def_.kind, data)) {
    write_nulls(rows, vector);
    return {};
  }
  FATHOM_TRY(check_fit(def_, data, rows));
  if (!data.valid.empty()) write_validity(data.valid.first(rows), vector);
  switch (def_.kind) {
    case ColumnKind::kInt64:
      write_numbers(data.int64s.first(rows), vector);
      return {};
    case ColumnKind::kInt32:
      write_numbers(data.int32s.first(rows), vector);
      return {};
    case ColumnKind::kDouble:
      write_numbers(data.doubles.first(rows), vector);
      return {};
    case ColumnKind::kDictionary:
      write_dictionary(data, rows, vector);
      return {};
    case ColumnKind::kText:
      write_texts(data, rows, vector);
      return {};
    case ColumnKind::kInt64List:
      return write_list(data, rows, vector);
    case ColumnKind::kTextMap:
      return write_map(data, rows, vector);
  }
  return {};
}

template <class T>
void VectorWriter::write_numbers(std::span<const T> values, duckdb_vector vector) const {
  std::memcpy(api_->vector_get_data(vector), values.data(), values.size_bytes());
}

void VectorWriter::write_texts(const ColumnData& data, std::size_t rows,
                               duckdb_vector vector) const {
  for (std::size_t row = 0; row < rows; ++row) {
    const bool null = !data.valid.empty() && data.valid[row] == 0;
    write_text(null ? std::string_view{} : data.texts[row], row, vector);
  }
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

void VectorWriter::write_dictionary(const ColumnData& data, std::size_t rows,
                                    duckdb_vector vector) const {
  const auto codes = data.codes.first(rows);
  write_codes(codes, vector);
  if (std::find(codes.begin(), codes.end(), kNullCode) == codes.end()) return;
  api_->vector_ensure_validity_writable(vector);
  set_bits(api_->vector_get_validity(vector), rows, [&](std::size_t row) {
    return codes[row] != kNullCode && (data.valid.empty() || data.valid[row] != 0);
  });
}

void VectorWriter::write_codes(std::span<const std::uint32_t> codes, duckdb_vector vector) const {
  const auto members = dictionary_.member_of_code();
  void* out = api_->vector_get_data(vector);
  if (code_type_ == DUCKDB_TYPE_UTINYINT) {
    copy_codes<std::uint8_t>(codes, members, out);
  } else if (code_type_ == DUCKDB_TYPE_USMALLINT) {
    copy_codes<std::uint16_t>(codes, members, out);
  } else if (code_type_ == DUCKDB_TYPE_UINTEGER) {
    copy_codes<std::uint32_t>(codes, members, out);
  } else {  // no text at all: a VARCHAR column, whose entries must be sound even where they are
            // NULL
    std::memset(out, 0, codes.size() * sizeof(duckdb_string_t));
  }
}

// Where each row's items lie in the child vector, whose first item is the run's first.
Status VectorWriter::write_entries(const ColumnData& data, std::size_t rows,
                                   duckdb_vector vector) const {
  const auto offsets = data.offsets.first(rows + 1);
  auto* entries = static_cast<duckdb_list_entry*>(api_->vector_get_data(vector));
  for (std::size_t row = 0; row < rows; ++row) {
    entries[row] = {offsets[row] - offsets[0], offsets[row + 1] - offsets[row]};
  }
  const idx_t count = offsets.back() - offsets.front();
  if (api_->list_vector_reserve(vector, count) != DuckDBSuccess ||
      api_->list_vector_set_size(vector, count) != DuckDBSuccess) {
    return Error{Code::kInvalid, "column " + def_.name + ": no memory for its items", ""};
  }
  return {};
}

Status VectorWriter::write_list(const ColumnData& data, std::size_t rows,
                                duckdb_vector vector) const {
  FATHOM_TRY(write_entries(data, rows, vector));
  const std::size_t begin = data.offsets[0];
  write_numbers(data.int64s.subspan(begin, data.offsets[rows] - begin),
                api_->list_vector_get_child(vector));
  return {};
}

Status VectorWriter::write_map(const ColumnData& data, std::size_t rows,
                               duckdb_vector vector) const {
  FATHOM_TRY(write_entries(data, rows, vector));
  const std::size_t begin = data.offsets[0];
  const std::size_t count = data.offsets[rows] - begin;
  duckdb_vector pairs = api_->list_vector_get_child(vector);
  write_codes(data.codes.subspan(begin, count), api_->struct_vector_get_child(pairs, 0));
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
