// SPDX-License-Identifier: MIT
#include "guest/channels.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "guest/descriptors.h"
#include "guest/testing/world.h"

namespace fathom::guest {
namespace {

std::string words_of(int fd) {
  char text[256];
  return {text, describe_channel(fd, text, sizeof text)};
}

// A descriptor that goes with the object.
struct Fd {
  explicit Fd(int fd) : number(fd) {}
  ~Fd() { close(number); }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int number;
};

template <class Address>
std::string words_of_client(int family, Address address, socklen_t size) {
  auto* const to = reinterpret_cast<sockaddr*>(&address);
  const Fd server(socket(family, SOCK_STREAM, 0));
  const Fd client(socket(family, SOCK_STREAM, 0));
  if (bind(server.number, to, size) != 0 || listen(server.number, 1) != 0) return "no server";
  getsockname(server.number, to, &size);
  if (connect(client.number, to, size) != 0) return "no client";
  const Fd accepted(accept(server.number, nullptr, nullptr));
  return words_of(client.number) + " | " + words_of(accepted.number);
}

TEST(Channels, PipesHaveTheirEndAndTheirNumber) {
  int both[2];
  ASSERT_EQ(pipe(both), 0);
  const Fd from(both[0]), to(both[1]);
  struct stat facts {};
  ASSERT_EQ(fstat(both[0], &facts), 0);
  const std::string number = "[" + std::to_string(facts.st_ino) + "]";
  EXPECT_EQ(words_of(both[0]), "pipe from " + number);
  EXPECT_EQ(words_of(both[1]), "pipe to " + number);
}

TEST(Channels, AFifoHasItsPathAlso) {
  const std::string path = ::testing::TempDir() + "channels-fifo-" + std::to_string(getpid());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const Fd both(open(path.c_str(), O_RDWR));
  struct stat facts {};
  ASSERT_EQ(fstat(both.number, &facts), 0);
  unlink(path.c_str());
  const std::string words = words_of(both.number);
  const std::string number = std::to_string(facts.st_dev) + ":" + std::to_string(facts.st_ino);
  EXPECT_EQ(words.find("pipe [" + number + "] /"), 0U) << words;
}

TEST(Channels, SocketsHaveTheOtherSidesAddress) {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const std::string words = words_of_client(AF_INET, v4, sizeof v4);
  EXPECT_EQ(words.find("socket 127.0.0.1:"), 0U) << words;
  EXPECT_NE(words.find(" | socket 127.0.0.1:"), std::string::npos) << words;
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_addr = in6addr_loopback;
  const std::string other = words_of_client(AF_INET6, v6, sizeof v6);
  if (other != "no server") {
    EXPECT_EQ(other.find("socket [::1]:"), 0U) << other;
  }
}

TEST(Channels, SocketsOfThisMachine) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = "fathom-channels-" + std::to_string(getpid());
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  EXPECT_EQ(words_of_client(AF_UNIX, address, size), "socket @" + name + " | socket @" + name);
  int both[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, both), 0);
  const Fd one(both[0]), other(both[1]);
  EXPECT_EQ(words_of(both[0]), "socket pair");
  const Fd alone(socket(AF_UNIX, SOCK_DGRAM, 0));
  EXPECT_EQ(words_of(alone.number), "socket");
}

TEST(Channels, ObjectsAndTerminals) {
  const Fd event(eventfd(0, 0));
  EXPECT_EQ(words_of(event.number), "eventfd");
  const Fd master(posix_openpt(O_RDWR | O_NOCTTY));
  if (master.number >= 0) {
    EXPECT_EQ(words_of(master.number), "tty");
  }
  const Fd null(open("/dev/null", O_RDWR));
  EXPECT_EQ(words_of(null.number), "");
  const Fd file(open("/proc/self/exe", O_RDONLY));
  EXPECT_EQ(words_of(file.number), "");
  EXPECT_TRUE(is_no_file("/dev/pts/3"));
  EXPECT_FALSE(is_no_file("/dev/null"));
}

