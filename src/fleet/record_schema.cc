// SPDX-License-Identifier: MIT
// A part of JSON Schema that is enough for records of benchmarks, checked when a schema is
// registered and when records arrive. A word that is not known is refused when the schema comes,
// since a check that is passed over is one that somebody relies on. Recursion has the schema's
// depth, which is limited, so a record cannot exhaust the stack.
#include "fleet/record_schema.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/text.h"
#include "base/utf8.h"

namespace fathom::fleet {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostSchemaBytes = std::size_t{1} << 20;
constexpr int kMostDepth = 64;

constexpr std::string_view kTypes[] = {"object",  "array",   "string", "number",
                                       "integer", "boolean", "null"};
// For readers of the schema.
constexpr std::string_view kWithoutMeaning[] = {"$schema",     "$id",     "$comment", "title",
                                                "description", "default", "examples", "deprecated"};

Error wrong(const std::string& place, const std::string& what) {
  return {Code::kInvalid, (place.empty() ? "" : place + ": ") + what, ""};
}

std::string below(const std::string& place, std::string_view name) {
  return place + "/" + escape_control(name.substr(0, 100));
}

bool is_type(const Json& value) {
  return value.is_string() &&
         std::ranges::find(kTypes, value.get_ref<const std::string&>()) != std::end(kTypes);
}

Status check_types(const Json& value, const std::string& place) {
  const bool known =
      value.is_array() ? !value.empty() && std::ranges::all_of(value, is_type) : is_type(value);
  return known ? Status() : wrong(place, "it has to be one of JSON's types");
}

Status check_names(const Json& value, const std::string& place) {
  const bool texts = value.is_array() &&
                     std::ranges::all_of(value, [](const Json& one) { return one.is_string(); });
  return texts ? Status() : wrong(place, "it has to be a list of texts");
}

Status check_schema(const Json& schema, const std::string& place, int depth);

Status check_properties(const Json& value, const std::string& place, int depth) {
  if (!value.is_object()) return wrong(place, "it has to be an object");
  for (const auto& [name, inner] : value.items())
    FATHOM_TRY(check_schema(inner, below(place, name), depth + 1));
  return {};
}

Status check_word(const std::string& word, const Json& value, const std::string& place, int depth) {
  if (word == "type") return check_types(value, place);
  if (word == "required") return check_names(value, place);
  if (word == "properties") return check_properties(value, place, depth);
  if (word == "items" || word == "additionalProperties")
    return check_schema(value, place, depth + 1);
  if (word == "const") return {};
  if (word == "enum") return value.is_array() ? Status() : wrong(place, "it has to be a list");
  if (word == "minimum" || word == "maximum" || word == "exclusiveMinimum" ||
      word == "exclusiveMaximum")
    return value.is_number() ? Status() : wrong(place, "it has to be a number");
  if (word == "minItems" || word == "maxItems" || word == "minLength" || word == "maxLength")
    return value.is_number_unsigned() ? Status() : wrong(place, "it has to be a whole number");
  if (std::ranges::find(kWithoutMeaning, word) != std::end(kWithoutMeaning)) return {};
  return wrong(place, "this keyword of JSON Schema is not supported");
}

Status check_schema(const Json& schema, const std::string& place, int depth) {
  if (depth > kMostDepth) return wrong(place, "the schema is nested too deeply");
  if (schema.is_boolean()) return {};
  if (!schema.is_object()) return wrong(place, "a schema has to be an object, true or false");
  for (const auto& [word, value] : schema.items())
    FATHOM_TRY(check_word(word, value, below(place, word), depth));
  return {};
}

bool has_type(const Json& value, const std::string& type) {
  if (type == "integer")
    return value.is_number_integer() ||
           (value.is_number_float() && value.get<double>() == std::trunc(value.get<double>()));
  if (type == "number") return value.is_number();
  return type == value.type_name();
}

bool has_one_of(const Json& value, const Json& types) {
  if (types.is_string()) return has_type(value, types.get_ref<const std::string&>());
  return std::ranges::any_of(
      types, [&](const Json& type) { return has_type(value, type.get_ref<const std::string&>()); });
}

// As the standard counts: characters, not bytes.
std::size_t letters(const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); at += code_point_at(text, at).length) ++count;
  return count;
}

