// SPDX-License-Identifier: MIT
// Batches come in bulk and are read in one pass by simdjson; what is rare is read by nlohmann-json.
// Both check UTF-8 and syntax of everything that they pass over, and nothing is skipped unread.
#include "serve/http/json_input.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "base/escape.h"
#include "base/text.h"
#include "base/utf8.h"
#include "serve/http/json_check.h"

namespace fathom::serve {
namespace {

namespace od = simdjson::ondemand;
using fleet::ProfileBatch;
using fleet::ProfileRow;
using fleet::RecordBatch;

constexpr std::size_t kLongestClient = 256;
constexpr std::size_t kLongestInfo = std::size_t{1} << 20;
constexpr std::string_view kWholeNumber = "must be a whole number from 0 to 9223372036854775807";

Error wrong(std::string message) { return {Code::kInvalid, std::move(message), ""}; }

// Reads one batch: the document, and where in it we are.
// Fields may come in any order, each once: a bit for each says which have been seen. Errors name
// the byte, since whoever sends ten thousand rows has to find the one.
class BatchReader {
 public:
  explicit BatchReader(std::string& text) : text_(text) {
    text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  }

  // `list` is the field with the items, and `read_items` reads its array.
  template <class ReadItems>
  Status read(fleet::BatchId& id, std::string_view list, ReadItems read_items) {
    if (parser_.iterate(text_.data(), text_.size(), text_.capacity()).get(document_) !=
        simdjson::SUCCESS)
      return wrong("the body is not JSON in UTF-8");
    od::object object;
    if (document_.get_object().get(object) != simdjson::SUCCESS)
      return at_here("the body must be an object");
    unsigned seen = 0;
    for (auto field : object) {
      FATHOM_ASSIGN(const std::string_view key, key_of(field));
      od::value value;
      if (field.value().get(value) != simdjson::SUCCESS) return not_json();
      const unsigned bit = key == "client" ? 1U : key == "seq" ? 2U : key == list ? 4U : 0U;
      FATHOM_TRY(check_new(bit, seen, std::string(key)));
      if (bit == 1U) FATHOM_TRY(text_of(value, id.client, "client"));
      if (bit == 2U) FATHOM_TRY(number_of(value, id.seq, "seq"));
      if (bit == 4U) FATHOM_TRY(read_items(value));
      seen |= bit;
    }
    if (seen != 7U) return missing(seen, list);
    if (id.client.size() > kLongestClient) return wrong("client must have at most 256 bytes");
    const char* behind = nullptr;  // an error at the end
    return document_.current_location().get(behind) != simdjson::SUCCESS
               ? Status()
               : at_here("something follows the object");
  }

  // A row: four fields, in any order.
  Status read_row(od::value value, ProfileRow& row, std::size_t index) {
    const auto place = [&](std::string_view key) { return fmt::format("rows[{}].{}", index, key); };
    od::object object;
    if (value.get_object().get(object) != simdjson::SUCCESS)
      return at_here(fmt::format("rows[{}] must be an object", index));
    unsigned seen = 0;
    for (auto field : object) {
      FATHOM_ASSIGN(const std::string_view key, key_of(field));
      od::value inner;
      if (field.value().get(inner) != simdjson::SUCCESS) return not_json();
      const unsigned bit = bit_of_row(key);
      if (bit == 0 || (seen & bit) != 0) return check_new(bit, seen, place(key));
      seen |= bit;
      Status read;
      if (bit == 1U) read = text_of(inner, row.node, "node");
      if (bit == 2U) read = text_of(inner, row.exec, "exec");
      if (bit == 4U) read = text_of(inner, row.event, "event");
      if (bit == 8U) read = number_of(inner, row.count, "count");
      if (!read) return std::move(read).error().with(fmt::format("rows[{}]", index));
    }
    if (seen == 15U) return {};
    return at_here(fmt::format("rows[{}] lacks {}", index, row_field(~seen)));
  }

  Result<std::string_view> object_text(od::value value, std::string_view place) {
    od::object object;
    if (value.get_object().get(object) != simdjson::SUCCESS)
      return at_here(fmt::format("{} must be an object", place));
    std::string_view raw;
    if (object.raw_json().get(raw) != simdjson::SUCCESS) return not_json();
    return trim(raw);
  }

  Error at_here(std::string message) {
    const char* place = nullptr;
    if (document_.current_location().get(place) != simdjson::SUCCESS) return wrong(message);
    return wrong(fmt::format("{} (byte {})", message, place - text_.data()));
  }
  Error not_json() { return at_here("the body is not JSON"); }

 private:
  template <class Field>
  Result<std::string_view> key_of(Field& field) {
    std::string_view key;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS) return not_json();
    return key;
  }

  Status text_of(od::value value, std::string& out, std::string_view place) {
    std::string_view text;
    const simdjson::error_code error = value.get_string().get(text);
    // A half surrogate, written as an escape, comes out as bytes that are no UTF-8.
    if (error == simdjson::SUCCESS && is_valid_utf8(text)) {
      out = text;
      return {};
    }
    return at_here(fmt::format("{} must be a text in UTF-8", place));
  }

  Status number_of(od::value value, std::int64_t& out, std::string_view place) {
    if (value.get_int64().get(out) == simdjson::SUCCESS && out >= 0) return {};
    return at_here(fmt::format("{} {}", place, kWholeNumber));
  }

