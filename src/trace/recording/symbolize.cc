// SPDX-License-Identifier: MIT
// A frame without a name is called `module+0xoffset`, which is its own or its function's: that is
// how it is found again. Others stay as
// they are, so that a recording may be given names in several steps.
#include "trace/recording/symbolize.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/directory.h"
#include "base/os_error.h"
#include "sql/connection.h"
#include "sql/database.h"
#include "sql/parquet_writer.h"
#include "sql/quote.h"
#include "trace/recording/parquet_file.h"
#include "trace/recording/parquet_tables.h"
#include "trace/rows/frame_names.h"
#include "trace/rows/samples.h"
#include "trace/spool/spool.h"

namespace fathom::trace {
namespace {

constexpr char kColumns[] =
    R"(stack, depth, "function", module, file, line, build_id, "offset", address)";

// The frames of one file.
class FrameFile {
 public:
  FrameFile(const Directory& directory, std::string name)
      : directory_(directory), name_(std::move(name)) {}

  Status read(sql::Connection& connection) {
    FATHOM_ASSIGN(File file, directory_.read(name_));
    FATHOM_ASSIGN(const DataFile held, hold(std::move(file), directory_, name_));
    // Files of before there were such columns have no place to name.
    const std::string from = "read_parquet([" + sql::quote_literal(held.source) + "])";
    FATHOM_ASSIGN(const Table columns, connection.query("DESCRIBE SELECT * FROM " + from));
    const bool has_places = std::ranges::any_of(columns.rows, [](const std::vector<Value>& row) {
      const auto* name = std::get_if<std::string>(&row.at(0).data);
      return name != nullptr && *name == "address";
    });
    if (!has_places) return {};
    const auto take = [this](const Table& rows) {
      for (const std::vector<Value>& cells : rows.rows) frames_.rows.push_back(row_of(cells));
      return Status();
    };
    return connection.stream(std::string("SELECT ") + kColumns + " FROM " + from, take);
  }

  // Whether there is something to write.
  bool name(const NameResolver& resolver, Symbolized& told) {
    const std::int64_t places = take_back_names();
    if (places == 0) return false;
    (void)name_frames(resolver, frames_, strings_);
    std::int64_t missing = 0;
    for (FrameRow& row : frames_.rows) {
      Frame frame = row.frame;
      if (!take_back_name(frame, strings_)) continue;
      missing++;
      row.frame.function = names_before_[place_of(frame)];
      told.missing[{std::string(strings_.view(frame.module)),
                    std::string(strings_.view(frame.build_id))}]++;
    }
    told.unnamed += missing;
    told.named += places - missing;
    return missing < places;
  }

  Status write() {
    const std::string fresh = name_ + ".new";
    FATHOM_ASSIGN(const File old, directory_.read(name_));
    struct stat facts {};
    if (::fstat(old.fd(), &facts) != 0) return os_error(errno, "look at " + name_);
    FATHOM_ASSIGN(File file, directory_.create(fresh));
    FATHOM_ASSIGN(File writer, file.duplicate());
    Status written =
        sql::write_parquet(std::move(writer), SqlBatch::frames(frames_, strings_).batch());
    if (written) written = file.sync();
    // Who might read the old one may read the new one.
    if (written && (::fchown(file.fd(), static_cast<uid_t>(-1), facts.st_gid) != 0 ||
                    ::fchmod(file.fd(), facts.st_mode & 0777U) != 0))
      written = os_error(errno, "share " + fresh);
    if (written) written = directory_.rename(fresh, directory_, name_);
    if (!written) directory_.remove(fresh);
    return written;
  }

 private:
  using Place = std::tuple<std::uint32_t, std::uint32_t, std::int64_t>;
  static Place place_of(const Frame& frame) { return {frame.module, frame.build_id, frame.offset}; }

  // How many there are. Who made the recording may have known more of them: where the function
  // begins.
  std::int64_t take_back_names() {
    std::int64_t places = 0;
    for (FrameRow& row : frames_.rows) {
      const std::uint32_t before = row.frame.function;
      if (!take_back_name(row.frame, strings_)) continue;
      names_before_[place_of(row.frame)] = before;
      places++;
    }
    return places;
  }
  static std::int64_t number(const Value& value) {
    const auto* number = std::get_if<std::int64_t>(&value.data);
    return number != nullptr ? *number : kNull;
  }
  static std::int32_t small(const Value& value) {
    const std::int64_t wide = number(value);
    return wide == kNull ? kNull32 : static_cast<std::int32_t>(wide);
  }
  std::uint32_t text(const Value& value) {
    const auto* text = std::get_if<std::string>(&value.data);
    return text != nullptr ? strings_.code(*text) : kNoString;
  }
  FrameRow row_of(const std::vector<Value>& cells) {
    FrameRow row;
    row.stack = number(cells[0]);
    row.depth = small(cells[1]);
    row.frame.function = text(cells[2]);
    row.frame.module = text(cells[3]);
    row.frame.file = text(cells[4]);
    row.frame.line = small(cells[5]);
    row.frame.build_id = text(cells[6]);
    row.frame.offset = number(cells[7]);
    row.frame.address = number(cells[8]);
    return row;
  }

  const Directory& directory_;
  std::string name_;
  Strings strings_;
  FrameBatch frames_;
  std::map<Place, std::uint32_t> names_before_;  // of places without a better one
};

Status check_packed(const Directory& directory) {
  if (!directory.is_ours())
    return Error{Code::kDenied, directory.path() + " belongs to another user",
                 "only its owner can change it; copy it"};
  if (directory.has(kSpoolDirectory))
    return Error{Code::kInvalid, directory.path() + " is not packed yet",
                 "wait until it is recorded, or run fathom collect"};
  return {};
}

}  // namespace

void Symbolized::add(const Symbolized& other) {
  named += other.named;
  unnamed += other.unnamed;
  for (const auto& [module, count] : other.missing) missing[module] += count;
}

Result<Symbolized> symbolize(const std::string& recording, const NameResolver& resolver) {
  FATHOM_ASSIGN(const Directory directory, Directory::open(recording));
  FATHOM_TRY(check_packed(directory));
  FATHOM_ASSIGN(const std::vector<std::string> names, directory.names());
  FATHOM_ASSIGN(const sql::Database database, sql::Database::open_memory({.threads = 1}));
  FATHOM_ASSIGN(sql::Connection connection, sql::Connection::open(database));
  Symbolized told;
  for (const std::string& name : names) {
    const std::optional<ParquetName> parsed = parse_parquet_name(name);
    if (!parsed || parsed->table != kFramesTable) continue;
    if (std::string damage = parquet_damage(directory, name); !damage.empty())
      return Error{Code::kCorrupt, directory.path_of(name) + ": " + damage, ""};
    FrameFile file(directory, name);
    FATHOM_TRY(file.read(connection));
    if (file.name(resolver, told)) FATHOM_TRY(file.write());
  }
  return told;
}

}  // namespace fathom::trace
