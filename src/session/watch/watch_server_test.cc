// SPDX-License-Identifier: MIT
#include "session/watch/watch_server.h"

#include <gtest/gtest.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/ids.h"

namespace fathom::session {
namespace {

constexpr int kMany = 100;
constexpr int kOfUser = 32;  // may wait
constexpr uid_t kOther = 65534;

class WatchServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<WatchServer> opened = WatchServer::open(path_);
    ASSERT_TRUE(opened) << opened.error().message;
    server_.emplace(std::move(opened).value());
  }
  void TearDown() override {
    server_.reset();
    (void)remove_tree(std::string(dir_name(path_)));
  }

  [[nodiscard]] Fd connected() const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof address.sun_path - 1);
    Fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const auto* const to = reinterpret_cast<const sockaddr*>(&address);
    EXPECT_EQ(::connect(fd.get(), to, sizeof address), 0) << errno;
    return fd;
  }

  [[nodiscard]] std::vector<Fd> idle(int count) const {
    std::vector<Fd> callers;
    for (int i = 0; i < count; ++i) callers.push_back(connected());
    return callers;
  }

  static void ask(const Fd& caller) {
    const std::string request = format_watch_request({FATHOM_WATCH_STATUS, 0});
    EXPECT_EQ(::send(caller.get(), request.data(), request.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(request.size()));
  }

  // The text of the reply; "" where there is none.
  static std::string reply_to(const Fd& caller) {
    std::byte packet[sizeof(fathom_watch_reply) + FATHOM_WATCH_TEXT];
    const ssize_t got = ::recv(caller.get(), packet, sizeof packet, MSG_DONTWAIT);
    if (got <= 0) return "";
    const Result<std::string> text =
        parse_watch_reply(std::span(packet, static_cast<std::size_t>(got)));
    return text ? *text : text.error().message;
  }

  static bool is_sent_away(const Fd& caller) {
    std::byte packet[1];
    return ::recv(caller.get(), packet, sizeof packet, MSG_DONTWAIT) == 0;
  }

  void serve() {
    server_->serve([](const WatchRequest&, const ucred& who) -> Result<std::string> {
      return "user " + std::to_string(who.uid);
    });
  }

  std::string path_ = ::testing::TempDir() + "fathom-" + random_id() + "/watch.sock";
  std::optional<WatchServer> server_;
};

TEST_F(WatchServerTest, WhoDoesNotAskMakesRoomForTheUsersOwn) {
  const std::vector<Fd> silent = idle(kMany);
  serve();
  EXPECT_EQ(std::ranges::count_if(silent, is_sent_away), kMany - kOfUser);
  EXPECT_TRUE(is_sent_away(silent.front()));
  EXPECT_FALSE(is_sent_away(silent.back()));
  EXPECT_EQ(server_->take_unserved(), kMany - kOfUser);
  EXPECT_EQ(server_->take_unserved(), 0);
}

TEST_F(WatchServerTest, WhoHasAskedIsServedBeforeHeIsSentAway) {
  const Fd first = connected();
  ask(first);
  const std::vector<Fd> silent = idle(kMany);
  serve();
  EXPECT_EQ(reply_to(first), "user " + std::to_string(::geteuid()));
  EXPECT_EQ(server_->take_unserved(), kMany - kOfUser);
}

TEST_F(WatchServerTest, AnotherUserIsServedBesideACrowd) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can act as another user";
  ASSERT_EQ(::seteuid(kOther), 0);
  const Fd waiting = connected();
  ASSERT_EQ(::seteuid(0), 0);
  for (int round = 0; round < 3; ++round) {
    const std::vector<Fd> silent = idle(kMany);
    serve();
    EXPECT_FALSE(is_sent_away(waiting));
  }
  const std::int64_t unserved = server_->take_unserved();
  EXPECT_GE(unserved, kMany - kOfUser);
  EXPECT_LE(unserved, 3 * kMany);
  ask(waiting);
  serve();
  EXPECT_EQ(reply_to(waiting), "user " + std::to_string(kOther));
}

// More users than there is room for: who has most gives way.
TEST_F(WatchServerTest, ManyUsersLeaveRoomForOneWhoHasOneCaller) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can act as another user";
  constexpr int kRoom = 256;
  constexpr int kUsers = 10;
  constexpr int kEach = 30;
  const Fd only = connected();
  std::vector<Fd> silent;
  for (uid_t user = 0; user < kUsers; ++user) {
    ASSERT_EQ(::seteuid(kOther - user), 0);
    std::ranges::move(idle(kEach), std::back_inserter(silent));
    ASSERT_EQ(::seteuid(0), 0);
  }
  serve();
  EXPECT_EQ(std::ranges::count_if(silent, is_sent_away), kUsers * kEach + 1 - kRoom);
  ask(only);
  serve();
  EXPECT_EQ(reply_to(only), "user 0");
}

}  // namespace
}  // namespace fathom::session
