// Forms made from the schemas of entries: to start a run, or to send a message of a chat.

async function startPage() {
  const { entries } = await get("/entries");
  const wanted = new URLSearchParams(location.search).get("entry");
  const select = element("select", { id: "entry", "aria-label": "Entry" },
    entries.map(({ name }) => element("option", { value: name, selected: name === wanted }, name)));
  const form = element("div", { class: "card form-card" });
  const show = () => {
    const entry = entries.find(({ name }) => name === select.value);
    if (!entry) return form.replaceChildren(element("p", { class: "hint" }, "The service offers no entry."));
    return form.replaceChildren(entryForm(entry, "Start", async (args) => {
      const run = await post("/runs", { entry: entry.name, arguments: args });
      location.assign(`/?run=${encodeURIComponent(run.id)}`);
    }));
  };
  select.addEventListener("change", show);
  byId("page").replaceChildren(element("div", { class: "page narrow" },
    element("div", { class: "page-head" }, element("h1", {}, "Start a run"), element("div", { class: "filters" }, select)), form));
  show();
  await allWaiting().catch(() => {});
}

/** A form with a field for each argument. `byEnter`: Enter in a field of text sends it. */
function entryForm(entry, label, submit, { byEnter = false } = {}) {
  const properties = Object.entries(entry.parameters.properties ?? {});
  const required = new Set(entry.parameters.required ?? []);
  const fields = properties.map(([name, schema]) => argumentField(name, schema, required.has(name)));
  const note = element("p", { class: "wait-note", role: "alert" });
  const button = element("button", { class: "primary" }, label);
  const form = element("form", { class: "entry-form" },
    entry.description && element("p", { class: "quiet" }, entry.description), fields.map(({ made }) => made), note,
    element("div", { class: "wait-buttons" }, button));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (button.disabled) return;
    note.textContent = "";
    button.disabled = true;
    try {
      const args = {};
      for (const field of fields) field.add(args);
      await submit(args);
    } catch (error) {
      note.textContent = visible(error.message);
    } finally {
      button.disabled = false;
    }
  });
  sendByKeys(form, { byEnter });
  return form;
}

/** Sends a form by Ctrl+Enter; with `byEnter`, by Enter in a field of text too, in which Shift+Enter adds a line. */
function sendByKeys(form, { byEnter }) {
  if (byEnter) for (const field of form.querySelectorAll("textarea:not(.mono)")) field.setAttribute("enterkeyhint", "send");
  form.addEventListener("keydown", (event) => {
    // While an input method composes a word, Enter accepts it; 229 is how Safari reports that.
    if (event.key !== "Enter" || event.isComposing || event.keyCode === 229) return;
    const isAlone = !(event.shiftKey || event.altKey || event.ctrlKey || event.metaKey);
    const sends = event.ctrlKey || event.metaKey || (byEnter && isAlone && event.target.matches("textarea:not(.mono)"));
    if (!sends) return;
    event.preventDefault();
    if (!isAlone || event.target.value.trim()) form.requestSubmit();
  });
}

function argumentField(name, schema, isRequired) {
  const types = [schema.type].flat().filter((type) => type && type !== "null");
  const type = types.length === 1 ? types[0] : "json";
  const id = `argument-${name}`;
  const usual = schema.default;
  let input;
  if (Array.isArray(schema.enum)) {
    input = element("select", { id }, !isRequired && element("option", { value: "" }, ""),
      schema.enum.map((value) => element("option", { value: JSON.stringify(value), selected: value === usual }, String(value))));
  } else if (type === "boolean") {
    input = element("input", { id, type: "checkbox", checked: usual === true });
  } else if (type === "integer" || type === "number") {
    input = element("input", { id, type: "number", step: type === "integer" ? "1" : "any", required: isRequired });
  } else {
    input = element("textarea", { id, rows: type === "string" ? "3" : "5", class: type === "string" ? "" : "mono", required: isRequired });
    if (type !== "string") input.placeholder = "JSON";
  }
  if (usual !== undefined && usual !== null && type !== "boolean" && !schema.enum) input.value = typeof usual === "string" ? usual : JSON.stringify(usual);
  const made = element("div", { class: `argument ${type}` },
    element("label", { for: id }, name, isRequired && element("span", { class: "quiet" }, " required")), input,
    schema.description && element("p", { class: "quiet" }, schema.description));
  const add = (args) => {
    if (type === "boolean" && !schema.enum) {
      if (input.checked || isRequired || usual !== undefined) args[name] = input.checked;
      return;
    }
    const text = input.value;
    if (text === "" && !isRequired) return;
    if (type === "string" && !schema.enum) args[name] = text;
    else args[name] = parsedArgument(name, text);
  };
  return { made, add };
}

function parsedArgument(name, text) {
  try {
    return parseJson(text);
  } catch (error) {
    throw new Error(`${name}: not JSON: ${error.message}`);
  }
}
