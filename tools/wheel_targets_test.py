# SPDX-License-Identifier: MIT
"""What the wheels install is built: cmake's install() rules of their components against pyproject.toml's build.targets.

pip builds the named targets alone, so one that is installed and not named fails, on the user's machine. A library that
programs preload has to be known to the guest, too, which takes it out of LD_PRELOAD where it cannot be loaded.
"""

import re
import unittest
from pathlib import Path
from typing import Dict, Iterator, List, Set, Tuple

TOP = Path(__file__).resolve().parent.parent
Command = Tuple[str, List[str]]
KEYWORDS = {"COMPONENT", "RUNTIME", "LIBRARY", "ARCHIVE", "DESTINATION", "EXPORT", "OPTIONAL"}


def commands_of(text: str) -> Iterator[Command]:
    """The calls in a file of CMake, with their words; comments and nested brackets are left out."""
    plain = re.sub(r"(?m)#.*$", "", text)
    for name, words in re.findall(r"(?m)^\s*(\w+)\(((?:[^()\"]|\"[^\"]*\")*)\)", plain):
        yield name.lower(), re.findall(r"\"[^\"]*\"|[^\s\"]+", words)


def before_keywords(words: List[str]) -> List[str]:
    ends = [at for at, word in enumerate(words) if word in KEYWORDS]
    return words[: min(ends, default=len(words))]


def installed_by(text: str) -> Set[str]:
    """Targets of install(TARGETS …), and those whose files install(FILES …) takes; variables are those of the file."""
    commands = list(commands_of(text))
    sets = {words[0]: words[1:] for name, words in commands if name == "set" and words}
    found: Set[str] = set()
    for name, words in commands:
        if name == "install" and words[:1] == ["TARGETS"]:
            for word in before_keywords(words[1:]):
                variable = re.fullmatch(r"\$\{(\w+)\}", word)
                found |= set(sets.get(variable[1], [word])) if variable else {word}
        elif name == "install":
            found |= {target for word in words for target in re.findall(r"\$<TARGET_FILE:(\w+)>", word)}
    return found


def needs_of(text: str) -> Dict[str, Set[str]]:
    """What a target brings along, where the file says so."""
    found: Dict[str, Set[str]] = {}
    for name, words in commands_of(text):
        if name == "add_dependencies":
            found.setdefault(words[0], set()).update(words[1:])
        elif name == "add_custom_target" and "DEPENDS" in words:
            found.setdefault(words[0], set()).update(words[words.index("DEPENDS") + 1 :])
    return found


def built_by(targets: Set[str], texts: List[str]) -> Set[str]:
    found = set(targets)
    needs = [needs_of(text) for text in texts]
    while True:
        more = {one for known in needs for name in found for one in known.get(name, set())}
        if more <= found:
            return found
        found |= more


def list_in(text: str, key: str) -> List[str]:
    found = re.search(rf"(?m)^{re.escape(key)} = \[(.*)\]$", text)
    return re.findall(r'"([^"]+)"', found[1]) if found else []


def read(path: str) -> str:
    return (TOP / path).read_text()


class WheelTargets(unittest.TestCase):
    def test_what_fathom_installs_is_built(self) -> None:
        texts = [read("python/CMakeLists.txt"), read("src/guest/CMakeLists.txt")]
        built = built_by(set(list_in(read("pyproject.toml"), "build.targets")), texts)
        for path, least in (("cmake/install.cmake", 10), ("python/CMakeLists.txt", 1)):
            installed = installed_by(read(path))
            self.assertGreaterEqual(len(installed), least, path)
            self.assertEqual(set(), installed - built, f"installed by {path} and not in build.targets")

    def test_what_packages_install_is_built(self) -> None:
        texts = [read("python/CMakeLists.txt"), read("src/guest/CMakeLists.txt")]
        found = re.search(r'(?m)^readonly targets="([^"]+)"', read("tools/package.sh"))
        built = built_by(set(found[1].split()) if found else set(), texts)
        self.assertEqual(set(), installed_by(read("cmake/install.cmake")) - built, "not in targets of tools/package.sh")

    def test_components_are_those_of_cmake(self) -> None:
        places = {
            "pyproject.toml": ["cmake/install.cmake", "python/CMakeLists.txt"],
            "packaging/dftracer/pyproject.toml": ["packaging/dftracer/CMakeLists.txt"],
        }
        for path, files in places.items():
            (component,) = list_in(read(path), "install.components")
            for file in files:
                self.assertRegex(read(file), rf"COMPONENT {component}\b|\. {component}\)", f"{path}: {file}")

    def test_others_build_all_or_nothing(self) -> None:
        """Without build.targets, all is built."""
        for path in sorted((TOP / "packaging").glob("*/pyproject.toml")):
            text = path.read_text()
            without = "wheel.cmake = false" in text
            self.assertEqual([], list_in(text, "build.targets"), path)
            self.assertEqual(without, not (path.parent / "CMakeLists.txt").exists(), path)

    def test_the_guest_knows_what_can_be_preloaded(self) -> None:
        links = " ".join(re.findall(r"fathom_install_links\(lib fathom ([^)]*)\)", read("cmake/install.cmake")))
        libraries = set(re.findall(r"lib\w+\.so", links)) - {"libfathom_query.so"}
        self.assertGreaterEqual(len(libraries), 10)
        known = read("src/guest/new_environment.cc").split("kNames[] = {")[1].split("};")[0]
        self.assertEqual(set(), libraries - set(re.findall(r'"([^"]+)"', known)))


class Mistakes(unittest.TestCase):
    CMAKE = """
set(programs one  # the first
  two)
install(TARGETS ${programs} three COMPONENT python RUNTIME DESTINATION bin)
install(FILES $<TARGET_FILE:four> DESTINATION x COMPONENT python)
add_custom_target(both ALL DEPENDS one two)
add_dependencies(both three)
"""

    def test_a_target_that_is_not_built_is_noticed(self) -> None:
        self.assertEqual({"one", "two", "three", "four"}, installed_by(self.CMAKE))
        self.assertEqual({"both", "one", "two", "three"}, built_by({"both"}, [self.CMAKE]))
        self.assertEqual({"four"}, installed_by(self.CMAKE) - built_by({"both"}, [self.CMAKE]))


if __name__ == "__main__":
    unittest.main()
