// The run: what the page's data say, and the map at any moment.
//
// Moment 0 is the start, moment n what operation n left. Blocks are numbered as they stand in the
// log; each says what it was from the moment that made it until another took its place.

const KINDS = ['alloc', 'free', 'use', 'empty_cache', 'next_segment', 'alloc'];
const ALLOC = 0, FREE_BLOCK = 1, USE = 2, FAILED_ALLOC = 5;
const ADDED = 0, REMOVED = 1, RETILED = 2;
const STATES = ['allocated', 'waiting for other streams', 'free'];
const ALLOCATED = 0, PENDING = 1, FREE = 2;

// Reads whole numbers to base 36, with one space after each.
class Numbers {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }
  next() {
    let code = this.text.charCodeAt(this.at);
    const negative = code === 45;
    if (negative) code = this.text.charCodeAt(++this.at);
    let value = 0;
    while (code > 32) {
      value = value * 36 + (code < 58 ? code - 48 : code - 87);
      code = this.text.charCodeAt(++this.at);
    }
    this.at++;
    return negative ? -value : value;
  }
}

class Run {
  constructor(figures, run, log) {
    this.figures = figures;
    this.version = run.version;
    this.streams = run.streams;
    this.names = run.names;
    this.callNames = run.calls;
    this.checks = run.checks;
    this.deviceCount = run.devices;
    this.moments = run.moments;
    this.last = run.moments - 1;
    this.makeColumns(run);
    this.readLog(new Numbers(log));
    this.fragmentation = this.partsMissing(this.allocated, this.reserved);
    this.freeBytes = this.reserved.map((reserved, i) => reserved - this.active[i]);
    this.freeFragmentation = this.partsMissing(this.largestFree, this.freeBytes);
    this.hasPending = this.blockState.includes(PENDING);
    this.peakReserved = this.momentOfMost(this.reserved, this.allocated);
    this.peakAllocated = this.momentOfMost(this.allocated, this.reserved);
    this.blockAt = new Map();    // Blocks of the current map, by address.
    this.segmentAt = new Map();  // Its segments.
    this.replaced = [];          // By change: the blocks whose place it took.
    this.now = -1;
  }

  makeColumns(run) {
    const {moments, blocks, changes} = run;
    // By moment.
    this.kind = new Uint8Array(moments);
    this.line = new Uint32Array(moments);
    this.slot = new Uint32Array(moments);
    this.size = new Float64Array(moments);
    this.stream = new Uint32Array(moments);
    this.device = new Uint8Array(moments);
    this.address = new Float64Array(moments);
    for (const name of ['reserved', 'active', 'allocated', 'requested', 'largestFree']) {
      this[name] = new Float64Array(moments);
    }
    this.firstChange = new Uint32Array(moments + 1);
    this.calls = new Map();  // By kind: the moments of its calls, in order.
    // By block.
    this.blockAddress = new Float64Array(blocks);
    this.blockSize = new Float64Array(blocks);
    this.blockUnused = new Float64Array(blocks);  // Size - requested; of free blocks 0.
    this.blockState = new Uint8Array(blocks);
    this.blockMoment = new Uint32Array(blocks);
    // By change.
    this.changeKind = new Uint8Array(changes);
    this.changeSegment = new Array(changes);
    this.changeBlocks = new Uint32Array(changes + 1);  // The first; the next one's is the end.
  }

  readLog(numbers) {
    const last = {line: 0, slot: 0, address: 0};
    let change = 0, block = 0;
    for (let moment = 0; moment < this.moments; ++moment) {
      if (moment > 0) this.readOperation(numbers, moment, last);
      last.address += numbers.next();
      this.address[moment] = last.address;
      for (const totals of
           [this.reserved, this.active, this.allocated, this.requested, this.largestFree]) {
        totals[moment] = (moment > 0 ? totals[moment - 1] : 0) + numbers.next();
      }
      for (let count = numbers.next(); count > 0; --count) this.addCall(numbers.next(), moment);
      for (let count = numbers.next(); count > 0; --count) {
        this.changeBlocks[change] = block;
        block = this.readChange(numbers, change++, block, moment, last);
      }
      this.firstChange[moment + 1] = change;
      this.changeBlocks[change] = block;
    }
  }

  readOperation(numbers, moment, last) {
    const kind = this.kind[moment] = numbers.next();
    this.line[moment] = last.line += numbers.next();
    const isAlloc = kind === ALLOC || kind === FAILED_ALLOC;
    if (isAlloc) this.size[moment] = numbers.next();
    if (isAlloc || kind === USE) {
      this.stream[moment] = numbers.next();
      this.device[moment] = numbers.next();
    }
    if (!isAlloc && kind !== FREE_BLOCK && kind !== USE) return;
    this.slot[moment] = last.slot += numbers.next();
  }

  addCall(kind, moment) {
    if (!this.calls.has(kind)) this.calls.set(kind, []);
    this.calls.get(kind).push(moment);
  }

  readChange(numbers, change, block, moment, last) {
    const kind = this.changeKind[change] = numbers.next();
    last.address += numbers.next();
    const segment = {address: last.address};
    if (kind !== RETILED) this.changeSegment[change] = segment;
    if (kind === REMOVED) return block;
    if (kind === ADDED) {
      segment.size = numbers.next();
      segment.stream = numbers.next();
      segment.device = numbers.next();
      segment.isLarge = numbers.next() === 1;
      segment.moment = moment;
    }
    let address = last.address;
    for (let count = numbers.next(); count > 0; --count, ++block) {
      this.blockAddress[block] = address;
      address += this.blockSize[block] = numbers.next();
      this.blockState[block] = numbers.next();
      this.blockMoment[block] = moment;
      if (this.blockState[block] !== FREE) this.blockUnused[block] = numbers.next();
    }
    return block;
  }

