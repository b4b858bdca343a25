// SPDX-License-Identifier: MIT
// Field numbers of Perfetto's protos are written out here, since only a dozen messages are needed
// and the generated code would be large.
#include "render/export/perfetto_samples.h"

#include <protozero/pbf_writer.hpp>

#include <tuple>
#include <unordered_map>
#include <vector>

#include "render/export/perfetto_interned.h"
#include "render/export/stacks.h"

namespace fathom::render {
namespace {

namespace field {
// Trace, TracePacket
constexpr protozero::pbf_tag_type kPacket = 1, kTimestamp = 8, kSequenceId = 10, kInternedData = 12,
                                  kSequenceFlags = 13, kPacketDefaults = 59, kPerfSample = 66;
// TracePacketDefaults, PerfSampleDefaults, PerfEvents.Timebase
constexpr protozero::pbf_tag_type kSampleDefaults = 12, kTimebase = 1, kTimebaseName = 10;
// PerfSample
constexpr protozero::pbf_tag_type kCpu = 1, kPid = 2, kTid = 3, kCallstackIid = 4,
                                  kTimebaseCount = 6;
// InternedData
constexpr protozero::pbf_tag_type kFunctionNames = 5, kFrames = 6, kCallstacks = 7,
                                  kMappingPaths = 17, kSourcePaths = 18, kMappings = 19;
// Mapping, Frame, Callstack
constexpr protozero::pbf_tag_type kIid = 1, kPathIds = 7, kFunctionNameId = 2, kMappingId = 3,
                                  kSourcePathIid = 5, kLineNumber = 6, kFrameIds = 2;
}  // namespace field

constexpr std::uint32_t kCleared = 1, kNeedsState = 2;  // sequence_flags

}  // namespace

// What an id means holds for one sequence from its first packet on; state is cleared there, so that
// a file that was put together of others stays readable.
class PerfettoSamples::Sequence {
 public:
  Sequence(std::uint32_t id, std::string_view event) : id_(id), event_(event) {}

  void add(const ExportSample& sample, std::uint64_t ts, std::string& trace) {
    if (!begun_) begin(trace);
    interned_.clear();
    const std::uint64_t stack = stack_of(sample);
    packet_.clear();
    protozero::pbf_writer packet(packet_);
    packet.add_uint32(field::kSequenceId, id_);
    packet.add_uint64(field::kTimestamp, ts);
    packet.add_uint32(field::kSequenceFlags, kNeedsState);
    if (!interned_.empty()) packet.add_message(field::kInternedData, interned_);
    {
      protozero::pbf_writer taken(packet, field::kPerfSample);
      if (sample.cpu) taken.add_uint32(field::kCpu, static_cast<std::uint32_t>(*sample.cpu));
      if (sample.pid) taken.add_uint32(field::kPid, static_cast<std::uint32_t>(*sample.pid));
      if (sample.tid) taken.add_uint32(field::kTid, static_cast<std::uint32_t>(*sample.tid));
      if (stack != 0) taken.add_uint64(field::kCallstackIid, stack);
      taken.add_uint64(field::kTimebaseCount, counted(sample));
    }
    protozero::pbf_writer(trace).add_message(field::kPacket, packet_);
  }

 private:
  using ThreadKey = std::tuple<std::string, std::int64_t, std::int64_t>;

  void begin(std::string& trace) {
    begun_ = true;
    protozero::pbf_writer writer(trace);
    protozero::pbf_writer packet(writer, field::kPacket);
    packet.add_uint32(field::kSequenceId, id_);
    packet.add_uint32(field::kSequenceFlags, kCleared);
    protozero::pbf_writer defaults(packet, field::kPacketDefaults);
    protozero::pbf_writer sample(defaults, field::kSampleDefaults);
    protozero::pbf_writer timebase(sample, field::kTimebase);
    timebase.add_string(field::kTimebaseName, event_);
  }

