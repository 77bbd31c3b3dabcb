// The bars of calls on the axis of their run.

class Timeline {
  constructor(model) {
    this.model = model;
    /** The call that the axis is zoomed to. */
    this.zoomed = undefined;
  }

  /** Returns the start and the length of the axis of a call's run. */
  range(call) {
    const within = this.zoomed?.root === call.root ? this.zoomed : call.root;
    const { start, end } = this.model.timeOf(within);
    return { start, length: Math.max(end - start, 0.001) };
  }

  /** Returns the bar of a call: when it ran, and in it when its model worked and when it waited. */
  bar(call) {
    const range = this.range(call);
    const bar = element("div", { class: `bar ${call.what || "tool"} ${call.status}` });
    const { start, end } = this.model.timeOf(call);
    place(bar, range, start, end);
    const inside = { start, length: Math.max(end - start, 0.001) };
    for (const request of call.requests.slice(0, MAX_PARTS)) {
      bar.append(part("model", inside, request.sent, request.answered ?? end));
    }
    for (const { from, to } of call.waits.slice(0, MAX_PARTS)) bar.append(part("waiting", inside, from, to));
    return bar;
  }

  /** Draws the axis: the times of its parts, as many as have room. */
  axis(call, parent) {
    const { length } = this.range(call);
    const width = parent.clientWidth;
    const parts = width > 420 ? [0, 0.25, 0.5, 0.75] : width > 190 ? [0, 0.5] : [0];
    parent.replaceChildren(...parts.map((at) => {
      const tick = element("span", { class: "tick" }, at === 0 ? "0" : formatDuration(length * at));
      tick.style.left = `${at * 100}%`;
      return tick;
    }), element("span", { class: "tick last" }, formatDuration(length)));
  }
}

/** How many parts a bar shows: more would not be told apart. */
const MAX_PARTS = 200;

function part(kind, range, from, to) {
  const made = element("span", { class: `part ${kind}` });
  place(made, range, from, to);
  return made;
}

function place(made, { start, length }, from, to) {
  const left = Math.max(0, Math.min(1, (from - start) / length));
  const right = Math.max(left, Math.min(1, (to - start) / length));
  made.style.left = `${left * 100}%`;
  made.style.width = `${(right - left) * 100}%`;
}
