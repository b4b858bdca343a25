// SPDX-License-Identifier: MIT
// Beast's parser with a buffer of fixed size: a body of any length takes no more memory than that.
#include "fleet/http/http_answer.h"

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <limits>

namespace fathom::fleet {

namespace http = boost::beast::http;

namespace {

constexpr std::size_t kLargestHead = std::size_t{64} << 10;
constexpr std::size_t kPiece = std::size_t{64} << 10;

}  // namespace

struct AnswerReader::Parser {
  http::response_parser<http::buffer_body> parser;
  std::array<char, kPiece> piece;
};

AnswerReader::AnswerReader(bool is_bare, HttpClient::TakesBytes take)
    : is_bare_(is_bare), take_(std::move(take)) {
  begin();
}
AnswerReader::~AnswerReader() = default;

// No limit on the body: whoever takes the bytes has one, and says stop.
void AnswerReader::begin() {
  parser_ = std::make_unique<Parser>();
  parser_->parser.header_limit(kLargestHead);
  parser_->parser.body_limit(std::numeric_limits<std::uint64_t>::max());
  parser_->parser.eager(true);
  if (is_bare_) parser_->parser.skip(true);
}

// The body so far goes on, and its buffer is empty again.
Status AnswerReader::give_piece() {
  auto& body = parser_->parser.get().body();
  const std::size_t size = body.data == nullptr ? 0 : kPiece - body.size;
  if (size > 0 && !take_({parser_->piece.data(), size})) stopped_ = true;
  body.data = parser_->piece.data();
  body.size = kPiece;
  body.more = true;
  return {};
}

Status AnswerReader::feed(std::string_view bytes) {
  buffer_ += bytes;
  auto* parser = &parser_->parser;
  while (!buffer_.empty() && !parser->is_done() && !stopped_) {
    FATHOM_TRY(give_piece());
    boost::system::error_code error;
    const std::size_t used = parser->put(boost::asio::buffer(buffer_), error);
    buffer_.erase(0, used);
    FATHOM_TRY(give_piece());
    if (error && error != http::error::need_more && error != http::error::need_buffer)
      return Error{Code::kCorrupt, "the answer is not HTTP (" + error.message() + ")", ""};
    // 100 Continue and the like come before the answer.
    if (parser->is_done() && parser->get().result_int() / 100 == 1) {
      begin();
      parser = &parser_->parser;
      continue;
    }
    if (used == 0 && error != http::error::need_buffer) break;
  }
  if (buffer_.size() > 2 * kLargestHead && !stopped_)
    return Error{Code::kCorrupt, "the answer is not HTTP (a line without an end)", ""};
  return {};
}

Status AnswerReader::finish() {
  boost::system::error_code error;
  FATHOM_TRY(give_piece());
  if (!parser_->parser.is_header_done())
    return Error{Code::kUnavailable, "the connection was closed before an answer", ""};
  parser_->parser.put_eof(error);
  if (error) return Error{Code::kCorrupt, "the answer was cut off (" + error.message() + ")", ""};
  return {};
}

bool AnswerReader::is_done() const { return parser_->parser.is_done(); }

bool AnswerReader::keeps_open() const {
  return parser_->parser.is_done() && parser_->parser.keep_alive() && buffer_.empty();
}

bool AnswerReader::has_head() const { return parser_->parser.is_header_done(); }

HttpAnswer AnswerReader::head() const {
  HttpAnswer answer;
  const auto& message = parser_->parser.get();
  answer.status = static_cast<int>(message.result_int());
  for (const auto& field : message)
    answer.headers.push_back({std::string(field.name_string()), std::string(field.value())});
  return answer;
}

}  // namespace fathom::fleet
