// SPDX-License-Identifier: MIT
// Every entry has a magic number and a checksum, so that a reader finds the next sound one behind
// damage. Reading goes window by window and jumps over holes, since a sparse file may claim any
// size.
#include "trace/spool/chunk_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/os_error.h"
#include "base/private_files.h"
#include "trace/decode/record_walker.h"
#include "trace/rows/byte_writer.h"

namespace fathom::trace {
namespace {

constexpr std::uint32_t kEntryMagic = 0x4b4e4843;  // "CHNK"
constexpr std::uint32_t kMaxEntry = 4U << 20;
constexpr std::size_t kWindow = std::size_t{8} << 20;  // larger than an entry

struct EntryHeader {
  std::uint32_t magic;
  std::uint32_t kind;
  std::uint64_t pool;
  std::uint32_t index;
  std::uint32_t generation;
  std::uint64_t schema;
  std::uint32_t length;
  std::uint32_t checksum;  // of the header up to here and the bytes
};
static_assert(sizeof(EntryHeader) == 40);

std::uint32_t checksum(const EntryHeader& header, std::span<const std::uint8_t> bytes) {
  uLong sum = crc32(0, reinterpret_cast<const Bytef*>(&header), offsetof(EntryHeader, checksum));
  sum = crc32(sum, bytes.data(), static_cast<uInt>(bytes.size()));
  return static_cast<std::uint32_t>(sum);
}

// The entry at `at`, if it is sound.
bool read_entry(std::span<const std::uint8_t> bytes, std::size_t at, EntryHeader& header,
                LogEntry& entry) {
  if (bytes.size() - at < sizeof header) return false;
  std::memcpy(&header, bytes.data() + at, sizeof header);
  if (header.magic != kEntryMagic || header.length > kMaxEntry) return false;
  if (bytes.size() - at - sizeof header < header.length) return false;
  const auto payload = bytes.subspan(at + sizeof header, header.length);
  if (checksum(header, payload) != header.checksum) return false;
  if (header.kind < static_cast<std::uint32_t>(EntryKind::kChunk) ||
      header.kind > static_cast<std::uint32_t>(EntryKind::kLives)) {
    return false;
  }
  entry = {static_cast<EntryKind>(header.kind),
           {header.pool, header.index, header.generation},
           header.schema,
           payload};
  return true;
}

}  // namespace

Result<ChunkLog> ChunkLog::open(const Directory& directory, const std::string& name) {
  FATHOM_ASSIGN(File file, directory.open_file(name, O_RDWR | O_CREAT | O_APPEND, 0600));
  FATHOM_ASSIGN(const std::uint64_t size, file.size());
  FATHOM_ASSIGN(const LogScan scan,
                scan_log(file, 0, kMostLogBytes, [](const LogEntry&, std::uint64_t) {}));
  std::uint64_t sound = scan.sound_bytes;
  if (sound < size && ::ftruncate(file.fd(), static_cast<off_t>(sound)) != 0) sound = size;
  return ChunkLog(std::move(file), sound);
}

Status ChunkLog::append(const LogEntry& entry) {
  EntryHeader header{kEntryMagic,
                     static_cast<std::uint32_t>(entry.kind),
                     entry.name.pool,
                     entry.name.index,
                     entry.name.generation,
                     entry.schema,
                     static_cast<std::uint32_t>(entry.bytes.size()),
                     0};
  header.checksum = checksum(header, entry.bytes);
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes.append(reinterpret_cast<const char*>(entry.bytes.data()), entry.bytes.size());
  Status written = file_.write_all(bytes);
  if (!written) {
    // What was half written is skipped by readers even if it cannot be cut away.
    if (::ftruncate(file_.fd(), static_cast<off_t>(size_)) != 0) size_ += bytes.size();
    return written;
  }
  size_ += bytes.size();
  return {};
}

bool ChunkLog::is_there() const {
  struct stat ours {};
  struct stat named {};
  return ::fstat(file_.fd(), &ours) == 0 && ::lstat(path().c_str(), &named) == 0 &&
         ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

Status ChunkLog::write_again() {
  FATHOM_ASSIGN(File fresh, open_private(path(), O_RDWR | O_APPEND | O_EXCL));
  std::vector<char> piece(kWindow);
  for (std::uint64_t at = 0; at < size_;) {
    FATHOM_ASSIGN(const std::size_t got,
                  file_.pread_some(std::as_writable_bytes(std::span(piece)), at));
    if (got == 0) break;
    if (Status written = fresh.write_all({piece.data(), got}); !written) {
      ::unlink(path().c_str());
      return written;
    }
    at += got;
  }
  file_ = std::move(fresh);
  return {};
}

namespace {

// Goes through a log window by window.
class Scanner {
 public:
  explicit Scanner(const OnEntry& visit) : visit_(visit) {}

  // How many bytes of the window are done with; the rest is to come again with what follows it.
  std::size_t scan(std::span<const std::uint8_t> bytes, bool last) {
    std::size_t at = 0;
    while (at < bytes.size()) {
      const std::size_t next = find_magic(bytes, at, last);
      skipped_ += next - at;
      at = next;
      if (!last && !is_whole(bytes, at)) break;
      if (at >= bytes.size()) break;
      at += take(bytes, at);
    }
    base_ += at;
    return at;
  }

  // Bytes that hold nothing, and need not be read.
  void skip(std::uint64_t bytes) {
    base_ += bytes;
    skipped_ += bytes;
  }

  LogScan finish(std::uint64_t unread) {
    scan_.damaged_bytes += skipped_ + unread;
    return scan_;
  }

 private:
  // A false head costs the reading of what it says it has. More of that than a damaged file would
  // make up, and nothing behind is looked at.
  static constexpr std::uint64_t kFreeWaste = std::uint64_t{16} << 20;

  static std::size_t find_magic(std::span<const std::uint8_t> bytes, std::size_t at, bool last) {
    const void* found =
        ::memmem(bytes.data() + at, bytes.size() - at, &kEntryMagic, sizeof kEntryMagic);
    if (found != nullptr)
      return static_cast<std::size_t>(static_cast<const std::uint8_t*>(found) - bytes.data());
    // The first bytes of a magic may be the last ones here.
    return last ? bytes.size() : std::max(at, bytes.size() - std::min(bytes.size(), kSplit));
  }

  static bool is_whole(std::span<const std::uint8_t> bytes, std::size_t at) {
    EntryHeader header{};
    if (bytes.size() - at < sizeof header) return false;
    std::memcpy(&header, bytes.data() + at, sizeof header);
    return header.length > kMaxEntry || bytes.size() - at - sizeof header >= header.length;
  }

  std::size_t take(std::span<const std::uint8_t> bytes, std::size_t at) {
    EntryHeader header{};
    LogEntry entry;
    if (wasted_ > kFreeWaste + 4 * (base_ + at)) {
      skipped_ += bytes.size() - at;
      return bytes.size() - at;
    }
    if (!read_entry(bytes, at, header, entry)) {
      if (header.magic == kEntryMagic && !scan_.torn && bytes.size() - at >= sizeof header)
        scan_.torn = ChunkName{header.pool, header.index, header.generation};
      wasted_ += sizeof header + std::min<std::uint64_t>(header.length, kMaxEntry);
      skipped_++;
      return 1;
    }
    visit_(entry, base_ + at);
    const std::size_t length = sizeof header + header.length;
    scan_.sound_bytes = base_ + at + length;
    scan_.torn.reset();
    scan_.damaged_bytes += std::exchange(skipped_, 0);
    return length;
  }

  static constexpr std::size_t kSplit = sizeof kEntryMagic - 1;
  const OnEntry& visit_;
  LogScan scan_;
  std::uint64_t base_ = 0;  // of the window
  std::uint64_t skipped_ = 0;
  std::uint64_t wasted_ = 0;
};

}  // namespace

namespace {

// How far it is from an offset to the next byte that was written: a file may say that it is a
// tebibyte, and have none.
std::uint64_t hole_at(const File& file, std::uint64_t offset, std::uint64_t most) {
  const off_t data = ::lseek(file.fd(), static_cast<off_t>(offset), SEEK_DATA);
  if (data < 0) return errno == ENXIO ? most : 0;
  return std::min<std::uint64_t>(static_cast<std::uint64_t>(data) - offset, most);
}

}  // namespace

LogScan scan_log(std::span<const std::uint8_t> bytes, const OnEntry& visit) {
  Scanner scanner(visit);
  scanner.scan(bytes, true);
  return scanner.finish(0);
}

Result<LogScan> scan_log(const File& file, std::uint64_t from, std::uint64_t most,
                         const OnEntry& visit) {
  FATHOM_ASSIGN(const std::uint64_t size, file.size());
  const std::uint64_t there = size > from ? size - from : 0;
  const std::uint64_t wanted = std::min(there, most);
  Scanner scanner(visit);
  std::string window;
  std::uint64_t read = 0;
  for (bool last = wanted == 0; !last;) {
    if (window.size() < sizeof kEntryMagic) {  // no entry begins there
      const std::uint64_t hole = hole_at(file, from + read, wanted - read);
      if (hole > 0) scanner.skip(std::exchange(window, "").size() + hole);
      read += hole;
    }
    const auto room = static_cast<std::size_t>(std::min<std::uint64_t>(wanted - read, kWindow));
    FATHOM_ASSIGN(const std::string more, file.read_range(from + read, room));
    read += more.size();
    window += more;
    last = read == wanted || more.size() < room;
    const std::size_t done =
        scanner.scan({reinterpret_cast<const std::uint8_t*>(window.data()), window.size()}, last);
    window.erase(0, done);
  }
  return scanner.finish(there - read);
}

}  // namespace fathom::trace
