// SPDX-License-Identifier: MIT
#include "session/run/broker.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>

#include "base/files.h"
#include "session/run_header.h"
#include "trace/decode/schema.h"
#include "wire/spool.h"

namespace fathom::session {
namespace {

struct Answer {
  fathom_broker_reply head{};
  Fd fd;
};

class Brokered : public ::testing::Test {
 protected:
  Brokered() {
    std::string name = ::testing::TempDir() + "broker-XXXXXX";
    root_ = mkdtemp(name.data());
    EXPECT_TRUE(make_spool(root_, {.spool_max = 3 << 20}));
    broker_ = Broker::open(root_).value();
    EXPECT_TRUE(broker_->start());
    const std::string variable = broker_->variable();
    value_ = variable.substr(variable.find('=') + 1);
  }
  ~Brokered() override {
    broker_.reset();
    (void)remove_tree(root_).has_value();
  }

  [[nodiscard]] Fd line() const {
    Fd line(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name = FATHOM_BROKER_PREFIX + value_.substr(0, FATHOM_BROKER_WORD);
    name.copy(address.sun_path + 1, name.size());
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    EXPECT_EQ(::connect(line.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    return line;
  }

  // What the broker says to one packet; nothing where it hangs up without a word.
  [[nodiscard]] std::optional<Answer> ask(const std::string& packet) const {
    return ask(line(), packet);
  }
  static std::optional<Answer> ask(const Fd& line, const std::string& packet) {
    EXPECT_EQ(::send(line.get(), packet.data(), packet.size(), 0),
              static_cast<ssize_t>(packet.size()));
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

  [[nodiscard]] fathom_broker_request request(fathom_broker_verb verb) const {
    fathom_broker_request request{};
    request.magic = FATHOM_BROKER_MAGIC;
    request.version = FATHOM_BROKER_VERSION;
    request.verb = static_cast<std::uint16_t>(verb);
    value_.copy(request.ask, FATHOM_BROKER_WORD, FATHOM_BROKER_WORD + 1);
    return request;
  }
  static std::string packet(const fathom_broker_request& request, const std::string& text = "") {
    return std::string(reinterpret_cast<const char*>(&request), sizeof request) + text;
  }

  std::string root_, value_;
  std::unique_ptr<Broker> broker_;
};

// From another network namespace: by its path, which nobody else can reach.
TEST_F(Brokered, ListensAtAPathAsWell) {
  const std::string path = value_.substr(3UL * (FATHOM_BROKER_WORD + 1));
  struct stat facts {};
  ASSERT_EQ(::lstat(path.c_str(), &facts), 0) << path;
  EXPECT_TRUE(S_ISSOCK(facts.st_mode));
  EXPECT_EQ(facts.st_mode & 07777U, 0600U);
  ASSERT_EQ(::lstat(path.substr(0, path.rfind('/')).c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777U, 0700U);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const auto call = [&] {
    Fd line(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    const bool there =
        ::connect(line.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    return there ? std::move(line) : Fd();
  };
  const auto answer = ask(call(), packet(request(FATHOM_BROKER_JOIN)));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->head.granted, 1);
  fathom_broker_request stranger = request(FATHOM_BROKER_JOIN);
  stranger.ask[0] ^= 1;
  EXPECT_FALSE(ask(call(), packet(stranger)));
  broker_->stop();
  EXPECT_NE(::lstat(path.c_str(), &facts), 0) << "it goes with the recorder";
}

// What a recorder that was killed left behind.
TEST_F(Brokered, ADoorWithoutARecorderIsRemoved) {
  const std::string path = value_.substr(3UL * (FATHOM_BROKER_WORD + 1));
  const std::string left = path.substr(0, path.rfind('/') + 1) + FATHOM_BROKER_DOOR "left";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  left.copy(address.sun_path, sizeof address.sun_path - 1);
  {
    const Fd dead(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::bind(dead.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  ASSERT_TRUE(Broker::open(root_));
  struct stat facts {};
  EXPECT_NE(::lstat(left.c_str(), &facts), 0);
  EXPECT_EQ(::lstat(path.c_str(), &facts), 0) << "somebody listens there";
}

TEST_F(Brokered, GivesTheHeaderToBeReadAlone) {
  const auto answer = ask(packet(request(FATHOM_BROKER_JOIN)));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->head.granted, 1);
  EXPECT_EQ(std::string(answer->head.answer, FATHOM_BROKER_WORD),
            value_.substr(2UL * (FATHOM_BROKER_WORD + 1), FATHOM_BROKER_WORD));
  std::uint64_t magic = 0;
  EXPECT_EQ(::pread(answer->fd.get(), &magic, sizeof magic, 0), 8);
  EXPECT_EQ(magic, FATHOM_RUN_MAGIC);
  EXPECT_NE(::ftruncate(answer->fd.get(), 0), 0);
  EXPECT_EQ(::mmap(nullptr, 4096, PROT_WRITE, MAP_SHARED, answer->fd.get(), 0), MAP_FAILED);
}

TEST_F(Brokered, AStrangerGetsNoWord) {
  fathom_broker_request stranger = request(FATHOM_BROKER_JOIN);
  stranger.ask[5] = stranger.ask[5] == '0' ? '1' : '0';
  EXPECT_FALSE(ask(packet(stranger)));
  EXPECT_FALSE(ask("short"));
}

TEST_F(Brokered, KeepsASchemaThatIsWhatItsNameSays) {
  const std::string text = "a schema\n";
  fathom_broker_request wanted = request(FATHOM_BROKER_JOIN);
  wanted.schema_hash = trace::fnv1a(text);
  EXPECT_EQ(ask(packet(wanted))->head.wants_schema, 1U);
  fathom_broker_request brings = request(FATHOM_BROKER_SCHEMA);
  brings.schema_hash = wanted.schema_hash;
  EXPECT_EQ(ask(packet(brings, "another\n"))->head.granted, 0);
  EXPECT_EQ(ask(packet(brings, text))->head.granted, 1);
  EXPECT_EQ(ask(packet(wanted))->head.wants_schema, 0U);
}

TEST_F(Brokered, MakesPoolsWithinTheBudget) {
  fathom_broker_request pool = request(FATHOM_BROKER_POOL);
  pool.segments = 32;
  pool.process_key = 0xabc;
  pool.serial = 1;
  const auto answer = ask(packet(pool));
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->head.granted, 1);
  struct stat facts {};
  const std::string path =
      root_ + "/spool/" + std::to_string(getpid()) + "-abc-1" + FATHOM_POOL_SUFFIX;
  ASSERT_EQ(::stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_size, FATHOM_POOL_HEADER_SIZE + 32 * FATHOM_SEGMENT_SIZE);
  EXPECT_EQ(facts.st_mode & 0777U, 0600U);
  EXPECT_EQ(ask(packet(pool))->head.granted, 0) << "it is there already";
  for (unsigned segments : {0U, 1U << 20U, 64U}) {
    pool.segments = segments;
    pool.serial++;
    EXPECT_EQ(ask(packet(pool))->head.granted, 0) << segments;
  }
  pool.segments = 32;
  EXPECT_EQ(ask(packet(pool))->head.granted, 1) << "what was not made is not booked";
}

// Who asks tries smaller ones before it gives up.
TEST_F(Brokered, CountsWhoGotNoRoomAtAll) {
  const auto refused = [&] {
    const Result<std::string> header = read_file(root_ + "/spool/" FATHOM_RUN_FILE);
    fathom_run_header read{};
    std::memcpy(&read, header->data(), sizeof read);
    return read.refused;
  };
  fathom_broker_request pool = request(FATHOM_BROKER_POOL);
  pool.process_key = 0xabc;
  for (pool.segments = 64; pool.segments > FATHOM_BROKER_SMALLEST_POOL; pool.segments /= 2) {
    pool.serial++;
    (void)ask(packet(pool));  // until nothing is left
  }
  EXPECT_EQ(refused(), 0U);
  unsigned granted = 0;
  for (unsigned i = 0; i < 40; i++) {
    pool.serial++;
    granted += ask(packet(pool))->head.granted;
  }
  EXPECT_GT(granted, 0U);
  EXPECT_EQ(refused(), 40 - granted);
  EXPECT_GT(refused(), 0U);
}

TEST_F(Brokered, TellsAProcessItsNumberHere) {
  const auto answer = ask(packet(request(FATHOM_BROKER_WHO)));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->head.granted, 1);
  EXPECT_EQ(answer->head.pid, static_cast<std::uint32_t>(getpid()));
  EXPECT_FALSE(answer->fd.valid());
}

TEST_F(Brokered, TellsAThreadThatSignsItsNumberHere) {
  fathom_broker_request who = request(FATHOM_BROKER_WHO);
  who.segments = 1;
  pid_t tid = 0;
  std::optional<Answer> first;
  std::optional<Answer> second;
  std::thread([&] {
    tid = static_cast<pid_t>(::syscall(SYS_gettid));
    const Fd line = this->line();
    first = ask(line, packet(who));
    if (!first) return;
    const f_owner_ex owner{F_OWNER_TID, tid};
    EXPECT_EQ(::fcntl(first->fd.get(), F_SETOWN_EX, &owner), 0);
    second = ask(line, packet(who));
  }).join();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->head.tid, 0U);
  EXPECT_EQ(second->head.pid, static_cast<std::uint32_t>(getpid()));
  EXPECT_EQ(second->head.tid, static_cast<std::uint32_t>(tid));
  EXPECT_FALSE(second->fd.valid());
}

}  // namespace
}  // namespace fathom::session
