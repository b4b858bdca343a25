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

#include "trace/rows/batch.h"
#include "trace/rows/channels.h"
#include "trace/rows/name_resolver.h"
#include "trace/rows/paged_store.h"
#include "trace/rows/run_set.h"
#include "trace/rows/strings.h"

namespace fathom::trace {

enum class DefinitionKind : std::uint8_t { kNone, kString, kPath, kSite, kFunctionSite };

// One definition as it lies in Definitions: its text is elsewhere, by its place.
struct Definition {
  DefinitionKind kind = DefinitionKind::kNone;
  std::uint32_t length = 0;  // of the raw text (string, path)
  std::uint64_t text = 0;    // where it lies
  std::uint64_t a = 0;       // path: base id; site: name id; function: module id
  std::uint64_t b = 0;       // site: category id; function: offset
  std::uint64_t file = 0;    // site: id of the source file
  std::uint64_t line = 0;    // site
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

// What records tell of a thread.
struct ThreadFacts {
  std::int64_t tid = 0;
  std::uint64_t first_tick = UINT64_MAX;
  std::uint64_t last_tick = 0;  // of what was decoded
  std::uint64_t end_tick = 0;   // 0: not ended
  std::uint64_t name = 0;       // id
  RunSet runs;                  // that were seen
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

  // Shortcuts in a chain of forks, which may be of any length: whose ids those below `below` are,
  // or nearer to them; and an ancestor of the same program image.
  struct Hop {
    Process* to = nullptr;
    std::uint64_t below = 0;
  };
  mutable Hop hop;
  mutable Process* image = nullptr;

  std::uint64_t first_id = 0;
  std::vector<std::uint64_t> definitions;  // by (id - first_id) / kBlock: where they lie, plus 1
  std::unordered_map<std::uint64_t, Definition>
      far_definitions;  // ids that would leave a large hole
  std::int32_t rank = kNull32;
  bool rank_known = false;
};

// The number of a process in a pid namespace of its own, and that namespace (fathom_space); zeros
// where its pid counts as those of the run do.
struct InnerPid {
  std::int64_t number = 0;
  std::uint32_t space = 0;
};

// Names may be without number: they lie in pages, of which only some are in memory at a time. One
// thread at a time, const calls too. Owns the processes: a reference to one stays valid.
class Definitions {
 public:
  // `directory`: for the file of the pages (PagedStore). `local`: see DecoderOptions.
  Definitions(Strings& strings, NameResolver resolver, std::string directory, bool local = true);

  Process& process(std::uint64_t key);
  [[nodiscard]] Process* find(std::uint64_t key);
  [[nodiscard]] const Process* find(std::uint64_t key) const;
  [[nodiscard]] const Strings& strings() const { return *strings_; }
  [[nodiscard]] bool local() const { return local_; }
  [[nodiscard]] const std::vector<std::unique_ptr<Process>>& processes() const {
    return processes_;
  }

  // `text` is that of a string or path.
  void define(Process& process, std::uint64_t id, Definition definition,
              std::string_view text = {});
  void note(Process& process, const Note& note);  // a note that is known is dropped

  // kNoString where the id is unknown, or names no file. `known` says whether the id was.
  std::uint32_t file(Process& process, std::uint64_t id, bool& known);
  // What a descriptor leads to where its id names no file, as `args['peer']` has it: kNoString
  // where it is not known. The other user of a pipe is looked for among all that is defined now.
  std::uint32_t peer(const Process& process, std::uint64_t id);
  // nullptr while the id is unknown. Valid until the next call.
  const Site* site(Process& process, std::uint64_t id);
  // "" where the id is unknown. Valid until some others were asked for.
  std::string_view text(const Process& process, std::uint64_t id) const;
  // A fact of META, the process's own, or of a near ancestor that forked it, or of the first
  // process of its program image; "" if there is none. The same.
  std::string_view meta(const Process& process, std::string_view key) const;
  // The same of the process alone.
  [[nodiscard]] std::string_view own_meta(const Process& process, std::string_view key) const;
  std::int32_t rank(Process& process);
  [[nodiscard]] InnerPid inner_pid(const Process& process) const;
  // Base name of the program's file, as a code; kNoString where it is not known.
  std::uint32_t program(const Process& process);

  // The strings were cleared: no code of before holds.
  void forget_codes();

 private:
  // What was resolved last for ids that fall on the same place, with the process that defined them.
  struct KnownFile {
    const Process* process = nullptr;
    std::uint64_t id = 0;
    std::uint32_t code = kNoString;
  };
  struct KnownSite {
    const Process* process = nullptr;
    std::uint64_t id = 0;
    Site site;
  };
  [[nodiscard]] Definition* slot(const Process& process, std::uint64_t id) const;
  [[nodiscard]] Process* parent_of(const Process& process) const;
  [[nodiscard]] Process::Hop hop_from(const Process& process, std::uint64_t id) const;
  // The process that an id was defined in: this one, or one that it was forked from.
  [[nodiscard]] const Process* owner_of(const Process& process, std::uint64_t id) const;
  [[nodiscard]] const Process* first_of_image(const Process& process) const;
  [[nodiscard]] Definition defined_in(const Process& owner, std::uint64_t id) const;
  [[nodiscard]] Definition lookup(const Process& process, std::uint64_t id) const;
  [[nodiscard]] std::string_view view(const Definition& definition) const;
  std::string path_text(const Process& process, std::uint64_t id, int depth) const;
  Site resolve_site(const Process& process, const Definition& definition);

  Strings* strings_;
  NameResolver resolver_;
  bool local_;
  mutable PagedStore store_;
  std::vector<KnownFile> known_files_;
  std::vector<KnownFile> known_peers_;
  PipeUsers pipe_users_;
  std::vector<KnownSite> known_sites_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::unordered_map<std::uint64_t, Process*> by_key_;
  std::uint32_t function_category_;
};

}  // namespace fathom::trace
