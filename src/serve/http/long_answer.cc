// SPDX-License-Identifier: MIT
// Small pieces are gathered, so that neither the encoder nor the file is called for every row.
#include "serve/http/long_answer.h"

#include <fcntl.h>

namespace fathom::serve {
namespace {

constexpr std::size_t kPiece = std::size_t{64} << 10;
constexpr std::size_t kMostInMemory = std::size_t{1} << 20;
constexpr std::size_t kTooSmallToCompress = 1024;

}  // namespace

LongAnswer::LongAnswer(const Head& head)
    : coding_(accepted_coding(head.header("accept-encoding"))) {}

Status LongAnswer::add(std::string_view bytes) {
  waiting_ += bytes;
  return waiting_.size() < kPiece ? Status() : flush();
}

Status LongAnswer::flush() {
  if (!encoder_ && coding_ != Coding::kIdentity) encoder_ = make_encoder(coding_);
  if (encoder_) {
    FATHOM_TRY(encoder_->add(waiting_, text_));
  } else {
    text_ += waiting_;
  }
  waiting_.clear();
  if (text_.size() < kMostInMemory) return {};
  if (!file_) {
    FATHOM_ASSIGN(file_, File::unnamed(scratch_directory()));
  }
  FATHOM_TRY(file_->write_all(text_));
  in_file_ += text_.size();
  text_.clear();
  return {};
}

Result<Response> LongAnswer::finish() {
  if (!encoder_ && waiting_.size() < kTooSmallToCompress) coding_ = Coding::kIdentity;
  FATHOM_TRY(flush());
  if (encoder_) FATHOM_TRY(encoder_->finish(text_));
  Response response;
  if (coding_ != Coding::kIdentity)
    response.headers.push_back({"Content-Encoding", std::string(name_of(coding_))});
  response.headers.push_back({"Vary", "Accept-Encoding"});
  if (!file_) {
    response.body.text = std::move(text_);
    return response;
  }
  FATHOM_TRY(file_->write_all(text_));
  response.body.length = in_file_ + text_.size();
  response.body.file = std::make_shared<const File>(std::move(*file_));
  return response;
}

}  // namespace fathom::serve
