// SPDX-License-Identifier: MIT
// Makes the folder, copies files into it, and listens at its two sockets. `door` is where the gate
// asks to be let in (gate/gate.h); `broker` is where the library gets its files.
#include "containers/private_mount.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/os_error.h"
#include "base/private_files.h"
#include "containers/gate/gate.h"

namespace fathom::containers {
namespace {

constexpr char kGate[] = "gate";
constexpr char kDoor[] = "door";
constexpr char kBroker[] = "broker";
constexpr char kExtensions[] = "python";
constexpr char kInstructions[] = "instructions.yaml";
constexpr mode_t kReadable = 0644;
constexpr mode_t kRunnable = 0755;
constexpr mode_t kForAnyUser = 0666;

// The mode is set by itself: the umask would take away what any user of the container needs.
Status put(const std::string& content, const std::string& to, mode_t mode) {
  FATHOM_ASSIGN(File file, File::open(to, O_WRONLY | O_CREAT | O_EXCL, mode));
  FATHOM_TRY(file.write_all(content));
  if (::fchmod(file.fd(), mode) != 0) return os_error(errno, "set the mode of " + to);
  return {};
}

Status copy(const std::string& from, const std::string& to, mode_t mode) {
  FATHOM_ASSIGN(const std::string content, read_file(from));
  return put(content, to, mode);
}

// A folder that any user of the container may look into; others do not get that far.
Status make_open_folder(const std::string& path) {
  FATHOM_TRY(make_private_dir(path));
  if (::chmod(path.c_str(), kRunnable) != 0) return os_error(errno, "set the mode of " + path);
  return {};
}

// The build's own, and those that `fathom python add` made.
std::vector<std::string> folders_of_extensions(const std::string& library) {
  const std::string beside(dir_name(library));
  std::vector<std::string> folders = {join_path(beside, kExtensions),
                                      join_path(beside, "fathom/python")};
  const char* const data = std::getenv("XDG_DATA_HOME");  // NOLINT(concurrency-mt-unsafe)
  const char* const home = std::getenv("HOME");           // NOLINT(concurrency-mt-unsafe)
  if (data != nullptr && *data == '/') {
    folders.push_back(join_path(data, "fathom/python"));
  } else if (home != nullptr && *home == '/') {
    folders.push_back(join_path(home, ".local/share/fathom/python"));
  }
  return folders;
}

bool is_extension(const std::string& name) {
  return name.starts_with("_record.") && name.ends_with(".so");
}

// Each once, the build's own first.
Status copy_extensions(const std::string& library, const std::string& to) {
  FATHOM_TRY(make_open_folder(to));
  for (const std::string& folder : folders_of_extensions(library)) {
    const Result<std::vector<std::string>> names = list_dir(folder);
    if (!names) continue;
    for (const std::string& name : *names) {
      const std::string target = join_path(to, name);
      if (is_extension(name) && !path_exists(target))
        FATHOM_TRY(copy(join_path(folder, name), target, kReadable));
    }
  }
  return {};
}

// A library cannot be mapped from there, and the application would fail in a way that says nothing
// of us.
Status check_exec(const std::string& folder) {
  struct statvfs place {};
  if (::statvfs(folder.c_str(), &place) != 0 || (place.f_flag & ST_NOEXEC) == 0) return {};
  return Error{Code::kUnsupported,
               folder +
                   " is on a file system that is mounted noexec: no library can be loaded "
                   "from there",
               "name another folder with -o"};
}

}  // namespace

Result<PrivateMount> PrivateMount::make(const std::string& folder, const std::string& library,
                                        const std::string& instructions) {
  PrivateMount mount;
  FATHOM_TRY(make_open_folder(folder));
  mount.folder_ = folder;
  FATHOM_TRY(check_exec(folder));
  mount.directory_ = Fd(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!mount.directory_.valid()) return os_error(errno, "open " + folder);
  FATHOM_TRY(mount.fill(library));
  if (!instructions.empty())
    FATHOM_TRY(put(instructions, join_path(folder, kInstructions), kReadable));
  FATHOM_TRY(mount.listen());
  return mount;
}

PrivateMount::~PrivateMount() {
  if (directory_.valid()) (void)remove_tree(folder_).has_value();
}

Status PrivateMount::fill(const std::string& library) {
  library_name_ = base_name(library);
  const std::string gate = join_path(dir_name(library), "fathom-gate");
  if (!path_exists(gate))
    return Error{Code::kNotFound, "there is no fathom-gate in " + std::string(dir_name(library)),
                 "install it beside the library, or record from outside alone: 'runs: [plain]'"};
  FATHOM_TRY(copy(gate, join_path(folder_, kGate), kRunnable));
  FATHOM_TRY(copy(library, join_path(folder_, library_name_), kRunnable));
  return copy_extensions(library, join_path(folder_, kExtensions));
}

std::string PrivateMount::library() const { return join_path(kPrivateTarget, library_name_); }

// A socket's path has a hundred bytes; a folder's may have more.
std::string PrivateMount::broker_path() const {
  return "/proc/self/fd/" + std::to_string(directory_.get()) + "/" + kBroker;
}
std::string PrivateMount::instructions() { return join_path(kPrivateTarget, kInstructions); }
std::string PrivateMount::told_broker_path() { return join_path(kPrivateTarget, kBroker); }

Status PrivateMount::listen() {
  const std::string path = "/proc/self/fd/" + std::to_string(directory_.get()) + "/" + kDoor;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  door_ = Fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!door_.valid() ||
      ::bind(door_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::chmod(path.c_str(), kForAnyUser) != 0 || ::listen(door_.get(), 1) != 0)
    return os_error(errno, "make a socket in " + folder_);
  return {};
}

namespace {

struct Packet {
  std::array<char, FATHOM_GATE_MOST_BYTES> bytes;
  ssize_t size = 0;
  Fd file;
};

void receive(int line, Packet& packet) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  iovec piece{packet.bytes.data(), packet.bytes.size()};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  packet.size = ::recvmsg(line, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  const cmsghdr* const head = CMSG_FIRSTHDR(&message);
  if (packet.size < 0 || head == nullptr || head->cmsg_type != SCM_RIGHTS ||
      head->cmsg_len != CMSG_LEN(sizeof(int)))
    return;
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(head), sizeof fd);
  packet.file = Fd(fd);
  struct stat facts {};  // nothing but a plain file is read
  if (::fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) packet.file.reset();
}

GateCaller caller_of(int line, Packet& packet) {
  GateCaller caller;
  ucred who{};
  socklen_t size = sizeof who;
  if (::getsockopt(line, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0) caller.pid = who.pid;
  const std::string_view words(packet.bytes.data(), static_cast<std::size_t>(packet.size));
  if (words.empty()) return caller;
  if (words[0] == FATHOM_GATE_READY) {
    caller.program = words.substr(1);
    caller.file = std::move(packet.file);
    return caller;
  }
  caller.error = EIO;
  if (words[0] == FATHOM_GATE_FAILED && words.size() == 1 + sizeof caller.error)
    std::memcpy(&caller.error, words.data() + 1, sizeof caller.error);
  return caller;
}

}  // namespace

Result<std::optional<GateCaller>> PrivateMount::hear() {
  if (!line_.valid()) {
    line_ = Fd(::accept4(door_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    return std::optional<GateCaller>();
  }
  Packet packet;
  receive(line_.get(), packet);
  if (packet.size < 0 && (errno == EAGAIN || errno == EINTR)) return std::optional<GateCaller>();
  if (packet.size < 0) return os_error(errno, "receive from the container's gate");
  std::optional<GateCaller> caller = caller_of(line_.get(), packet);
  return caller;
}

Status PrivateMount::open(const std::vector<std::string>& variables) {
  std::string packet;
  for (const std::string& variable : variables) packet += variable + '\0';
  if (packet.empty()) packet += '\0';  // an empty packet would look like the end
  if (packet.size() > FATHOM_GATE_MOST_BYTES)
    return Error{Code::kInvalid, "the application's environment is too long", ""};
  if (::send(line_.get(), packet.data(), packet.size(), MSG_NOSIGNAL) < 0)
    return os_error(errno, "open the container's gate");
  return {};
}

}  // namespace fathom::containers
