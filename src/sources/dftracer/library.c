// SPDX-License-Identifier: MIT
// libdftracer_core.so and libdftracer.so: DFTracer's functions for C (<dftracer/dftracer.h>), as
// names of those of libfathom.so, which they bring along. DFTracer's are too plain to be exported
// there: `finalize` may be a function of any program.
#include <dftracer/dftracer.h>
#include <fathom/dftracer.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

struct DFTracerData {
  struct fathom_site* site;
  struct fathom_region region;
};

// --- sites: a name and a category each, for as long as the process lives
// -------------------------------------------------------------------------------------------------

enum { kNear = 64, kBuckets = 1024 };

struct entry {
  struct fathom_site site;
  struct entry* next;
};

static struct entry* buckets[kBuckets];
static pthread_mutex_t buckets_lock = PTHREAD_MUTEX_INITIALIZER;
static __thread struct entry* near[kNear];  // by the name's address: the usual name is a literal

static bool is_of(const struct entry* entry, const char* name, const char* category) {
  return strcmp(entry->site.name, name) == 0 && strcmp(entry->site.category, category) == 0;
}

static unsigned hash_of(const char* text, unsigned hash) {
  for (; *text != 0; text++) hash = (hash ^ (unsigned char)*text) * 16777619u;
  return hash;
}

static struct entry* new_entry(const char* name, const char* category) {
  struct entry* entry = calloc(1, sizeof *entry);
  if (entry == NULL) return NULL;
  entry->site.name = strdup(name);
  entry->site.category = strdup(category);
  if (entry->site.name != NULL && entry->site.category != NULL) return entry;
  free((void*)entry->site.name);
  free((void*)entry->site.category);
  free(entry);
  return NULL;
}

static struct entry* find_entry(const char* name, const char* category) {
  struct entry** bucket = &buckets[hash_of(category, hash_of(name, 2166136261u)) % kBuckets];
  pthread_mutex_lock(&buckets_lock);
  struct entry* entry = *bucket;
  while (entry != NULL && !is_of(entry, name, category)) entry = entry->next;
  if (entry == NULL && (entry = new_entry(name, category)) != NULL) {
    entry->next = *bucket;
    *bucket = entry;
  }
  pthread_mutex_unlock(&buckets_lock);
  return entry;
}

static struct fathom_site* site_of(const char* name, const char* category) {
  struct entry** known = &near[((size_t)name >> 3) % kNear];
  if (*known == NULL || !is_of(*known, name, category)) *known = find_entry(name, category);
  return *known != NULL ? &(*known)->site : NULL;
}

// --- beginning and end
// -----------------------------------------------------------------------------------------------

static void begin(const char* log_file, const char* data_dirs, const int* process_id,
                  int binds_nothing) {
  const int number = process_id != NULL ? *process_id : -1;
  const struct fathom_dftracer_start start = {log_file, data_dirs, number, 0, binds_nothing};
  fathom_dftracer_initialize(&start);
}

EXPORT void initialize_main(const char* log_file, const char* data_dirs, int* process_id) {
  begin(log_file, data_dirs, process_id, 0);
}

EXPORT void initialize_no_bind(const char* log_file, const char* data_dirs, int* process_id) {
  begin(log_file, data_dirs, process_id, 1);
}

EXPORT void finalize(void) { fathom_dftracer_finalize(); }

// --- regions
// ---------------------------------------------------------------------------------------------------------

EXPORT struct DFTracerData* initialize_region(ConstEventNameType name, ConstEventNameType cat,
                                              int event_type) {
  if (name == NULL || cat == NULL) return NULL;
  if (event_type == DF_METADATA_EVENT) {
    fathom_dftracer_metadata(name, cat);
    return NULL;
  }
  const struct fathom_region region = fathom_span_begin();
  if (region.begin == 0) return NULL;
  struct DFTracerData* data = malloc(sizeof *data);
  struct fathom_site* site = data != NULL ? site_of(name, cat) : NULL;
  if (site == NULL) {
    fathom_levels_set(region.depth);
    free(data);
    return NULL;
  }
  *data = (struct DFTracerData){site, region};
  return data;
}

EXPORT void finalize_region(struct DFTracerData* data) {
  if (data == NULL) return;
  fathom_span_end(data->site, data->region, data->region.depth);
  free(data);
}

EXPORT void finalize_region_cleanup(struct DFTracerData** data) {
  finalize_region(*data);
  *data = NULL;
}

// An argument belongs to the innermost open level: for the moment that is the region's.
static bool point_at(const struct DFTracerData* data, uint64_t* open) {
  if (data == NULL || !fathom_dftracer_takes_args()) return false;
  *open = fathom_levels_open(0);
  fathom_levels_set(data->region.depth + 1);
  return true;
}

EXPORT void update_metadata_long(struct DFTracerData* data, const char* key, long long value) {
  uint64_t open;
  if (!point_at(data, &open)) return;
  fathom_arg_int(key, value);
  fathom_levels_set(open);
}

EXPORT void update_metadata_double(struct DFTracerData* data, const char* key, double value) {
  uint64_t open;
  if (!point_at(data, &open)) return;
  fathom_arg_double(key, value);
  fathom_levels_set(open);
}

EXPORT void update_metadata_int(struct DFTracerData* data, const char* key, int value) {
  update_metadata_long(data, key, value);
}

EXPORT void update_metadata_string(struct DFTracerData* data, const char* key, const char* value) {
  uint64_t open;
  if (!point_at(data, &open)) return;
  fathom_arg_text(key, value);
  fathom_levels_set(open);
}

EXPORT void update_metadata_int_type(struct DFTracerData* data, const char* key, int value,
                                     int type) {
  (void)type;
  update_metadata_long(data, key, value);
}

EXPORT void update_metadata_string_type(struct DFTracerData* data, const char* key,
                                        const char* value, int type) {
  (void)type;
  update_metadata_string(data, key, value);
}

EXPORT void set_app_metadata_int(const char* key, int value) {
  char digits[16];
  size_t at = sizeof digits - 1;
  unsigned rest = value < 0 ? 0u - (unsigned)value : (unsigned)value;
  digits[at] = 0;
  do {
    digits[--at] = (char)('0' + rest % 10);
    rest /= 10;
  } while (rest != 0);
  if (value < 0) digits[--at] = '-';
  fathom_dftracer_metadata(key, digits + at);
}

EXPORT void set_app_metadata_string(const char* key, const char* value) {
  fathom_dftracer_metadata(key, value);
}

EXPORT void mark_used(const char* name) { (void)name; }
