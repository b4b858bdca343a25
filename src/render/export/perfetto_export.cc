// SPDX-License-Identifier: MIT
// Perfetto's protobuf. Numbers of fields are those of protos/perfetto/trace/… of its public schema;
// names stand beside them. One packet for each begin and each end, on the track of its thread;
// readers sort packets by time, and within a track and a time they keep the file's order.
#include <protozero/pbf_writer.hpp>

#include <functional>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "render/export/exporter.h"
#include "render/export/interval_counters.h"
#include "render/export/perfetto_interned.h"
#include "render/export/perfetto_samples.h"
#include "render/export/shown_pids.h"

namespace fathom::render {
namespace {

namespace field {
// Trace
constexpr protozero::pbf_tag_type kPacket = 1;
// TracePacket
constexpr protozero::pbf_tag_type kClockSnapshot = 6, kTimestamp = 8, kSequenceId = 10,
                                  kTrackEvent = 11, kInternedData = 12, kSequenceFlags = 13,
                                  kTrackDescriptor = 60;
// TrackDescriptor
constexpr protozero::pbf_tag_type kUuid = 1, kTrackName = 2, kProcess = 3, kThread = 4,
                                  kParentUuid = 5, kCounter = 8;
// ProcessDescriptor, ThreadDescriptor, CounterDescriptor
constexpr protozero::pbf_tag_type kPid = 1, kCommandLine = 2, kProcessName = 6, kThreadTid = 2,
                                  kThreadName = 5, kUnitName = 6;
// TrackEvent
constexpr protozero::pbf_tag_type kCategoryIids = 3, kDebugAnnotations = 4, kType = 9,
                                  kNameIid = 10, kTrackUuid = 11, kDoubleCounterValue = 44,
                                  kFlowIds = 47;
// DebugAnnotation
constexpr protozero::pbf_tag_type kAnnotationNameIid = 1, kIntValue = 4, kStringValue = 6;
// InternedData
constexpr protozero::pbf_tag_type kEventCategories = 1, kEventNames = 2, kAnnotationNames = 3;
// ClockSnapshot
constexpr protozero::pbf_tag_type kClocks = 1, kPrimaryClock = 2, kClockId = 1, kClockTime = 2;
}  // namespace field

enum EventType : std::int32_t { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounterValue = 4 };
constexpr std::uint32_t kCleared = 1, kNeedsState = 2;  // sequence_flags
constexpr std::uint32_t kSequence = 1;
constexpr std::uint32_t kRealtime = 1, kBoottime = 6;  // clock ids

// Events of a thread that overlap without nesting (another layer's, an asynchronous one) go to
// further tracks of it.
struct Lane {
  std::uint64_t track = 0;
  std::vector<std::int64_t> ends;  // of open slices, outermost first
};

// Writes packet by packet and keeps only tracks, names and what is open in the current thread.
// Descriptors go out before the first event of their track.
class PerfettoWriter {
 public:
  PerfettoWriter(ByteSink& sink, std::int64_t start_ns)
      : buffer_(sink), start_ns_(start_ns), samples_(start_ns, kSequence + 1) {}

  Status write(EventStream& from) {
    add_clock();
    FATHOM_TRY(from.processes([&](const ExportProcess& process) { return add(process); }));
    FATHOM_TRY(from.threads([&](const ExportThread& thread) { return add(thread); }));
    FATHOM_TRY(
        from.events(EventOrder::kByThread, [&](const ExportEvent& event) { return add(event); }));
    close_lanes();
    FATHOM_TRY(from.counters([&](const ExportCounter& counter) { return add(counter); }));
    FATHOM_TRY(interval_counters(from, [&](const ExportCounter& counter) { return add(counter); }));
    FATHOM_TRY(from.samples([&](ExportSample sample) {
      if (sample.pid) sample.pid = pids_.of(sample.host, *sample.pid);
      samples_.add(sample, buffer_.text());
      return buffer_.flush_if_large();
    }));
    return buffer_.flush();
  }

 private:
  using ThreadKey =
      std::tuple<std::string, std::int64_t, std::int64_t>;  // host, pid, tid; -1: none

  [[nodiscard]] std::uint64_t time(std::int64_t ts) const {
    return static_cast<std::uint64_t>(start_ns_ + ts);
  }

  template <class Fill>
  void add_packet(Fill fill) {
    packet_.clear();
    protozero::pbf_writer packet(packet_);
    packet.add_uint32(field::kSequenceId, kSequence);
    fill(packet);
    protozero::pbf_writer(buffer_.text()).add_message(field::kPacket, packet_);
  }

  // Timestamps are of the default clock; the snapshot ties it to the date.
  void add_clock() {
    add_packet([&](protozero::pbf_writer& packet) {
      packet.add_uint32(field::kSequenceFlags, kCleared);
      protozero::pbf_writer snapshot(packet, field::kClockSnapshot);
      for (const std::uint32_t id : {kRealtime, kBoottime}) {
        protozero::pbf_writer clock(snapshot, field::kClocks);
        clock.add_uint32(field::kClockId, id);
        clock.add_uint64(field::kClockTime, time(0));
      }
      snapshot.add_uint32(field::kPrimaryClock, kBoottime);
    });
  }

