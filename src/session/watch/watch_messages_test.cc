// SPDX-License-Identifier: MIT
#include "session/watch/watch_messages.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "base/files.h"

namespace fathom::session {
namespace {

std::string packet(std::uint32_t magic, std::uint16_t version, std::uint16_t verb,
                   std::int32_t pid) {
  const fathom_watch_request request{magic, version, verb, pid, 0};
  return {reinterpret_cast<const char*>(&request), sizeof request};
}

Result<WatchRequest> parse(const std::string& bytes) {
  return parse_watch_request(std::as_bytes(std::span(bytes)));
}

TEST(WatchMessages, RequestsComeBackAsTheyWere) {
  const WatchRequest requests[] = {{FATHOM_WATCH_CONNECT, 0},   {FATHOM_WATCH_DISCONNECT, 0},
                                   {FATHOM_WATCH_ATTACH, 4711}, {FATHOM_WATCH_STATUS, 0},
                                   {FATHOM_WATCH_RELOAD, 0},    {FATHOM_WATCH_DETACH, 1}};
  for (const WatchRequest& request : requests) {
    const Result<WatchRequest> read = parse(format_watch_request(request));
    ASSERT_TRUE(read) << request.verb;
    EXPECT_EQ(read->verb, request.verb);
    EXPECT_EQ(read->process, request.process);
  }
}

// Whoever is asked could name any process as the daemon.
TEST(WatchMessages, TheDaemonIsWhoListens) {
  const std::string path =
      ::testing::TempDir() + "fathom_daemon_" + std::to_string(getpid()) + ".sock";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  EXPECT_FALSE(daemon_at(path)) << "nobody does";
  const Fd door(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(door.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(door.get(), 1), 0);
  EXPECT_EQ(daemon_at(path).value(), getpid());
  ::unlink(path.c_str());
}

TEST(WatchMessages, WhatIsNoRequestIsRefused) {
  constexpr std::uint32_t kMagic = FATHOM_WATCH_MAGIC;
  const std::string sound = packet(kMagic, 1, FATHOM_WATCH_ATTACH, 1);
  ASSERT_TRUE(parse(sound));
  for (std::size_t size = 0; size < sound.size(); ++size)
    EXPECT_FALSE(parse(sound.substr(0, size))) << size << " bytes";
  EXPECT_FALSE(parse(sound + "x"));
  EXPECT_FALSE(parse(std::string(100'000, '\0')));
  struct Case {
    const char* what;
    std::string bytes;
  };
  const Case cases[] = {
      {"magic", packet(kMagic + 1, 1, FATHOM_WATCH_CONNECT, 0)},
      {"an older version", packet(kMagic, 0, FATHOM_WATCH_CONNECT, 0)},
      {"a newer version", packet(kMagic, 2, FATHOM_WATCH_CONNECT, 0)},
      {"no verb", packet(kMagic, 1, 0, 0)},
      {"an unknown verb", packet(kMagic, 1, 7, 0)},
      {"nobody", packet(kMagic, 1, FATHOM_WATCH_ATTACH, 0)},
      {"a group", packet(kMagic, 1, FATHOM_WATCH_ATTACH, -1)},
      {"somebody else", packet(kMagic, 1, FATHOM_WATCH_CONNECT, 1)},
      {"status of somebody", packet(kMagic, 1, FATHOM_WATCH_STATUS, 1)},
  };
  for (const Case& c : cases) EXPECT_FALSE(parse(c.bytes)) << c.what;
}

TEST(WatchMessages, WhoMayAskWhat) {
  constexpr uid_t kDaemon = 100;
  constexpr uid_t kStranger = 200;
  constexpr uid_t kOwner = 300;
  const auto owner_of = [](pid_t pid) -> Result<uid_t> {
    if (pid == 7) return kOwner;
    return Error{Code::kNotFound, "there is no process", ""};
  };
  struct Case {
    WatchRequest request;
    uid_t who;
    bool allowed;
  };
  const Case cases[] = {
      {{FATHOM_WATCH_CONNECT, 0}, kStranger, true}, {{FATHOM_WATCH_DISCONNECT, 0}, kStranger, true},
      {{FATHOM_WATCH_ATTACH, 7}, 0, true},          {{FATHOM_WATCH_ATTACH, 7}, kDaemon, true},
      {{FATHOM_WATCH_ATTACH, 7}, kOwner, true},     {{FATHOM_WATCH_ATTACH, 7}, kStranger, false},
      {{FATHOM_WATCH_DETACH, 7}, kStranger, false}, {{FATHOM_WATCH_ATTACH, 8}, 0, false},
      {{FATHOM_WATCH_STATUS, 0}, kDaemon, true},    {{FATHOM_WATCH_STATUS, 0}, kStranger, false},
      {{FATHOM_WATCH_RELOAD, 0}, 0, true},          {{FATHOM_WATCH_RELOAD, 0}, kStranger, false},
  };
  for (const Case& c : cases) {
    const ucred who{50, c.who, c.who};
    EXPECT_EQ(may_ask(c.request, who, kDaemon, owner_of).has_value(), c.allowed)
        << "verb " << c.request.verb << " by " << c.who;
  }
  EXPECT_FALSE(may_ask({FATHOM_WATCH_CONNECT, 0}, ucred{0, 0, 0}, kDaemon, owner_of));
}

TEST(WatchMessages, RepliesCarryTextsAndRefusals) {
  const auto read = [](const std::string& bytes) {
    return parse_watch_reply(std::as_bytes(std::span(bytes)));
  };
  const Result<std::string> done = read(format_watch_reply(Status(), "{}"));
  ASSERT_TRUE(done);
  EXPECT_EQ(*done, "{}");
  const std::string refusal = format_watch_reply(Error{Code::kDenied, "no\xff", ""}, "");
  EXPECT_EQ(read(refusal).error().message, "no\\xff");
  const std::string large = format_watch_reply(Status(), std::string(100'000, 'x'));
  EXPECT_EQ(read(large)->size(), static_cast<std::size_t>(FATHOM_WATCH_TEXT));
  for (std::size_t size = 0; size < refusal.size(); ++size)
    EXPECT_FALSE(read(refusal.substr(0, size))) << size << " bytes";
}

}  // namespace
}  // namespace fathom::session
