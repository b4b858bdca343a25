/* SPDX-License-Identifier: MIT
   DFTracer's interface for C and C++, on top of Fathom: programs that were annotated for DFTracer
   are built with this header, linked with libdftracer_core.so (or libdftracer.so), and run
   unchanged.

     DFTRACER_C_INIT(NULL, NULL, NULL);        the variables DFTRACER_* say what and where
     DFTRACER_C_FUNCTION_START();              …  DFTRACER_C_FUNCTION_END();
     DFTRACER_C_REGION_START(load);            …  DFTRACER_C_REGION_END(load);
     DFTRACER_C_FINI();                        the file is complete
     DFTRACER_CPP_FUNCTION(); DFTRACER_CPP_REGION(load);   until the scope ends

   A region of C that is left by a return without its END ends there, too. */
#ifndef DFTRACER_DFTRACER_H
#define DFTRACER_DFTRACER_H

#include <stddef.h>

typedef const char* ConstEventNameType;
typedef const char* ConstEventType;

#define DF_DATA_EVENT 0
#define DF_METADATA_EVENT 1

/* What an argument is where events are summed up. */
typedef enum MetadataType { MT_KEY = 0, MT_VALUE = 1, MT_IGNORE = 2 } MetadataType;

#ifdef __cplusplus
extern "C" {
#endif

struct DFTracerData;

void initialize_main(const char* log_file, const char* data_dirs, int* process_id);
void initialize_no_bind(const char* log_file, const char* data_dirs, int* process_id);
#ifdef __cplusplus
void finalize();
#else
void finalize(void);
#endif

struct DFTracerData* initialize_region(ConstEventNameType name, ConstEventNameType cat,
                                       int event_type);
void finalize_region(struct DFTracerData* data);
void finalize_region_cleanup(struct DFTracerData** data);
void update_metadata_int(struct DFTracerData* data, const char* key, int value);
void update_metadata_string(struct DFTracerData* data, const char* key, const char* value);
void update_metadata_int_type(struct DFTracerData* data, const char* key, int value, int type);
void update_metadata_string_type(struct DFTracerData* data, const char* key, const char* value,
                                 int type);
/* Beyond DFTracer: values that an int does not hold. */
void update_metadata_long(struct DFTracerData* data, const char* key, long long value);
void update_metadata_double(struct DFTracerData* data, const char* key, double value);

void set_app_metadata_int(const char* key, int value);
void set_app_metadata_string(const char* key, const char* value);
void mark_used(const char* name);

#ifdef __cplusplus
}
#endif

__attribute__((unused)) static ConstEventNameType C_LOG_CATEGORY = "C_APP";

#define DFTRACER_C_INIT(log_file, data_dirs, process_id) \
  initialize_main(log_file, data_dirs, process_id)
#define DFTRACER_C_INIT_NO_BIND(log_file, data_dirs, process_id) \
  initialize_no_bind(log_file, data_dirs, process_id)
#define DFTRACER_C_FINI() finalize()
#define DFTRACER_C_APP_METADATA_INT(key, val) set_app_metadata_int(key, val)
#define DFTRACER_C_APP_METADATA_STR(key, val) set_app_metadata_string(key, val)
#define DFTRACER_C_MARK_USED(name) mark_used(name)

#define DFTRACER_C_OPEN_(variable, name)                                                    \
  __attribute__((cleanup(finalize_region_cleanup), unused)) struct DFTracerData* variable = \
      initialize_region(name, C_LOG_CATEGORY, DF_DATA_EVENT)
#define DFTRACER_C_CLOSE_(variable) \
  do {                              \
    finalize_region(variable);      \
    (variable) = NULL;              \
  } while (0)

#define DFTRACER_C_FUNCTION_START() DFTRACER_C_OPEN_(data_fn, __func__);
#define DFTRACER_C_FUNCTION_END() DFTRACER_C_CLOSE_(data_fn)
#define DFTRACER_C_REGION_START(name) DFTRACER_C_OPEN_(data_##name, #name)
#define DFTRACER_C_REGION_END(name) DFTRACER_C_CLOSE_(data_##name)
#define DFTRACER_C_METADATA(name, key, val) \
  finalize_region(initialize_region(key, val, DF_METADATA_EVENT))

