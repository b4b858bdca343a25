// SPDX-License-Identifier: MIT
// The data of a page without a server, as JSON for an element of the document: the answers of the
// routes to what web/questions.json lists, and pictures at the detail for which there is room.
//
//   {"recording": "run.fathom", "is_part": false,
//    "answers": [{"asked": "/report/overview", "status": 200, "answer": {…}}, …],
//    "statements": {"calls": {…}, …},              as /query answers
//    "timeline": {"level": 12, "left_out": 0, "windows": [{…}, …]}}     as /timeline answers
//
// What does not fit is told by name: an answer of status 413, or a number of tracks left out.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "render/export/byte_sink.h"
#include "serve/page/inside_site.h"

namespace fathom::serve {

// Bytes of text, in all: what a mail may carry.
inline constexpr std::size_t kMostPageData = std::size_t{4} << 20;

// What a reader without scripts is told.
struct PageWords {
  std::string title;
  std::vector<std::string> words;
  std::vector<std::pair<std::string, std::string>> facts;
};

// One thread at a time. `site` must outlive it; `recording` and `questions` are copied.
class PageData {
 public:
  // `questions` is web/questions.json.
  PageData(InsideSite& site, const KnownRecording& recording, std::string_view questions);
  ~PageData();
  PageData(const PageData&) = delete;
  PageData& operator=(const PageData&) = delete;

  // Asks what the words come from. Before write().
  Result<PageWords> words();
  // No < in it: no name can end the element that it stands in.
  Status write(render::SinkBuffer& to);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace fathom::serve
