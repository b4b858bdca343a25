// SPDX-License-Identifier: MIT
// The bytes of a ring's record as typed values. Nothing in them is trusted: a length that does not
// fit gives no record. Views point into the bytes that were given.
#pragma once

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

namespace fathom::perf {

// 64-bit numbers at any alignment.
class Words {
 public:
  Words() = default;
  explicit Words(std::span<const std::byte> bytes) : bytes_(bytes) {}
  [[nodiscard]] std::size_t size() const { return bytes_.size() / sizeof(std::uint64_t); }
  [[nodiscard]] bool empty() const { return size() == 0; }
  std::uint64_t operator[](std::size_t index) const {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes_.data() + index * sizeof word, sizeof word);
    return word;
  }

 private:
  std::span<const std::byte> bytes_;
};

// Whose record it is, as far as the event's sample_type has it; 0 for what it has not.
struct SampleId {
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::uint64_t time = 0;
  std::uint64_t id = 0;
  std::uint64_t stream_id = 0;
  std::uint32_t cpu = 0;
};

// SAMPLE: what a thread was doing when the event came.
struct Sample {
  std::uint64_t ip = 0;
  std::uint64_t address = 0;
  std::uint64_t period = 0;
  std::uint64_t cgroup = 0;
  Words callchain;  // innermost first, with PERF_CONTEXT_* between
  std::span<const std::byte> raw;
  std::uint64_t registers_abi = 0;   // PERF_SAMPLE_REGS_ABI_*; 0: there are none
  Words registers;                   // by the bits of sample_regs_user, lowest first
  std::span<const std::byte> stack;  // what was copied of it, from the stack pointer up
  bool stack_ends = false;           // its memory ended there: more had been asked for
};

// A file, or memory, that a process maps from now on.
struct Mapping {  // MMAP, MMAP2
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::uint64_t address = 0;
  std::uint64_t length = 0;
  std::uint64_t offset = 0;
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  std::uint64_t inode = 0;
  std::uint32_t protection = 0;  // MMAP2
  std::uint32_t flags = 0;
  bool is_data = false;
  std::span<const std::byte> build_id;  // then major, minor and inode are 0
  std::string_view file;
};

// COMM: a thread has another name, by exec or by its own will.
struct Comm {
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  bool is_exec = false;
  std::string_view name;
};

// A process or thread began or ended.
struct Task {  // FORK, EXIT
  std::uint32_t pid = 0;
  std::uint32_t parent = 0;
  std::uint32_t tid = 0;
  std::uint32_t parent_tid = 0;
  std::uint64_t time = 0;
  bool is_exit = false;
};

// A thread came onto a CPU, or left it.
struct Switch {  // SWITCH, SWITCH_CPU_WIDE; whose is in the SampleId
  bool is_out = false;
  bool preempted = false;       // it could have gone on
  std::uint32_t other_pid = 0;  // CPU_WIDE: who comes next, or came before
  std::uint32_t other_tid = 0;
};

// Records for which the ring had no room.
struct Lost {  // LOST, LOST_SAMPLES
  std::uint64_t count = 0;
  bool samples = false;  // before there was a record of them
};

// Sampling was too dear for the kernel, which stops it for a moment.
struct Throttle {  // THROTTLE, UNTHROTTLE
  std::uint64_t time = 0;
  bool ends = false;
};

// NAMESPACES: those that a process is in, when it begins or changes them.
struct Namespaces {
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  Words links;  // device and inode of each, in the kernel's order (net, uts, ipc, pid, user, …)
};

// KSYMBOL: code that the kernel makes at run time (BPF programs, trampolines) came or went.
struct KernelSymbol {
  std::uint64_t address = 0;
  std::uint32_t length = 0;
  std::uint16_t kind = 0;
  bool is_gone = false;
  std::string_view name;
};

// READ: what a thread counted in its life, when it ends. Of an event with inherit_stat.
struct Tally {
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::uint64_t value = 0;
  std::uint64_t enabled = 0;  // ns that it was to be counted, as far as the event's format has it
  std::uint64_t running = 0;  // ns that it was
};

// A type that nothing is made of here.
struct Other {
  std::uint32_t type = 0;
};

// One record of a ring. Owns nothing: texts and words point into the bytes that were read.
struct Record {
  std::uint16_t misc = 0;  // PERF_RECORD_MISC_*: the CPU's mode among them
  SampleId id;
  std::variant<Other, Sample, Mapping, Comm, Task, Switch, Lost, Throttle, Namespaces, KernelSymbol,
               Tally>
      body;
};

// Reads records of events that were opened with this attr, as open_event left it.
class RecordReader {
 public:
  explicit RecordReader(const perf_event_attr& attr);
  // None: its length does not fit what it should hold.
  [[nodiscard]] std::optional<Record> read(std::span<const std::byte> record) const;

 private:
  struct Layout;

  std::uint64_t sample_type_;
  std::uint64_t read_format_;
  std::uint64_t branch_type_;
  std::size_t user_registers_;
  std::size_t kernel_registers_;
  std::size_t trailer_;  // bytes of the SampleId behind a record that is no sample
};

}  // namespace fathom::perf
