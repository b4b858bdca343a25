// SPDX-License-Identifier: MIT
// One answer is in memory at a time. What can be asked for in less detail is, until it fits into
// its share; the order is that of worth.
#include "serve/page/page_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "analysis/report.h"
#include "base/text.h"
#include "fleet/http/encodings.h"
#include "serve/page/data_text.h"
#include "serve/page/page_timeline.h"
#include "serve/page/statement_text.h"

namespace fathom::serve {
namespace {

using nlohmann::json;
using Answer = InsideSite::Answer;

constexpr std::size_t kKilo = 1024;
constexpr std::size_t kMostOfReports = 800 * kKilo;
constexpr std::size_t kMostOfStatement = 400 * kKilo;
constexpr std::size_t kMostOfFlames = 800 * kKilo;
constexpr std::size_t kMostOfHeatMaps = 300 * kKilo;
constexpr std::size_t kMostOfExplained = 150 * kKilo;
constexpr std::size_t kMostOfOffsets = 200 * kKilo;
constexpr std::size_t kLeastOfTimeline = 700 * kKilo;  // however much the rest takes

constexpr std::size_t kMostEvents = 8;  // sampled ones, as weights of flame graphs
constexpr std::size_t kCallsExplained = 12;
constexpr std::size_t kFilesShown = 8;
// Of the statement `counters`: lines that it may have, and points of all lines for a bin of one.
constexpr char kMostCounterLines[] = "1000";
constexpr int kPointsOfBin = 80;
// Each heat map reads all events: of more than these, only the usual ones are asked for.
constexpr std::int64_t kManyEvents = 2'000'000;

// How finely something is asked for, the finest first.
using Details = std::span<const std::string_view>;
constexpr std::string_view kPlain[] = {""};
constexpr std::string_view kTops[] = {"top=1000", "top=100"};
constexpr std::string_view kShares[] = {"&min=0.0002", "&min=0.001", "&min=0.005", "&min=0.02",
                                        "&min=0.1"};
constexpr std::string_view kHeats[] = {"&bins=240&top=64", "&bins=240&top=16", "&bins=60&top=16",
                                       "&bins=60&top=4"};
constexpr std::string_view kPlaces[] = {"&bins=200", "&bins=100&offset_bins=32",
                                        "&bins=50&offset_bins=16"};

constexpr char kOverview[] = "/report/overview";
constexpr std::string_view kWhere = " where ";
constexpr std::int64_t kPlaceBins = 100;  // as in web/src/logic/places.ts
constexpr char kTooLarge[] =
    R"({"error":"this answer is too large for the file; fathom view shows it"})";

json parsed(const std::string& text) { return json::parse(text, nullptr, /*exceptions=*/false); }

std::string text_in(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::int64_t number_in(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<std::int64_t>() : 0;
}

// The first column of a statement's rows, as far as it is text.
std::vector<std::string> first_texts(const Answer& answer, std::size_t most) {
  std::vector<std::string> texts;
  const json table = parsed(answer.text);
  if (!table.is_object() || !table.contains("rows")) return texts;
  for (const json& row : table["rows"]) {
    if (texts.size() < most && row.is_array() && !row.empty() && row[0].is_string())
      texts.push_back(row[0].get<std::string>());
  }
  return texts;
}

Error refused(const std::string& what, const Answer& answer) {
  const std::string reason = text_in(parsed(answer.text), "error");
  return {Code::kIo, what + ": " + (reason.empty() ? "no answer" : reason), ""};
}

}  // namespace

class PageData::State {
 public:
  State(InsideSite& site, KnownRecording recording, std::string_view questions)
      : site_(site),
        recording_(std::move(recording)),
        questions_(json::parse(questions, nullptr, /*exceptions=*/false)) {}

