// What changes over time, drawn to one canvas: memory, fragmentation, driver calls. Each column of
// pixels shows the lowest and the highest of its moments, so that no peak is lost.

function inWords(bytes, digits = 2) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let unit = 0;
  for (; Math.abs(bytes) >= 1024 && unit + 1 < units.length; ++unit) bytes /= 1024;
  return `${unit === 0 ? bytes : bytes.toFixed(digits)} ${units[unit]}`;
}
const inHex = number => '0x' + number.toString(16);
const inBytes = bytes => bytes < 1024 ? `${bytes} B` : `${inWords(bytes)} (${inCount(bytes)} B)`;
function inSeconds(seconds) {
  return seconds >= 1 ? `${seconds.toFixed(2)} s` : `${(1000 * seconds).toFixed(2)} ms`;
}
const inPercent = part => `${(100 * part).toFixed(1)} %`;
const inCount = count => count.toLocaleString('en-US');
const counted = (count, what) => `${inCount(count)} ${what}${count === 1 ? '' : 's'}`;
const colour = name => getComputedStyle(document.body).getPropertyValue('--' + name).trim();

// The canvas as large as it is shown; gives what draws in CSS pixels.
function fitted(canvas) {
  const scale = window.devicePixelRatio || 1;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * scale)) canvas.width = Math.round(width * scale);
  if (canvas.height !== Math.round(height * scale)) canvas.height = Math.round(height * scale);
  const context = canvas.getContext('2d');
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = '11px system-ui, sans-serif';
  return {context, width, height};
}

// A round step so that at most `most` of them make up `range`.
function roundStep(range, most, factors, base) {
  let step = 1;
  while (step * base * most < range) step *= base;
  return step * (factors.find(factor => step * factor * most >= range) || base);
}

class Timeline {
  constructor(run, canvas) {
    this.run = run;
    this.canvas = canvas;
    this.from = 0;
    this.to = run.last;  // Moments that are seen, as real numbers.
    this.kinds = [...run.calls.keys()].sort((a, b) => a - b);
  }

  // ---- geometry ----
  layOut(width, height) {
    const left = 82, right = 12, gap = 20, row = 11;
    const calls = this.kinds.length * row;
    const fragmentation = Math.max(40, Math.round(height * 0.18));
    const top = 18;
    const memory = height - top - gap - fragmentation - gap - calls - 18;
    this.left = left;
    this.plotWidth = Math.max(width - left - right, 1);
    this.memory = {top, height: memory};
    this.parts = {top: top + memory + gap, height: fragmentation};
    this.callsTop = this.parts.top + fragmentation + gap - 4;
    this.row = row;
    this.axisTop = this.callsTop + calls;
  }
  x(moment) {
    return this.left + (moment - this.from) / Math.max(this.to - this.from, 1) * this.plotWidth;
  }
  momentAt(x) {
    const moment = this.from + (x - this.left) / this.plotWidth * (this.to - this.from);
    return Math.min(Math.max(Math.round(moment), 0), this.run.last);
  }
  zoom(factor, at) {
    const range = Math.min(Math.max((this.to - this.from) * factor, 20), this.run.last);
    const part = (at - this.from) / Math.max(this.to - this.from, 1);
    this.from = Math.min(Math.max(at - part * range, 0), this.run.last - range);
    this.to = this.from + range;
  }
  pan(moments) {
    const range = this.to - this.from;
    this.from = Math.min(Math.max(this.from + moments, 0), this.run.last - range);
    this.to = this.from + range;
  }
  reveal(moment) {
    if (moment < this.from) this.pan(moment - this.from);
    if (moment > this.to) this.pan(moment - this.to);
  }

  // ---- drawing ----
  draw(moment, hovered) {
    const {context, width, height} = fitted(this.canvas);
    this.layOut(width, height);
    this.context = context;
    this.drawMemory();
    this.drawFragmentation();
    this.drawCalls();
    this.drawAxis(height);
    if (hovered !== null) this.drawCursor(hovered, colour('faint'));
    this.drawCursor(moment, colour('accent'));
    this.drawDots(moment);
  }

  // Lowest and highest value of each column.
  columns(values) {
    const count = Math.ceil(this.plotWidth);
    const low = new Float64Array(count), high = new Float64Array(count);
    for (let column = 0; column < count; ++column) {
      const begin = this.from + column / this.plotWidth * (this.to - this.from);
      const end = this.from + (column + 1) / this.plotWidth * (this.to - this.from);
      const first = Math.min(Math.max(Math.floor(begin), 0), this.run.last);
      const last = Math.min(Math.max(Math.ceil(end) - 1, first), this.run.last);
      low[column] = high[column] = values[first];
      for (let moment = first + 1; moment <= last; ++moment) {
        low[column] = Math.min(low[column], values[moment]);
        high[column] = Math.max(high[column], values[moment]);
      }
    }
    return {low, high};
  }

  plot(values, strip, most, style) {
    const {context} = this;
    const {low, high} = this.columns(values);
    const y = value => strip.top + strip.height * (1 - value / most);
    const bottom = strip.top + strip.height;
    for (const edge of style.fill ? [low, high] : []) {
      context.beginPath();
      context.moveTo(this.left, bottom);
      for (let i = 0; i < edge.length; ++i) {
        context.lineTo(this.left + i, y(edge[i]));
        context.lineTo(this.left + i + 1, y(edge[i]));
      }
      context.lineTo(this.left + edge.length, bottom);
      context.globalAlpha = style.fill;
      context.fillStyle = style.colour;
      context.fill();
      context.globalAlpha = 1;
    }
    context.beginPath();
    for (let i = 0; i < high.length; ++i) {
      context.lineTo(this.left + i + 0.5, y(low[i]));
      context.lineTo(this.left + i + 0.5, y(high[i]));
    }
    context.strokeStyle = style.colour;
    context.lineWidth = style.width || 1;
    context.stroke();
  }

