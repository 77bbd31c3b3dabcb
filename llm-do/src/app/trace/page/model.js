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
    this.byKey = new Map();
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
    const call = this.find(event.run, event.call) ?? this.add(event, time);
    for (let above = call; above && above.end < time; above = above.parent) above.end = time;
    call.version += 1;
    endModelWait(call, event, time);
    if (RUNS.includes(event.kind)) for (let again = call; again; again = again.parent) retract(again);
    if (Object.hasOwn(HANDLERS, event.kind)) HANDLERS[event.kind](call, event, time, this);
    else this.unread += 1;
    for (const listener of this.listeners) listener(call, event);
    return call;
  }

  find(run, id) {
    return this.byKey.get(`${run}#${id}`);
  }

  add(event, time) {
    let parent = typeof event.parent === "number" ? this.find(event.run, event.parent) : undefined;
    if (parent?.level >= MAX_LEVEL) parent = parent.parent;
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
      note: undefined,
      attachments: [],
      replayed: false,
      start: time,
      end: time,
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
    this.byKey.set(`${call.run}#${call.id}`, call);
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
  Object.assign(call, { status: "running", error: undefined });
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

const HANDLERS = {
  call_started(call, event) {
    const what = ["entry", "worker", "tool"].includes(event.what) ? event.what : "tool";
    Object.assign(call, { what, by: event.by, arguments: event.arguments, status: "running" });
  },
  call_finished(call, event) {
    if (event.error !== undefined) fail(call, "failed", event.error);
    else {
      retract(call);
      Object.assign(call, { status: "done", result: event.result });
    }
    Object.assign(call, { attachments: event.attachments ?? [], note: event.note, replayed: event.replayed === true });
  },
  call_refused(call, event) {
    call.by = event.by;
    if (event.arguments !== undefined) call.arguments = event.arguments;
    fail(call, "refused", event.error);
  },
  progress(call, event, time) {
    call.progress.push({ time, text: event.text });
  },
  approval_asked(call, event, time) {
    call.arguments ??= event.arguments;
    const { summary, given, position } = event;
    call.approvals.push({ asked: time, summary, given, position, arguments: event.arguments, decided: undefined });
  },
  approval_decided(call, event, time) {
    let approval = call.approvals.find((open) => open.decided === undefined);
    if (!approval) call.approvals.push((approval = { asked: undefined }));
    Object.assign(approval, { ...event, decided: time });
    if (approval.asked !== undefined) wait(call, approval.asked, time, "approval");
  },
  guarded(call, event, time) {
    const done = event.action === "refused" ? "refused" : "changed";
    const what = { before_call: "call", after_call: "result", before_request: "request", after_response: "response" }[event.hook];
    call.remarks.push({ time, text: `Guard ${event.guard} ${done} the ${what}${event.reason ? `: ${event.reason}` : ""}` });
  },
  input_asked(call, event, time) {
    call.questions.push({ asked: time, prompt: event.prompt, choices: event.choices ?? [], answered: undefined, answer: undefined });
  },
  input_answered(call, event, time) {
    const question = call.questions.find((open) => open.answered === undefined);
    if (!question) return;
    Object.assign(question, { answered: time, answer: event.answer });
    wait(call, question.asked, time, "question");
  },
  subtask(call, event, time) {
    call.remarks.push({ time, text: `Subtask for ${event.worker}: ${event.description}` });
  },
  drifted(call, event, time) {
    call.remarks.push({ time, text: `Shadow ${event.worker} disagreed in ${event.disagree} of ${event.of} comparisons` });
  },
  hybrid(call, event, time) {
    const did = { answered: "answered in place of the model", abstained: "left the answer to the model", failed: "failed, so the model answers" };
    call.remarks.push({ time, text: `Tool ${event.tool} ${did[event.answer] ?? event.answer}${event.reason ? `: ${event.reason}` : ""}` });
  },
  shadowed(call, event, time) {
    call.remarks.push({ time, text: `Shadow ${event.worker} ${event.agrees ? "agrees" : "disagrees"}` });
  },
  model_request(call, event, time, model) {
    const content = event.content;
    call.requests.push({
      sent: time, model: event.model, turn: event.turn, count: event.messages, tools: event.tools ?? [], content,
      firstDelta: undefined, partial: "", answered: undefined, parts: undefined, files: [], usage: undefined, replayed: false,
    });
    if (!content) return;
    for (const kind of ["instructions", "tools", "output"]) model.define(call.run, kind, content[kind]);
    model.addFiles(call.run, content.files);
  },
  model_waiting(call, event, time) {
    call.remarks.push({ time, text: `Waiting: ${event.on}` });
  },
  setting_warning(call, event, time) {
    call.remarks.push({ time, text: `Setting ${event.setting} of ${event.model}: ${event.message}` });
  },
  model_delta(call, event, time) {
    const request = call.requests.at(-1);
    if (!request || request.answered !== undefined) return;
    request.firstDelta ??= time;
    if (typeof event.text === "string") request.partial += event.text;
  },
  server_side_tool_started() {},
  server_side_tool_finished(call, event, time) {
    if (event.error) call.remarks.push({ time, text: `Server-side tool ${event.tool}: ${event.error}` });
  },
  model_response(call, event, time, model) {
    let request = call.requests.at(-1);
    if (!request) call.requests.push((request = { sent: time, model: event.model, turn: 1, count: 0, tools: [], files: [] }));
    Object.assign(request, {
      answered: time, parts: event.parts, files: event.files ?? [], usage: event, replayed: event.replayed === true, partial: "",
    });
    model.addFiles(call.run, event.files);
  },
  model_retry(call, event, time) {
    call.retries.push({ time, reason: event.reason });
  },
  usage(call, event) {
    count(call, used(event));
  },
  dropped(call, event, time) {
    call.remarks.push({ time, text: `${counted(event.count, "event")} missing: the log was too slow` });
  },
};

/** Returns how long a call waited: the times of the call and all below it, joined where they overlap. */
function waitingOf(call) {
  const all = [];
  const open = [call];
  while (open.length) {
    const next = open.pop();
    for (const { from, to } of next.waits) all.push([from, to]);
    for (const child of next.children) open.push(child);
  }
  all.sort((a, b) => a[0] - b[0]);
  let total = 0;
  let end = -Infinity;
  for (const [from, to] of all) {
    if (to > end) total += to - Math.max(from, end);
    end = Math.max(end, to);
  }
  return total;
}

function isFault(call) {
  return call.status === "failed" || call.status === "refused";
}