// A word of the schema, if it is there.
const Json* find(const Json& schema, const char* word) {
  const auto found = schema.find(word);
  return found == schema.end() ? nullptr : &*found;
}

Status check_number(const Json& schema, const Json& value, const std::string& place) {
  const Json* const least = find(schema, "minimum");
  const Json* const most = find(schema, "maximum");
  const Json* const above = find(schema, "exclusiveMinimum");
  const Json* const under = find(schema, "exclusiveMaximum");
  if ((least != nullptr && value < *least) || (above != nullptr && value <= *above))
    return wrong(place, "the number is too small");
  if ((most != nullptr && value > *most) || (under != nullptr && value >= *under))
    return wrong(place, "the number is too large");
  return {};
}

Status check_size(const Json& schema, std::size_t size, const char* least, const char* most,
                  const std::string& place) {
  const Json* const least_value = find(schema, least);
  const Json* const most_value = find(schema, most);
  if (least_value != nullptr && size < least_value->get<std::size_t>())
    return wrong(place, "it is too short");
  if (most_value != nullptr && size > most_value->get<std::size_t>())
    return wrong(place, "it is too long");
  return {};
}

Status check_value(const Json& schema, const Json& value, const std::string& place);

Status check_members(const Json& schema, const Json& value, const std::string& place) {
  if (const Json* const required = find(schema, "required")) {
    for (const Json& name : *required) {
      if (!value.contains(name.get_ref<const std::string&>()))
        return wrong(place, "'" + escape_control(name.get<std::string>()) + "' is missing");
    }
  }
  const Json* const known = find(schema, "properties");
  const Json* const others = find(schema, "additionalProperties");
  for (const auto& [name, member] : value.items()) {
    const std::string inner = below(place, name);
    if (known != nullptr && known->contains(name)) {
      FATHOM_TRY(check_value((*known)[name], member, inner));
    } else if (others != nullptr) {
      FATHOM_TRY(check_value(*others, member, inner));
    }
  }
  return {};
}

Status check_items(const Json& schema, const Json& value, const std::string& place) {
  FATHOM_TRY(check_size(schema, value.size(), "minItems", "maxItems", place));
  const Json* const items = find(schema, "items");
  if (items == nullptr) return {};
  for (std::size_t i = 0; i < value.size(); ++i)
    FATHOM_TRY(check_value(*items, value[i], below(place, std::to_string(i))));
  return {};
}

// As deep as the schema at most, which is bounded.
Status check_value(const Json& schema, const Json& value, const std::string& place) {
  if (schema.is_boolean())
    return schema.get<bool>() ? Status() : wrong(place, "it is not allowed here");
  const Json* const types = find(schema, "type");
  if (types != nullptr && !has_one_of(value, *types))
    return wrong(place, "it has to be of type " + types->dump());
  const Json* const fixed = find(schema, "const");
  if (fixed != nullptr && value != *fixed) return wrong(place, "it has to be " + fixed->dump());
  const Json* const choice = find(schema, "enum");
  if (choice != nullptr && std::ranges::find(*choice, value) == choice->end())
    return wrong(place, "it has to be one of " + choice->dump());
  if (value.is_number()) return check_number(schema, value, place);
  if (value.is_string())
    return check_size(schema, letters(value.get_ref<const std::string&>()), "minLength",
                      "maxLength", place);
  if (value.is_array()) return check_items(schema, value, place);
  return value.is_object() ? check_members(schema, value, place) : Status();
}

}  // namespace

struct RecordSchema::Document {
  Json json;
};

Result<RecordSchema> RecordSchema::parse(std::string_view text) {
  if (text.size() > kMostSchemaBytes) return wrong("", "the schema is larger than 1 MiB");
  Document document{Json::parse(text, nullptr, false)};
  if (document.json.is_discarded()) return wrong("", "the schema is not JSON");
  FATHOM_TRY(check_schema(document.json, "", 0));
  return RecordSchema(std::make_shared<const Document>(std::move(document)));
}

Status RecordSchema::check(std::string_view record) const {
  const Json value = Json::parse(record, nullptr, false);
  if (!value.is_object()) return wrong("", "a record has to be an object of JSON");
  return check_value(document_->json, value, "");
}

}  // namespace fathom::fleet
