// SPDX-License-Identifier: MIT
// Knows how long each record is, so that both passes can skip what they do not need. A kind that
// the schema does not declare ends the walk of the chunk.
#include "trace/decode/record_walker.h"

#include "trace/decode/summed_calls.h"

namespace fathom::trace {
namespace {

bool skip_call(ByteReader& fields, unsigned flags, const EventKind& kind) {
  unsigned count = kind.numbers;
  if ((flags & FATHOM_FLAG_ERROR) != 0) count++;
  if ((flags & FATHOM_FLAG_SAME) != 0) count -= kind.file_fields;
  if ((flags & (FATHOM_FLAG_FULL | FATHOM_FLAG_ERROR)) != 0) count -= kind.ret_fields;
  return fields.skip_numbers(count);
}

}  // namespace

bool skip_fields(RecordWalker& walker, const RecordHead& head, const Schema* schema) {
  ByteReader& fields = walker.fields();
  if (head.kind >= FATHOM_KIND_FIRST) {
    const EventKind* kind = schema != nullptr ? schema->find(head.kind) : nullptr;
    return kind != nullptr && skip_call(fields, head.flags, *kind);
  }
  std::string_view text;
  std::uint64_t word = 0;
  switch (head.kind) {
    case FATHOM_KIND_STRING:
      return fields.skip_numbers(1) && fields.text(text);
    case FATHOM_KIND_PATH:
      return fields.skip_numbers(2) && fields.text(text);
    case FATHOM_KIND_SITE:
      return fields.skip_numbers(5);
    case FATHOM_KIND_FUNCTION_SITE:
      return fields.skip_numbers(3);
    case FATHOM_KIND_PROCESS:
      return fields.raw(word) && fields.skip_numbers(3) && fields.raw(word) &&
             fields.skip_numbers(1);
    case FATHOM_KIND_SUMS: {
      std::uint16_t kind = 0;
      fathom_sums sums{};
      return read_sums(fields, kind, sums);
    }
    case FATHOM_KIND_META:
      return fields.skip_numbers(2);
    case FATHOM_KIND_ARG_INT:
    case FATHOM_KIND_ARG_UINT:
      return fields.skip_numbers(3);
    case FATHOM_KIND_ARG_DOUBLE:
      return fields.skip_numbers(2) && fields.raw(word);
    case FATHOM_KIND_ARG_TEXT:
      return fields.skip_numbers(2) && fields.text(text);
    case FATHOM_KIND_REGION:
    case FATHOM_KIND_INSTANT:
    case FATHOM_KIND_THREAD_NAME:
      return fields.skip_numbers(1);
    case FATHOM_KIND_COUNTER_INT:
    case FATHOM_KIND_PROCESS_END:
    case FATHOM_KIND_WAITED:
      return fields.skip_numbers(2);
    case FATHOM_KIND_COUNTER_DOUBLE:
      return fields.skip_numbers(1) && fields.raw(word);
    case FATHOM_KIND_EXEC:
      return fields.skip_numbers(3);
    case FATHOM_KIND_THREAD_END:
    case FATHOM_KIND_EXEC_FAILED:
      return true;
    default:
      return false;
  }
}

}  // namespace fathom::trace
