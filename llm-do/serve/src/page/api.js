// Requests to the service, with the token of this tab.

const TOKEN = "llm-do-token";

/** A request that failed, with the problem that the service returned. */
class Problem extends Error {
  constructor(status, problem) {
    super(problem.detail ?? `the service returned the status ${status}`);
    this.status = status;
    this.code = String(problem.type ?? "").split(":").at(-1);
    this.current = problem.current;
  }
}

function headers(more) {
  const token = sessionStorage.getItem(TOKEN);
  return token ? { authorization: `Bearer ${token}`, ...more } : more;
}

async function request(method, path, body) {
  const options = { method, headers: headers({}), cache: "no-store" };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers["content-type"] = "application/json";
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Problem(0, { detail: "the service cannot be reached" });
  }
  const text = await response.text();
  let value = {};
  try {
    value = parseJson(text);
  } catch {
    // A proxy may answer in other words.
  }
  if (response.status === 401) signIn();
  if (!response.ok) throw new Problem(response.status, value);
  return value;
}

const get = (path) => request("GET", path);
const post = (path, body) => request("POST", path, body);

/**
 * Reads the events of a run as they happen. `on` gets the name and the data of each; after a lost connection, it goes on where
 * it was. The stream ends with the run.
 */
async function follow(run, on, signal) {
  let last = 0;
  for (let wait = 500; !signal.aborted; wait = Math.min(wait * 2, 15_000)) {
    try {
      const response = await fetch(`/runs/${encodeURIComponent(run)}/events?after=${last}`, { headers: headers({}), signal });
      if (response.status === 401) return signIn();
      // It will not become visible by asking again.
      if (response.status === 403 || response.status === 404) return status("the run cannot be followed", true);
      if (!response.ok) throw new Problem(response.status, {});
      for await (const event of serverSentEvents(response.body)) {
        if (event.id) last = Number(event.id);
        wait = 500;
        if (on(event.name, event.data) === "end") return;
      }
    } catch {
      if (signal.aborted) return;
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

async function* serverSentEvents(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    let end;
    while ((end = text.indexOf("\n\n")) >= 0) {
      const event = { name: "message", id: undefined, data: "" };
      for (const line of text.slice(0, end).split("\n")) {
        const at = line.indexOf(": ");
        if (at <= 0) continue;
        const [field, rest] = [line.slice(0, at), line.slice(at + 2)];
        if (field === "event") event.name = rest;
        if (field === "id") event.id = rest;
        if (field === "data") event.data += rest;
      }
      text = text.slice(end + 2);
      if (event.data) yield event;
    }
  }
}

/** Asks for the token, once. Only a token that was refused is an error. */
function signIn() {
  if (byId("sign-in")) return;
  const wasRefused = sessionStorage.getItem(TOKEN) !== null;
  sessionStorage.removeItem(TOKEN);
  byId("sign-out").hidden = true;
  status("");
  const field = element("input", {
    type: "password", id: "token", autocomplete: "current-password", required: true, pattern: "\\s*[\\x21-\\x7e]+\\s*", title: "The token, without spaces in it",
  });
  const form = element("form", { id: "sign-in", class: "card sign-in" },
    element("h2", {}, "Sign in"),
    wasRefused ? element("p", { class: "error", role: "alert" }, "The token is not valid.") :
      element("p", { class: "quiet" }, "The service requires the token of a client."),
    element("label", { for: "token" }, "Token"), field, element("button", { class: "primary" }, "Sign in"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    sessionStorage.setItem(TOKEN, field.value.trim());
    location.reload();
  });
  byId("page").replaceChildren(form);
  field.focus();
}

function status(text, isFault = false) {
  // What fails without a token is no error: the sign-in is the answer.
  if (byId("sign-in")) return;
  byId("status").textContent = visible(text);
  byId("status").classList.toggle("fault", isFault);
}

/** Calls `load` now and every two seconds while the page is visible. */
function repeat(load) {
  let isBusy = false;
  const again = async () => {
    if (isBusy || document.hidden || byId("sign-in")) return;
    isBusy = true;
    try {
      await load();
      if (byId("status").classList.contains("fault")) status("");
    } catch (error) {
      status(error.message, true);
    } finally {
      isBusy = false;
    }
  };
  setInterval(again, 2000);
  document.addEventListener("visibilitychange", again);
  return again();
}
