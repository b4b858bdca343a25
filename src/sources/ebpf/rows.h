// SPDX-License-Identifier: MIT
// What the kernel's half gave, as rows of the recording.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sources/ebpf/followed_lives.h"
#include "sources/ebpf/known_files.h"
#include "sources/ebpf/probes.h"
#include "sources/source.h"
#include "trace/decode/host_rows.h"

namespace fathom::sources::ebpf {

// One thread at a time: the source calls it under its lock. Records are the kernel half's own, and
// checked; one that is not understood is dropped.
class RowMaker {
 public:
  explicit RowMaker(const ProbeOptions& options);

  // Records in the order of the ring.
  void add(std::span<const std::byte> record);
  void add(const std::vector<SumOfCalls>& sums);
  // Losses as they stand now.
  void add_losses(std::span<const std::uint64_t> counts);
  void add_losses(std::vector<trace::Loss> losses);
  // These numbers mean no file any more, once the next ones come: calls that bear them are under
  // way.
  void forget_files(std::vector<std::uint32_t> numbers);
  // Whether processes are left that were not seen to end.
  [[nodiscard]] bool anybody_lives() const { return lives_.anybody_lives(); }
  // Processes that were not seen to end.
  [[nodiscard]] std::vector<Followed> alive() const { return lives_.alive(); }
  // This process goes on without us.
  void forget(pid_t process) { lives_.forget(process); }
  // The next recording begins `shift` ns after the kernel's half was loaded: times count from
  // there. Everything is taken before; those who live are told of in both.
  void begin_anew(std::int64_t shift, trace::Strings& strings, trace::HostRows& last);
  // Everybody is gone, or is not followed any more. add_losses() was called with what is final.
  void finish();

  // Moves out what is complete. Calls wait for the paths of their files, but not for ever: `now_ns`
  // is by the monotonic clock. Who lives for long is told of, too, and again with his end.
  void take(trace::Strings& strings, trace::HostRows& rows, std::int64_t now_ns = 0);

 private:
  void add_spilled(const fathom_call_record& call);
  [[nodiscard]] std::int64_t time(std::uint64_t ns) const {
    return static_cast<std::int64_t>(ns) - options_.start_monotonic_ns - shift_;
  }
  [[nodiscard]] bool knows(std::uint32_t file) const {
    return file == FATHOM_BPF_NO_FILE || files_.find(file) != nullptr;
  }
  void add_file(const fathom_file_record& record);
  void tell_overflow();
  template <class Row>
  bool has_room(const std::vector<Row>& rows, std::size_t most, std::uint64_t calls);
  std::uint32_t code_of_file(std::uint32_t file, trace::Strings& strings) const;
  // What it leads to where it is no file.
  std::uint32_t code_of_peer(std::uint32_t file, trace::Strings& strings) const;
  std::uint32_t code_of_category(std::uint32_t call, trace::Strings& strings) const;
  [[nodiscard]] std::string layer_of_loss(std::uint32_t layer) const;
  [[nodiscard]] std::string name_of(std::uint32_t call) const;
  std::uint32_t code_of_layer(std::uint32_t call, trace::Strings& strings) const;
  trace::EventRow event_of(const fathom_call_record& call, trace::Strings& strings) const;
  trace::IntervalRow interval_of(const SumOfCalls& one, trace::Strings& strings) const;

  ProbeOptions options_;
  bool finished_ = false;
  std::int64_t shift_ = 0;  // ns between the start of the kernel's half and the recording's
  KnownFiles files_;
  std::int64_t overflow_ = 0;  // calls that nobody took in time
  std::vector<fathom_call_record> calls_;
  std::vector<SumOfCalls> sums_;
  FollowedLives lives_;
  std::vector<std::uint64_t> told_losses_ =
      std::vector<std::uint64_t>(FATHOM_BPF_COUNTER(FATHOM_BPF_LAYERS + 1, 0));
  std::vector<trace::Loss> losses_;
  // Calls of functions; of layer syscall, operations of io_submit.
  std::array<std::uint64_t, FATHOM_BPF_LAYERS> unreturned_{};
  bool kernel_worked_ = false;  // its own threads, for files of the programs
};

}  // namespace fathom::sources::ebpf
