// SPDX-License-Identifier: MIT
// zlib and zstd with one buffer each way. A gzip body may have several members and a zstd body
// several frames, as their own tools write them.
#include "serve/http/coding.h"

#include <zlib.h>
#include <zstd.h>

#include <array>
#include <limits>

#include "base/text.h"
#include "serve/http/http.h"

namespace fathom::serve {
namespace {

constexpr std::size_t kPiece = std::size_t{64} << 10;
constexpr int kGzipWindow = 15 + 16;       // the largest window, and gzip's header
constexpr int kLargestZstdWindowLog = 23;  // 8 MB, what `zstd -19` uses
// An answer is made for one client and read once: its time counts for more than its size.
constexpr int kGzipLevel = 1;
constexpr int kZstdLevel = 1;

Error damaged(std::string_view name) {
  return {Code::kInvalid, "the body is not whole " + std::string(name), ""};
}
Error too_large() { return {Code::kFull, "the body is too large when it is decompressed", ""}; }

struct Inflater {
  z_stream stream{};
  bool ready = false;

  Inflater() { ready = ::inflateInit2(&stream, kGzipWindow) == Z_OK; }
  ~Inflater() {
    if (ready) ::inflateEnd(&stream);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

// Input lengths are unsigned int in zlib.
// A small body may become any size: `most` is looked at after each piece, and no length that the
// body tells is believed.
Result<std::string> decode_gzip(std::string_view body, std::size_t most) {
  Inflater inflater;
  if (!inflater.ready || body.size() > std::numeric_limits<unsigned>::max()) return damaged("gzip");
  z_stream& stream = inflater.stream;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));
  stream.avail_in = static_cast<unsigned>(body.size());
  std::array<char, kPiece> piece;
  std::string out;
  while (true) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<unsigned>(piece.size());
    const int status = ::inflate(&stream, Z_NO_FLUSH);
    if (status != Z_OK && status != Z_STREAM_END) return damaged("gzip");
    const std::size_t got = piece.size() - stream.avail_out;
    if (got > most - out.size()) return too_large();
    out.append(piece.data(), got);
    if (status != Z_STREAM_END) continue;
    if (stream.avail_in == 0) return out;
    if (::inflateReset(&stream) != Z_OK) return damaged("gzip");  // another member
  }
}

using ZstdReader = std::unique_ptr<ZSTD_DCtx, decltype(&::ZSTD_freeDCtx)>;
using ZstdWriter = std::unique_ptr<ZSTD_CCtx, decltype(&::ZSTD_freeCCtx)>;

// A frame may ask for a window of gigabytes: beyond what zstd's own command uses it is refused.
Result<std::string> decode_zstd(std::string_view body, std::size_t most) {
  const ZstdReader reader(::ZSTD_createDCtx(), &::ZSTD_freeDCtx);
  if (!reader) return damaged("zstd");
  ::ZSTD_DCtx_setParameter(reader.get(), ZSTD_d_windowLogMax, kLargestZstdWindowLog);
  ZSTD_inBuffer in{body.data(), body.size(), 0};
  std::array<char, kPiece> piece;
  std::string out;
  std::size_t left = 1;  // what the frame still wants; 0 at its end
  bool filled = false;
  while (in.pos < in.size || (filled && left != 0)) {
    ZSTD_outBuffer to{piece.data(), piece.size(), 0};
    left = ::ZSTD_decompressStream(reader.get(), &to, &in);
    if (::ZSTD_isError(left) != 0) return damaged("zstd");
    if (to.pos > most - out.size()) return too_large();
    out.append(piece.data(), to.pos);
    filled = to.pos == to.size;
  }
  if (left != 0) return damaged("zstd");
  return out;
}

class GzipEncoder : public Encoder {
 public:
  GzipEncoder() {
    ready_ = ::deflateInit2(&stream_, kGzipLevel, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) ==
             Z_OK;
  }
  ~GzipEncoder() override {
    if (ready_) ::deflateEnd(&stream_);
  }
  GzipEncoder(const GzipEncoder&) = delete;
  GzipEncoder& operator=(const GzipEncoder&) = delete;

