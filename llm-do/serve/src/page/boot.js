// Chooses the page by the address.

async function boot() {
  const wanted = new URLSearchParams(location.search);
  const name = wanted.has("run") ? "runs" : wanted.has("chat") ? "chats" : wanted.get("view") ?? "runs";
  for (const link of byId("nav").querySelectorAll("a")) {
    if (link.dataset.view !== name) continue;
    link.setAttribute("aria-current", "page");
    link.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
  byId("sign-out").hidden = !sessionStorage.getItem(TOKEN);
  byId("sign-out").addEventListener("click", () => {
    sessionStorage.removeItem(TOKEN);
    location.assign("/");
  });
  byId("page-theme").addEventListener("click", changeTheme);
  const pages = { runs: runsPage, inbox: inboxPage, chats: chatsPage, start: startPage, hybrids: hybridsPage };
  try {
    if (wanted.has("run")) await runPage(wanted.get("run"));
    else if (wanted.has("chat")) await chatPage(wanted.get("chat"));
    else await (Object.hasOwn(pages, name) ? pages[name] : runsPage)();
    if (!wanted.has("run") && name !== "inbox" && !byId("sign-in")) {
      allWaiting().catch(() => {});
      setInterval(() => !document.hidden && !byId("sign-in") && allWaiting().catch(() => {}), 5000);
    }
  } catch (error) {
    if (!byId("sign-in")) byId("page").replaceChildren(element("p", { class: "hint error" }, error.message));
  }
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}

boot();
