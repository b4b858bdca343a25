// SPDX-License-Identifier: MIT
// Any bytes as lines of a profile, as files of the outbox, as logs of commands, as dumps of
// profiling-framework, and as schemas of records.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/text.h"
#include "fleet/agents/command_log.h"
#include "fleet/agents/letter.h"
#include "fleet/agents/profile_lines.h"
#include "fleet/record_schema.h"
#include "fleet/record_table.h"
#include "fleet/redis/old_layout.h"

namespace fathom::fleet {
namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void read_lines(std::string_view text) {
  std::int64_t taken = 0;
  ProfileLines lines([&](const ProfileRow& row) {
    require(row.count >= 0);
    ++taken;
    return Status();
  });
  RecordTable runs(kBenchmarks), records("other");
  for (const std::string_view line : split(text, '\n')) {
    (void)lines.add(line).has_value();
    (void)parse_old_line(line).has_value();
    (void)old_benchmark_lines(line).has_value();
    runs.add(0, line);
    records.add(0, line);
  }
  (void)lines.finish().has_value();
  require(taken == lines.rows());
  for (RecordTable* table : {&runs, &records}) {
    const Table whole = table->take();
    for (const auto& row : whole.rows) require(row.size() == whole.columns.size());
  }
}

}  // namespace
}  // namespace fathom::fleet

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::fleet;  // NOLINT(google-build-using-namespace) : one function
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_lines(text);
  (void)parse_letter(text).has_value();
  if (const auto commands = parse_command_log(text, ""); commands) {
    for (const LoggedCommand& command : *commands) require(!command.words.empty());
  }
  const std::size_t half = size / 2;
  const auto schema = RecordSchema::parse(text.substr(0, half));
  if (schema) (void)schema->check(text.substr(half)).has_value();
  return 0;
}
