// The attempts of runs, whose events are in one log: as in `attempts.rs`, `work.rs` and `repeats.rs`.

/**
 * The calls of a run by their numbers.
 *
 * An attempt that resumes a run numbers its events from 0, and its calls as it makes them: one that is replayed as a whole makes
 * no calls, so those after it have lower numbers than before. A service leaves out what an attempt repeats, with its first event,
 * and keeps the numbers of calls.
 */
class Attempts {
  constructor() {
    /** The number of the attempt, from 0. */
    this.current = 0;
    /** The number of the last event. */
    this.lastEvent = 0;
    /** Whether this attempt numbers calls anew. */
    this.renumbers = false;
    this.calls = new Map();
    /** All calls by caller and name, in the order in which they were first made. */
    this.made = new Map();
    /** How many of them this attempt has made. */
    this.madeAgain = new Map();
    /** Whether the time of a call is more than that from its start to its end. */
    this.hasGaps = false;
  }

  /** Notes the number of the next event; an attempt begins with a lower one than the last. */
  note(number) {
    if (!Number.isSafeInteger(number)) return;
    if (number < this.lastEvent) {
      this.current += 1;
      this.hasGaps = true;
      if (number === 0) Object.assign(this, { renumbers: true, calls: new Map(), madeAgain: new Map() });
    }
    this.lastEvent = number;
  }

  /** Returns the call that this attempt makes for the first time, and an earlier one has made. */
  madeBefore(number, by) {
    if (!this.renumbers) return undefined;
    const again = this.madeAgain.get(by) ?? 0;
    const call = this.made.get(by)?.[again];
    if (!call) return undefined;
    this.madeAgain.set(by, again + 1);
    this.calls.set(number, call);
    return call;
  }

  /** Adds a call that no attempt has made before. */
  add(number, by, call) {
    this.calls.set(number, call);
    if (this.renumbers) this.madeAgain.set(by, (this.madeAgain.get(by) ?? 0) + 1);
    if (this.made.has(by)) this.made.get(by).push(call);
    else this.made.set(by, [call]);
  }
}

/** Notes an event in the time of its call and of all callers. */
function noteWork(call, time, attempt) {
  for (let above = call; above; above = above.parent) {
    if (above.attempt !== attempt) {
      Object.assign(above, { attempt, again: { start: time, end: time } });
      beginAttempt(above);
    } else if (above.again) {
      if (above.again.end < time) above.again.end = time;
    } else if (!above.isEnded && above.end < time) above.end = time;
  }
}

/** Notes the end of a call. The attempt that did the work counts, and none that replays it. */
function endWork(call, time, isReplay) {
  const { again } = call;
  call.again = undefined;
  if (again) {
    if (!isReplay) Object.assign(call, { start: again.start, end: Math.max(again.start, time) });
  } else if (!isReplay || !call.isEnded) call.end = Math.max(call.end, time);
  call.isEnded = true;
}

/** How much later than its event a call may begin, in milliseconds; with more, another attempt began it. */
const LONGEST_START = 1000;

/** Sets when the attempt began that ends the call, if the log has no start of it: a service leaves out what is repeated. */
function setStart(call, time, elapsed, run) {
  if (!call.started || typeof elapsed !== "number") return;
  const begun = time - elapsed;
  const isAlone = !call.children.length && !call.requests.length && !call.questions.length;
  const isLater = call.what === "tool" && isAlone && begun - call.started.time > LONGEST_START;
  if (call.started.attempt === call.attempt && !isLater) return;
  call.start = Math.min(call.end, Math.max(begun, call.first));
  run.hasGaps = true;
}

/** Returns when a call worked: the attempt that did the work, or one that may do it again. */
function spanOf(call) {
  return call.again && !call.isEnded ? call.again : call;
}

/** The lists of a call that a later attempt repeats, in their order. */
const REPEATED = ["approvals", "questions", "requests", "retries", "remarks", "progress"];

/** Notes that an attempt begins to make the call again. */
function beginAttempt(call) {
  call.repeats = Object.fromEntries(REPEATED.map((list) => [list, { earlier: call[list].length, next: 0 }]));
  // How many answers follow that an earlier attempt has.
  call.repeats.answers = 0;
  call.askedAgain = undefined;
  call.waitingSince = undefined;
}

/** Returns the next item that this attempt can repeat, if it is the same, and steps over it. */
function repeated(call, list, isSame) {
  const state = call.repeats?.[list];
  const item = state && state.next < state.earlier ? call[list][state.next] : undefined;
  if (!item || !isSame(item)) return undefined;
  state.next += 1;
  return item;
}

/** Returns whether this attempt made an item of a list. */
function isNew(call, list, place) {
  return place >= (call.repeats?.[list].earlier ?? 0);
}

/** Adds a text with its time, unless this attempt repeats it. */
function addText(call, list, item, field = "text") {
  if (!repeated(call, list, (known) => known[field] === item[field])) call[list].push(item);
}
