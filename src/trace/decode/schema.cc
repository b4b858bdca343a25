// SPDX-License-Identifier: MIT
// Parses the schema text strictly and with limits: it comes from the traced process and decides how
// each of its records is read.
#include "trace/decode/schema.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace fathom::trace {
namespace {

// More than any source of ours has by far; a text that has more is not one of a library.
constexpr std::size_t kMaxFields = 24;
constexpr std::size_t kMaxText = 256;
constexpr std::uint32_t kMaxError = 1u << 20;

Error bad_line(std::size_t line, std::string_view what) {
  return {Code::kCorrupt, "schema line " + std::to_string(line) + ": " + std::string(what), ""};
}

bool parse_number(std::string_view text, std::uint32_t most, std::uint32_t& value) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failure == std::errc() && end == text.data() + text.size() && value <= most;
}

// arg:KEY:TYPE, and arg:KEY:choice:A,B,…
bool parse_argument(std::string_view text, Field& field) {
  constexpr std::pair<std::string_view, FieldKind> kTypes[] = {
      {"int", FieldKind::kArgInt},       {"path", FieldKind::kArgPath},
      {"text", FieldKind::kArgText},     {"flag", FieldKind::kArgFlag},
      {"choice", FieldKind::kArgChoice}, {"extent", FieldKind::kArgExtent}};
  const std::vector<std::string_view> parts = split(text, ':');
  if (parts.size() < 3 || parts[0] != "arg" || parts[1].empty()) return false;
  const bool chooses = parts[2] == "choice";
  if (parts.size() != (chooses ? 4u : 3u)) return false;
  const auto* const type =
      std::ranges::find(kTypes, parts[2], &std::pair<std::string_view, FieldKind>::first);
  if (type == std::end(kTypes)) return false;
  field = {type->second, std::string(parts[1])};
  if (chooses) {
    for (const std::string_view choice : split(parts[3], ',')) field.choices.emplace_back(choice);
  }
  return true;
}

bool parse_field(std::string_view text, Field& field) {
  constexpr std::pair<std::string_view, FieldKind> kPlain[] = {
      {"fd", FieldKind::kFd},
      {"file", FieldKind::kFile},
      {"offset", FieldKind::kOffset},
      {"size", FieldKind::kSize},
      {"item", FieldKind::kItem},
      {"ret", FieldKind::kRet},
      {"bytes", FieldKind::kBytes},
      {"site", FieldKind::kSite},
      {"device", FieldKind::kDevice},
      {"stream", FieldKind::kStream},
      {"name", FieldKind::kName},
      {"lag", FieldKind::kLag},
      {"correlation", FieldKind::kCorrelation}};
  for (const auto& [name, kind] : kPlain) {
    if (text != name) continue;
    field.kind = kind;
    return true;
  }
  return parse_argument(text, field);
}

bool parse_flags(std::string_view text, EventKind& kind) {
  if (text == "-" || text.empty()) return true;
  for (const std::string_view flag : split(text, ',')) {
    if (flag == "bytes") {
      kind.ret_is_bytes = true;
    } else if (flag == "position") {
      kind.uses_position = true;
    } else if (flag == "moves") {
      kind.moves = true;
    } else if (flag == "apart") {
      kind.threadless = true;
    } else if (flag == "arguments") {
      kind.takes_arguments = true;
    } else if (flag.starts_with("errors=") && flag.size() > 7) {
      kind.errors = flag.substr(7);
    } else {
      return false;
    }
  }
  return true;
}

// The counts let a reader pass over a record without knowing what its fields mean (skip_fields).
Status parse_fields(std::string_view text, std::size_t line, EventKind& kind) {
  for (const std::string_view word : split(text, ' ')) {
    if (word.empty() || word == "-") continue;
    Field field;
    if (!parse_field(word, field)) return bad_line(line, "unknown field");
    if (field.kind == FieldKind::kFd || field.kind == FieldKind::kFile) kind.file_fields++;
    if (field.kind == FieldKind::kRet) kind.ret_fields++;
    kind.numbers += field.kind == FieldKind::kArgExtent ? 3 : 1;
    kind.fields.push_back(std::move(field));
  }
  if (kind.fields.size() > kMaxFields) return bad_line(line, "too many fields");
  return {};
}

// error SET NUMBER NAME
Result<ErrorName> parse_error(std::string_view text, std::size_t line) {
  const std::vector<std::string_view> cells = split(text, '\t');
  ErrorName error;
  if (cells.size() != 4 || cells[1].empty() || cells[3].empty() || cells[3].size() > kMaxText ||
      !parse_number(cells[2], kMaxError, error.number)) {
    return bad_line(line, "bad name of an error");
  }
  error.set = cells[1];
  error.name = cells[3];
  return error;
}

Result<EventKind> parse_line(std::string_view text, std::size_t line) {
  const std::vector<std::string_view> cells = split(text, '\t');
  if (cells.size() < 7) return bad_line(line, "too few columns");
  EventKind kind;
  std::uint32_t number = 0;
  if (!parse_number(cells[0], FATHOM_KIND_MASK, number) || number < FATHOM_KIND_FIRST) {
    return bad_line(line, "bad kind");
  }
  kind.kind = static_cast<std::uint16_t>(number);
  if (!parse_number(cells[1], FATHOM_KIND_MASK, kind.source)) return bad_line(line, "bad source");
  for (std::size_t i = 2; i < 6; i++) {
    if (cells[i].size() > kMaxText) return bad_line(line, "text too long");
  }
  if (cells[2].empty() || cells[3].empty()) return bad_line(line, "no layer or no name");
  kind.layer = cells[2];
  kind.name = cells[3];
  kind.entry = cells[4];
  kind.category = cells[5] == "-" ? std::string_view() : cells[5];
  if (!parse_flags(cells[6], kind)) return bad_line(line, "unknown flag");
  for (std::size_t i = 7; i < cells.size(); i++) FATHOM_TRY(parse_fields(cells[i], line, kind));
  return kind;
}

}  // namespace

Result<Schema> Schema::parse(std::string_view text) {
  Schema schema;
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    number++;
    if (line.empty() || line.front() == '#' || line.starts_with("kind\t")) continue;
    if (line.starts_with("error\t")) {
      FATHOM_ASSIGN(ErrorName error, parse_error(line, number));
      schema.errors_.push_back(std::move(error));
      continue;
    }
    FATHOM_ASSIGN(EventKind kind, parse_line(line, number));
    if (schema.index_[kind.kind] != 0) return bad_line(number, "kind declared twice");
    schema.kinds_.push_back(std::move(kind));
    schema.index_[schema.kinds_.back().kind] = static_cast<std::uint16_t>(schema.kinds_.size());
  }
  return schema;
}

std::uint64_t fnv1a(std::string_view bytes) {
  std::uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (const char byte : bytes)
    hash = (hash ^ static_cast<unsigned char>(byte)) * UINT64_C(0x100000001b3);
  return hash;
}

}  // namespace fathom::trace
