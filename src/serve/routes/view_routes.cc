// SPDX-License-Identifier: MIT
// What the page shows without drawing: which recordings there are, what reports say of them, and
// how far one is that is being made.
#include <memory>
#include <utility>

#include "analysis/compare/repetitions.h"
#include "analysis/filtered_views.h"
#include "analysis/layers.h"
#include "analysis/report.h"
#include "base/text.h"
#include "base/version.h"
#include "render/json_writer.h"
#include "render/report_text.h"
#include "serve/http/long_answer.h"
#include "serve/recordings/question_end.h"
#include "serve/routes/routes.h"

namespace fathom::serve {
namespace {

using render::JsonWriter;

void write_layers(JsonWriter& json, const RecordingCard& card) {
  json.begin_array();
  for (const trace::LayerState& layer : card.layers) {
    json.begin_object().key("name").value(layer.layer).key("state").value(layer.state);
    json.key("events").value(layer.events).key("reason").value(layer.reason).end_object();
  }
  json.end_array();
}

void write_losses(JsonWriter& json, const RecordingCard& card) {
  json.begin_array();
  for (const trace::Loss& loss : card.losses) {
    json.begin_object().key("layer").value(loss.layer).key("reason").value(loss.reason);
    json.key("count").value(loss.count).end_object();
  }
  json.end_array();
}

void write_texts(JsonWriter& json, const std::vector<std::string>& texts) {
  json.begin_array();
  for (const std::string& text : texts) json.value(text);
  json.end_array();
}

void write_card(JsonWriter& json, const KnownRecording& recording, const RecordingCard& card) {
  json.begin_object().key("id").value(recording.id).key("name").value(recording.name);
  if (!recording.place.empty()) json.key("place").value(recording.place);
  if (!card.problem.empty()) json.key("problem").value(card.problem);
  write_texts(json.key("command"), card.command);
  json.key("state").value(trace::to_text(card.state));
  if (!card.state_reason.empty()) json.key("state_reason").value(card.state_reason);
  json.key("wall_ns").value(card.wall_ns ? Value(*card.wall_ns) : Value());
  if (card.exit_status) json.key("exit").value(*card.exit_status);
  if (card.overhead_ns) json.key("overhead_ns").value(*card.overhead_ns);
  if (card.runs > 1) json.key("runs").value(static_cast<std::int64_t>(card.runs));
  write_texts(json.key("hosts"), card.hosts);
  json.key("events").value(card.events);
  write_layers(json.key("layers"), card);
  write_losses(json.key("lost"), card);
  json.end_object();
}

Response compressed(const Request& request, const std::string& text) {
  LongAnswer answer(request.head);
  if (const Status added = answer.add(text); !added) return refusal(added.error());
  Result<Response> response = answer.finish();
  return response ? std::move(*response) : refusal(response.error());
}

std::string views_text() {
  std::string text;
  JsonWriter json(text);
  json.begin_array();
  for (const analysis::ViewDef* view : analysis::views()) {
    json.begin_object().key("name").value(view->name).key("help").value(view->help);
    json.key("by").begin_array();
    for (const std::string_view by : view->by) json.value(by);
    json.end_array();
    json.key("depth").value(view->has_depth).key("call").value(view->of_call).end_object();
  }
  json.end_array();
  return text + "\n";
}

Result<std::int64_t> number_of(const Request& request, const char* name) {
  const std::string text = request.asked(name);
  if (text.empty()) return std::int64_t{-1};
  Result<std::int64_t> number = parse_int(text);
  if (number && *number >= 0) return number;
  return Error{Code::kInvalid, std::string(name) + " must be a whole number from 0", ""};
}

Result<analysis::ViewOptions> options_of(const Request& request) {
  analysis::ViewOptions options;
  if (const std::string by = request.asked("by"); !by.empty()) {
    for (const std::string_view column : split(by, ',')) options.by.emplace_back(column);
  }
  FATHOM_ASSIGN(options.top, number_of(request, "top"));
  FATHOM_ASSIGN(options.depth, number_of(request, "depth"));
  options.call = request.asked("call");
  options.file = request.asked("file");
  return options;
}

class ViewRoutes {
 public:
  explicit ViewRoutes(PageSubjects page) : page_(std::move(page)) {}

  Response list(const Request& request) const {
    const Result<std::vector<KnownRecording>> known = page_.recordings->places().list();
    if (!known) return refusal(known.error());
    std::string text;
    JsonWriter json(text);
    json.begin_object().key("version").value(version()).key("mode").value(page_.mode);
    json.key("recordings").begin_array();
    for (const KnownRecording& recording : *known)
      write_card(json, recording, card_of(request, recording));
    const QuestionLimits& limits = page_.recordings->limits();
    json.end_array().key("not_shown").begin_array();
    for (const NotShown& one : page_.not_shown)
      json.begin_object().key("name").value(one.name).key("reason").value(one.reason).end_object();
    json.end_array().key("layers").begin_array();
    for (const analysis::LayerDef& layer : analysis::kLayers) {
      if (layer.light.empty()) continue;
      json.begin_object().key("name").value(layer.name).key("light").value(layer.light);
      json.key("dark").value(layer.dark).end_object();
    }
    json.end_array().key("limits").begin_object().key("rows").value(limits.rows);
    // A file has its answers inside: no question of it can take too long.
    const std::int64_t timeout_ns = page_.mode == "file" ? 0 : limits.timeout_ns;
    json.key("timeout_ms").value(timeout_ns / 1'000'000).end_object().end_object();
    return compressed(request, text + "\n");
  }

