// Reads the events of the page, and shows them.

function readEvents(model) {
  let text = byId("events").textContent;
  byId("events").remove();
  for (let from = 0; from < text.length;) {
    let to = text.indexOf("\n", from);
    if (to < 0) to = text.length;
    if (to > from) model.push(parsedEvent(text.slice(from, to)));
    from = to + 1;
  }
  text = "";
}

function parsedEvent(line) {
  try {
    return parseJson(line);
  } catch {
    return undefined;
  }
}

const model = new TraceModel();
readEvents(model);
const view = new View(model);
view.refresh();
byId("rows").focus({ preventScroll: true });
document.documentElement.dataset.ready = String(Math.round(performance.now()));
