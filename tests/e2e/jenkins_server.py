# SPDX-License-Identifier: MIT
"""Stands in for Jenkins: the calls that `fathom suite` makes, answered as Jenkins does. Builds run the job's script
in a workspace with their parameters as variables, and archive real files."""

import base64
import contextlib
import http.server
import json
import os
import shutil
import signal
import subprocess
import threading
import time
import urllib.parse
import xml.etree.ElementTree as Xml
from pathlib import Path
from typing import Any

USER, TOKEN, PASSWORD = "ci", "api-token", "password"
CRUMB, SESSION = "the-crumb", "JSESSIONID=the-session"
Json = dict[str, Any]


class Build:
    """One build, from the queue to its archive."""

    def __init__(self, number: int, item: int, parameters: dict[str, str], root: Path) -> None:
        self.number, self.item, self.parameters = number, item, parameters
        self.workspace, self.archive, self.log = (
            root / f"workspace@{number}",
            root / f"archive-{number}",
            root / f"log-{number}",
        )
        self.building, self.result, self.duration = True, "", 0
        self.process: subprocess.Popen[bytes] | None = None

    def run(self, config: Xml.Element) -> None:
        self.workspace.mkdir(parents=True)
        begin = time.monotonic()
        script = self.workspace.with_suffix(".sh")
        script.write_text(config.findtext("builders/hudson.tasks.Shell/command") or "")
        with self.log.open("wb") as log:
            log.write(b"Started by user\n")
            log.flush()
            self.process = subprocess.Popen(
                ["/bin/sh", script], cwd=self.workspace, env={**os.environ, **self.parameters}, stdout=log,
                stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
            status = self.process.wait()
        for pattern in (config.findtext("publishers/hudson.tasks.ArtifactArchiver/artifacts") or "").split(","):
            self.keep(pattern.strip())
        self.duration = round(1000 * (time.monotonic() - begin))
        self.result = "ABORTED" if status < 0 else "SUCCESS" if status == 0 else "FAILURE"
        self.building = False

    def keep(self, pattern: str) -> None:
        found = self.workspace.glob(pattern + "/*" if pattern.endswith("**") else pattern)
        for path in found:
            if path.is_file():
                to = self.archive / path.relative_to(self.workspace)
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, to)

    def stop(self) -> None:
        while self.building and self.process is None:
            time.sleep(0.01)
        if self.process:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)

    @property
    def actions(self) -> list[Json]:
        return [{"parameters": [{"name": name, "value": value} for name, value in self.parameters.items()]}]

    def told(self) -> Json:
        files = [path for path in self.archive.rglob("*") if path.is_file()]
        artifacts = [{"relativePath": str(path.relative_to(self.archive))} for path in files]
        result = None if self.building else self.result
        return {
            "building": self.building,
            "result": result,
            "duration": self.duration,
            "builtOn": "agent-1",
            "artifacts": artifacts,
        }


