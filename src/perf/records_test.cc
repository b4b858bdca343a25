// SPDX-License-Identifier: MIT
#include "perf/records.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace fathom::perf {
namespace {

// A record, written piece by piece.
class Bytes {
 public:
  Bytes(std::uint32_t type, std::uint16_t misc) {
    add(type);
    add(misc);
    add(std::uint16_t{0});
  }
  template <class T>
  Bytes& add(T value) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof value);
    return *this;
  }
  // With its 0, up to a multiple of 8 bytes.
  Bytes& text(const std::string& words) {
    for (const char letter : words) bytes_.push_back(static_cast<std::byte>(letter));
    do bytes_.push_back(std::byte{0});
    while (bytes_.size() % 8 != 0);
    return *this;
  }
  [[nodiscard]] std::vector<std::byte> done() const {
    std::vector<std::byte> record = bytes_;
    const auto size = static_cast<std::uint16_t>(record.size());
    std::memcpy(record.data() + 6, &size, sizeof size);
    return record;
  }

 private:
  std::vector<std::byte> bytes_;
};

perf_event_attr attr_with(std::uint64_t sample_type) {
  perf_event_attr attr{};
  attr.sample_type = sample_type;
  attr.sample_id_all = 1;
  attr.sample_regs_user = 0b1011;
  return attr;
}

constexpr std::uint64_t kWho = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;

Bytes& trailer(Bytes& bytes) {
  return bytes.add(std::uint32_t{10})
      .add(std::uint32_t{11})
      .add(std::uint64_t{12})
      .add(std::uint64_t{3});
}

std::vector<std::byte> full_sample() {
  Bytes bytes(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
  bytes.add(std::uint64_t{0x400}).add(std::uint32_t{10}).add(std::uint32_t{11});
  bytes.add(std::uint64_t{12}).add(std::uint64_t{3}).add(std::uint64_t{1000});  // time, cpu, period
  bytes.add(std::uint64_t{3})
      .add(PERF_CONTEXT_USER)
      .add(std::uint64_t{0x400})
      .add(std::uint64_t{0x500});
  bytes.add(std::uint32_t{12}).add(std::uint32_t{1}).add(std::uint32_t{2}).add(std::uint32_t{3});
  bytes.add(std::uint64_t{PERF_SAMPLE_REGS_ABI_64});
  bytes.add(std::uint64_t{7}).add(std::uint64_t{8}).add(std::uint64_t{9});
  bytes.add(std::uint64_t{16})
      .add(std::uint64_t{0xaa})
      .add(std::uint64_t{0xbb})
      .add(std::uint64_t{8});
  return bytes.done();
}

constexpr std::uint64_t kFull = PERF_SAMPLE_IP | kWho | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN |
                                PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;

TEST(Records, ASampleHasAllItsParts) {
  const std::vector<std::byte> bytes = full_sample();
  const std::optional<Record> record = RecordReader(attr_with(kFull)).read(bytes);
  ASSERT_TRUE(record);
  const auto& sample = std::get<Sample>(record->body);
  EXPECT_EQ(sample.ip, 0x400U);
  EXPECT_EQ(record->id.pid, 10U);
  EXPECT_EQ(record->id.tid, 11U);
  EXPECT_EQ(record->id.time, 12U);
  EXPECT_EQ(record->id.cpu, 3U);
  EXPECT_EQ(sample.period, 1000U);
  ASSERT_EQ(sample.callchain.size(), 3U);
  EXPECT_EQ(sample.callchain[2], 0x500U);
  EXPECT_EQ(sample.raw.size(), 12U);
  ASSERT_EQ(sample.registers.size(), 3U);
  EXPECT_EQ(sample.registers[2], 9U);
  ASSERT_EQ(sample.stack.size(), 8U);  // of 16 that were copied
  EXPECT_EQ(sample.stack[0], std::byte{0xaa});
  EXPECT_TRUE(sample.stack_ends);
}

// Whatever is cut off, nothing beyond the end is read: sanitizers watch.
TEST(Records, EverySampleThatIsCutIsRefused) {
  const std::vector<std::byte> bytes = full_sample();
  const RecordReader reader(attr_with(kFull));
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<long>(length));
    EXPECT_FALSE(reader.read(cut)) << length;
    if (length < sizeof(perf_event_header)) continue;
    const auto size = static_cast<std::uint16_t>(length);
    std::memcpy(cut.data() + 6, &size, sizeof size);
    EXPECT_FALSE(reader.read(cut)) << length;
  }
}

TEST(Records, HugeCountsAreRefused) {
  for (const std::uint64_t count : {~std::uint64_t{0}, std::uint64_t{1} << 61U}) {
    Bytes bytes(PERF_RECORD_SAMPLE, 0);
    bytes.add(count).add(std::uint64_t{1});
    EXPECT_FALSE(RecordReader(attr_with(PERF_SAMPLE_CALLCHAIN)).read(bytes.done()));
    EXPECT_FALSE(RecordReader(attr_with(PERF_SAMPLE_BRANCH_STACK)).read(bytes.done()));
    EXPECT_FALSE(RecordReader(attr_with(PERF_SAMPLE_STACK_USER)).read(bytes.done()));
  }
}

