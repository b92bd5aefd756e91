// The page: what is shown of which moment, and what mouse and keys do.

const $ = id => document.getElementById(id);

class Page {
  constructor(run) {
    this.run = run;
    this.timeline = new Timeline(run, $('timeline'));
    this.map = new BlockMapView(run, $('map'));
    this.moment = run.peakReserved;
    this.hovered = null;      // The moment under the pointer.
    this.marked = null;       // The block under the pointer.
    this.keptAddress = null;  // In the segment that was clicked on.
    this.isDue = false;
    this.showHeadlines();
    $('slider').max = $('number').max = run.last;
    $('map-space').style.minHeight = Math.max(this.map.leastHeight(), 210) + 'px';
    this.listen();
  }

  // ---- the whole run ----
  showHeadlines() {
    const all = this.run.figures;
    $('file').textContent = all.file.slice(all.file.lastIndexOf('/') + 1);
    $('file').title = all.file;
    document.title = 'Cairn: ' + all.file;
    const skipped = Object.entries(all.skipped).map(([what, count]) => `${inCount(count)} ${what}`);
    $('about').textContent = `cairn ${this.run.version}: the production allocator on a simulated ` +
        `GPU${skipped.length > 0 ? '; left out: ' + skipped.join(', ') : ''}`;
    const perOperation = all.fastest_ns_per_operation;
    const calls = Object.values(all.driver_calls).reduce((sum, count) => sum + count, 0);
    this.addTile(inWords(all.peak_allocated), 'peak allocated', 'allocated');
    this.addTile(inWords(all.peak_reserved), 'peak reserved', 'reserved');
    this.addTile(all.peak_allocated > 0 ? (all.peak_reserved / all.peak_allocated).toFixed(3) : '-',
                 'reserved / allocated');
    this.addTile(inCount(all.operations),
                 `operations: ${inCount(all.allocations)} alloc, ${inCount(all.frees)} free`);
    this.addTile(inSeconds(perOperation * all.operations * 1e-9),
                 `${inCount(Math.round(perOperation))} ns each, fastest of ${all.repetitions}`);
    this.addTile(inCount(calls), 'driver calls');
  }
  addTile(value, words, colouredAs) {
    const tile = document.createElement('div');
    tile.className = 'tile';
    const [number, text] = [document.createElement('b'), document.createElement('span')];
    number.textContent = value;
    text.textContent = words;
    if (colouredAs) {
      const mark = document.createElement('i');
      mark.style.background = `var(--${colouredAs})`;
      text.prepend(mark);
    }
    tile.append(number, text);
    $('tiles').append(tile);
  }

