// SPDX-License-Identifier: MIT
#include "analysis/canvas/byte_tellers.h"

#include <gtest/gtest.h>

#include <map>

#include "analysis/canvas/flame.h"
#include "analysis/compare/testing/text_store.h"

namespace fathom::analysis {
namespace {

using Own = std::map<std::string, std::int64_t>;

class ByteFlames : public testing::TextStores {
 protected:
  // What functions of a flame graph by bytes have for themselves.
  static Own own(Store& store, const RowFilter& filter = {}, bool in_time = false) {
    const Result<Canvas> canvas = Canvas::make(store);
    EXPECT_TRUE(canvas) << canvas.error().message;
    const Result<Flame> flame =
        flame_of_calls(*canvas, {.weight = "bytes", .in_time = in_time, .least = 0}, filter);
    EXPECT_TRUE(flame) << flame.error().message;
    Own own;
    for (std::size_t i = 0; i < flame->name.size(); ++i) {
      if (flame->self[i] != 0)
        own[flame->names[flame->layer[i]] + " " + flame->names[flame->name[i]]] += flame->self[i];
    }
    return own;
  }
  static RowFilter of(std::vector<std::string> layers) {
    RowFilter filter;
    filter.layers = std::move(layers);
    return filter;
  }
};

// Calls of the kernel stand beside those of the library, not in them, as if clocks differed.
TEST_F(ByteFlames, BytesOfLayersThroughWhichAProgramAsksCount) {
  Store store =
      open(record("run host=alpha duration=1000\n"
                  "event 7/7 0 +100 stdio fread bytes=4096 file=/x category=read\n"
                  "event 7/7 10 +50 posix read bytes=4096 file=/x category=read\n"
                  "event 7/7 110 +40 syscall read bytes=4096 file=/x category=read\n"
                  "event 7/7 160 +30 vfs vfs_read bytes=4096 file=/x category=read\n"
                  "event 7/7 200 +100 posix pread bytes=100 file=/x category=read\n"
                  "event 7/7 310 +40 syscall pread64 bytes=100 file=/x category=read\n"
                  "event 8/8 400 +40 syscall read bytes=5 file=/y category=read\n"
                  "event 8/8 450 +30 vfs vfs_read bytes=5 file=/y category=read\n"));
  const Own once = {{"posix read", 4096}, {"posix pread", 100}, {"syscall read", 5}};
  EXPECT_EQ(own(store), once);
  EXPECT_EQ(own(store, {}, true), once);
  // What a selection leaves out tells of nothing.
  EXPECT_EQ(own(store, of({"syscall", "vfs"})),
            (Own{{"syscall read", 4101}, {"syscall pread64", 100}}));
  EXPECT_EQ(own(store, of({"vfs"})), (Own{{"vfs vfs_read", 4101}}));
  EXPECT_EQ(own(store, of({"stdio"})), (Own{{"stdio fread", 4096}}));
}

TEST_F(ByteFlames, ADriverOrItsDeviceTellsOfBytes) {
  const auto copied = [&](const std::string& called, const std::string& done) {
    Store store =
        open(record("run host=alpha duration=1000\n"
                    "event 7/7 0 +100 cuda cuMemcpy category=copy bytes=" +
                    called +
                    "\nevent 7/- 10 +50 gpu memcpy category=copy device=0 stream=1 "
                    "bytes=" +
                    done + "\n"));
    return own(store);
  };
  EXPECT_EQ(copied("700", "700"), (Own{{"cuda cuMemcpy", 700}}));
  EXPECT_EQ(copied("700", "900"), (Own{{"gpu memcpy", 900}}));
}

}  // namespace
}  // namespace fathom::analysis
