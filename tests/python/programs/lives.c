// SPDX-License-Identifier: MIT
// lives NUMBER PROGRAM: an interpreter that is made, runs the program and is finalised, so often.
#include <Python.h>
#include <stdlib.h>

int main(int count, char** words) {
  if (count != 3) return 2;
  for (int life = atoi(words[1]); life > 0; life--) {
    Py_Initialize();
    const int failed = PyRun_SimpleString(words[2]);
    if (Py_FinalizeEx() != 0 || failed != 0) return 1;
  }
  return 0;
}
