/* SPDX-License-Identifier: MIT
   Which calls a capture into a graph does not survive, on the driver of this machine: each is made
   while a fresh stream captures, in global mode, as it is and with the thread's mode relaxed.
   Prints a line a call: its result, that of a launch behind it, and that of the capture's end.
   usage: captures */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

typedef void* handle;
static void* driver;
static handle context, module, function, kernel_module, other_function, event, other_stream;
static uint64_t memory;
static char heap[64];

static const char kPtx[] =
    ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry one(.param .u32 x)\n{\n "
    "ret;\n}\n"
    ".visible .entry two(.param .u32 x)\n{\n ret;\n}\n";

#define FIND(type, name) ((type)dlsym(driver, name))
#define CALL0(name) FIND(int (*)(void), name)()
#define CALL(name, ...) FIND(int (*)(), name)(__VA_ARGS__)

static int stream_id(handle stream) {
  uint64_t id;
  return CALL("cuStreamGetId", stream, &id);
}
static int other_id(handle stream) {
  uint64_t id;
  (void)stream;
  return CALL("cuStreamGetId", other_stream, &id);
}
static int legacy_id(handle stream) {
  uint64_t id;
  (void)stream;
  return CALL("cuStreamGetId", (handle)1, &id);
}
static int is_capturing(handle stream) {
  int status;
  return CALL("cuStreamIsCapturing", stream, &status);
}
static int function_name(handle stream) {
  const char* name;
  (void)stream;
  return CALL("cuFuncGetName", &name, other_function);
}
static int current(handle stream) {
  handle now;
  (void)stream;
  return CALL("cuCtxGetCurrent", &now);
}
static int device(handle stream) {
  int number;
  (void)stream;
  return CALL("cuCtxGetDevice", &number);
}
static int device_pointer(handle stream) {
  unsigned type;
  (void)stream;
  return CALL("cuPointerGetAttribute", &type, 2, memory);
}
static int heap_pointer(handle stream) {
  unsigned type;
  (void)stream;
  return CALL("cuPointerGetAttribute", &type, 2, (uint64_t)(uintptr_t)heap);
}
static int event_made(handle stream) {
  handle made;
  (void)stream;
  return CALL("cuEventCreate", &made, 0u);
}
static int event_recorded_elsewhere(handle stream) {
  (void)stream;
  return CALL("cuEventRecord", event, other_stream);
}
static int event_asked(handle stream) {
  (void)stream;
  return CALL("cuEventQuery", event);
}
static int version(handle stream) {
  int number;
  (void)stream;
  return CALL("cuDriverGetVersion", &number);
}

static const struct {
  const char* name;
  int (*make)(handle stream);
} kCalls[] = {
    {"nothing", version},
    {"cuStreamGetId of the stream that captures", stream_id},
    {"cuStreamGetId of another", other_id},
    {"cuStreamGetId of the default stream", legacy_id},
    {"cuStreamIsCapturing", is_capturing},
    {"cuFuncGetName of a function not launched yet", function_name},
    {"cuCtxGetCurrent", current},
    {"cuCtxGetDevice", device},
    {"cuPointerGetAttribute of the device's memory", device_pointer},
    {"cuPointerGetAttribute of the heap", heap_pointer},
    {"cuEventCreate", event_made},
    {"cuEventRecord on another stream", event_recorded_elsewhere},
    {"cuEventQuery", event_asked},
};

static void try_call(unsigned i, int relaxed) {
  handle stream, graph = 0;
  int value = 7, mode = 2;
  void* parameters[] = {&value};
  CALL("cuStreamCreate", &stream, 1u);
  const int began = CALL("cuStreamBeginCapture_v2", stream, 0);
  if (relaxed) CALL("cuThreadExchangeStreamCaptureMode", &mode);
  const int result = kCalls[i].make(stream);
  if (relaxed) CALL("cuThreadExchangeStreamCaptureMode", &mode);
  const int launched = FIND(int (*)(handle, unsigned, unsigned, unsigned, unsigned, unsigned,
                                    unsigned, unsigned, handle, void**, void**),
                            "cuLaunchKernel")(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, 0);
  const int ended = CALL("cuStreamEndCapture", stream, &graph);
  printf("capture%s, %s: begin %d, call %d, launch %d, end %d\n", relaxed ? " (relaxed)" : "",
         kCalls[i].name, began, result, launched, ended);
}

int main(void) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == 0) return puts("no driver"), 1;
  if (CALL("cuInit", 0u) || CALL("cuDevicePrimaryCtxRetain", &context, 0) ||
      CALL("cuCtxSetCurrent", context))
    return 1;
  if (CALL("cuModuleLoadData", &module, kPtx) ||
      CALL("cuModuleGetFunction", &function, module, "one"))
    return 1;
  if (CALL("cuModuleLoadData", &kernel_module, kPtx) ||
      CALL("cuModuleGetFunction", &other_function, kernel_module, "two"))
    return 1;
  CALL("cuMemAlloc_v2", &memory, (size_t)4096);
  CALL("cuEventCreate", &event, 0u);
  CALL("cuStreamCreate", &other_stream, 1u);
  CALL("cuEventRecord", event, other_stream);
  for (unsigned i = 0; i < sizeof kCalls / sizeof *kCalls; i++) {
    try_call(i, 0);
    try_call(i, 1);
  }
  return 0;
}
