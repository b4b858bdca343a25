// SPDX-License-Identifier: MIT
// How commands find the server of their user: a note with its address, token and fingerprint in a
// private folder. A lock on the file tells a server that runs from one that was killed. The note is
// written in place, not renamed into it, because the lock belongs to the file itself.
#include "fleet/stores/server_note.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "base/os_error.h"
#include "base/own_file.h"

namespace fathom::fleet {
namespace {

constexpr std::size_t kLongestNote = 4096;
constexpr int kTries = 20;  // somebody looks at the file, or writes it, just now
constexpr std::chrono::milliseconds kBetweenTries{10};

std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets variables
  return value == nullptr ? "" : value;
}

// Directories where a note may lie, the best first.
// The first is emptied when the user logs out, and never on a disk that other machines share.
std::vector<std::string> note_directories() {
  std::vector<std::string> found;
  if (const std::string runtime = variable("XDG_RUNTIME_DIR"); runtime.starts_with('/'))
    found.push_back(join_path(runtime, "fathom"));
  if (const std::string home = variable("HOME"); home.starts_with('/'))
    found.push_back(join_path(home, ".config/fathom"));
  return found;
}

std::string note_path(const std::string& directory) { return join_path(directory, "server.json"); }

Status make_note_directory(const std::string& path) {
  FATHOM_TRY(make_dirs(std::string(dir_name(path))));
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return os_error(errno, "make " + path);
  if (!is_private_directory(path) && ::chmod(path.c_str(), 0700) != 0)
    return os_error(errno, "close " + path + " to others");
  if (is_private_directory(path)) return {};
  return Error{Code::kDenied, path + " is not a directory of this user alone", "remove it"};
}

bool lock(const File& file, int how) { return ::flock(file.fd(), how | LOCK_NB) == 0; }

bool lock_patiently(const File& file) {
  for (int tries = 0; tries < kTries; ++tries) {
    if (lock(file, LOCK_EX)) return true;
    std::this_thread::sleep_for(kBetweenTries);
  }
  return false;
}

std::optional<ServerNote> parse_note(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  ServerNote note;
  for (const auto& [key, place] : {std::pair{"url", &note.url}, std::pair{"token", &note.token},
                                   std::pair{"fingerprint", &note.fingerprint}}) {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_string()) return std::nullopt;
    *place = found->get<std::string>();
  }
  return note;
}

// Between taking the lock and writing, a server has a note that is empty: it is looked at again.
std::optional<ServerNote> read_note(const std::string& path) {
  for (int tries = 0; tries < kTries; ++tries) {
    const Result<File> file = open_own_file(path, O_RDONLY);
    if (!file || lock(*file, LOCK_SH)) return std::nullopt;  // nobody holds it: they are gone
    const Result<std::string> text = read_private_file(path, kLongestNote);
    if (!text) return std::nullopt;
    if (std::optional<ServerNote> note = parse_note(*text)) return note;
    std::this_thread::sleep_for(kBetweenTries);
  }
  return std::nullopt;
}

Result<File> open_note(const std::string& directory) {
  FATHOM_TRY(make_note_directory(directory));
  const std::string path = note_path(directory);
  FATHOM_ASSIGN(File file, open_own_file(path, O_RDWR | O_CREAT, 0600));
  if (::fchmod(file.fd(), 0600) != 0) return os_error(errno, "close " + path + " to others");
  if (!lock_patiently(file))
    return Error{Code::kExists, "commands on this machine already use another server of this user",
                 "name this one with --server URL"};
  if (::ftruncate(file.fd(), 0) != 0) return os_error(errno, "write " + path);
  return file;
}

}  // namespace

std::optional<ServerNote> find_server_note() {
  for (const std::string& directory : note_directories()) {
    if (std::optional<ServerNote> note = read_note(note_path(directory))) return note;
  }
  return std::nullopt;
}

Result<LeftNote> LeftNote::leave(const ServerNote& note) {
  const nlohmann::ordered_json json = {
      {"url", note.url}, {"token", note.token}, {"fingerprint", note.fingerprint}};
  Error last{Code::kNotFound, "there is neither XDG_RUNTIME_DIR nor HOME",
             "commands need --server URL and --token-file FILE"};
  for (const std::string& directory : note_directories()) {
    Result<File> file = open_note(directory);
    if (file) {
      FATHOM_TRY(file->write_all(json.dump() + "\n"));
      return LeftNote(std::move(*file));
    }
    if (file.error().code == Code::kExists) return file.error();
    last = file.error();
  }
  return last;
}

// Removed before the lock goes with the descriptor: nobody can have taken the place meanwhile.
LeftNote::~LeftNote() {
  if (file_.fd() >= 0) ::unlink(file_.path().c_str());
}

}  // namespace fathom::fleet
