// SPDX-License-Identifier: MIT
// Writes to a temporary name and renames at the end; standard output and devices are written
// directly. gzip members bound what a reader loses to damage.
#include "render/export/byte_sink.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <optional>
#include <utility>

#include "base/files.h"
#include "base/os_error.h"
#include "base/own_file.h"

namespace fathom::render {
namespace {

constexpr std::size_t kMemberSize = std::size_t{16} << 20;
constexpr int kGzipWindow = 15 + 16;  // zlib: the largest window, with gzip's header and checksum

// One stream of zlib, used for one member after the other.
class Compressor {
 public:
  Compressor()
      : ready_(deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8,
                            Z_DEFAULT_STRATEGY) == Z_OK) {}
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;
  ~Compressor() { deflateEnd(&stream_); }

  // Appends to `out` what is ready; ends the member where `last` says so, or where it has grown
  // enough.
  Status add(std::string_view bytes, bool last, std::string& out) {
    if (!ready_) return Error{Code::kIo, "there is not enough memory to compress", ""};
    in_member_ += bytes.size();
    const bool end = last || in_member_ >= kMemberSize;
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    int status = Z_OK;
    do {
      const std::size_t used = out.size();
      out.resize(used + kRoom);
      stream_.next_out = reinterpret_cast<Bytef*>(out.data() + used);
      stream_.avail_out = kRoom;
      status = deflate(&stream_, end ? Z_FINISH : Z_NO_FLUSH);
      out.resize(used + kRoom - stream_.avail_out);
    } while (end ? status == Z_OK : stream_.avail_out == 0);
    if (!end) return {};
    deflateReset(&stream_);
    in_member_ = 0;
    return {};
  }

  [[nodiscard]] bool in_member() const { return in_member_ > 0; }

 private:
  static constexpr uInt kRoom = 1 << 16;
  z_stream stream_{};
  bool ready_;
  std::size_t in_member_ = 0;
};

bool is_special(const std::string& path) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode);
}

}  // namespace

class ByteSink::State {
 public:
  State(std::string path, bool gzip) : path_(std::move(path)) {
    if (gzip) compressor_ = std::make_unique<Compressor>();
  }
  ~State() {
    if (!part_.empty()) (void)::unlink(part_.c_str());
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Status open() {
    if (path_ == "-") return {};
    if (is_directory(path_))
      return Error{Code::kInvalid, path_ + " is a directory", "name a file with -o"};
    if (is_special(path_)) {
      FATHOM_ASSIGN(file_, File::open(path_, O_WRONLY));
      return {};
    }
    // A name that others can foresee: whatever lies there, a link or a file, is not written to.
    const std::string part = path_ + ".part-" + std::to_string(::getpid());
    (void)::unlink(part.c_str());
    FATHOM_ASSIGN(file_, File::open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW));
    part_ = part;
    return {};
  }

  Status open_to_append() {
    written_ = true;
    FATHOM_ASSIGN(file_, open_own_file(path_, O_WRONLY | O_CREAT | O_APPEND));
    return {};
  }

  Status write(std::string_view bytes) {
    written_ = written_ || !bytes.empty();
    if (compressor_ == nullptr) return write_out(bytes);
    packed_.clear();
    FATHOM_TRY(compressor_->add(bytes, false, packed_));
    return write_out(packed_);
  }

  Result<std::string> hand_over() {
    if (part_.empty()) return usage_error("this format needs a file", "name one with -o");
    file_.reset();
    handed_over_ = true;
    return part_;
  }

  Status finish() {
    if (compressor_ != nullptr && (compressor_->in_member() || !written_)) {
      packed_.clear();
      FATHOM_TRY(compressor_->add({}, true, packed_));
      FATHOM_TRY(write_out(packed_));
    }
    if (!file_ && !handed_over_ && std::fflush(stdout) != 0)
      return Error{Code::kIo, "cannot write to stdout", ""};
    if (file_) FATHOM_TRY(close_file());
    if (part_.empty()) return {};
    FATHOM_TRY(rename_path(part_, path_));
    part_.clear();
    return {};
  }

 private:
  // Network file systems tell only then that what was written found no room: File closes in
  // silence, a second descriptor of it does not.
  Status close_file() {
    const int copy = ::fcntl(file_->fd(), F_DUPFD_CLOEXEC, 0);
    if (copy >= 0 && ::close(copy) != 0) return os_error(errno, "write " + path_);
    file_.reset();
    return {};
  }

  Status write_out(std::string_view bytes) {
    if (file_) return file_->write_all(bytes);
    if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size()) return {};
    return Error{Code::kIo, "cannot write to stdout", ""};
  }

  std::string path_;
  std::string part_;          // what the file is called before it is whole
  std::optional<File> file_;  // none: standard output
  std::unique_ptr<Compressor> compressor_;
  std::string packed_;
  bool written_ = false;
  bool handed_over_ = false;  // somebody else writes the file
};

ByteSink::ByteSink(std::unique_ptr<State> state) : state_(std::move(state)) {}
ByteSink::ByteSink(ByteSink&&) noexcept = default;
ByteSink& ByteSink::operator=(ByteSink&&) noexcept = default;
ByteSink::~ByteSink() = default;

Result<ByteSink> ByteSink::append(const std::string& path, bool gzip) {
  auto state = std::make_unique<State>(path, gzip);
  FATHOM_TRY(state->open_to_append());
  return ByteSink(std::move(state));
}

Result<ByteSink> ByteSink::open(const std::string& path, bool gzip) {
  auto state = std::make_unique<State>(path, gzip);
  FATHOM_TRY(state->open());
  return ByteSink(std::move(state));
}

Status ByteSink::write(std::string_view bytes) { return state_->write(bytes); }
Status ByteSink::finish() { return state_->finish(); }
Result<std::string> ByteSink::hand_over() { return state_->hand_over(); }

}  // namespace fathom::render
