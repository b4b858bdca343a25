/* SPDX-License-Identifier: MIT
   NVIDIA's management library without a GPU: libnvidia-ml.so.1 as its callers meet it. Three
   devices: 0 tells everything; 1 has no energy, no NVLink, no GPM and no utilisation of processes;
   2 cannot be had. Numbers follow from how often they were asked, so that tests know them.

   FAKE_NVML=old        as a driver of old: functions of the first versions alone
   FAKE_NVML=refuses    nvmlInit fails (9: no driver)
   FAKE_NVML=hangs      nvmlInit does not return
   FAKE_NVML=lost       device 1 is lost at the third sample
   FAKE_NVML_PIDS=outside   numbers of processes are those of the machine, not ours
   FAKE_NVML_LOG=FILE   a line for each init and shutdown, and how often what was asked */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
  kUninitialised = 1,
  kInvalid = 2,
  kUnsupported = 3,
  kNoPermission = 4,
  kNotFound = 6,
  kTooSmall = 7,
  kNoDriver = 9,
  kLost = 15,
  kOtherVersion = 25
};

static int ready, samples_left, asked_energy, asked_processes, asked_busy;
static char devices[3];

static int is(const char* what) {
  const char* wish = getenv("FAKE_NVML");
  return wish != NULL && strcmp(wish, what) == 0;
}

static void note(const char* line, int number) {
  const char* path = getenv("FAKE_NVML_LOG");
  FILE* log = path != NULL ? fopen(path, "a") : NULL;
  if (log == NULL) return;
  fprintf(log, "%s %d\n", line, number);
  fclose(log);
}

/* The number that a file has by now; 0: none. */
static unsigned process_in(const char* path) {
  unsigned pid = 0;
  FILE* file = fopen(path, "r");
  if (file == NULL) return 0;
  if (fscanf(file, "%u", &pid) != 1) pid = 0;
  fclose(file);
  return pid;
}

/* A process of the run: the child of whoever asks that is youngest, or the one that a file names.
 */
static unsigned some_process(void) {
  char path[64], text[4096] = {0};
  const char* named = getenv("FAKE_NVML_PID_FILE");
  if (named != NULL) return process_in(named);
  snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
  const int file = open(path, O_RDONLY);
  const ssize_t length = file >= 0 ? read(file, text, sizeof text - 1) : 0;
  if (file >= 0) close(file);
  const char* wish = getenv("FAKE_NVML_PIDS");
  if (wish != NULL && strcmp(wish, "outside") == 0) return 4000001;
  unsigned last = 0;
  for (char* word = length > 0 ? strtok(text, " ") : NULL; word != NULL; word = strtok(NULL, " "))
    last = (unsigned)atoi(word);
  return last;
}

static int check(void* device) {
  if (!ready) return kUninitialised;
  if (device < (void*)&devices[0] || device > (void*)&devices[1]) return kInvalid;
  return device == &devices[1] && is("lost") && asked_busy > 4 ? kLost : 0;
}
#define DEVICE(device)                       \
  const int failure = check(device);         \
  const int which = (char*)device - devices; \
  if (failure != 0) return failure;          \
  (void)which

int nvmlInit(void) {
  while (is("hangs")) pause();
  if (is("refuses")) return kNoDriver;
  ready++;
  note("init", getpid());
  return 0;
}
int nvmlShutdown(void) {
  if (!ready) return kUninitialised;
  ready--;
  note("energy", asked_energy);
  note("processes", asked_processes);
  note("busy", asked_busy);
  note("samples", samples_left);
  note("shutdown", getpid());
  return 0;
}
int nvmlDeviceGetCount(unsigned* count) {
  *count = 3;
  return ready ? 0 : kUninitialised;
}
int nvmlDeviceGetHandleByIndex(unsigned index, void** device) {
  if (index == 2) return kNoPermission;
  *device = &devices[index];
  return index < 2 ? 0 : kInvalid;
}
int nvmlDeviceGetName(void* device, char* name, unsigned room) {
  DEVICE(device);
  snprintf(name, room, "Fake H200");
  return 0;
}
int nvmlDeviceGetUUID(void* device, char* name, unsigned room) {
  DEVICE(device);
  snprintf(name, room, "GPU-0000000%d", which);
  return 0;
}
int nvmlSystemGetDriverVersion(char* version, unsigned room) {
  snprintf(version, room, "580.0");
  return 0;
}
int nvmlDeviceGetUtilizationRates(void* device, unsigned* rates) {
  asked_busy++;
  DEVICE(device);
  rates[0] = 40 + 10 * (unsigned)which;
  rates[1] = 20;
  return 0;
}
int nvmlDeviceGetMemoryInfo(void* device, uint64_t* memory) {
  DEVICE(device);
  memory[0] = 1 << 30;
  memory[1] = 1 << 29;
  memory[2] = 1 << 29;
  return 0;
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  DEVICE(device);
  *milliwatts = 123456;
  return 0;
}
/* 100 J each time. */
int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* millijoules) {
  DEVICE(device);
  if (which == 1) return kUnsupported;
  *millijoules = 100000ULL * (unsigned)++asked_energy;
  return 0;
}
int nvmlDeviceGetTemperature(void* device, int sensor, unsigned* degrees) {
  DEVICE(device);
  *degrees = 61;
  return sensor == 0 ? 0 : kInvalid;
}
int nvmlDeviceGetClockInfo(void* device, int type, unsigned* megahertz) {
  DEVICE(device);
  *megahertz = type == 1 ? 1980 : 3201;
  return type == 1 || type == 2 ? 0 : kInvalid;
}
int nvmlDeviceGetComputeRunningProcesses(void* device, unsigned* count, uint64_t* processes) {
  DEVICE(device);
  asked_processes++;
  const unsigned room = *count;
  *count = 2;
  if (room < 2) return kTooSmall;
  processes[0] = some_process();
  processes[1] = 3 << 20;
  processes[2] = 1; /* somebody else's */
  processes[3] = 5 << 20;
  return 0;
}