  grid(strip, values) {
    const {context} = this;
    context.textBaseline = 'middle';
    context.textAlign = 'right';
    for (const [value, text] of values) {
      const y = Math.round(strip.top + strip.height * (1 - value)) + 0.5;
      context.fillStyle = colour('grid');
      context.fillRect(this.left, y - 0.5, this.plotWidth, 1);
      context.fillStyle = colour('soft');
      context.fillText(text, this.left - 6, y);
    }
  }

  drawMemory() {
    const {run, memory} = this;
    const peak = Math.max(run.reserved[run.peakReserved], 1);
    const step = roundStep(peak, 5, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512], 1024);
    const most = this.mostBytes = peak * 1.04;
    const lines = [];
    for (let value = 0; value <= most; value += step) {
      lines.push([value / most, inWords(value, 1).replace('.0 ', ' ')]);
    }
    this.grid(memory, lines);
    const shown = run.hasPending ? ['reserved', 'pending', 'allocated'] : ['reserved', 'allocated'];
    this.label(memory.top - 2, shown.map(name => [name, name === 'pending' ? 'active' : name]));
    this.plot(run.reserved, memory, most, {colour: colour('reserved'), fill: 0.16, width: 1.5});
    if (run.hasPending) this.plot(run.active, memory, most, {colour: colour('pending'), fill: 0});
    this.plot(run.allocated, memory, most, {colour: colour('allocated'), fill: 0.3});
    this.drawPeak(run.peakReserved, run.reserved, 'reserved');
    this.drawPeak(run.peakAllocated, run.allocated, 'allocated');
  }

  drawPeak(moment, values, name) {
    const {context, memory} = this;
    if (moment < this.from || moment > this.to) return;
    const x = this.x(moment);
    const y = memory.top + memory.height * (1 - values[moment] / this.mostBytes);
    context.beginPath();
    context.moveTo(x, y - 1);
    context.lineTo(x - 4, y - 7);
    context.lineTo(x + 4, y - 7);
    context.fillStyle = colour(name);
    context.fill();
  }

  drawFragmentation() {
    const {run, parts} = this;
    this.grid(parts, [[0, '0 %'], [0.5, '50 %'], [1, '100 %']]);
    this.label(parts.top - 4, [['fragments', 'fragmentation: 1 - allocated / reserved'],
                               ['splinters', 'of free memory: 1 - largest free block / all free']]);
    this.plot(run.freeFragmentation, parts, 1, {colour: colour('splinters'), fill: 0});
    this.plot(run.fragmentation, parts, 1, {colour: colour('fragments'), fill: 0.15});
  }

  label(y, entries) {
    const {context} = this;
    context.textAlign = 'left';
    context.textBaseline = 'bottom';
    let x = this.left;
    for (const [name, text] of entries) {
      context.fillStyle = colour(name);
      context.fillRect(x, y - 8, 10, 3);
      context.fillStyle = colour('soft');
      context.fillText(text, x + 14, y);
      x += 14 + context.measureText(text).width + 16;
    }
  }

  drawCalls() {
    const {context, run} = this;
    context.textBaseline = 'middle';
    this.kinds.forEach((kind, index) => {
      const y = this.callsTop + index * this.row;
      context.textAlign = 'right';
      context.fillStyle = colour('soft');
      context.fillText(run.callNames[kind], this.left - 6, y + this.row / 2);
      context.fillStyle = colour('grid');
      context.fillRect(this.left, y + this.row - 1, this.plotWidth, 1);
      context.fillStyle = colourOfCall(run.callNames[kind]);
      const moments = run.calls.get(kind);
      let drawn = -1;
      for (let i = run.callsUntil(kind, this.from - 1); i < moments.length; ++i) {
        if (moments[i] > this.to) break;
        const x = Math.floor(this.x(moments[i]));
        if (x !== drawn) context.fillRect(x, y + 1, 1.5, this.row - 3);
        drawn = x;
      }
    });
  }

  drawAxis(height) {
    const {context} = this;
    const step = roundStep(this.to - this.from, 8, [1, 2, 5], 10);
    context.fillStyle = colour('soft');
    context.textBaseline = 'bottom';
    for (let moment = Math.ceil(this.from / step) * step; moment <= this.to; moment += step) {
      const x = this.x(moment);
      context.fillRect(Math.round(x), this.axisTop, 1, 4);
      context.textAlign = x > this.left + this.plotWidth - 20 ? 'right' : 'center';
      context.fillText(inCount(moment), x, height - 1);
    }
    context.textAlign = 'right';
    context.fillText('operation', this.left - 6, height - 1);
  }

  drawCursor(moment, style) {
    if (moment < this.from || moment > this.to) return;
    this.context.fillStyle = style;
    this.context.fillRect(Math.round(this.x(moment)) - 0.5, this.memory.top, 1,
                          this.axisTop - this.memory.top);
  }

  drawDots(moment) {
    const {context, memory, run} = this;
    if (moment < this.from || moment > this.to) return;
    for (const [name, values] of [['reserved', run.reserved], ['allocated', run.allocated]]) {
      const y = memory.top + memory.height * (1 - values[moment] / this.mostBytes);
      context.beginPath();
      context.arc(this.x(moment), y, 3.5, 0, 2 * Math.PI);
      context.fillStyle = colour(name);
      context.fill();
      context.strokeStyle = colour('card');
      context.stroke();
    }
  }
}

function colourOfCall(name) {
  const known = {malloc: 'call-malloc', free: 'call-free', stream_sync: 'call-sync',
                 device_sync: 'call-sync', event_sync: 'call-sync'};
  return colour(known[name] || 'call-other');
}
