"""Faults planted in the model of the life of a block: for each invariant at least one that it, and
no other being asked, must find. A fault is what stands in the model, and what stands there then."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """`changes`: pairs of the text that stands there once, and of what replaces it."""
    name: str
    invariant: str
    changes: tuple
    scope: str = "small"


def drop(text):
    return (text, "")


EVENT_DONE = """  blocks[s][g].event_count := blocks[s][g].event_count - 1;
  unused_events := unused_events + 1;
  if blocks[s][g].event_count = 0 then
"""
BEHIND_ALL = "  forall t: Stream do blocks[freed_segment][freed_granule].uses[t] -> fenced[t] end\n"
FREE_AT_ONCE = """  allocation := allocation - 1;
  become_free(freed_segment, freed_granule);
"""

FAULTS = (
    Fault("a freed block has no size", "B1",
          (("  make_free(s, first, size);\n", "  make_free(s, first, 0);\n"),)),
    Fault("a block that is too small serves", "B3",
          (("blocks[s][g].indexed & blocks[s][g].size >= n &\n", "blocks[s][g].indexed &\n"),
           ("blocks[s][g].indexed & blocks[s][g].size >= n & blocks[s][g].stream = t",
            "blocks[s][g].indexed & blocks[s][g].stream = t")), "rests kept"),
    Fault("what a split leaves is of another stream", "B4",
          (("  blocks[s][g].stream := owner[s];\n",
            "  for t: Stream do blocks[s][g].stream := t; end;\n"),)),
    Fault("the size of the upper neighbour is lost in a merge", "S1",
          (drop("      size := size + blocks[s][g + size].size;\n"),)),
    Fault("a free block is not put into the index", "P1",
          (("  blocks[s][g].indexed := true;\n", ""),)),
    Fault("a block stays in the index when it is handed out", "P1",
          (drop("  blocks[s][g].indexed := false;\n  blocks[s][g].listed := true;\n"),)),
    Fault("a freed block stays in the live table", "P5", (drop("    b.listed := false;\n"),)),
    Fault("a split leaves the lower block its size", "H2",
          (drop("    blocks[s][g].size := n;\n"),)),
    Fault("a block does not merge with its lower neighbour", "H5",
          (("    if below < g & blocks", "    if false & blocks"),)),
    Fault("an event is counted twice", "U1",
          (("  blocks[s][g].queued[t] := false;\n" + EVENT_DONE,
            EVENT_DONE.replace("count = 0", "count > 0").replace("count - 1", "count - 2")),)),
    Fault("a freed block stays live", "U2", (drop("    b.state := Pending;\n"),)),
    Fault("the uses of a freed block stay", "U3", (drop("      b.uses[t] := false;\n"),)),
    Fault("a block's own stream is a use", "U4", (drop(" & t != blocks[s][g].stream"),)),
    Fault("a block waits for one event whatever its uses", "U7",
          (("    b.event_count := events_fenced();\n", "    b.event_count := 1;\n"),)),
    Fault("an event that is done does not go back to its pool", "U9",
          (drop("  unused_events := unused_events + 1;\n"),)),
    Fault("a free is not counted", "L2", ((FREE_AT_ONCE, FREE_AT_ONCE.split("\n", 1)[1]),)),
    Fault("what became free stays active", "L4", (drop("  active := active - 1;\n"),)),
    Fault("a segment that went back stays counted", "L5",
          (drop("  segment_count := segment_count - 1;\n"),)),
    Fault("a free part is not counted", "L6",
          (drop("  if !is_whole(s) then inactive_split := inactive_split + 1; end;\n"),)),
    Fault("what waited stays counted", "L8", (drop("    pending := pending - 1;\n"),)),
    Fault("a segment is forgotten, and not given back", "D1", 
          (drop("  segment_count := segment_count - 1;\n  out[s] := false;\n"),)),
    Fault("a segment that the driver gave is dropped where the request can be served by now", "D1",
          (('rule "take"\n', 'rule "drop"\n  phase = Given & !lost & !freeing & '
            'anything_fits(asked_stream, asked_size)\n==>\nbegin\n  stop_asking();\nend;\n\n'
            'rule "take"\n'),), "two segments"),
    Fault("one of the uses has no event", "unordered_reuse",
          ((BEHIND_ALL, "  true\n"),)),
    Fault("an event is taken for done that is not", "unordered_reuse",
          (drop(" &\n  !works_on(s, g, t, Running) & !works_on(s, g, t, Ordered)"),)),
    Fault("the first event of several makes a block free", "unordered_reuse",
          (("  if blocks[s][g].event_count = 0 then\n", "  if true then\n"),)),
    Fault("a merge takes in a neighbour that waits (rmm#2489)", "unordered_reuse",
          (("    if blocks[s][g + size].state = Free then\n",
            "    if blocks[s][g + size].state != Live then\n"),)),
    Fault("a block is free before its events are recorded (cub#156)", "unordered_reuse",
          (("  freeing & forall t: Stream do !blocks[freed_segment][freed_granule].uses[t] end\n",
            "  freeing\n"),)),
    Fault("memory goes back without a wait for its stream", "freed_while_in_use",
          (drop(" & !may_be_in_use[owner[s]]"),)),
    Fault("nobody notes that a free block may be in use", "freed_while_in_use",
          (drop("  may_be_in_use[owner[s]] := true;\n"),)),
    Fault("a wait for a stream is over too early", "freed_while_in_use",
          (drop("    work[s][g][t] = Idle &\n"),)),
)
