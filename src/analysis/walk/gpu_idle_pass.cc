// SPDX-License-Identifier: MIT
// Gaps of devices meet the calls that ended them, sorted by correlation; then the events of the
// threads that made these calls, sorted by thread and time. What does not fit into memory is sorted
// on disk.
#include "analysis/walk/gpu_idle_pass.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/layer_sql.h"
#include "analysis/walk/codes.h"
#include "analysis/walk/idle_sweep.h"
#include "analysis/walk/made_rows.h"
#include "analysis/walk/sorted_runs.h"
#include "sql/chunk.h"

namespace fathom::analysis {
namespace {

constexpr std::uint32_t kNobody = UINT32_MAX;
constexpr std::uint32_t kGap = IdlePiece::kGap;

// A call that launched work, or the gap before work: calls come first, of those inside each other
// the outermost.
struct Launch {
  std::int64_t correlation, begin, end;
  std::uint32_t process;
  std::uint32_t who;  // the thread that called; kGap and the device

  [[nodiscard]] bool is_gap() const { return (who & kGap) != 0; }
  [[nodiscard]] bool same_work(const Launch& other) const {
    return process == other.process && correlation == other.correlation;
  }
  bool operator<(const Launch& other) const {
    const bool gap = is_gap();
    const bool other_gap = other.is_gap();
    return std::tie(process, correlation, gap, begin) <
           std::tie(other.process, other.correlation, other_gap, other.begin);
  }
};

struct Device {
  std::optional<std::string> host;
  std::optional<std::int64_t> number;
  std::int64_t since = 0, until = 0;  // of the work that goes on
};

class GpuIdlePass {
 public:
  explicit GpuIdlePass(Store& store) : store_(store) {}

  Status run() {
    FATHOM_TRY(find_calls());
    FATHOM_TRY(find_gaps());
    std::optional<Launch> call;
    FATHOM_TRY(launches_.take([&](const Launch& launch) {
      if (launch.is_gap()) {
        split(launch, call && call->same_work(launch) ? &*call : nullptr);
      } else if (!call || !call->same_work(launch)) {
        call = launch;
      }
    }));
    FATHOM_TRY(add_events());
    FATHOM_TRY(pieces_.take([this](const IdlePiece& piece) { sweep_.take(piece); }));
    sweep_.finish();
    return write();
  }

 private:
  Status find_calls() {
    return store_.stream_chunks(
        "SELECT hash(host, pid), hash(host, pid, tid), hash(host), correlation, ts, ts + dur "
        "FROM events WHERE layer = 'cuda' AND correlation IS NOT NULL",
        [this](const sql::Chunk& chunk) -> Status {
          for (std::size_t row = 0; row < chunk.rows(); ++row) add_call(chunk, row);
          return {};
        });
  }

  void add_call(const sql::Chunk& chunk, std::size_t row) {
    Launch call{chunk.int64s(3)[row], chunk.int64s(4)[row], chunk.int64s(5)[row], 0, 0};
    if (processes_.find(chunk.int64s(0)[row], call.process)) {
      const auto [only, first] = only_of_host_.try_emplace(chunk.int64s(2)[row], call.process);
      if (!first) only->second = kNobody;
    }
    threads_.find(chunk.int64s(1)[row], call.who);
    launches_.add(call);
  }

  // Synchronising is the host's; annotations are no work.
  Status find_gaps() {
    static const std::string kWork = layer_sql(
        "SELECT hash(host, device) AS place, hash(host, pid), hash(host), correlation, ts, "
        "ts + dur, host, CAST(device AS BIGINT) FROM events WHERE layer IN @device AND dur > 0 "
        "AND category IS DISTINCT FROM 'sync' "
        "AND category IS DISTINCT FROM 'gpu_user_annotation' ORDER BY place, ts");
    FATHOM_TRY(store_.stream_chunks(kWork, [this](const sql::Chunk& chunk) -> Status {
      for (std::size_t row = 0; row < chunk.rows(); ++row) add_work(chunk, row);
      return {};
    }));
    for (std::uint32_t code = 0; code < devices_.size(); ++code) end_work(code);
    return {};
  }

  void add_work(const sql::Chunk& chunk, std::size_t row) {
    const std::int64_t begin = chunk.int64s(4)[row];
    const std::int64_t end = chunk.int64s(5)[row];
    std::uint32_t code = 0;
    if (device_codes_.find(chunk.int64s(0)[row], code)) {
      devices_.push_back({chunk.kept_text(6, row), chunk.int64(7, row), begin, end});
      return;
    }
    Device& device = devices_[code];
    if (begin > device.until) {
      end_work(code);
      launches_.add({chunk.int64(3, row).value_or(-1), device.until, begin,
                     process_of(chunk.int64s(1)[row], chunk.int64s(2)[row]), kGap | code});
      device.since = begin;
    }
    device.until = std::max(device.until, end);
  }

