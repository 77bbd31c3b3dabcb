// The list, the details, the search and the keys, connected: what shows a model.

/** What the keys do; this is also the text of the help. */
function keys(view) {
  const { tree, detail } = view;
  const scrollRequest = (step) => {
    const open = [...byId("detail").querySelectorAll(".request")];
    const top = byId("detail-pane").getBoundingClientRect().top + 8;
    const above = open.filter((made) => made.getBoundingClientRect().top < top - 1).length;
    const at = step > 0 ? open.findIndex((made) => made.getBoundingClientRect().top > top + 1) : above - 1;
    open[at]?.scrollIntoView();
  };
  return [
    [["j", "ArrowDown"], "Next call", () => tree.move(1)],
    [["k", "ArrowUp"], "Previous call", () => tree.move(-1)],
    [["ArrowRight", "l"], "Unfold, or go to the first call below", () => {
      const call = tree.selected;
      if (call?.children.length && tree.isFolded(call)) tree.toggle(call, false);
      else if (call?.children.length) tree.move(1);
    }],
    [["ArrowLeft", "h"], "Fold, or go to the caller", () => {
      const call = tree.selected;
      if (call?.children.length && !tree.isFolded(call) && !tree.search.isActive) tree.toggle(call, true);
      else if (call?.parent) tree.select(call.parent);
    }],
    [["PageDown"], "Down by a page", () => tree.move(20)],
    [["PageUp"], "Up by a page", () => tree.move(-20)],
    [["Home", "g"], "First call", () => tree.move(-Infinity)],
    [["End", "G"], "Last call", () => tree.move(Infinity)],
    [["*"], "Unfold all", () => tree.unfoldAll()],
    [["-"], "Fold all", () => tree.foldAll()],
    [["/"], "Search", () => byId("search").focus()],
    [["e"], "Only errors", () => byId("only-faults").click()],
    [["n"], "Next error, or next match of a search", () => tree.next(view.isNext, 1)],
    [["N"], "Previous error or match", () => tree.next(view.isNext, -1)],
    [["Enter"], "Open the details", () => view.openDetail()],
    [["]"], "Next request to the model", () => scrollRequest(1)],
    [["["], "Previous request to the model", () => scrollRequest(-1)],
    [["z"], "Zoom the timeline to the call, and back", () => view.zoom()],
    [["t"], "Dark or light", () => view.changeTheme()],
    [["?"], "Keys", () => byId("help").showModal()],
    [["Escape"], "Close, or clear the search", () => view.escape()],
  ];
}

class View {
  constructor(model) {
    this.model = model;
    this.search = new Search(model);
    this.timeline = new Timeline(model);
    this.tree = new TreeList(model, this.search, byId("rows"), {
      onSelect: (call) => this.select(call),
      drawTimeline: (call) => this.timeline.bar(call),
    });
    this.tree.onDraw = (call) => call && this.timeline.axis(call, byId("axis"));
    this.detail = new Detail(model, byId("detail"), { onSelect: (call) => this.tree.select(call, { center: true }) });
    this.isNext = (call) => (this.search.words.length ? this.tree.hits?.has(call) : isFault(call));
    this.connect();
  }

