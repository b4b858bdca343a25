/* SPDX-License-Identifier: MIT
   MPI launchers and Slurm tell the rank in the environment, each under a name of its own. The first
   of these that is there holds. */
#pragma once

#define FATHOM_RANK_VARIABLES                                                               \
  "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "FLUX_TASK_RANK", \
      "SLURM_PROCID"
