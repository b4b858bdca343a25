// SPDX-License-Identifier: MIT
// Somebody's SQL, judged as `fathom sql` judges it, and what it may name.
#include <algorithm>
#include <map>
#include <utility>

#include "analysis/report.h"
#include "analysis/walk/made_tables.h"
#include "base/clock.h"
#include "base/text.h"
#include "render/json_writer.h"
#include "serve/http/json_input.h"
#include "serve/http/long_answer.h"
#include "serve/recordings/question_end.h"
#include "serve/routes/column_help.h"
#include "serve/routes/routes.h"

namespace fathom::serve {
namespace {

using render::JsonWriter;

constexpr std::size_t kLongestStatement = std::size_t{1} << 20;
constexpr std::uint64_t kLargestAnswer = std::uint64_t{256} << 20;  // 413
constexpr std::int64_t kExact = std::int64_t{1} << 53;  // what a number of JavaScript holds exactly

void write_cell(JsonWriter& json, const Value& value);

// Numbers that JavaScript would round are texts: the page shows their digits, and nobody computes
// with them unawares.
struct CellWriter {
  JsonWriter* json;

  void operator()(std::int64_t number) const {
    if (number > kExact || number < -kExact) {
      json->value(std::to_string(number));
    } else {
      json->value(number);
    }
  }
  void operator()(std::uint64_t number) const { json->value(std::to_string(number)); }
  void operator()(const List& list) const {
    json->begin_array();
    for (const Value& item : list) write_cell(*json, item);
    json->end_array();
  }
  void operator()(const Object& object) const {
    json->begin_object();
    for (const auto& [name, item] : object) write_cell(json->key(name), item);
    json->end_object();
  }
  void operator()(std::monostate /*null*/) const { json->null(); }
  void operator()(bool yes) const { json->value(yes); }
  void operator()(double number) const { json->value(number); }
  void operator()(const std::string& text) const { json->value(text); }
};

void write_cell(JsonWriter& json, const Value& value) { std::visit(CellWriter{&json}, value.data); }

// The types of a statement's columns, by their place. Empty where it cannot be asked so.
std::vector<std::string> column_types(analysis::Store& store, std::string_view sql) {
  while (!sql.empty() && (sql.back() == ';' || sql.back() == ' ' || sql.back() == '\n'))
    sql.remove_suffix(1);
  const Result<Table> described =
      store.query_untrusted("SELECT column_type FROM (DESCRIBE\n" + std::string(sql) + "\n)");
  std::vector<std::string> types;
  if (!described) return types;
  for (const auto& row : described->rows) {
    const auto* type = std::get_if<std::string>(&row[0].data);
    types.push_back(type == nullptr ? "" : *type);
  }
  return types;
}

// Rows as they come, until there are enough.
// Too many rows end the query and are no error; too many bytes are one (413), since a row may be of
// any size and there is no good place to cut.
class RowsAnswer {
 public:
  RowsAnswer(const Head& head, std::vector<std::string> types, std::int64_t limit)
      : answer_(head), types_(std::move(types)), left_(limit) {}

  Status take(const Table& part) {
    if (!begun_) begin(part);
    for (const auto& row : part.rows) {
      if (left_ == 0) {
        is_cut_ = true;
        return Error{Code::kInvalid, "enough", ""};  // ends the query; told to nobody
      }
      --left_;
      json_.begin_array();
      for (const Value& cell : row) write_cell(json_, cell);
      json_.end_array();
      FATHOM_TRY(pass_on());
    }
    return {};
  }

  Result<Response> finish(std::int64_t elapsed_ns) {
    json_.end_array().key("truncated").value(is_cut_).key("elapsed_ns").value(elapsed_ns);
    json_.end_object();
    text_ += '\n';
    FATHOM_TRY(pass_on());
    return answer_.finish();
  }

  [[nodiscard]] bool is_cut() const { return is_cut_; }
  [[nodiscard]] bool is_too_large() const { return size_ > kLargestAnswer; }

