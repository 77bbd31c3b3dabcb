// Chats: conversations whose messages are runs.

async function chatsPage() {
  const { entries } = await get("/entries");
  const select = element("select", { "aria-label": "Entry" }, entries.map(({ name }) => element("option", { value: name }, name)));
  const start = element("button", { type: "button", class: "primary", disabled: entries.length === 0 }, "New chat");
  const list = element("div", { class: "card chat-list" });
  start.addEventListener("click", () => {
    post("/chats", { entry: select.value }).then(({ id }) => location.assign(`/?chat=${encodeURIComponent(id)}`))
      .catch((error) => status(error.message, true));
  });
  byId("page").replaceChildren(element("div", { class: "page narrow" },
    element("div", { class: "page-head" }, element("h1", {}, "Chats"), element("div", { class: "filters" }, select, start)), list));
  return repeat(async () => {
    const { chats } = await get("/chats");
    list.replaceChildren(...(chats.length ? chats.map((chat) => element("a", { href: `/?chat=${encodeURIComponent(chat.id)}`, class: "chat-row" },
      element("strong", {}, chat.entry), element("span", { class: "quiet" }, ago(chat.updated)), element("span", { class: "quiet" }, costOf(chat.usage).replace("unknown", "unknown cost")))) :
      [element("p", { class: "hint" }, "No chats.")]));
    await allWaiting();
  });
}

async function chatPage(id) {
  const [chat, { entries }] = await Promise.all([get(`/chats/${encodeURIComponent(id)}`), get("/entries")]);
  const entry = entries.find(({ name }) => name === chat.entry);
  const messages = element("div", { class: "messages", id: "messages" });
  const waits = element("div", { class: "cards" });
  const list = new WaitList(waits);
  let load;
  const form = entry ? entryForm(entry, "Send", async (args) => {
    await post(`/chats/${encodeURIComponent(id)}/messages`, { arguments: args });
    for (const field of form.querySelectorAll("textarea")) field.value = "";
    form.querySelector("textarea")?.focus();
    await load();
  }, { byEnter: true }) : element("p", { class: "hint" }, "The service no longer offers the entry of this chat.");
  byId("page").replaceChildren(element("div", { class: "page narrow chat" },
    element("div", { class: "page-head" }, element("h1", {}, chat.entry)), messages, waits,
    element("div", { class: "card form-card" }, form, entry && element("p", { class: "quiet keys" }, element("kbd", {}, "Enter"), " sends  ", element("kbd", {}, "Shift+Enter"), " new line"))));
  load = async () => {
    const { runs } = await get(`/runs?chat=${encodeURIComponent(id)}&limit=200`);
    runs.reverse();
    const shown = JSON.stringify(runs.map((run) => [run.id, run.state]));
    if (messages.shown !== shown) {
      messages.shown = shown;
      messages.replaceChildren(...runs.flatMap(message));
      messages.lastElementChild?.scrollIntoView({ block: "end" });
    }
    const open = new Set(runs.map((run) => run.id));
    list.update((await allWaiting()).filter((wait) => open.has(wait.run)));
  };
  return repeat(load);
}

/** Shows a message and its answer. */
function message(run) {
  const values = Object.values(run.arguments ?? {});
  const said = values.length === 1 && typeof values[0] === "string" ? markdown(values[0]) : anyValue(run.arguments);
  const answer = run.result !== undefined ? anyValue(run.result, { isProse: true }) : run.error !== undefined ? element("div", { class: "error" }, plainText(run.error)) : stateChip(run);
  return [
    element("div", { class: "message own" }, said),
    element("div", { class: "message" }, answer, element("a", { href: `/?run=${encodeURIComponent(run.id)}`, class: "quiet run-link" }, "Run")),
  ];
}
