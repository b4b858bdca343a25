// SPDX-License-Identifier: MIT
// Pictures as PNG, by librsvg and cairo where they are installed: they are loaded when they are
// first needed. Declarations of our own, so that building needs neither library, and whoever wants
// SVG has neither.
#include "cli/svg_png.h"

#include <dlfcn.h>

#include "base/files.h"

namespace fathom::cli {
namespace {

struct Rectangle {
  double x, y, width, height;
};

struct Libraries {
  void* (*new_from_data)(const unsigned char*, unsigned long, void**) = nullptr;
  int (*render)(void*, void*, const Rectangle*, void**) = nullptr;
  int (*size)(void*, double*, double*) = nullptr;
  void (*unref)(void*) = nullptr;
  void* (*surface)(int, int, int) = nullptr;
  void* (*context)(void*) = nullptr;
  void (*destroy)(void*) = nullptr;
  void (*destroy_surface)(void*) = nullptr;
  int (*to_png)(void*, int (*)(void*, const unsigned char*, unsigned), void*) = nullptr;

  [[nodiscard]] bool whole() const {
    return new_from_data && render && size && unref && surface && context && destroy &&
           destroy_surface && to_png;
  }
};

template <class F>
void find(void* library, const char* name, F& function) {
  if (library != nullptr) function = reinterpret_cast<F>(::dlsym(library, name));
}

// They stay open: libraries of GLib cannot be unloaded.
Libraries load() {
  Libraries all;
  void* const rsvg = ::dlopen("librsvg-2.so.2", RTLD_NOW | RTLD_LOCAL);
  void* const cairo = ::dlopen("libcairo.so.2", RTLD_NOW | RTLD_LOCAL);
  find(rsvg, "rsvg_handle_new_from_data", all.new_from_data);
  find(rsvg, "rsvg_handle_render_document", all.render);
  find(rsvg, "rsvg_handle_get_intrinsic_size_in_pixels", all.size);
  find(::dlopen("libgobject-2.0.so.0", RTLD_NOW | RTLD_LOCAL), "g_object_unref", all.unref);
  find(cairo, "cairo_image_surface_create", all.surface);
  find(cairo, "cairo_create", all.context);
  find(cairo, "cairo_destroy", all.destroy);
  find(cairo, "cairo_surface_destroy", all.destroy_surface);
  find(cairo, "cairo_surface_write_to_png_stream", all.to_png);
  return all;
}

int append(void* to, const unsigned char* bytes, unsigned count) {
  static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(bytes), count);
  return 0;
}

}  // namespace

Status write_png(const std::string& svg, const std::string& path) {
  const Libraries with = load();
  if (!with.whole())
    return Error{Code::kUnsupported, "PNG needs librsvg and cairo, which this machine lacks",
                 "apt install librsvg2-2, or write an SVG: -o x.svg"};
  void* const picture =
      with.new_from_data(reinterpret_cast<const unsigned char*>(svg.data()), svg.size(), nullptr);
  double width = 0, height = 0;
  if (picture == nullptr || with.size(picture, &width, &height) == 0)
    return Error{Code::kInvalid, "librsvg cannot read the picture", "write an SVG: -o x.svg"};
  void* const surface = with.surface(0, static_cast<int>(width), static_cast<int>(height));
  void* const context = with.context(surface);
  const Rectangle whole = {0, 0, width, height};
  std::string png;
  const bool drawn = with.render(picture, context, &whole, nullptr) != 0 &&
                     with.to_png(surface, append, &png) == 0;
  with.destroy(context);
  with.destroy_surface(surface);
  with.unref(picture);
  if (!drawn || png.empty())
    return Error{Code::kInvalid, "librsvg could not draw the picture", "write an SVG: -o x.svg"};
  return write_file_atomic(path, png);
}

}  // namespace fathom::cli
