// SPDX-License-Identifier: MIT
#include "trace/chunk_log.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <cstring>

#include "base/private_files.h"
#include "trace/byte_writer.h"
#include "trace/record_walker.h"

namespace fathom::trace {
namespace {

constexpr std::uint32_t kEntryMagic = 0x4b4e4843;  // "CHNK"
constexpr std::uint32_t kMaxEntry = 4U << 20;

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
      header.kind > static_cast<std::uint32_t>(EntryKind::kProcesses)) {
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
  FATHOM_ASSIGN(const std::uint64_t size, file.size());
  std::uint64_t sound = 0;
  if (size > 0) {
    FATHOM_ASSIGN(const std::string content, read_file(path));
    sound = scan_log({reinterpret_cast<const std::uint8_t*>(content.data()), content.size()},
                     [](const LogEntry&, std::uint64_t) {})
                .sound_bytes;
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

}  // namespace fathom::trace
