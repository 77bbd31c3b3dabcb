// Markdown as elements: headings, lists, quotes, code, tables, emphasis and links. HTML in it stays text, images are not
// loaded, and every loop moves forward, so that no text takes more than linear time.

/** The number of characters that are rendered; a longer text is shown as it is. */
const LONG_MARKDOWN = 100_000;
const MAX_QUOTES = 8;
/** A browser makes room for each column in each row of a table. */
const MAX_COLUMNS = 200;

function markdown(text) {
  if (text.length > LONG_MARKDOWN) return plainText(text);
  return element("div", { class: "markdown" }, blocks(text.replace(/\r\n?/g, "\n").split("\n"), 0));
}

function blocks(lines, depth) {
  const made = [];
  for (let at = 0; at < lines.length;) {
    const block = fence(lines, at) ?? heading(lines, at) ?? rule(lines, at) ?? quote(lines, at, depth) ??
      list(lines, at, depth) ?? table(lines, at) ?? paragraph(lines, at);
    if (block.made) made.push(block.made);
    at = block.next;
  }
  return made;
}

function fence(lines, at) {
  const opened = /^ {0,3}(```+|~~~+)\s*([\w+#.-]*)/.exec(lines[at]);
  if (!opened) return null;
  let next = at + 1;
  while (next < lines.length && !lines[next].trimStart().startsWith(opened[1])) next += 1;
  const code = lines.slice(at + 1, next).join("\n");
  const language = opened[2] && element("span", { class: "language" }, opened[2]);
  return { made: element("div", { class: "code" }, language, element("pre", {}, element("code", {}, code))), next: next + 1 };
}

function heading(lines, at) {
  const found = /^ {0,3}(#{1,6})\s+([^\n]*)$/.exec(lines[at]);
  if (!found) return null;
  const level = Math.min(6, found[1].length + 2);
  return { made: element(`h${level}`, {}, inline(found[2].replace(/\s#+\s*$/, ""))), next: at + 1 };
}

function rule(lines, at) {
  return /^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,200}$/.test(lines[at]) ? { made: element("hr"), next: at + 1 } : null;
}

function quote(lines, at, depth) {
  if (!/^ {0,3}>/.test(lines[at]) || depth >= MAX_QUOTES) return null;
  let next = at;
  const inside = [];
  while (next < lines.length && /^ {0,3}>/.test(lines[next])) inside.push(lines[next++].replace(/^ {0,3}> ?/, ""));
  return { made: element("blockquote", {}, blocks(inside, depth + 1)), next };
}

// A line may contain what ends one for `.`, so that is not used: all splits of the spaces would be tried.
const BULLET = /^(\s{0,12})([-*+]|\d{1,9}[.)])\s+([^\n]*)$/;

function list(lines, at, depth) {
  const first = BULLET.exec(lines[at]);
  if (!first || depth >= MAX_QUOTES) return null;
  const indent = first[1].length;
  const isOrdered = /\d/.test(first[2]);
  const items = [];
  let next = at;
  while (next < lines.length) {
    const bullet = BULLET.exec(lines[next]);
    if (bullet && bullet[1].length <= indent + 1) {
      if (bullet[1].length < indent || /\d/.test(bullet[2]) !== isOrdered) break;
      items.push([bullet[3]]);
    } else if (lines[next].trim() === "") {
      if (!/^\s{2,}\S/.test(lines[next + 1] ?? "") && !BULLET.test(lines[next + 1] ?? "")) break;
      items.at(-1).push("");
    } else if (/^\s{2,}/.test(lines[next])) {
      items.at(-1).push(lines[next].replace(/^\s{1,4}/, ""));
    } else if (bullet) {
      break;
    } else {
      items.at(-1).push(lines[next]);
    }
    next += 1;
  }
  const start = isOrdered ? Number.parseInt(first[2], 10) : undefined;
  const made = element(isOrdered ? "ol" : "ul", { start }, items.map((item) => element("li", {}, listItem(item, depth))));
  return { made, next };
}

function listItem(lines, depth) {
  const task = /^\[([ xX])\]\s+([^\n]*)$/.exec(lines[0]);
  if (!task) return blocks(lines, depth + 1);
  return [task[1] === " " ? "☐ " : "☑ ", blocks([task[2], ...lines.slice(1)], depth + 1)];
}

function cells(line) {
  return line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());
}

function table(lines, at) {
  const under = lines[at + 1] ?? "";
  if (!lines[at].includes("|") || !under.includes("|") || !under.includes("-") || !/^[\s|:-]+$/.test(under)) return null;
  const head = cells(lines[at]);
  if (head.length > MAX_COLUMNS) return null;
  let next = at + 2;
  const rows = [];
  while (next < lines.length && lines[next].includes("|")) rows.push(cells(lines[next++]));
  // No cells for those that a row leaves out: few characters would become many elements.
  const row = (name, values) => element("tr", {}, values.slice(0, head.length).map((value) => element(name, {}, inline(value))));
  return {
    made: element("div", { class: "table" },
      element("table", {}, element("thead", {}, row("th", head)), element("tbody", {}, rows.map((values) => row("td", values))))),
    next,
  };
}

const STARTS_BLOCK = /^ {0,3}(?:#{1,6}\s|>|```|~~~)|^\s*$/;

function paragraph(lines, at) {
  if (lines[at].trim() === "") return { next: at + 1 };
  let next = at + 1;
  while (next < lines.length && !STARTS_BLOCK.test(lines[next]) && !BULLET.test(lines[next])) next += 1;
  const parts = lines.slice(at, next).flatMap((line, place) => {
    const made = inline(line.trimStart());
    return place ? [element("br"), made] : made;
  });
  return { made: element("p", {}, parts), next };
}

// Each alternative is bounded, so a text of marks without ends costs no more than its length times the bound.
const INLINE = new RegExp([
  "(?<!`)(`{1,32})(?!`)([^`]{1,2000})\\1(?!`)",
  "\\*\\*(?=\\S)([^*]{1,1000})\\*\\*",
  "(?<![\\w*])[*_](?=\\S)([^*_]{1,1000})[*_](?![\\w*])",
  "~~(?=\\S)([^~]{1,1000})~~",
  "(!?)\\[([^\\]\\[]{0,500})\\]\\(([^()\\s]{1,2000})(?:\\s+\"[^\"]{0,200}\")?\\)",
  "\\b(https?://[^\\s<>\"'`]{1,2000})",
].join("|"), "g");

function inline(text) {
  const made = [];
  let last = 0;
  for (const found of text.matchAll(INLINE)) {
    made.push(text.slice(last, found.index));
    last = found.index + found[0].length;
    const [, , code, strong, emphasis, struck, bang, label, address, bare] = found;
    if (code !== undefined) made.push(element("code", {}, code));
    else if (strong !== undefined) made.push(element("strong", {}, inlineOnce(strong)));
    else if (emphasis !== undefined) made.push(element("em", {}, emphasis));
    else if (struck !== undefined) made.push(element("del", {}, struck));
    else if (bare !== undefined) made.push(link(bare, bare));
    else if (bang) made.push(element("span", { class: "no-image" }, `image: ${label} (${address})`));
    else made.push(link(label, address));
  }
  made.push(text.slice(last));
  return made;
}

/** Code and emphasis inside strong text. */
function inlineOnce(text) {
  return text.includes("`") ? text.split("`").map((part, place) => (place % 2 ? element("code", {}, part) : part)) : text;
}

/** Makes a link of web addresses only; its address is always to be seen, since the label may lie. */
function link(label, address) {
  const isWeb = /^https?:\/\/[^\s]+$/i.test(address);
  const shown = label === address ? label : `${label} (${address})`;
  if (!isWeb) return element("span", { class: "no-link" }, shown);
  return element("a", { href: address, rel: "noopener noreferrer nofollow", target: "_blank" }, shown);
}