/* Newer drivers have these, too. */
#ifndef OLD
int nvmlInit_v2(void) { return nvmlInit(); }
int nvmlDeviceGetCount_v2(unsigned* count) { return nvmlDeviceGetCount(count); }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  return nvmlDeviceGetHandleByIndex(index, device);
}
struct memory {
  unsigned version;
  uint64_t total, reserved, free, used;
};
int nvmlDeviceGetMemoryInfo_v2(void* device, struct memory* memory) {
  DEVICE(device);
  if (memory->version != (sizeof *memory | 2 << 24)) return kOtherVersion;
  memory->total = 1 << 30;
  memory->reserved = 1 << 20;
  memory->used = (1 << 29) - (1 << 20);
  memory->free = 1 << 29;
  return 0;
}
struct process {
  unsigned pid;
  uint64_t memory;
  unsigned instances[2];
};
/* A process has two parts of device 0; what the third one has is not known. */
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, struct process* all) {
  DEVICE(device);
  asked_processes++;
  const unsigned room = *count;
  *count = 70;
  if (room < 70) return kTooSmall;
  memset(all, 0, 70 * sizeof *all);
  for (int i = 0; i < 70; i++) all[i].pid = 1;
  all[0] = (struct process){some_process(), 1 << 20, {0, 0}};
  all[1] = (struct process){some_process(), 2 << 20, {1, 0}};
  all[2] = (struct process){some_process(), ~0ULL, {2, 0}};
  return 0;
}
struct utilization {
  unsigned pid;
  uint64_t timestamp;
  unsigned sm, memory, encoder, decoder;
};
int nvmlDeviceGetProcessUtilization(void* device, struct utilization* all, unsigned* count,
                                    unsigned long long since) {
  DEVICE(device);
  if (which == 1) return kUnsupported;
  if (since != 0) return kNotFound;
  if (*count < 2) return kTooSmall;
  *count = 2;
  all[0] = (struct utilization){some_process(), 1000, 30, 1, 0, 0};
  all[1] = (struct utilization){some_process(), 2000, 50, 1, 0, 0};
  return 0;
}
struct field {
  unsigned id, scope;
  int64_t timestamp, latency;
  int type, result;
  uint64_t value;
};
int nvmlDeviceGetFieldValues(void* device, int count, struct field* fields) {
  DEVICE(device);
  for (int i = 0; i < count; i++) {
    struct field* field = &fields[i];
    const int linked = field->id >= 138 && field->id <= 141;
    const int known = field->id == 197 || field->id == 198 || (linked && which == 0);
    field->result = known && (!linked || field->scope == ~0U) ? 0 : kUnsupported;
    field->type = 3;
    field->value = linked ? 4 : 1000 * (uint64_t)asked_busy;
    if (field->id == 198) field->value = (uint32_t)(0xfffff000 + field->value); /* of 32 bits */
  }
  return 0;
}
/* Slowed by its power cap. */
int nvmlDeviceGetCurrentClocksEventReasons(void* device, unsigned long long* reasons) {
  DEVICE(device);
  *reasons = which == 0 ? 4 : 1;
  return 0;
}

/* GPM, as an H200 has it: numbers are new ten times a second, and two samples of the same ones
   have no bandwidth of memory. */
struct support {
  unsigned version, supported;
};
int nvmlGpmQueryDeviceSupport(void* device, struct support* support) {
  DEVICE(device);
  if (support->version != 1) return kOtherVersion;
  support->supported = which == 0;
  return 0;
}
struct sample {
  long tenths;
};
int nvmlGpmSampleAlloc(struct sample** sample) {
  *sample = calloc(1, sizeof **sample);
  samples_left++;
  return 0;
}
int nvmlGpmSampleFree(struct sample* sample) {
  if (!ready) return kUninitialised;
  samples_left--;
  free(sample);
  return 0;
}
int nvmlGpmSampleGet(void* device, struct sample* sample) {
  DEVICE(device);
  if (which != 0) return kUnsupported;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  sample->tenths = now.tv_sec * 10 + now.tv_nsec / 100000000;
  return 0;
}
struct metrics {
  unsigned version, count;
  struct sample* samples[2];
  struct {
    unsigned id;
    int result;
    double value;
    const char* names[3];
  } all[333];
};
static double metric(unsigned id) {
  switch (id) {
    case 20: /* MiB a second */
      return 64;
    case 21:
      return 128;
    default: /* percent */
      return id + 0.5;
  }
}
int nvmlGpmMetricsGet(struct metrics* metrics) {
  if (metrics->version != 1) return kOtherVersion;
  if (metrics->samples[0] == NULL || metrics->samples[1] == NULL) return kInvalid;
  const int same = metrics->samples[0]->tenths == metrics->samples[1]->tenths;
  for (unsigned i = 0; i < metrics->count; i++) {
    metrics->all[i].result = metrics->all[i].id == 11 ? kUnsupported : 0;
    metrics->all[i].value = !same ? metric(metrics->all[i].id) : metrics->all[i].id == 10 ? NAN : 0;
  }
  return 0;
}
#endif