  // As `fathom report --format json` prints it.
  Response report(const Request& request) const {
    const Result<analysis::ViewOptions> options = options_of(request);
    if (!options) return refusal(options.error());
    const Result<analysis::ViewDef const*> view =
        analysis::choose_view(request.place("view"), *options);
    if (!view) return refusal(no_view(view.error(), request));
    const Result<analysis::RowFilter> filter = selection_of(request);
    if (!filter) return refusal(filter.error());
    return report_of(request, **view, *options, *filter);
  }

  Response changes(const Request& request) const {
    const Result<KnownRecording> recording =
        page_.recordings->places().find(request.asked("recording"));
    if (!recording) return refusal(recording.error());
    Response response;
    response.type = "text/event-stream";
    const auto has_ended = std::make_shared<bool>(false);
    response.ticker = [page = page_, path = recording->path,
                       has_ended]() -> std::optional<std::string> {
      if (*has_ended) return std::nullopt;
      const Growth growth = page.looks->look(path);
      *has_ended = !growth.is_running;
      return "data: " + growth_text(page, path, growth) + "\n\n";
    };
    return response;
  }

 private:
  static Error no_view(Error error, const Request& request) {
    if (analysis::choose_view(request.place("view"), {})) return error;  // an option is wrong
    error.code = Code::kNotFound;
    return error;
  }

  // One that ended without a word has to be asked how long it was.
  RecordingCard card_of(const Request& request, const KnownRecording& recording) const {
    RecordingCard card = page_.cards->card_of(recording.path);
    if (card.wall_ns || !card.problem.empty()) return card;
    const Result<RecordingLease> lease = page_.recordings->lease(request, recording.id);
    if (!lease) return card;
    if (const Result<std::int64_t> wall = lease->store().wall_ns()) card.wall_ns = *wall;
    return card;
  }

  static std::string growth_text(const PageSubjects& page, const std::string& path,
                                 const Growth& growth) {
    std::string text;
    JsonWriter json(text);
    json.begin_object();
    if (growth.is_running) {
      json.key("state").value("running").key("wall_ns").value(growth.wall_ns);
      json.key("events").value(growth.events);
    } else {
      const RecordingCard card = page.cards->card_of(path);
      json.key("state").value(trace::to_text(card.state));
      json.key("wall_ns").value(card.wall_ns ? Value(*card.wall_ns) : Value());
      json.key("events").value(card.events);
    }
    json.end_object();
    return text;
  }

  // Of repetitions one is shown, and said first.
  Response report_of(const Request& request, const analysis::ViewDef& view,
                     analysis::ViewOptions options, const analysis::RowFilter& filter) const {
    Result<KnownRecording> recording = page_.recordings->places().find(request.asked("recording"));
    if (!recording) return refusal(recording.error());
    const std::optional<analysis::Repetitions> repeated = analysis::repetitions_in(recording->path);
    if (repeated) recording->path = repeated->shown;
    const Result<std::vector<analysis::Rule>> rules = analysis::rules_for({});
    if (!rules) return refusal(rules.error());
    options.rules = *rules;
    const Result<RecordingLease> lease =
        page_.recordings->lease_part(request, *recording, filter, view.of_positions);
    if (!lease) return refused_lease(lease.error());
    Result<analysis::Report> report = analysis::report_shown(
        lease->store(), view, options, shown_part(*recording, filter), lease->part_words());
    if (!report) return lease->refused(report.error());
    if (repeated) report->words.insert(report->words.begin(), repeated->words);
    return compressed(request, render::report_text(*report, render::Format::kJson, {}));
  }

  PageSubjects page_;
};

}  // namespace

void add_page_data_routes(Router& router, const PageSubjects& page) {
  add_view_routes(router, page);
  add_query_routes(router, *page.recordings);
  add_diff_route(router, *page.recordings);
  add_canvas_routes(router, *page.recordings);
}

void add_view_routes(Router& router, const PageSubjects& page) {
  const ViewRoutes routes(page);
  const auto add = [&](std::string_view path, std::vector<std::string_view> takes, auto handler) {
    router.add({"GET", path, Role::kRead, std::move(handler), {}, std::move(takes)});
  };
  add("/api/v1/page", {}, [=](Request& r) { return routes.list(r); });
  add("/api/v1/views", {}, [](Request& r) { return compressed(r, views_text()); });
  add("/api/v1/report/{view}", parameters("by top depth call file", kSelection),
      [=](Request& r) { return routes.report(r); });
  add("/api/v1/changes", parameters("recording"), [=](Request& r) { return routes.changes(r); });
}

}  // namespace fathom::serve