#define DFTRACER_C_FUNCTION_UPDATE_INT(key, val) update_metadata_int(data_fn, key, val)
#define DFTRACER_C_FUNCTION_UPDATE_STR(key, val) update_metadata_string(data_fn, key, val)
#define DFTRACER_C_REGION_UPDATE_INT(name, key, val) update_metadata_int(data_##name, key, val)
#define DFTRACER_C_REGION_UPDATE_STR(name, key, val) update_metadata_string(data_##name, key, val)
#define DFTRACER_C_FUNCTION_UPDATE_INT_TYPE(key, val, type) \
  update_metadata_int_type(data_fn, key, val, type)
#define DFTRACER_C_FUNCTION_UPDATE_STR_TYPE(key, val, type) \
  update_metadata_string_type(data_fn, key, val, type)
#define DFTRACER_C_REGION_UPDATE_INT_TYPE(name, key, val, type) \
  update_metadata_int_type(data_##name, key, val, type)
#define DFTRACER_C_REGION_UPDATE_STR_TYPE(name, key, val, type) \
  update_metadata_string_type(data_##name, key, val, type)

#ifdef __cplusplus

__attribute__((unused)) static ConstEventNameType CPP_LOG_CATEGORY = "CPP_APP";

class DFTracer {
 public:
  DFTracer(ConstEventNameType name, ConstEventNameType cat, int event_type = DF_DATA_EVENT)
      : data_(initialize_region(name, cat, event_type)) {}
  DFTracer(DFTracer&& other) noexcept : data_(other.data_) { other.data_ = nullptr; }
  DFTracer(const DFTracer&) = delete;
  DFTracer& operator=(const DFTracer&) = delete;
  ~DFTracer() { finalize(); }

  void update(const char* key, int value, MetadataType type = MT_KEY) {
    update_metadata_int_type(data_, key, value, type);
  }
  void update(const char* key, const char* value, MetadataType type = MT_KEY) {
    update_metadata_string_type(data_, key, value, type);
  }
  void update(const char* key, long value) { update_metadata_long(data_, key, value); }
  void update(const char* key, double value) { update_metadata_double(data_, key, value); }
  void finalize() { finalize_region_cleanup(&data_); }

 private:
  DFTracerData* data_;
};

#define DFTRACER_CPP_INIT(log_file, data_dirs, process_id) \
  initialize_main(log_file, data_dirs, process_id)
#define DFTRACER_CPP_INIT_NO_BIND(log_file, data_dirs, process_id) \
  initialize_no_bind(log_file, data_dirs, process_id)
#define DFTRACER_CPP_FINI() finalize()
#define DFTRACER_CPP_APP_METADATA_INT(key, val) set_app_metadata_int(key, val)
#define DFTRACER_CPP_APP_METADATA_STR(key, val) set_app_metadata_string(key, val)
#define DFTRACER_CPP_MARK_USED(name) mark_used(name)

#define DFTRACER_CPP_FUNCTION() \
  __attribute__((unused)) DFTracer profiler_dft_fn(__FUNCTION__, CPP_LOG_CATEGORY)
#define DFTRACER_CPP_REGION(name) \
  __attribute__((unused)) DFTracer profiler_##name(#name, CPP_LOG_CATEGORY)
#define DFTRACER_CPP_REGION_START(name) \
  DFTracer* profiler_##name = new DFTracer(#name, CPP_LOG_CATEGORY)
#define DFTRACER_CPP_REGION_END(name) delete profiler_##name
#define DFTRACER_CPP_METADATA(name, key, value) \
  finalize_region(initialize_region(key, value, DF_METADATA_EVENT))

#define DFTRACER_CPP_FUNCTION_UPDATE(key, val) profiler_dft_fn.update(key, val)
#define DFTRACER_CPP_FUNCTION_UPDATE_TYPE(key, val, type) profiler_dft_fn.update(key, val, type)
#define DFTRACER_CPP_REGION_UPDATE(name, key, val) profiler_##name.update(key, val)
#define DFTRACER_CPP_REGION_UPDATE_TYPE(name, key, val, type) profiler_##name.update(key, val, type)
#define DFTRACER_CPP_REGION_DYN_UPDATE(name, key, val) profiler_##name->update(key, val)
#define DFTRACER_CPP_REGION_DYN_UPDATE_TYPE(name, key, val, type) \
  profiler_##name->update(key, val, type)

#endif

#endif /* DFTRACER_DFTRACER_H */
