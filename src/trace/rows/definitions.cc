// SPDX-License-Identifier: MIT
// Ids are looked up for each record, so the last answers are cached in tables that grow with the
// program. Forked children share ids with their parents, which makes a look-up a walk up a chain: a
// shell that forks a hundred thousand times makes one that long, so each walk leaves shortcuts for
// the next. The texts themselves lie in a PagedStore: names may be more than memory should hold.
#include "trace/rows/definitions.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/utf8.h"
#include "trace/rows/paths.h"
#include "wire/exec.h"
#include "wire/record.h"
#include "wire/spool.h"

namespace fathom::trace {
namespace {

constexpr int kMaxNesting = 64;                    // of directories that a path starts from
constexpr int kNearAncestors = 64;                 // whose facts are looked at one by one
constexpr std::uint64_t kHole = 65536;             // ids this far beyond the table go to the map
constexpr std::uint64_t kBlock = 64;               // definitions that lie beside each other
constexpr std::size_t kFew = std::size_t{1} << 8;  // files and sites that are known at first
constexpr std::size_t kMostFiles = std::size_t{1} << 15;
constexpr std::size_t kMostSites = std::size_t{1} << 12;

// A table without chains: two ids with one place drive each other out, and are looked up anew.
template <class T>
T& known_at(std::vector<T>& known, const Process& process, std::uint64_t id) {
  const std::uint64_t hash = (process.key ^ id) * UINT64_C(0x9e3779b97f4a7c15);
  return known[(id + (hash >> 40)) & (known.size() - 1)];
}

// Where to remember something. Small programs pay for no large table: it grows when two meet.
template <class T>
T& place_for(std::vector<T>& known, std::size_t most, const Process& process, std::uint64_t id) {
  T& place = known_at(known, process, id);
  const bool taken = place.process != nullptr && (place.process != &process || place.id != id);
  if (!taken || known.size() >= most) return place;
  known.assign(known.size() * 2, {});
  return known_at(known, process, id);
}

// Such a process is the same program as its parent, with what that told of itself.
bool shares_image(const Process& process) {
  return process.attach == FATHOM_ATTACH_FORK || process.attach == FATHOM_ATTACH_SHARES;
}

std::string shown(std::string_view text) {
  return is_valid_utf8(text) ? std::string(text) : escape_invalid_utf8(text);
}

std::string hex(std::uint64_t value) {
  char digits[17] = {};
  const auto end = std::to_chars(digits, digits + 16, value, 16).ptr;
  return {digits, end};
}

}  // namespace

Definitions::Definitions(Strings& strings, NameResolver resolver, std::string directory, bool local)
    : strings_(&strings),
      resolver_(std::move(resolver)),
      local_(local),
      store_(std::move(directory)),
      known_files_(kFew),
      known_peers_(kFew),
      known_sites_(kFew),
      function_category_(strings.code("function")) {}

void Definitions::forget_codes() {
  known_files_.assign(kFew, {});
  known_peers_.assign(kFew, {});
  known_sites_.assign(kFew, {});
  function_category_ = strings_->code("function");
}

Process& Definitions::process(std::uint64_t key) {
  if (Process* known = find(key)) return *known;
  processes_.push_back(std::make_unique<Process>());
  processes_.back()->key = key;
  by_key_[key] = processes_.back().get();
  return *processes_.back();
}

Process* Definitions::find(std::uint64_t key) {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : found->second;
}

const Process* Definitions::find(std::uint64_t key) const {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : found->second;
}

void Definitions::define(Process& process, std::uint64_t id, Definition definition,
                         std::string_view text) {
  if (id == 0) return;
  // Who is at the other end of a pipe may be known only now: answers of before do not hold.
  if (definition.kind == DefinitionKind::kString && pipe_users_.add(text, process))
    known_peers_.assign(kFew, {});
  // A forked child's ids go on where its parent's ended.
  if (process.definitions.empty()) process.first_id = id;
  const std::uint64_t block = (id - process.first_id) / kBlock;
  // Ids grow one by one, but a damaged one may be anything: it must not make the table as long.
  const bool far = id < process.first_id || block >= process.definitions.size() + kHole / kBlock;
  if (!far && block >= process.definitions.size()) process.definitions.resize(block + 1);
  if (!far && process.definitions[block] == 0)
    process.definitions[block] = store_.allocate(kBlock * sizeof(Definition)) + 1;
  // It comes several times: from the segment, and from logs.
  const Definition before = far ? Definition() : *slot(process, id);
  definition.length = static_cast<std::uint32_t>(text.size());
  if (before.kind == definition.kind && before.length == definition.length &&
      view(before) == text) {
    definition.text = before.text;
  } else if (!text.empty()) {
    definition.text = store_.allocate(text.size());
    std::memcpy(store_.at(definition.text), text.data(), text.size());
  }
  if (far) {
    process.far_definitions[id] = definition;
  } else {
    *slot(process, id) = definition;
  }
}

// nullptr where the process has no room for it. Valid until some others were asked for.
Definition* Definitions::slot(const Process& process, std::uint64_t id) const {
  if (id < process.first_id) return nullptr;
  const std::uint64_t block = (id - process.first_id) / kBlock;
  if (block >= process.definitions.size() || process.definitions[block] == 0) return nullptr;
  return reinterpret_cast<Definition*>(store_.at(process.definitions[block] - 1)) +
         (id - process.first_id) % kBlock;
}

std::string_view Definitions::view(const Definition& definition) const {
  return definition.length == 0 ? std::string_view()
                                : std::string_view(store_.at(definition.text), definition.length);
}

void Definitions::note(Process& process, const Note& note) {
  const auto what =
      (static_cast<std::uint64_t>(note.pid) << 2) | static_cast<std::uint64_t>(note.kind);
  const std::uint64_t hash =
      (note.tick * UINT64_C(0x9e3779b97f4a7c15)) ^ (what * UINT64_C(0xd6e8feb86659fd93));
  // Notes come several times, too: from the segment, then from logs.
  if (process.known_notes.insert(hash).second) process.notes.push_back(note);
}

// A parent began before its child, so that no chain of forks is a ring, whatever the bytes say.
Process* Definitions::parent_of(const Process& process) const {
  const auto parent = by_key_.find(process.parent_key);
  if (parent == by_key_.end()) return nullptr;
  const bool earlier = !parent->second->attached || parent->second->start_tick < process.start_tick;
  return earlier ? parent->second : nullptr;
}

Process::Hop Definitions::hop_from(const Process& process, std::uint64_t id) const {
  if (id < process.hop.below) return process.hop;
  return {parent_of(process), process.limit};
}

// Each look halves the way for the next one.
const Process* Definitions::owner_of(const Process& process, std::uint64_t id) const {
  const Process* at = &process;
  while (id < at->limit) {
    Process::Hop hop = hop_from(*at, id);
    if (hop.to == nullptr) return nullptr;
    if (id < hop.to->limit) {
      const Process::Hop further = hop_from(*hop.to, id);
      if (further.to == nullptr) return nullptr;
      hop = at->hop = {further.to, std::min(hop.below, further.below)};
    }
    at = hop.to;
  }
  return at;
}

const Process* Definitions::first_of_image(const Process& process) const {
  const auto up = [this](const Process& from) {
    return from.image != nullptr ? from.image : shares_image(from) ? parent_of(from) : nullptr;
  };
  const Process* at = &process;
  while (Process* next = up(*at)) {
    if (Process* further = up(*next)) next = at->image = further;
    at = next;
  }
  return at;
}

Definition Definitions::defined_in(const Process& owner, std::uint64_t id) const {
  if (const Definition* near = slot(owner, id);
      near != nullptr && near->kind != DefinitionKind::kNone)
    return *near;
  const auto far = owner.far_definitions.find(id);
  return far == owner.far_definitions.end() ? Definition() : far->second;
}

Definition Definitions::lookup(const Process& process, std::uint64_t id) const {
  const Process* owner = owner_of(process, id);
  return owner == nullptr ? Definition() : defined_in(*owner, id);
}

std::string Definitions::path_text(const Process& process, std::uint64_t id, int depth) const {
  // A path may start from another path, and damaged ones from each other.
  if (id == 0 || depth > kMaxNesting) return "";
  const Definition definition = lookup(process, id);
  if (definition.kind == DefinitionKind::kString) return normalise_path("", view(definition));
  if (definition.kind != DefinitionKind::kPath) return "";
  if (view(definition).starts_with('/')) return normalise_path("", view(definition));
  const std::string base = path_text(process, definition.a, depth + 1);
  return normalise_path(base, view(definition));
}

std::uint32_t Definitions::file(Process& process, std::uint64_t id, bool& known) {
  const Process* const owner = owner_of(process, id);
  known = false;
  if (owner == nullptr) return kNoString;
  const KnownFile& last = known_at(known_files_, *owner, id);
  known = true;
  if (last.process == owner && last.id == id) return last.code;
  known = defined_in(*owner, id).kind != DefinitionKind::kNone;
  if (!known) return kNoString;
  const std::string path = path_text(*owner, id, 0);
  KnownFile& place = place_for(known_files_, kMostFiles, *owner, id);
  place = {owner, id, path.empty() ? kNoString : strings_->code(path)};
  return place.code;
}

std::uint32_t Definitions::peer(const Process& process, std::uint64_t id) {
  if (id == 0) return kNoString;
  const KnownFile& last = known_at(known_peers_, process, id);
  if (last.process == &process && last.id == id) return last.code;
  const Definition definition = lookup(process, id);
  if (definition.kind != DefinitionKind::kString) return kNoString;
  const std::string words(view(definition));
  const PipeUsers::Other other = pipe_users_.other_end(words, process);
  const std::string user = users_text(
      other, other.first == nullptr ? std::string_view() : strings_->view(program(*other.first)));
  KnownFile& place = place_for(known_peers_, kMostFiles, process, id);
  place = {&process, id, strings_->code(shown(channel_text(words, user)))};
  return place.code;
}

Site Definitions::resolve_site(const Process& process, const Definition& definition) {
  if (definition.kind == DefinitionKind::kSite) {
    return {
        .name = strings_->code_or_null(shown(text(process, definition.a))),
        .category = strings_->code_or_null(shown(text(process, definition.b))),
        .file = strings_->code_or_null(shown(text(process, definition.file))),
        .line = definition.line != 0 ? strings_->code(std::to_string(definition.line)) : kNoString};
  }
  if (definition.kind == DefinitionKind::kFunctionSite) {
    const std::string module = path_text(process, definition.a, 0);
    std::string name = resolver_.function ? shown(resolver_.function(module, definition.b)) : "";
    if (name.empty()) {
      const std::size_t slash = module.rfind('/');
      name = module.substr(slash == std::string::npos ? 0 : slash + 1) + "+0x" + hex(definition.b);
    }
    return {.name = strings_->code(name), .category = function_category_};
  }
  return {.name = strings_->code_or_null(shown(view(definition)))};
}

const Site* Definitions::site(Process& process, std::uint64_t id) {
  const Process* const owner = owner_of(process, id);
  if (owner == nullptr) return nullptr;
  const KnownSite& last = known_at(known_sites_, *owner, id);
  // A site may come before its name: remembered only when both are there.
  if (last.process == owner && last.id == id && last.site.name != kNoString) return &last.site;
  const Definition definition = defined_in(*owner, id);
  if (definition.kind == DefinitionKind::kNone) return nullptr;
  KnownSite& place = place_for(known_sites_, kMostSites, *owner, id);
  place = {owner, id, resolve_site(*owner, definition)};
  return &place.site;
}

std::string_view Definitions::text(const Process& process, std::uint64_t id) const {
  return id == 0 ? std::string_view() : view(lookup(process, id));
}

std::string_view Definitions::own_meta(const Process& process, std::string_view key) const {
  for (const auto& [key_id, value_id] : process.meta) {
    if (text(process, key_id) == key) return text(process, value_id);
  }
  return "";
}

std::string_view Definitions::meta(const Process& process, std::string_view key) const {
  const Process* owner = &process;
  for (int i = 0; i < kNearAncestors && owner != nullptr; i++) {
    const std::string_view value = own_meta(*owner, key);
    if (!value.empty()) return value;
    owner = shares_image(*owner) ? parent_of(*owner) : nullptr;
  }
  return owner == nullptr ? "" : own_meta(*first_of_image(*owner), key);
}

std::int32_t Definitions::rank(Process& process) {
  if (process.rank_known) return process.rank;
  const std::string_view text = meta(process, "rank");
  std::int32_t rank = kNull32;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), rank);
  process.rank = parsed.ec == std::errc() ? rank : kNull32;
  // Until its own record is there, it may still tell.
  process.rank_known = process.attached;
  return process.rank;
}

// What a parent told of itself is not true of its child.
InnerPid Definitions::inner_pid(const Process& process) const {
  const std::string_view number = own_meta(process, FATHOM_META_NSPID);
  const std::string_view inode = own_meta(process, FATHOM_META_NAMESPACE);
  InnerPid inner;
  std::uint64_t space = 0;
  if (std::from_chars(number.data(), number.data() + number.size(), inner.number).ec != std::errc())
    return {};
  std::from_chars(inode.data(), inode.data() + inode.size(), space);
  inner.space = fathom_space(space);
  return inner;
}

std::uint32_t Definitions::program(const Process& process) {
  return strings_->code_or_null(shown(base_name(meta(process, "exe"))));
}

}  // namespace fathom::trace
