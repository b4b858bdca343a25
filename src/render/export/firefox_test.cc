// SPDX-License-Identifier: MIT
// Tables of a Firefox profile: a viewer reads every column of a table by the row's number, so each
// has to be there and as long as the table.
#include <gtest/gtest.h>

#include <string>

#include "render/testing/export_rows.h"

namespace fathom::render {
namespace {

using testing::ExportTest;
using testing::FakeStream;

TEST_F(ExportTest, FirefoxTablesHaveAllTheirColumns) {
  ExportFrame outer;
  outer.function = "main";
  ExportFrame inner;
  inner.function = "copy";
  inner.file = "copy.c";
  inner.line = 9;
  const ExportFrame frames[] = {outer, inner};
  ExportSample sample;
  sample.ts = 1000;
  sample.host = "vm";
  sample.pid = sample.tid = 7;
  sample.event = "cycles";
  sample.weight = 1;
  sample.frames = frames;
  FakeStream stream;
  stream.sample_rows = {sample};
  const std::string text = exported("firefox", stream);
  for (const char* part :
       {R"("frameTable":{"address":[-1,-1],"inlineDepth":[0,0],"category":[null,null],)"
        R"("subcategory":[null,null],"nativeSymbol":[null,null],"innerWindowID":[0,0],)"
        R"("implementation":[null,null],"column":[null,null],"func":[0,1],"line":[null,9],)"
        R"("length":2})",
        R"("funcTable":{"isJS":[false,false],"relevantForJS":[false,false],"resource":[-1,-1],)"
        R"("lineNumber":[null,null],"columnNumber":[null,null],"name":[)",
        R"("stackTable":{"frame":[0,1],"prefix":[null,0],"category":[0,0],"subcategory":[0,0],)"
        R"("length":2})"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in " << text;
}

TEST_F(ExportTest, FirefoxCategoriesAreOfTheLayersThatOccur) {
  const auto of = [](std::int64_t ts, const char* layer) {
    ExportEvent event;
    event.ts = ts;
    event.dur = 1;
    event.host = "vm";
    event.pid = event.tid = 7;
    event.layer = layer;
    event.name = "call";
    return event;
  };
  FakeStream stream;
  stream.event_rows = {of(0, "posix"), of(10, "of tomorrow"), of(20, "app"), of(30, "posix")};
  const std::string text = exported("firefox", stream);
  const auto category = [](const char* name, const char* colour) {
    return std::string(R"({"name":")") + name + R"(","color":")" + colour +
           R"(","subcategories":["Other"]})";
  };
  EXPECT_NE(text.find(R"("categories":[)" + category("other", "grey") + ',' +
                      category("posix", "orange") + ',' + category("app", "blue") + ']'),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(R"("category":[1,0,2,1])"), std::string::npos) << text;
}

}  // namespace
}  // namespace fathom::render
