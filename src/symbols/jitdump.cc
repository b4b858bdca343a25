// SPDX-License-Identifier: MIT
// The format is that of the kernel's tools/perf/Documentation/jitdump-specification.txt. A file may
// still be written while it is read, so its last record may be cut: what is there counts. Code
// moves and is thrown away, so each piece holds from one time to another, and a question has a
// time, too.
#include "symbols/jitdump.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "symbols/byte_reader.h"
#include "symbols/overlay_map.h"

namespace fathom::symbols {
namespace {

// "JiTD", as a machine of our byte order writes it, and of the other one.
constexpr std::uint32_t kMagic = 0x4a695444;
constexpr std::uint32_t kMagicOfOthers = 0x4454694a;
constexpr std::uint64_t kOtherClock = 1;

enum RecordId : std::uint32_t { kLoad = 0, kMove = 1, kDebugInfo = 2, kClose = 3 };

}  // namespace

// Takes records in the order of the file, which is that of time.
class JitdumpReader {
 public:
  explicit JitdumpReader(Jitdump& dump) : dump_(dump) {}

  Status run() {
    const std::string_view bytes = *dump_.bytes_;
    ByteReader reader(bytes);
    FATHOM_TRY(header(reader));
    while (reader.ok() && !reader.done()) {
      constexpr std::size_t kHead = 16;
      const auto id = reader.number<std::uint32_t>();
      const auto size = reader.number<std::uint32_t>();
      const auto time = reader.number<std::uint64_t>();
      if (!reader.ok() || size < kHead) break;
      const std::string_view body = reader.bytes(size - kHead);
      if (!reader.ok()) break;
      // Up to then the file has told all; after kClose nothing more can come.
      dump_.last_time_ = std::max(dump_.last_time_, id == kClose ? ~std::uint64_t{0} : time);
      if (id == kClose) break;
      record(id, time, ByteReader(body));
    }
    sort();
    return {};
  }

 private:
  static Status header(ByteReader& reader) {
    const auto magic = reader.number<std::uint32_t>();
    (void)reader.number<std::uint32_t>();  // version
    const auto size = reader.number<std::uint32_t>();
    constexpr std::size_t kBetween = 4 + 4 + 4 + 8;  // machine, padding, pid, time
    reader.skip(kBetween);
    const auto flags = reader.number<std::uint64_t>();
    if (!reader.ok() || (magic != kMagic && magic != kMagicOfOthers) || size < reader.at())
      return Error{Code::kCorrupt, "not a jitdump file", ""};
    if (magic == kMagicOfOthers)
      return Error{Code::kUnsupported, "a jitdump file of another byte order", ""};
    if ((flags & kOtherClock) != 0)
      return Error{Code::kUnsupported, "a jitdump file with times of the CPU's counter", ""};
    reader.skip(size - reader.at());
    return {};
  }

  void record(std::uint32_t id, std::uint64_t time, ByteReader reader) {
    if (id == kLoad) load(time, reader);
    if (id == kMove) move(time, reader);
    if (id == kDebugInfo) debug_info(reader);
  }

  void load(std::uint64_t time, ByteReader& reader) {
    reader.skip(8);  // pid, tid
    (void)reader.number<std::uint64_t>();
    const auto begin = reader.number<std::uint64_t>();
    const auto size = reader.number<std::uint64_t>();
    const auto index = reader.number<std::uint64_t>();
    const std::string_view name = reader.text();
    if (!reader.ok() || begin + size < begin) return;
    const auto lines = told_.find(begin);
    const std::uint32_t of = lines == told_.end() ? 0 : lines->second;
    told_.erase(begin);
    put({begin, begin + size, time, ~std::uint64_t{0}, begin, of, name}, index);
  }

  void move(std::uint64_t time, ByteReader& reader) {
    reader.skip(8);
    (void)reader.number<std::uint64_t>();
    const auto from = reader.number<std::uint64_t>();
    const auto to = reader.number<std::uint64_t>();
    const auto size = reader.number<std::uint64_t>();
    const auto index = reader.number<std::uint64_t>();
    const auto known = by_index_.find(index);
    if (!reader.ok() || known == by_index_.end()) return;
    Jitdump::Code& old = dump_.codes_[known->second];
    if (old.begin != from || to + size < to) return;
    Jitdump::Code code = old;
    code.begin = to;
    code.end = to + size;
    code.since = time;
    code.until = ~std::uint64_t{0};
    old.until = std::min(old.until, time);
    living_.remove(from, old.end);
    put(code, index);
  }

