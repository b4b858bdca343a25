// SPDX-License-Identifier: MIT
// Our programs in the kernel: loading, attaching, whom they record, and what they give. The one
// wrapper of libbpf; a build without it has no_probes.cc in the place of probes.cc.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "sources/ebpf/cost.h"
#include "sources/ebpf/filters.h"
#include "sources/ebpf/functions.h"
#include "sources/ebpf/shared.h"

namespace fathom::sources::ebpf {

// What is to be loaded; fixed from then on.
struct ProbeOptions {
  std::vector<fathom_bpf_layer> layers;
  std::vector<Function> functions =
      {};  // of layer user: its calls are numbered by their places here
  std::vector<fathom_file_key> plain_programs = {};  // see Times::kInPlainPrograms
  Filters filters = {};
  std::uint32_t detail = 0;  // a bit for each layer with a record for each call
  std::int64_t start_monotonic_ns = 0;
  std::int64_t interval_ns = 1'000'000'000;
  std::uint32_t ring_bytes = 0;  // a power of two; 0: as the programs say
  std::uint32_t rows = 0;        // of sums at one time; 0: as the programs say
  bool joins = false;            // processes that run already may be chosen, too
  bool no_command = false;       // arguments of programs are not recorded
  std::uint32_t user_files = 0;  // see SourceContext
  std::uint32_t user_rows = 0;
};

// Calls of one kind, thread, file and interval, as the kernel's map has them.
struct SumOfCalls {
  fathom_call_key key;
  fathom_call_sums sums;
};

using RecordVisitor = std::function<void(std::span<const std::byte>)>;

// Owns the programs, maps and links: without it nothing of ours stays in the kernel. One thread at
// a time.
class Probes {
 public:
  // Nothing is recorded before somebody is adopted.
  static Result<Probes> load(const ProbeOptions& options);
  Probes(Probes&&) noexcept;
  Probes& operator=(Probes&&) noexcept;
  ~Probes();

  // From its next exec on this process is recorded, and whatever it makes.
  Status adopt(pid_t process);
  // What recording costs. The calling process, which nobody may have adopted, is recorded for a
  // moment, and nothing is left of it. Before anybody else is adopted.
  Costs measure();
  // By which hooks it records, as facts of the recording.
  [[nodiscard]] std::map<std::string, std::string> hooks() const;
  // Functions that the kernel takes no probe on.
  [[nodiscard]] const std::vector<Unprobed>& unprobed() const;
  // Times of Times::kInPlainPrograms are known in such programs; where not, nowhere.
  [[nodiscard]] bool knows_programs() const;
  // Those who are chosen, with all their threads, are recorded from now on, and whatever they make;
  // or, where they are to leave, not any more.
  Status walk(const fathom_choice& choice);
  // And programs that begin later. One choice stands at a time.
  Status stand(const fathom_choice& choice);
  // Nobody is recorded any more; what was recorded can still be taken.
  void detach();

  // Readable where the ring has something; poll() that found nothing is woken only where the ring
  // fills, or a process begins or ends.
  [[nodiscard]] int records_fd() const;
  // Records of the ring, in the order of their time on each CPU.
  void take_records(const RecordVisitor& visit);
  // Sums of intervals before this one.
  std::vector<SumOfCalls> take_sums(std::uint32_t before_interval);
  // Another age begins. Files that were not met in the last `ages` are forgotten, and get a new
  // number when they are met again; gives their old ones, which calls that are not taken yet, or
  // take longer than an age, may still bear.
  std::vector<std::uint32_t> age_files(std::uint32_t ages);
  // Counts by FATHOM_BPF_COUNTER(layer, fathom_bpf_loss), since load().
  [[nodiscard]] std::vector<std::uint64_t> losses() const;

 private:
  class State;
  explicit Probes(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// What comes of trying a layer here and now. What was loaded for it stays loaded, at work for
// nobody, and is what the next Probes::load() takes.
struct Trial {
  enum class Outcome {
    kWhole,
    kPart,     // without what `reason` names
    kMissing,  // this kernel has not got it
    kRefused,  // no program of ours may be loaded at all
  };
  Outcome outcome = Outcome::kWhole;
  std::string reason;
  bool needs_privilege = false;  // it is refused for the want of it
};
Trial try_layer(fathom_bpf_layer layer);
// They will be tried in a moment: begins with all of them at once, in threads of its own.
void begin_trials(const std::vector<fathom_bpf_layer>& layers);

}  // namespace fathom::sources::ebpf
