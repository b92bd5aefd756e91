-- The life of a block: handed out, used by streams, freed behind events, merged, split, given back.
-- What Cairn promises itself holds in every state; each invariant begins with the id that it has in
-- invariants/catalogue/catalogue.h, or with the name that the judge of the simulated GPU has for
-- what would be wrong. README.md says what is modelled and what is not.
--
-- A rule is one step of the allocator, of its caller or of the GPU. What the allocator does under
-- its lock is several rules if it calls the driver in between; `freeing` keeps others out of those.
-- [call] in a rule's name is the driver call that the step makes, with `-` where it fails.

const
  segments: 2;       -- That the driver can give at a time.
  granules: 2;       -- Of a segment; sizes are counted in them.
  streams: 3;
  largest: 1;        -- Request.
  least_rest: 1;     -- What is left of a block after a request becomes a block from this size on.
  works: 3;          -- Pieces of work that are unfinished at a time; a piece is of one granule.
  events: segments * granules * (streams - 1);

type
  Stream: scalarset(streams);
  Segment: scalarset(segments);
  Granule: 0..granules - 1;
  Request: 1..largest;
  Length: 0..granules;
  State: enum {Nothing, Free, Live, Pending};
  Work: enum {Idle, Running, Ordered};  -- Ordered: later work of the segment's own stream waits.
  Phase: enum {Nobody, Asked, Given};
  Blocks: -1..segments * granules;      -- Counts; -1, so that one too few is seen.
  Block: record                         -- Stands at its first granule.
    state: State;
    size: Length;
    requested: Length;
    stream: Stream;
    indexed: boolean;                   -- In the free index of its stream.
    listed: boolean;                    -- In the live table.
    uses: array[Stream] of boolean;
    event_count: -1..streams;
    queued: array[Stream] of boolean;   -- An event for it is in the stream's queue.
  end;

var
  -- The allocator's.
  length: array[Segment] of Length;     -- 0: there is none.
  owner: array[Segment] of Stream;
  blocks: array[Segment] of array[Granule] of Block;
  may_be_in_use: array[Stream] of boolean;
  unused_events: -1..events + 1;
  lost: boolean;
  allocation: Blocks;
  active: Blocks;
  pending: Blocks;
  inactive_split: Blocks;
  segment_count: Blocks;
  freeing: boolean;                     -- A free fences the uses of this block.
  freed_segment: Segment;
  freed_granule: Granule;
  fenced: array[Stream] of boolean;
  named: array[Stream] of boolean;      -- A use that this free named, and takes back if it fails.
  phase: Phase;                         -- Of one request for a segment, without the lock.
  asked_size: Length;
  asked_stream: Stream;
  given: Segment;
  -- The driver's and the GPU's.
  out: array[Segment] of boolean;
  work: array[Segment] of array[Granule] of array[Stream] of Work;

-- ---- what is so ----

function is_whole(s: Segment): boolean;
begin
  return blocks[s][0].size = length[s];
end;

function is_in(s: Segment; first: Granule; g: Granule): boolean;
begin
  return first <= g & g < first + blocks[s][first].size;
end;

function works_on(s: Segment; first: Granule; t: Stream; how: Work): boolean;
begin
  return exists g: Granule do is_in(s, first, g) & work[s][g][t] = how end;
end;

function unfinished(): 0..segments * granules * streams;
var n: 0..segments * granules * streams;
begin
  n := 0;
  for s: Segment do for g: Granule do for t: Stream do
    if work[s][g][t] != Idle then n := n + 1; end;
  end; end; end;
  return n;
end;

function fits(s: Segment; g: Granule; t: Stream; n: Request): boolean;
begin
  return blocks[s][g].indexed & blocks[s][g].size >= n & blocks[s][g].stream = t;
end;

function anything_fits(t: Stream; n: Request): boolean;
begin
  return exists s: Segment do exists g: Granule do fits(s, g, t, n) end end;
end;

function is_releasable(s: Segment): boolean;
begin
  return length[s] > 0 & blocks[s][0].state = Free & is_whole(s);
