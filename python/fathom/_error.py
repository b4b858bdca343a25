# SPDX-License-Identifier: MIT
"""The one exception of this package."""


class Error(Exception):
    """What is wrong, and what can be done about it."""

    def __init__(self, message: str, hint: str = "", code: str = "invalid") -> None:
        super().__init__(message, hint, code)
        self.message = message
        self.hint = hint
        self.code = code  # usage, invalid, not_found, io, corrupt, unsupported or denied

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


def missing_package(name: str, extra: str) -> Error:
    return Error(f"{name} is not installed", f"pip install 'fathom[{extra}]', or {name} itself", "unsupported")
