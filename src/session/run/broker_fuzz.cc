// SPDX-License-Identifier: MIT
// Packets of a program that knows the secret, or does not. Who does not gets no word; who does gets
// the header to be read alone, and pools within the budget; nothing else appears in the spool.
#include "session/run/broker.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/testing/fuzzed_files.h"
#include "session/run_header.h"
#include "trace/testing/spool_builder.h"
#include "wire/spool.h"

namespace fathom::session {
namespace {

using fathom::testing::Pieces;

constexpr std::uint64_t kBudget = 3 << 20;

struct Answer {
  fathom_broker_reply head{};
  Fd fd;
};

class Run {
 public:
  explicit Run(const std::string& folder) : spool_(folder + "/spool") {
    header_ = make_spool(folder, {.spool_max = kBudget}).value();
    broker_ = Broker::open(folder).value();
    if (!broker_->start()) std::abort();
    const std::string variable = broker_->variable();
    words_ = variable.substr(variable.find('=') + 1);
  }

  void talk(Pieces& pieces) {
    const Fd line = connect();
    while (!pieces.done()) {
      bool knows = false;
      const std::string packet = next(pieces, knows);
      if (::send(line.get(), packet.data(), packet.size(), MSG_NOSIGNAL) < 0) return;
      const std::optional<Answer> answer = hear(line);
      if (answer.has_value() != knows) std::abort();
      if (!answer) return;
      check(packet, *answer);
    }
  }

  // As at the beginning: no pools, nothing booked.
  void clear() {
    const Directory spool = Directory::open(spool_).value();
    const std::vector<std::string> names = spool.names().value();
    for (const std::string& name : names) {
      if (name.ends_with(FATHOM_POOL_SUFFIX)) (void)spool.remove(name);
      if (name.starts_with(FATHOM_SCHEMA_PREFIX)) (void)spool.remove(name);
    }
    if (spool.names()->size() != 1) std::abort();  // run.header
    const std::uint64_t none = 0;
    testing::put_bytes(spool_ + "/" FATHOM_RUN_FILE,
                       {reinterpret_cast<const char*>(&none), sizeof none},
                       offsetof(fathom_run_header, pool_bytes));
  }

 private:
  [[nodiscard]] Fd connect() const {
    Fd line(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name = FATHOM_BROKER_PREFIX + words_.substr(0, FATHOM_BROKER_WORD);
    name.copy(address.sun_path + 1, name.size());
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    if (::connect(line.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) std::abort();
    return line;
  }

  std::string next(Pieces& pieces, bool& knows) const {
    fathom_broker_request request{};
    const std::uint8_t how = pieces.byte();
    std::string_view bytes = pieces.piece();
    if (how % 8 == 7) return std::string(bytes.empty() ? "x" : bytes);  // anything
    std::memcpy(&request, bytes.data(), std::min(bytes.size(), sizeof request));
    bytes.remove_prefix(std::min(bytes.size(), sizeof request));
    request.magic = FATHOM_BROKER_MAGIC;
    if (how % 8 != 6) request.version = FATHOM_BROKER_VERSION;
    if (how % 8 < 3) request.verb = static_cast<std::uint16_t>(1 + how % 8);
    if (how / 8 % 2 == 0) request.segments %= 64;
    if (how / 16 % 2 == 0 && request.verb == FATHOM_BROKER_SCHEMA)
      request.schema_hash = trace::fnv1a(bytes);
    knows = how / 32 % 8 != 7;
    if (knows) words_.copy(request.ask, FATHOM_BROKER_WORD, FATHOM_BROKER_WORD + 1);
    return std::string(reinterpret_cast<const char*>(&request), sizeof request).append(bytes);
  }

  static std::optional<Answer> hear(const Fd& line) {
    Answer answer;
    iovec piece{&answer.head, sizeof answer.head};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    if (::recvmsg(line.get(), &message, MSG_CMSG_CLOEXEC) <= 0) return std::nullopt;
    if (const cmsghdr* head = CMSG_FIRSTHDR(&message)) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(head), sizeof fd);
      answer.fd = Fd(fd);
    }
    return answer;
  }

  void check(const std::string& packet, const Answer& answer) const {
    fathom_broker_request request{};
    std::memcpy(&request, packet.data(), sizeof request);
    if (!answer.fd.valid()) return;
    struct stat facts {};
    if (answer.head.granted != 1 || ::fstat(answer.fd.get(), &facts) != 0) std::abort();
    if (request.verb == FATHOM_BROKER_WHO) {  // a mark by which the caller is known again: no file
      if (S_ISREG(facts.st_mode)) std::abort();
      return;
    }
    const bool to_be_read = (::fcntl(answer.fd.get(), F_GETFL) & O_ACCMODE) == O_RDONLY;
    const bool is_pool = request.verb == FATHOM_BROKER_POOL;
    if (!S_ISREG(facts.st_mode) || to_be_read == is_pool) std::abort();
    if (is_pool && static_cast<std::uint64_t>(facts.st_size) > kBudget) std::abort();
  }

  std::string spool_;
  fathom_run_header header_{};
  std::unique_ptr<Broker> broker_;
  std::string words_;
};

}  // namespace
}  // namespace fathom::session

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::session;
  static const fathom::trace::testing::TempDir folder;
  static auto& run = *new Run(folder.path());  // its thread never ends
  fathom::testing::Pieces pieces(data, size);
  run.talk(pieces);
  run.clear();
  return 0;
}
