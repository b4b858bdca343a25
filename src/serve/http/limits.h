// SPDX-License-Identifier: MIT
// How much, how long and how many: everything that a client could otherwise do without end.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace fathom::serve {

using namespace std::chrono_literals;

// The status behind a limit is what a client gets that meets it.
struct Limits {
  std::size_t header_bytes = std::size_t{64} << 10;  // 431
  std::size_t body_bytes = std::size_t{64} << 20;    // 413; also after decompression
  std::chrono::milliseconds header_time = 10s;       // from the first wait for it
  std::chrono::milliseconds body_grace = 10s;        // beyond what its bytes may take
  std::size_t body_bytes_a_second = 1000;
  std::chrono::milliseconds idle_time = 60s;    // between two requests
  std::chrono::milliseconds write_time = 30s;   // for a client to take the next piece
  std::chrono::milliseconds stop_time = 10s;    // for requests under way when the server is to stop
  std::size_t connections = 4096;               // 429 beyond
  std::size_t streams = 256;                    // of events; 429 beyond
  std::size_t memory = std::size_t{512} << 20;  // of all bodies; 429 beyond
  std::size_t free_memory = std::size_t{1} << 20;  // a body that needs no share for its parsing
  std::size_t workers = 32;                        // requests that are answered at the same time
};

// What parsing a body may take, for each of its bytes.
inline constexpr std::size_t kParsingShare = 6;

}  // namespace fathom::serve
