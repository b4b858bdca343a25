// SPDX-License-Identifier: MIT
// survey DIRECTORY TILES: charts a sea floor, as a small I/O-bound program does it, with the faults
// that such programs have.
//
// It writes tiles of soundings (stdio), makes each of them durable (fsync after every tile), reads
// them back in small pieces and out of order (pread of 512 bytes), smooths them (compute), and
// keeps a log line by line. Fathom shows which of this costs what.
#define _GNU_SOURCE
#include <errno.h>
#include <fathom/fathom.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SIDE = 256, CELLS = SIDE * SIDE, PIECE = 512, PASSES = 3 };

static float depths[CELLS], smooth[CELLS];
static FILE* notes;

static void die(const char* what) {
  fprintf(stderr, "survey: %s: %s\n", what, strerror(errno));
  exit(1);
}

static void sound_tile(int tile) {
  FATHOM_FUNCTION();
  FATHOM_ARG("tile", tile);
  for (int y = 0; y < SIDE; y++) {
    for (int x = 0; x < SIDE; x++) {
      const double east = (x + 37 * tile) / 19.0, north = (y + 11 * tile) / 23.0;
      depths[y * SIDE + x] =
          (float)(3000 + 400 * sin(east) * cos(north) + 60 * sin(3 * east + north));
    }
  }
}

static void save_tile(const char* path) {
  FATHOM_FUNCTION();
  FILE* out = fopen(path, "w");
  if (!out) die(path);
  for (int y = 0; y < SIDE; y++) {
    if (fwrite(depths + y * SIDE, sizeof *depths, SIDE, out) != SIDE) die(path);
  }
  if (fflush(out) != 0 || fsync(fileno(out)) != 0 || fclose(out) != 0) die(path);
}

static void load_tile(const char* path) {
  FATHOM_FUNCTION();
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) die(path);
  const int pieces = (int)(sizeof depths / PIECE);
  for (int i = 0; i < pieces; i++) {
    const int piece = (int)((unsigned)i * 769u %
                            (unsigned)pieces);  // 769 is prime: every piece once, out of order
    if (pread(fd, (char*)depths + piece * PIECE, PIECE, (off_t)piece * PIECE) != PIECE) die(path);
  }
  close(fd);
}

static void smooth_tile(void) {
  FATHOM_FUNCTION();
  for (int pass = 0; pass < PASSES; pass++) {
    FATHOM_REGION("pass");
    FATHOM_ARG("pass", pass);
    memcpy(smooth, depths, sizeof depths);  // the border has no neighbours: it stays as it is
    for (int y = 1; y < SIDE - 1; y++) {
      for (int x = 1; x < SIDE - 1; x++) {
        const float* at = depths + y * SIDE + x;
        smooth[y * SIDE + x] = 0.5f * at[0] + 0.125f * (at[-1] + at[1] + at[-SIDE] + at[SIDE]);
      }
    }
    memcpy(depths, smooth, sizeof depths);
  }
}

static float shallowest(void) {
  float least = depths[0];
  for (int i = 1; i < CELLS; i++) least = depths[i] < least ? depths[i] : least;
  return least;
}

static void chart(const char* directory, int tiles) {
  FATHOM_FUNCTION();
  char path[4096];
  for (int tile = 0; tile < tiles; tile++) {
    snprintf(path, sizeof path, "%s/tile-%03d", directory, tile);
    sound_tile(tile);
    save_tile(path);
    load_tile(path);
    smooth_tile();
    const float least = shallowest();
    FATHOM_COUNTER("shallowest", (double)least);
    fprintf(notes, "tile %d: shallowest %.1f m\n", tile, least);
    fflush(notes);
  }
  FATHOM_INSTANT("charted");
}

int main(int argc, char** argv) {
  if (argc != 3 || atoi(argv[2]) <= 0) {
    fprintf(stderr, "usage: survey DIRECTORY TILES\n");
    return 2;
  }
  if (mkdir(argv[1], 0777) != 0 && errno != EEXIST) die(argv[1]);
  char path[4096];
  snprintf(path, sizeof path, "%s/notes.txt", argv[1]);
  notes = fopen(path, "w");
  if (!notes) die(path);
  FATHOM_METADATA("tiles", argv[2]);
  chart(argv[1], atoi(argv[2]));
  fclose(notes);
  printf("charted %s tiles\n", argv[2]);
  return 0;
}
