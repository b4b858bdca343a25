// SPDX-License-Identifier: MIT
#include "trace/chunk_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/os_error.h"
#include "base/private_files.h"
#include "trace/byte_writer.h"
#include "trace/record_walker.h"

namespace fathom::trace {
namespace {

constexpr std::uint32_t kEntryMagic = 0x4b4e4843;  // "CHNK"
constexpr std::uint32_t kMaxEntry = 4U << 20;
constexpr std::size_t kPiece = std::size_t{8} << 20;  // that is read at a time: an entry fits

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
      header.kind > static_cast<std::uint32_t>(EntryKind::kDrained)) {
    return false;
  }
  entry = {static_cast<EntryKind>(header.kind),
           {header.pool, header.index, header.generation},
           header.schema,
           payload};
  return true;
}

}  // namespace

Result<ChunkLog> ChunkLog::open(const std::string& path) {
  FATHOM_ASSIGN(File file, open_private(path, O_RDWR | O_APPEND));
  struct stat facts {};
  if (::fstat(file.fd(), &facts) != 0) return os_error(errno, "stat " + path);
  // Whatever else lies there might keep us waiting.
  if (!S_ISREG(facts.st_mode)) return Error{Code::kIo, path + " is not a file any more", ""};
  const auto size = static_cast<std::uint64_t>(facts.st_size);
  std::uint64_t sound = 0;
  if (size > 0) {
    FATHOM_ASSIGN(const LogScan scan,
                  scan_log_file(file, 0, [](const LogEntry&, std::uint64_t) {}));
    sound = scan.sound_bytes;
    if (sound < size && ::ftruncate(file.fd(), static_cast<off_t>(sound)) != 0) sound = size;
  }
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
  std::vector<char> piece(kPiece);
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

LogScan scan_log(std::span<const std::uint8_t> bytes,
                 const std::function<void(const LogEntry&, std::uint64_t offset)>& visit) {
  LogScan scan;
  std::size_t at = 0;
  EntryHeader header{};
  LogEntry entry;
  std::uint64_t skipped = 0;
  while (at < bytes.size()) {
    if (!read_entry(bytes, at, header, entry)) {
      at++;
      skipped++;
      continue;
    }
    visit(entry, at);
    at += sizeof header + header.length;
    scan.sound_bytes = at;
    scan.damaged_bytes += std::exchange(skipped, 0);
  }
  scan.damaged_bytes += skipped;
  return scan;
}

Result<LogScan> scan_log_file(
    const File& file, std::uint64_t from,
    const std::function<void(const LogEntry&, std::uint64_t offset)>& visit) {
  LogScan all;
  std::vector<std::uint8_t> piece;
  for (std::uint64_t at = from;;) {
    FATHOM_ASSIGN(const std::uint64_t size, file.size());
    if (at >= size) return all;
    piece.resize(std::min<std::uint64_t>(kPiece, size - at));
    FATHOM_ASSIGN(const std::size_t got,
                  file.pread_some(std::as_writable_bytes(std::span(piece)), at));
    const LogScan scan =
        scan_log(std::span<const std::uint8_t>(piece).first(got),
                 [&](const LogEntry& entry, std::uint64_t offset) { visit(entry, at + offset); });
    const bool last = got < kPiece || at + got >= size;
    // What lies behind the last sound entry may be the beginning of another one.
    const std::uint64_t done =
        scan.sound_bytes > 0 ? scan.sound_bytes : got - kMaxEntry - sizeof(EntryHeader);
    all.damaged_bytes +=
        last ? scan.damaged_bytes : scan.damaged_bytes - (got - std::max(scan.sound_bytes, done));
    if (scan.sound_bytes > 0) all.sound_bytes = at + scan.sound_bytes - from;
    if (last) return all;
    at += done;
  }
}

}  // namespace fathom::trace
