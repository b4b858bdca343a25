// SPDX-License-Identifier: MIT
// The first pass over a chunk: definitions and facts, before any row is made. A record may name an
// id that is defined later, in another thread's segment or in a later log, so rows are made only
// when all chunks that are there have been gone through. It also extracts the definitions of a
// chunk for definitions.log, so that rows in other logs can be named when this one is packed and
// gone.
#include "trace/decode/definer.h"

#include <algorithm>

#include "trace/rows/byte_writer.h"

namespace fathom::trace {
namespace {

// What ids mean, and what programs say of themselves: true at any time.
constexpr bool is_definition(unsigned kind) {
  return (kind >= FATHOM_KIND_STRING && kind <= FATHOM_KIND_META) ||
         kind == FATHOM_KIND_THREAD_NAME;
}
// What happened at a moment: ends of threads and processes, exec, a child that was waited for.
constexpr bool is_note(unsigned kind) {
  return kind >= FATHOM_KIND_THREAD_END && kind <= FATHOM_KIND_WAITED;
}
constexpr bool is_event(unsigned kind) {
  return kind >= FATHOM_KIND_FIRST ||
         (kind >= FATHOM_KIND_REGION && kind <= FATHOM_KIND_COUNTER_DOUBLE);
}

// Takes the definitions of one chunk, run by run. Each take_… is false where the bytes end too
// early, or a number cannot be what it is to be.
class Definer {
 public:
  explicit Definer(Definitions& definitions) : definitions_(definitions) {}

  void enter(const RunHead& run) {
    process_ = &definitions_.process(run.key);
    process_->pid = static_cast<std::int64_t>(run.pid);
    thread_ = static_cast<std::uint32_t>(run.thread);
    facts_ = &process_->threads[thread_];
    facts_->tid = static_cast<std::int64_t>(run.tid);
    facts_->first_tick = std::min(facts_->first_tick, run.tick);
    facts_->runs.insert(run.run);
  }

  bool take_definition(unsigned kind, ByteReader& fields) {
    switch (kind) {
      case FATHOM_KIND_STRING:
      case FATHOM_KIND_PATH:
        return take_text(kind, fields);
      case FATHOM_KIND_SITE:
        return take_site(fields);
      case FATHOM_KIND_FUNCTION_SITE:
        return take_function(fields);
      case FATHOM_KIND_PROCESS:
        return take_process(fields);
      case FATHOM_KIND_META:
        return take_meta(fields);
      default:
        return fields.number(facts_->name);
    }
  }

  bool take_note(const RecordHead& head, ByteReader& fields) {
    Note note;
    note.tick = head.end;
    note.thread = thread_;
    std::uint64_t number = 0;
    switch (head.kind) {
      case FATHOM_KIND_THREAD_END:
        facts_->end_tick = std::max(facts_->end_tick, head.end);
        return true;
      case FATHOM_KIND_PROCESS_END:
        if (!fields.signed_number(note.value) || !fields.number(number)) return false;
        note.known = number == 1;
        break;
      case FATHOM_KIND_EXEC:
        note.kind = NoteKind::kExec;
        if (!take_pid(fields, note.pid) || !fields.number(note.path) || !fields.number(number))
          return false;
        note.value = static_cast<std::int64_t>(number & INT64_MAX);
        break;
      case FATHOM_KIND_WAITED:
        note.kind = NoteKind::kWaited;
        if (!take_pid(fields, note.pid) || !fields.number(number)) return false;
        note.value = static_cast<std::int64_t>(number & UINT32_MAX);
        break;
      default:
        note.kind = NoteKind::kExecFailed;
        break;
    }
    definitions_.note(*process_, note);
    return true;
  }

 private:
  static bool take_pid(ByteReader& fields, std::int64_t& pid) {
    std::uint64_t number = 0;
    if (!fields.number(number) || number > INT32_MAX) return false;
    pid = static_cast<std::int64_t>(number);
    return true;
  }

  bool take_text(unsigned kind, ByteReader& fields) {
    std::uint64_t id = 0;
    Definition definition;
    std::string_view text;
    if (!fields.number(id)) return false;
    if (kind == FATHOM_KIND_PATH && !fields.number(definition.a)) return false;
    if (!fields.text(text)) return false;
    definition.kind = kind == FATHOM_KIND_PATH ? DefinitionKind::kPath : DefinitionKind::kString;
    definitions_.define(*process_, id, definition, text);
    return true;
  }

  bool take_site(ByteReader& fields) {
    std::uint64_t id = 0;
    Definition definition{.kind = DefinitionKind::kSite};
    if (!fields.number(id) || !fields.number(definition.a) || !fields.number(definition.b))
      return false;
    if (!fields.number(definition.line) || !fields.number(definition.file)) return false;
    definitions_.define(*process_, id, definition);
    return true;
  }

  bool take_function(ByteReader& fields) {
    std::uint64_t id = 0;
    Definition definition{.kind = DefinitionKind::kFunctionSite};
    if (!fields.number(id) || !fields.number(definition.a) || !fields.number(definition.b))
      return false;
    definitions_.define(*process_, id, definition);
    return true;
  }

