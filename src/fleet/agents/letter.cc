// SPDX-License-Identifier: MIT
// Formats and parses one file of the outbox. Its first line has the MD5 of the rest, so that a file
// cut short by a crash is recognised before it is read.
#include "fleet/agents/letter.h"

#include <array>
#include <nlohmann/json.hpp>

#include "base/hex.h"
#include "base/md5.h"
#include "fleet/row_json.h"
#include "render/json_writer.h"

namespace fathom::fleet {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kHead = "fathom-outbox 1 ";
constexpr std::size_t kSumDigits = 32;

std::string sum_of(std::string_view text) {
  const std::array<std::uint8_t, 16> sum = md5(text);
  return to_hex(sum);
}

Error damaged() { return {Code::kCorrupt, "it is not a complete file of the outbox", ""}; }

// Reads what is known to be whole; a wrong type is somebody else's file all the same.
Result<Letter> read_body(const Json& body) {
  if (!body.is_object()) return damaged();
  Letter letter;
  for (const auto& [key, text] :
       {std::pair("place", &letter.place), std::pair("job", &letter.job),
        std::pair("kind", &letter.kind), std::pair("client", &letter.id.client)}) {
    const auto found = body.find(key);
    if (found == body.end() || !found->is_string()) return damaged();
    *text = found->get<std::string>();
  }
  const auto seq = body.find("seq");
  const auto rows = body.find("rows");
  const auto records = body.find("records");
  if (seq == body.end() || !seq->is_number_unsigned()) return damaged();
  if (rows == body.end() || !rows->is_array()) return damaged();
  if (records == body.end() || !records->is_array()) return damaged();
  letter.id.seq = seq->get<std::int64_t>();
  for (const Json& row : *rows) {
    FATHOM_ASSIGN(ProfileRow read, parse_row(row.dump()));
    letter.rows.push_back(std::move(read));
  }
  for (const Json& record : *records) {
    if (!record.is_string()) return damaged();
    letter.records.push_back(record.get<std::string>());
  }
  return letter;
}

}  // namespace

std::string format_letter(const Letter& letter) {
  std::string body;
  render::JsonWriter json(body);
  json.begin_object().key("place").value(letter.place).key("job").value(letter.job);
  json.key("kind").value(letter.kind).key("client").value(letter.id.client);
  json.key("seq").value(letter.id.seq).key("records").begin_array();
  for (const std::string& record : letter.records) json.value(record);
  json.end_array().end_object();
  body.pop_back();
  body += R"(,"rows":)" + rows_json(letter.rows) + "}\n";
  return std::string(kHead) + sum_of(body) + "\n" + body;
}

Result<Letter> parse_letter(std::string_view text) {
  const std::size_t body = kHead.size() + kSumDigits + 1;
  if (!text.starts_with(kHead) || text.size() <= body || text[body - 1] != '\n') return damaged();
  if (text.substr(kHead.size(), kSumDigits) != sum_of(text.substr(body))) return damaged();
  Result<Letter> letter = read_body(Json::parse(text.substr(body), nullptr, false));
  return letter ? std::move(letter) : Result<Letter>(damaged());
}

Status deliver(JobStore& store, const Letter& letter) {
  if (letter.kind.empty()) return store.add_profile(letter.job, {letter.id, letter.rows});
  return store.add_records(letter.job, letter.kind, {letter.id, letter.records});
}

}  // namespace fathom::fleet
