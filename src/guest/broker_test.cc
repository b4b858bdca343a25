// SPDX-License-Identifier: MIT
// What a process asks of the recorder's broker, and whose answers it takes: a broker of our own
// answers here, rightly or not.
#include "guest/broker.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "guest/runtime.h"
#include "guest/testing/world.h"
#include "wire/broker.h"

namespace fathom::guest {
namespace {

std::string word(char letter) { return std::string(FATHOM_BROKER_WORD, letter); }

std::string name_of_this_process() {
  std::string name = "unit-test-" + std::to_string(getpid());
  name.resize(FATHOM_BROKER_WORD, '0');
  return name;
}

fathom_broker_reply good_reply() {
  fathom_broker_reply reply{};
  reply.magic = FATHOM_BROKER_MAGIC;
  reply.version = FATHOM_BROKER_VERSION;
  reply.granted = 1;
  std::memcpy(reply.answer, word('c').data(), FATHOM_BROKER_WORD);
  return reply;
}

size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

// Serves one line: each request gets the same reply, the first one with a descriptor.
class Broker {
 public:
  Broker(fathom_broker_reply reply, size_t size, bool gives = true, const std::string& path = "")
      : reply_(reply), size_(size), gives_(gives) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    // A path has its NUL behind it, an abstract name before it.
    const std::string name = path.empty() ? FATHOM_BROKER_PREFIX + name_of_this_process() : path;
    std::memcpy(address.sun_path + (path.empty() ? 1 : 0), name.data(), name.size());
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    socket_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    given_ = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    EXPECT_EQ(bind(socket_, reinterpret_cast<const sockaddr*>(&address), length), 0);
    EXPECT_EQ(listen(socket_, 1), 0);
    thread_ = std::thread([this] { serve(); });
  }
  ~Broker() {
    shutdown(socket_, SHUT_RDWR);
    finish();
    close(socket_);
    close(given_);
  }
  Broker(const Broker&) = delete;
  Broker& operator=(const Broker&) = delete;

  const std::vector<fathom_broker_request>& finish() {
    if (thread_.joinable()) thread_.join();
    return seen_;
  }
  [[nodiscard]] bool gave(int fd) const {
    struct stat mine {
    }, theirs{};
    return fstat(fd, &theirs) == 0 && fstat(given_, &mine) == 0 && mine.st_ino == theirs.st_ino;
  }
  [[nodiscard]] int owner() const {
    f_owner_ex owner{};
    return fcntl(given_, F_GETOWN_EX, &owner) == 0 ? owner.pid : -1;
  }

 private:
  void serve() {
    const int line = accept(socket_, nullptr, nullptr);
    fathom_broker_request request{};
    while (line >= 0 && recv(line, &request, sizeof request, 0) > 0) {
      seen_.push_back(request);
      answer(line, gives_ && seen_.size() == 1);
    }
    if (line >= 0) close(line);
  }
  void answer(int line, bool with_descriptor) {
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    iovec piece{&reply_, size_};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    if (with_descriptor) {
      message.msg_control = control;
      message.msg_controllen = sizeof control;
      cmsghdr* const head = CMSG_FIRSTHDR(&message);
      head->cmsg_level = SOL_SOCKET;
      head->cmsg_type = SCM_RIGHTS;
      head->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(head), &given_, sizeof given_);
    }
    if (size_ > 0) (void)sendmsg(line, &message, MSG_NOSIGNAL);
  }

  fathom_broker_reply reply_;
  size_t size_;  // 0: it says nothing
  bool gives_;
  int socket_ = -1, given_ = -1;
  std::vector<fathom_broker_request> seen_;
  std::thread thread_;
};

class BrokerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    testing::enter_world();
    say(name_of_this_process() + "-" + word('b') + "-" + word('c'));
  }
  void TearDown() override { unsetenv(FATHOM_BROKER_VARIABLE); }
  static void say(const std::string& words) { setenv(FATHOM_BROKER_VARIABLE, words.c_str(), 1); }
};

TEST_F(BrokerTest, ThereIsOneWhereAllThreeWordsAreGiven) {
  EXPECT_TRUE(has_broker());
  for (const std::string& words :
       {std::string(), word('a'), word('a') + "-" + word('b') + "-", std::string(98, 'a'),
        word('a') + "-" + word('b') + "+" + word('c'),
        word('a') + "+" + word('b') + "-" + word('c'),
        word('a') + "-" + word('b') + "-" + word('c') + "d",
        word('a') + "-" + word('b') + "-" + word('c') + "-relative",
        word('a') + "-" + word('b') + "-" + word('c') + "/path"}) {
    say(words);
    EXPECT_FALSE(has_broker()) << words;
    EXPECT_EQ(brokered_run_header(), -1);
  }
  unsetenv(FATHOM_BROKER_VARIABLE);
  EXPECT_FALSE(has_broker());
}

TEST_F(BrokerTest, NobodyAnswersThatName) {
  const size_t before = open_descriptors();
  EXPECT_EQ(brokered_run_header(), -1);
  EXPECT_EQ(brokered_pool(4, 1), -1);
  EXPECT_EQ(open_descriptors(), before);
}