  template <class Fill>
  std::uint64_t add_track(std::uint64_t parent, Fill fill) {
    const std::uint64_t uuid = ++last_uuid_;
    add_packet([&](protozero::pbf_writer& packet) {
      protozero::pbf_writer track(packet, field::kTrackDescriptor);
      track.add_uint64(field::kUuid, uuid);
      if (parent != 0) track.add_uint64(field::kParentUuid, parent);
      fill(track);
    });
    return uuid;
  }

  Status add(const ExportProcess& process) {
    process_track(process.host, process.pid, pids_.name(process), process.command);
    return buffer_.flush_if_large();
  }

  Status add(const ExportThread& thread) {
    thread_track(thread.host, thread.pid, thread.tid, thread.name);
    return buffer_.flush_if_large();
  }

  std::uint64_t process_track(std::string_view host, std::int64_t pid, std::string_view name,
                              std::string_view command) {
    std::uint64_t& track = processes_[{std::string(host), pid}];
    if (track != 0) return track;
    return track = add_track(0, [&](protozero::pbf_writer& writer) {
             protozero::pbf_writer process(writer, field::kProcess);
             process.add_int32(field::kPid, static_cast<std::int32_t>(pids_.of(host, pid)));
             if (!command.empty())
               process.add_string(field::kCommandLine, command.data(), command.size());
             if (!name.empty()) process.add_string(field::kProcessName, name.data(), name.size());
           });
  }

  std::uint64_t thread_track(std::string_view host, std::int64_t pid, std::int64_t tid,
                             std::string_view name) {
    const std::uint64_t parent = pid < 0 ? 0 : process_track(host, pid, {}, {});
    std::uint64_t& track = threads_[{std::string(host), pid, tid}];
    if (track != 0) return track;
    return track = add_track(parent, [&](protozero::pbf_writer& writer) {
             if (pid < 0 || tid < 0) {
               writer.add_string(field::kTrackName, "events");
               return;
             }
             protozero::pbf_writer thread(writer, field::kThread);
             thread.add_int32(field::kPid, static_cast<std::int32_t>(pids_.of(host, pid)));
             thread.add_int32(field::kThreadTid, static_cast<std::int32_t>(tid));
             if (!name.empty()) thread.add_string(field::kThreadName, name.data(), name.size());
           });
  }

  Status add(const ExportEvent& event) {
    const ThreadKey key{event.host, event.pid.value_or(-1), event.tid.value_or(-1)};
    if (key != thread_) {
      close_lanes();
      thread_ = key;
    }
    Lane& lane = lane_for(event, lanes_of(event));
    if (event.dur == 0) {
      add_event(event, kInstant, lane.track);
    } else {
      add_event(event, kSliceBegin, lane.track);
      lane.ends.push_back(event.ts + event.dur);
    }
    return buffer_.flush_if_large();
  }

  // Those of its thread, or of the device and stream where it belongs to no thread.
  std::vector<Lane>& lanes_of(const ExportEvent& event) {
    const bool on_device = is_on_device(event);
    std::vector<Lane>& lanes = on_device ? device_lanes_[{event.device, event.stream}] : lanes_;
    if (!lanes.empty()) return lanes;
    const std::int64_t pid = event.pid.value_or(-1);
    lanes.push_back({on_device ? device_track(event, pid)
                               : thread_track(event.host, pid, event.tid.value_or(-1), {}),
                     {}});
    return lanes;
  }

  std::uint64_t device_track(const ExportEvent& event, std::int64_t pid) {
    const std::uint64_t parent = pid < 0 ? 0 : process_track(event.host, pid, {}, {});
    return add_track(parent, [&](protozero::pbf_writer& writer) {
      writer.add_string(field::kTrackName, device_name(event));
    });
  }

  // The first lane in which the event nests.
  Lane& lane_for(const ExportEvent& event, std::vector<Lane>& lanes) {
    for (Lane& lane : lanes) {
      close_slices(lane, event.ts);
      if (lane.ends.empty() || event.ts + event.dur <= lane.ends.back()) return lane;
    }
    const std::uint64_t track = add_track(lanes.front().track, [&](protozero::pbf_writer& writer) {
      writer.add_string(field::kTrackName, event.layer.data(), event.layer.size());
    });
    return lanes.emplace_back(Lane{track, {}});
  }

  void close_slices(Lane& lane, std::int64_t until) {
    while (!lane.ends.empty() && lane.ends.back() <= until) {
      add_packet([&](protozero::pbf_writer& packet) {
        packet.add_uint64(field::kTimestamp, time(lane.ends.back()));
        protozero::pbf_writer end(packet, field::kTrackEvent);
        end.add_int32(field::kType, kSliceEnd);
        end.add_uint64(field::kTrackUuid, lane.track);
      });
      lane.ends.pop_back();
    }
  }

