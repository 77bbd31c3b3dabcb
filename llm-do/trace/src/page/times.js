// How long calls took: the times in which attempts worked on them, and in which they waited.

/** Returns the times of all calls: from when until when, and how long that is without the times between attempts. */
function joinedTimes(calls) {
  const below = new Map();
  const times = new Map();
  // A call comes after its caller.
  for (let place = calls.length - 1; place >= 0; place -= 1) {
    const call = calls[place];
    const span = spanOf(call);
    const own = [[span.start, span.end], ...call.waits.map(({ from, to }) => [from, to])];
    const joined = join(own.concat(call.answers, below.get(call) ?? []), call.isEnded ? span.end : Infinity);
    below.delete(call);
    times.set(call, {
      start: joined[0]?.[0] ?? span.start,
      end: joined.at(-1)?.[1] ?? span.end,
      elapsed: joined.reduce((sum, [from, to]) => sum + to - from, 0),
    });
    if (!call.parent) continue;
    const list = below.get(call.parent);
    if (!list) below.set(call.parent, joined);
    else for (const time of joined) list.push(time);
  }
  return times;
}

/** Sorts times, and joins those that overlap; what is after `until` is left out. */
function join(times, until) {
  times.sort((a, b) => a[0] - b[0]);
  const joined = [];
  for (const [from, to] of times) {
    if (from > until) break;
    const end = Math.min(to, until);
    const last = joined.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], end);
    else joined.push([from, end]);
  }
  return joined;
}

/** Returns how long a call waited: the times of the call and all below it, joined where they overlap. */
function waitingOf(call) {
  const all = [];
  const open = [call];
  while (open.length) {
    const next = open.pop();
    for (const { from, to } of next.waits) all.push([from, to]);
    for (const child of next.children) open.push(child);
  }
  return join(all, call.isEnded ? spanOf(call).end : Infinity).reduce((sum, [from, to]) => sum + to - from, 0);
}