  // ---- one moment ----
  goTo(moment) {
    this.moment = Math.min(Math.max(Math.round(moment) || 0, 0), this.run.last);
    this.timeline.reveal(this.moment);
    this.marked = null;
    $('tip').hidden = true;
    this.drawSoon();
  }
  drawSoon() {
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => {
      this.isDue = false;
      this.draw();
    });
  }
  draw() {
    const {run, moment} = this;
    this.timeline.draw(moment, this.hovered);
    run.goTo(moment);
    const block = this.marked ?? this.blockOfOperation();
    this.shown = this.segmentToShow();
    this.map.draw(moment, {block, segment: this.shown});
    this.drawStrip(block);
    this.showMoment();
    this.showCalls();
    this.showLegend();
    $('slider').value = moment;
    if (document.activeElement !== $('number')) $('number').value = moment;
    $('all').hidden = this.timeline.to - this.timeline.from >= run.last;
  }

  // The block that the operation made: handed out, or what it became when it was freed.
  blockOfOperation() {
    const {run, moment} = this;
    if (moment === 0 || run.address[moment] === 0) return null;
    const segment = run.segmentOf(run.address[moment]);
    return segment && blockHolding(run, segment, run.address[moment]);
  }
  segmentToShow() {
    const {run, moment} = this;
    return (this.keptAddress !== null && run.segmentOf(this.keptAddress)) ||
        run.segmentOf(run.address[moment]) || run.segments()[0] || null;
  }

  whyShown() {
    const {run, moment, shown} = this;
    if (this.keptAddress !== null && run.segmentOf(this.keptAddress) === shown) {
      return 'kept (Esc lets it go)';
    }
    return run.segmentOf(run.address[moment]) === shown ? 'that of the operation' : 'the first';
  }

  // The blocks of one segment, over the whole width.
  drawStrip(marked) {
    const {context, width, height} = fitted($('segment'));
    const {run, shown} = this;
    $('segment-title').textContent = '';
    if (!shown) return;
    const title = document.createElement('b');
    title.textContent = 'Segment ' + inHex(shown.address);
    const blocks = run.blocksOf(shown);
    const live = blocks.filter(block => run.blockState[block] !== FREE).length;
    $('segment-title').append(title, ` ${inWords(shown.size)}, ` + [
      this.poolOf(shown), this.streamOf(shown.stream), counted(live, 'live block'),
      counted(blocks.length - live, 'free one'),
      this.whyShown()].join(', '));
    const {palette} = this.map;
    palette.segmentStream = shown.stream;
    context.fillStyle = palette.free;
    context.fillRect(0, 0, width, height);
    for (const block of blocks) {
      const from = (run.blockAddress[block] - shown.address) / shown.size * width;
      const size = run.blockSize[block] / shown.size * width;
      if (run.blockState[block] !== FREE) {
        context.fillStyle = palette.of(block);
        context.fillRect(from, 0, Math.max(size - (size > 3 ? 1 : 0), 0.5), height);
        const unused = run.blockUnused[block] / shown.size * width;
        context.fillStyle = palette.unused;
        if (unused >= 1) context.fillRect(from + size - unused - 1, 0, unused, height);
      }
      if (block !== marked) continue;
      context.strokeStyle = colour('accent');
      context.lineWidth = 2;
      context.strokeRect(from + 1, 1, Math.max(size - 2, 2), height - 2);
    }
  }

  showMoment() {
    const {run, moment} = this;
    $('moment-title').textContent = moment === 0 ? 'At the start'
        : `After operation ${inCount(moment)} of ${inCount(run.last)}`;
    $('maps-title').textContent = moment === 0 ? 'Map at the start'
        : `Map after operation ${inCount(moment)}`;
    $('operation').textContent = this.describe(moment);
    const segments = run.segmentAt.size;
    let live = 0;
    for (const block of run.blockAt.values()) if (run.blockState[block] !== FREE) ++live;
    fillTable($('state'), [
      ['Reserved', inWords(run.reserved[moment])],
      ['Active', inWords(run.active[moment])],
      ['Allocated', inWords(run.allocated[moment])],
      ['Requested', inWords(run.requested[moment])],
      ['Free', inWords(run.freeBytes[moment])],
      ['Largest free block', inWords(run.largestFree[moment])],
      ['Fragmentation', inPercent(run.fragmentation[moment])],
      ['Of free memory', inPercent(run.freeFragmentation[moment])],
      ['Segments', inCount(segments)],
      ['Live, free blocks', `${inCount(live)}, ${inCount(run.blockAt.size - live)}`]]);
  }

  describe(moment) {
    const {run} = this;
    if (moment === 0) return 'What was there before the first operation.';
    const kind = run.kind[moment];
    const name = run.names[run.slot[moment]];
    const where = run.address[moment] > 0 ? ` at ${inHex(run.address[moment])}` : '';
    const line = run.line[moment] > 0 ? `Line ${inCount(run.line[moment])}: ` : '';
    const device = run.deviceCount > 1 ? ` of device ${run.device[moment]}` : '';
    if (kind === FREE_BLOCK) return `${line}free ${name}${where}`;
    if (kind === USE) return `${line}use ${name} on ${run.streams[run.stream[moment]].name}`;
    if (kind !== ALLOC && kind !== FAILED_ALLOC) return line + KINDS[kind];
    const outcome = kind === FAILED_ALLOC ? ': out of memory, as expected' : where;
    return `${line}alloc ${name}, ${inWords(run.size[moment])} ` +
        `on ${run.streams[run.stream[moment]].name}${device}${outcome}`;
  }

  showCalls() {
    const {run, moment} = this;
    const rows = this.timeline.kinds.map(kind => [
      run.callNames[kind], inCount(run.callsUntil(kind, moment)),
      inCount(run.calls.get(kind).length)]);
    const none = [['none', '0', '0']];
    fillTable($('calls'), rows.length > 0 ? rows : none, ['Driver calls', 'so far', 'in all']);
  }

  showLegend() {
    const {palette} = this.map;
    $('legend').replaceChildren(...palette.legend().map(({colour, text, isLine}) => {
      const entry = document.createElement('span');
      const mark = document.createElement('i');
      mark.style.background = colour;
      mark.className = isLine ? 'line' : '';
      entry.append(mark, text);
      return entry;
    }));
  }

  poolOf(segment) {
    const device = this.run.deviceCount > 1 ? ` of device ${segment.device}` : '';
    return `${segment.isLarge ? 'large' : 'small'} pool${device}`;
  }
  streamOf(index) {
    const stream = this.run.streams[index];
    return `stream ${stream.name}` + (stream.id > 0 ? ` (${inHex(stream.id)})` : '');
  }

  // ---- what is under the pointer ----
  showBlock(event, segment, block) {
    const {run} = this;
    this.marked = block;
    const isFree = run.blockState[block] === FREE;
    const made = run.blockMoment[block];
    const rows = [
      ['Address', inHex(run.blockAddress[block])],
      ['Size', inBytes(run.blockSize[block])],
      ['Requested', isFree ? '-' : inBytes(run.requestedOf(block))],
      ['State', STATES[run.blockState[block]]],
      ['Stream', this.streamOf(segment.stream)],
      [isFree ? 'So since' : 'Made by', made === 0 ? 'the start'
          : `operation ${inCount(made)}`],
      ['', made === 0 ? '' : this.describe(made)],
      ['Segment', `${inHex(segment.address)}, ${inWords(segment.size)}, ${this.poolOf(segment)}`],
      ['', segment.moment === 0 ? 'there at the start'
          : `held since operation ${inCount(segment.moment)}`]];
    this.showTip(event, rows);
    this.drawSoon();
  }
  showTip(event, rows) {
    const tip = $('tip');
    const table = document.createElement('table');
    fillTable(table, rows.filter(([, value]) => value !== ''));
    tip.replaceChildren(table);
    tip.hidden = false;
    const {width, height} = tip.getBoundingClientRect();
    const right = event.clientX + 14 + width > innerWidth;
    const below = event.clientY + 14 + height > innerHeight;
    tip.style.left = (right ? Math.max(event.clientX - 10 - width, 4) : event.clientX + 14) + 'px';
    tip.style.top = (below ? Math.max(event.clientY - 10 - height, 4) : event.clientY + 14) + 'px';
  }
  leave() {
    this.marked = this.hovered = null;
    $('tip').hidden = true;
    this.drawSoon();
  }

  // ---- mouse and keys ----
  listen() {
    this.listenToTimeline();
    this.listenToMaps();
    const {run} = this;
    const clicks = {'to-reserved': () => this.goTo(run.peakReserved),
                    'to-allocated': () => this.goTo(run.peakAllocated),
                    back: () => this.goTo(this.moment - 1), forth: () => this.goTo(this.moment + 1),
                    all: () => this.zoom(Infinity)};
    for (const [id, act] of Object.entries(clicks)) $(id).addEventListener('click', act);
    $('slider').addEventListener('input', () => this.goTo(+$('slider').value));
    $('number').addEventListener('input', () => this.goTo(+$('number').value));
    $('colouring').addEventListener('change', () => this.colourBy($('colouring').value));
    addEventListener('keydown', event => this.pressed(event));
    addEventListener('resize', () => this.drawSoon());
    addEventListener('hashchange', () => this.followLink());
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.drawSoon());
  }

  listenToTimeline() {
    const canvas = $('timeline');
    const momentOf = event => this.timeline.momentAt(event.offsetX);
    canvas.addEventListener('pointerdown', event => {
      canvas.setPointerCapture(event.pointerId);
      this.goTo(momentOf(event));
    });
    canvas.addEventListener('pointermove', event => {
      if (event.buttons & 1) return this.goTo(momentOf(event));
      this.hovered = momentOf(event);
      const {run, hovered} = this;
      this.showTip(event, [
        ['Operation', inCount(hovered)], ['', this.describe(hovered)],
        ['Reserved', inWords(run.reserved[hovered])],
        ['Allocated', inWords(run.allocated[hovered])],
        ['Fragmentation', inPercent(run.fragmentation[hovered])]]);
      this.drawSoon();
    });
    canvas.addEventListener('pointerleave', () => this.leave());
    canvas.addEventListener('dblclick', () => this.zoom(Infinity));
    canvas.addEventListener('wheel', event => {
      event.preventDefault();
      const {timeline} = this;
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        timeline.pan((event.deltaX || event.deltaY) / 1000 * (timeline.to - timeline.from));
      } else {
        timeline.zoom(Math.exp(event.deltaY / 400), momentOf(event));
      }
      this.drawSoon();
    }, {passive: false});
  }

  listenToMaps() {
    $('map').addEventListener('pointermove', event => {
      const found = this.map.find(event.offsetX, event.offsetY);
      if (found) this.showBlock(event, found.segment, found.block); else this.leave();
    });
    $('map').addEventListener('click', event => {
      const found = this.map.find(event.offsetX, event.offsetY);
      this.keptAddress = found ? found.segment.address : null;
      this.drawSoon();
    });
    $('segment').addEventListener('pointermove', event => {
      if (!this.shown) return;
      const part = event.offsetX / $('segment').clientWidth;
      const block = blockHolding(this.run, this.shown,
                                 this.shown.address + part * this.shown.size);
      this.showBlock(event, this.shown, block);
    });
    for (const id of ['map', 'segment']) $(id).addEventListener('pointerleave', () => this.leave());
  }

  zoom(factor) {
    this.timeline.zoom(factor, this.moment);
    this.drawSoon();
  }
  colourBy(colouring) {
    $('colouring').value = this.map.colouring = colouring;
    this.drawSoon();
  }

  pressed(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const isTyping = event.target === $('number') || event.target === $('colouring');
    const {run, moment} = this;
    const step = event.shiftKey ? 100 : 1;
    const next = {state: 'stream', stream: 'age', age: 'state'};
    const keys = {
      arrowleft: () => this.goTo(moment - step), arrowright: () => this.goTo(moment + step),
      home: () => this.goTo(0), end: () => this.goTo(run.last),
      p: () => this.goTo(run.peakReserved), a: () => this.goTo(run.peakAllocated),
      n: () => this.goTo(run.nextCall(moment, 1)), b: () => this.goTo(run.nextCall(moment, -1)),
      '+': () => this.zoom(0.5), '=': () => this.zoom(0.5), '-': () => this.zoom(2),
      0: () => this.zoom(Infinity), c: () => this.colourBy(next[this.map.colouring]),
      escape: () => { this.keptAddress = null; this.drawSoon(); }};
    const act = keys[event.key.toLowerCase()];
    if (!act || isTyping) return;
    event.preventDefault();
    act();
  }

  // #N is moment N.
  followLink() {
    const asked = /^#(\d+)$/.exec(location.hash);
    if (asked) this.goTo(+asked[1]);
  }
}

