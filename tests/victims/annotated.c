// SPDX-License-Identifier: MIT
// Every annotation once, as C and as C++ of any age: compilers say whether the headers suit them.
#include <fathom/fathom.h>
#include <stddef.h>
#ifdef __cplusplus
#include <string>
enum class Mode { kFast = 3 };
#endif

static double work(int epoch) {
  FATHOM_FUNCTION();
  FATHOM_ARG("epoch", epoch);
  FATHOM_ARG("size", (size_t)1 << 40);
  FATHOM_ARG("rate", 0.5f);
  FATHOM_ARG("name", "text");
  {
    FATHOM_REGION("load");
    FATHOM_REGION_IN("inner", "category");
    FATHOM_COUNTER("loss", 0.25);
    FATHOM_COUNTER("step", epoch);
  }
  FATHOM_INSTANT("checkpoint");
  FATHOM_METADATA("key", "value");
#ifdef __cplusplus
  const fathom::Region region("object");
  FATHOM_ARG("string", std::string("long"));
  FATHOM_ARG("mode", Mode::kFast);
  FATHOM_ARG("flag", true);
#endif
  return epoch;
}

int main(void) { return work(0) > 0.0; }
