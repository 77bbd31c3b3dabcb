// The requests of a call to its model: what was new to it in each, and its answer.

class Requests {
  /** `opened` is the number of the request to open, from 1. */
  constructor(model, call, { opened, onSelect }) {
    Object.assign(this, { model, call, opened, onSelect, shown: [] });
    this.title = element("h3");
    const open = (isOpen) => () => this.shown.forEach(({ made }) => (made.open = isOpen));
    this.buttons = element("span", { class: "tools" },
      element("button", { type: "button", onclick: open(true) }, "Open all"),
      element("button", { type: "button", onclick: open(false) }, "Close all"));
    this.list = element("div");
    this.made = element("section", {}, element("div", { class: "section-head" }, this.title, this.buttons), this.list);
  }

  /** Shows what is new; what a person has unfolded stays. */
  update() {
    const { requests } = this.call;
    this.title.textContent = `Requests to the model (${requests.length})`;
    this.buttons.hidden = requests.length < 2;
    requests.forEach((request, place) => {
      const shown = (this.shown[place] ??= this.add(request, place));
      const links = (request.parts ?? []).filter((part) => this.linked().has(part)).length;
      const state = [request.answered, request.parts, request.usage, request.partial, links];
      if (isSame(shown.state, state)) return;
      shown.state = state;
      replace(shown.head, this.head(request, place));
      // Not before the request is opened.
      if (shown.answer.parentNode) replace(shown.answer, [this.answer(request)]);
    });
  }

  add(request, place) {
    const { requests } = this.call;
    const [head, answer] = [element("span", { class: "request-head" }), element("div")];
    const open = this.opened ? place + 1 === this.opened : place === requests.length - 1 || requests.length <= 3;
    const body = () => {
      replace(answer, [this.answer(request)]);
      return this.body(request, place, answer);
    };
    const made = fold(head, body, { open, kind: "request" });
    made.id = `request-${place + 1}`;
    this.list.append(made);
    return { made, head, answer, state: undefined };
  }

  head(request, place) {
    const usage = request.usage && used(request.usage.usage ?? {});
    const took = request.answered !== undefined ? formatDuration(request.answered - request.sent) : "no answer";
    const first = request.firstDelta !== undefined && request.answered !== undefined ? `first words after ${formatDuration(request.firstDelta - request.sent)}` : "";
    return [
      element("span", { class: "request-number" }, `${place + 1}`),
      element("span", { class: "request-model" }, request.model),
      element("span", { class: "quiet" }, [took, usage && `${formatCount(usage.input)} / ${formatCount(usage.output)} tokens`, first, request.replayed && "from the journal"].filter(Boolean).join(" · ")),
    ];
  }

  body(request, place, answer) {
    const { call } = this;
    const conversation = this.model.conversation(call, place);
    if (!conversation) {
      return [
        element("p", { class: "quiet" }, `${counted(request.count, "message")}, ${counted(request.tools.length, "tool")}. `,
          "The log has no messages; record them with ", element("code", {}, "--content"), "."),
        answer,
      ];
    }
    const before = place > 0 ? call.requests[place - 1] : undefined;
    const { messages, kept, removed } = conversation;
    const show = (message, kind) => this.message(message, kind);
    return [
      this.instructions(request, before),
      this.tools(request, before),
      this.output(request),
      kept > 0 && fold(`${counted(kept, "earlier message")}`, () => messages.slice(0, kept).map((message) => show(message, "old")), { kind: "earlier" }),
      removed.length > 0 && fold(`${counted(removed.length, "message")} of the request before ${removed.length === 1 ? "was" : "were"} removed or replaced`,
        () => removed.map((message) => show(message, "removed")), { kind: "earlier" }),
      messages.slice(kept).map((message) => show(message, place > 0 ? "new" : "")),
      answer,
    ];
  }

  instructions(request, before) {
    const given = request.content.instructions;
    if (!given) return null;
    const text = this.model.defined(this.call, "instructions", given);
    const last = before?.content?.instructions;
    if (text === undefined) return element("p", { class: "quiet" }, "The event with the instructions is missing from this log.");
    if (last && last.digest !== given.digest) {
      return fold("Instructions, changed", () => lineDiff(this.model.defined(this.call, "instructions", last) ?? "", text), { open: true, kind: "changed" });
    }
    return fold(last ? "Instructions, unchanged" : "Instructions", () => markdown(text), { open: !last && text.length < 1500, kind: "instructions" });
  }

