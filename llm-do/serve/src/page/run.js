// One run: its state, what it waits for, and its calls as they happen.

function runPage(id) {
  const head = element("div", { class: "run-head" });
  const waits = element("div", { class: "cards run-waits" });
  const outcome = element("div", { class: "run-outcome" });
  const trace = element("div", { class: "run-trace" });
  trace.append(byId("trace").content.cloneNode(true));
  const talk = messageBox(id);
  const partial = element("div", { id: "run-partial", class: "run-outcome" });
  byId("page").replaceChildren(element("div", { class: "run-page" }, head, outcome, partial, talk, waits, trace));
  const list = new WaitList(waits);
  const model = new TraceModel();
  const view = new View(model);
  const draw = throttled(150, () => {
    view.refresh();
    document.title = head.title ?? document.title;
  });
  let state;
  const load = async () => {
    const run = await get(`/runs/${encodeURIComponent(id)}`);
    state = run.state;
    showRun(run, head, outcome, load);
    talk.hidden = run.is_cancelled || !isUnfinished(run);
    list.update((run.waits ?? []).filter((wait) => wait.answered === null && !wait.is_withdrawn));
  };
  const ending = new AbortController();
  addEventListener("pagehide", () => ending.abort());
  follow(id, (name, data) => {
    if (name === "event") model.push(parseJson(data));
    else if (name === "partial") {
      partial.replaceChildren(fold("Result so far", () => anyValue(parseJson(data), { isProse: true }), { open: true }));
    } else {
      partial.replaceChildren();
      load().catch((error) => status(error.message, true));
      allWaiting().catch(() => {});
    }
    draw();
    return name === "state" && ["succeeded", "failed", "cancelled"].includes(JSON.parse(data).state) ? "end" : undefined;
  }, ending.signal);
  return repeat(async () => {
    if (state === undefined || !["succeeded", "failed", "cancelled"].includes(state)) await load();
  });
}

const isUnfinished = ({ state }) => ["queued", "running", "waiting"].includes(state);

/** Sends messages to a run while it has not ended. */
function messageBox(id) {
  const text = element("textarea", { rows: "1", "aria-label": "Message", placeholder: "Message to the run" });
  const note = element("p", { class: "error", role: "alert", hidden: true });
  const send = (interrupt) => {
    if (!text.value.trim()) return;
    post(`/runs/${encodeURIComponent(id)}/messages`, { message: text.value, interrupt }).then(() => {
      text.value = "";
      note.hidden = true;
    }).catch((error) => {
      note.textContent = visible(error.message);
      note.hidden = false;
    });
  };
  const button = (label, interrupt) => element("button", { type: "button", class: "more", onclick: () => send(interrupt) }, label);
  return element("section", { id: "run-message", class: "run-message", hidden: true },
    text, element("div", { class: "wait-buttons" }, button("Send", false), button("Interrupt", true)), note);
}

/** Lists the calls of a run without a result that may have changed something. */
function madeEffects({ effects, more_effects: more }) {
  const ending = (effect) => {
    if (effect.result !== undefined) return [" → ", element("code", {}, oneLine(visibleJson(effect.result), 400))];
    if (effect.error !== undefined) return [element("span", { class: "quiet" }, ` failed, and may have had its effect: ${effect.error}`)];
    return [element("span", { class: "quiet" }, " was not finished, and may have had its effect")];
  };
  const items = effects.map((effect) => element("li", {},
    element("strong", {}, effect.tool), " ", element("code", {}, oneLine(visibleJson(effect.arguments), 400)), ...ending(effect)));
  if (more > 0) items.push(element("li", { class: "quiet" }, `and ${more} more`));
  const none = element("p", { class: "quiet" }, "It made no effects.");
  return element("section", { id: "run-effects" }, element("h2", {}, "Effects that it made"), items.length ? element("ul", {}, items) : none);
}

/** Lists the calls of a run without a result whose outcome is unknown, with what a person may settle about each. */
function unknownCalls(run) {
  const note = element("p", { class: "error", role: "alert" });
  const settle = (step, outcome) => post(`/runs/${encodeURIComponent(run.id)}/settle`, { step, outcome })
    .then(() => location.reload()).catch((error) => (note.textContent = visible(error.message)));
  const open = (call) => {
    const text = element("textarea", { class: "mono", rows: "2", "aria-label": "Result", placeholder: "Its result, as JSON" });
    const happened = () => {
      try {
        settle(call.step, { result: parseJson(text.value) });
      } catch (error) {
        note.textContent = visible(`Not JSON: ${error.message}`);
      }
    };
    const button = (label, action) => element("button", { type: "button", class: "more", onclick: action }, label);
    return [text, element("div", { class: "wait-buttons" },
      button("It has happened, with this result", happened), button("It has not: run it when resumed", () => settle(call.step, "not_done")))];
  };
  const ending = ({ settled }) => (settled === "not_done" ? "has not happened" : "has happened");
  const items = run.unknown.map((call) => element("li", {}, element("strong", {}, call.tool), " ",
    element("span", { class: "quiet" }, call.began ? `began ${formatDate(parseTime(call.began))}` : ""), " ", element("code", {}, oneLine(call.step, 400)),
    call.settled === null || call.settled === undefined ? open(call) : element("span", { class: "quiet" }, ` settled: it ${ending(call)}`)));
  return element("section", { id: "run-unknown" }, element("h2", {}, "Calls that may have had their effect"), note, element("ul", {}, items));
}

function showRun(run, head, outcome, load) {
  const shown = JSON.stringify([run.state, run.is_cancelled, run.finished, run.wakes]);
  if (head.shown === shown) return;
  head.shown = shown;
  head.title = visible(`${run.entry} · ${run.state}`);
  document.title = head.title;
  const act = (text, path, kind) => {
    const button = element("button", { type: "button", class: kind, id: path }, text);
    button.addEventListener("click", () => {
      button.disabled = true;
      post(`/runs/${encodeURIComponent(run.id)}/${path}`, undefined).then(path === "resume" ? () => location.reload() : load)
        .catch((error) => status(error.message, true)).finally(() => (button.disabled = false));
    });
    return button;
  };
  head.replaceChildren(
    element("h1", {}, run.entry), stateChip(run), element("span", { class: "quiet" }, ago(run.created)),
    element("span", { class: "quiet" }, `by ${run.source.name ?? run.client}`),
    ...(run.wakes ? [element("span", { class: "quiet" }, `continues ${formatDate(parseTime(run.wakes))}`)] : []),
    ...(run.chat ? [element("a", { href: `/?chat=${encodeURIComponent(run.chat)}` }, "Chat")] : []),
    element("span", { class: "gap" }),
    isUnfinished(run) && !run.is_cancelled ? act("Cancel", "cancel", "more danger") : "",
    run.state === "failed" || run.state === "cancelled" ? act("Resume", "resume", "more") : "");
  outcome.replaceChildren();
  if (run.error !== undefined) append(outcome, [element("div", { class: "error", id: "run-error" }, plainText(run.error))]);
  if (run.effects !== undefined) append(outcome, [madeEffects(run)]);
  if (run.unknown?.length) append(outcome, [unknownCalls(run)]);
  if (run.result !== undefined) append(outcome, [element("div", { id: "run-result" }, fold("Result", () => anyValue(run.result, { isProse: true }), { open: true }))]);
}
