// The list of runs.

const STATES = ["queued", "running", "waiting", "succeeded", "failed", "cancelled"];

function runsPage() {
  const wanted = new URLSearchParams(location.search);
  const rows = element("tbody", { id: "runs", role: "rowgroup" });
  const hint = element("p", { class: "hint", hidden: true }, "No runs.");
  const older = element("button", { type: "button", class: "more", hidden: true }, "Older runs");
  // With roles, since the layout on a phone takes those of the elements away.
  const table = element("table", { class: "runs", role: "table" },
    element("thead", { role: "rowgroup" }, element("tr", { role: "row" },
      ["Run", "State", "Input", "Created", "Took", "Cost"].map((name) => element("th", { scope: "col", role: "columnheader" }, name)))),
    rows);
  const states = element("select", { id: "state", "aria-label": "State" }, element("option", { value: "" }, "All states"),
    STATES.map((state) => element("option", { value: state, selected: wanted.get("state") === state }, state)));
  const entries = element("select", { id: "entry", "aria-label": "Entry" }, element("option", { value: "" }, "All entries"));
  byId("page").replaceChildren(element("div", { class: "page" },
    element("div", { class: "page-head" }, element("h1", {}, "Runs"), element("div", { class: "filters" }, states, entries)),
    element("div", { class: "card table-card" }, table, hint), older));

  let pages = 1;
  const load = async () => {
    const runs = [];
    let before;
    for (let page = 0; page < pages; page += 1) {
      const query = new URLSearchParams({ limit: "100" });
      if (states.value) query.set("state", states.value);
      if (entries.value) query.set("entry", entries.value);
      if (before) query.set("before", before);
      const list = await get(`/runs?${query}`);
      runs.push(...list.runs);
      before = list.next;
      if (!before) break;
    }
    hint.hidden = runs.length > 0;
    older.hidden = !before;
    updateRows(rows, runs);
  };
  older.addEventListener("click", () => {
    pages += 1;
    load().catch((error) => status(error.message, true));
  });
  for (const select of [states, entries]) {
    select.addEventListener("change", () => {
      pages = 1;
      rows.replaceChildren();
      load().catch((error) => status(error.message, true));
    });
  }
  get("/entries").then((list) => entries.append(...list.entries.map(({ name }) => element("option", { value: name }, name))), () => {});
  return repeat(load);
}

/** Changes only the rows that differ, so that focus and selection stay. */
function updateRows(rows, runs) {
  const known = new Map([...rows.children].map((row) => [row.dataset.id, row]));
  let at = rows.firstChild;
  for (const run of runs) {
    const shown = JSON.stringify([run.state, run.usage, run.finished, run.state === "running" && Math.floor(Date.now() / 1000)]);
    let row = known.get(run.id);
    known.delete(run.id);
    if (!row) row = element("tr", { "data-id": run.id, class: "run", role: "row" });
    if (row.shown !== shown) {
      row.shown = shown;
      row.replaceChildren(...runCells(run));
    }
    if (row === at) at = at.nextSibling;
    else rows.insertBefore(row, at);
  }
  for (const row of known.values()) row.remove();
}

function runCells(run) {
  const input = oneLine(run.arguments, 120);
  const cell = (properties, ...content) => element("td", { role: "cell", ...properties }, content);
  return [
    cell({ title: run.entry }, element("a", { href: `/?run=${encodeURIComponent(run.id)}`, class: "run-link" }, run.entry)),
    cell({}, stateChip(run)),
    cell({ class: "preview", title: input }, input),
    cell({ class: "quiet" }, ago(run.created)),
    cell({ class: "quiet" }, took(run)),
    cell({ class: "quiet" }, costOf(run.usage)),
  ];
}

function stateChip(run) {
  const kind = { succeeded: "done", failed: "failed", running: "running", waiting: "running" }[run.state] ?? "";
  return chip(run.is_cancelled && run.state === "running" ? "cancelling" : run.state, kind);
}

function costOf(usage) {
  return formatCost({ dollars: Number(usage.cost), unpriced: usage.unpriced_requests, requests: usage.requests });
}

function took(run) {
  if (!run.started) return "";
  return formatDuration((run.finished ? parseTime(run.finished) : Date.now()) - parseTime(run.started));
}

function ago(time) {
  const passed = Date.now() - parseTime(time);
  if (passed < 60_000) return "just now";
  if (passed < 3_600_000) return `${Math.floor(passed / 60_000)} min ago`;
  if (passed < 86_400_000) return `${Math.floor(passed / 3_600_000)} h ago`;
  return formatDate(parseTime(time));
}
