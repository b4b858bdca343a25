// SPDX-License-Identifier: MIT
#include "cli/top/server_page.h"

#include <gtest/gtest.h>

#include "render/render.h"

namespace fathom::cli::top {
namespace {

ServerNow busy_server() {
  ServerNow server;
  server.url = "http://127.0.0.1:1";
  server.jobs = {{"idle", "", 3, 0, 0, 0, 0, std::nullopt},
                 {"nightly", "every night", 0, 2, 30, 900, 3, 1'000'000'000}};
  server.agents = {{"a", "nightly", 1, 14, 100, 0},
                   {"b", "nightly", 1, 15, 100, 0},
                   {"c", "nightly", 1, 1, 10, 0},
                   {"d", "idle", 0, 0, 1, 9'000'000'000}};
  server.profile_job = "nightly";
  server.profile = {{"cold", "sim", "cycles", 0, 900}, {"hot", "sim", "cycles", 50, 60}};
  return server;
}

std::string text(const Table& table) { return render::render(table, render::Format::kCsv); }

TEST(TopServer, JobsByWhatArrives) {
  const Page page = server_page(busy_server(), "");
  EXPECT_EQ(page.title, "http://127.0.0.1:1: 2 jobs, 4 agents, 30 rows/s");
  EXPECT_EQ(page.ids, (std::vector<std::string>{"nightly", "idle"}));
  EXPECT_EQ(text(page.tables[0]),
            "job,rows,count,batches,agents,last,benchmarks,info\n"
            "nightly,30,900,2,3,1000000000,0,every night\nidle,0,0,0,0,,3,\"\"\n");
}

TEST(TopServer, HotFunctionsAreThoseThatGrow) {
  EXPECT_EQ(text(server_page(busy_server(), "nightly").tables[0]),
            "function,job,exec,event,rate,count\nhot,nightly,sim,cycles,50,60\n"
            "cold,nightly,sim,cycles,0,900\n");
}

TEST(TopServer, AgentsOfOneJobAndItsStraggler) {
  EXPECT_EQ(text(server_page(busy_server(), "nightly").tables[1]),
            "agent,job,rows,batches,total_rows,last,note\n"
            "b,nightly,15,1,100,0,\na,nightly,14,1,100,0,\n"
            "c,nightly,1,1,10,0,\"straggler: 1 rows/s, the others 14\"\n");
}

TEST(TopServer, AJobThatWentAndAServerThatIsAway) {
  ServerNow server = busy_server();
  server.trouble = "nobody answers";
  server.missed = 2;
  const Page page = server_page(server, "gone");
  EXPECT_EQ(page.head, (std::vector<std::string>{"nobody answers", "job gone no longer exists"}));
  EXPECT_NE(page.title.find("2 seconds missed"), std::string::npos);
  EXPECT_EQ(page.tables.size(), 1U) << "the profile that was read is another job's";
}

}  // namespace
}  // namespace fathom::cli::top