end;

function events_of(s: Segment; g: Granule): 0..streams;
var n: 0..streams;
begin
  n := 0;
  for t: Stream do
    if blocks[s][g].queued[t] then n := n + 1; end;
  end;
  return n;
end;

function events_fenced(): 0..streams;
var n: 0..streams;
begin
  n := 0;
  for t: Stream do
    if fenced[t] then n := n + 1; end;
  end;
  return n;
end;

-- ---- what the allocator does to its books ----

procedure wipe(s: Segment; g: Granule);
begin
  blocks[s][g].state := Nothing;
  blocks[s][g].size := 0;
  blocks[s][g].requested := 0;
  undefine blocks[s][g].stream;
  blocks[s][g].indexed := false;
  blocks[s][g].listed := false;
  blocks[s][g].event_count := 0;
  for t: Stream do
    blocks[s][g].uses[t] := false;
    blocks[s][g].queued[t] := false;
  end;
end;

procedure make_free(s: Segment; g: Granule; size: Length);
begin
  blocks[s][g].state := Free;
  blocks[s][g].size := size;
  blocks[s][g].requested := 0;
  blocks[s][g].stream := owner[s];
  blocks[s][g].indexed := true;
  blocks[s][g].listed := false;
end;

-- The block is neither live nor pending any more: it merges with its free neighbours.
procedure become_free(s: Segment; g: Granule);
var
  first: Granule;
  size: Length;
begin
  first := g;
  size := blocks[s][g].size;
  active := active - 1;
  if g + size < length[s] then
    if blocks[s][g + size].state = Free then
      size := size + blocks[s][g + size].size;
      wipe(s, g + blocks[s][g].size);
      inactive_split := inactive_split - 1;
    end;
  end;
  for below: Granule do
    if below < g & blocks[s][below].state = Free & below + blocks[s][below].size = g then
      first := below;
      size := size + blocks[s][below].size;
      inactive_split := inactive_split - 1;
    end;
  end;
  wipe(s, g);
  make_free(s, first, size);
  if !is_whole(s) then inactive_split := inactive_split + 1; end;
  may_be_in_use[owner[s]] := true;
end;

-- Of a free block the lower part is handed out.
procedure hand_out(s: Segment; g: Granule; n: Request);
var
  rest: -granules..granules;
begin
  rest := blocks[s][g].size - n;
  if !is_whole(s) then inactive_split := inactive_split - 1; end;
  if rest >= least_rest then
    blocks[s][g].size := n;
    make_free(s, g + n, rest);
    inactive_split := inactive_split + 1;
  end;
  blocks[s][g].state := Live;
  blocks[s][g].requested := n;
  blocks[s][g].indexed := false;
  blocks[s][g].listed := true;
  allocation := allocation + 1;
  active := active + 1;
end;

procedure stop_freeing();
begin
  freeing := false;
  undefine freed_segment;
  undefine freed_granule;
  for t: Stream do
    fenced[t] := false;
    named[t] := false;
  end;
end;

procedure give_up_freeing();
begin
  unused_events := unused_events + events_fenced();
  for t: Stream do
    if named[t] then blocks[freed_segment][freed_granule].uses[t] := false; end;
  end;
  stop_freeing();
end;

procedure stop_asking();
begin
  phase := Nobody;
  asked_size := 0;
  undefine asked_stream;
  undefine given;
end;

startstate "nothing is held"
begin
  for s: Segment do
    length[s] := 0;
    undefine owner[s];
    out[s] := false;
    for g: Granule do
      wipe(s, g);
      for t: Stream do work[s][g][t] := Idle; end;
    end;
  end;
  for t: Stream do
    may_be_in_use[t] := false;
    fenced[t] := false;
    named[t] := false;
  end;
  unused_events := events;
  lost := false;
  allocation := 0;
  active := 0;
  pending := 0;
  inactive_split := 0;
  segment_count := 0;
  freeing := false;
  undefine freed_segment;
  undefine freed_granule;
  stop_asking();
end;

-- ---- the world: callers put work on streams, the GPU does it ----