  void end_work(std::uint32_t code) {
    const Device& device = devices_[code];
    sweep_.add({code, Idle::kBusy, {}}, device.since, device.until - device.since);
  }

  // Traces of others give a device's work a process of its own: then it is the only one that calls.
  [[nodiscard]] std::uint32_t process_of(std::int64_t process, std::int64_t host) const {
    if (const std::uint32_t* const code = processes_.known(process)) return *code;
    const auto only = only_of_host_.find(host);
    return only == only_of_host_.end() ? kNobody : only->second;
  }

  // What the thread did before its call is looked up in its events; the rest is known here.
  void split(const Launch& gap, const Launch* call) {
    const std::uint32_t device = gap.who & ~kGap;
    const auto add = [&](Idle cause, std::int64_t from, std::int64_t to) {
      const std::int64_t begin = std::max(from, gap.begin);
      sweep_.add({device, cause, {}}, begin, std::min(to, gap.end) - begin);
    };
    if (call == nullptr) return add(Idle::kUnknown, gap.begin, gap.end);
    if (call->end <= gap.begin) return add(Idle::kQueued, gap.begin, gap.end);
    add(Idle::kLaunch, call->begin, call->end);
    add(Idle::kStart, call->end, gap.end);
    const std::int64_t before = std::min(call->begin, gap.end);
    if (before > gap.begin) pieces_.add({gap.begin, before, call->who, gap.who});
  }

  // Of threads that launched. Waiting for a CPU or a device lies beside what the program does.
  Status add_events() {
    static const std::string kEvents = layer_sql(
        "SELECT hash(host, pid, tid), hash(layer, name, category), ts, ts + dur, layer, name, "
        "category FROM events WHERE dur > 0 AND layer NOT IN @beside");
    return store_.stream_chunks(kEvents, [this](const sql::Chunk& chunk) -> Status {
      for (std::size_t row = 0; row < chunk.rows(); ++row) {
        const std::uint32_t* const thread = threads_.known(chunk.int64s(0)[row]);
        if (thread == nullptr) continue;
        std::uint32_t kind = 0;
        if (kind_codes_.find(chunk.int64s(1)[row], kind)) add_kind(chunk, row);
        pieces_.add({chunk.int64s(2)[row], chunk.int64s(3)[row], *thread, kind});
      }
      return {};
    });
  }

  void add_kind(const sql::Chunk& chunk, std::size_t row) {
    kinds_.push_back(
        {chunk.kept_text(4, row), chunk.kept_text(5, row), chunk.kept_text(6, row), 0});
    WalkKind& kind = kinds_.back();
    sweep_.add_kind(kind);
    // "<module>" and "<lambda>" say nothing without the module that they are in.
    const bool is_nameless = kind.name && kind.name->starts_with('<');
    if (is_nameless && kind.layer == "python" && kind.category)
      kind.name = *kind.category + "." + *kind.name;
  }

  Status write() {
    MadeRows rows(kGpuIdleTimes);
    auto& host = rows.texts("host");
    auto& device = rows.numbers("device");
    auto& cause = rows.texts("cause");
    auto& layer = rows.texts("layer");
    auto& name = rows.texts("name");
    auto& time = rows.numbers("time");
    auto& stretches = rows.numbers("stretches");
    auto& longest = rows.numbers("longest");
    auto& longest_at = rows.numbers("longest_at");
    static const std::optional<std::string> none;
    std::vector<std::optional<std::string>> causes(static_cast<std::size_t>(Idle::kUnknown) + 1);
    for (std::size_t i = 0; i < causes.size(); ++i) causes[i] = name_of(static_cast<Idle>(i));
    for (const auto& [key, value] : sweep_.times()) {
      host.add(devices_[key.device].host);
      device.add(devices_[key.device].number);
      cause.add(causes[static_cast<std::size_t>(key.cause)]);
      layer.add(key.kind ? kinds_[*key.kind].layer : none);
      name.add(key.kind ? kinds_[*key.kind].name : none);
      time.add(value.total);
      stretches.add(value.stretches);
      longest.add(value.longest);
      longest_at.add(value.longest_at);
    }
    return rows.into(store_);
  }

  Store& store_;
  Codes processes_, threads_, device_codes_, kind_codes_;
  std::unordered_map<std::int64_t, std::uint32_t> only_of_host_;  // kNobody: several
  std::vector<Device> devices_;
  std::vector<WalkKind> kinds_;
  SortedRuns<Launch> launches_;
  SortedRuns<IdlePiece> pieces_;
  IdleSweep sweep_;
};

}  // namespace

Status make_gpu_idle(Store& store) { return GpuIdlePass(store).run(); }

}  // namespace fathom::analysis
