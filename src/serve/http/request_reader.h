// SPDX-License-Identifier: MIT
// Bytes of a connection become requests. No socket: whoever has bytes feeds them, be it a
// connection, a test or a fuzzer.
//
//   head            feed() until it is whole
//   head is done    welcome_body(), or give up
//   body            feed() until it is whole; take_body() may take what has come so far
//   done            take_body(), next(): what came beyond is the beginning of the next request
//   refused         nothing more is read
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "fleet/http/request_head.h"
#include "serve/http/http.h"
#include "serve/http/limits.h"

namespace fathom::serve {

using fleet::RequestHead;

// One thread at a time. No call fails: what cannot be understood is in stage kRefused.
class RequestReader {
 public:
  enum class Stage { kHead, kHeadDone, kBody, kDone, kRefused };

  explicit RequestReader(const Limits& limits);
  ~RequestReader();
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  void feed(std::string_view bytes);
  void welcome_body(std::uint64_t most);  // refused (413) where it is larger
  void next();

  [[nodiscard]] Stage stage() const { return stage_; }
  [[nodiscard]] bool has_begun() const { return !buffer_.empty(); }  // a request, in stage kHead
  [[nodiscard]] const RequestHead& request() const { return request_; }
  [[nodiscard]] std::size_t body_size() const { return text_.size(); }  // what was not taken yet
  [[nodiscard]] std::string take_body();
  // In stage kRefused. `speaks_old_wire()`: the peer knows no HTTP and gets the plain line.
  [[nodiscard]] const Response& refused() const { return refused_; }
  [[nodiscard]] bool speaks_old_wire() const { return old_wire_; }

 private:
  struct BodyParser;  // Boost's
  void advance();
  void advance_head();
  void take_head(std::size_t end);
  void advance_body();
  void refuse_size();
  void refuse(int status, std::string_view what, std::string reason);

  Limits limits_;
  Stage stage_ = Stage::kHead;
  std::string buffer_;  // what is not used up
  bool first_line_checked_ = false;
  std::size_t searched_ = 0;  // where the end of the head cannot be
  bool old_wire_ = false;
  RequestHead request_;
  std::unique_ptr<BodyParser> body_;
  std::string text_;  // of the body
  Response refused_;
};

// What a client of profiling-framework is told.
inline constexpr std::string_view kOldWireLine =
    "profiling-framework's socket protocol is not spoken here; use Fathom's profiling-client, "
    "profiling-controller or the Python package client.profclient\n";

}  // namespace fathom::serve
