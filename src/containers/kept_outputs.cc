// SPDX-License-Identifier: MIT
// Files that come out of a container, as a tar or from a folder, written below a folder of ours.
// Their names are the application's, which may be hostile: every folder on the way is opened
// without following links, from the one that we made, and nothing that is there is replaced. What
// is left out has a count and a reason.
#include "containers/kept_outputs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/os_error.h"
#include "base/private_files.h"
#include "base/text.h"

namespace fathom::containers {
namespace {

constexpr mode_t kFolderMode = 0700;
constexpr mode_t kFileMode = 0600;

// The parts of a name that leads down; none: it leads elsewhere.
std::optional<std::vector<std::string_view>> parts_of(std::string_view name, std::size_t most) {
  std::vector<std::string_view> parts;
  if (name.starts_with('/') || name.find('\0') != std::string_view::npos) return std::nullopt;
  for (const std::string_view part : split(name, '/')) {
    if (part.empty() || part == ".") continue;
    if (part == ".." || parts.size() == most) return std::nullopt;
    parts.push_back(part);
  }
  return parts;
}

// Makes what is missing. What is there and no folder is an error: nothing is replaced.
Result<Fd> open_folder(int from, const std::vector<std::string_view>& parts) {
  Fd at(::fcntl(from, F_DUPFD_CLOEXEC, 0));
  for (const std::string_view part : parts) {
    const std::string name(part);
    if (::mkdirat(at.get(), name.c_str(), kFolderMode) != 0 && errno != EEXIST)
      return os_error(errno, "make folder " + escape_control(name));
    Fd next(::openat(at.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next.valid()) return os_error(errno, "open folder " + escape_control(name));
    at = std::move(next);
  }
  return at;
}

}  // namespace

Result<KeptOutputs> KeptOutputs::make(const std::string& folder, const OutputBounds& bounds) {
  FATHOM_TRY(make_private_dir(folder));
  Fd opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!opened.valid()) return os_error(errno, "open " + folder);
  return KeptOutputs(std::move(opened), bounds);
}

Status KeptOutputs::begin(const TarMember& member) {
  file_.reset();
  if (++members_ > bounds_.members) {
    leave_out("the rest, too many");
    return Error{Code::kInvalid, "the outputs have too many files", ""};
  }
  if (member.kind == TarKind::kLink || member.kind == TarKind::kOther) {
    leave_out(member.kind == TarKind::kLink ? "links" : "devices and pipes");
    return {};
  }
  const auto own = parts_of(member.name, bounds_.depth);
  auto parts = parts_of(below_, bounds_.depth);
  if (!own || !parts) {
    leave_out("names that lead out of the folder");
    return {};
  }
  parts->insert(parts->end(), own->begin(), own->end());
  if (member.kind == TarKind::kFile) return begin_file(*parts, member.size);
  if (!open_folder(folder_.get(), *parts)) leave_out("not writable");
  return {};
}

// O_EXCL: two members of one name are one file, the first.
Status KeptOutputs::begin_file(const std::vector<std::string_view>& parts, std::uint64_t size) {
  if (parts.empty()) {
    leave_out("names that lead out of the folder");
    return {};
  }
  if (size > bounds_.bytes - std::min(counts_.bytes, bounds_.bytes)) {
    leave_out("too large");
    return {};
  }
  Result<Fd> parent = open_folder(folder_.get(), {parts.begin(), parts.end() - 1});
  name_ = std::string(parts.back());
  if (parent)
    file_.reset(::openat(parent->get(), name_.c_str(),
                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kFileMode));
  if (!file_.valid()) {
    leave_out("not writable");
    return {};
  }
  parent_ = std::move(*parent);
  size_ = 0;
  return {};
}

Status KeptOutputs::content(std::string_view bytes) {
  while (file_.valid() && !bytes.empty()) {
    if (bytes.size() > bounds_.bytes - counts_.bytes - size_) {  // it grew while it was copied
      drop_unfinished();
      return {};
    }
    const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      drop_unfinished();
      return {};
    }
    size_ += static_cast<std::uint64_t>(written);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Status KeptOutputs::end() {
  if (!file_.valid()) return {};
  file_.reset();
  counts_.bytes += size_;
  ++counts_.files;
  return {};
}

bool KeptOutputs::is_its_folder(const struct stat& facts) const {
  struct stat own {};
  return ::fstat(folder_.get(), &own) == 0 && own.st_dev == facts.st_dev &&
         own.st_ino == facts.st_ino;
}

// Half of a file would look like a result.
void KeptOutputs::drop_unfinished() {
  if (!file_.valid()) return;
  file_.reset();
  (void)::unlinkat(parent_.get(), name_.c_str(), 0);
  leave_out("not writable");
}

std::string left_out_words(const OutputCounts& counts) {
  std::string words;
  for (const auto& [reason, how_many] : counts.left_out)
    words += fmt::format("{}{} ({})", words.empty() ? "" : ", ", reason, how_many);
  return words;
}

}  // namespace fathom::containers
