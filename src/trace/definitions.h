// SPDX-License-Identifier: MIT
// What ids mean. Ids belong to a process; a forked child knows those of its parent below a limit.
// Definitions may come in any order and more than once (from a live segment, then from a log): the
// last one holds.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "trace/batch.h"
#include "trace/strings.h"

namespace fathom::trace {

// Turns a place in a module into a function's name; "" where it is not known.
using NameResolver = std::function<std::string(const std::string& module, std::uint64_t offset)>;

enum class DefinitionKind : std::uint8_t { kNone, kString, kPath, kSite, kFunctionSite };

struct Definition {
  DefinitionKind kind = DefinitionKind::kNone;
  std::uint32_t text = kNoString;  // raw text (string, path)
  std::uint64_t a = 0;             // path: base id; site: name id; function: module id
  std::uint64_t b = 0;             // site: category id; function: offset
  std::uint64_t file = 0;          // site: id of the source file
  std::uint64_t line = 0;          // site
};

// A region's or counter's place. `line` is a text, too: it is shown as one.
struct Site {
  std::uint32_t name = kNoString;
  std::uint32_t category = kNoString;
  std::uint32_t file = kNoString;
  std::uint32_t line = kNoString;
};

enum class NoteKind : std::uint8_t { kProcessEnd, kExec, kExecFailed, kWaited };

// Something that happened to a process, told by it or by its parent.
struct Note {
  NoteKind kind = NoteKind::kProcessEnd;
  std::uint64_t tick = 0;
  std::int64_t pid = 0;    // exec, waited: whom
  std::int64_t value = 0;  // exit status, wait status, exec flags
  bool known = false;      // process end: the status is
  std::uint64_t path = 0;  // exec: id
  std::uint32_t thread = 0;
};

struct ThreadFacts {
  std::int64_t tid = 0;
  std::uint64_t first_tick = UINT64_MAX;
  std::uint64_t last_tick = 0;  // of what was decoded
  std::uint64_t end_tick = 0;   // 0: not ended
  std::uint64_t name = 0;       // id
};

// One process: one program image of one pid.
struct Process {
  std::uint64_t key = 0;
  std::uint64_t parent_key = 0;
  std::uint64_t limit = 0;  // ids below are the parent's
  std::int64_t pid = 0;
  std::int64_t ppid = 0;
  std::uint64_t start_tick = 0;
  std::uint32_t attach = 0;
  bool attached = false;                                  // its PROCESS record was seen
  std::unordered_map<std::uint64_t, std::uint64_t> meta;  // key id to value id
  std::vector<Note> notes;
  std::unordered_set<std::uint64_t> known_notes;           // hashes; a shell may have very many
  std::unordered_map<std::uint32_t, ThreadFacts> threads;  // by ordinal
  std::uint64_t first_tick = UINT64_MAX;                   // of what was decoded
  std::uint64_t last_tick = 0;

  std::uint64_t first_id = 0;
  std::vector<Definition> definitions;  // by id - first_id
  std::unordered_map<std::uint64_t, Definition>
      far_definitions;  // ids that would leave a large hole
  // Resolved, by id; filled when first used.
  std::vector<std::uint32_t> files;
  std::vector<Site> sites;
  std::vector<std::uint8_t> site_known;
  std::int32_t rank = kNull32;
  bool rank_known = false;
};

class Definitions {
 public:
  // `local`: see DecoderOptions.
  Definitions(Strings& strings, NameResolver resolver, bool local = true);

  Process& process(std::uint64_t key);
  [[nodiscard]] Process* find(std::uint64_t key);
  [[nodiscard]] const Strings& strings() const { return *strings_; }
  [[nodiscard]] bool local() const { return local_; }
  [[nodiscard]] const std::vector<std::unique_ptr<Process>>& processes() const {
    return processes_;
  }

  void define(Process& process, std::uint64_t id, const Definition& definition);
  void note(Process& process, const Note& note);  // a note that is known is dropped

  // kNoString where the id is unknown, or names no file. `known` says whether the id was.
  std::uint32_t file(Process& process, std::uint64_t id, bool& known);
  // nullptr while the id is unknown. Valid until the next call.
  const Site* site(Process& process, std::uint64_t id);
  std::string_view text(const Process& process, std::uint64_t id) const;
  // A fact of META, the process's own or inherited by fork; "" if there is none.
  std::string_view meta(const Process& process, std::string_view key) const;
  std::int32_t rank(Process& process);

 private:
  [[nodiscard]] const Definition* lookup(const Process& process, std::uint64_t id) const;
  std::string path_text(const Process& process, std::uint64_t id, int depth) const;
  Site resolve_site(const Process& process, const Definition& definition);

  Strings* strings_;
  NameResolver resolver_;
  bool local_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::unordered_map<std::uint64_t, Process*> by_key_;
  std::uint32_t function_category_;
};

}  // namespace fathom::trace
