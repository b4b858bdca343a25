// SPDX-License-Identifier: MIT
// The head is looked at by us (request_head.h); Beast takes the body apart: lengths and chunks.
#include "serve/request_reader.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

namespace fathom::serve {

namespace http = boost::beast::http;

struct RequestReader::BodyParser {
  http::request_parser<http::string_body> parser;
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
      if (const auto fault = check_first_line(std::string_view(buffer_).substr(0, end)))
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
  HeadOutcome outcome = parse_head(text);
  if (outcome.fault) return refuse(outcome.fault->status, outcome.fault->what, "header");
  request_ = std::move(outcome.request);
  if (request_.length > limits_.body_bytes)
    return refuse(413, "the body is larger than 64 MB", "body size");
  body_ = std::make_unique<BodyParser>();
  auto& parser = body_->parser;
  parser.header_limit(static_cast<std::uint32_t>(limits_.header_bytes + 1));
  parser.body_limit(limits_.body_bytes);
  parser.eager(true);
  boost::system::error_code error;
  parser.put(boost::asio::buffer(text), error);
  if (error && error != http::error::need_more) return refuse(400, error.message(), "header");
  stage_ = Stage::kHeadDone;
}

void RequestReader::welcome_body() {
  stage_ = Stage::kBody;
  advance_body();
}

// What Beast leaves is the beginning of a chunk's header, or of the next request.
void RequestReader::advance_body() {
  auto& parser = body_->parser;
  while (!parser.is_done() && !buffer_.empty()) {
    boost::system::error_code error;
    const std::size_t used = parser.put(boost::asio::buffer(buffer_), error);
    buffer_.erase(0, used);
    if (error == http::error::body_limit)
      return refuse(413, "the body is larger than 64 MB", "body size");
    if (error && error != http::error::need_more) return refuse(400, error.message(), "chunks");
    if (used == 0) break;
  }
  if (parser.is_done()) {
    stage_ = Stage::kDone;
  } else if (buffer_.size() > limits_.header_bytes) {
    refuse(400, "a chunk's header is larger than 64 kB", "chunks");
  }
}

std::size_t RequestReader::body_size() const {
  return body_ ? body_->parser.get().body().size() : 0;
}

std::string RequestReader::take_body() { return std::move(body_->parser.get().body()); }

void RequestReader::next() {
  stage_ = Stage::kHead;
  first_line_checked_ = false;
  searched_ = 0;
  request_ = {};
  body_.reset();
  advance();
}

}  // namespace fathom::serve
