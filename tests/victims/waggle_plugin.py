# SPDX-License-Identifier: MIT
"""A plugin of Waggle's as its users write them: looks at frames of the node's camera and publishes what it saw."""

import sys

from waggle.data.vision import Camera
from waggle.plugin import Plugin


def brightness(rows):
    total = 0
    for row in rows:
        total += int(row.max())
    return total


def look(plugin, camera, number):
    sample = camera.snapshot()
    seen = brightness(sample.data)
    plugin.publish("image.brightness", seen, meta={"frame": str(number)})
    return seen


def main(frames):
    camera = Camera("bottom")  # by /run/waggle/data-config.json
    with Plugin() as plugin:
        for number in range(frames):
            print(number, look(plugin, camera, number), flush=True)
    sys.exit(3)


if __name__ == "__main__":
    main(int(sys.argv[1]))
