# SPDX-License-Identifier: MIT
"""The names of DFTracer's entities. Its packages on PyPI declare none, since their native module cannot. Nor are there
any here: an entity's number is 0, which means that there is nothing to relate."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

EntityID = int


class EntityStore(IntEnum):
    MEMORY = 0
    GPU_MEMORY = 1
    LOCAL_DISK = 2
    PARALLEL_FS = 3
    BURST_BUFFER = 4
    OBJECT_STORE = 5
    DATABASE = 6
    NETWORK = 7
    OTHER = 8


class EntityRole(IntEnum):
    UNKNOWN = 0
    INPUT = 1
    OUTPUT = 2
    INTERMEDIATE = 3
    PARAMETER = 4
    REFERENCE = 5


class EntityRelation(IntEnum):
    """Below 16 between an event and an entity, else between two entities."""

    USED = 0
    GENERATED = 1
    INVALIDATED = 2
    UPDATED = 3
    DERIVED_FROM = 16
    REVISION_OF = 17
    CONTAINS = 18
    PART_OF = 19
    SPECIALIZATION_OF = 20
    ALTERNATE_OF = 21
    DEPENDS_ON = 22


class Declares:
    """Of the logger."""

    def declare_entity(self, type: str, key: Any, store: Any = EntityStore.MEMORY, uri: str = "") -> EntityID:
        return 0

    def declare_entity_type(self, type: str, role: Any = EntityRole.UNKNOWN, description: str = "") -> None:
        """Nothing is described."""

    def relate_entities(self, relation: Any, subject: EntityID, object: EntityID) -> None:
        """Nothing is related."""


class Relates:
    """Of an annotation."""

    def relate(self, relation: Any, entity: EntityID) -> Any:
        return self

    def relate_entity(
        self,
        relation: Any,
        type: str,
        key: Any,
        store: Any = EntityStore.MEMORY,
        uri: str = "",
    ) -> EntityID:
        return 0

    def uses(self, type: str, key: Any, store: Any = EntityStore.MEMORY, uri: str = "") -> EntityID:
        return 0

    def generates(self, type: str, key: Any, store: Any = EntityStore.MEMORY, uri: str = "") -> EntityID:
        return 0
