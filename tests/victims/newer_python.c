// SPDX-License-Identifier: MIT
// newer_python VERSION: what of an interpreter a recorder looks at, of a version that nobody knows
// yet.
#include <stddef.h>

typedef int (*AuditHook)(const char* event, void* args, void* data);
struct allocator {
  void* members[5];
};

static AuditHook audit;
static struct allocator allocator;
static const char* version;

const char* Py_GetVersion(void) { return version; }
int Py_IsInitialized(void) { return 1; }
void PyMem_GetAllocator(int domain, struct allocator* to) {
  (void)domain;
  *to = allocator;
}
void PyMem_SetAllocator(int domain, struct allocator* from) {
  (void)domain;
  allocator = *from;
}
int PySys_AddAuditHook(AuditHook hook, void* data) {
  (void)data;
  audit = hook;
  return 0;
}

int main(int count, char** words) {
  version = count > 1 ? words[1] : "?";
  if (audit == NULL) return 1;
  audit("import", NULL, NULL);
  audit("cpython.run_command", NULL, NULL);
  return 0;
}