  tools(request, before) {
    const given = request.content.tools;
    if (!given) return null;
    const tools = this.model.defined(this.call, "tools", given);
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
  output(request) {
    const schema = this.model.defined(this.call, "output", request.content.output);
    return schema && fold(`Schema of the answer: ${schema.name}`, () => jsonValue(schema.schema), { kind: "tools-list" });
  }

  message(message, kind) {
    const parts = message.role === "tool"
      ? message.results.map((result) => this.toolResult(result))
      : message.parts.map((part) => this.part(part));
    const isKnown = Object.hasOwn(ROLES, message.role);
    return element("article", { class: `message ${isKnown ? message.role : ""} ${kind}` },
      element("div", { class: "role" }, isKnown ? ROLES[message.role] : message.role), parts);
  }

  toolResult(result) {
    return element("div", { class: result.is_error ? "part-result fault" : "part-result" },
      element("div", { class: "part-head" }, element("code", {}, result.name), result.is_error && chip("error", "failed"), element("span", { class: "quiet" }, result.call_id)),
      anyValue(result.content), (result.attachments ?? []).map((file) => this.file(file)));
  }

  answer(request) {
    if (!request.parts) {
      return request.partial ? element("article", { class: "message assistant partial" }, element("div", { class: "role" }, "Answer, not finished"), plainText(request.partial)) : [];
    }
    let file = 0;
    const parts = request.parts.map((part) => (part.type === "attachment" ? this.file({ ...part, ...request.files[file++] }) : this.part(part)));
    return element("article", { class: "message assistant answer" }, element("div", { class: "role" }, "Answer"), parts);
  }

  part(part) {
    switch (part.type) {
      case "text":
        return anyValue(part.text, { isProse: true });
      case "thinking":
        return part.text ? fold("Thinking", () => markdown(part.text), { kind: "thinking" }) : element("p", { class: "quiet" }, "Thinking, not shown by the provider");
      case "tool_call":
        return this.toolCall(part);
      case "server_side_tool":
        return fold([element("code", {}, part.name), element("span", { class: "quiet" }, "run by the provider"), part.error && chip(part.error, "failed")],
          () => [jsonValue(part.input), jsonValue(part.output)], { kind: "call" });
      case "attachment":
        return this.file(part);
      default:
        return fold(oneLine(part.type ?? "part", 40), () => jsonValue(part), { kind: "thinking" });
    }
  }

  /** Shows a request to call a tool, with a link to the call that it became. */
  toolCall(part) {
    const parsed = parsedJson(part.arguments);
    const target = this.linked().get(part);
    return element("div", { class: "part-call" },
      element("div", { class: "part-head" }, "call ", element("code", {}, part.name), element("span", { class: "quiet" }, part.id),
        target && element("button", { type: "button", class: "crumb", onclick: () => this.onSelect(target) }, `call ${target.id} →`)),
      parsed === undefined ? plainText(part.arguments) : jsonValue(parsed));
  }

  /** Returns the calls that the parts of answers became: those of the same name, in their order. */
  linked() {
    const { call } = this;
    const version = `${call.version} ${call.children.length}`;
    if (this.links?.version === version) return this.links.targets;
    const made = new Map();
    for (const child of call.children) if (child.by === "model") made.set(child.name, [...(made.get(child.name) ?? []), child]);
    const targets = new Map();
    for (const part of call.requests.flatMap((request) => request.parts ?? [])) {
      if (part.type === "tool_call" && made.get(part.name)?.length) targets.set(part, made.get(part.name).shift());
    }
    this.links = { version, targets };
    return targets;
  }

  file(info) {
    const file = info.data ? info : this.model.file(this.call.run, info.digest);
    const label = [info.name, info.media_type, info.bytes !== undefined && formatBytes(info.bytes)].filter(Boolean).join(" · ");
    const isImage = file && /^image\/(png|jpeg|gif|webp|avif|bmp)$/.test(file.media_type) && /^[A-Za-z0-9+/=]+$/.test(file.data);
    return element("figure", { class: "file" },
      isImage && element("img", { src: `data:${file.media_type};base64,${file.data}`, alt: label, loading: "lazy" }),
      element("figcaption", {}, isImage ? label : `File: ${label}`));
  }
}

const ROLES = { user: "User", assistant: "Model", tool: "Results of tools" };
