// SPDX-License-Identifier: MIT
// Layer stdio: buffered streams, as the program calls them, whatever their buffers make of it
// below.
//
// A stream's descriptor is read from glibc's FILE itself: fileno() would lock, and set errno for
// streams that have none.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "guest/binding.h"
#include "guest/call.h"
#include "guest/channels.h"

namespace fathom::guest {
namespace stdio {
namespace {

constexpr int kErrorSeen = 0x20;  // _IO_ERR_SEEN of glibc's FILE

int descriptor_of_stream(const FILE* stream) { return stream != nullptr ? stream->_fileno : -1; }

template <const Spec& S, class... A>
FILE* stream_of(A... a) {
  if constexpr (S.stream == Stream::kIn) return stdin;
  if constexpr (S.stream == Stream::kOut) return stdout;
  if constexpr (S.stream == Stream::kErr) return stderr;
  if constexpr (S.stream == Stream::kArgument) return argument<S.fd>(a...);
}

// End of file looks like an error and is none; the stream knows.
template <const Spec& S, class R>
int stream_error(const FILE* stream, R ret) {
  if constexpr (S.ret == Ret::kVoid) return 0;
  if constexpr (S.measure == Measure::kItems) return 0;
  const int error = error_of(S.ret, ret);
  return S.input && error != 0 && stream != nullptr && (stream->_flags & kErrorSeen) == 0 ? 0
                                                                                          : error;
}

template <const Spec& S, class R, class... A>
uint64_t moved(R ret, A... a) {
  if constexpr (S.measure == Measure::kLine) return ret != nullptr ? strlen(ret) : 0;
  if constexpr (S.measure == Measure::kText)
    return ret >= 0 ? strlen(argument<0>(a...)) + (S.stream == Stream::kOut ? 1 : 0) : 0;
  if constexpr (S.measure == Measure::kByte) return ret != EOF ? 1 : 0;
  if constexpr (S.measure == Measure::kResult) return ret > 0 ? static_cast<uint64_t>(ret) : 0;
  return 0;
}

// Whether a call of this kind moved something. Those of scanf tell items, not bytes.
template <const Spec& S, class R>
bool moved_any(const Facts& facts, R ret) {
  if constexpr (has_bytes(S)) return facts.bytes > 0;
  if constexpr (std::is_integral_v<R>) return ret > 0;
  return false;
}

// A stream that is none means all of them: fflush(NULL).
inline void stream_moved(const FILE* stream) {
  if (FATHOM_UNLIKELY(stream == nullptr)) return all_positions_lost();
  position_lost(descriptor_of_stream(stream));
}

// What a call of stdio knows when it begins.
struct StreamUse {
  FILE* stream;
  uint64_t word;
  Facts facts;
};

template <const Spec& S>
inline __attribute__((always_inline)) void stream_begins(StreamUse& use, FILE* stream,
                                                         uintptr_t frame) {
  use.stream = stream;
  use.facts.depth = open_level(frame);
  use.facts.fd = descriptor_of_stream(stream);
  use.word = channel_word(use.facts.fd, use_begins(use.facts.fd));
  use.facts.begin = tick();
  note_call(S.kind, use.facts.begin);
}

template <const Spec& S, class R, class... A>
inline __attribute__((always_inline)) void stream_ends(StreamUse& use, R ret, A... a) {
  Facts& facts = use.facts;
  facts.end = tick();
  close_level(facts.depth);
  facts.error = stream_error<S>(use.stream, ret);
  facts.file = use_ends(facts.fd, use.word);
  stream_moved(use.stream);
  if constexpr (S.measure == Measure::kItems) {
    facts.item = argument<S.size>(a...);
    facts.size = facts.item * argument<S.count>(a...);
    if (facts.item == 0) facts.item = 1;
  } else if constexpr (S.size >= 0) {
    facts.size = static_cast<uint64_t>(argument<S.size>(a...));
  }
  if constexpr (has_ret(S)) facts.ret = static_cast<int64_t>(ret);
  if constexpr (has_bytes(S)) facts.bytes = moved<S>(ret, a...);
  constexpr bool writes = is_text(S.category, "write");
  if constexpr (writes || is_text(S.category, "read")) {
    if (moved_any<S>(facts, ret)) channel_moved(facts.fd, use.word, writes);
  }
  if constexpr (S.flags >= 0) facts.flags = static_cast<int64_t>(argument<S.flags>(a...));
  write_call<S>(facts);
}

template <const Spec& S, class R, class... A>
inline __attribute__((always_inline)) R traced(R (*&original)(A...), A... a) {
  if (!begins<S>(original)) {
    if (keeps_descriptors()) stream_moved(stream_of<S>(a...));  // before: it may be gone after
    return original(a...);
  }
  StreamUse use{};
  stream_begins<S>(use, stream_of<S>(a...), FATHOM_FRAME);
  if constexpr (std::is_void_v<R>) {
    original(a...);
    stream_ends<S>(use, 0, a...);
  } else {
    const R ret = original(a...);
    stream_ends<S>(use, ret, a...);
    return ret;
  }
}

}  // namespace

#define FATHOM_TABLE "sources/stdio/stdio.calls.h"
#define FATHOM_TABLE_SOURCE STDIO
#define FATHOM_TABLE_HOOKS
#include "guest/call_table.inc"

namespace {

// Streams ask for no position, by which other calls find out that there is no file.
uint32_t file_of_path(const char* path, uint32_t file) {
  return path != nullptr && is_no_file(path) ? 0 : file;
}

int open_flags(const char* mode) { return mode != nullptr && mode[0] == 'a' ? O_APPEND : 0; }

template <const Spec& S>
FILE* open_hook(FILE* (*&original)(const char*, const char*), const char* path, const char* mode) {
  if (!begins<S>(original)) return original(path, mode);
  Facts facts;
  change_begins();
  FILE* const stream = FATHOM_TIMED(facts, S, original(path, mode));
  facts.file = path_of_call(AT_FDCWD, path, facts.error);
  if (stream != nullptr) {
    facts.fd = stream->_fileno;
    descriptor_opened(facts.fd, file_of_path(path, facts.file), open_flags(mode));
  }
  change_ends();
  write_call<S>(facts);
  return stream;
}

template <const Spec& S>
FILE* reopen_hook(FILE* (*&original)(const char*, const char*, FILE*), const char* path,
                  const char* mode, FILE* old) {
  if (!begins<S>(original)) {
    return unrecorded_close(descriptor_of_stream(old), [&] { return original(path, mode, old); });
  }
  Facts facts;
  change_begins();
  if (path != nullptr) descriptor_closes(descriptor_of_stream(old));
  FILE* const stream = FATHOM_TIMED(facts, S, original(path, mode, old));
  facts.file = path_of_call(AT_FDCWD, path, facts.error);
  facts.fd = descriptor_of_stream(stream);
  if (stream != nullptr && facts.file != 0)
    descriptor_opened(facts.fd, file_of_path(path, facts.file), open_flags(mode));
  change_ends();
  write_call<S>(facts);
  return stream;
}

// Streams that are made of something else than a path: a descriptor, a pipe, memory.
template <const Spec& S, class... A>
FILE* make_hook(FILE* (*&original)(A...), A... a) {
  if (!begins<S>(original)) return original(a...);
  Facts facts;
  FILE* const stream = FATHOM_TIMED(facts, S, original(a...));
  facts.fd = descriptor_of_stream(stream);
  facts.file = static_cast<uint32_t>(use_begins(facts.fd));
  write_call<S>(facts);
  return stream;
}

template <const Spec& S>
int close_hook(int (*&original)(FILE*), FILE* stream) {
  if (!begins<S>(original))
    return unrecorded_close(descriptor_of_stream(stream), [&] { return original(stream); });
  Facts facts;
  facts.fd = descriptor_of_stream(stream);
  facts.file = static_cast<uint32_t>(use_begins(facts.fd));
  change_begins();
  if (facts.fd >= 0) descriptor_closes(facts.fd);
  const int ret = FATHOM_TIMED(facts, S, original(stream));
  change_ends();
  facts.ret = ret;
  write_call<S>(facts);
  return ret;
}

// printf and scanf with their arguments as a list.
// Their variants with an ellipsis call those with a list, which is the same function for the
// program: a call is recorded once, under the name that was called.
template <const Spec& S, class Call>
int formatted_hook(FILE* stream, Call call) {
  if (!recording(FATHOM_SOURCE_STDIO)) {
    const int ret = call();
    if (keeps_descriptors()) stream_moved(stream);
    return ret;
  }
  StreamUse use{};
  stream_begins<S>(use, stream, FATHOM_FRAME);
  const int ret = call();
  stream_ends<S>(use, ret);
  return ret;
}

template <const Spec& S, class Call>
int descriptor_formatted_hook(int fd, Call call) {
  if (!recording(FATHOM_SOURCE_STDIO)) {
    const int ret = call();
    if (keeps_descriptors()) position_lost(fd);
    return ret;
  }
  Facts facts;
  facts.fd = fd;
  const uint64_t word = channel_word(fd, use_begins(fd));
  const int ret = FATHOM_TIMED(facts, S, call());
  facts.ret = ret;
  facts.bytes = ret > 0 ? static_cast<uint64_t>(ret) : 0;
  if (ret > 0) channel_moved(fd, word, true);
  facts.file = use_ends(fd, word);
  position_lost(fd);
  write_call<S>(facts);
  return ret;
}

}  // namespace

#define FATHOM_WITH_LIST(last, expression) \
  va_list list;                            \
  va_start(list, last);                    \
  const int ret = expression;              \
  va_end(list);                            \
  return ret

extern "C" {

FILE* hook_fopen(const char* path, const char* mode) {
  return open_hook<spec_fopen>(original_fopen, path, mode);
}
FILE* hook_fopen64(const char* path, const char* mode) {
  return open_hook<spec_fopen64>(original_fopen64, path, mode);
}
FILE* hook_freopen(const char* path, const char* mode, FILE* stream) {
  return reopen_hook<spec_freopen>(original_freopen, path, mode, stream);
}
FILE* hook_freopen64(const char* path, const char* mode, FILE* stream) {
  return reopen_hook<spec_freopen64>(original_freopen64, path, mode, stream);
}
FILE* hook_fdopen(int fd, const char* mode) {
  return make_hook<spec_fdopen>(original_fdopen, fd, mode);
}
FILE* hook_tmpfile() { return make_hook<spec_tmpfile>(original_tmpfile); }
FILE* hook_tmpfile64() { return make_hook<spec_tmpfile64>(original_tmpfile64); }
// A child inherits our descriptors, as with fork.
FILE* hook_popen(const char* command, const char* mode) {
  if (keeps_descriptors()) prepare_fork();
  return make_hook<spec_popen>(original_popen, command, mode);
}
FILE* hook_fmemopen(void* memory, size_t size, const char* mode) {
  return make_hook<spec_fmemopen>(original_fmemopen, memory, size, mode);
}
FILE* hook_open_memstream(char** memory, size_t* size) {
  return make_hook<spec_open_memstream>(original_open_memstream, memory, size);
}
int hook_fclose(FILE* stream) { return close_hook<spec_fclose>(original_fclose, stream); }
int hook_pclose(FILE* stream) { return close_hook<spec_pclose>(original_pclose, stream); }

int hook_fscanf(FILE* stream, const char* format, ...) {
  resolve(original_vfscanf, "vfscanf");
  FATHOM_WITH_LIST(format, formatted_hook<spec_fscanf>(
                               stream, [&] { return original_vfscanf(stream, format, list); }));
}
int hook___isoc99_fscanf(FILE* stream, const char* format, ...) {
  resolve(original___isoc99_vfscanf, "__isoc99_vfscanf");
  FATHOM_WITH_LIST(format, formatted_hook<spec___isoc99_fscanf>(stream, [&] {
                     return original___isoc99_vfscanf(stream, format, list);
                   }));
}
int hook___isoc23_fscanf(FILE* stream, const char* format, ...) {
  resolve(original___isoc23_vfscanf, "__isoc23_vfscanf");
  FATHOM_WITH_LIST(format, formatted_hook<spec___isoc23_fscanf>(stream, [&] {
                     return original___isoc23_vfscanf(stream, format, list);
                   }));
}
int hook_scanf(const char* format, ...) {
  resolve(original_vscanf, "vscanf");
  FATHOM_WITH_LIST(
      format, formatted_hook<spec_scanf>(stdin, [&] { return original_vscanf(format, list); }));
}
int hook___isoc99_scanf(const char* format, ...) {
  resolve(original___isoc99_vscanf, "__isoc99_vscanf");
  FATHOM_WITH_LIST(format, formatted_hook<spec___isoc99_scanf>(
                               stdin, [&] { return original___isoc99_vscanf(format, list); }));
}
int hook___isoc23_scanf(const char* format, ...) {
  resolve(original___isoc23_vscanf, "__isoc23_vscanf");
  FATHOM_WITH_LIST(format, formatted_hook<spec___isoc23_scanf>(
                               stdin, [&] { return original___isoc23_vscanf(format, list); }));
}

int hook_fprintf(FILE* stream, const char* format, ...) {
  resolve(original_vfprintf, "vfprintf");
  FATHOM_WITH_LIST(format, formatted_hook<spec_fprintf>(
                               stream, [&] { return original_vfprintf(stream, format, list); }));
}
int hook___fprintf_chk(FILE* stream, int flag, const char* format, ...) {
  resolve(original___vfprintf_chk, "__vfprintf_chk");
  FATHOM_WITH_LIST(format, formatted_hook<spec___fprintf_chk>(stream, [&] {
                     return original___vfprintf_chk(stream, flag, format, list);
                   }));
}
int hook_printf(const char* format, ...) {
  resolve(original_vprintf, "vprintf");
  FATHOM_WITH_LIST(
      format, formatted_hook<spec_printf>(stdout, [&] { return original_vprintf(format, list); }));
}
int hook___printf_chk(int flag, const char* format, ...) {
  resolve(original___vprintf_chk, "__vprintf_chk");
  FATHOM_WITH_LIST(format, formatted_hook<spec___printf_chk>(
                               stdout, [&] { return original___vprintf_chk(flag, format, list); }));
}

int hook_vdprintf(int fd, const char* format, va_list list) {
  resolve(original_vdprintf, "vdprintf");
  return descriptor_formatted_hook<spec_vdprintf>(
      fd, [&] { return original_vdprintf(fd, format, list); });
}
int hook___vdprintf_chk(int fd, int flag, const char* format, va_list list) {
  resolve(original___vdprintf_chk, "__vdprintf_chk");
  return descriptor_formatted_hook<spec___vdprintf_chk>(
      fd, [&] { return original___vdprintf_chk(fd, flag, format, list); });
}
int hook_dprintf(int fd, const char* format, ...) {
  resolve(original_vdprintf, "vdprintf");
  FATHOM_WITH_LIST(format, descriptor_formatted_hook<spec_dprintf>(
                               fd, [&] { return original_vdprintf(fd, format, list); }));
}
int hook___dprintf_chk(int fd, int flag, const char* format, ...) {
  resolve(original___vdprintf_chk, "__vdprintf_chk");
  FATHOM_WITH_LIST(format, descriptor_formatted_hook<spec___dprintf_chk>(fd, [&] {
                     return original___vdprintf_chk(fd, flag, format, list);
                   }));
}

void hook_perror(const char* text) {
  resolve(original_perror, "perror");
  formatted_hook<spec_perror>(stderr, [&] {
    original_perror(text);
    return 0;
  });
}

}  // extern "C"

extern const Bindings kBindings;
const Bindings kBindings{bindings, std::extent_v<decltype(bindings)>, nullptr, fill_bindings};

}  // namespace stdio
}  // namespace fathom::guest
