# SPDX-License-Identifier: MIT
"""Reads a Perfetto trace with the classes of Perfetto's own package; prints its content as JSON.

usage: perfetto_slices.py TRACE
Slices are put together as Perfetto's importer does it: packets sorted by time (stable), and a
stack on each track.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent


def samples_of(trace: Trace) -> list:
    """Event, pid, tid, cpu, weight and functions of each sample, as its sequence of packets explains them."""
    tables: dict = defaultdict(lambda: {"names": {}, "frames": {}, "stacks": {}, "event": "", "before": {}})
    samples = []
    for packet in trace.packet:
        table, new = tables[packet.trusted_packet_sequence_id], packet.interned_data
        if packet.HasField("trace_packet_defaults"):
            table["event"] = packet.trace_packet_defaults.perf_sample_defaults.timebase.name
        table["names"].update({entry.iid: entry.str.decode() for entry in new.function_names})
        table["frames"].update({entry.iid: table["names"][entry.function_name_id] for entry in new.frames})
        table["stacks"].update({entry.iid: [table["frames"][i] for i in entry.frame_ids] for entry in new.callstacks})
        if not packet.HasField("perf_sample"):
            continue
        one = packet.perf_sample
        weight = one.timebase_count - table["before"].get(one.tid, 0)
        table["before"][one.tid] = one.timebase_count
        cpu = one.cpu if one.HasField("cpu") else None
        stack = table["stacks"].get(one.callstack_iid, [])
        samples.append([packet.timestamp, table["event"], one.pid, one.tid, cpu, weight, stack])
    return samples


def main() -> None:
    trace = Trace()
    trace.ParseFromString(Path(sys.argv[1]).read_bytes())
    names, keys, tracks = {}, {}, {}
    events = []
    for packet in trace.packet:
        new = packet.interned_data
        names.update({entry.iid: entry.name for entry in new.event_names})
        keys.update({entry.iid: entry.name for entry in new.debug_annotation_names})
        if packet.HasField("track_descriptor"):
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        if packet.HasField("track_event"):
            events.append((packet.timestamp, packet.track_event))
    events.sort(key=lambda pair: pair[0])
    stacks = defaultdict(list)
    slices, counters, bad = [], 0, 0
    for time, event in events:
        stack = stacks[event.track_uuid]
        thread = tracks[event.track_uuid].thread
        if event.type == TrackEvent.TYPE_SLICE_BEGIN:
            stack.append((time, event))
        elif event.type == TrackEvent.TYPE_COUNTER:
            counters += 1
        else:
            if event.type == TrackEvent.TYPE_SLICE_END:
                if not stack:
                    bad += 1
                    continue
                begin, event = stack.pop()
            else:
                begin = time
            notes = event.debug_annotations
            args = {keys[note.name_iid]: note.string_value or note.int_value for note in notes}
            slices.append([names[event.name_iid], time - begin, thread.pid, thread.tid, args])
    bad += sum(len(stack) for stack in stacks.values())
    json.dump({"slices": slices, "counters": counters, "bad": bad, "samples": samples_of(trace)}, sys.stdout)


if __name__ == "__main__":
    main()