std::string mover_of(int fd, bool writes) {
  char text[256];
  return {text, describe_mover(fd, writes, text, sizeof text)};
}

TEST(Channels, WhoMovesBytesSaysWhichWay) {
  int both[2];
  ASSERT_EQ(pipe(both), 0);
  const Fd from(both[0]), to(both[1]);
  struct stat facts {};
  ASSERT_EQ(fstat(both[0], &facts), 0);
  const std::string number = "[" + std::to_string(facts.st_ino) + "]";
  EXPECT_EQ(mover_of(both[0], false), "moved from " + number);
  EXPECT_EQ(mover_of(both[0], true), "moved from " + number) << "its end has the say";
  EXPECT_EQ(mover_of(both[1], true), "moved to " + number);
  const std::string path = ::testing::TempDir() + "movers-fifo-" + std::to_string(getpid());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const Fd fifo(open(path.c_str(), O_RDWR));
  ASSERT_EQ(fstat(fifo.number, &facts), 0);
  unlink(path.c_str());
  const std::string pair =
      "[" + std::to_string(facts.st_dev) + ":" + std::to_string(facts.st_ino) + "]";
  EXPECT_EQ(mover_of(fifo.number, false), "moved from " + pair);
  EXPECT_EQ(mover_of(fifo.number, true), "moved to " + pair);
  const Fd file(open("/proc/self/exe", O_RDONLY));
  EXPECT_EQ(mover_of(file.number, false), "");
  const Fd event(eventfd(0, 0));
  EXPECT_EQ(mover_of(event.number, true), "");
}

// Told once, and again by a child that goes on with the pipe.
TEST(Channels, BytesThatMovedAreToldOnce) {
  testing::enter_world();
  int both[2];
  ASSERT_EQ(pipe(both), 0);
  const Fd from(both[0]), to(both[1]);
  const uint64_t word = channel_word(to.number, use_begins(to.number));
  const uint32_t before = guest.next_id;
  channel_moved(to.number, word, true);
  ASSERT_EQ(guest.next_id, before + 1);
  EXPECT_EQ(testing::read_spool().texts[before], mover_of(to.number, true));
  EXPECT_EQ(use_ends(to.number, word), static_cast<uint32_t>(word)) << "it is the same descriptor";
  const uint64_t later = channel_word(to.number, use_begins(to.number));
  channel_moved(to.number, later, true);
  EXPECT_EQ(guest.next_id, before + 1);
  guest.first_id = guest.next_id;
  guest.process_key++;
  channel_moved(to.number, channel_word(to.number, use_begins(to.number)), true);
  guest.process_key--;
  guest.first_id = 0;
  EXPECT_EQ(guest.next_id, before + 3) << "its own name, and that it moved something";
  descriptor_closes(to.number);
}

// The first use names it; a child that goes on with it is another user, with a name of its own.
TEST(Channels, WhoeverUsesOneNamesIt) {
  testing::enter_world();
  int both[2];
  ASSERT_EQ(pipe(both), 0);
  const Fd from(both[0]), to(both[1]);
  const uint64_t unused = use_begins(to.number);
  EXPECT_EQ(static_cast<uint32_t>(unused), 0U);
  const uint64_t word = channel_word(to.number, unused);
  const auto id = static_cast<uint32_t>(word);
  EXPECT_NE(id, 0U);
  EXPECT_EQ(use_ends(to.number, word), id);
  EXPECT_EQ(channel_word(to.number, use_begins(to.number)), word) << "asked once";
  EXPECT_EQ(testing::read_spool().texts[id], words_of(to.number));
  guest.first_id = guest.next_id;
  guest.process_key++;
  const uint64_t own = channel_word(to.number, use_begins(to.number));
  guest.process_key--;
  guest.first_id = 0;
  EXPECT_NE(static_cast<uint32_t>(own), id);
  EXPECT_EQ(testing::read_spool().texts[static_cast<uint32_t>(own)], words_of(to.number));
  descriptor_closes(to.number);
}

}  // namespace
}  // namespace fathom::guest