ruleset s: Segment; g: Granule; t: Stream do

rule "world: launch"
  !lost & blocks[s][g].state = Live & unfinished() + blocks[s][g].size <= works &
  !(freeing & freed_segment = s & freed_granule = g)
==>
begin
  for h: Granule do
    if is_in(s, g, h) then work[s][h][t] := Running; end;
  end;
end;

rule "world: finish"
  work[s][g][t] != Idle
==>
begin
  work[s][g][t] := Idle;
end;

end;

ruleset own: Stream; t: Stream do

rule "world: order"
  own != t & exists s: Segment do length[s] > 0 & owner[s] = own &
    exists g: Granule do work[s][g][t] = Running end end
==>
begin
  for s: Segment do
    if length[s] > 0 & owner[s] = own then
      for g: Granule do
        if work[s][g][t] = Running then work[s][g][t] := Ordered; end;
      end;
    end;
  end;
end;

end;

-- ---- allocation ----

ruleset s: Segment; g: Granule; n: Request do

rule "hit"
  !lost & !freeing & blocks[s][g].indexed & blocks[s][g].size >= n &
  !exists r: Segment do exists h: Granule do
    fits(r, h, blocks[s][g].stream, n) & blocks[r][h].size < blocks[s][g].size
  end end
==>
begin
  hand_out(s, g, n);
end;

end;

ruleset t: Stream; n: Request do

rule "miss"
  !lost & !freeing & phase = Nobody & !anything_fits(t, n)
==>
begin
  phase := Asked;
  asked_size := n;
  asked_stream := t;
end;

rule "short [mem_info]"
  !lost & !freeing & phase = Nobody & !anything_fits(t, n) &
  forall s: Segment do !is_releasable(s) &
    forall g: Granule do events_of(s, g) = 0 end
  end
==>
begin
end;

end;

ruleset s: Segment do

rule "driver gives [malloc]"
  phase = Asked & !out[s]
==>
begin
  out[s] := true;
  given := s;
  phase := Given;
end;

end;

rule "driver refuses [-malloc]"
  phase = Asked
==>
begin
  stop_asking();
end;

rule "take"
  phase = Given & !lost & !freeing
==>
var n: Request;
begin
  length[given] := granules;
  owner[given] := asked_stream;
  segment_count := segment_count + 1;
  make_free(given, 0, granules);
  n := asked_size;
  hand_out(given, 0, n);
  stop_asking();
end;

rule "leave what a lost device gave"
  phase = Given & lost & !freeing
==>
begin
  stop_asking();
end;

-- ---- free ----

ruleset s: Segment; g: Granule; t: Stream do

rule "use"
  !freeing & blocks[s][g].state = Live & t != blocks[s][g].stream & !blocks[s][g].uses[t]
==>
begin
  blocks[s][g].uses[t] := true;
end;

end;

ruleset s: Segment; g: Granule do

-- Callers name the streams whose work on the block is not ordered before its own stream's.
rule "free begins"
  !freeing & !lost & blocks[s][g].state = Live &
  forall t: Stream do
    works_on(s, g, t, Running) -> t = owner[s] | blocks[s][g].uses[t]
  end
==>
begin
  freeing := true;
  freed_segment := s;
  freed_granule := g;
end;

end;

ruleset s: Segment; g: Granule; t: Stream do

-- free_on: what the stream did so far is a use, for this free alone.
rule "free begins, after a stream's work"
  !freeing & !lost & blocks[s][g].state = Live & t != owner[s] & !blocks[s][g].uses[t] &
  forall u: Stream do
    works_on(s, g, u, Running) -> u = owner[s] | u = t | blocks[s][g].uses[u]
  end
==>
begin
  freeing := true;
  freed_segment := s;
  freed_granule := g;
  named[t] := true;
  blocks[s][g].uses[t] := true;
end;

end;

ruleset s: Segment; g: Granule do

rule "free on a lost device"
  !freeing & lost & blocks[s][g].state = Live
==>
begin
  for t: Stream do blocks[s][g].uses[t] := false; end;
  allocation := allocation - 1;
  become_free(s, g);
