// SPDX-License-Identifier: MIT
// The fields of a record in the order of its plan. The schema is the traced library's, and the
// bytes are another process's: a field that ends too early ends the run, and a number that means
// nothing leaves NULL and is counted.
#include <algorithm>
#include <charconv>

#include "base/utf8.h"
#include "trace/decode/row_decoder.h"

namespace fathom::trace {

bool Decoder::Rows::read_call(const Plan& plan, unsigned flags, ByteReader& fields, Call& call) {
  for (const Plan::Op& op : plan.ops) {
    if (!read_field(op, flags, fields, call)) return false;
  }
  settle_moved(plan, flags, call);
  if (call.offset != kNull) {
    const bool failed = (flags & FATHOM_FLAG_ERROR) != 0;
    const std::int64_t moved = failed || call.ret < 0 ? 0 : call.ret;
    if (__builtin_add_overflow(call.offset, moved, &run_.last.stop)) run_.last.stop = 0;
  }
  // A number whose name is lost, not one that means a pipe: that is known, and has no path.
  if (call.has_file && run_.last.file == kNoString && run_.last.id != 0) {
    bool known = false;
    decoder_.definitions_.file(*run_.process, run_.last.id, known);
    if (!known) unknown_names++;
  }
  return true;
}

// What a call returned and how much it moved. A result that is all that was asked for
// (FATHOM_FLAG_FULL), or an error, is not in the record; sizes of items (fread) are multiplied by
// what the program said, which may be anything.
void Decoder::Rows::settle_moved(const Plan& plan, unsigned flags, Call& call) {
  const bool failed = (flags & FATHOM_FLAG_ERROR) != 0;
  if (plan.has_ret) {
    if (failed) {
      call.ret = -1;
    } else if ((flags & FATHOM_FLAG_FULL) != 0) {
      call.ret = call.size == kNull ? kNull : call.size / call.item;
    }
  }
  if (plan.ret_is_bytes) {
    std::int64_t moved = 0;
    if (!failed && call.ret > 0 && __builtin_mul_overflow(call.ret, call.item, &moved))
      moved = INT64_MAX;
    call.bytes = moved;
  }
  if (plan.moves)
    call.bytes = (flags & FATHOM_FLAG_FULL) != 0 && call.size != kNull ? call.size : 0;
}

bool Decoder::Rows::read_field(const Plan::Op& op, unsigned flags, ByteReader& fields, Call& call) {
  std::uint64_t number = 0;
  switch (op.kind) {
    case FieldKind::kFd:
      call.has_file = true;
      if ((flags & FATHOM_FLAG_SAME) != 0) return true;
      run_.last.stop = 0;
      return fields.signed_number(run_.last.fd);
    case FieldKind::kFile:
      call.has_file = true;
      return (flags & FATHOM_FLAG_SAME) != 0 || take_file(fields);
    case FieldKind::kOffset:
      return read_offset(fields, call);
    case FieldKind::kSize:
      if (!fields.number(number)) return false;
      call.size = as_amount(number);
      return true;
    case FieldKind::kItem:
      if (!fields.number(number)) return false;
      call.item = std::max<std::int64_t>(1, as_amount(number));
      return true;
    case FieldKind::kRet:
      return (flags & (FATHOM_FLAG_FULL | FATHOM_FLAG_ERROR)) != 0 ||
             fields.signed_number(call.ret);
    case FieldKind::kBytes:
      if (!fields.number(number)) return false;
      call.bytes = as_amount(number);
      return true;
    case FieldKind::kDevice: {
      std::int64_t device = 0;
      if (!fields.signed_number(device)) return false;
      call.device = as_fd(device);
      return true;
    }
    case FieldKind::kStream:
      if (!fields.number(number)) return false;
      if (number != 0) call.stream = as_amount(number);
      return true;
    case FieldKind::kSite:
      return read_site(fields, call);
    case FieldKind::kCorrelation:
    case FieldKind::kName:
    case FieldKind::kLag:
      return read_work(op.kind, fields, call);
    default:
      return read_argument(op, fields, call);
  }
}

// Another file than in the record before: offsets begin anew.
bool Decoder::Rows::take_file(ByteReader& fields) {
  LastFile& last = run_.last;
  last.stop = 0;
  if (!fields.number(last.id)) return false;
  bool known = true;
  last.file = last.id == 0 ? kNoString : decoder_.definitions_.file(*run_.process, last.id, known);
  last.peer =
      last.file == kNoString ? decoder_.definitions_.peer(*run_.process, last.id) : kNoString;
  return true;
}

// What stands in records of a device's work.
bool Decoder::Rows::read_work(FieldKind kind, ByteReader& fields, Call& call) {
  std::uint64_t number = 0;
  if (!fields.number(number)) return false;
  if (kind == FieldKind::kLag) call.lag = number;
  if (kind == FieldKind::kCorrelation && number != 0) call.correlation = as_amount(number);
  if (kind != FieldKind::kName || number == 0) return true;
  const std::string_view text = decoder_.definitions_.text(*run_.process, number);
  if (text.empty()) {
    unknown_names++;
    return true;
  }
  call.name = is_valid_utf8(text) ? strings_.code(text) : strings_.code(escape_invalid_utf8(text));
  return true;
}

bool Decoder::Rows::read_argument(const Plan::Op& op, ByteReader& fields, Call& call) {
  if (op.kind == FieldKind::kArgPath) return read_path_arg(op.key, fields, call);
  if (op.kind == FieldKind::kArgExtent) return read_extent(op.key, fields);
  std::uint64_t number = 0;
  if (!fields.number(number)) return false;
  char digits[24];
  const auto add = [&](auto value) {
    if (run_.events != nullptr)
      add_arg(op.key, {digits, std::to_chars(digits, digits + sizeof digits, value).ptr});
  };
  if (op.kind == FieldKind::kArgInt) {
    add(fathom_unzigzag(number));
  } else if (op.kind == FieldKind::kArgFlag) {
    if (number != 0) add(number);
  } else if (op.kind == FieldKind::kArgChoice) {
    if (number != 0 && number <= op.choices.size()) add_arg(op.key, op.choices[number - 1]);
  } else if (number != 0) {
    const std::string_view text = decoder_.definitions_.text(*run_.process, number);
    if (text.empty()) unknown_names++;
    add_arg(op.key, is_valid_utf8(text) ? text : escape_invalid_utf8(text));
  }
  return true;
}

// Three numbers as "4x2x1".
bool Decoder::Rows::read_extent(std::uint32_t key, ByteReader& fields) {
  char text[72];
  char* end = text;
  for (int i = 0; i < 3; i++) {
    std::uint64_t number = 0;
    if (!fields.number(number)) return false;
    if (i > 0) *end++ = 'x';
    end = std::to_chars(end, text + sizeof text, number).ptr;
  }
  add_arg(key, {text, end});
  return true;
}

// As the distance from where the last call on it ended, plus one: 0 says that nobody knows.
bool Decoder::Rows::read_offset(ByteReader& fields, Call& call) {
  std::uint64_t number = 0;
  if (!fields.number(number)) return false;
  if (number == 0) return true;
  if (__builtin_add_overflow(run_.last.stop, fathom_unzigzag(number - 1), &call.offset) ||
      call.offset < 0) {
    call.offset = kNull;
  }
  return true;
}

// The second file of a call (rename, copy_file_range), or what is no file at that end.
bool Decoder::Rows::read_path_arg(std::uint32_t key, ByteReader& fields, Call& call) {
  std::uint64_t id = 0;
  if (!fields.number(id)) return false;
  bool known = true;
  call.target = id == 0 ? kNoString : decoder_.definitions_.file(*run_.process, id, known);
  if (!known) unknown_names++;
  if (call.target != kNoString) {
    add_arg(key, strings_.view(call.target));
  } else if (known) {
    call.target_peer = decoder_.definitions_.peer(*run_.process, id);
    if (call.target_peer != kNoString) add_arg(target_peer_key_, strings_.view(call.target_peer));
  }
  return true;
}

bool Decoder::Rows::read_site(ByteReader& fields, Call& call) {
  std::uint64_t id = 0;
  if (!fields.number(id)) return false;
  const Site* site = find_site(id);
  if (site == nullptr) return true;
  call.site = *site;
  if (site->file != kNoString) add_arg(file_key_, strings_.view(site->file));
  if (site->line != kNoString) add_arg(line_key_, strings_.view(site->line));
  return true;
}

const Site* Decoder::Rows::find_site(std::uint64_t id) {
  const Site* site = id == 0 ? nullptr : decoder_.definitions_.site(*run_.process, id);
  if (site == nullptr) unknown_names++;
  return site;
}

// An argument of a region that is still open: the region's own record comes when it ends.
bool Decoder::Rows::read_pending_argument(unsigned kind, ByteReader& fields) {
  std::uint64_t depth = 0;
  std::uint64_t key = 0;
  std::uint64_t number = 0;
  std::int64_t integer = 0;
  double real = 0;
  std::string_view text;
  char digits[40];
  char* end = digits;
  if (!fields.number(depth) || !fields.number(key)) return false;
  switch (kind) {
    case FATHOM_KIND_ARG_INT:
      if (!fields.signed_number(integer)) return false;
      end = std::to_chars(digits, digits + sizeof digits, integer).ptr;
      break;
    case FATHOM_KIND_ARG_UINT:
      if (!fields.number(number)) return false;
      end = std::to_chars(digits, digits + sizeof digits, number).ptr;
      break;
    case FATHOM_KIND_ARG_DOUBLE:
      if (!fields.raw(real)) return false;
      end = std::to_chars(digits, digits + sizeof digits, real).ptr;
      break;
    default:
      if (!fields.text(text)) return false;
      hold(depth, key, text);
      return true;
  }
  hold(depth, key, {digits, end});
  return true;
}

void Decoder::Rows::hold(std::uint64_t depth, std::uint64_t key, std::string_view value) {
  const std::string_view name = decoder_.definitions_.text(*run_.process, key);
  if (name.empty()) unknown_names++;
  if (run_.events == nullptr) return;
  const std::uint32_t code =
      is_valid_utf8(name) ? strings_.code(name) : strings_.code(escape_invalid_utf8(name));
  // The last value of a key holds.
  for (Thread::PendingArg& held : run_.thread->pending) {
    if (held.depth == depth && held.key == code) held.depth = UINT64_MAX;
  }
  run_.thread->pending.push_back({depth, code, run_.thread->pending_text.size(), value.size()});
  run_.thread->pending_text.append(value);
}

// Arguments of regions further in that never ended here (their end was lost) go too.
void Decoder::Rows::take_arguments(unsigned depth) {
  auto& pending = run_.thread->pending;
  for (const Thread::PendingArg& held : pending) {
    if (held.depth != depth) continue;
    add_arg(held.key, std::string_view(run_.thread->pending_text).substr(held.begin, held.length));
  }
  std::erase_if(pending, [depth](const Thread::PendingArg& held) { return held.depth >= depth; });
  if (pending.empty()) run_.thread->pending_text.clear();
}

}  // namespace fathom::trace
