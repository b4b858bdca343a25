// SPDX-License-Identifier: MIT
#include "fleet/arrival_events.h"

#include <gtest/gtest.h>

namespace fathom::fleet {
namespace {

constexpr char kArrived[] =
    "event: arrived\nid: 7\ndata: {\"time\":7,\"arrived\":[{\"job\":\"j\",\"kind\":\"profile\","
    "\"batches\":2,\"rows\":3,\"count\":5}],\"left_out\":1,\"clients\":[{\"client\":\"c\",\"job\":"
    "\"j\",\"batches\":2,\"rows\":3}],\"clients_left_out\":0}\n\n";

class ArrivalEventsTest : public ::testing::Test {
 protected:
  void take(std::string_view bytes) {
    events_.take(bytes, [this](const ArrivedSecond& second) { seconds_.push_back(second); });
  }
  ArrivalEvents events_;
  std::vector<ArrivedSecond> seconds_;
};

TEST_F(ArrivalEventsTest, ComeInPiecesOfAnySize) {
  for (const char c : std::string_view(kArrived)) take({&c, 1});
  ASSERT_EQ(seconds_.size(), 1U);
  EXPECT_EQ(seconds_[0].time, 7);
  EXPECT_EQ(seconds_[0].left_out, 1);
  ASSERT_EQ(seconds_[0].sums.size(), 1U);
  EXPECT_EQ(seconds_[0].sums[0].job, "j");
  EXPECT_EQ(seconds_[0].sums[0].rows, 3);
  EXPECT_EQ(seconds_[0].sums[0].count, 5);
  ASSERT_EQ(seconds_[0].clients.size(), 1U);
  EXPECT_EQ(seconds_[0].clients[0].client, "c");
  EXPECT_EQ(events_.damaged(), 0);
}

TEST_F(ArrivalEventsTest, CommentsSayNothingAndLostSecondsAreCounted) {
  take(": nothing\n\nevent: missed\nid: 9\ndata: {\"seconds\":20}\n\n");
  EXPECT_TRUE(seconds_.empty());
  EXPECT_EQ(events_.missed(), 20);
  EXPECT_EQ(events_.damaged(), 0);
}

TEST_F(ArrivalEventsTest, AServerWithoutClientsIsUnderstood) {
  take("event: arrived\ndata: {\"time\":7,\"arrived\":[],\"left_out\":0}\n\n");
  ASSERT_EQ(seconds_.size(), 1U);
  EXPECT_TRUE(seconds_[0].clients.empty());
}

TEST_F(ArrivalEventsTest, WhatIsNoneOfOursIsCounted) {
  for (const char* text :
       {"event: arrived\ndata: {\n\n", "event: arrived\ndata: {\"arrived\":[7]}\n\n",
        "event: arrived\ndata: {\"arrived\":[{\"job\":\"../x\"}]}\n\n", "event: other\ndata: 1\n\n",
        "event: arrived\ndata: {\"arrived\":7}\n\n"})
    take(text);
  EXPECT_TRUE(seconds_.empty());
  EXPECT_EQ(events_.damaged(), 5);
}

TEST_F(ArrivalEventsTest, ALineWithoutEndTakesNoMemoryForEver) {
  const std::string piece(1 << 20, 'x');
  take("event: arrived\ndata: ");
  for (int i = 0; i < 10; i++) take(piece);
  take("\n\n");
  take(kArrived);
  EXPECT_EQ(seconds_.size(), 1U) << "goes on behind it";
  EXPECT_EQ(events_.damaged(), 1);
}

}  // namespace
}  // namespace fathom::fleet