  // The event's count so far in the thread: weights are its steps. A thread's samples come in order
  // of time, one thread after the other.
  std::uint64_t counted(const ExportSample& sample) {
    const ThreadKey key{sample.host, sample.pid.value_or(-1), sample.tid.value_or(-1)};
    if (key != thread_) count_ = 0;
    thread_ = key;
    return count_ += static_cast<std::uint64_t>(sample.weight);
  }

  std::uint64_t mapping_of(std::string_view module) {
    const auto [found, is_new] = mappings_.try_emplace(std::string(module), mappings_.size() + 1);
    if (is_new) {
      const std::uint64_t path = paths_.id(module, interned_);
      protozero::pbf_writer writer(interned_);
      protozero::pbf_writer mapping(writer, field::kMappings);
      mapping.add_uint64(field::kIid, found->second);
      mapping.add_uint64(field::kPathIds, path);
    }
    return found->second;
  }

  std::uint64_t frame_of(const ExportFrame& frame) {
    const std::uint32_t known = table_.id(frame);
    if (known < frames_) return known + 1;
    frames_ = known + 1;
    const std::uint64_t name = functions_.id(frame_text(frame), interned_);
    const std::uint64_t mapping = mapping_of(frame.module);
    const std::uint64_t source = frame.file.empty() ? 0 : sources_.id(frame.file, interned_);
    protozero::pbf_writer writer(interned_);
    protozero::pbf_writer entry(writer, field::kFrames);
    entry.add_uint64(field::kIid, frames_);
    entry.add_uint64(field::kFunctionNameId, name);
    entry.add_uint64(field::kMappingId, mapping);
    if (source != 0) entry.add_uint64(field::kSourcePathIid, source);
    if (frame.line) entry.add_uint32(field::kLineNumber, static_cast<std::uint32_t>(*frame.line));
    return frames_;
  }

  // 0 where nobody took a stack. Perfetto has the outermost function first, as we do.
  std::uint64_t stack_of(const ExportSample& sample) {
    std::uint32_t node = StackTree::kRoot;
    std::vector<std::uint64_t> ids;
    for (const ExportFrame& frame : sample.frames) {
      ids.push_back(frame_of(frame));
      node = tree_.child(node, static_cast<std::uint32_t>(ids.back()));
    }
    if (node == StackTree::kRoot) return 0;
    const auto [found, is_new] = stacks_.try_emplace(node, stacks_.size() + 1);
    if (!is_new) return found->second;
    protozero::pbf_writer writer(interned_);
    protozero::pbf_writer stack(writer, field::kCallstacks);
    stack.add_uint64(field::kIid, found->second);
    for (const std::uint64_t id : ids) stack.add_uint64(field::kFrameIds, id);
    return found->second;
  }

  std::uint32_t id_;
  std::string event_;
  bool begun_ = false;
  std::string packet_, interned_;  // kept to save allocations
  FrameTable table_;
  std::uint64_t frames_ = 0;  // of the table that are written
  StackTree tree_;
  std::unordered_map<std::uint32_t, std::uint64_t> stacks_;
  std::unordered_map<std::string, std::uint64_t> mappings_;
  Interned functions_{field::kFunctionNames};
  Interned paths_{field::kMappingPaths};
  Interned sources_{field::kSourcePaths};
  ThreadKey thread_{"", -2, -2};
  std::uint64_t count_ = 0;
};

PerfettoSamples::PerfettoSamples(std::int64_t start_ns, std::uint32_t first_sequence)
    : start_ns_(start_ns), next_sequence_(first_sequence) {}
PerfettoSamples::~PerfettoSamples() = default;

void PerfettoSamples::add(const ExportSample& sample, std::string& trace) {
  auto found = sequences_.find(sample.event);
  if (found == sequences_.end()) {
    found = sequences_
                .emplace(std::string(sample.event),
                         std::make_unique<Sequence>(next_sequence_, sample.event))
                .first;
    ++next_sequence_;
  }
  found->second->add(sample, static_cast<std::uint64_t>(start_ns_ + sample.ts), trace);
}

}  // namespace fathom::render