  connect() {
    byId("search").addEventListener("input", debounced(150, () => this.filter()));
    byId("search").form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.filter();
      this.tree.next((call) => this.tree.hits?.has(call), 1);
      byId("rows").focus();
    });
    for (const button of document.querySelectorAll(".filter")) {
      button.addEventListener("click", () => {
        button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
        this.filter();
      });
    }
    byId("names").addEventListener("change", () => this.filter());
    byId("theme").addEventListener("click", () => this.changeTheme());
    byId("help-button").addEventListener("click", () => byId("help").showModal());
    byId("close-detail").addEventListener("click", () => this.closeDetail());
    window.addEventListener("hashchange", () => this.follow());
    this.keys = new Map(keys(this).flatMap(([names, , action]) => names.map((name) => [name, action])));
    byId("keys").append(...keys(this).flatMap(([names, text]) => [
      element("dt", {}, names.map((name) => element("kbd", {}, KEY_NAMES[name] ?? name))), element("dd", {}, text),
    ]));
    document.addEventListener("keydown", (event) => this.press(event));
    this.connectGrip();
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
    const field = event.target.closest?.("input, select, textarea, button, summary, a");
    if (field && event.key !== "Escape" && (field.matches("input, select, textarea") || event.key === "Enter" || event.key === " ")) return;
    const isReading = event.target.closest?.("#detail") && ["PageDown", "PageUp", "Home", "End", "ArrowDown", "ArrowUp"].includes(event.key);
    const action = this.keys.get(event.key);
    if (!action || isReading) return;
    event.preventDefault();
    action();
  }

  /** Drags the border between the list and the details. */
  connectGrip() {
    const grip = byId("grip");
    grip.addEventListener("pointerdown", (event) => {
      grip.setPointerCapture(event.pointerId);
      const move = (moved) => document.body.style.setProperty("--detail", `${Math.max(280, innerWidth - moved.clientX)}px`);
      grip.addEventListener("pointermove", move);
      grip.addEventListener("pointerup", () => grip.removeEventListener("pointermove", move), { once: true });
    });
  }

  filter() {
    this.search.text = byId("search").value;
    this.search.name = byId("names").value;
    this.search.faultsOnly = byId("only-faults").getAttribute("aria-pressed") === "true";
    const pressed = [...document.querySelectorAll(".filter[data-kind][aria-pressed=true]")];
    this.search.kinds = new Set(pressed.map((button) => button.dataset.kind));
    this.tree.refresh();
    byId("nothing").hidden = this.tree.rows.length > 0;
    byId("found").textContent = this.search.isActive ? counted(this.tree.hits.size, "call") : "";
    const first = this.tree.rows.find((call) => this.tree.hits?.has(call));
    if (first && !this.tree.hits.has(this.tree.selected)) this.tree.show(first, true);
    else if (this.tree.selected && this.tree.places.has(this.tree.selected)) this.tree.show(this.tree.selected, true);
  }

  select(call, request) {
    this.hasFollowed = true;
    this.detail.show(call, request);
    const run = this.model.roots.some((root) => root.run !== call.run) ? `run=${encodeURIComponent(call.run)}&` : "";
    history.replaceState(null, "", `#${run}call=${call.id}${request ? `&request=${request}` : ""}`);
    if (this.isNarrow()) this.openDetail();
  }

  /** Shows the events so far. */
  refresh() {
    this.summarise();
    this.tree.refresh();
    // The call of the address may begin later; until then, or without one, the first call is shown.
    this.hasFollowed ||= this.follow();
    if (!this.tree.selected && this.model.roots[0]) {
      this.tree.select(this.model.roots[0], { isQuiet: true });
      this.detail.show(this.model.roots[0]);
    }
    this.detail.update();
  }

  /** Shows the call that the address names. */
  follow() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    if (!wanted.has("call")) return false;
    const id = Number(wanted.get("call"));
    const call = this.model.calls.find((known) => known.id === id && known.run === (wanted.get("run") ?? known.run));
    if (!call) return false;
    this.tree.select(call, { isQuiet: true, center: true });
    this.select(call, Number(wanted.get("request")) || undefined);
    return true;
  }

  isNarrow() {
    return matchMedia("(max-width: 800px)").matches;
  }

  openDetail() {
    document.body.classList.add("reading");
    byId("detail").focus({ preventScroll: true });
  }

  closeDetail() {
    document.body.classList.remove("reading");
    byId("rows").focus({ preventScroll: true });
  }

  escape() {
    if (document.activeElement === byId("search")) {
      byId("search").value = "";
      this.filter();
      byId("rows").focus();
    } else if (document.body.classList.contains("reading")) {
      this.closeDetail();
    } else if (this.search.isActive) {
      byId("search").value = "";
      byId("names").value = "";
      for (const button of document.querySelectorAll(".filter")) button.setAttribute("aria-pressed", "false");
      this.filter();
    }
  }

  zoom() {
    this.timeline.zoomed = this.timeline.zoomed === this.tree.selected ? undefined : this.tree.selected;
    this.tree.refresh();
  }

  changeTheme() {
    changeTheme();
  }

  /** Writes what all runs took, and the names to choose from. */
  summarise() {
    const { model } = this;
    const total = figures();
    for (const root of model.roots) for (const key of FIGURES) total[key] += root.total[key];
    const first = model.roots[0];
    const faults = model.calls.filter(isFault).length;
    const waiting = model.roots.reduce((sum, root) => sum + waitingOf(root), 0);
    const elapsed = model.roots.reduce((sum, root) => sum + model.timeOf(root).elapsed, 0);
    const title = first ? (model.roots.length > 1 ? `${first.name} and ${counted(model.roots.length - 1, "more run")}` : first.name) : "No calls";
    byId("title").textContent = visible(title);
    document.title = visible(`${title} · trace`);
    const facts = [
      first && formatDate(first.first), formatDuration(elapsed), waiting > 0 && `${formatDuration(waiting)} waiting`,
      counted(model.calls.length, "call"), total.requests && counted(total.requests, "request"),
      total.requests && `${formatTokens(total)} tokens`, formatCost(total), faults > 0 && counted(faults, "error"),
      model.unread > 0 && `${counted(model.unread, "line")} not read`,
    ].filter(Boolean);
    byId("summary").replaceChildren(...facts.map((fact) => element("span", {}, fact)));
    const names = new Map();
    for (const call of model.calls) names.set(call.name, (names.get(call.name) ?? 0) + 1);
    const sorted = [...names].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 500);
    const chosen = byId("names").value;
    const options = sorted.map(([name, count]) => element("option", { value: name }, `${oneLine(name, 60)} (${count})`));
    byId("names").replaceChildren(element("option", { value: "" }, "All names"), ...options);
    byId("names").value = chosen;
  }
}

const KEY_NAMES = { ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc", PageDown: "Page ↓", PageUp: "Page ↑" };

function debounced(ms, action) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(action, ms);
  };
}

/** Acts at most once in `ms`: soon after the first of many events, and not only after the last. */
function throttled(ms, action) {
  let timer;
  return () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      action();
    }, ms);
  };
}

function changeTheme() {
  const isDark = getComputedStyle(document.documentElement).colorScheme === "dark" ||
    (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = isDark ? "light" : "dark";
}
