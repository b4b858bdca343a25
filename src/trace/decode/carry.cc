// SPDX-License-Identifier: MIT
// What threads carry from one log to the next, as bytes (docs/formats/spool.md, "carry"): each log
// is decoded by itself, perhaps by another process after a crash, and regions may be open across
// many. Texts stand in it instead of codes, which are of one process. A checksum comes first: a
// carry that is half written would give self times that look right and are not.
#include <span>

#include "trace/decode/row_decoder.h"
#include "trace/rows/byte_writer.h"

namespace fathom::trace {
namespace {

constexpr std::uint64_t kMostItems = 1U << 20;  // of one thread; beyond that it is damage

bool get_code(ByteReader& reader, Strings& strings, std::uint32_t& code) {
  std::string_view text;
  if (!reader.text(text)) return false;
  code = strings.code(text);
  return true;
}

}  // namespace

bool Decoder::Thread::carries() const { return inside.carries() || !pending.empty(); }

void Decoder::Thread::write(std::string& out, const Strings& strings) const {
  put_raw(out, process_key);
  put_number(out, ordinal);
  put_number(out, cursor);
  put_number(out, inside.levels().size());
  for (const Inside::Level& level : inside.levels()) {
    put_signed(out, level.time);
    put_number(out, level.places.size());
    for (const Place& place : level.places) {
      put_signed(out, place.ts);
      put_signed(out, place.time);
    }
  }
  put_number(out, pending.size());
  for (const PendingArg& held : pending) {
    put_number(out, held.depth);
    put_text(out, strings.view(held.key));
    put_text(out, std::string_view(pending_text).substr(held.begin, held.length));
  }
}

bool Decoder::Thread::read_inside(ByteReader& reader) {
  std::uint64_t count = 0;
  if (!reader.number(count) || count > kMostItems) return false;
  for (; count > 0; count--) {
    Inside::Level level;
    std::uint64_t places = 0;
    if (!reader.signed_number(level.time) || !reader.number(places) || places > kMostItems)
      return false;
    for (; places > 0; places--) {
      Place& place = level.places.emplace_back();
      if (!reader.signed_number(place.ts) || !reader.signed_number(place.time)) return false;
    }
    inside.restore(std::move(level));
  }
  return true;
}

bool Decoder::Thread::read_pending(ByteReader& reader, Strings& strings) {
  std::uint64_t count = 0;
  if (!reader.number(count) || count > kMostItems) return false;
  for (; count > 0; count--) {
    PendingArg held{};
    std::string_view value;
    if (!reader.number(held.depth) || !get_code(reader, strings, held.key) || !reader.text(value))
      return false;
    held.begin = pending_text.size();
    held.length = value.size();
    pending_text.append(value);
    pending.push_back(held);
  }
  return true;
}

std::string Decoder::carry() const {
  std::string body;
  for (const auto& [hash, threads] : threads_) {
    for (const auto& thread : threads) {
      if (thread->carries()) thread->write(body, *strings_);
    }
  }
  if (body.empty()) return body;
  std::string out;
  put_raw(out, fnv1a(body));
  return out + body;
}

void Decoder::restore(std::string_view carried) {
  threads_.clear();
  if (carried.empty()) return;
  const auto* begin = reinterpret_cast<const std::uint8_t*>(carried.data());
  ByteReader reader(begin, begin + carried.size());
  std::uint64_t sum = 0;
  bool sound = reader.raw(sum) && sum == fnv1a(carried.substr(sizeof sum));
  while (sound && !reader.at_end()) {
    std::uint64_t key = 0;
    std::uint64_t ordinal = 0;
    std::uint64_t cursor = 0;
    sound = reader.raw(key) && reader.number(ordinal) && reader.number(cursor);
    if (!sound) break;
    Thread& owner = thread(key, static_cast<std::uint32_t>(ordinal & UINT32_MAX),
                           static_cast<std::uint32_t>(cursor & UINT32_MAX));
    sound = owner.read_inside(reader) && owner.read_pending(reader, *strings_);
  }
  if (sound) return;
  threads_.clear();
  count_loss("damaged file in the spool");
}

}  // namespace fathom::trace