  // Whatever lies there in part is gone in whole: nobody keeps half of a function.
  void put(const Jitdump::Code& code, std::uint64_t index) {
    if (code.begin >= code.end) return;
    for (std::uint64_t at = code.begin; at < code.end;) {
      const auto old = living_.next(at);
      if (!old || old->begin >= code.end) break;
      Jitdump::Code& gone = dump_.codes_[*old->value];
      gone.until = std::min(gone.until, code.since);
      at = old->end;
      living_.remove(gone.begin, gone.end);
    }
    living_.put(code.begin, code.end, dump_.codes_.size());
    by_index_[index] = dump_.codes_.size();
    dump_.codes_.push_back(code);
  }

  // Comes before the load that it is about.
  void debug_info(ByteReader& reader) {
    const auto begin = reader.number<std::uint64_t>();
    const auto count = reader.number<std::uint64_t>();
    std::vector<Jitdump::Line> lines;
    for (std::uint64_t i = 0; i < count && reader.ok(); ++i) {
      Jitdump::Line line;
      line.address = reader.number<std::uint64_t>();
      line.line = reader.number<std::uint32_t>();
      (void)reader.number<std::uint32_t>();  // discriminator
      line.file = reader.text();
      if (line.file == "\xff") line.file = lines.empty() ? std::string_view() : lines.back().file;
      if (reader.ok()) lines.push_back(line);
    }
    std::ranges::stable_sort(lines, {}, &Jitdump::Line::address);
    told_[begin] = static_cast<std::uint32_t>(dump_.lines_.size());
    dump_.lines_.push_back(std::move(lines));
  }

  void sort() {
    std::ranges::stable_sort(dump_.codes_, [](const Jitdump::Code& a, const Jitdump::Code& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.since < b.since;
    });
    std::uint64_t reach = 0;
    for (std::size_t i = 0; i < dump_.codes_.size(); ++i) {
      const Jitdump::Code& code = dump_.codes_[i];
      // How far anything that begins up to here reaches: where a search backwards may end.
      reach = std::max(reach, code.end);
      if (dump_.places_.empty() || dump_.places_.back().begin != code.begin)
        dump_.places_.push_back({code.begin, reach, i, 0});
      dump_.places_.back().reach = reach;
      ++dump_.places_.back().count;
    }
  }

  Jitdump& dump_;
  std::unordered_map<std::uint64_t, std::uint32_t> told_;  // lines, by the code's address
  std::unordered_map<std::uint64_t, std::size_t> by_index_;
  OverlayMap<std::size_t> living_;
};

Result<Jitdump> Jitdump::parse(std::string bytes) {
  Jitdump dump;
  dump.bytes_ = std::make_unique<std::string>(std::move(bytes));
  FATHOM_TRY(JitdumpReader(dump).run());
  return dump;
}

Jitdump::Found Jitdump::find(std::uint64_t address, std::uint64_t time) const {
  constexpr int kMostSteps = 4096;
  auto place = std::ranges::upper_bound(places_, address, {}, &Place::begin);
  for (int steps = 0; place != places_.begin() && steps < kMostSteps; ++steps) {
    --place;
    if (place->reach <= address) return {};
    const auto first = codes_.begin() + static_cast<std::ptrdiff_t>(place->first);
    const auto last = first + static_cast<std::ptrdiff_t>(place->count);
    const auto later = std::upper_bound(
        first, last, time, [](std::uint64_t at, const Code& code) { return at < code.since; });
    if (later == first) continue;
    const Code& code = *std::prev(later);
    if (time < code.until && address < code.end) return found_in(code, address);
  }
  return {};
}

Jitdump::Found Jitdump::found_in(const Code& code, std::uint64_t address) const {
  Found found{code.function, {}, 0};
  const std::vector<Line>& lines = lines_[code.lines];
  const std::uint64_t told = address - code.begin + code.lines_at;
  const auto after = std::ranges::upper_bound(lines, told, {}, &Line::address);
  if (after == lines.begin()) return found;
  found.file = std::prev(after)->file;
  found.line = static_cast<int>(std::prev(after)->line & 0x7fffffffU);
  return found;
}

}  // namespace fathom::symbols