  Status add(std::string_view bytes, std::string& out) override {
    return run(bytes, Z_NO_FLUSH, out);
  }
  Status finish(std::string& out) override { return run({}, Z_FINISH, out); }

 private:
  Status run(std::string_view bytes, int flush, std::string& out) {
    if (!ready_) return Error{Code::kIo, "no memory to compress with", ""};
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<unsigned>(bytes.size());
    std::array<char, kPiece> piece;
    int status = Z_OK;
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(piece.data());
      stream_.avail_out = static_cast<unsigned>(piece.size());
      status = ::deflate(&stream_, flush);
      out.append(piece.data(), piece.size() - stream_.avail_out);
    } while (stream_.avail_out == 0 && status == Z_OK);
    return {};
  }

  z_stream stream_{};
  bool ready_ = false;
};

class ZstdEncoder : public Encoder {
 public:
  ZstdEncoder() : writer_(::ZSTD_createCCtx(), &::ZSTD_freeCCtx) {
    if (writer_) ::ZSTD_CCtx_setParameter(writer_.get(), ZSTD_c_compressionLevel, kZstdLevel);
  }
  Status add(std::string_view bytes, std::string& out) override {
    return run(bytes, ZSTD_e_continue, out);
  }
  Status finish(std::string& out) override { return run({}, ZSTD_e_end, out); }

 private:
  Status run(std::string_view bytes, ZSTD_EndDirective how, std::string& out) {
    if (!writer_) return Error{Code::kIo, "no memory to compress with", ""};
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    std::array<char, kPiece> piece;
    std::size_t left = 1;
    while (how == ZSTD_e_end ? left != 0 : in.pos < in.size) {
      ZSTD_outBuffer to{piece.data(), piece.size(), 0};
      left = ::ZSTD_compressStream2(writer_.get(), &to, &in, how);
      if (::ZSTD_isError(left) != 0) return Error{Code::kIo, ::ZSTD_getErrorName(left), ""};
      out.append(piece.data(), to.pos);
    }
    return {};
  }

  ZstdWriter writer_;
};

// Of "gzip;q=0.5": whether its quality is 0.
bool is_refused(std::string_view parameters) {
  const std::size_t at = parameters.find("q=");
  if (at == std::string_view::npos) return false;
  return parameters.substr(at + 2).find_first_not_of("0. ") == std::string_view::npos;
}

}  // namespace

Result<Coding> coding_named(std::string_view name) {
  const std::string_view word = trim(name);
  if (word.empty() || same_letters(word, "identity")) return Coding::kIdentity;
  if (same_letters(word, "gzip") || same_letters(word, "x-gzip")) return Coding::kGzip;
  if (same_letters(word, "zstd")) return Coding::kZstd;
  return Error{Code::kUnsupported, "a body can be compressed by gzip or zstd, in no other way", ""};
}

std::string_view name_of(Coding coding) {
  switch (coding) {
    case Coding::kIdentity:
      return "identity";
    case Coding::kGzip:
      return "gzip";
    case Coding::kZstd:
      return "zstd";
  }
  return "identity";
}

Coding accepted_coding(std::string_view accept) {
  Coding best = Coding::kIdentity;
  if (accept.empty()) return best;
  for (const std::string_view item : split(accept, ',')) {
    const std::size_t end = item.find(';');
    const std::string_view name = trim(item.substr(0, end));
    if (end != std::string_view::npos && is_refused(item.substr(end))) continue;
    if (same_letters(name, "zstd")) return Coding::kZstd;
    if (same_letters(name, "gzip")) best = Coding::kGzip;
  }
  return best;
}

Result<std::string> decode(Coding coding, std::string_view body, std::size_t most) {
  if (coding == Coding::kGzip) return decode_gzip(body, most);
  if (coding == Coding::kZstd) return decode_zstd(body, most);
  if (body.size() > most) return too_large();
  return std::string(body);
}

std::unique_ptr<Encoder> make_encoder(Coding coding) {
  if (coding == Coding::kGzip) return std::make_unique<GzipEncoder>();
  if (coding == Coding::kZstd) return std::make_unique<ZstdEncoder>();
  return nullptr;
}

}  // namespace fathom::serve