// As in another network namespace, where nobody has that name.
TEST_F(BrokerTest, APathIsTriedWhereTheNameIsNotFound) {
  const std::string words = name_of_this_process() + "-" + word('b') + "-" + word('c') + "-";
  const std::string path = ::testing::TempDir() + "door-" + std::to_string(getpid());
  say(words + path);
  EXPECT_EQ(brokered_run_header(), -1) << "nobody is there either";
  {
    Broker broker(good_reply(), sizeof(fathom_broker_reply), true, path);
    const int fd = brokered_run_header();
    EXPECT_TRUE(broker.gave(fd));
    close(fd);
  }
  unlink(path.c_str());
  say(words + "/" + std::string(200, 'x'));
  EXPECT_TRUE(has_broker());
  EXPECT_EQ(brokered_run_header(), -1) << "no socket has a path of this length";
}

TEST_F(BrokerTest, TheHeaderIsAskedForByName) {
  Broker broker(good_reply(), sizeof(fathom_broker_reply));
  const size_t before = open_descriptors();
  const int fd = brokered_run_header();
  ASSERT_GE(fd, 0);
  EXPECT_TRUE(broker.gave(fd));
  EXPECT_NE(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
  close(fd);
  const auto& seen = broker.finish();
  EXPECT_EQ(open_descriptors(), before);
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].magic, FATHOM_BROKER_MAGIC);
  EXPECT_EQ(seen[0].version, FATHOM_BROKER_VERSION);
  EXPECT_EQ(seen[0].verb, FATHOM_BROKER_JOIN);
  EXPECT_EQ(std::string(seen[0].ask, sizeof seen[0].ask), word('b'));
  EXPECT_EQ(seen[0].process_key, guest.process_key);
}

TEST_F(BrokerTest, TheSchemaFollowsWhereItIsWanted) {
  fathom_broker_reply reply = good_reply();
  reply.wants_schema = 1;
  Broker broker(reply, sizeof reply);
  const int fd = brokered_run_header();
  EXPECT_TRUE(broker.gave(fd));
  close(fd);
  const auto& seen = broker.finish();
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[1].verb, FATHOM_BROKER_SCHEMA);
  EXPECT_EQ(seen[1].schema_hash, 1U);  // of the test's world
}

TEST_F(BrokerTest, APoolHasItsSizeAndNumber) {
  Broker broker(good_reply(), sizeof(fathom_broker_reply));
  const int fd = brokered_pool(16, 7);
  EXPECT_TRUE(broker.gave(fd));
  close(fd);
  const auto& seen = broker.finish();
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].verb, FATHOM_BROKER_POOL);
  EXPECT_EQ(seen[0].segments, 16U);
  EXPECT_EQ(seen[0].serial, 7U);
}

TEST_F(BrokerTest, NumbersAreThoseOfTheRecorder) {
  fathom_broker_reply reply = good_reply();
  reply.pid = 4321;
  reply.tid = 4330;
  const size_t before = open_descriptors();
  {
    Broker broker(reply, sizeof reply, false);
    EXPECT_EQ(brokered_numbers(0).pid, 4321U);
    const auto& seen = broker.finish();
    ASSERT_EQ(seen.size(), 1U);
    EXPECT_EQ(seen[0].verb, FATHOM_BROKER_WHO);
    EXPECT_EQ(seen[0].segments, 0U);
  }
  {
    Broker broker(reply, sizeof reply);
    const Numbers numbers = brokered_numbers(gettid());
    EXPECT_EQ(numbers.pid, 4321U);
    EXPECT_EQ(numbers.tid, 4330U);
    EXPECT_EQ(broker.owner(), gettid()) << "it has signed what it was given";
    EXPECT_EQ(broker.finish().size(), 2U);
  }
  EXPECT_EQ(brokered_numbers(0).pid, 0U) << "nobody is there";
  EXPECT_EQ(open_descriptors(), before);
}

// A descriptor that came with such a reply is closed.
TEST_F(BrokerTest, NothingIsTakenFromWhoeverDoesNotKnowTheAnswer) {
  std::vector<fathom_broker_reply> replies(4, good_reply());
  replies[0].magic++;
  replies[1].version++;
  replies[2].granted = 0;
  replies[3].answer[FATHOM_BROKER_WORD - 1] = 'x';
  const size_t before = open_descriptors();
  for (const fathom_broker_reply& reply : replies) {
    Broker broker(reply, sizeof reply);
    EXPECT_EQ(brokered_run_header(), -1);
  }
  {
    Broker broker(good_reply(), sizeof(fathom_broker_reply) - 1);
    EXPECT_EQ(brokered_run_header(), -1);
  }
  {
    Broker broker(good_reply(), sizeof(fathom_broker_reply), false);
    EXPECT_EQ(brokered_run_header(), -1);
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(BrokerTest, SilenceIsWaitedForASecond) {
  Broker broker(good_reply(), 0);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(brokered_run_header(), -1);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(990));
}

TEST_F(BrokerTest, OutOfReach) {
  for (const int error : {EACCES, EPERM, ENOENT, EROFS}) EXPECT_TRUE(is_out_of_reach(-error));
  for (const int error : {0, EMFILE, ENOSPC, -EACCES}) EXPECT_FALSE(is_out_of_reach(-error));
}

}  // namespace
}  // namespace fathom::guest
