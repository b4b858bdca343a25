// SPDX-License-Identifier: MIT
// Sites (name, category, file, line) as Python objects, with a cache by name. The cache is emptied
// when it is full: programs make up names.
#include "sources/python/site.h"

#include "sources/python/text.h"

// A program that makes up names as it goes shall not fill memory with them.
enum { kMostSites = 4096 };

static void site_dealloc(PyObject* object) {
  struct site* self = (struct site*)object;
  Py_XDECREF(self->name);
  Py_XDECREF(self->category);
  Py_XDECREF(self->file);
  PyObject_Free(object);
}

PyTypeObject site_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fathom._record.Site",
    .tp_basicsize = sizeof(struct site),
    .tp_dealloc = site_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
};

static bool keep_text(PyObject* given, PyObject** text, const char** bytes) {
  if (given == NULL || given == Py_None) return true;
  *text = text_of(given);
  *bytes = *text != NULL ? PyUnicode_AsUTF8(*text) : NULL;
  return *bytes != NULL;
}

struct site* site_new(PyObject* name, PyObject* category, PyObject* file, unsigned line) {
  struct site* self = PyObject_New(struct site, &site_type);
  if (self == NULL) return NULL;
  self->site = (struct fathom_site){.line = line};
  self->name = self->category = self->file = NULL;
  if (keep_text(name, &self->name, &self->site.name) &&
      keep_text(category, &self->category, &self->site.category) &&
      keep_text(file, &self->file, &self->site.file))
    return self;
  Py_DECREF(self);
  return NULL;
}

static PyObject* sites;  // by name, or name and category

void sites_forget(void) { sites = NULL; }

static struct site* add_site(PyObject* key, PyObject* name, PyObject* category) {
  struct site* site = site_new(name, category, NULL, 0);
  if (site == NULL) return NULL;
  if (PyDict_GET_SIZE(sites) >= kMostSites) PyDict_Clear(sites);
  if (PyDict_SetItem(sites, key, (PyObject*)site) == 0) return site;
  Py_DECREF(site);
  return NULL;
}

static struct site* find_site(PyObject* key, PyObject* name, PyObject* category) {
  if (sites == NULL && (sites = PyDict_New()) == NULL) return NULL;
  PyObject* known = PyDict_GetItemWithError(sites, key);
  if (known == NULL) return PyErr_Occurred() ? NULL : add_site(key, name, category);
  Py_INCREF(known);
  return (struct site*)known;
}

// Keys are plain texts: hashing them runs nothing of the program's.
struct site* site_named(PyObject* name, PyObject* category) {
  const bool plain = category == NULL || category == Py_None;
  if (plain && PyUnicode_CheckExact(name)) return find_site(name, name, NULL);
  PyObject* name_text = text_of(name);
  PyObject* category_text = plain ? NULL : text_of(category);
  struct site* site = NULL;
  if (name_text != NULL && plain) {
    site = find_site(name_text, name_text, NULL);
  } else if (name_text != NULL && category_text != NULL) {
    PyObject* key = PyTuple_Pack(2, name_text, category_text);
    if (key != NULL) site = find_site(key, name_text, category_text);
    Py_XDECREF(key);
  }
  Py_XDECREF(name_text);
  Py_XDECREF(category_text);
  return site;
}
