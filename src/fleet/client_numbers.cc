// SPDX-License-Identifier: MIT
// Keeps the last number in a file of the user and host. The file is locked, overwritten in place in
// one piece and synced before the number is used.
#include "fleet/client_numbers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <optional>

#include "base/files.h"
#include "base/ids.h"
#include "base/os_error.h"
#include "base/own_file.h"
#include "base/text.h"

namespace fathom::fleet {
namespace {

constexpr std::size_t kIdDigits = 32;
constexpr std::size_t kMostBytes = 64;

// "0123…ef 17\n", of one length, so that it is overwritten in one piece.
std::string format(const BatchId& id) { return fmt::format("{} {:020}\n", id.client, id.seq); }

std::optional<BatchId> parse(std::string_view text) {
  if (text.size() <= kIdDigits || text[kIdDigits] != ' ' || !text.ends_with('\n')) return {};
  const Result<std::int64_t> seq = parse_int(trim(text.substr(kIdDigits)));
  const std::string_view client = text.substr(0, kIdDigits);
  if (!seq || *seq < 1 || client.find_first_not_of("0123456789abcdef") != std::string_view::npos)
    return {};
  return BatchId{std::string(client), *seq};
}

// A host's name may hold anything; a file's name may not.
std::string file_name(const std::string& host) {
  std::string name;
  for (const char letter : host.substr(0, 128)) {
    const bool plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                       (letter >= '0' && letter <= '9') || letter == '-' || letter == '.';
    name += plain ? letter : '_';
  }
  return "client-" + name;
}

}  // namespace

std::optional<BatchId> batch_of_work(std::int64_t number) {
  const char* const id = std::getenv("FATHOM_WORK_ID");
  if (id == nullptr || !is_job_name(id)) return std::nullopt;
  return BatchId{std::string("work-") + id, number};
}

BatchId batch_of_stranger() { return {random_id(), 1}; }

Result<BatchId> next_batch(const std::string& folder, const std::string& host) {
  const std::string path = join_path(folder, file_name(host));
  FATHOM_ASSIGN(File file, open_own_file(path, O_RDWR | O_CREAT, 0600));
  while (::flock(file.fd(), LOCK_EX) != 0) {
    if (errno != EINTR) return os_error(errno, "lock " + path);
  }
  FATHOM_ASSIGN(const std::string text, file.read_range(0, kMostBytes));
  const std::optional<BatchId> last = parse(text);
  const BatchId next = last ? BatchId{last->client, last->seq + 1} : batch_of_stranger();
  const std::string line = format(next);
  if (!last && ::ftruncate(file.fd(), 0) != 0) return os_error(errno, "write " + path);
  if (::pwrite(file.fd(), line.data(), line.size(), 0) != static_cast<ssize_t>(line.size()))
    return os_error(errno == 0 ? ENOSPC : errno, "write " + path);
  FATHOM_TRY(file.sync());
  return next;
}

}  // namespace fathom::fleet