end;

end;

ruleset t: Stream do

rule "fence [event_record]"
  freeing & !lost & !fenced[t] & blocks[freed_segment][freed_granule].uses[t] & unused_events > 0
==>
begin
  fenced[t] := true;
  unused_events := unused_events - 1;
end;

rule "fence fails [-event_record]"
  freeing & !fenced[t] & blocks[freed_segment][freed_granule].uses[t]
==>
begin
  give_up_freeing();
end;

end;

rule "free at once"
  freeing & forall t: Stream do !blocks[freed_segment][freed_granule].uses[t] end
==>
begin
  allocation := allocation - 1;
  become_free(freed_segment, freed_granule);
  stop_freeing();
end;

rule "free behind events"
  freeing & events_fenced() > 0 &
  forall t: Stream do blocks[freed_segment][freed_granule].uses[t] -> fenced[t] end
==>
begin
  alias b: blocks[freed_segment][freed_granule] do
    b.state := Pending;
    b.listed := false;
    b.event_count := events_fenced();
    for t: Stream do
      b.uses[t] := false;
      b.queued[t] := fenced[t];
    end;
  end;
  allocation := allocation - 1;
  pending := pending + 1;
  stop_freeing();
end;

-- ---- events ----

ruleset s: Segment; g: Granule; t: Stream do

rule "event done [event_done]"
  !lost & !freeing & blocks[s][g].queued[t] &
  !works_on(s, g, t, Running) & !works_on(s, g, t, Ordered)
==>
begin
  blocks[s][g].queued[t] := false;
  blocks[s][g].event_count := blocks[s][g].event_count - 1;
  unused_events := unused_events + 1;
  if blocks[s][g].event_count = 0 then
    pending := pending - 1;
    become_free(s, g);
  end;
end;

rule "event not done [event_not_done]"
  !lost & !freeing & blocks[s][g].queued[t]
==>
begin
end;

end;

-- ---- memory goes back ----

ruleset t: Stream do

rule "wait for a stream [stream_sync]"
  !lost & !freeing & may_be_in_use[t] &
  forall s: Segment do forall g: Granule do
    work[s][g][t] = Idle &
    (length[s] > 0 & owner[s] = t -> forall u: Stream do work[s][g][u] != Ordered end)
  end end
==>
begin
  may_be_in_use[t] := false;
end;

end;

ruleset s: Segment do

rule "give back [free]"
  !lost & !freeing & is_releasable(s) & !may_be_in_use[owner[s]]
==>
begin
  wipe(s, 0);
  length[s] := 0;
  undefine owner[s];
  segment_count := segment_count - 1;
  out[s] := false;
end;

end;

-- ---- the driver fails ----

rule "a call fails [-call]"
  !lost & !freeing
==>
begin
end;

rule "a call fails for good [-sticky]"
  !lost
==>
begin
  lost := true;
  if freeing then give_up_freeing(); end;
  for s: Segment do for g: Granule do for t: Stream do
    work[s][g][t] := Idle;
  end; end; end;
end;

-- ---- what holds ----

invariant "B1: a block has a size, and what is no block has none"
  forall s: Segment do forall g: Granule do
    (blocks[s][g].state = Nothing) = (blocks[s][g].size = 0)
  end end;

invariant "B3: a live block is as large as what was requested of it"
  forall s: Segment do forall g: Granule do
    blocks[s][g].state = Live -> blocks[s][g].requested > 0 & blocks[s][g].requested <= blocks[s][g].size
  end end;

invariant "B4: a block has the stream of its segment"
  forall s: Segment do forall g: Granule do
    blocks[s][g].state != Nothing -> blocks[s][g].stream = owner[s]
  end end;

invariant "S1: the blocks cover their segment, without gap or overlap"
  forall s: Segment do
    (length[s] > 0 -> blocks[s][0].state != Nothing) &
    forall g: Granule do
      blocks[s][g].state != Nothing ->
        g + blocks[s][g].size <= length[s] &
        (g + blocks[s][g].size < length[s] -> blocks[s][g + blocks[s][g].size].state != Nothing) &
        forall h: Granule do h > g & is_in(s, g, h) -> blocks[s][h].state = Nothing end
    end
  end;

