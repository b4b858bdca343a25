// SPDX-License-Identifier: MIT
// Specs into the schema's text, at compile time (docs/formats/spool.md, "Calls").
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <initializer_list>

#include "guest/call.h"

namespace fathom::guest {

// Counts, and writes where there is room: run twice, the first time to know the length.
struct SchemaWriter {
  char* to;
  size_t length = 0;

  constexpr void put(char letter) {
    if (to != nullptr) to[length] = letter;
    length++;
  }
  constexpr void put(const char* text) {
    for (; *text != 0; text++) put(*text);
  }
  constexpr void put_number(unsigned number) {
    if (number >= 10) put_number(number / 10);
    put(static_cast<char>('0' + number % 10));
  }
  constexpr void put_argument(const char* key, const char* type) {
    put("\targ:");
    put(key);
    put(':');
    put(type);
  }

  // What a number that stands for an error is called; "-": it is none.
  constexpr void put_error(const char* set, unsigned number, const char* prefix, const char* name) {
    put("error\t");
    put(set);
    put('\t');
    put_number(number);
    put('\t');
    if (name[0] != '-') put(prefix);
    put(name);
    put('\n');
  }

  // A kind whose name and category are those of a site: of an interpreter's functions.
  constexpr void put_named(unsigned kind, unsigned source, const char* layer, const char* entry,
                           const char* fields, const char* flags = "-") {
    put_number(kind);
    put('\t');
    put_number(source);
    for (const char* column : {layer, "-", entry, "-", flags, fields}) {
      put('\t');
      put(column);
    }
    put('\n');
  }

  // A kind whose calls are added up: its records are SUMS.
  constexpr void put_summed(const Spec& s) {
    put_number(s.kind);
    put('\t');
    put_number(s.source);
    for (const char* column : {s.layer, s.name, s.entry, s.category, has_size(s) ? "bytes" : "-"}) {
      put('\t');
      put(column);
    }
    put('\n');
  }

  constexpr void put_call(const Spec& s) {
    put_number(s.kind);
    put('\t');
    put_number(s.source);
    for (const char* column : {s.layer, s.name, s.entry, s.category}) {
      put('\t');
      put(column);
    }
    const bool position =
        s.effect == Effect::kReads || s.effect == Effect::kWrites || s.effect == Effect::kSeeks;
    put('\t');
    put(counts_bytes(s) ? (position ? "bytes,position" : "bytes") : position ? "position" : "-");
    if (has_file(s)) put("\tfd\tfile");
    if (has_offset(s)) put("\toffset");
    if (has_size(s)) put("\tsize");
    if (has_item(s)) put("\titem");
    if (has_ret(s)) put("\tret");
    if (has_bytes(s)) put("\tbytes");
    if (s.flags >= 0) put_argument(s.flags_key, "int");
    if (has_target(s)) put_argument("to", "path");
    put('\n');
  }
};

}  // namespace fathom::guest
