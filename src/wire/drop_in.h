/* SPDX-License-Identifier: MIT
   Where a process tells the collectors of its own user which files it wants of them, and where a
   collector keeps what its successor needs: beside no recording, since whatever lies in one may
   have been made by anybody (docs/formats/spool.md, "Drop-ins"). */
#pragma once

/* The first of these in which this user has, or can make, a directory that nobody else can enter.
 */
#define FATHOM_PRIVATE_PARENTS "/tmp", "/var/tmp", "/dev/shm"
#define FATHOM_PRIVATE_PREFIX "fathom-" /* + number of the user */
/* Else this one, in the directory that HOME names. */
#define FATHOM_PRIVATE_AT_HOME ".fathom-drop-ins"

/* <run id>-<device>-<inode>, in hexadecimal digits, of the spool's directory, and then: */
#define FATHOM_WISHES_SUFFIX ".wishes"
#define FATHOM_WISHES_MAX (1 << 20) /* bytes */

/* Records of the file of wishes, each ended by NUL: "<drop-in> <log>", and this one. */
#define FATHOM_WISH_HIDDEN "hidden" /* the run is for such files alone, and goes with the last */