  Result<PageWords> words() {
    FATHOM_ASSIGN(page_, site_.get("/page"));
    FATHOM_ASSIGN(overview_, site_.get(kOverview));
    if (overview_.status != 200) return refused("the report", overview_);
    const json page = parsed(page_.text);
    if (page_.status != 200 || !page.contains("recordings") || page["recordings"].empty())
      return refused("the recording", page_);
    const json& card = page["recordings"][0];
    wall_ns_ = std::max<std::int64_t>(number_in(card, "wall_ns"), 1);
    events_ = number_in(card, "events");
    return said(card, parsed(overview_.text));
  }

  Status write(render::SinkBuffer& buffer) {
    DataText to(buffer);
    to_ = &to;
    FATHOM_TRY(to.put(fmt::format(R"({{"recording":{},"is_part":{},"answers":[)",
                                  json_text(recording_.name), recording_.part.any())));
    FATHOM_TRY(put_answer("/page", page_));
    FATHOM_TRY(put_reports());
    FATHOM_TRY(ask_statements());
    FATHOM_TRY(ask_places());
    FATHOM_TRY(put_flames());
    FATHOM_TRY(put_heat_maps());
    FATHOM_TRY(put_explained());
    FATHOM_TRY(put_offsets());
    // The index is there: flame graphs of calls waited for it.
    FATHOM_ASSIGN(const Answer tracks, site_.get("/tracks"));
    FATHOM_TRY(put_answer("/tracks", tracks));
    FATHOM_TRY(put_statements());
    PageTimeline timeline(site_, wall_ns_);
    timeline.take(tracks);
    const std::size_t left = kMostPageData - std::min(kMostPageData, to.bytes());
    FATHOM_TRY(to.put(R"(,"timeline":)"));
    FATHOM_TRY(timeline.write(to, std::max(left, kLeastOfTimeline)));
    return to.put("}");
  }

 private:
  [[nodiscard]] PageWords said(const json& card, const json& overview) const {
    PageWords out;
    if (recording_.part.any()) out.words.emplace_back(analysis::kOfPart);
    if (overview.is_object() && overview.contains("words")) {
      for (const json& sentence : overview["words"]) out.words.push_back(text_in(sentence, "text"));
    }
    std::vector<std::string> command, hosts, lost;
    for (const json& word : card["command"]) command.push_back(word.get<std::string>());
    for (const json& host : card["hosts"]) hosts.push_back(host.get<std::string>());
    for (const json& loss : card["lost"])
      lost.push_back(std::to_string(number_in(loss, "count")) + " " + text_in(loss, "reason"));
    out.title = command.empty() ? recording_.name : join(command, " ");
    out.facts = {
        {"Command", join(command, " ")},   {"Recording", recording_.name},
        {"State", text_in(card, "state")}, {"Duration", human_ns(static_cast<double>(wall_ns_))},
        {"Hosts", join(hosts, ", ")},      {"Lost", lost.empty() ? "nothing" : join(lost, ", ")}};
    return out;
  }

  Status put_answer(const std::string& asked, const Answer& answer) {
    FATHOM_TRY(to_->put(fmt::format(R"({}{{"asked":{},"status":{},"answer":)",
                                    std::exchange(comma_, ","), json_text(asked), answer.status)));
    FATHOM_TRY(to_->put(answer.text));
    return to_->put("}");
  }

  // What several questions have together: each may take its share of what those before it left.
  struct Room {
    std::size_t end = 0;
    std::size_t others = 0;
  };
  [[nodiscard]] Room room(std::size_t most, std::size_t questions) const {
    return {to_->bytes() + most, questions};
  }

  // The first of these, from the finest on, whose answer fits.
  Result<Answer> ask_within(Room& room, const std::string& asked, Details details) {
    const std::size_t left = room.end - std::min(room.end, to_->bytes());
    const std::size_t most = left / std::max<std::size_t>(room.others--, 1);
    for (const std::string_view detail : details) {
      FATHOM_ASSIGN(Answer answer, site_.get(asked + std::string(detail)));
      if (answer.text.size() <= most) return answer;
    }
    return Answer{413, kTooLarge};
  }
  Status put_within(Room& room, const std::string& asked, Details details) {
    FATHOM_ASSIGN(const Answer answer, ask_within(room, asked, details));
    return put_answer(asked, answer);
  }

