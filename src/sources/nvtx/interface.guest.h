// SPDX-License-Identifier: MIT
// What NVTX's headers and a library that takes their calls say to each other, versions 2 and 3, as
// far as it is used here: declarations of our own.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace fathom::guest::nvtx {

using Handle = void*;  // of domains and registered texts
using Function = void (*)();

enum Module : int { kCore = 1, kCore2 = 5 };
enum Table : uint32_t { kCallbacks = 1 };
using ExportTable = const void* (*)(uint32_t table);

struct Callbacks {
  size_t size;
  // The table is an array of where the headers keep their pointers to functions.
  int (*table)(int module, Function*** table, unsigned* size);
};

enum MessageType : int32_t { kAscii = 1, kUnicode = 2, kRegistered = 3 };
enum PayloadType : int32_t {
  kUnsigned64 = 1,
  kSigned64,
  kDouble,
  kUnsigned32,
  kSigned32,
  kFloat,
};

union Payload {
  uint64_t unsigned64;
  int64_t signed64;
  double real64;
  uint32_t unsigned32;
  int32_t signed32;
  float real32;
};

struct Attributes {
  uint16_t version, size;
  uint32_t category;
  int32_t color_type;
  uint32_t color;
  int32_t payload_type, reserved;
  Payload payload;
  int32_t message_type;
  union {
    const char* ascii;
    const wchar_t* wide;
    uintptr_t registered;
  } message;
};
static_assert(sizeof(Attributes) == 48 && offsetof(Attributes, message) == 40);

// What a range says besides its name.
struct Details {
  const void* domain;
  uint64_t category;  // 0: none
  int32_t payload_type;
  Payload payload;
};

}  // namespace fathom::guest::nvtx
