// SPDX-License-Identifier: MIT
// The one form of a profile's row in JSON: lines that a job is given and files of the outbox use
// these functions, so that both refuse the same rows.
#include "fleet/row_json.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "render/json_writer.h"

namespace fathom::fleet {
namespace {

using Json = nlohmann::json;

Error wrong(const std::string& what) { return {Code::kInvalid, what, ""}; }

Status read_text(const Json& object, const char* key, std::string& text) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string())
    return wrong(std::string("'") + key + "' has to be a text");
  text = found->get<std::string>();
  return {};
}

}  // namespace

Result<ProfileRow> parse_row(std::string_view json) {
  const Json object = Json::parse(json, nullptr, false);
  if (!object.is_object()) return wrong("a row has to be an object of JSON");
  ProfileRow row;
  FATHOM_TRY(read_text(object, "node", row.node));
  FATHOM_TRY(read_text(object, "exec", row.exec));
  FATHOM_TRY(read_text(object, "event", row.event));
  const auto count = object.find("count");
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (count == object.end() || !count->is_number_unsigned() || count->get<std::uint64_t>() > kMost)
    return wrong("'count' has to be a whole number from 0 to 2^63-1");
  row.count = count->get<std::int64_t>();
  return row;
}

std::string rows_json(const std::vector<ProfileRow>& rows) {
  std::string text;
  render::JsonWriter json(text);
  json.begin_array();
  for (const ProfileRow& row : rows) {
    json.begin_object().key("node").value(row.node).key("exec").value(row.exec);
    json.key("event").value(row.event).key("count").value(row.count).end_object();
  }
  json.end_array();
  return text;
}

}  // namespace fathom::fleet
