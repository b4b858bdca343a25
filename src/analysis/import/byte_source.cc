// SPDX-License-Identifier: MIT
// Resynchronises at the next gzip member after damage. DFTracer and our own exports write many
// members, so one bad block costs one member.
#include "analysis/import/byte_source.h"

#include <fcntl.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace fathom::analysis {
namespace {

constexpr std::size_t kInputSize = std::size_t{1} << 20;
constexpr std::string_view kMagic("\x1f\x8b\x08", 3);
constexpr int kGzipWindow = 15 + 16;  // zlib: the largest window, with gzip's header and checksum

}  // namespace

class ByteSource::Inflater {
 public:
  Inflater() { (void)inflateInit2(&stream, kGzipWindow); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream); }

  z_stream stream{};
};

ByteSource::ByteSource() = default;
ByteSource::ByteSource(ByteSource&&) noexcept = default;
ByteSource& ByteSource::operator=(ByteSource&&) noexcept = default;
ByteSource::~ByteSource() = default;

Result<ByteSource> ByteSource::open(const std::string& path) {
  if (is_directory(path)) return Error{Code::kInvalid, path + " is a directory", "name its files"};
  ByteSource source;
  FATHOM_ASSIGN(source.file_, File::open(path, O_RDONLY));
  FATHOM_TRY(source.refill());
  if (source.input_.starts_with(kMagic)) source.inflater_ = std::make_unique<Inflater>();
  return source;
}

ByteSource ByteSource::of(std::string_view content) {
  ByteSource source;
  source.input_ = content;
  source.input_over_ = true;
  if (content.starts_with(kMagic)) source.inflater_ = std::make_unique<Inflater>();
  return source;
}

// Adds input behind what is left of it. Does nothing at the end.
Status ByteSource::refill() {
  if (input_over_) return {};
  std::vector<char> next(input_.begin(), input_.end());
  const std::size_t kept = next.size();
  next.resize(kept + kInputSize);
  const auto room = std::as_writable_bytes(std::span(next).subspan(kept));
  FATHOM_ASSIGN(const std::size_t got, file_->pread_some(room, offset_));
  offset_ += got;
  next.resize(kept + got);
  input_over_ = got < kInputSize;
  buffer_ = std::move(next);
  input_ = {buffer_.data(), buffer_.size()};
  return {};
}

Result<std::size_t> ByteSource::read(std::span<char> room, bool& gap) {
  if (inflater_ != nullptr) return inflate(room, gap);
  if (input_.empty()) FATHOM_TRY(refill());
  const std::size_t size = std::min(room.size(), input_.size());
  if (size > 0) std::memcpy(room.data(), input_.data(), size);
  input_.remove_prefix(size);
  return size;
}

void ByteSource::count_damage() {
  ++damage_;
  gap_ = true;
}

// Zero bytes behind the last member are padding that tar and tapes leave; anything else is damage.
Result<bool> ByteSource::begin_member() {
  if (input_.size() < kMagic.size()) FATHOM_TRY(refill());
  if (input_.starts_with(kMagic)) {
    in_member_ = true;
    inflateReset2(&inflater_->stream, kGzipWindow);
    return true;
  }
  if (input_.find_first_not_of('\0') == std::string_view::npos && input_over_) return false;
  count_damage();
  return seek_member();
}

// Goes on to what looks like the start of a member.
Result<bool> ByteSource::seek_member() {
  while (true) {
    const std::size_t at = input_.find(kMagic);
    if (at != std::string_view::npos) {
      input_.remove_prefix(at);
      return begin_member();
    }
    const std::size_t keep = std::min(input_.size(), kMagic.size() - 1);
    input_.remove_prefix(input_.size() - keep);
    if (input_over_) {
      input_ = {};
      return false;
    }
    FATHOM_TRY(refill());
  }
}

// What one call of zlib gives. Not sound: this member ends here, with whatever it gave.
std::size_t ByteSource::inflate_some(std::span<char> room, bool& sound) {
  z_stream& stream = inflater_->stream;
  const auto offered = static_cast<uInt>(std::min<std::size_t>(input_.size(), 1U << 30));
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input_.data()));
  stream.avail_in = offered;
  stream.next_out = reinterpret_cast<Bytef*>(room.data());
  stream.avail_out = static_cast<uInt>(room.size());
  const int status = ::inflate(&stream, Z_NO_FLUSH);
  input_.remove_prefix(offered - stream.avail_in);
  const std::size_t made = room.size() - stream.avail_out;
  const bool stuck = made == 0 && stream.avail_in == offered;
  if (status == Z_STREAM_END) in_member_ = false;
  sound = status == Z_STREAM_END || ((status == Z_OK || status == Z_BUF_ERROR) && !stuck);
  return made;
}

Result<std::size_t> ByteSource::inflate(std::span<char> room, bool& gap) {
  while (true) {
    if (input_.empty()) FATHOM_TRY(refill());
    if (!in_member_) {
      FATHOM_ASSIGN(const bool begun, begin_member());
      if (!begun) return std::size_t{0};
    }
    bool sound = true;
    const std::size_t made = inflate_some(room, sound);
    if (made > 0) gap = std::exchange(gap_, false);
    if (!sound) {
      in_member_ = false;
      count_damage();
      if (!input_.empty()) input_.remove_prefix(1);  // not the same member again
      FATHOM_ASSIGN(const bool more, seek_member());
      if (!more) return made;
    }
    if (made > 0) return made;
  }
}

}  // namespace fathom::analysis
