// SPDX-License-Identifier: MIT
// The one place that maps batches to the columns of the SQL contract: their names, order and types
// are what reports, scripts and other programs read. A new column goes to the end. Spans point into
// the batch where they can, so that nothing is copied.
#include "trace/recording/parquet_tables.h"

#include <deque>
#include <limits>

namespace fathom::trace {

// Owns what the spans point at, where it is not the batch itself. Deques do not move their
// elements.
class SqlBatch::Columns {
 public:
  explicit Columns(std::size_t rows) { batch_.rows = rows; }

  const sql::Batch& finish() {
    batch_.columns = defs_;
    batch_.data = data_;
    return batch_;
  }
  [[nodiscard]] const sql::Batch& batch() const { return batch_; }

  // NULL where the value is the lowest of its type. An empty column is NULL throughout.
  void numbers(const char* name, std::span<const std::int64_t> values) {
    data_.push_back({.int64s = values, .valid = valid_of(values)});
    defs_.push_back({.name = name, .kind = sql::ColumnKind::kInt64});
  }
  void numbers(const char* name, std::span<const std::int32_t> values) {
    data_.push_back({.int32s = values, .valid = valid_of(values)});
    defs_.push_back({.name = name, .kind = sql::ColumnKind::kInt32});
  }
  void codes(const char* name, std::span<const std::uint32_t> codes,
             std::span<const std::string_view> dictionary) {
    data_.push_back({.codes = codes});
    defs_.push_back({.name = name, .kind = sql::ColumnKind::kDictionary, .dictionary = dictionary});
  }

  // Columns of rows: `get` takes one value out of a row.
  template <class Rows, class Get>
  void numbers_of(const char* name, const Rows& rows, Get get) {
    using T = std::remove_cvref_t<decltype(get(*rows.begin()))>;
    numbers(name, std::span<const T>(keep<T>(rows, get)));
  }
  template <class Rows, class Get>
  void codes_of(const char* name, const Rows& rows, std::span<const std::string_view> dictionary,
                Get get) {
    codes(name, keep<std::uint32_t>(rows, get), dictionary);
  }
  template <class Rows, class Get>
  void doubles_of(const char* name, const Rows& rows, Get get) {
    data_.push_back({.doubles = keep<double>(rows, get)});
    defs_.push_back({.name = name, .kind = sql::ColumnKind::kDouble});
  }
  // "" is NULL.
  template <class Rows, class Get>
  void texts_of(const char* name, const Rows& rows, Get get) {
    const std::vector<std::string_view>& texts = keep<std::string_view>(rows, get);
    std::vector<std::uint8_t>& valid = validity_.emplace_back();
    for (const std::string_view text : texts) valid.push_back(text.empty() ? 0 : 1);
    data_.push_back({.texts = texts, .valid = valid});
    defs_.push_back({.name = name, .kind = sql::ColumnKind::kText});
  }
  template <class Rows, class Get>
  void lists_of(const char* name, const Rows& rows, Get get) {
    std::vector<std::int64_t>& items = int64s_.emplace_back();
    std::vector<std::uint32_t>& offsets = codes_.emplace_back(1, 0U);
    items.reserve(rows.size());
    for (const auto& row : rows) {
      items.insert(items.end(), get(row).begin(), get(row).end());
      offsets.push_back(static_cast<std::uint32_t>(items.size()));
    }
    data_.push_back({.int64s = items, .offsets = offsets});
    defs_.push_back({.name = name, .kind = sql::ColumnKind::kInt64List});
  }
  void host(const std::string& host, std::span<const std::uint32_t> codes,
            std::span<const std::string_view> dictionary);
  void args(const Args& args, std::span<const std::string_view> dictionary);
  void meta(const std::vector<ProcessRow>& rows);

