// Everything about one call.

class Detail {
  constructor(model, pane, { onSelect }) {
    Object.assign(this, { model, pane, onSelect });
    this.call = undefined;
  }

  /** Shows a call; `request` is the number of the request to open, from 1. */
  show(call, request) {
    this.call = call;
    this.sections = new Map();
    this.requests = call && new Requests(this.model, call, { opened: request, onSelect: this.onSelect });
    this.pane.replaceChildren();
    this.update();
    this.pane.scrollTop = 0;
    const opened = request && byId(`request-${request}`);
    if (opened) opened.scrollIntoView();
  }

  /** Makes the sections anew that have changed: where a person reads, and what is unfolded there, stays otherwise. */
  update() {
    const made = this.madeOrFault().filter(Boolean);
    for (const old of [...this.pane.children]) if (!made.includes(old)) old.remove();
    made.forEach((section, place) => {
      if (this.pane.children[place] !== section) this.pane.insertBefore(section, this.pane.children[place] ?? null);
    });
  }

  /** A log may have anything where a list or a text should be. */
  madeOrFault() {
    if (!this.call) return [element("p", { class: "hint" }, "Select a call.")];
    try {
      return this.made(this.call);
    } catch (fault) {
      return [element("p", { class: "hint" }, `The events of this call cannot be shown: ${fault}`)];
    }
  }

  made(call) {
    const decided = call.approvals.filter((approval) => approval.decided !== undefined).length;
    const edits = call.approvals.reduce((sum, approval) => sum + approval.edits.length, 0);
    const answered = call.questions.filter((question) => question.answered !== undefined).length;
    const facts = JSON.stringify([this.model.timeOf(call), call.own, call.total, call.children.length, waitingOf(call)]);
    if (call.requests.length) this.requests.update();
    return [
      this.kept("head", [call.status, call.what, call.by, call.replayed, call.label, call.isPrivate], () => this.head(call)),
      this.kept("facts", [facts], () => this.facts(call)),
      this.kept("error", [call.error], () => call.error !== undefined && section("Error", element("div", { class: "error" }, plainText(String(call.error))))),
      this.kept("approvals", [call.approvals.length, decided, edits], () => this.approvals(call)),
      this.kept("questions", [call.questions.length, answered], () => this.questions(call)),
      this.kept("arguments", [call.arguments], () =>
        call.arguments !== undefined && section("Arguments", anyValue(call.arguments, { isProse: true }), copyButton(call.arguments))),
      this.kept("result", [call.result], () =>
        call.result !== undefined && section("Result", anyValue(call.result, { isProse: call.what !== "tool" }), copyButton(call.result))),
      this.kept("files", [call.attachments], () => call.attachments.length > 0 && section("Files", call.attachments.join(", "))),
      this.kept("note", [call.note], () => call.note && section("Note for the operator", markdown(call.note))),
      this.kept("remarks", [call.remarks.length, call.progress.length, call.retries.length], () => this.remarks(call)),
      call.requests.length > 0 && this.requests.made,
    ];
  }

  /** Returns a section, which is made anew only if what it shows, `of`, is another. */
  kept(name, of, make) {
    const known = this.sections.get(name);
    if (known && isSame(known.of, of)) return known.made;
    const made = make();
    this.sections.set(name, { of, made });
    return made;
  }

  head(call) {
    const path = [];
    for (let above = call.parent; above; above = above.parent) {
      const target = above;
      path.unshift(element("button", { type: "button", class: "crumb", onclick: () => this.onSelect(target) }, above.name), " › ");
    }
    return element("header", { class: "detail-head" },
      element("div", { class: "path" }, path),
      element("h2", {}, element("span", { class: `dot ${call.what || "tool"}` }), call.name),
      element("div", { class: "chips" },
        chip(call.what || "call"), chip(call.status, call.status), call.by && chip(`called by ${CALLERS[call.by] ?? call.by}`),
        call.replayed && chip("from the journal"), labelChips({ label: call.label, is_private: call.isPrivate }), chip(`call ${call.id}`)));
  }

  facts(call) {
    const waiting = waitingOf(call);
    const { elapsed } = this.model.timeOf(call);
    const fact = (name, value, title) => value !== "" && element("div", { class: "fact", title }, element("dt", {}, name), element("dd", {}, value));
    const both = (format) => {
      const [own, total] = [format(call.own), format(call.total)];
      return own === total || !total ? total : [total, element("small", {}, own ? `${own} own` : "below it")];
    };
    return element("dl", { class: "facts" },
      fact("Started", formatClock(call.first), formatDate(call.first)),
      fact("Time", formatDuration(elapsed)),
      waiting > 0 && fact("Waiting", formatDuration(waiting), "For approvals, answers and rate limits; times that overlap count once"),
      waiting > 0 && fact("Working", formatDuration(Math.max(0, elapsed - waiting))),
      call.total.requests > 0 && fact("Requests", both((figures) => (figures.requests ? formatCount(figures.requests) : ""))),
      call.total.requests > 0 && fact("Tokens in / out", both(formatTokens)),
      call.total.cached > 0 && fact("Read from cache", formatCount(call.total.cached)),
      call.total.reasoning > 0 && fact("Reasoning", formatCount(call.total.reasoning)),
      (call.total.dollars > 0 || call.total.unpriced > 0) && fact("Cost", both(formatCost)),
      call.children.length > 0 && fact("Calls", formatCount(call.children.length)));
  }