invariant "P1: what is free is in the index, and nothing else"
  forall s: Segment do forall g: Granule do
    blocks[s][g].indexed = (blocks[s][g].state = Free)
  end end;

invariant "P5: what is live is in the live table, and nothing else"
  forall s: Segment do forall g: Granule do
    blocks[s][g].listed = (blocks[s][g].state = Live)
  end end;

invariant "H2: live blocks do not overlap"
  forall s: Segment do forall g: Granule do forall h: Granule do
    g != h & blocks[s][g].state = Live & blocks[s][h].state = Live -> !is_in(s, g, h)
  end end end;

invariant "H5: neighbours are not both free"
  forall s: Segment do forall g: Granule do
    blocks[s][g].state = Free & g + blocks[s][g].size < granules ->
      blocks[s][g + blocks[s][g].size].state != Free
  end end;

invariant "U1: no block waits for fewer than no events"
  forall s: Segment do forall g: Granule do blocks[s][g].event_count >= 0 end end;

invariant "U2: what is live or in the index waits for no event"
  forall s: Segment do forall g: Granule do
    blocks[s][g].state = Live | blocks[s][g].indexed -> blocks[s][g].event_count = 0
  end end;

invariant "U3: only what is live has uses"
  forall s: Segment do forall g: Granule do forall t: Stream do
    blocks[s][g].uses[t] -> blocks[s][g].state = Live
  end end end;

invariant "U4: no use is of the block's own stream"
  forall s: Segment do forall g: Granule do
    blocks[s][g].state != Nothing -> !blocks[s][g].uses[blocks[s][g].stream]
  end end;

invariant "U7: a block waits for the events that are queued for it"
  forall s: Segment do forall g: Granule do blocks[s][g].event_count = events_of(s, g) end end;

function events_queued(): 0..segments * granules * streams;
var n: 0..segments * granules * streams;
begin
  n := 0;
  for s: Segment do for g: Granule do n := n + events_of(s, g); end; end;
  return n;
end;

invariant "U9: an event is in its pool, in a queue or about to be, once"
  unused_events + events_queued() + events_fenced() = events;

function count_of(what: State): Blocks;
var n: Blocks;
begin
  n := 0;
  for s: Segment do for g: Granule do
    if blocks[s][g].state = what then n := n + 1; end;
  end; end;
  return n;
end;

function parts_free(): Blocks;
var n: Blocks;
begin
  n := 0;
  for s: Segment do for g: Granule do
    if blocks[s][g].state = Free & !is_whole(s) then n := n + 1; end;
  end; end;
  return n;
end;

function segments_held(): Blocks;
var n: Blocks;
begin
  n := 0;
  for s: Segment do
    if length[s] > 0 then n := n + 1; end;
  end;
  return n;
end;

invariant "L2: allocation counts the live blocks"
  allocation = count_of(Live);

invariant "L4: active counts the blocks that are not free"
  active = count_of(Live) + count_of(Pending);

invariant "L5: segment counts the segments"
  segment_count = segments_held();

invariant "L6: inactive_split counts the free parts of segments"
  inactive_split = parts_free();

invariant "L8: pending counts the blocks that wait"
  pending = count_of(Pending);

invariant "D1: the segments are what the driver has out"
  forall s: Segment do
    (length[s] > 0 -> out[s]) &
    (out[s] & !lost -> length[s] > 0 | (phase = Given & given = s))
  end;

invariant "unordered_reuse: work on a free block is its own stream's, or that stream waits for it"
  forall s: Segment do forall g: Granule do forall t: Stream do
    blocks[s][g].state = Free & t != owner[s] -> !works_on(s, g, t, Running)
  end end end;

invariant "freed_while_in_use: no work is on memory that the driver has back"
  forall s: Segment do forall g: Granule do forall t: Stream do
    !out[s] -> work[s][g][t] = Idle
  end end end;