TEST(Records, MappingsTellFileOrBuildId) {
  const RecordReader reader(attr_with(kWho));
  Bytes plain(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
  plain.add(std::uint32_t{1}).add(std::uint32_t{2}).add(std::uint64_t{0x1000});
  plain.add(std::uint64_t{0x2000}).add(std::uint64_t{0x3000});
  plain.add(std::uint32_t{8}).add(std::uint32_t{1}).add(std::uint64_t{99}).add(std::uint64_t{0});
  plain.add(std::uint32_t{5}).add(std::uint32_t{2}).text("/bin/x");
  const std::vector<std::byte> bytes = trailer(plain).done();
  const std::optional<Record> record = reader.read(bytes);
  ASSERT_TRUE(record);
  const auto& mapping = std::get<Mapping>(record->body);
  EXPECT_EQ(mapping.file, "/bin/x");
  EXPECT_EQ(mapping.inode, 99U);
  EXPECT_EQ(mapping.protection, 5U);
  EXPECT_EQ(mapping.offset, 0x3000U);
  EXPECT_TRUE(mapping.build_id.empty());
  EXPECT_EQ(record->id.time, 12U);

  Bytes built(PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID | PERF_RECORD_MISC_MMAP_DATA);
  built.add(std::uint32_t{1}).add(std::uint32_t{2}).add(std::uint64_t{0x1000});
  built.add(std::uint64_t{0x2000}).add(std::uint64_t{0x3000});
  built.add(std::uint32_t{200});  // a size beyond the room
  for (int i = 0; i < 5; ++i) built.add(std::uint32_t{0x01010101});
  built.add(std::uint32_t{5}).add(std::uint32_t{2}).text("/bin/y");
  const std::vector<std::byte> more = trailer(built).done();
  const std::optional<Record> other = reader.read(more);
  ASSERT_TRUE(other);
  EXPECT_EQ(std::get<Mapping>(other->body).build_id.size(), 20U);
  EXPECT_TRUE(std::get<Mapping>(other->body).is_data);
}

TEST(Records, ProcessesThreadsAndSwitches) {
  const RecordReader reader(attr_with(kWho));
  Bytes comm(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
  comm.add(std::uint32_t{1}).add(std::uint32_t{2}).text("sh");
  const std::vector<std::byte> comm_bytes = trailer(comm).done();
  const auto name = std::get<Comm>(reader.read(comm_bytes)->body);
  EXPECT_TRUE(name.is_exec);
  EXPECT_EQ(name.name, "sh");

  Bytes exit(PERF_RECORD_EXIT, 0);
  exit.add(std::uint32_t{1}).add(std::uint32_t{2}).add(std::uint32_t{3}).add(std::uint32_t{4});
  const std::vector<std::byte> exit_bytes = trailer(exit.add(std::uint64_t{5})).done();
  const auto task = std::get<Task>(reader.read(exit_bytes)->body);
  EXPECT_TRUE(task.is_exit);
  EXPECT_EQ(task.parent_tid, 4U);

  Bytes out(PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
  const std::vector<std::byte> out_bytes = trailer(out).done();
  const std::optional<Record> change = reader.read(out_bytes);
  EXPECT_TRUE(std::get<Switch>(change->body).is_out);
  EXPECT_TRUE(std::get<Switch>(change->body).preempted);
  EXPECT_EQ(change->id.tid, 11U);

  Bytes wide(PERF_RECORD_SWITCH_CPU_WIDE, 0);
  wide.add(std::uint32_t{21}).add(std::uint32_t{22});
  const std::vector<std::byte> wide_bytes = trailer(wide).done();
  EXPECT_EQ(std::get<Switch>(reader.read(wide_bytes)->body).other_tid, 22U);
}

TEST(Records, LossesAndTheRest) {
  const RecordReader reader(attr_with(kWho));
  Bytes lost(PERF_RECORD_LOST, 0);
  const std::vector<std::byte> lost_bytes =
      trailer(lost.add(std::uint64_t{1}).add(std::uint64_t{7})).done();
  EXPECT_EQ(std::get<Lost>(reader.read(lost_bytes)->body).count, 7U);
  Bytes samples(PERF_RECORD_LOST_SAMPLES, 0);
  const std::vector<std::byte> samples_bytes = trailer(samples.add(std::uint64_t{9})).done();
  EXPECT_EQ(std::get<Lost>(reader.read(samples_bytes)->body).count, 9U);
  EXPECT_TRUE(std::get<Lost>(reader.read(samples_bytes)->body).samples);
  Bytes throttle(PERF_RECORD_UNTHROTTLE, 0);
  throttle.add(std::uint64_t{5}).add(std::uint64_t{0}).add(std::uint64_t{0});
  const std::vector<std::byte> throttle_bytes = trailer(throttle).done();
  EXPECT_TRUE(std::get<Throttle>(reader.read(throttle_bytes)->body).ends);
  Bytes names(PERF_RECORD_NAMESPACES, 0);
  names.add(std::uint32_t{1}).add(std::uint32_t{2}).add(std::uint64_t{1});
  names.add(std::uint64_t{4}).add(std::uint64_t{44});
  const std::vector<std::byte> names_bytes = trailer(names).done();
  EXPECT_EQ(std::get<Namespaces>(reader.read(names_bytes)->body).links[1], 44U);
  Bytes symbol(PERF_RECORD_KSYMBOL, 0);
  symbol.add(std::uint64_t{0xff}).add(std::uint32_t{8}).add(std::uint16_t{1}).add(std::uint16_t{1});
  const std::vector<std::byte> symbol_bytes = trailer(symbol.text("bpf_prog")).done();
  EXPECT_EQ(std::get<KernelSymbol>(reader.read(symbol_bytes)->body).name, "bpf_prog");
  EXPECT_TRUE(std::get<KernelSymbol>(reader.read(symbol_bytes)->body).is_gone);
  Bytes unknown(4000, 0);
  const std::vector<std::byte> unknown_bytes = trailer(unknown).done();
  EXPECT_EQ(std::get<Other>(reader.read(unknown_bytes)->body).type, 4000U);
}

}  // namespace
}  // namespace fathom::perf