  bool take_process(ByteReader& fields) {
    Process& process = *process_;
    std::uint64_t attach = 0;
    std::uint64_t parent_key = 0;
    std::uint64_t limit = 0;
    if (!fields.raw(parent_key) || !take_pid(fields, process.pid) ||
        !take_pid(fields, process.ppid))
      return false;
    if (!fields.number(limit) || !fields.raw(process.start_tick) || !fields.number(attach))
      return false;
    process.parent_key = parent_key == process.key ? 0 : parent_key;
    process.limit = process.parent_key == 0 ? 0 : limit;
    process.attach = static_cast<std::uint32_t>(attach & UINT32_MAX);
    process.attached = true;
    process.hop = {};
    process.image = nullptr;
    return true;
  }

  bool take_meta(ByteReader& fields) {
    std::uint64_t key = 0;
    std::uint64_t value = 0;
    if (!fields.number(key) || !fields.number(value)) return false;
    process_->meta[key] = value;
    return true;
  }

  Definitions& definitions_;
  Process* process_ = nullptr;
  ThreadFacts* facts_ = nullptr;
  std::uint32_t thread_ = 0;
};

// A run of its own, beginning at a record's time: notes keep the time at which they were written,
// which in a chunk is the distance from the record before, and that one is not copied.
void append_switch(std::string& out, const RunHead& run, std::uint64_t tick) {
  put_raw(out, static_cast<std::uint16_t>(FATHOM_KIND_SWITCH));
  put_raw(out, run.key);
  for (const std::uint64_t number : {run.pid, run.tid, run.thread, run.run, run.cursor})
    put_number(out, number);
  put_raw(out, tick);
}

// A run that is damaged half way counts up to its last sound record.
void close_run(std::vector<Run>* runs, const Chunk& chunk, std::size_t begin, std::size_t end,
               const RunHead& head) {
  if (runs == nullptr || end <= begin) return;
  runs->push_back({head, chunk.schema, chunk.bytes.subspan(begin, end - begin)});
}

}  // namespace

bool define_chunk(const Chunk& chunk, Definitions& definitions, std::vector<Run>* runs) {
  Definer definer(definitions);
  RecordWalker walker(chunk.bytes);
  RecordHead head;
  RunHead run;
  std::size_t begin = 0;
  std::size_t sound = 0;
  for (;;) {
    const RecordWalker::Step step = walker.next(head);
    bool ok = step != RecordWalker::Step::kDamaged;
    if (step == RecordWalker::Step::kRecord && head.kind == FATHOM_KIND_SWITCH) {
      close_run(runs, chunk, begin, sound, run);
      run = walker.run();
      begin = walker.record_offset();
      definer.enter(run);
    } else if (step == RecordWalker::Step::kRecord) {
      if (is_definition(head.kind)) {
        ok = definer.take_definition(head.kind, walker.fields());
      } else if (is_note(head.kind)) {
        ok = definer.take_note(head, walker.fields());
      } else {
        ok = skip_fields(walker, head, chunk.schema);
      }
    }
    if (!ok || step == RecordWalker::Step::kEnd) {
      close_run(runs, chunk, begin, sound, run);
      // Nobody commits zeros: they are what is left of a file that was cut short.
      return ok && sound == chunk.bytes.size();
    }
    // All up to here was read without a fault.
    sound = walker.offset();
  }
}

std::string extract_definitions(const Chunk& chunk, std::uint64_t& events) {
  std::string out;
  events = 0;
  RecordWalker walker(chunk.bytes);
  RecordHead head;
  const auto copy = [&](std::size_t from) {
    out.append(reinterpret_cast<const char*>(chunk.bytes.data()) + from, walker.offset() - from);
  };
  while (walker.next(head) == RecordWalker::Step::kRecord) {
    if (head.kind == FATHOM_KIND_SWITCH) {
      copy(walker.record_offset());
      continue;
    }
    const std::size_t fields = walker.offset();
    if (!skip_fields(walker, head, chunk.schema)) break;
    events += is_event(head.kind) ? 1 : 0;
    if (is_definition(head.kind)) {
      copy(walker.record_offset());
    } else if (is_note(head.kind)) {
      append_switch(out, walker.run(), head.end);
      put_raw(out, static_cast<std::uint16_t>(head.kind));
      // No time has passed since the SWITCH.
      put_number(out, 0);
      copy(fields);
    }
  }
  return out;
}

RunHead first_switch(const Chunk& chunk) {
  RecordWalker walker(chunk.bytes);
  RecordHead head;
  const bool found =
      walker.next(head) == RecordWalker::Step::kRecord && head.kind == FATHOM_KIND_SWITCH;
  return found ? walker.run() : RunHead();
}

// Several threads may have used a segment one after the other: the last one is its owner.
bool last_switch(const Chunk& chunk, RunHead& head) {
  RecordWalker walker(chunk.bytes);
  RecordHead record;
  bool found = false;
  while (walker.next(record) == RecordWalker::Step::kRecord) {
    if (record.kind == FATHOM_KIND_SWITCH) {
      head = walker.run();
      found = true;
    } else if (!skip_fields(walker, record, chunk.schema)) {
      break;
    }
  }
  return found;
}

}  // namespace fathom::trace
