// SPDX-License-Identifier: MIT
#include "render/export/alnair_log.h"

#include <gtest/gtest.h>

namespace fathom::render {
namespace {

ExportEvent call(std::string_view name, std::int64_t dur, std::int64_t size,
                 std::span<const ExportArg> args = {}) {
  ExportEvent event;
  event.ts = 1000;
  event.dur = dur;
  event.layer = "cuda";
  event.name = name;
  event.size = size;
  event.args = args;
  return event;
}

const ExportArg kDevice[] = {{"memory", "device"}};
const ExportArg kKernel[] = {{"kernel", "k"}};
const ExportArg kDirection[] = {{"kind", "2"}};

TEST(AlnairMetrics, SumsByItsNames) {
  AlnairMetrics metrics;
  metrics.add(call("cuMemAlloc", 1500, 4096, kDevice));
  ExportEvent failed = call("cuMemAlloc", 600, 0);
  failed.error = "CUDA_ERROR_OUT_OF_MEMORY";
  metrics.add(failed);
  metrics.add(call("cuMemFree", 900, 1024, kDevice));
  metrics.add(call("cuLaunchKernelEx", 2000, 0, kKernel));
  metrics.add(call("cudaMemcpy", 3000, 10, kDirection));
  metrics.add(call("cuStreamSynchronize", 9000, 0));
  ExportEvent other = call("cuInit", 1, 0);
  other.layer = "posix";
  metrics.add(other);
  const std::string text =
      "name:mem_used,count:3072\nname:cuInit,count:0,burst:0\nname:cuMemAlloc,count:2,burst:2\n"
      "name:cuMemFree,count:1,burst:0\nname:cuLaunchKernel,count:1,burst:2\n"
      "name:cuMemcpyH2D,count:0,burst:0\nname:cuMemcpyD2H,count:0,burst:0\n"
      "name:cuGetProcAddress,count:0,burst:0\nname:cuMemcpyH2D_ASYNC,count:0,burst:0\n"
      "name:cudaMemcpy,count:1,burst:3\nname:cudaMemcpyAsync,count:0,burst:0\n";
  EXPECT_EQ(metrics.text(), text);
  EXPECT_EQ(AlnairMetrics::from_state(metrics.state()).text(), text);
  EXPECT_EQ(AlnairMetrics::from_state("damaged").text(), AlnairMetrics().text());
}

TEST(AlnairTimeline, HasALineForWhatItHadOneFor) {
  std::string text;
  append_alnair_line(call("cuMemcpyHtoDAsync", 1999, 7), 5000, text);
  append_alnair_line(call("cudaMemcpyAsync", 10, 8, kDirection), 5000, text);
  append_alnair_line(call("cuLaunchKernel", 10, 8, kKernel), 5000, text);
  append_alnair_line(call("cuStreamCreate", 10, 8), 5000, text);
  EXPECT_EQ(text,
            "name:cuMemcpyH2D_ASYNC, start:6000, burst:1, bytes:7, kind:-1\n"
            "name:cudaMemcpyAsync, start:6000, burst:0, bytes:8, kind:2\n");
}

}  // namespace
}  // namespace fathom::render
