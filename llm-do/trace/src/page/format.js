// Numbers, times and values as text.

/** Returns the milliseconds since 1970 of an RFC 3339 time, with the fraction that `Date` would drop. */
function parseTime(text) {
  const seconds = Date.parse(`${text.slice(0, 19)}Z`);
  const fraction = /^\.\d+/.exec(text.slice(19));
  return seconds + (fraction ? Number(fraction[0]) * 1000 : 0);
}

function formatDuration(ms) {
  if (!Number.isFinite(ms)) return "";
  if (ms < 0.1) return "0 ms";
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.floor((ms % 60_000) / 1000)} s`;
  return `${Math.floor(ms / 3_600_000)} h ${Math.floor((ms % 3_600_000) / 60_000)} min`;
}

const NUMBER = new Intl.NumberFormat("en");

function formatCount(count) {
  return NUMBER.format(count);
}

/** Returns "1 call", "2 calls". */
function counted(count, word) {
  return `${formatCount(count)} ${word}${count === 1 ? "" : "s"}`;
}

function formatBytes(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1 << 20) return `${(bytes / 1024).toFixed(1)} KiB`;
  return `${(bytes / (1 << 20)).toFixed(1)} MiB`;
}

/** Returns an amount of dollars; a request without a known price never counts as free. */
function formatCost(figures) {
  const { dollars, unpriced, requests } = figures;
  if (dollars === 0) return unpriced ? "unknown" : requests ? "$0" : "";
  if (dollars < 0.000001) return "< $0.000001";
  const digits = dollars < 0.01 ? 6 : dollars < 1 ? 4 : 2;
  // At least cents, and no zeros after them.
  const text = `$${dollars.toFixed(digits).replace(/(\.\d\d.*?)0+$/, "$1")}`;
  return unpriced ? `≥ ${text}` : text;
}

function formatTokens(figures) {
  return figures.requests ? `${formatCount(figures.input)} / ${formatCount(figures.output)}` : "";
}

/** Returns a time of day in UTC. */
function formatClock(ms) {
  return new Date(ms).toISOString().slice(11, 23);
}

function formatDate(ms) {
  return `${new Date(ms).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** Returns a text as it is, and another value as JSON. */
function textOf(value, indent) {
  if (typeof value === "string") return value;
  try {
    return JSON.stringify(value, null, indent) ?? "";
  } catch {
    return "nested too deeply";
  }
}

/** Returns the start of a value on one line. */
function oneLine(value, length = 160) {
  const text = textOf(value);
  const line = text.length > 4 * length ? text.slice(0, 4 * length) : text;
  const joined = line.replace(/\s+/g, " ");
  return joined.length > length || line !== text ? `${joined.slice(0, length)}…` : joined;
}

// Joiners, and the mark of an emoji, are left alone: scripts and emoji need them.
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}](?<![\n\t\u200c\u200d]|[\p{Extended_Pictographic}\d#*]\ufe0f)/gu;

/** Returns a text whose invisible and direction-changing characters can be seen. */
function visible(text) {
  return text.replace(/\r\n?/g, "\n").replace(INVISIBLE, (found) => `\\u{${found.codePointAt(0).toString(16)}}`);
}

/** Returns a value as JSON in which invisible characters are escaped: a text that means the same, and hides nothing. */
function visibleJson(value) {
  const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return textOf(value, 2).replace(INVISIBLE, (found) => found.replace(/[^]/g, escaped));
}

/** An integer that a number of JavaScript would round, as its digits. */
class ExactInteger {
  constructor(digits) {
    this.digits = digits;
  }

  toJSON() {
    return JSON.rawJSON(this.digits);
  }

  toString() {
    return this.digits;
  }
}

/** Parses JSON; the integers in it are shown and sent as they are written. */
function parseJson(text) {
  // Only long numbers are rounded, and looking at each value takes time.
  if (!/\d{16}/.test(text) || !JSON.rawJSON) return JSON.parse(text);
  return JSON.parse(text, (_, value, { source }) =>
    (typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? new ExactInteger(source) : value));
}
