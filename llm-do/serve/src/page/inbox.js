// Approvals and questions: what will run, and the answer of the person who sees it.

function inboxPage() {
  const cards = element("div", { id: "waiting", class: "cards" });
  const hint = element("p", { class: "hint", hidden: true }, "Nothing waits for you.");
  byId("page").replaceChildren(element("div", { class: "page" },
    element("div", { class: "page-head" }, element("h1", {}, "Inbox"),
      element("p", { class: "quiet keys" }, ["j k", " move  ", "a", " approve  ", "r", " for this run  ", "e", " edit  ", "d", " deny"].map(
        (text, place) => (place % 2 ? text : element("kbd", {}, text))))),
    cards, hint));
  const inbox = new WaitList(cards, { isAlone: true });
  document.addEventListener("keydown", (event) => inbox.press(event));
  return repeat(async () => {
    const waiting = await allWaiting();
    inbox.update(waiting);
    hint.hidden = waiting.length > 0;
  });
}

async function allWaiting() {
  const [approvals, questions] = await Promise.all([get("/approvals"), get("/questions")]);
  const all = [...approvals.waiting, ...questions.waiting].sort((a, b) => (a.created < b.created ? -1 : 1));
  // More are on further pages, and arrive once these are answered.
  byId("inbox-count").textContent = `${all.length}${approvals.next || questions.next ? "+" : ""}`;
  byId("inbox-count").hidden = all.length === 0;
  return all;
}

/** The cards of what waits; a card that a person is working on stays as it is. */
class WaitList {
  constructor(parent, { isAlone = false } = {}) {
    Object.assign(this, { parent, isAlone, cards: new Map() });
  }

  update(waiting) {
    const open = new Map(waiting.map((wait) => [wait.id, wait]));
    for (const [id, card] of this.cards) {
      const now = open.get(id);
      if (now && now.digest === card.wait.digest && !card.isGone) continue;
      // It shows how it ended for a while. A resumed run may ask the same again later.
      if (!now && !card.isGone) {
        card.look();
        continue;
      }
      card.made.remove();
      this.cards.delete(id);
    }
    for (const wait of waiting) {
      if (this.cards.has(wait.id)) continue;
      const card = new WaitCard(wait, { withRun: this.isAlone });
      this.cards.set(wait.id, card);
      this.parent.append(card.made);
    }
    // Only once: keys must not go to a card that the person has not chosen, if another has gone.
    if (this.isAlone && !this.hasFocused && document.activeElement === document.body) {
      const first = this.parent.querySelector(".wait-card");
      first?.focus();
      this.hasFocused = first !== null;
    }
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("input, textarea, select")) return;
    const cards = [...this.parent.querySelectorAll(".wait-card")];
    const at = cards.findIndex((made) => made.contains(document.activeElement));
    const card = [...this.cards.values()].find(({ made }) => made === cards[at]);
    const move = (step) => cards[Math.min(Math.max(at + step, 0), cards.length - 1)]?.focus();
    const actions = {
      j: () => move(1), ArrowDown: () => move(1), k: () => move(-1), ArrowUp: () => move(-1),
      a: () => card?.approve("call"), r: () => card?.approve("run"), e: () => card?.edit(), d: () => card?.deny(),
    };
    if (!Object.hasOwn(actions, event.key)) return;
    event.preventDefault();
    // A key that is held down decides one card, not those after it.
    if (!event.repeat || event.key === "j" || event.key === "k" || event.key.startsWith("Arrow")) actions[event.key]();
  }
}

class WaitCard {
  constructor(wait, { withRun }) {
    this.wait = wait;
    this.isClosed = false;
    this.isBusy = false;
    this.foot = element("div", { class: "wait-foot" });
    this.note = element("p", { class: "wait-note", role: "alert" });
    const isApproval = wait.kind === "approval";
    this.made = element("article", { class: `card wait-card ${wait.kind}`, tabindex: "0", "data-id": wait.id, "aria-label": isApproval ? wait.request.summary : wait.request.prompt },
      element("header", {},
        element("div", { class: "chips" }, chip(wait.kind, "running"), isApproval && chip(wait.request.effect.replace("_", " ")),
          withRun && element("a", { href: `/?run=${encodeURIComponent(wait.run)}`, class: "chip" }, wait.entry),
          element("span", { class: "quiet" }, ago(wait.created)))),
      isApproval ? this.approval() : this.question(), this.note, this.foot);
    isApproval ? this.approvalButtons() : this.answerForm();
  }