  partsMissing(parts, wholes) {
    return parts.map((part, i) => wholes[i] > 0 ? 1 - part / wholes[i] : 0);
  }
  // Of several moments with the most, the one with the most of the other too.
  momentOfMost(values, others) {
    let most = 0;
    for (let i = 1; i < values.length; ++i) {
      const difference = values[i] - values[most] || others[i] - others[most];
      if (difference > 0) most = i;
    }
    return most;
  }

  // ---- the map ----

  goTo(moment) {
    while (this.now < moment) {
      ++this.now;
      const end = this.firstChange[this.now + 1];
      for (let change = this.firstChange[this.now]; change < end; ++change) this.apply(change);
    }
    while (this.now > moment) {
      const first = this.firstChange[this.now];
      for (let change = this.firstChange[this.now + 1] - 1; change >= first; --change) {
        this.undo(change);
      }
      --this.now;
    }
  }

  apply(change) {
    const segment = this.changeSegment[change];
    if (this.changeKind[change] === REMOVED) {
      const gone = this.segmentAt.get(segment.address);
      this.segmentAt.delete(segment.address);
      this.replaced[change] = {segment: gone, blocks: this.takeBlocks(gone.address, gone.size)};
      return;
    }
    const first = this.changeBlocks[change], end = this.changeBlocks[change + 1];
    if (this.changeKind[change] === ADDED) {
      this.segmentAt.set(segment.address, segment);
    } else {
      const begin = this.blockAddress[first];
      const size = this.blockAddress[end - 1] + this.blockSize[end - 1] - begin;
      this.replaced[change] = {blocks: this.takeBlocks(begin, size)};
    }
    for (let block = first; block < end; ++block) this.putBlock(block);
  }

  undo(change) {
    const first = this.changeBlocks[change], end = this.changeBlocks[change + 1];
    for (let block = first; block < end; ++block) this.blockAt.delete(this.blockAddress[block]);
    if (this.changeKind[change] === ADDED) {
      this.segmentAt.delete(this.changeSegment[change].address);
      return;
    }
    const {segment, blocks} = this.replaced[change];
    if (segment) this.segmentAt.set(segment.address, segment);
    for (const block of blocks) this.putBlock(block);
  }

  putBlock(block) {
    this.blockAt.set(this.blockAddress[block], block);
  }
  takeBlocks(address, size) {
    const taken = [];
    for (const end = address + size; address < end;) {
      const block = this.blockAt.get(address);
      this.blockAt.delete(address);
      taken.push(block);
      address += this.blockSize[block];
    }
    return taken;
  }

  // The segments of the current map: by device, then by address.
  segments() {
    return [...this.segmentAt.values()].sort(
        (a, b) => a.device - b.device || a.address - b.address);
  }
  // The blocks that tile a segment, in order of address.
  blocksOf(segment) {
    const blocks = [];
    for (let address = segment.address; address < segment.address + segment.size;) {
      const block = this.blockAt.get(address);
      blocks.push(block);
      address += this.blockSize[block];
    }
    return blocks;
  }
  segmentOf(address) {
    for (const segment of this.segmentAt.values()) {
      if (segment.address <= address && address < segment.address + segment.size) return segment;
    }
    return null;
  }

  // ---- what is said of it ----

  requestedOf(block) {
    return this.blockState[block] === FREE ? 0 : this.blockSize[block] - this.blockUnused[block];
  }
  callsUntil(kind, moment) {
    const moments = this.calls.get(kind) || [];
    let low = 0, high = moments.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (moments[middle] <= moment) low = middle + 1; else high = middle;
    }
    return low;
  }
  // The nearest moment with a driver call after (direction 1) or before (-1) one.
  nextCall(moment, direction) {
    let best = moment;
    for (const [kind, moments] of this.calls) {
      const index = direction > 0 ? this.callsUntil(kind, moment)
                                  : this.callsUntil(kind, moment - 1) - 1;
      const found = moments[index];
      if (found === undefined) continue;
      const isNearer = best === moment || (direction > 0 ? found < best : found > best);
      if (isNearer) best = found;
    }
    return best;
  }

  // As digest() in recorder.cc.
  digest() {
    let digest = 2166136261;
    const mix = number => {
      digest = Math.imul(digest ^ (number >>> 0), 16777619);
      digest = Math.imul(digest ^ Math.floor(number / 4294967296), 16777619);
    };
    for (const segment of this.segments()) {
      [segment.device, segment.address, segment.size, this.streams[segment.stream].id,
       segment.isLarge ? 1 : 0].forEach(mix);
      for (const block of this.blocksOf(segment)) {
        [this.blockAddress[block], this.blockSize[block], this.requestedOf(block),
         this.blockState[block]].forEach(mix);
      }
    }
    return digest >>> 0;
  }

  // Of the moments that the tool looked at: how many maps are what the allocator's own were,
  // reached from before and from after.
  soundChecks() {
    const before = this.now;
    const isSound = ([moment, digest]) => {
      this.goTo(moment);
      return this.digest() === digest;
    };
    const forwards = this.checks.map(isSound);
    const backwards = [...this.checks].reverse().map(isSound).reverse();
    this.goTo(before);
    return forwards.filter((sound, i) => sound && backwards[i]).length;
  }
}