  void close_lanes() {
    constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
    for (Lane& lane : lanes_) close_slices(lane, kEnd);
    for (auto& [place, lanes] : device_lanes_)
      for (Lane& lane : lanes) close_slices(lane, kEnd);
    lanes_.clear();
    device_lanes_.clear();
  }

  void add_event(const ExportEvent& event, EventType type, std::uint64_t track) {
    interned_.clear();
    event_.clear();
    protozero::pbf_writer writer(event_);
    writer.add_int32(field::kType, type);
    writer.add_uint64(field::kTrackUuid, track);
    writer.add_uint64(field::kNameIid, names_.id(event.name, interned_));
    writer.add_uint64(field::kCategoryIids, categories_.id(event.layer, interned_));
    if (!event.category.empty())
      writer.add_uint64(field::kCategoryIids, categories_.id(event.category, interned_));
    if (event.correlation) writer.add_fixed64(field::kFlowIds, flow_of(event));
    add_annotations(writer, event);
    add_packet([&](protozero::pbf_writer& packet) {
      packet.add_uint64(field::kTimestamp, time(event.ts));
      packet.add_uint32(field::kSequenceFlags, kNeedsState);
      if (!interned_.empty()) packet.add_message(field::kInternedData, interned_);
      packet.add_message(field::kTrackEvent, event_);
    });
  }

  void add_annotations(protozero::pbf_writer& writer, const ExportEvent& event) {
    const auto text = [&](std::string_view name, std::string_view value) {
      const std::uint64_t id = keys_.id(name, interned_);
      protozero::pbf_writer annotation(writer, field::kDebugAnnotations);
      annotation.add_uint64(field::kAnnotationNameIid, id);
      annotation.add_string(field::kStringValue, value.data(), value.size());
    };
    const auto number = [&](std::string_view name, const ExportNumber& value) {
      if (!value) return;
      const std::uint64_t id = keys_.id(name, interned_);
      protozero::pbf_writer annotation(writer, field::kDebugAnnotations);
      annotation.add_uint64(field::kAnnotationNameIid, id);
      annotation.add_int64(field::kIntValue, *value);
    };
    if (!event.file.empty()) text("file", event.file);
    for (const auto& [name, value] : numbers_of(event)) number(name, value);
    if (!event.error.empty()) text("error", event.error);
    if (!event.program.empty()) text("program", event.program);
    for (const auto& [key, value] : event.args) {
      if (is_column(event, key)) {
        text("arg " + std::string(key), value);
      } else {
        text(key, value);
      }
    }
  }

  Status add(const ExportCounter& counter) {
    const std::uint64_t track = counter_track(counter);
    add_packet([&](protozero::pbf_writer& packet) {
      packet.add_uint64(field::kTimestamp, time(counter.ts));
      protozero::pbf_writer event(packet, field::kTrackEvent);
      event.add_int32(field::kType, kCounterValue);
      event.add_uint64(field::kTrackUuid, track);
      event.add_double(field::kDoubleCounterValue, counter.value);
    });
    return buffer_.flush_if_large();
  }

  std::uint64_t counter_track(const ExportCounter& counter) {
    const std::int64_t pid = counter.pid.value_or(-1);
    const std::uint64_t parent = pid < 0 ? 0 : process_track(counter.host, pid, {}, {});
    std::uint64_t& track = counters_[{std::string(counter.host), pid, std::string(counter.name)}];
    if (track != 0) return track;
    return track = add_track(parent, [&](protozero::pbf_writer& writer) {
             writer.add_string(field::kTrackName, counter.name.data(), counter.name.size());
             protozero::pbf_writer descriptor(writer, field::kCounter);
             if (!counter.unit.empty()) {
               descriptor.add_string(field::kUnitName, counter.unit.data(), counter.unit.size());
             }
           });
  }

  SinkBuffer buffer_;
  std::int64_t start_ns_;
  std::string packet_, interned_, event_;  // kept to save allocations
  Interned categories_{field::kEventCategories};
  Interned names_{field::kEventNames};
  Interned keys_{field::kAnnotationNames};
  ShownPids pids_;
  std::uint64_t last_uuid_ = 0;
  std::map<std::pair<std::string, std::int64_t>, std::uint64_t> processes_;
  std::map<ThreadKey, std::uint64_t> threads_;
  std::map<std::tuple<std::string, std::int64_t, std::string>, std::uint64_t> counters_;
  ThreadKey thread_{"", -2, -2};
  std::vector<Lane> lanes_;  // of thread_
  std::map<std::pair<ExportNumber, ExportNumber>, std::vector<Lane>> device_lanes_;
  PerfettoSamples samples_;
};

Status write(EventStream& from, ByteSink& to) {
  return PerfettoWriter(to, from.start_realtime_ns()).write(from);
}

}  // namespace

extern const ExporterDef kPerfettoExporter;
const ExporterDef kPerfettoExporter = {
    .name = "perfetto",
    .summary = "Perfetto's own format, for ui.perfetto.dev and trace_processor",
    .gzip = Gzip::kNever,
    .by_thread = true,
    .write = write,
};

}  // namespace fathom::render