function fillTable(table, rows, head) {
  table.replaceChildren();
  if (head) {
    const row = table.createTHead().insertRow();
    for (const text of head) {
      row.append(document.createElement('th'));
      row.lastChild.textContent = text;
    }
  }
  const body = table.createTBody();
  for (const [name, ...values] of rows) {
    const row = body.insertRow();
    row.append(document.createElement('th'));
    row.lastChild.textContent = name;
    for (const value of values) row.insertCell().textContent = value;
  }
}

// What a test reads: what was drawn, when, and what went wrong.
function report(facts) {
  Object.assign(document.body.dataset, facts);
}
addEventListener('error', event => {
  report({fault: event.message});
  $('fault').hidden = false;
  $('fault').textContent = 'This page failed: ' + event.message;
});

function start() {
  const read = id => JSON.parse($(id).textContent);
  const run = new Run(read('figures'), read('run'), $('log').textContent);
  $('log').remove();
  const page = new Page(run);
  page.followLink();
  page.draw();
  report({operations: run.last, peakReserved: run.reserved[run.peakReserved],
          peakAllocated: run.allocated[run.peakAllocated],
          calls: [...run.calls.values()].reduce((sum, moments) => sum + moments.length, 0),
          firstDrawMs: performance.now().toFixed(0)});
  return page;
}
const page = start();