class Jenkins:
    """The server. `forgets`: queue items vanish at once. `loses`: so many builds are thrown away, as by a restart.
    `mute`: so many answers to a new build never come, though it was heard. `password`: crumbs are asked for."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.jobs: dict[str, str] = {}
        self.builds: list[Build] = []
        self.waiting: list[Build] = []  # in the queue, until the executor is free
        self.seen: list[str] = []
        self.held, self.forgets, self.password, self.loses, self.mute = False, False, False, 0, 0
        self.lock = threading.Lock()
        handler = type("Handler", (Handler,), {"jenkins": self})
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/jenkins"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        for build in self.builds:
            build.stop()

    def begin(self, build: Build) -> None:
        config = Xml.fromstring(self.jobs["fathom-suite"])
        threading.Thread(target=build.run, args=(config,), daemon=True).start()

    def new_build(self, parameters: dict[str, str]) -> Build:
        with self.lock:
            number = len(self.builds) + 1
            build = Build(number, 100 + number, parameters, self.root)
            self.builds.append(build)
        if self.held:
            self.waiting.append(build)
        elif self.loses > 0:
            self.loses -= 1
            build.building, build.result = False, "ABORTED"
        else:
            self.begin(build)
        return build

    def find(self, number: str) -> Build | None:
        return next((build for build in self.builds if str(build.number) == number), None)


class Handler(http.server.BaseHTTPRequestHandler):
    jenkins: Jenkins
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def say(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def say_json(self, value: object) -> None:
        self.say(200, json.dumps(value).encode(), Content_Type="application/json")

    def may(self) -> bool:
        secret = PASSWORD if self.jenkins.password else TOKEN
        wanted = "Basic " + base64.b64encode(f"{USER}:{secret}".encode()).decode()
        if self.headers.get("Authorization") != wanted:
            self.say(401)
            return False
        crumbless = self.headers.get("Jenkins-Crumb") != CRUMB or self.headers.get("Cookie") != SESSION
        if self.command == "POST" and self.jenkins.password and crumbless:
            self.say(403, b"No valid crumb was included in the request")
            return False
        return True

    @property
    def parts(self) -> list[str]:
        return urllib.parse.unquote(urllib.parse.urlsplit(self.path).path).split("/")[2:]  # behind /jenkins

    @property
    def query(self) -> dict[str, str]:
        return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))

    def do_GET(self) -> None:
        if not self.may():
            return
        jenkins, parts = self.jenkins, self.parts
        known = parts[0] == "job" and parts[1] in jenkins.jobs
        build = jenkins.find(parts[2]) if known else None
        if parts == ["crumbIssuer", "api", "json"]:
            body = json.dumps({"crumb": CRUMB, "crumbRequestField": "Jenkins-Crumb"}).encode()
            self.say(200, body, Set_Cookie=SESSION + "; Path=/; HttpOnly")
        elif known and parts[2:] == ["config.xml"]:
            self.say(200, jenkins.jobs[parts[1]].encode())
        elif known and parts[2:] == ["api", "json"]:
            begun = [one for one in jenkins.builds if one not in jenkins.waiting]
            self.say_json({"builds": [{"number": one.number, "actions": one.actions} for one in begun]})
        elif parts == ["queue", "api", "json"]:
            self.say_json({"items": [{"id": one.item, "actions": one.actions} for one in jenkins.waiting]})
        elif parts[:2] == ["queue", "item"] and not jenkins.forgets:
            self.say_queue_item(parts[2])
        elif build:
            self.say_of_build(build, parts[3:])
        else:
            self.say(404)

    def say_queue_item(self, item: str) -> None:
        build = next((build for build in self.jenkins.builds if str(build.item) == item), None)
        if build is None:
            self.say(404)
        elif build in self.jenkins.waiting:
            self.say_json({"why": "Waiting for next available executor"})
        elif build.result == "CANCELLED":
            self.say_json({"cancelled": True})
        else:
            self.say_json({"why": None, "executable": {"number": build.number}})

    def say_of_build(self, build: Build, rest: list[str]) -> None:
        artifact = build.archive / "/".join(rest[1:])
        if rest == ["api", "json"]:
            self.say_json(build.told())
        elif rest == ["logText", "progressiveText"]:
            log = build.log.read_bytes() if build.log.exists() else b""
            more = {"X_More_Data": "true"} if build.building else {}
            self.say(200, log[int(self.query["start"]) :], X_Text_Size=str(len(log)), **more)
        elif rest[0] == "artifact" and artifact.is_file():
            self.say(200, artifact.read_bytes())
        else:
            self.say(404)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        if not self.may():
            return
        jenkins, parts = self.jenkins, self.parts
        jenkins.seen.append("/".join(parts))
        known = parts[0] == "job" and parts[1] in jenkins.jobs
        build = jenkins.find(parts[2]) if known else None
        if parts == ["createItem"]:
            status = 400 if self.query["name"] in jenkins.jobs else 200
            jenkins.jobs.setdefault(self.query["name"], body)
            self.say(status)
        elif known and parts[2:] == ["config.xml"]:
            jenkins.jobs[parts[1]] = body
            self.say(200)
        elif known and parts[2:] == ["buildWithParameters"]:
            self.start_build(dict(urllib.parse.parse_qsl(body, keep_blank_values=True)))
        elif parts == ["queue", "cancelItem"]:
            for one in [one for one in jenkins.waiting if str(one.item) == self.query["id"]]:
                jenkins.waiting.remove(one)
                one.building, one.result = False, "CANCELLED"
            self.say(404)  # though it worked
        elif build and parts[3] in ("stop", "term", "kill"):
            build.stop()
            self.say(302, Location="/")
        else:
            self.say(404)

    def start_build(self, parameters: dict[str, str]) -> None:
        build = self.jenkins.new_build(parameters)
        if self.jenkins.mute > 0:
            self.jenkins.mute -= 1
            self.close_connection = True
        else:
            self.say(201, Location=f"{self.jenkins.url}/queue/item/{build.item}/")