  approval() {
    const { summary, description, problem, path, preview, arguments: args, given, refused_edit: edit, context } = this.wait.request;
    return [
      element("h2", {}, summary), description && element("p", { class: "quiet" }, oneLine(description, 300)),
      path.length > 0 && element("p", { class: "path" }, path.join(" › ")),
      problem && element("p", { class: "error" }, problem), edit && refusedEdit(edit, args),
      context?.review && element("p", {}, "The reviewer did not decide: ", oneLine(context.review, 1000)),
      context?.line && element("p", { class: "origin-line" }, context.line),
      preview && element("pre", { class: "plain diff" }, preview.split("\n").map((line) => element("span", { class: diffKind(line) }, `${line}\n`))),
      fold("Arguments", () => anyValue(args), { open: !preview }),
      given !== null && given !== undefined && fold("As given by the caller", () => anyValue(given)),
      context && fold("Where it came from", () => this.context(context)),
    ];
  }

  /** The user's request, where the values came from, and what was read before. */
  context({ request, answers = [], origins: values = [], read = [] }) {
    return [
      request && element("div", {}, "The request: ", element("code", {}, request.entry), anyValue(request.arguments)),
      answers.map((answer) => element("div", {}, "An answer of the user: ", oneLine(answer, 300))),
      values.length > 0 && origins(values),
      read.length > 0 && element("div", {}, "Read before this call:", element("ul", {}, read.map(({ call, through }) =>
        element("li", {}, call, through.length > 0 && `, which read ${through.join(", ")}`)))),
    ];
  }

  question() {
    const { prompt, caller, problem } = this.wait.request;
    return [
      element("div", { class: "prompt" }, markdown(prompt)), element("p", { class: "path" }, caller),
      problem && element("p", { class: "error" }, problem),
    ];
  }

  approvalButtons() {
    const button = (text, action, kind = "more") => element("button", { type: "button", class: kind, onclick: action }, text);
    if (this.wait.request.began) {
      this.foot.replaceChildren(
        button("It has happened…", () => this.happened(), "primary"), button("It has not: run it", () => this.approve("call")),
        button("End the run…", () => this.deny(), "more danger"));
      return;
    }
    this.foot.replaceChildren(
      button("Approve", () => this.approve("call"), "primary"), button("Approve for this run", () => this.approve("run")),
      ...(this.wait.request.can_be_edited ? [button("Edit…", () => this.edit())] : []), button("Deny…", () => this.deny(), "more danger"));
  }

  /** The call began before, and this person knows its result. */
  happened() {
    const { result_schema: schema } = this.wait.request;
    const text = element("textarea", { class: "mono", rows: "4", "aria-label": "Result", placeholder: "Its result, as JSON" });
    if (schema) this.note.textContent = visible(`The schema of its result: ${JSON.stringify(schema)}`);
    this.ask(text, "It has happened, with this result", () => {
      let result;
      try {
        result = parseJson(text.value);
      } catch (error) {
        this.note.textContent = visible(`Not JSON: ${error.message}`);
        return undefined;
      }
      return this.send({ decision: "happened", result });
    });
  }

  approve(scope) {
    if (this.wait.request.began && scope !== "call") return undefined;
    if (this.wait.kind === "approval") return this.send({ decision: "approve", scope });
    return undefined;
  }

  edit() {
    if (this.wait.kind !== "approval" || !this.wait.request.can_be_edited) return;
    const text = element("textarea", { class: "mono", rows: "8", "aria-label": "Arguments" });
    text.value = visibleJson(this.wait.request.arguments);
    this.ask(text, "Approve with these arguments", () => {
      let args;
      try {
        args = parseJson(text.value);
      } catch (error) {
        this.note.textContent = visible(`Not JSON: ${error.message}`);
        return undefined;
      }
      return this.send({ decision: "edit", arguments: args });
    });
  }

  deny() {
    if (this.wait.kind !== "approval") return;
    const reason = element("input", { type: "text", placeholder: "The reason, which models may see", "aria-label": "Reason" });
    const deny = (stop) => this.send({ decision: "deny", reason: reason.value.trim() || "denied", stop });
    const stop = element("button", { type: "button", class: "more danger", onclick: () => deny(true) }, "Deny and end the run");
    if (this.wait.request.began) this.ask(reason, "End the run", () => deny(true));
    else this.ask(reason, "Deny", () => deny(false), [stop]);
  }

