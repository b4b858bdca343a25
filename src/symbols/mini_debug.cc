// SPDX-License-Identifier: MIT
// Unpacks with liblzma. Bounded: a few bytes can be made to unpack to gigabytes.
#include "symbols/mini_debug.h"

#include <lzma.h>

#include <algorithm>
#include <string>

namespace fathom::symbols {
namespace {

constexpr std::uint64_t kMostMemory = 256ULL << 20;  // of the decoder
constexpr std::size_t kMostBytes = 256ULL << 20;
constexpr std::size_t kMostRatio = 256;  // symbol tables shrink to a fifth or a tenth
constexpr std::size_t kStep = 256ULL << 10;

class Decoder {
 public:
  Decoder() { ready_ = lzma_stream_decoder(&stream_, kMostMemory, 0) == LZMA_OK; }
  ~Decoder() { lzma_end(&stream_); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  // False where the input is damaged or the output too large.
  bool unpack(std::string_view packed, std::string& bytes) {
    const std::size_t most = std::min(kMostBytes, kStep + packed.size() * kMostRatio);
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(packed.data());
    stream_.avail_in = packed.size();
    lzma_ret state = ready_ ? LZMA_OK : LZMA_PROG_ERROR;
    while (state == LZMA_OK && bytes.size() < most) {
      const std::size_t done = bytes.size();
      bytes.resize(std::min(most, done + kStep));
      stream_.next_out = reinterpret_cast<std::uint8_t*>(bytes.data() + done);
      stream_.avail_out = bytes.size() - done;
      state = lzma_code(&stream_, LZMA_FINISH);
      bytes.resize(bytes.size() - stream_.avail_out);
    }
    return state == LZMA_STREAM_END;
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool ready_ = false;
};

}  // namespace

Result<ElfFile> open_mini_debug(const ElfFile& file) {
  const std::string_view packed = file.content(".gnu_debugdata");
  if (packed.empty()) return Error{Code::kNotFound, "no mini-debuginfo", ""};
  std::string bytes;
  if (!Decoder().unpack(packed, bytes))
    return Error{Code::kCorrupt, "the mini-debuginfo is damaged", ""};
  return ElfFile::of_image(std::move(bytes), "the mini-debuginfo");
}

}  // namespace fathom::symbols