 private:
  template <class T>
  std::deque<std::vector<T>>& store() {
    if constexpr (std::is_same_v<T, std::int64_t>) {
      return int64s_;
    } else if constexpr (std::is_same_v<T, std::int32_t>) {
      return int32s_;
    } else if constexpr (std::is_same_v<T, std::uint32_t>) {
      return codes_;
    } else if constexpr (std::is_same_v<T, double>) {
      return doubles_;
    } else {
      return views_;
    }
  }
  template <class T, class Rows, class Get>
  const std::vector<T>& keep(const Rows& rows, Get get) {
    std::vector<T>& column = store<T>().emplace_back();
    column.reserve(rows.size());
    for (const auto& row : rows) column.push_back(get(row));
    return column;
  }

  template <class T>
  std::span<const std::uint8_t> valid_of(std::span<const T> values) {
    constexpr T kLowest = std::numeric_limits<T>::min();
    std::size_t nulls = 0;
    for (const T value : values) nulls += value == kLowest ? 1 : 0;
    if (nulls == 0) return {};
    std::vector<std::uint8_t>& valid = validity_.emplace_back(values.size());
    for (std::size_t i = 0; i < values.size(); i++) valid[i] = values[i] == kLowest ? 0 : 1;
    return valid;
  }

  // Deques: spans in data_ point into their elements, which must not move when others are added.
  std::vector<sql::ColumnDef> defs_;
  std::vector<sql::ColumnData> data_;
  sql::Batch batch_;
  std::deque<std::vector<std::int64_t>> int64s_;
  std::deque<std::vector<std::int32_t>> int32s_;
  std::deque<std::vector<std::uint32_t>> codes_;
  std::deque<std::vector<double>> doubles_;
  std::deque<std::vector<std::string_view>> views_;
  std::deque<std::vector<std::uint8_t>> validity_;
  std::deque<std::string> texts_;
};

// Rows without a host of their own are of the manifest's, which is one more word of the dictionary.
void SqlBatch::Columns::host(const std::string& host, std::span<const std::uint32_t> codes,
                             std::span<const std::string_view> dictionary) {
  const std::string& kept = texts_.emplace_back(host);
  std::vector<std::string_view>& members =
      views_.emplace_back(dictionary.begin(), dictionary.end());
  const auto own = static_cast<std::uint32_t>(members.size());
  members.push_back(kept);
  std::vector<std::uint32_t>& column =
      codes_.emplace_back(batch_.rows, host.empty() ? kNoString : own);
  for (std::size_t i = 0; i < codes.size() && i < column.size(); i++) {
    if (codes[i] != kNoString) column[i] = codes[i];
  }
  this->codes("host", column, members);
}

void SqlBatch::Columns::args(const Args& args, std::span<const std::string_view> dictionary) {
  defs_.push_back({.name = "args", .kind = sql::ColumnKind::kTextMap, .dictionary = dictionary});
  if (args.entries() == 0) {
    data_.emplace_back();
    return;
  }
  std::vector<std::uint32_t>& keys = codes_.emplace_back();
  std::vector<std::string_view>& values = views_.emplace_back();
  for (std::size_t entry = 0; entry < args.entries(); entry++) {
    keys.push_back(args.key(entry));
    values.push_back(args.value(entry));
  }
  std::vector<std::uint32_t>& offsets = codes_.emplace_back(1, 0U);
  std::vector<std::uint8_t>& valid = validity_.emplace_back();
  for (std::size_t row = 0; row < batch_.rows; row++) {
    offsets.push_back(static_cast<std::uint32_t>(args.end(row)));
    valid.push_back(args.end(row) > args.begin(row) ? 1 : 0);
  }
  data_.push_back({.codes = keys, .texts = values, .offsets = offsets, .valid = valid});
}

void SqlBatch::Columns::meta(const std::vector<ProcessRow>& rows) {
  std::vector<std::string_view>& dictionary = views_.emplace_back();
  std::vector<std::string_view>& values = views_.emplace_back();
  std::vector<std::uint32_t>& keys = codes_.emplace_back();
  std::vector<std::uint32_t>& offsets = codes_.emplace_back(1, 0U);
  std::vector<std::uint8_t>& valid = validity_.emplace_back();
  for (const ProcessRow& row : rows) {
    for (const auto& [key, value] : row.meta) {
      keys.push_back(static_cast<std::uint32_t>(dictionary.size()));
      dictionary.push_back(key);
      values.push_back(value);
    }
    offsets.push_back(static_cast<std::uint32_t>(keys.size()));
    valid.push_back(row.meta.empty() ? 0 : 1);
  }
  defs_.push_back({.name = "meta", .kind = sql::ColumnKind::kTextMap, .dictionary = dictionary});
  if (keys.empty()) {
    data_.emplace_back();
  } else {
    data_.push_back({.codes = keys, .texts = values, .offsets = offsets, .valid = valid});
  }
}

SqlBatch::SqlBatch(std::unique_ptr<Columns> columns) : columns_(std::move(columns)) {
  columns_->finish();
}
SqlBatch::SqlBatch(SqlBatch&&) noexcept = default;
SqlBatch& SqlBatch::operator=(SqlBatch&&) noexcept = default;
SqlBatch::~SqlBatch() = default;
const sql::Batch& SqlBatch::batch() const { return columns_->batch(); }

SqlBatch SqlBatch::events(const EventBatch& batch, const Strings& strings,
                          const std::string& host) {
  auto columns = std::make_unique<Columns>(batch.rows());
  const auto words = strings.views();
  columns->numbers("ts", batch.ts);
  columns->numbers("dur", batch.dur);
  columns->host(host, batch.host, words);
  columns->numbers("pid", batch.pid);
  columns->numbers("tid", batch.tid);
  columns->numbers("rank", batch.rank);
  columns->codes("layer", batch.layer, words);
  columns->codes("name", batch.name, words);
  columns->codes("category", batch.category, words);
  columns->numbers("depth", batch.depth);
  columns->codes("file", batch.file, words);
  columns->numbers("fd", batch.fd);
  columns->numbers("offset", batch.offset);
  columns->numbers("size", batch.size);
  columns->numbers("bytes", batch.bytes);
  columns->numbers("ret", batch.ret);
  columns->codes("error", batch.error, words);
  columns->numbers("device", batch.device);
  columns->numbers("stream", batch.stream);
  columns->numbers("correlation", batch.correlation);
  columns->args(batch.args, words);
  columns->codes("entry", batch.entry, words);
  columns->numbers("self", batch.self);
  columns->codes("program", batch.program, words);
  return SqlBatch(std::move(columns));
}

namespace {

template <class Row>
std::vector<std::uint32_t> hosts_of(const std::vector<Row>& rows) {
  std::vector<std::uint32_t> hosts;
  hosts.reserve(rows.size());
  for (const Row& row : rows) hosts.push_back(row.host);
  return hosts;
}

}  // namespace

SqlBatch SqlBatch::counters(const CounterBatch& batch, const Strings& strings,
                            const std::string& host) {
  auto columns = std::make_unique<Columns>(batch.rows.size());
  const auto words = strings.views();
  const auto& rows = batch.rows;
  const std::vector<std::uint32_t> hosts = hosts_of(rows);
  columns->numbers_of("ts", rows, [](const CounterRow& row) { return row.ts; });
  columns->host(host, hosts, words);
  columns->numbers_of("pid", rows, [](const CounterRow& row) { return row.pid; });
  columns->numbers_of("tid", rows, [](const CounterRow& row) { return row.tid; });
  columns->codes_of("layer", rows, words, [](const CounterRow& row) { return row.layer; });
  columns->codes_of("name", rows, words, [](const CounterRow& row) { return row.name; });
  columns->codes_of("unit", rows, words, [](const CounterRow& row) { return row.unit; });
  columns->doubles_of("value", rows, [](const CounterRow& row) { return row.value; });
  return SqlBatch(std::move(columns));
}

SqlBatch SqlBatch::intervals(const IntervalBatch& batch, const Strings& strings,
                             const std::string& host) {
  auto columns = std::make_unique<Columns>(batch.rows.size());
  const auto words = strings.views();
  const auto& rows = batch.rows;
  const std::vector<std::uint32_t> hosts = hosts_of(rows);
  columns->numbers_of("ts", rows, [](const IntervalRow& row) { return row.ts; });
  columns->numbers_of("width", rows, [](const IntervalRow& row) { return row.width; });
  columns->host(host, hosts, words);
  columns->numbers_of("pid", rows, [](const IntervalRow& row) { return row.pid; });
  columns->numbers_of("tid", rows, [](const IntervalRow& row) { return row.tid; });
  columns->codes_of("layer", rows, words, [](const IntervalRow& row) { return row.layer; });
  columns->codes_of("name", rows, words, [](const IntervalRow& row) { return row.name; });
  columns->codes_of("file", rows, words, [](const IntervalRow& row) { return row.file; });
  columns->numbers_of("calls", rows, [](const IntervalRow& row) { return row.calls; });
  columns->numbers_of("errors", rows, [](const IntervalRow& row) { return row.errors; });
  columns->numbers_of("dur", rows, [](const IntervalRow& row) { return row.dur; });
  columns->numbers_of("dur_min", rows, [](const IntervalRow& row) { return row.dur_min; });
  columns->numbers_of("dur_max", rows, [](const IntervalRow& row) { return row.dur_max; });
  columns->numbers_of("bytes", rows, [](const IntervalRow& row) { return row.bytes; });
  columns->lists_of(
      "hist", rows, [](const IntervalRow& row) -> const auto& { return row.hist; });
  columns->codes_of("peer", rows, words, [](const IntervalRow& row) { return row.peer; });
  return SqlBatch(std::move(columns));
}

SqlBatch SqlBatch::samples(const SampleBatch& batch, const Strings& strings,
                           const std::string& host) {
  auto columns = std::make_unique<Columns>(batch.rows.size());
  const auto words = strings.views();
  const auto& rows = batch.rows;
  const std::vector<std::uint32_t> hosts = hosts_of(rows);
  columns->numbers_of("ts", rows, [](const SampleRow& row) { return row.ts; });
  columns->host(host, hosts, words);
  columns->numbers_of("pid", rows, [](const SampleRow& row) { return row.pid; });
  columns->numbers_of("tid", rows, [](const SampleRow& row) { return row.tid; });
  columns->numbers_of("cpu", rows, [](const SampleRow& row) { return row.cpu; });
  columns->codes_of("event", rows, words, [](const SampleRow& row) { return row.event; });
  columns->numbers_of("weight", rows, [](const SampleRow& row) { return row.weight; });
  columns->numbers_of("stack", rows, [](const SampleRow& row) { return row.stack; });
  columns->numbers_of("ready", rows, [](const SampleRow& row) { return row.ready; });
  return SqlBatch(std::move(columns));
}

SqlBatch SqlBatch::frames(const FrameBatch& batch, const Strings& strings) {
  auto columns = std::make_unique<Columns>(batch.rows.size());
  const auto words = strings.views();
  const auto& rows = batch.rows;
  const auto texts = [&](const char* name, std::uint32_t Frame::*code) {
    columns->codes_of(name, rows, words, [code](const FrameRow& row) { return row.frame.*code; });
  };
  columns->numbers_of("stack", rows, [](const FrameRow& row) { return row.stack; });
  columns->numbers_of("depth", rows, [](const FrameRow& row) { return row.depth; });
  texts("function", &Frame::function);
  texts("module", &Frame::module);
  texts("file", &Frame::file);
  columns->numbers_of("line", rows, [](const FrameRow& row) { return row.frame.line; });
  texts("build_id", &Frame::build_id);
  columns->numbers_of("offset", rows, [](const FrameRow& row) { return row.frame.offset; });
  columns->numbers_of("address", rows, [](const FrameRow& row) { return row.frame.address; });
  return SqlBatch(std::move(columns));
}

namespace {

std::int64_t number_of(std::uint64_t process) {
  return process == 0 ? kNull : static_cast<std::int64_t>(process & INT64_MAX);
}

}  // namespace

SqlBatch SqlBatch::processes(const std::vector<ProcessRow>& rows) {
  auto columns = std::make_unique<Columns>(rows.size());
  columns->texts_of("host", rows, [](const ProcessRow& row) { return std::string_view(row.host); });
  columns->numbers_of("pid", rows, [](const ProcessRow& row) { return row.pid; });
  columns->numbers_of("ppid", rows, [](const ProcessRow& row) { return row.ppid; });
  columns->texts_of("name", rows, [](const ProcessRow& row) { return std::string_view(row.name); });
  columns->texts_of("command", rows,
                    [](const ProcessRow& row) { return std::string_view(row.command); });
  columns->numbers_of("start", rows, [](const ProcessRow& row) { return row.start; });
  columns->numbers_of("end", rows, [](const ProcessRow& row) { return row.end; });
  columns->numbers_of("exit", rows, [](const ProcessRow& row) { return row.exit; });
  columns->numbers_of("rank", rows, [](const ProcessRow& row) { return row.rank; });
  columns->texts_of("container", rows,
                    [](const ProcessRow& row) { return std::string_view(row.container); });
  columns->meta(rows);
  columns->numbers_of("nspid", rows, [](const ProcessRow& row) { return row.nspid; });
  columns->numbers_of("image", rows, [](const ProcessRow& row) { return row.image; });
  columns->numbers_of("process", rows,
                      [](const ProcessRow& row) { return number_of(row.process); });
  columns->texts_of("rung", rows, [](const ProcessRow& row) { return std::string_view(row.rung); });
  return SqlBatch(std::move(columns));
}

SqlBatch SqlBatch::threads(const std::vector<ThreadRow>& rows) {
  auto columns = std::make_unique<Columns>(rows.size());
  columns->texts_of("host", rows, [](const ThreadRow& row) { return std::string_view(row.host); });
  columns->numbers_of("pid", rows, [](const ThreadRow& row) { return row.pid; });
  columns->numbers_of("tid", rows, [](const ThreadRow& row) { return row.tid; });
  columns->texts_of("name", rows, [](const ThreadRow& row) { return std::string_view(row.name); });
  columns->numbers_of("start", rows, [](const ThreadRow& row) { return row.start; });
  columns->numbers_of("end", rows, [](const ThreadRow& row) { return row.end; });
  columns->numbers_of("rank", rows, [](const ThreadRow& row) { return row.rank; });
  columns->texts_of("container", rows,
                    [](const ThreadRow& row) { return std::string_view(row.container); });
  columns->numbers_of("ready", rows, [](const ThreadRow& row) { return row.ready; });
  return SqlBatch(std::move(columns));
}

SqlBatch SqlBatch::summary(const SummaryTable& table, const Strings& strings,
                           const std::string& host) {
  const std::vector<SummaryRow>& rows = table.rows();
  auto columns = std::make_unique<Columns>(rows.size());
  const auto words = strings.views();
  columns->host(host, {}, words);
  columns->codes_of("layer", rows, words, [](const SummaryRow& row) { return row.key.layer; });
  columns->codes_of("name", rows, words, [](const SummaryRow& row) { return row.key.name; });
  columns->codes_of("category", rows, words,
                    [](const SummaryRow& row) { return row.key.category; });
  columns->codes_of("file", rows, words, [](const SummaryRow& row) { return row.key.file; });
  columns->numbers_of("pid", rows, [](const SummaryRow& row) { return row.key.pid; });
  columns->numbers_of("calls", rows, [](const SummaryRow& row) { return row.calls; });
  columns->numbers_of("errors", rows, [](const SummaryRow& row) { return row.errors; });
  columns->numbers_of("dur", rows, [](const SummaryRow& row) { return row.dur; });
  columns->numbers_of("self", rows, [](const SummaryRow& row) { return row.self; });
  columns->numbers_of("dur_min", rows, [](const SummaryRow& row) { return row.dur_min; });
  columns->numbers_of("dur_max", rows, [](const SummaryRow& row) { return row.dur_max; });
  columns->numbers_of("bytes", rows, [](const SummaryRow& row) { return row.bytes; });
  columns->numbers_of("first", rows, [](const SummaryRow& row) { return row.first; });
  columns->numbers_of("last", rows, [](const SummaryRow& row) { return row.last; });
  columns->lists_of(
      "hist", rows, [](const SummaryRow& row) -> const auto& { return row.hist; });
  columns->lists_of(
      "sizes", rows, [](const SummaryRow& row) -> const auto& { return row.sizes; });
  const auto access = [&](const char* name, std::int64_t AccessPattern::*count) {
    columns->numbers_of(name, rows, [count](const SummaryRow& row) { return row.access.*count; });
  };
  access("positioned", &AccessPattern::positioned);
  access("consecutive", &AccessPattern::consecutive);
  access("forward", &AccessPattern::forward);
  access("strided", &AccessPattern::strided);
  access("misaligned", &AccessPattern::misaligned);
  access("extent", &AccessPattern::extent);
  columns->codes_of("program", rows, words, [](const SummaryRow& row) { return row.key.program; });
  columns->numbers_of("process", rows,
                      [](const SummaryRow& row) { return number_of(row.key.process); });
  columns->codes_of("peer", rows, words, [](const SummaryRow& row) { return row.key.peer; });
  return SqlBatch(std::move(columns));
}

SqlBatch SqlBatch::coverage(const LayerCoverage& coverage, const Strings& strings,
                            const std::string& host) {
  const std::vector<LayerCoverage::Row> rows = coverage.rows();
  auto columns = std::make_unique<Columns>(rows.size());
  const auto words = strings.views();
  using Row = LayerCoverage::Row;
  columns->host(host, {}, words);
  columns->codes_of("layer", rows, words, [](const Row& row) { return row.layer; });
  columns->numbers_of("ts", rows, [](const Row& row) { return row.span.begin; });
  columns->numbers_of("dur", rows, [](const Row& row) { return row.span.end - row.span.begin; });
  columns->numbers_of("covered", rows, [](const Row& row) { return row.span.covered; });
  return SqlBatch(std::move(columns));
}

SqlBatch SqlBatch::timeline(const Timeline& timeline, const Strings& strings,
                            const std::string& host) {
  const std::vector<Timeline::Row> rows = timeline.rows();
  auto columns = std::make_unique<Columns>(rows.size());
  const auto words = strings.views();
  columns->host(host, {}, words);
  columns->numbers_of("ts", rows, [](const Timeline::Row& row) { return row.ts; });
  columns->numbers_of("width", rows, [](const Timeline::Row& row) { return row.width; });
  columns->codes_of("layer", rows, words, [](const Timeline::Row& row) { return row.layer; });
  columns->numbers_of("busy", rows, [](const Timeline::Row& row) { return row.cell.busy; });
  columns->numbers_of("calls", rows, [](const Timeline::Row& row) { return row.cell.calls; });
  columns->numbers_of("bytes", rows, [](const Timeline::Row& row) { return row.cell.bytes; });
  return SqlBatch(std::move(columns));
}

SqlBatch SqlBatch::inodes(const std::vector<InodeRow>& rows, const Strings& strings) {
  auto columns = std::make_unique<Columns>(rows.size());
  columns->codes_of("path", rows, strings.views(), [](const InodeRow& row) { return row.path; });
  columns->numbers_of("device", rows, [](const InodeRow& row) { return row.device; });
  columns->numbers_of("inode", rows, [](const InodeRow& row) { return row.inode; });
  return SqlBatch(std::move(columns));
}

}  // namespace fathom::trace
