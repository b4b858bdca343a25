// SPDX-License-Identifier: MIT
// A request and its answer, as routes see them: plain values, no socket and no library behind them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.h"
#include "fleet/http/http_head.h"

namespace fathom::serve {

// What a token lets its owner do. Each may what stands before it, too.
enum class Role { kNobody, kRead, kSubmit, kAdmin };

using Header = fleet::HttpHeader;
using Head = fleet::HttpHead;  // of a request
using fleet::same_letters;
using fleet::status_words;

struct Response;

// The route that answers it has it for itself. `body` is text as it came: JSON in it is not checked
// yet.
struct Request {
  Head head;
  std::string body;                           // decompressed
  std::map<std::string, std::string> places;  // what stood for {job} in the path
  std::map<std::string, std::string> query;
  Role role = Role::kNobody;  // of who asks
  bool has_key = false;       // and has shown a token, or the page's key beside its cookie
  // Becomes true when the client goes away or the server stops: nobody waits for the answer.
  std::shared_ptr<const std::atomic<bool>> gone = {};
  // Of CLOCK_MONOTONIC, for all questions of a request that asks several; nullopt: each has the
  // whole limit of time.
  std::optional<std::int64_t> deadline_ns = {};
  // Answers the client in place of a question that goes on though it was to end. Any thread.
  std::function<void(Response)> answer_instead = {};

  // "" where the query has none of that name.
  [[nodiscard]] std::string asked(const std::string& name) const;
  // The value of a place of the route's own path.
  [[nodiscard]] const std::string& place(const std::string& name) const { return places.at(name); }
};

// What is sent back: a text, or a range of a file, which is read as fast as the client takes it.
struct Body {
  std::string text;
  std::shared_ptr<const File> file;
  std::uint64_t offset = 0;  // in the file
  std::uint64_t length = 0;

  [[nodiscard]] std::uint64_t size() const { return file ? length : text.size(); }
};

// An answer without an end: asked for its next text again and again. nullopt: it has ended.
using Ticker = std::function<std::optional<std::string>()>;

struct Response {
  int status = 200;
  std::string type = "application/json";
  std::vector<Header> headers = {};
  Body body = {};
  Ticker ticker = {};       // instead of a body
  bool closes = false;      // the connection cannot be used any more
  std::string reason = {};  // of a refusal, for /metrics
};

// Takes a body as it comes, where it may be too long for the memory. One thread at a time. Gone
// without finish(): the client is, too.
class BodySink {
 public:
  virtual ~BodySink() = default;
  virtual Status write(std::string_view bytes) = 0;
  virtual Response finish() = 0;

 protected:
  BodySink() = default;
  BodySink(const BodySink&) = default;
  BodySink& operator=(const BodySink&) = default;
};

// {"error": "what is wrong"}, with the hint behind a semicolon.
[[nodiscard]] Response refusal(int status, std::string_view what, std::string reason = {});
// The status that fits the code.
[[nodiscard]] Response refusal(const Error& error);
[[nodiscard]] Response json_response(std::string text, int status = 200);

}  // namespace fathom::serve
