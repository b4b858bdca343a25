// SPDX-License-Identifier: MIT
// The head is looked at by us (fleet/http/request_head.h); Beast takes the body apart: lengths and
// chunks.
#include "serve/http/request_reader.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <limits>

namespace fathom::serve {

namespace http = boost::beast::http;

struct RequestReader::BodyParser {
  http::request_parser<http::buffer_body> parser;
};

RequestReader::RequestReader(const Limits& limits) : limits_(limits) {}
RequestReader::~RequestReader() = default;

void RequestReader::refuse(int status, std::string_view what, std::string reason) {
  refused_ = refusal(status, what, std::move(reason));
  refused_.closes = true;
  stage_ = Stage::kRefused;
  buffer_.clear();
}

void RequestReader::feed(std::string_view bytes) {
  if (stage_ == Stage::kRefused) return;
  buffer_ += bytes;
  advance();
}

void RequestReader::advance() {
  if (stage_ == Stage::kHead) advance_head();
  if (stage_ == Stage::kBody) advance_body();
}

void RequestReader::advance_head() {
  // Some clients send an empty line behind a body.
  if (buffer_.starts_with("\r\n")) buffer_.erase(0, buffer_.find_first_not_of("\r\n"));
  if (buffer_.empty() || buffer_ == "\r") return;
  if (buffer_[0] == '{') {
    old_wire_ = true;
    return refuse(400, kOldWireLine, "old wire");
  }
  if (!first_line_checked_) {
    if (buffer_[0] < 'A' || buffer_[0] > 'Z') return refuse(400, "this is not HTTP", "not HTTP");
    const std::size_t end = buffer_.find("\r\n");
    if (end != std::string::npos) {
      if (const auto fault = fleet::check_first_line(std::string_view(buffer_).substr(0, end)))
        return refuse(fault->status, fault->what, "not HTTP");
      first_line_checked_ = true;
    }
  }
  const std::size_t end = buffer_.find("\r\n\r\n", searched_);
  searched_ = buffer_.size() < 3 ? 0 : buffer_.size() - 3;  // no byte is looked at again and again
  const std::size_t size = end == std::string::npos ? buffer_.size() : end + 4;
  if (size > limits_.header_bytes)
    return refuse(431, "the header is larger than 64 kB", "header size");
  if (end != std::string::npos) take_head(end + 4);
}

void RequestReader::take_head(std::size_t end) {
  const std::string text = buffer_.substr(0, end);
  buffer_.erase(0, end);
  fleet::HeadOutcome outcome = fleet::parse_head(text);
  if (outcome.fault) return refuse(outcome.fault->status, outcome.fault->what, "header");
  request_ = std::move(outcome.request);
  body_ = std::make_unique<BodyParser>();
  auto& parser = body_->parser;
  parser.header_limit(static_cast<std::uint32_t>(limits_.header_bytes + 1));
  parser.body_limit(std::numeric_limits<std::uint64_t>::max());
  parser.eager(true);
  boost::system::error_code error;
  parser.put(boost::asio::buffer(text), error);
  if (error && error != http::error::need_more) return refuse(400, error.message(), "header");
  stage_ = Stage::kHeadDone;
}

void RequestReader::welcome_body(std::uint64_t most) {
  if (request_.length > most) return refuse_size();
  body_->parser.body_limit(most);  // of chunks
  stage_ = Stage::kBody;
  advance_body();
}

void RequestReader::refuse_size() { refuse(413, "the body is too large", "body size"); }

// What Beast leaves is the beginning of a chunk's header, or of the next request. A body has no
// more bytes than what it is made of, so its place can be prepared.
void RequestReader::advance_body() {
  auto& parser = body_->parser;
  while (!parser.is_done() && !buffer_.empty()) {
    const std::size_t before = text_.size();
    const std::size_t room = buffer_.size();
    text_.resize(before + room);
    auto& body = parser.get().body();
    body.data = text_.data() + before;
    body.size = room;
    body.more = true;
    boost::system::error_code error;
    const std::size_t used = parser.put(boost::asio::buffer(buffer_), error);
    text_.resize(before + room - body.size);
    buffer_.erase(0, used);
    if (error == http::error::body_limit) return refuse_size();
    if (error && error != http::error::need_more) return refuse(400, error.message(), "chunks");
    if (used == 0) break;
  }
  if (parser.is_done()) {
    stage_ = Stage::kDone;
  } else if (buffer_.size() > limits_.header_bytes) {
    refuse(400, "a chunk's header is larger than 64 kB", "chunks");
  }
}

std::string RequestReader::take_body() { return std::exchange(text_, {}); }

void RequestReader::next() {
  stage_ = Stage::kHead;
  first_line_checked_ = false;
  searched_ = 0;
  request_ = {};
  body_.reset();
  text_.clear();
  advance();
}

}  // namespace fathom::serve
