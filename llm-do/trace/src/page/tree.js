// The rows of the list: which calls are visible, and drawing only those in view.

// A finger needs more than a pointer.
const ROW_HEIGHT = matchMedia("(pointer: coarse)").matches ? 40 : 30;
/** Rows drawn above and below the view, so that scrolling shows no gap. */
const OVERSCAN = 12;

class TreeList {
  constructor(model, search, scroller, { onSelect, drawTimeline }) {
    Object.assign(this, { model, search, scroller, onSelect, drawTimeline });
    this.folded = new Set();
    this.rows = [];
    this.places = new Map();
    this.hits = undefined;
    this.selected = undefined;
    this.pool = new Map();
    this.space = element("div", { class: "space" });
    this.space.style.setProperty("--row", `${ROW_HEIGHT}px`);
    scroller.append(this.space);
    scroller.addEventListener("scroll", () => this.schedule(), { passive: true });
    new ResizeObserver(() => this.schedule()).observe(scroller);
  }

  /** Finds the visible calls anew: after new events, a fold or a filter. */
  refresh() {
    const found = this.search.isActive ? this.search.found() : undefined;
    this.hits = found?.hits;
    this.rows = [];
    const open = [...this.model.roots].reverse();
    while (open.length) {
      const call = open.pop();
      if (found && !found.shown.has(call)) continue;
      this.rows.push(call);
      if (this.isFolded(call)) continue;
      for (let place = call.children.length - 1; place >= 0; place -= 1) open.push(call.children[place]);
    }
    this.places = new Map(this.rows.map((call, place) => [call, place]));
    this.space.style.height = `${this.rows.length * ROW_HEIGHT}px`;
    for (const row of this.pool.values()) row.remove();
    this.pool.clear();
    this.draw();
  }

  /** A filter unfolds what leads to its matches, unless nothing below matches. */
  isFolded(call) {
    return !this.search.isActive && this.folded.has(call);
  }

  schedule() {
    this.scheduled ??= requestAnimationFrame(() => {
      this.scheduled = undefined;
      this.draw();
    });
  }

  draw() {
    const top = this.scroller.scrollTop;
    const first = Math.max(0, Math.floor(top / ROW_HEIGHT) - OVERSCAN);
    const last = Math.min(this.rows.length, Math.ceil((top + this.scroller.clientHeight) / ROW_HEIGHT) + OVERSCAN);
    for (const [place, row] of this.pool) {
      if (place >= first && place < last) continue;
      row.remove();
      this.pool.delete(place);
    }
    for (let place = first; place < last; place += 1) {
      if (this.pool.has(place)) continue;
      const row = this.row(this.rows[place], place);
      this.pool.set(place, row);
      this.space.append(row);
    }
    this.onDraw?.(this.rows[Math.min(this.rows.length - 1, Math.ceil(top / ROW_HEIGHT))]);
  }

  row(call, place) {
    const hasChildren = call.children.length > 0;
    const isFolded = this.isFolded(call);
    const isDimmed = this.hits && !this.hits.has(call);
    const row = element("div", {
      class: `row ${call.status} ${isDimmed ? "dimmed" : ""} ${call === this.selected ? "selected" : ""}`,
      id: `row-${call.index}`,
      role: "treeitem",
      "aria-level": call.level + 1,
      "aria-expanded": hasChildren ? String(!isFolded) : undefined,
      "aria-selected": String(call === this.selected),
      "data-index": call.index,
    });
    row.style.transform = `translateY(${place * ROW_HEIGHT}px)`;
    row.style.setProperty("--level", Math.min(call.level, 40));
    const toggle = element("span", { class: hasChildren ? "toggle" : "toggle leaf", "aria-hidden": "true" },
      hasChildren ? (isFolded ? "▸" : "▾") : "");
    const name = element("div", { class: "cell-name" },
      toggle,
      element("span", { class: `dot ${call.what || "tool"}`, title: call.what }),
      element("span", { class: "name" }, call.name),
      marks(call, isFolded),
      element("span", { class: "preview" }, preview(call)));
    append(row, [
      name,
      element("div", { class: "cell-time" }, this.drawTimeline(call)),
      element("div", { class: "cell-duration" }, formatDuration(this.model.timeOf(call).elapsed)),
      element("div", { class: "cell-cost" }, formatCost(call.total)),
    ]);
    toggle.addEventListener("click", (event) => {
      event.stopPropagation();
      this.toggle(call);
    });
    row.addEventListener("click", () => this.select(call));
    row.addEventListener("dblclick", () => this.toggle(call));
    return row;
  }

