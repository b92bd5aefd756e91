// The map of one moment. Each pool of each device is a panel; in it the segments lie one after
// another in order of address and run on from row to row, at one scale for the whole run.

const ROW = 19, BAR = 13, LABEL = 20, PAD = 8;

class BlockMapView {
  constructor(run, canvas) {
    this.run = run;
    this.canvas = canvas;
    this.colouring = 'state';
    this.panels = this.panelsOfRun();
  }

  // The panels that ever have a segment, each with the most bytes and segments it ever has.
  panelsOfRun() {
    const panels = new Map();
    for (let change = 0; change < this.run.changeKind.length; ++change) {
      const segment = this.run.changeSegment[change];
      if (!segment || this.run.changeKind[change] !== ADDED) continue;
      const key = segment.device * 2 + (segment.isLarge ? 0 : 1);
      if (!panels.has(key)) {
        panels.set(key, {key, device: segment.device, isLarge: segment.isLarge, live: new Map(),
                         bytes: 0, most: 0, mostSegments: 0});
      }
    }
    this.run.changeKind.forEach((kind, change) => {
      const segment = this.run.changeSegment[change];
      if (!segment) return;
      for (const panel of panels.values()) this.countIn(panel, kind, segment);
    });
    return [...panels.values()].sort((a, b) => a.key - b.key);
  }
  countIn(panel, kind, segment) {
    if (kind === REMOVED) {
      panel.bytes -= panel.live.get(segment.address) || 0;
      panel.live.delete(segment.address);
      return;
    }
    if (segment.device !== panel.device || segment.isLarge !== panel.isLarge) return;
    panel.live.set(segment.address, segment.size);
    panel.bytes += segment.size;
    panel.most = Math.max(panel.most, panel.bytes);
    panel.mostSegments = Math.max(panel.mostSegments, panel.live.size);
  }

  leastHeight() {
    return this.panels.length * (LABEL + 3 * ROW + PAD);
  }

  // Gives each panel its rows, and each segment its place in them.
  layOut(width, height) {
    this.width = width;
    const weight = panel => panel.isLarge ? 2 : 1;
    const weights = this.panels.reduce((sum, panel) => sum + weight(panel), 0);
    const free = height - this.panels.length * (LABEL + PAD);
    let top = 0;
    for (const panel of this.panels) {
      panel.rows = Math.max(Math.floor(free * weight(panel) / weights / ROW), 1);
      panel.top = top + LABEL;
      panel.places = [];
      panel.used = 0;
      const pixels = panel.rows * width;
      panel.gap = pixels > 10 * panel.mostSegments ? 3 : 0;
      panel.bytesPerPixel = panel.most / (pixels - panel.mostSegments * (panel.gap + 1));
      top = panel.top + panel.rows * ROW + PAD;
    }
  }
  place(segment) {
    const panel = this.panels.find(
        each => each.device === segment.device && each.isLarge === segment.isLarge);
    const length = Math.max(segment.size / panel.bytesPerPixel, 1);
    panel.places.push({segment, begin: panel.used, length});
    panel.used += length + panel.gap;
  }

  // ---- drawing ----
  draw(moment, marked) {
    const {context, width, height} = fitted(this.canvas);
    this.context = context;
    this.layOut(width, height);
    this.run.goTo(moment);
    this.palette = new Palette(this.run, this.colouring, moment);
    for (const segment of this.run.segments()) this.place(segment);
    for (const panel of this.panels) {
      this.drawLabel(panel);
      for (const place of panel.places) this.drawSegment(panel, place);
      for (const place of panel.places) this.mark(panel, place, marked);
    }
  }

  drawLabel(panel) {
    const {context} = this;
    const device = this.run.deviceCount > 1 ? `Device ${panel.device}, ` : '';
    const name = `${device}${panel.isLarge ? 'large' : 'small'} pool`;
    const bytes = panel.places.reduce((sum, place) => sum + place.segment.size, 0);
    context.textBaseline = 'alphabetic';
    context.textAlign = 'left';
    context.fillStyle = colour('text');
    const title = name[0].toUpperCase() + name.slice(1);
    context.font = '600 11px system-ui, sans-serif';
    context.fillText(title, 0, panel.top - 7);
    const x = context.measureText(title).width + 8;
    context.font = '11px system-ui, sans-serif';
    context.fillStyle = colour('soft');
    context.fillText(`${counted(panel.places.length, 'segment')}, ${inWords(bytes)}; a row is ` +
                     inWords(panel.bytesPerPixel * this.width, 1), x, panel.top - 7);
  }

  // Calls draw(x, y, width) for each row that [begin, end) of a panel's pixels covers.
  pieces(panel, begin, end, draw) {
    for (let row = Math.floor(begin / this.width); begin < end; ++row) {
      const x = begin - row * this.width;
      const width = Math.min(end - begin, this.width - x);
      draw(x, panel.top + row * ROW, width);
      begin += width;
    }
  }
  fill(panel, begin, end, style) {
    this.context.fillStyle = style;
    this.pieces(panel, begin, end, (x, y, width) => this.context.fillRect(x, y, width, BAR));
  }

