// SPDX-License-Identifier: MIT
// libfathom_query.so: recordings opened for questions, as plain C. The Python package stands on it.
//
//   fathom_error *error = NULL;
//   const char *path = "sort.fathom";
//   fathom_recording *recording = fathom_recording_open(&path, 1, NULL, &error);
//   fathom_rows *rows = fathom_recording_query(recording, "FROM files", NULL, 0, &error);
//   for (char *text; (text = fathom_rows_next(rows, &error)) != NULL; fathom_text_free(text))
//   puts(text);
//
// A function that fails returns NULL (or a number that is not 0) and stores an error where it is
// asked to; nothing is thrown, printed or aborted. All texts are UTF-8 with a NUL behind them;
// those returned belong to the caller, who frees them. A recording may be used by several threads;
// rows and streams by one at a time, but for what interrupts.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ArrowArrayStream;  // of Arrow's C stream interface

typedef struct fathom_recording fathom_recording;
typedef struct fathom_rows fathom_rows;

typedef struct fathom_error {
  const char* code;  // usage, invalid, not_found, io, corrupt, unsupported, denied, unavailable …
  char* message;     // what is wrong, one line
  char* hint;        // what can be done about it; may be empty
} fathom_error;

typedef struct fathom_open_options {
  size_t size;  // sizeof(fathom_open_options): members that a caller does not know are not read
  int threads;  // of the database; 0: as many as the machine has
  // By how much a question may make this process grow, as "2GB"; NULL: half of the memory that it
  // may have. A question that needs more fails; what does not fit into four fifths of it is sorted
  // in temporary files.
  const char* memory;
} fathom_open_options;

typedef enum fathom_value_kind {
  FATHOM_NULL,
  FATHOM_BOOL,
  FATHOM_INTEGER,
  FATHOM_REAL,
  FATHOM_TEXT,
} fathom_value_kind;

// The value of a parameter ($1, $2, … or ?) of a query.
typedef struct fathom_value {
  int kind;         // fathom_value_kind
  int64_t integer;  // FATHOM_INTEGER; FATHOM_BOOL: not 0
  double real;
  const char* text;
} fathom_value;

typedef struct fathom_report_options {
  size_t size;            // sizeof(fathom_report_options)
  const char* const* by;  // what to group by; none: the view's own choice
  size_t by_count;
  int64_t top;    // rows of a table at most; 0: all; -1: the view's own choice
  int64_t depth;  // levels of a tree or of directories; -1: the view's own choice
  // What leaves a part of the run, as the options of `fathom report` of these names do; none: all.
  const char* const* layers;
  size_t layer_count;
  const char* const* names;  // * and ? stand for others
  size_t name_count;
  const int64_t* pids;
  size_t pid_count;
  const int64_t* from;  // ns since the start; NULL: none
  const int64_t* to;
  const char* where;  // a condition on the columns of events, in SQL; NULL: none
  const char* call;   // view explain: of this call; NULL: the one that took longest
  const char* file;   // and only on this file; NULL: any
} fathom_report_options;

const char* fathom_query_version(void);  // of Fathom; not to be freed

// Opens recordings, directories of them, or those of a server ("http://HOST/recordings/NAME", token
// by FATHOM_TOKEN; files come when a question reads them), as one. Nothing in them is changed: what
// is not packed yet is decoded into memory, or into temporary files without a name.
fathom_recording* fathom_recording_open(const char* const* paths, size_t count,
                                        const fathom_open_options* options, fathom_error** error);
void fathom_recording_close(fathom_recording* recording);  // rows and streams of it live on

// JSON: {"state", "packed" (the Parquet files hold every row), "parts": [{"directory", "state",
// "shift", "manifest" (the text of manifest.json), "files": {table: [path]}, "damaged": [{"path",
// "reason"}]}], "tables": {name: [[column, type, role]]}}. In the files of a table, columns of role
// time lie `shift` ns before the view's, those of role absent are missing, and NULL in one of role
// self means dur.
char* fathom_recording_describe(fathom_recording* recording, fathom_error** error);

// JSON: [{"name", "help", "by": [column], "of_events", "plain_of_sums"}], the first is the default.
// One that is of_events reads events, but for plain_of_sums only when it is grouped.
char* fathom_views(fathom_error** error);

// JSON: {"words", "insights": [{"rule", "severity", "title", "says", "gain_ns", "gain", "advice"}],
// "tables": [{"title", "columns", "measures", "rows", "note", "text"}], "of_part"}. A table's text
// is for people. Rules judge whole runs: a part gets no insights. Rules of one's own are those in
// FATHOM_RULES, or else in ~/.config/fathom/rules. view and options may be NULL.
char* fathom_recording_report(fathom_recording* recording, const char* view,
                              const fathom_report_options* options, fathom_error** error);

// Ends a report that another thread waits for: it fails.
void fathom_recording_interrupt(fathom_recording* recording);

// One SELECT, under the guard of `fathom sql`: nothing is written, nothing beyond the recording is
// read. It runs when rows are taken.
fathom_rows* fathom_recording_query(fathom_recording* recording, const char* sql,
                                    const fathom_value* parameters, size_t count,
                                    fathom_error** error);
char* fathom_rows_columns(fathom_rows* rows, fathom_error** error);  // JSON: [name]
// JSON: a few thousand rows as arrays of values; NULL without an error at the end.
char* fathom_rows_next(fathom_rows* rows, fathom_error** error);
// All rows as a stream of Arrow columns, which takes over what stands behind `rows`: call it first,
// and only fathom_rows_close after it.
int fathom_rows_arrow(fathom_rows* rows, struct ArrowArrayStream* out, fathom_error** error);
// Ends the query, also while another thread waits for its rows or reads its stream: that fails.
void fathom_rows_interrupt(fathom_rows* rows);
void fathom_rows_close(fathom_rows* rows);

void fathom_text_free(char* text);
void fathom_error_free(fathom_error* error);

#ifdef __cplusplus
}
#endif