  /** Selects a call, unfolding its callers, and brings it into view. */
  select(call, { isQuiet = false, center = false } = {}) {
    if (!call) return;
    let unfolded = false;
    for (let above = call.parent; above; above = above.parent) unfolded = this.folded.delete(above) || unfolded;
    this.selected = call;
    if (unfolded || !this.places.has(call)) this.refresh();
    for (const row of this.pool.values()) {
      const isSelected = Number(row.dataset.index) === call.index;
      row.classList.toggle("selected", isSelected);
      row.setAttribute("aria-selected", String(isSelected));
    }
    this.scroller.setAttribute("aria-activedescendant", `row-${call.index}`);
    this.show(call, center);
    if (!isQuiet) this.onSelect(call);
  }

  show(call, center) {
    const top = (this.places.get(call) ?? 0) * ROW_HEIGHT;
    const { scrollTop, clientHeight } = this.scroller;
    if (top >= scrollTop && top + ROW_HEIGHT <= scrollTop + clientHeight) return;
    const above = center ? clientHeight / 3 : top < scrollTop ? 0 : clientHeight - ROW_HEIGHT;
    this.scroller.scrollTop = Math.max(0, top - above);
    this.draw();
  }

  toggle(call, isFolded = !this.folded.has(call)) {
    if (!call.children.length) return;
    if (isFolded) this.folded.add(call);
    else this.folded.delete(call);
    this.refresh();
  }

  foldAll() {
    this.folded = new Set(this.model.calls.filter((call) => call.children.length && call.level > 0));
    for (const root of this.model.roots) if (this.model.roots.length > 1) this.folded.add(root);
    this.refresh();
  }

  unfoldAll() {
    this.folded.clear();
    this.refresh();
  }

  move(rows) {
    const place = this.places.get(this.selected) ?? (rows > 0 ? -1 : this.rows.length);
    this.select(this.rows[Math.max(0, Math.min(this.rows.length - 1, place + rows))]);
  }

  /** Selects the next call for which `test` holds, from the selected one on, around the end. */
  next(test, direction) {
    const from = this.places.get(this.selected) ?? -1;
    for (let step = 1; step <= this.rows.length; step += 1) {
      const call = this.rows[(from + direction * step + this.rows.length * 2) % this.rows.length];
      if (test(call)) {
        this.select(call, { center: true });
        return;
      }
    }
  }
}

/** Small signs beside a name: what went wrong, who decided. */
function marks(call, isFolded) {
  const made = [];
  const mark = (kind, text, title) => made.push(element("span", { class: `mark ${kind}`, title }, text));
  if (call.status === "failed") mark("fault", "failed", call.error);
  const isDenied = call.approvals.some((approval) => approval.approved === false);
  if (call.status === "refused" && !isDenied) mark("fault", "refused", call.error);
  if (call.status === "planned") mark("wait", "planned", "The dry run did not make this call.");
  if (call.status === "running") mark("wait", "not finished");
  const asked = call.approvals.filter((approval) => approval.by === "approver" || approval.by === "reviewer" || approval.decided === undefined || !approval.approved);
  if (asked.length) {
    const last = asked.at(-1);
    const text = last.decided === undefined ? "waits for approval" : last.approved ? "approved" : "denied";
    mark(last.approved ? "good" : last.decided === undefined ? "wait" : "fault", text, last.reason ?? last.summary);
  }
  if (call.questions.length) mark("wait", "asked");
  if (call.retries.length) mark("wait", counted(call.retries.length, "retry").replace("retrys", "retries"));
  if (call.replayed) mark("plain", "replayed");
  if (call.label === "untrusted") mark("plain", "untrusted", "The result may carry text of anyone.");
  if (call.isPrivate) mark("plain", "private", "The result may carry private values.");
  if (isFolded && call.faultsBelow) mark("fault", `${call.faultsBelow} below`);
  return made;
}

function preview(call) {
  const value = call.arguments;
  if (value === undefined || value === null) return "";
  const fields = typeof value === "object" && !Array.isArray(value) ? Object.values(value) : [value];
  return fields.length === 1 ? oneLine(fields[0], 120) : oneLine(value, 120);
}
