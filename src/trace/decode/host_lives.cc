// SPDX-License-Identifier: MIT
// Lives of processes and threads as bytes of entries, and back: of definitions.log, for they belong
// to no log alone. Formats only grew: each that a recorder ever wrote is still read.
#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "trace/decode/host_rows.h"
#include "trace/decode/record_walker.h"
#include "trace/rows/byte_writer.h"

namespace fathom::trace {
namespace {

bool get_numbers(ByteReader& reader, std::initializer_list<std::int64_t*> numbers) {
  return std::ranges::all_of(numbers,
                             [&](std::int64_t* number) { return reader.signed_number(*number); });
}

bool get_process(ByteReader& reader, ProcessRow& row) {
  std::string_view name;
  std::string_view command;
  if (!get_numbers(reader, {&row.pid, &row.ppid, &row.start, &row.end, &row.exit, &row.rank}) ||
      !reader.text(name) || !reader.text(command))
    return false;
  row.name = name;
  row.command = command;
  return true;
}

}  // namespace

bool decode_processes(std::span<const std::uint8_t> bytes, std::vector<ProcessRow>& processes) {
  ByteReader reader(bytes.data(), bytes.data() + bytes.size());
  while (!reader.at_end()) {
    ProcessRow row;
    if (!get_process(reader, row)) return false;
    processes.push_back(std::move(row));
  }
  return true;
}

std::string encode_lives(const Lives& lives) {
  std::string out;
  put_number(out, lives.processes.size());
  for (const ProcessRow& row : lives.processes) {
    for (const std::int64_t number : {row.pid, row.ppid, row.start, row.end, row.exit, row.rank})
      put_signed(out, number);
    for (const std::string* text : {&row.name, &row.command}) put_text(out, *text);
    put_signed(out, row.nspid);
    put_text(out, row.rung);
  }
  for (const ThreadRow& row : lives.threads) {
    for (const std::int64_t number : {row.pid, row.tid, row.start, row.end, row.rank, row.ready})
      put_signed(out, number);
    put_text(out, row.name);
  }
  return out;
}

namespace {

bool decode_lives(std::span<const std::uint8_t> bytes, Lives& lives, bool sampled) {
  ByteReader reader(bytes.data(), bytes.data() + bytes.size());
  std::uint64_t processes = 0;
  if (!reader.number(processes)) return false;
  for (std::uint64_t i = 0; i < processes; i++) {
    ProcessRow row;
    std::string_view rung;
    if (!get_process(reader, row) || !reader.signed_number(row.nspid)) return false;
    if (sampled && !reader.text(rung)) return false;
    row.rung = rung;
    lives.processes.push_back(std::move(row));
  }
  while (!reader.at_end()) {
    ThreadRow row;
    std::string_view name;
    if (!get_numbers(reader, {&row.pid, &row.tid, &row.start, &row.end, &row.rank})) return false;
    if (sampled && !reader.signed_number(row.ready)) return false;
    if (!reader.text(name)) return false;
    row.name = name;
    lives.threads.push_back(std::move(row));
  }
  return true;
}

}  // namespace

bool decode_lives(std::span<const std::uint8_t> bytes, Lives& lives) {
  return decode_lives(bytes, lives, true);
}

bool decode_unsampled_lives(std::span<const std::uint8_t> bytes, Lives& lives) {
  return decode_lives(bytes, lives, false);
}

}  // namespace fathom::trace
