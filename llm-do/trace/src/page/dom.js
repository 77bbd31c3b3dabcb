// Elements. No text is ever parsed as HTML: texts become text nodes, and attributes are set one by one.

/** The attributes that a person reads or hears. */
const READ = ["alt", "aria-label", "placeholder", "title"];

/**
 * Creates an element. `properties` are attributes, except `on…`, which are listeners, and `class`; children are elements,
 * texts, or nothing.
 */
function element(name, properties = {}, ...children) {
  const created = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) created.addEventListener(key.slice(2), value);
    else created.setAttribute(key, value === true ? "" : READ.includes(key) ? visible(String(value)) : String(value));
  }
  append(created, children);
  return created;
}

function append(parent, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    parent.append(child instanceof Node ? child : document.createTextNode(visible(String(child))));
  }
}

function replace(parent, children) {
  parent.replaceChildren();
  append(parent, children);
}

function byId(id) {
  return document.getElementById(id);
}

/** Creates a part that unfolds; its content is made when it is opened for the first time. */
function fold(summary, content, { open = false, kind = "" } = {}) {
  const body = element("div", { class: "fold-body" });
  const details = element("details", { class: `fold ${kind}` }, element("summary", {}, summary), body);
  let made = false;
  const make = () => {
    if (made || !details.open) return;
    made = true;
    append(body, [content()]);
  };
  details.addEventListener("toggle", make);
  details.open = open;
  make();
  return details;
}

/** The number of characters of a text that are shown before the user asks for all. */
const LONG_TEXT = 50_000;

/** Shows a text as it is. */
function plainText(text, kind = "") {
  if (text.length <= LONG_TEXT) return element("pre", { class: `plain ${kind}` }, text);
  const shown = element("pre", { class: `plain ${kind}` }, text.slice(0, LONG_TEXT));
  const rest = element("button", { class: "more", type: "button" }, `Show all ${formatCount(text.length)} characters`);
  rest.addEventListener("click", () => {
    shown.textContent = visible(text);
    rest.remove();
  });
  return element("div", {}, shown, rest);
}

/** How many entries of a list or object are shown before the user asks for more. */
const MANY_ENTRIES = 200;

/** Shows a JSON value; lists and objects fold. */
function jsonValue(value, { depth = 0, open = true } = {}) {
  if (value === null || typeof value !== "object" || value instanceof ExactInteger) return jsonLeaf(value);
  const isList = Array.isArray(value);
  const entries = isList ? value.map((item, place) => [place, item]) : Object.entries(value);
  if (entries.length === 0) return element("span", { class: "json-empty" }, isList ? "[]" : "{}");
  // What is small and not inside another value needs no fold.
  if (depth === 0 && entries.length <= 20) return jsonEntries(entries, isList, depth);
  const summary = element("span", { class: "json-preview" }, oneLine(value, 100));
  const size = element("span", { class: "json-size" }, isList ? `[${entries.length}]` : `{${entries.length}}`);
  return fold([size, summary], () => jsonEntries(entries, isList, depth), { open: open && depth < 2, kind: "json" });
}

function jsonEntries(entries, isList, depth, from = 0) {
  const shown = entries.slice(from, from + MANY_ENTRIES);
  const list = element("div", { class: "json-entries" }, shown.map(([key, item]) =>
    element("div", { class: "json-entry" },
      element("span", { class: isList ? "json-index" : "json-key" }, String(key)),
      jsonValue(item, { depth: depth + 1, open: entries.length <= 20 }))));
  if (from + MANY_ENTRIES < entries.length) {
    const rest = element("button", { class: "more", type: "button" }, `Show more of ${formatCount(entries.length)}`);
    rest.addEventListener("click", () => rest.replaceWith(jsonEntries(entries, isList, depth, from + MANY_ENTRIES)));
    list.append(rest);
  }
  return list;
}

function jsonLeaf(value) {
  if (value instanceof ExactInteger) return element("span", { class: "json-number" }, value.digits);
  if (typeof value !== "string") return element("span", { class: `json-${value === null ? "null" : typeof value}` }, String(value));
  if (value.length > 120 || value.includes("\n")) return plainText(value, "json-string");
  return element("span", { class: "json-string" }, value);
}

/** Shows a value: text that people or models wrote as Markdown, other text as it is, JSON in a text as JSON. */
function anyValue(value, { isProse = false } = {}) {
  if (typeof value !== "string") return jsonValue(value);
  const parsed = parsedJson(value);
  if (parsed !== undefined) return withSource(jsonValue(parsed), value);
  return isProse ? withSource(markdown(value), value) : plainText(value);
}

/** Shows what is made of a text, with a button for the text itself: what the model read or wrote. */
function withSource(made, text) {
  let source;
  const button = element("button", { type: "button", class: "source", "aria-pressed": "false", title: "The text itself" }, "Source");
  button.addEventListener("click", () => {
    source ??= plainText(text);
    const isShown = source.isConnected;
    (isShown ? source : made).replaceWith(isShown ? made : source);
    button.setAttribute("aria-pressed", String(!isShown));
  });
  return element("div", { class: "with-source" }, button, made);
}

/** Returns the list or object that a text is, if it is one. */
function parsedJson(text) {
  if (!/^\s*[[{]/.test(text) || text.length > 1 << 20) return undefined;
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
