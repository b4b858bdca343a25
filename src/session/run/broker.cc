// SPDX-License-Identifier: MIT
// A thread that answers one packet at a time over an abstract socket, which works across roots and
// users, and over one with a path, which works across network namespaces. Callers prove themselves
// by a secret, compared in constant time.
#include "session/run/broker.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

#include "base/clock.h"
#include "base/hex.h"
#include "base/ids.h"
#include "base/os_error.h"
#include "trace/decode/schema.h"
#include "trace/spool/spool.h"
#include "wire/spool.h"

namespace fathom::session {
namespace {

// Anybody on this machine may knock: each of these bounds what that costs.
constexpr int kWaiting = 128;             // who have not been let in yet
constexpr std::size_t kMostCallers = 64;  // who were let in; others make room
constexpr std::int64_t kPatienceNs = 2'000'000'000;
constexpr mode_t kPrivate = 0600;

std::string schema_name(std::uint64_t hash) {
  std::string name = FATHOM_SCHEMA_PREFIX;
  for (int shift = 60; shift >= 0; shift -= 4) name += kHexDigits[hash >> shift & 15];
  return name;
}

std::string hex(std::uint64_t number) {
  const std::string padded = schema_name(number).substr(sizeof FATHOM_SCHEMA_PREFIX - 1);
  const std::size_t first = padded.find_first_not_of('0');
  return first == std::string::npos ? "0" : padded.substr(first);
}

// Every byte is looked at, whichever is the first that differs.
bool same_secret(const char* shown, std::string_view known) {
  unsigned difference = 0;
  for (std::size_t i = 0; i < known.size(); ++i)
    difference |= static_cast<unsigned char>(shown[i]) ^ static_cast<unsigned char>(known[i]);
  return difference == 0;
}

// A descriptor goes with it, if there is one. Nobody who asked is waited for: a full socket is his
// loss.
bool send_reply(int line, const fathom_broker_reply& reply, int fd) {
  iovec piece{const_cast<fathom_broker_reply*>(&reply), sizeof reply};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (fd >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(head), &fd, sizeof fd);
  }
  return ::sendmsg(line, &message, MSG_NOSIGNAL | MSG_DONTWAIT) > 0;
}

// As the kernel saw the caller when it connected, in our numbers: it cannot be made up.
std::int32_t peer_of(int line) {
  ucred who{};
  socklen_t size = sizeof who;
  return ::getsockopt(line, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 ? who.pid : 0;
}

}  // namespace

Result<std::unique_ptr<Broker>> Broker::open(const std::string& directory,
                                             const std::optional<Door>& door) {
  std::unique_ptr<Broker> broker(new Broker);
  // Three words: where to knock, what proves the caller, and what proves us to it. A program that
  // got hold of the socket's name alone learns nothing, and can play neither side.
  broker->name_ = random_id();
  broker->ask_ = random_id();
  broker->answer_ = random_id();
  const std::string spool = join_path(directory, trace::kSpoolDirectory);
  broker->spool_ = Fd(::open(spool.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!broker->spool_.valid()) return os_error(errno, "open " + spool);
  FATHOM_TRY(broker->listen());
  if (door) {
    broker->private_door_.emplace(PrivateDoor::at(door->path));
    if (!broker->private_door_->path().empty()) broker->told_ = door->told;
  } else {
    broker->private_door_.emplace(broker->name_);
    broker->told_ = broker->private_door_->path();
  }
  return broker;
}

Status Broker::listen() {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = FATHOM_BROKER_PREFIX + name_;
  name.copy(address.sun_path + 1, name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  door_ = Fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  wake_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!door_.valid() || !wake_.valid() ||
      ::bind(door_.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      ::listen(door_.get(), kWaiting) != 0)
    return os_error(errno, "make a socket");
  packet_.resize(sizeof(fathom_broker_request) + FATHOM_BROKER_LARGEST_SCHEMA + 1);
  return {};
}

std::string Broker::variable() const {
  const std::string words = FATHOM_BROKER_VARIABLE "=" + name_ + "-" + ask_ + "-" + answer_;
  return told_.empty() ? words : words + "-" + told_;
}

Status Broker::start() {
  try {
    thread_ = std::jthread([this](const std::stop_token& stop) {
      try {
        serve(stop);
      } catch (const std::exception&) {
        close_doors();  // memory was short: whoever asks now is refused at once
      }
    });
  } catch (const std::exception& error) {
    return Error{Code::kIo, std::string("cannot start a thread: ") + error.what(), ""};
  }
  return {};
}

void Broker::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  const std::uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
  thread_.join();
}

void Broker::serve(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    wait();
    accept_some(door_.get());
    accept_some(private_door_->fd());
    std::erase_if(callers_, [&](Caller& caller) { return serve_one(caller); });
  }
  callers_.clear();
  close_doors();
}

void Broker::close_doors() {
  door_.reset();
  private_door_->close();
}

void Broker::wait() {
  std::vector<pollfd> waiting{{wake_.get(), POLLIN, 0},
                              {door_.get(), POLLIN, 0},
                              {private_door_->fd(), POLLIN, 0}};  // -1: poll leaves it out
  for (const Caller& caller : callers_) waiting.push_back({caller.line.get(), POLLIN, 0});
  constexpr int kLookMs = 1000;  // for those who came and do not ask
  ::poll(waiting.data(), waiting.size(), callers_.empty() ? -1 : kLookMs);
}

void Broker::accept_some(int door) {
  for (std::size_t i = 0; door >= 0 && i < kMostCallers; ++i) {
    Fd line(::accept4(door, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!line.valid()) {
      constexpr useconds_t kMoment = 10'000;
      if (errno != EAGAIN && errno != EINTR) ::usleep(kMoment);  // out of descriptors
      return;
    }
    // The oldest: whoever holds a place and asks nothing must not keep others out.
    if (callers_.size() == kMostCallers) callers_.erase(callers_.begin());
    callers_.push_back({std::move(line), now_monotonic_ns(), {}});
  }
}

bool Broker::serve_one(Caller& caller) {
  const ssize_t got = ::recv(caller.line.get(), packet_.data(), packet_.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR))
    return now_monotonic_ns() - caller.came_ns > kPatienceNs;
  if (got <= 0) return true;
  const Reply reply = answer(std::span(packet_).first(static_cast<std::size_t>(got)), caller);
  if (reply.head.magic == 0) return true;  // a stranger gets no word
  return !send_reply(caller.line.get(), reply.head, reply.fd.get());
}

Broker::Reply Broker::answer(std::span<const std::byte> packet, Caller& caller) {
  Reply reply;
  fathom_broker_request request{};
  if (packet.size() < sizeof request) return reply;
  std::memcpy(&request, packet.data(), sizeof request);
  if (request.magic != FATHOM_BROKER_MAGIC || !same_secret(request.ask, ask_)) return reply;
  reply.head.magic = FATHOM_BROKER_MAGIC;
  reply.head.version = FATHOM_BROKER_VERSION;
  std::memcpy(reply.head.answer, answer_.data(), FATHOM_BROKER_WORD);
  // It is one of ours, of another version: it is told so by an answer that grants nothing.
  if (request.version != FATHOM_BROKER_VERSION) return reply;
  bool granted = false;
  if (request.verb == FATHOM_BROKER_JOIN) {
    bool wants_schema = false;
    reply.fd = open_header(request.schema_hash, wants_schema);
    reply.head.wants_schema = wants_schema ? 1 : 0;
    granted = reply.fd.valid();
  } else if (request.verb == FATHOM_BROKER_SCHEMA) {
    const auto text = packet.subspan(sizeof request);
    granted =
        keep_schema(request.schema_hash, {reinterpret_cast<const char*>(text.data()), text.size()});
  } else if (request.verb == FATHOM_BROKER_POOL) {
    reply.fd = give_pool(request, peer_of(caller.line.get()));
    granted = reply.fd.valid();
  } else if (request.verb == FATHOM_BROKER_WHO) {
    granted = tell_numbers(request, caller, reply);
  }
  reply.head.granted = granted ? 1 : 0;
  return reply;
}

// A thread asks twice: before and after it has signed the mark. Nothing is taken from a program.
bool Broker::tell_numbers(const fathom_broker_request& request, Caller& caller, Reply& reply) {
  const std::int32_t pid = peer_of(caller.line.get());
  if (pid <= 0) return false;
  reply.head.pid = static_cast<std::uint32_t>(pid);
  // The process alone is asked for.
  if (request.segments == 0) return true;
  if (!caller.mark.valid()) {
    caller.mark = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    reply.fd = Fd(::fcntl(caller.mark.get(), F_DUPFD_CLOEXEC, 0));
    return reply.fd.valid();
  }
  // The thread has made itself the owner of the mark (F_SETOWN_EX): the kernel shows us who that
  // is, by the number that it has here.
  f_owner_ex owner{};
  if (::fcntl(caller.mark.get(), F_GETOWN_EX, &owner) == 0 && owner.type == F_OWNER_TID &&
      owner.pid > 0)
    reply.head.tid = static_cast<std::uint32_t>(owner.pid);
  return true;
}

// To be read alone: who writes to the header, or cuts it off, does that to all processes of the
// run.
Fd Broker::open_header(std::uint64_t schema, bool& wants_schema) const {
  struct stat facts {};
  wants_schema = ::fstatat(spool_.get(), schema_name(schema).c_str(), &facts, 0) != 0;
  return Fd(::openat(spool_.get(), FATHOM_RUN_FILE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
}

bool Broker::keep_schema(std::uint64_t hash, std::string_view text) const {
  if (text.empty() || text.size() > FATHOM_BROKER_LARGEST_SCHEMA || trace::fnv1a(text) != hash)
    return false;
  const std::string name = schema_name(hash);
  // Never half a schema under its own name: others read it as soon as it is there.
  const std::string draft = name + "." + std::to_string(::getpid());
  const Fd file(
      ::openat(spool_.get(), draft.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, kPrivate));
  if (!file.valid()) return false;
  const bool whole =
      ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      ::fchmod(file.get(), kPrivate) == 0;
  // Somebody else may have brought it meanwhile.
  const bool kept =
      whole && (::linkat(spool_.get(), draft.c_str(), spool_.get(), name.c_str(), 0) == 0 ||
                errno == EEXIST);
  ::unlinkat(spool_.get(), draft.c_str(), 0);
  return kept;
}

// False where there is no header any more.
// Opened and mapped for the moment: somebody may remove or exchange it, and the new one is the
// run's then.
bool Broker::change_header(const std::function<bool(fathom_run_header&)>& change) const {
  const Fd file(::openat(spool_.get(), FATHOM_RUN_FILE, O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  struct stat facts {};
  if (!file.valid() || ::fstat(file.get(), &facts) != 0 || facts.st_size < FATHOM_RUN_HEADER_SIZE)
    return false;
  void* memory =
      ::mmap(nullptr, FATHOM_RUN_HEADER_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) return false;
  const bool changed = change(*static_cast<fathom_run_header*>(memory));
  ::munmap(memory, FATHOM_RUN_HEADER_SIZE);
  return changed;
}

// Room is booked before the file is made, and given back where that fails: of several who ask at
// once none gets what the other has.
bool Broker::book(std::int64_t bytes) const {
  return change_header([&](fathom_run_header& header) {
    const auto change = static_cast<std::uint64_t>(bytes);
    const std::uint64_t sum = __atomic_add_fetch(&header.pool_bytes, change, __ATOMIC_RELAXED);
    const bool fits = bytes < 0 || header.spool_max == 0 || sum <= header.spool_max;
    if (!fits) __atomic_fetch_sub(&header.pool_bytes, change, __ATOMIC_RELAXED);
    return fits;
  });
}

// Who asks has a copy of the header, and can count nothing there that anybody reads.
Fd Broker::give_pool(const fathom_broker_request& request, std::int32_t pid) const {
  Fd pool = make_pool(request, pid);
  if (!pool.valid() && request.segments == FATHOM_BROKER_SMALLEST_POOL) {
    change_header([](fathom_run_header& header) {
      if (header.when_full == FATHOM_WHEN_FULL_BLOCK) return false;  // it waits and loses nothing
      __atomic_fetch_add(&header.refused, 1, __ATOMIC_RELAXED);
      return true;
    });
  }
  return pool;
}

Fd Broker::make_pool(const fathom_broker_request& request, std::int32_t pid) const {
  if (request.segments == 0 || request.segments > FATHOM_BROKER_LARGEST_POOL) return {};
  const std::int64_t bytes =
      FATHOM_POOL_HEADER_SIZE + std::int64_t{request.segments} * FATHOM_SEGMENT_SIZE;
  const std::string name = std::to_string(pid) + "-" + hex(request.process_key) + "-" +
                           std::to_string(request.serial) + FATHOM_POOL_SUFFIX;
  if (!book(bytes)) return {};
  Fd file(::openat(spool_.get(), name.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, kPrivate));
  // All of its bytes now: a disk that is full later would end the program with SIGBUS.
  if (file.valid() && ::fchmod(file.get(), kPrivate) == 0 &&
      ::posix_fallocate(file.get(), 0, bytes) == 0)
    return file;
  if (file.valid()) ::unlinkat(spool_.get(), name.c_str(), 0);
  book(-bytes);
  return {};
}

}  // namespace fathom::session
