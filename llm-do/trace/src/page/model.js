// The calls of the runs, made of events one by one: `push` may be called with the events of a file or as they happen.

/** How deeply calls are shown below each other; deeper ones are shown beside their caller. */
const MAX_LEVEL = 256;

class TraceModel {
  constructor() {
    /** All calls, in the order in which they began. */
    this.calls = [];
    /** The calls without a caller, one or more for each run. */
    this.roots = [];
    this.events = 0;
    /** Lines that could not be read, and events of unknown kinds. */
    this.unread = 0;
    this.runs = new Map();
    /** Instructions, tools and schemas by kind, run and digest. */
    this.definitions = new Map();
    /** Files by run and digest. */
    this.files = new Map();
    this.listeners = new Set();
  }

  /** Adds an event, and returns its call; what is no event is counted, since a log may come from anywhere. */
  push(event) {
    try {
      return this.apply(event);
    } catch {
      this.unread += 1;
      return undefined;
    }
  }

  apply(event) {
    if (typeof event?.kind !== "string" || typeof event.call !== "number" || !Number.isFinite(parseTime(String(event.time)))) {
      this.unread += 1;
      return undefined;
    }
    this.events += 1;
    const time = parseTime(String(event.time));
    const run = this.run(event.run);
    run.note(event.seq);
    const call = run.calls.get(event.call) ?? this.add(event, time, run);
    noteWork(call, time, run.current);
    call.version += 1;
    endModelWait(call, event, time);
    if (RUNS.includes(event.kind)) for (let again = call; again; again = again.parent) retract(again);
    if (Object.hasOwn(HANDLERS, event.kind)) HANDLERS[event.kind](call, event, time, this);
    else this.unread += 1;
    for (const listener of this.listeners) listener(call, event);
    return call;
  }

  run(id) {
    const known = this.runs.get(String(id));
    if (known) return known;
    const run = new Attempts();
    this.runs.set(String(id), run);
    return run;
  }

  /** Returns from when until when the bar of a call reaches, and how long attempts worked on it and it waited. */
  timeOf(call) {
    if (!this.run(call.run).hasGaps) return { start: call.start, end: call.end, elapsed: call.end - call.start };
    if (this.times?.events !== this.events) this.times = { events: this.events, of: joinedTimes(this.calls) };
    return this.times.of.get(call);
  }

  /** Returns a call that an earlier attempt made, or a new one. */
  add(event, time, run) {
    let parent = typeof event.parent === "number" ? run.calls.get(event.parent) : undefined;
    if (parent?.level >= MAX_LEVEL) parent = parent.parent;
    const by = `${parent?.index ?? ""}#${event.name}`;
    const known = run.madeBefore(event.call, by);
    if (known) return known;
    const call = {
      index: this.calls.length,
      run: String(event.run),
      id: event.call,
      name: String(event.name),
      parent,
      children: [],
      level: parent ? parent.level + 1 : 0,
      root: undefined,
      what: "",
      by: "",
      status: "running",
      arguments: undefined,
      result: undefined,
      error: undefined,
      label: undefined,
      isPrivate: false,
      note: undefined,
      attachments: [],
      replayed: false,
      first: time,
      /** The attempt that did the work, up to the end of the call. */
      start: time,
      end: time,
      started: undefined,
      attempt: run.current,
      again: undefined,
      isEnded: false,
      /** Whether the log has an end of the call that was not replayed. */
      hasEnd: false,
      repeats: undefined,
      openRequest: 0,
      askedAgain: undefined,
      /** The times in which its model answered. */
      answers: [],
      waitingSince: undefined,
      waits: [],
      approvals: [],
      questions: [],
      requests: [],
      retries: [],
      remarks: [],
      progress: [],
      own: figures(),
      total: figures(),
      /** How many calls below it failed, were refused or were denied. */
      faultsBelow: 0,
      version: 0,
    };
    call.root = parent ? parent.root : call;
    (parent ? parent.children : this.roots).push(call);
    this.calls.push(call);
    run.add(event.call, by, call);
    return call;
  }

  /** Returns the value of `{digest, value}`, which an earlier event may have. */
  defined(call, kind, given) {
    return given ? this.definitions.get(`${kind}#${call.run}#${given.digest}`) : undefined;
  }

  define(run, kind, given) {
    if (given && given.value !== undefined) this.definitions.set(`${kind}#${run}#${given.digest}`, given.value);
  }

  addFiles(run, files) {
    for (const file of files ?? []) if (file.data) this.files.set(`${run}#${file.digest}`, file);
  }

  file(run, digest) {
    return digest ? this.files.get(`${run}#${digest}`) : undefined;
  }

  /**
   * Returns the messages of a request, each with whether it is new, and those that the request before had and this one has
   * not.
   */
  conversation(call, place) {
    let messages = [];
    let removed = [];
    for (const request of call.requests.slice(0, place + 1)) {
      if (!request.content) return undefined;
      const kept = Math.min(request.content.kept, messages.length);
      removed = messages.slice(kept);
      messages = messages.slice(0, kept).concat(request.content.messages);
      if (request !== call.requests[place] && request.parts) messages.push({ role: "assistant", parts: request.parts });
    }
    const kept = messages.length - call.requests[place].content.messages.length;
    return { messages, kept, removed };
  }
}

function figures() {
  return { requests: 0, input: 0, output: 0, cached: 0, reasoning: 0, dollars: 0, unpriced: 0 };
}

const FIGURES = Object.keys(figures());

/** Reads the figures of a `usage` event. */
function used(event) {
  return {
    requests: event.requests ?? 0,
    input: event.input_tokens ?? 0,
    output: event.output_tokens ?? 0,
    cached: event.cached_tokens ?? 0,
    reasoning: event.reasoning_tokens ?? 0,
    dollars: Number.parseFloat(event.cost?.known ?? "0") || 0,
    unpriced: event.cost?.unpriced_requests ?? 0,
  };
}

/** Counts what a call and all below it used by now: what is new is the call's own. */
function count(call, total) {
  const own = figures();
  for (const key of FIGURES) own[key] = Math.max(0, total[key] - call.total[key]);
  // The rest of sums of fractions.
  if (own.dollars < 1e-12) own.dollars = 0;
  for (const key of FIGURES) call.own[key] += own[key];
  for (let above = call; above; above = above.parent) for (const key of FIGURES) above.total[key] += own[key];
}

function fail(call, status, error) {
  if (!isFault(call)) for (let above = call.parent; above; above = above.parent) above.faultsBelow += 1;
  Object.assign(call, { status, error, result: undefined });
}

/** Takes back that a call failed: its run was resumed. */
function retract(call) {
  if (!isFault(call)) return;
  for (let above = call.parent; above; above = above.parent) above.faultsBelow -= 1;
  Object.assign(call, { status: "running", error: undefined, isEnded: false });
}

/** What only a call that runs does. */
const RUNS = ["approval_asked", "call_started", "input_asked", "model_request", "model_waiting", "progress", "subtask"];

/** Notes that a call waited; the times of a call and of those below it are joined where they are shown. */
function wait(call, from, to, on) {
  if (to > from) call.waits.push({ from, to, on });
}

function endModelWait(call, event, time) {
  if (event.kind === "model_waiting") {
    call.waitingSince ??= { time, on: event.on };
  } else if (call.waitingSince) {
    wait(call, call.waitingSince.time, time, call.waitingSince.on);
    call.waitingSince = undefined;
  }
}

function isFault(call) {
  return call.status === "failed" || call.status === "refused";
}