  Status put_reports() {
    if (!questions_.is_object() || !questions_.contains("reports"))
      return Error{Code::kCorrupt, "the page's questions.json lists no reports", ""};
    Room left = room(kMostOfReports, questions_["reports"].size());
    for (const json& one : questions_["reports"]) {
      const auto asked = one["asked"].get<std::string>();
      if (asked == kOverview) {  // is there already
        FATHOM_TRY(put_answer(asked, overview_));
      } else {
        const char* const joint = asked.find('?') == std::string::npos ? "?" : "&";
        const bool fewer = one["top"].get<bool>();
        FATHOM_ASSIGN(const Answer answer, ask_within(left, fewer ? asked + joint : asked,
                                                      fewer ? Details(kTops) : Details(kPlain)));
        FATHOM_TRY(put_answer(asked, answer));
      }
    }
    return {};
  }

  [[nodiscard]] Result<std::string> statement(const std::string& name,
                                              const StatementValues& values) const {
    const auto all = questions_.find("statements");
    return statement_text(all == questions_.end() ? "" : text_in(*all, name.c_str()), values);
  }
  Result<Answer> ask(const std::string& name, const StatementValues& values = {}) {
    FATHOM_ASSIGN(const std::string text, statement(name, values));
    return site_.query(text);
  }

  // When the rows of a rule's place ("events where …") took how much time, as the page asks a
  // server.
  Result<json> place_rows(const std::string& said) {
    const std::size_t where = said.find(kWhere);
    StatementValues values = {{"from", "0"}, {"to", std::to_string(wall_ns_)}};
    values["width"] =
        std::to_string(std::max<std::int64_t>(1, (wall_ns_ + kPlaceBins - 1) / kPlaceBins));
    values["where"] = said.substr(where + kWhere.size());
    FATHOM_ASSIGN(const std::string rows, statement("rows_of_" + said.substr(0, where), values));
    values["rows"] = "(" + rows + ")";
    FATHOM_ASSIGN(const Answer answer, ask("busiest", values));
    const json table = parsed(answer.text);
    return answer.status == 200 && table.is_object() && table.contains("rows") ? table["rows"]
                                                                               : json::array();
  }

  // Of all places that insights name: rows of the statement `busiest`, each after what its rule
  // says. Each place reads all events: of a very long recording they are not there.
  Status ask_places() {
    if (is_large()) return {};
    json all = json::array();
    const json overview = parsed(overview_.text);
    for (const json& insight : overview.value("insights", json::array())) {
      const std::string said = text_in(insight, "place");
      if (said.find(kWhere) == std::string::npos) continue;
      FATHOM_ASSIGN(const json rows, place_rows(said));
      for (json row : rows) {
        row.insert(row.begin(), said);
        all.push_back(std::move(row));
      }
    }
    const json table = {{"columns", json::array()},
                        {"rows", std::move(all)},
                        {"truncated", false},
                        {"elapsed_ns", 0}};
    statements_["busiest"] = {200, table.dump(-1, ' ', false, json::error_handler_t::replace)};
    return {};
  }

  Status ask_statements() {
    for (const char* name :
         {"event_count", "sampled_events", "region_events", "calls", "file_times"}) {
      FATHOM_ASSIGN(statements_[name], ask(name));
    }
    // Of everything: lists that select nothing.
    StatementValues values = {{"from", "0"},   {"to", std::to_string(wall_ns_)},
                              {"hosts", "[]"}, {"pids", "[]"},
                              {"tids", "[]"},  {"layers", "[]"}};
    values["lines"] = kMostCounterLines;
    for (const int bins : {600, 200, 60, 10}) {
      values["bins"] = std::to_string(bins);
      values["points"] = std::to_string(bins * kPointsOfBin);
      FATHOM_ASSIGN(statements_["counters"], ask("counters", values));
      if (statements_["counters"].text.size() <= kMostOfStatement) return {};
    }
    statements_["counters"] = {413, kTooLarge};
    return {};
  }

