// SPDX-License-Identifier: MIT
// The tables that passes over all events make when they are asked for (Store::ensure). Their
// columns are declared here and nowhere else: a pass fills them by name, and until it has run there
// are empty views of the same columns.
#pragma once

#include <string_view>

#include "base/result.h"
#include "sql/connection.h"

namespace fathom::analysis {

struct MadeTable {
  const char* name;
  std::string_view texts, numbers, reals;  // columns, by commas
};

inline constexpr MadeTable kTreeNodes = {"tree_nodes", "host,layer,name",
                                         "pid,tid,node,parent,depth,calls,total,self", ""};
inline constexpr MadeTable kPhaseTimes = {"phase_times", "phase",
                                          "calls,threads,total,median,p95,first,rest", "trend"};
inline constexpr MadeTable kOverlapTimes = {
    "overlap_times", "scope,host",
    "pid,tid,busy,app_io,unoverlapped_app_io,posix_io,unoverlapped_posix_io,compute,"
    "unoverlapped_compute",
    ""};
inline constexpr MadeTable kTrainingTasks = {
    "training_tasks", "host",
    "pid,tid,trains,time,busy,steps,longest,data,forward,backward,optimizer,checkpoint,compile",
    ""};
inline constexpr MadeTable kTrainingSteps = {"training_steps", "host", "pid,dur", ""};
inline constexpr MadeTable kGpuIdleTimes = {"gpu_idle_times", "host,cause,layer,name",
                                            "device,time,stretches,longest,longest_at", ""};
inline constexpr MadeTable kLayerWalls = {"layer_walls", "scope,host,layer", "pid,tid,wall", ""};

[[nodiscard]] bool is_made_table(std::string_view name);

// Views with their names and columns, so that views can be made of them. Reading one is an error: a
// question that nobody saw coming gets no wrong answer.
Status create_unmade_tables(sql::Connection& connection);

}  // namespace fathom::analysis
