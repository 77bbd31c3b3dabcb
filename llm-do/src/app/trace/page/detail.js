// Everything about one call.

class Detail {
  constructor(model, pane, { onSelect }) {
    Object.assign(this, { model, pane, onSelect });
    this.call = undefined;
    this.request = undefined;
  }

  /** Shows a call; `request` is the number of the request to open, from 1. */
  show(call, request) {
    this.call = call;
    this.pane.replaceChildren();
    append(this.pane, this.partsOrFault(call, request));
    this.pane.scrollTop = 0;
    const opened = request && byId(`request-${request}`);
    if (opened) opened.scrollIntoView();
  }

  /** A log may have anything where a list or a text should be. */
  partsOrFault(call, request) {
    try {
      return call ? this.parts(call, request) : [element("p", { class: "hint" }, "Select a call.")];
    } catch (fault) {
      return [element("p", { class: "hint" }, `The events of this call cannot be shown: ${fault}`)];
    }
  }

  parts(call, request) {
    return [
      this.head(call),
      this.facts(call),
      call.error !== undefined && section("Error", element("div", { class: "error" }, plainText(String(call.error)))),
      this.approvals(call),
      this.questions(call),
      call.arguments !== undefined && section("Arguments", anyValue(call.arguments, { isProse: true }), copyButton(call.arguments)),
      call.result !== undefined && section("Result", anyValue(call.result, { isProse: call.what !== "tool" }), copyButton(call.result)),
      call.attachments.length > 0 && section("Files", call.attachments.join(", ")),
      call.note && section("Note for the operator", markdown(call.note)),
      this.remarks(call),
      this.requests(call, request),
    ];
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
        call.replayed && chip("from the journal"), chip(`call ${call.id}`)));
  }

  facts(call) {
    const waiting = waitingOf(call);
    const elapsed = call.end - call.start;
    const fact = (name, value, title) => value !== "" && element("div", { class: "fact", title }, element("dt", {}, name), element("dd", {}, value));
    const both = (format) => {
      const [own, total] = [format(call.own), format(call.total)];
      return own === total || !total ? total : [total, element("small", {}, own ? `${own} own` : "below it")];
    };
    return element("dl", { class: "facts" },
      fact("Started", formatClock(call.start), formatDate(call.start)),
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
          decided && element("time", { title: formatDate(approval.decided) }, ` at ${formatClock(approval.decided)}`)),
        approval.summary && element("div", { class: "quiet" }, oneLine(approval.summary, 300)),
        approval.reason && element("div", {}, "Reason: ", approval.reason),
        approval.rule && element("div", { class: "quiet" }, `Rule: ${ruleName(approval.rule)}`,
          approval.scope && approval.scope !== "call" && ` · holds for the ${approval.scope}`),
        approval.edited !== undefined && element("div", {}, "With other arguments:", lineDiff(pretty(call.approvals[0].given ?? call.arguments), pretty(approval.edited))));
    }));
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
      element("div", { class: "remark" }, element("time", {}, `+${formatDuration(time - call.start)}`), element("span", {}, text))));
  }

  requests(call, opened) {
    if (!call.requests.length) return null;
    const list = call.requests.map((request, place) => {
      const isOpen = opened ? place + 1 === opened : place === call.requests.length - 1 || call.requests.length <= 3;
      const made = fold(this.requestHead(request, place), () => this.requestBody(call, request, place), { open: isOpen, kind: "request" });
      made.id = `request-${place + 1}`;
      return made;
    });
    const open = (yes) => () => list.forEach((made) => (made.open = yes));
    const buttons = call.requests.length > 1 && element("span", { class: "tools" },
      element("button", { type: "button", onclick: open(true) }, "Open all"),
      element("button", { type: "button", onclick: open(false) }, "Close all"));
    return section(`Requests to the model (${call.requests.length})`, list, buttons);
  }

  requestHead(request, place) {
    const usage = request.usage && used(request.usage.usage ?? {});
    const took = request.answered !== undefined ? formatDuration(request.answered - request.sent) : "no answer";
    const first = request.firstDelta !== undefined && request.answered !== undefined ? `first words after ${formatDuration(request.firstDelta - request.sent)}` : "";
    return [
      element("span", { class: "request-number" }, `${place + 1}`),
      element("span", { class: "request-model" }, request.model),
      element("span", { class: "quiet" }, [took, usage && `${formatCount(usage.input)} / ${formatCount(usage.output)} tokens`, first, request.replayed && "from the journal"].filter(Boolean).join(" · ")),
    ];
  }

  requestBody(call, request, place) {
    const conversation = this.model.conversation(call, place);
    const answer = element("div", {}, this.answer(call, request));
    if (!conversation) {
      return [
        element("p", { class: "quiet" }, `${counted(request.count, "message")}, ${counted(request.tools.length, "tool")}. `,
          "The log has no messages; record them with ", element("code", {}, "--content"), "."),
        answer,
      ];
    }
    const before = place > 0 ? call.requests[place - 1] : undefined;
    const { messages, kept, removed } = conversation;
    const show = (message, kind) => this.message(call, message, kind);
    return [
      this.instructions(call, request, before),
      this.tools(call, request, before),
      this.output(call, request),
      kept > 0 && fold(`${counted(kept, "earlier message")}`, () => messages.slice(0, kept).map((message) => show(message, "old")), { kind: "earlier" }),
      removed.length > 0 && fold(`${counted(removed.length, "message")} of the request before ${removed.length === 1 ? "was" : "were"} removed or replaced`,
        () => removed.map((message) => show(message, "removed")), { kind: "earlier" }),
      messages.slice(kept).map((message) => show(message, place > 0 ? "new" : "")),
      answer,
    ];
  }

  instructions(call, request, before) {
    const given = request.content.instructions;
    if (!given) return null;
    const text = this.model.defined(call, "instructions", given);
    const last = before?.content?.instructions;
    if (text === undefined) return element("p", { class: "quiet" }, "The event with the instructions is missing from this log.");
    if (last && last.digest !== given.digest) {
      return fold("Instructions, changed", () => lineDiff(this.model.defined(call, "instructions", last) ?? "", text), { open: true, kind: "changed" });
    }
    return fold(last ? "Instructions, unchanged" : "Instructions", () => markdown(text), { open: !last && text.length < 1500, kind: "instructions" });
  }

  tools(call, request, before) {
    const given = request.content.tools;
    if (!given) return null;
    const tools = this.model.defined(call, "tools", given);
    const last = before?.content?.tools;
    const old = new Set(before?.tools ?? []);
    const added = before ? request.tools.filter((name) => !old.has(name)) : [];
    const removed = before ? before.tools.filter((name) => !request.tools.includes(name)) : [];
    const change = [...added.map((name) => `+${name}`), ...removed.map((name) => `−${name}`)].join(" ");
    const state = last?.digest === given.digest ? ", unchanged" : change ? `: ${change}` : "";
    return fold(`${counted(request.tools.length, "tool")}${state}`, () => (tools ?? request.tools.map((name) => ({ name }))).map((tool) =>
      fold([element("code", {}, tool.name), element("span", { class: "quiet" }, oneLine(tool.description ?? "", 100))],
        () => [markdown(tool.description ?? ""), tool.parameters !== undefined && jsonValue(tool.parameters)], { kind: "tool-spec" })), { kind: "tools-list" });
  }

  /** Shows the schema that the answer has to follow. */
  output(call, request) {
    const schema = this.model.defined(call, "output", request.content.output);
    return schema && fold(`Schema of the answer: ${schema.name}`, () => jsonValue(schema.schema), { kind: "tools-list" });
  }

  message(call, message, kind) {
    const parts = message.role === "tool"
      ? message.results.map((result) => this.toolResult(call, result))
      : message.parts.map((part) => this.part(call, part));
    const isKnown = Object.hasOwn(ROLES, message.role);
    return element("article", { class: `message ${isKnown ? message.role : ""} ${kind}` },
      element("div", { class: "role" }, isKnown ? ROLES[message.role] : message.role), parts);
  }

  toolResult(call, result) {
    return element("div", { class: result.is_error ? "part-result fault" : "part-result" },
      element("div", { class: "part-head" }, element("code", {}, result.name), result.is_error && chip("error", "failed"), element("span", { class: "quiet" }, result.call_id)),
      anyValue(result.content), (result.attachments ?? []).map((file) => this.file(call, file)));
  }

  answer(call, request) {
    if (!request.parts) {
      return request.partial ? element("article", { class: "message assistant partial" }, element("div", { class: "role" }, "Answer, not finished"), plainText(request.partial)) : [];
    }
    let file = 0;
    const parts = request.parts.map((part) => (part.type === "attachment" ? this.file(call, { ...part, ...request.files[file++] }) : this.part(call, part)));
    return element("article", { class: "message assistant answer" }, element("div", { class: "role" }, "Answer"), parts);
  }

  part(call, part) {
    switch (part.type) {
      case "text":
        return anyValue(part.text, { isProse: true });
      case "thinking":
        return part.text ? fold("Thinking", () => markdown(part.text), { kind: "thinking" }) : element("p", { class: "quiet" }, "Thinking, not shown by the provider");
      case "tool_call":
        return this.toolCall(call, part);
      case "server_side_tool":
        return fold([element("code", {}, part.name), element("span", { class: "quiet" }, "run by the provider"), part.error && chip(part.error, "failed")],
          () => [jsonValue(part.input), jsonValue(part.output)], { kind: "call" });
      case "attachment":
        return this.file(call, part);
      default:
        return fold(oneLine(part.type ?? "part", 40), () => jsonValue(part), { kind: "thinking" });
    }
  }

  /** Shows a request to call a tool, with a link to the call that it became. */
  toolCall(call, part) {
    const parsed = parsedJson(part.arguments);
    const target = this.linked(call).get(part);
    return element("div", { class: "part-call" },
      element("div", { class: "part-head" }, "call ", element("code", {}, part.name), element("span", { class: "quiet" }, part.id),
        target && element("button", { type: "button", class: "crumb", onclick: () => this.onSelect(target) }, `call ${target.id} →`)),
      parsed === undefined ? plainText(part.arguments) : jsonValue(parsed));
  }

  /** Returns the calls that the parts of answers became: those of the same name, in their order. */
  linked(call) {
    if (this.links?.call === call && this.links.version === call.version) return this.links.targets;
    const made = new Map();
    for (const child of call.children) if (child.by === "model") made.set(child.name, [...(made.get(child.name) ?? []), child]);
    const targets = new Map();
    for (const part of call.requests.flatMap((request) => request.parts ?? [])) {
      if (part.type === "tool_call" && made.get(part.name)?.length) targets.set(part, made.get(part.name).shift());
    }
    this.links = { call, version: call.version, targets };
    return targets;
  }

  file(call, info) {
    const file = info.data ? info : this.model.file(call.run, info.digest);
    const label = [info.name, info.media_type, info.bytes !== undefined && formatBytes(info.bytes)].filter(Boolean).join(" · ");
    const isImage = file && /^image\/(png|jpeg|gif|webp|avif|bmp)$/.test(file.media_type) && /^[A-Za-z0-9+/=]+$/.test(file.data);
    return element("figure", { class: "file" },
      isImage && element("img", { src: `data:${file.media_type};base64,${file.data}`, alt: label, loading: "lazy" }),
      element("figcaption", {}, isImage ? label : `File: ${label}`));
  }
}

const ROLES = { user: "User", assistant: "Model", tool: "Results of tools" };
const CALLERS = { user: "the user", code: "code", model: "a model" };
const DECIDERS = {
  policy: "a rule", mode: "the mode of the run", approver: "the approver", memory: "an earlier decision", cancellation: "the end of the run",
};

function ruleName(rule) {
  if (typeof rule === "string") return rule.replaceAll("_", " ");
  const [[kind, of] = ["", ""]] = Object.entries(rule ?? {});
  return `${kind.replaceAll("_", " ")} ${of}`;
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