  Status put_statements() {
    FATHOM_TRY(to_->put(R"(],"statements":{)"));
    const char* comma = "";
    for (const auto& [name, answer] : statements_) {
      const bool is_there = answer.status == 200 && answer.text.size() <= kMostOfStatement;
      FATHOM_TRY(to_->put(fmt::format(R"({}{}:)", std::exchange(comma, ","), json_text(name))));
      FATHOM_TRY(to_->put(is_there ? answer.text : "null"));
    }
    return to_->put("}");
  }

  Status put_flames() {
    std::vector<std::string> weights = {"time", "cpu", "offcpu", "bytes", "calls"};
    for (std::string& event : first_texts(statements_["sampled_events"], kMostEvents))
      weights.push_back(std::move(event));
    for (const std::string& event : first_texts(statements_["region_events"], kMostEvents))
      weights.push_back("region:" + event);
    constexpr std::string_view kOrders[] = {"&invert=0", "&invert=1", "&order=time&invert=0"};
    Room left = room(kMostOfFlames, std::size(kOrders) * weights.size());
    for (const std::string_view order : kOrders) {
      for (const std::string& weight : weights) {
        const std::string asked =
            "/flame?weight=" + fleet::encode_segment(weight) + std::string(order);
        FATHOM_TRY(put_within(left, asked, kShares));
      }
    }
    return {};
  }

  [[nodiscard]] bool is_large() const { return events_ > kManyEvents; }

  // Where no call was made, there is nothing else to tell of calls.
  Status put_heat_maps() {
    static constexpr std::pair<const char*, const char*> kKinds[] = {
        {"calls", "all"},   {"bytes", "all"},   {"time", "all"},
        {"calls", "read"},  {"bytes", "read"},  {"time", "read"},
        {"calls", "write"}, {"bytes", "write"}, {"time", "write"}};
    const std::span kinds(kKinds, is_large() ? 2 : std::size(kKinds));
    Room left = room(kMostOfHeatMaps, 4 * kinds.size());
    for (const char* rows : {"thread", "process", "rank", "file"}) {
      Answer answer;
      for (const auto& [what, category] : kinds) {
        const std::string asked =
            fmt::format("/heatmap?rows={}&what={}&category={}", rows, what, category);
        if (answer.text.find(R"("rows":[])") == std::string::npos) {
          FATHOM_ASSIGN(answer, ask_within(left, asked, kHeats));
        }
        FATHOM_TRY(put_answer(asked, answer));
      }
    }
    return {};
  }

  Status put_explained() {
    if (is_large()) return {};
    Room left = room(kMostOfExplained, kCallsExplained);
    for (const std::string& call : first_texts(statements_["calls"], kCallsExplained))
      FATHOM_TRY(put_within(left, "/report/explain?call=" + fleet::encode_segment(call), kPlain));
    return {};
  }

  Status put_offsets() {
    if (is_large()) return {};
    Room left = room(kMostOfOffsets, kFilesShown);
    for (const std::string& file : first_texts(statements_["file_times"], kFilesShown))
      FATHOM_TRY(put_within(left, "/offsets?file=" + fleet::encode_segment(file), kPlaces));
    return {};
  }

  InsideSite& site_;
  KnownRecording recording_;
  json questions_;
  DataText* to_ = nullptr;
  const char* comma_ = "";
  Answer page_, overview_;
  std::map<std::string, Answer> statements_;
  std::int64_t wall_ns_ = 1, events_ = 0;
};

PageData::PageData(InsideSite& site, const KnownRecording& recording, std::string_view questions)
    : state_(std::make_unique<State>(site, recording, questions)) {}
PageData::~PageData() = default;
Result<PageWords> PageData::words() { return state_->words(); }
Status PageData::write(render::SinkBuffer& to) { return state_->write(to); }

}  // namespace fathom::serve
