// SPDX-License-Identifier: MIT
// Placeholders with the right columns that raise an error when they are read, so that a view can be
// bound before its pass has run.
#include "analysis/walk/unmade.h"

#include <string>
#include <string_view>

#include "base/text.h"

namespace fathom::analysis {
namespace {

struct Unmade {
  const char* name;
  std::string_view texts, numbers, reals;  // columns, by commas
};

constexpr Unmade kUnmade[] = {
    {"tree_nodes", "host,layer,name", "pid,tid,node,parent,depth,calls,total,self", ""},
    {"phase_times", "phase", "calls,threads,total,median,p95,first,rest", "trend"},
    {"overlap_times", "scope,host",
     "pid,tid,busy,app_io,unoverlapped_app_io,posix_io,unoverlapped_posix_io,compute,"
     "unoverlapped_compute",
     ""},
    {"training_tasks", "host",
     "pid,tid,trains,time,busy,steps,longest,data,forward,backward,optimizer,checkpoint", ""},
    {"training_steps", "host", "pid,dur", ""},
    {"gpu_idle_times", "host,cause,layer,name", "device,time,stretches,longest", ""},
    {"layer_walls", "scope,host,layer", "pid,tid,wall", ""},
};

std::string columns_sql(std::string_view names, const char* type) {
  std::string text;
  for (const std::string_view name : split(names, ',')) {
    if (!name.empty())
      text += "CAST(NULL AS " + std::string(type) + ") AS \"" + std::string(name) + "\", ";
  }
  return text;
}

}  // namespace

Status create_unmade_tables(sql::Connection& connection) {
  for (const Unmade& table : kUnmade) {
    FATHOM_TRY(connection.execute(
        "CREATE OR REPLACE VIEW " + std::string(table.name) + " AS SELECT " +
        columns_sql(table.texts, "VARCHAR") + columns_sql(table.numbers, "BIGINT") +
        columns_sql(table.reals, "DOUBLE") + "FROM range(1) WHERE error('name the view itself: " +
        table.name + " is made when it is asked for') IS NOT NULL"));
  }
  return {};
}

}  // namespace fathom::analysis
