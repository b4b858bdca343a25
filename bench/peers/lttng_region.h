// SPDX-License-Identifier: MIT
// Tracepoints of the LTTng peer: the begin and the end of a region. Read several times by LTTng's
// own headers, so no #pragma once.
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER fathom_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng_region.h"

#if !defined(FATHOM_BENCH_LTTNG_REGION_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define FATHOM_BENCH_LTTNG_REGION_H
#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(fathom_bench, begin, LTTNG_UST_TP_ARGS(int, id),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, id, id)))
LTTNG_UST_TRACEPOINT_EVENT(fathom_bench, end, LTTNG_UST_TP_ARGS(int, id),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, id, id)))

#endif
#include <lttng/tracepoint-event.h>
