// SPDX-License-Identifier: MIT
// Builds the same router as the server does, with one recording and a token of its own. While an
// index is being made it asks again, because nobody else would.
#include "serve/page/inside_site.h"

#include <chrono>
#include <thread>
#include <utility>

#include "base/ids.h"
#include "render/json_writer.h"
#include "serve/http/tokens.h"

namespace fathom::serve {
namespace {

using namespace std::chrono_literals;

constexpr auto kAskAgain = 100ms;

class OnePlace : public RecordingPlaces {
 public:
  // The document goes to others, whom our folders do not concern.
  explicit OnePlace(KnownRecording recording) : recording_(std::move(recording)) {
    recording_.place.clear();
  }
  Result<std::vector<KnownRecording>> list() override { return std::vector{recording_}; }
  Result<KnownRecording> find(const std::string& /*id*/) override { return recording_; }

 private:
  KnownRecording recording_;
};

Result<std::string> text_of(const Body& body) {
  return body.file ? body.file->read_range(body.offset, body.length) : Result(body.text);
}

}  // namespace

struct InsideSite::State {
  explicit State(const InsideWish& wish)
      : gone(wish.gone),
        places(wish.recording),
        recordings(places, wish.names, wish.limits),
        cards(wish.names),
        looks(wish.names) {
    add_page_data_routes(router, {&recordings, &cards, &looks, "file"});
  }

  std::shared_ptr<const std::atomic<bool>> gone;
  OnePlace places;
  OpenRecordings recordings;
  RecordingCards cards;
  LiveLooks looks;
  std::string token = random_id();
  TokenBook tokens{"", token};
  Metrics metrics;
  Router router{tokens, metrics, {}};
};

InsideSite::InsideSite(const InsideWish& wish) : state_(std::make_unique<State>(wish)) {}
InsideSite::~InsideSite() = default;

Result<InsideSite::Answer> InsideSite::ask(const std::string& method, const std::string& target,
                                           const std::string& body) {
  for (;;) {
    const Response response = state_->router.answer(
        {method, "/api/v1" + target, {{"Authorization", "Bearer " + state_->token}}}, body,
        state_->gone);
    if (state_->gone && *state_->gone)
      return Error{Code::kUnavailable, "the client no longer waits for the file", ""};
    FATHOM_ASSIGN(std::string text, text_of(response.body));
    while (text.ends_with('\n')) text.pop_back();
    if (response.status == 200 || text.find(kIndexIsBeingMade) == std::string::npos)
      return Answer{response.status, std::move(text)};
    std::this_thread::sleep_for(kAskAgain);
  }
}

Result<InsideSite::Answer> InsideSite::get(const std::string& target) {
  return ask("GET", target, "");
}

Result<InsideSite::Answer> InsideSite::query(const std::string& sql) {
  std::string body;
  render::JsonWriter(body).begin_object().key("sql").value(sql).end_object();
  return ask("POST", "/query", body);
}

}  // namespace fathom::serve
