// SPDX-License-Identifier: MIT
// One reader for each column, made once, so that DuckDB's type is looked at once and not for each
// value. Integers stay exact: no value passes through a double.
#include "sql/value_reader.h"

#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "base/utf8.h"

namespace fathom::sql {

namespace {

Value exact(std::uint64_t value) {
  if (value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return static_cast<std::int64_t>(value);
  }
  return value;
}

// Short texts lie in the value itself, longer ones elsewhere.
std::string_view view(const duckdb_string_t& text) {
  constexpr std::uint32_t kInlined = sizeof text.value.inlined.inlined;
  const std::uint32_t length = text.value.inlined.length;
  return {length <= kInlined ? text.value.inlined.inlined : text.value.pointer.ptr, length};
}

// A key of a JSON object, whatever type the map's key has.
std::string key_text(const Value& key) {
  if (const auto* text = std::get_if<std::string>(&key.data)) return *text;
  if (const auto* number = std::get_if<std::int64_t>(&key.data)) return std::to_string(*number);
  if (const auto* number = std::get_if<std::uint64_t>(&key.data)) return std::to_string(*number);
  if (const auto* number = std::get_if<double>(&key.data)) return std::to_string(*number);
  if (const auto* yes = std::get_if<bool>(&key.data)) return *yes ? "true" : "false";
  return "";
}

}  // namespace

ValueReader::ValueReader(const DuckdbApi& api, LogicalType type)
    : api_(&api), type_(std::move(type)), id_(api.get_type_id(type_.get())) {}

Result<ValueReader> ValueReader::make(const DuckdbApi& api, LogicalType type) {
  ValueReader reader(api, std::move(type));
  FATHOM_TRY(reader.make_children());
  return reader;
}

Status ValueReader::make_children() {
  switch (id_) {
    case DUCKDB_TYPE_LIST:
      return add_child("", api_->list_type_child_type(type_.get()));
    case DUCKDB_TYPE_ARRAY:
      return add_child("", api_->array_type_child_type(type_.get()));
    case DUCKDB_TYPE_MAP:
      FATHOM_TRY(add_child("", api_->map_type_key_type(type_.get())));
      return add_child("", api_->map_type_value_type(type_.get()));
    case DUCKDB_TYPE_STRUCT:
      for (idx_t i = 0; i < api_->struct_type_child_count(type_.get()); ++i) {
        const std::string name = take_text(*api_, api_->struct_type_child_name(type_.get(), i));
        FATHOM_TRY(add_child(name, api_->struct_type_child_type(type_.get(), i)));
      }
      return {};
    case DUCKDB_TYPE_INVALID:
    case DUCKDB_TYPE_UNION:
    case DUCKDB_TYPE_BIGNUM:
      return Error{Code::kUnsupported, "a column has a type that cannot be shown",
                   "cast it in the query: CAST(column AS VARCHAR)"};
    default:
      return {};
  }
}

Status ValueReader::add_child(const std::string& name, duckdb_logical_type type) {
  FATHOM_ASSIGN(ValueReader child, make(*api_, LogicalType(*api_, type)));
  names_.push_back(name);
  children_.push_back(std::move(child));
  return {};
}

// For each chunk: vectors move, types do not.
void ValueReader::attach(duckdb_vector vector) {
  data_ = api_->vector_get_data(vector);
  validity_ = api_->vector_get_validity(vector);
  if (id_ == DUCKDB_TYPE_LIST) {
    children_[0].attach(api_->list_vector_get_child(vector));
  } else if (id_ == DUCKDB_TYPE_ARRAY) {
    children_[0].attach(api_->array_vector_get_child(vector));
  } else if (id_ == DUCKDB_TYPE_MAP) {
    duckdb_vector pairs = api_->list_vector_get_child(vector);
    children_[0].attach(api_->struct_vector_get_child(pairs, 0));
    children_[1].attach(api_->struct_vector_get_child(pairs, 1));
  } else if (id_ == DUCKDB_TYPE_STRUCT) {
    for (idx_t i = 0; i < children_.size(); ++i) {
      children_[i].attach(api_->struct_vector_get_child(vector, i));
    }
  }
}

Value ValueReader::read(idx_t row) const {
  constexpr unsigned kWordBits = 64;
  if (validity_ != nullptr && ((validity_[row / kWordBits] >> (row % kWordBits)) & 1U) == 0)
    return {};
  return read_scalar(row);
}

Value ValueReader::read_scalar(idx_t row) const {
  switch (id_) {
    case DUCKDB_TYPE_SQLNULL:
      return {};
    case DUCKDB_TYPE_BOOLEAN:
      return at<bool>(row);
    case DUCKDB_TYPE_TINYINT:
      return std::int64_t{at<std::int8_t>(row)};
    case DUCKDB_TYPE_SMALLINT:
      return std::int64_t{at<std::int16_t>(row)};
    case DUCKDB_TYPE_INTEGER:
      return std::int64_t{at<std::int32_t>(row)};
    case DUCKDB_TYPE_BIGINT:
      return at<std::int64_t>(row);
    case DUCKDB_TYPE_UTINYINT:
      return std::int64_t{at<std::uint8_t>(row)};
    case DUCKDB_TYPE_USMALLINT:
      return std::int64_t{at<std::uint16_t>(row)};
    case DUCKDB_TYPE_UINTEGER:
      return std::int64_t{at<std::uint32_t>(row)};
    case DUCKDB_TYPE_UBIGINT:
      return exact(at<std::uint64_t>(row));
    case DUCKDB_TYPE_FLOAT:
      return static_cast<double>(at<float>(row));
    case DUCKDB_TYPE_DOUBLE:
      return at<double>(row);
    case DUCKDB_TYPE_VARCHAR:
      return std::string(text(row));
    default:
      return read_nested(row);
  }
}

Value ValueReader::read_nested(idx_t row) const {
  switch (id_) {
    case DUCKDB_TYPE_LIST: {
      const auto entry = at<duckdb_list_entry>(row);
      return read_list(entry.offset, entry.length);
    }
    case DUCKDB_TYPE_ARRAY: {
      const idx_t length = api_->array_type_array_size(type_.get());
      return read_list(row * length, length);
    }
    case DUCKDB_TYPE_MAP: {
      const auto entry = at<duckdb_list_entry>(row);
      return read_map(entry.offset, entry.length);
    }
    case DUCKDB_TYPE_STRUCT:
      return read_struct(row);
    case DUCKDB_TYPE_ENUM:
      return read_enum(row);
    case DUCKDB_TYPE_BLOB:
      return read_blob(row);
    case DUCKDB_TYPE_DECIMAL:
      return read_decimal(row);
    case DUCKDB_TYPE_HUGEINT: {
      const auto number = at<duckdb_hugeint>(row);
      if (number.upper == 0) return exact(number.lower);
      // A negative number that 64 bits hold.
      const bool fits = number.upper == -1 && (number.lower >> 63U) == 1;
      return fits ? Value(static_cast<std::int64_t>(number.lower)) : read_by_text(row);
    }
    case DUCKDB_TYPE_UHUGEINT: {
      const auto number = at<duckdb_uhugeint>(row);
      return number.upper == 0 ? exact(number.lower) : read_by_text(row);
    }
    default:
      return read_by_text(row);
  }
}

List ValueReader::read_list(idx_t begin, idx_t length) const {
  List items;
  items.reserve(length);
  for (idx_t i = 0; i < length; ++i) items.push_back(children_[0].read(begin + i));
  return items;
}

Object ValueReader::read_map(idx_t begin, idx_t length) const {
  Object object;
  object.reserve(length);
  for (idx_t i = begin; i < begin + length; ++i) {
    object.emplace_back(key_text(children_[0].read(i)), children_[1].read(i));
  }
  return object;
}

Object ValueReader::read_struct(idx_t row) const {
  Object object;
  object.reserve(children_.size());
  for (std::size_t i = 0; i < children_.size(); ++i) {
    object.emplace_back(names_[i], children_[i].read(row));
  }
  return object;
}

std::string_view ValueReader::text(idx_t row) const {
  return view(static_cast<const duckdb_string_t*>(data_)[row]);
}

Value ValueReader::read_blob(idx_t row) const {
  std::string out;
  for (const char c : text(row)) {
    const bool printable = c >= ' ' && c <= '~' && c != '\\';
    if (printable) {
      out += c;
    } else {
      append_escaped_byte(out, static_cast<unsigned char>(c));
    }
  }
  return out;
}

Value ValueReader::read_enum(idx_t row) const {
  idx_t member = 0;
  const duckdb_type width = api_->enum_internal_type(type_.get());
  if (width == DUCKDB_TYPE_UTINYINT) {
    member = at<std::uint8_t>(row);
  } else if (width == DUCKDB_TYPE_USMALLINT) {
    member = at<std::uint16_t>(row);
  } else {
    member = at<std::uint32_t>(row);
  }
  return take_text(*api_, api_->enum_dictionary_value(type_.get(), member));
}

}  // namespace fathom::sql