  approvals(call) {
    if (!call.approvals.length) return null;
    return section("Approval", call.approvals.map((approval) => {
      const decided = approval.decided !== undefined;
      const verdict = !decided ? "Waiting for a decision" : approval.approved ? "Approved" : "Denied";
      const after = decided && approval.asked !== undefined ? formatDuration(approval.decided - approval.asked) : "";
      return element("div", { class: `decision ${!decided ? "running" : approval.approved ? "done" : "failed"}` },
        element("div", {},
          element("strong", {}, verdict),
          decided && ` by ${DECIDERS[approval.by] ?? approval.by}`,
          after && ` after ${after}`,
          approval.replayed && ", from the journal",
          decided && element("time", { title: formatDate(approval.decided) }, ` at ${formatClock(approval.decided)}`)),
        approval.summary && element("div", { class: "quiet" }, oneLine(approval.summary, 300)),
        approval.origins?.length > 0 && fold("Where the values came from", () => origins(approval.origins, (value) => this.jump(call, value))),
        approval.edits.map((edit) => refusedEdit(edit, approval.arguments ?? approval.given ?? call.arguments)),
        approval.reason && element("div", {}, "Reason: ", approval.reason),
        approval.rule && element("div", { class: "quiet" }, `Rule: ${ruleName(approval.rule)}`,
          approval.scope && approval.scope !== "call" && ` · holds for the ${approval.scope}`),
        approval.edited !== undefined && element("div", {}, "With other arguments:", lineDiff(pretty(approval.arguments ?? approval.given ?? call.arguments), pretty(approval.edited))));
    }));
  }

  /** A button for the call that returned a value. */
  jump(call, { call: id }) {
    const source = this.model.run(call.run).calls.get(id);
    return source !== undefined && element("button", { type: "button", class: "crumb", onclick: () => this.onSelect(source) }, `show call ${source.id}`);
  }

  questions(call) {
    if (!call.questions.length) return null;
    return section("Questions", call.questions.map((question) => element("div", { class: `decision ${question.answered === undefined ? "running" : "done"}` },
      element("div", {}, question.prompt),
      question.choices.length > 0 && element("div", { class: "quiet" }, question.choices.join(" · ")),
      question.answered === undefined
        ? element("div", { class: "quiet" }, "Not answered")
        : element("div", {}, element("strong", {}, question.answer), element("time", {}, ` after ${formatDuration(question.answered - question.asked)}`)))));
  }

  remarks(call) {
    const all = [
      ...call.remarks,
      ...call.progress.map(({ time, text }) => ({ time, text: `Progress: ${text}` })),
      ...call.retries.map(({ time, reason }) => ({ time, text: `Asked the model again: ${reason}` })),
    ].sort((a, b) => a.time - b.time);
    if (!all.length) return null;
    return section("Events", all.slice(0, 500).map(({ time, text }) =>
      element("div", { class: "remark" }, element("time", {}, `+${formatDuration(time - call.first)}`), element("span", {}, text))));
  }
}

/** Lists where the values of arguments came from; `jump` returns a button for the call that returned a value, if it is known. */
function origins(found, jump = () => false) {
  return element("ul", { class: "origins" }, found.map((value) =>
    element("li", {}, element("code", {}, value.argument), ` ${originText(value)} `, labelChips(value), " ", jump(value))));
}

/** Shows whose text a value may carry, and whether it is private; nothing for what is trusted and public. */
function labelChips({ label, is_private: isPrivate }) {
  return [label === "untrusted" && chip("untrusted", "failed"), label === "bounded" && chip("bounded"), isPrivate === true && chip("private", "running")];
}

/** Returns in words where a value came from. */
function originText({ from, summary, field, is_part: isPart }) {
  if (from === "result") return `${isPart ? "partly " : ""}from ${summary}${field ? `, field ${field}` : ""}, not in the request`;
  const texts = {
    user: "in the request", client: "in the client's call", default: "the default", code: "from the code of the program", approver: "from the approver",
    conversation: "from an earlier message of the conversation, not in the request",
    literal: "written by the model before it read untrusted text, not in the request",
  };
  return texts[from] ?? "neither in the request nor in what was read";
}

/** Shows arguments of the approver that cannot run, beside those of the call. */
function refusedEdit({ arguments: edited, rule, reason }, before) {
  return element("div", { class: "refused-edit" },
    element("div", {}, element("strong", {}, "Edit refused"), rule ? ` by a rule: ${reason}` : `: ${reason}`),
    rule && element("div", { class: "quiet" }, `Rule: ${ruleName(rule)}`),
    lineDiff(pretty(before), pretty(edited)));
}

const CALLERS = { user: "the user", code: "code", model: "a model" };
const DECIDERS = {
  policy: "a rule", mode: "the mode of the run", approver: "the approver", reviewer: "the reviewer", memory: "an earlier decision", cancellation: "the end of the run",
};

function ruleName(rule) {
  if (typeof rule === "string") return rule.replaceAll("_", " ");
  const [[kind, of] = ["", ""]] = Object.entries(rule ?? {});
  return `${kind.replaceAll("_", " ")} ${of}`;
}

/** Returns whether two lists have the same values, of which objects are the same if they are one. */
function isSame(before, now) {
  return before !== undefined && before.every((value, place) => Object.is(value, now[place]));
}

function section(title, content, tools) {
  return element("section", {}, element("div", { class: "section-head" }, element("h3", {}, title), tools), content);
}

function chip(text, kind = "") {
  return element("span", { class: `chip ${kind}` }, text);
}

function pretty(value) {
  return textOf(value, 2);
}

function copyButton(value) {
  const button = element("button", { type: "button", class: "copy" }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(pretty(value));
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not allowed here";
    }
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  return button;
}