  drawSegment(panel, place) {
    const {run, context, palette} = this;
    const {segment, begin, length} = place;
    palette.segmentStream = segment.stream;
    this.fill(panel, Math.round(begin), Math.round(begin + length), palette.free);
    for (const block of run.blocksOf(segment)) {
      if (run.blockState[block] === FREE) continue;
      const from = begin + (run.blockAddress[block] - segment.address) / panel.bytesPerPixel;
      const to = from + run.blockSize[block] / panel.bytesPerPixel;
      this.drawBlock(panel, block, from, to);
    }
    if (run.streams.length < 2) return;
    context.fillStyle = palette.ofStream(segment.stream);
    this.pieces(panel, Math.round(begin), Math.round(begin + length),
                (x, y, width) => context.fillRect(x, y + BAR + 1, width, 3));
  }

  // What is narrower than a pixel is drawn as faint as it is narrow.
  drawBlock(panel, block, from, to) {
    const {context, palette, run} = this;
    if (to - from < 1.5) {
      context.globalAlpha = Math.min(to - from, 1);
      this.fill(panel, Math.floor(from), Math.floor(from) + 1, palette.of(block));
      context.globalAlpha = 1;
      return;
    }
    const left = Math.round(from), right = Math.round(to);
    this.fill(panel, left, right - (right - left > 3 ? 1 : 0), palette.of(block));
    const unused = Math.round(run.blockUnused[block] / panel.bytesPerPixel);
    if (unused < 2) return;
    this.fill(panel, right - 1 - unused, right - 1, palette.unused);
  }

  // An outline around the block, or the segment, that is marked.
  mark(panel, place, {block, segment}) {
    const {context, run} = this;
    const outline = (begin, end, style) => {
      context.strokeStyle = style;
      context.lineWidth = 1.5;
      this.pieces(panel, begin, end, (x, y, width) => context.strokeRect(
          x - 1, y - 1, Math.max(width, 3) + 1, BAR + 2));
    };
    if (segment && segment.address === place.segment.address) {
      outline(Math.round(place.begin), Math.round(place.begin + place.length), colour('soft'));
    }
    if (block === null || block === undefined) return;
    const offset = run.blockAddress[block] - place.segment.address;
    if (offset < 0 || offset >= place.segment.size) return;
    const begin = place.begin + offset / panel.bytesPerPixel;
    outline(Math.floor(begin), Math.ceil(begin + run.blockSize[block] / panel.bytesPerPixel),
            colour('accent'));
  }

  // ---- what is under the pointer ----
  find(x, y) {
    const panel = this.panels.find(
        each => y >= each.top && y < each.top + each.rows * ROW);
    if (!panel || !panel.places) return null;
    const at = Math.floor((y - panel.top) / ROW) * this.width + x;
    const place = panel.places.find(each => at < each.begin + each.length + panel.gap);
    if (!place) return null;
    const address = place.segment.address + Math.max(at - place.begin, 0) * panel.bytesPerPixel;
    return {segment: place.segment, block: blockHolding(this.run, place.segment, address)};
  }
}

function blockHolding(run, segment, address) {
  const blocks = run.blocksOf(segment);
  return blocks.find(block => address < run.blockAddress[block] + run.blockSize[block]) ??
      blocks[blocks.length - 1];
}

// Colours of blocks: by state, by stream, or by age.
class Palette {
  constructor(run, colouring, moment) {
    this.run = run;
    this.colouring = colouring;
    this.moment = moment;
    this.free = colour('free');
    this.unused = colour('unused');
    this.states = [colour('allocated'), colour('pending'), this.free];
    this.hues = [1, 2, 3, 4, 5, 6].map(i => colour('stream-' + i));
    this.ages = [1, 2, 3, 4, 5].map(i => colour('age-' + i));
  }
  ofStream(stream) {
    return this.hues[stream % this.hues.length];
  }
  // By how many operations ago it was made: up to 10, 100, 1,000, 10,000, or more.
  ageClass(block) {
    const age = this.moment - this.run.blockMoment[block];
    return age <= 10 ? 0 : age <= 100 ? 1 : age <= 1000 ? 2 : age <= 10000 ? 3 : 4;
  }
  of(block) {
    if (this.colouring === 'age') return this.ages[this.ageClass(block)];
    if (this.colouring === 'stream') return this.ofStream(this.segmentStream);
    return this.states[this.run.blockState[block]];
  }
  // Colours and what they mean; `isLine`: of the lines below the blocks.
  legend() {
    const streams = this.run.streams.map(
        (stream, i) => ({colour: this.ofStream(i), text: stream.name, isLine: true}));
    if (streams.length > this.hues.length) streams.splice(this.hues.length);
    const lines = this.run.streams.length > 1 ? streams : [];
    if (this.colouring === 'stream') return streams.map(entry => ({...entry, isLine: false}));
    if (this.colouring === 'age') {
      const texts = ['made at most 10', '100', '1,000', '10,000', 'more operations ago'];
      return [...texts.map((text, i) => ({colour: this.ages[i], text})), ...lines];
    }
    const states = [{colour: this.states[ALLOCATED], text: 'allocated'},
                    {colour: this.unused, text: 'not requested'},
                    {colour: this.free, text: 'free'}];
    if (this.run.hasPending) {
      states.push({colour: this.states[PENDING], text: 'waiting for other streams'});
    }
    return [...states, ...lines];
  }
}
