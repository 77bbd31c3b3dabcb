// Which calls a search and the filters show.

class Search {
  constructor(model) {
    this.model = model;
    this.words = [];
    this.kinds = new Set();
    this.name = "";
    this.faultsOnly = false;
    /** The lower-case texts of calls, with the version that they were made of. */
    this.texts = new WeakMap();
  }

  set text(text) {
    this.words = text.toLowerCase().split(/\s+/).filter(Boolean);
  }

  get isActive() {
    return this.words.length > 0 || this.kinds.size > 0 || this.name !== "" || this.faultsOnly;
  }

  /** Returns whether a call itself is what is looked for. */
  matches(call) {
    if (this.kinds.size && !this.kinds.has(call.what || "tool")) return false;
    if (this.name && call.name !== this.name) return false;
    if (this.faultsOnly && !isFault(call)) return false;
    if (!this.words.length) return true;
    const text = this.textOf(call);
    return this.words.every((word) => text.includes(word));
  }

  /** Returns all that is said in a call: name, arguments, result, error, messages and decisions. */
  textOf(call) {
    const known = this.texts.get(call);
    if (known?.version === call.version) return known.text;
    const parts = [call.name, call.what, call.status, call.error ?? "", call.note ?? ""];
    const add = (value) => value !== undefined && parts.push(textOf(value));
    add(call.arguments);
    add(call.result);
    for (const approval of call.approvals) parts.push(approval.summary ?? "", approval.reason ?? "");
    for (const question of call.questions) parts.push(question.prompt, question.answer ?? "");
    for (const retry of call.retries) parts.push(retry.reason);
    for (const remark of [...call.remarks, ...call.progress]) parts.push(remark.text);
    for (const request of call.requests) {
      parts.push(request.model);
      add(request.content?.messages);
      add(request.content?.instructions?.value);
      add(request.parts);
    }
    const text = parts.join("\n").toLowerCase();
    this.texts.set(call, { version: call.version, text });
    return text;
  }

  /** Returns the calls that match and their callers; the set of those that match is `hits`. */
  found() {
    const hits = new Set();
    const shown = new Set();
    for (const call of this.model.calls) {
      if (!this.matches(call)) continue;
      hits.add(call);
      for (let above = call; above && !shown.has(above); above = above.parent) shown.add(above);
    }
    return { hits, shown };
  }
}