 private:
  void begin(const Table& part) {
    begun_ = true;
    if (types_.size() != part.columns.size()) types_.assign(part.columns.size(), "");
    json_.begin_object().key("columns").begin_array();
    for (std::size_t i = 0; i < types_.size(); ++i) {
      json_.begin_object().key("name").value(part.columns[i].name);
      json_.key("type").value(types_[i]).end_object();
    }
    json_.end_array().key("rows").begin_array();
  }

  Status pass_on() {
    size_ += text_.size();
    if (is_too_large()) return Error{Code::kFull, "the answer is larger than 256 MiB", ""};
    FATHOM_TRY(answer_.add(text_));
    text_.clear();
    return {};
  }

  LongAnswer answer_;
  std::vector<std::string> types_;
  std::int64_t left_;
  std::string text_;
  JsonWriter json_{text_};
  std::uint64_t size_ = 0;
  bool begun_ = false;
  bool is_cut_ = false;
};

Response query(const Request& request, OpenRecordings& recordings) {
  const Result<AskedQuery> asked = read_query(request.body);
  if (!asked) return refusal(asked.error());
  if (asked->sql.size() > kLongestStatement)
    return refusal(413, "the statement is longer than 1 MiB");
  const Result<RecordingLease> lease = recordings.lease(request, asked->recording);
  if (!lease) return refused_lease(lease.error());
  const std::int64_t most = recordings.limits().rows;
  const std::int64_t limit = asked->limit < 0 ? most : std::min(asked->limit, most);
  const std::int64_t begin = now_monotonic_ns();
  RowsAnswer rows(request.head, column_types(lease->store(), asked->sql), limit);
  const Status done = lease->store().stream_untrusted(
      asked->sql, [&](const Table& part) { return rows.take(part); });
  if (rows.is_too_large())
    return refusal(413, "the answer is larger than 256 MiB; ask for fewer rows", "answer size");
  if (!done && !rows.is_cut()) return lease->refused(done.error());
  Result<Response> response = rows.finish(now_monotonic_ns() - begin);
  return response ? std::move(*response) : refusal(response.error());
}

std::string_view help_of(std::string_view name) {
  for (const analysis::ViewDef* view : analysis::views()) {
    const std::string_view sql_name = name_in_sql(view);
    if (sql_name == name) return view->help;
  }
  return "";
}

Response schema(const Request& request, OpenRecordings& recordings) {
  const Result<RecordingLease> lease = recordings.lease(request);
  if (!lease) return refused_lease(lease.error());
  const Result<Table> columns = lease->store().query_untrusted(
      "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE NOT internal "
      "AND database_name = 'memory' AND schema_name = 'main' ORDER BY table_name, column_index");
  if (!columns) return lease->refused(columns.error());
  std::map<std::string, std::vector<const std::vector<Value>*>> views;
  const auto text_in = [](const Value& cell) -> std::string {
    const auto* text = std::get_if<std::string>(&cell.data);
    return text == nullptr ? "" : *text;
  };
  for (const auto& row : columns->rows) {
    if (!analysis::is_made_table(text_in(row[0]))) views[text_in(row[0])].push_back(&row);
  }
  std::string text;
  JsonWriter json(text);
  json.begin_array();
  for (const auto& [view, rows] : views) {
    json.begin_object().key("view").value(view).key("help").value(help_of(view));
    json.key("columns").begin_array();
    for (const std::vector<Value>* row : rows) {
      json.begin_object().key("name").value(text_in((*row)[1]));
      json.key("type").value(text_in((*row)[2]));
      json.key("help").value(column_help(view, text_in((*row)[1]))).end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
  return json_response(text + "\n");
}

}  // namespace

void add_query_routes(Router& router, OpenRecordings& recordings) {
  router.add({"POST",
              "/api/v1/query",
              Role::kRead,
              [&recordings](Request& r) { return query(r, recordings); },
              {},
              parameters("")});
  router.add({"GET",
              "/api/v1/schema",
              Role::kRead,
              [&recordings](Request& r) { return schema(r, recordings); },
              {},
              parameters("recording")});
}

}  // namespace fathom::serve