  /** Replaces the buttons by a field until the person is done or cancels. */
  ask(field, label, submit, others = []) {
    const form = element("form", { class: "ask" }, field, element("div", { class: "wait-buttons" },
      element("button", { class: "primary" }, label), ...others,
      element("button", { type: "button", class: "more", onclick: () => this.close() }, "Cancel")));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      submit();
    });
    form.addEventListener("keydown", (event) => event.key === "Escape" && this.close());
    this.foot.replaceChildren(form);
    field.focus();
    form.scrollIntoView({ block: "nearest" });
  }

  close() {
    this.note.textContent = "";
    this.approvalButtons();
    this.made.focus();
  }

  answerForm() {
    const { choices, several, accepts_text: acceptsText, default: usual } = this.wait.request;
    const name = `choice-${this.wait.id}`;
    const options = (choices ?? []).map((choice) => element("label", { class: "choice" },
      element("input", { type: several ? "checkbox" : "radio", name, value: choice, checked: choice === usual }), choice));
    const text = !choices?.length || acceptsText ? element("textarea", { rows: "2", "aria-label": "Answer", placeholder: usual ?? "" }) : undefined;
    const form = element("form", { class: "ask" }, options, text, element("div", { class: "wait-buttons" }, element("button", { class: "primary" }, "Answer")));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const chosen = [...form.querySelectorAll("input:checked")].map((input) => input.value);
      const typed = text?.value.trim();
      this.send({ answer: typed || (several ? chosen : chosen[0] ?? "") });
    });
    sendByKeys(form, { byEnter: true });
    this.foot.replaceChildren(form);
  }

  /** Shows what became of a wait that is no longer open: another tab or process decided it. */
  async look() {
    if (this.isClosed || this.isBusy) return;
    this.isBusy = true;
    try {
      const now = await get(`/${this.wait.kind}s/${encodeURIComponent(this.wait.id)}`);
      if (now.answered !== null) this.end(firstDecision(now), { isOwn: false });
      else if (now.is_withdrawn) this.end(WITHDRAWN, { isOwn: false });
    } catch (error) {
      if (error.status === 404) this.end(WITHDRAWN, { isOwn: false });
    } finally {
      this.isBusy = false;
    }
  }

  async send(answer) {
    if (this.isClosed || this.isBusy) return;
    this.isBusy = true;
    this.note.textContent = "";
    for (const button of this.foot.querySelectorAll("button")) button.disabled = true;
    try {
      await post(`/${this.wait.kind}s/${encodeURIComponent(this.wait.id)}`, { digest: this.wait.digest, ...answer });
      this.end(answer.stop ? "Denied, and the run ends." : (SENT[answer.decision] ?? "Answered."));
    } catch (error) {
      if (error.code === "already_answered") this.end(firstDecision(error.current));
      else if (error.code === "withdrawn") this.end(WITHDRAWN);
      else {
        this.note.textContent = visible(error.message);
        for (const button of this.foot.querySelectorAll("button")) button.disabled = false;
      }
    } finally {
      this.isBusy = false;
    }
  }

  /** Shows how it ended, and makes room; after a decision of this person, the next card has the keys. */
  end(text, { isOwn = true } = {}) {
    this.isClosed = true;
    this.note.textContent = "";
    this.made.classList.add("closed");
    this.foot.replaceChildren(element("p", { class: "quiet outcome" }, text));
    const next = isOwn ? this.made.nextElementSibling ?? this.made.previousElementSibling : undefined;
    if (this.made.contains(document.activeElement) || document.activeElement === document.body) next?.focus();
    setTimeout(() => {
      this.made.remove();
      this.isGone = true;
    }, 6000);
  }
}

const SENT = { happened: "Noted as happened, unless the result does not fit.", approve: "Approved.", edit: "Approved with these arguments, unless they cannot run.", deny: "Denied." };

const WITHDRAWN = "The run no longer waits for it.";

function firstDecision({ answered_by: by, answer }) {
  return `${by} was first: ${answerText(answer)}.`;
}

function answerText(answer) {
  if (typeof answer === "string") return answer;
  return { happened: "it has happened", approve: "approved", edit: "approved with other arguments", deny: "denied" }[answer?.decision] ?? "answered";
}

function diffKind(line) {
  if (line.startsWith("+")) return "added";
  if (line.startsWith("-")) return "removed";
  return line.startsWith("@@") ? "place" : "";
}