  Status check_new(unsigned bit, unsigned seen, const std::string& place) {
    if (bit == 0) return at_here(fmt::format("there is no field '{}'", escape_name(place)));
    if ((seen & bit) != 0) return at_here(fmt::format("{} is given twice", place));
    return {};
  }

  Error missing(unsigned seen, std::string_view list) {
    const std::string_view name = (seen & 1U) == 0 ? "client" : (seen & 2U) == 0 ? "seq" : list;
    return wrong(fmt::format("the body lacks {}", name));
  }

  static unsigned bit_of_row(std::string_view key) {
    if (key == "node") return 1;
    if (key == "exec") return 2;
    if (key == "event") return 4;
    return key == "count" ? 8 : 0;
  }
  static std::string_view row_field(unsigned bits) {
    if ((bits & 1U) != 0) return "node";
    if ((bits & 2U) != 0) return "exec";
    return (bits & 4U) != 0 ? "event" : "count";
  }

  std::string& text_;
  od::parser parser_;
  od::document document_;
};

// One of the few objects that people write by hand.
Result<nlohmann::json> parse_object(const std::string& text) {
  FATHOM_TRY(check_json(text));
  nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return wrong("the body must be an object");
  return json;
}

Result<std::string> text_in(const nlohmann::json& json, const char* key, const char* otherwise) {
  const auto found = json.find(key);
  if (found == json.end() && otherwise != nullptr) return std::string(otherwise);
  if (found == json.end()) return wrong(fmt::format("the body lacks {}", key));
  if (!found->is_string()) return wrong(fmt::format("{} must be a text", key));
  return found->get<std::string>();
}

Status check_keys(const nlohmann::json& json, std::initializer_list<std::string_view> known) {
  for (const auto& item : json.items()) {
    if (std::ranges::find(known, item.key()) == known.end())
      return wrong(fmt::format("there is no field '{}'", escape_name(item.key())));
  }
  return {};
}

}  // namespace

Result<ProfileBatch> read_profile_batch(std::string& text) {
  ProfileBatch batch;
  BatchReader reader(text);
  const auto read_rows = [&](od::value value) -> Status {
    od::array rows;
    if (value.get_array().get(rows) != simdjson::SUCCESS)
      return reader.at_here("rows must be an array");
    for (auto item : rows) {
      od::value row;
      if (item.get(row) != simdjson::SUCCESS) return reader.not_json();
      batch.rows.emplace_back();
      FATHOM_TRY(reader.read_row(row, batch.rows.back(), batch.rows.size() - 1));
    }
    return {};
  };
  FATHOM_TRY(reader.read(batch.id, "rows", read_rows));
  return batch;
}

Result<RecordBatch> read_record_batch(std::string& text) {
  RecordBatch batch;
  BatchReader reader(text);
  const auto read_records = [&](od::value value) -> Status {
    od::array records;
    if (value.get_array().get(records) != simdjson::SUCCESS)
      return reader.at_here("records must be an array");
    for (auto item : records) {
      const std::string place = fmt::format("records[{}]", batch.records.size());
      od::value record;
      if (item.get(record) != simdjson::SUCCESS) return reader.not_json();
      FATHOM_ASSIGN(const std::string_view raw, reader.object_text(record, place));
      if (Status checked = check_json(raw); !checked) return std::move(checked).error().with(place);
      batch.records.emplace_back(raw);
    }
    return {};
  };
  FATHOM_TRY(reader.read(batch.id, "records", read_records));
  return batch;
}

Result<fleet::Job> read_job(const std::string& text) {
  FATHOM_ASSIGN(const nlohmann::json json, parse_object(text));
  FATHOM_TRY(check_keys(json, {"name", "info"}));
  fleet::Job job;
  FATHOM_ASSIGN(job.name, text_in(json, "name", nullptr));
  FATHOM_ASSIGN(job.info, text_in(json, "info", ""));
  if (job.info.size() > kLongestInfo) return wrong("info must have at most 1 MB");
  return job;
}

Result<fleet::RecordKind> read_kind(const std::string& text) {
  FATHOM_ASSIGN(const nlohmann::json json, parse_object(text));
  FATHOM_TRY(check_keys(json, {"name", "schema"}));
  fleet::RecordKind kind;
  FATHOM_ASSIGN(kind.name, text_in(json, "name", nullptr));
  const auto schema = json.find("schema");
  if (schema == json.end()) return wrong("the body lacks schema");
  kind.schema = schema->dump();
  return kind;
}

Result<AskedQuery> read_query(const std::string& text) {
  FATHOM_ASSIGN(const nlohmann::json json, parse_object(text));
  FATHOM_TRY(check_keys(json, {"recording", "sql", "limit"}));
  AskedQuery query;
  FATHOM_ASSIGN(query.recording, text_in(json, "recording", ""));
  FATHOM_ASSIGN(query.sql, text_in(json, "sql", nullptr));
  const auto limit = json.find("limit");
  if (limit == json.end()) return query;
  if (!limit->is_number_integer() || *limit < 0)
    return wrong("limit must be a whole number from 0");
  if (limit->is_number_unsigned() && *limit > std::uint64_t{INT64_MAX})
    return wrong("limit must be a whole number up to 9223372036854775807");
  query.limit = limit->get<std::int64_t>();
  return query;
}

Result<std::string> read_what(const std::string& text) {
  FATHOM_ASSIGN(const nlohmann::json json, parse_object(text));
  FATHOM_TRY(check_keys(json, {"what"}));
  return text_in(json, "what", nullptr);
}

}  // namespace fathom::serve
