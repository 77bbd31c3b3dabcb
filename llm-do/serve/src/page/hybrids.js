// The hybrids with a guarantee: what code answers, and what its comparisons with the worker show.

function hybridsPage() {
  const rows = element("tbody", { id: "hybrids", role: "rowgroup" });
  const hint = element("p", { class: "hint", hidden: true }, "No hybrid with a guarantee has had a call.");
  const names = ["Worker", "Code", "Answers", "By code", "Bound", "Comparisons", "Saved", "Since"];
  const table = element("table", { class: "runs", role: "table" },
    element("thead", { role: "rowgroup" }, element("tr", { role: "row" },
      names.map((name) => element("th", { scope: "col", role: "columnheader" }, name)))),
    rows);
  byId("page").replaceChildren(element("div", { class: "page" },
    element("div", { class: "page-head" }, element("h1", {}, "Hybrids")),
    element("div", { class: "card table-card" }, table, hint)));
  return repeat(async () => {
    const { hybrids } = await get("/hybrids");
    hint.hidden = hybrids.length > 0;
    rows.replaceChildren(...hybrids.map(hybridRow));
  });
}

function hybridRow(hybrid) {
  const percent = (share) => `${(share * 100).toFixed(1)} %`;
  const calls = hybrid.by_code + hybrid.by_worker;
  const cell = (...content) => element("td", { role: "cell" }, content);
  return element("tr", { role: "row" },
    cell(hybrid.worker),
    cell(hybrid.tool),
    cell(hybrid.holds ? "code" : "the worker"),
    cell(`${hybrid.by_code} of ${calls} (${percent(calls ? hybrid.by_code / calls : 0)})`),
    cell(`${percent(hybrid.bound)} of ${percent(hybrid.disagreement)} at ${percent(hybrid.confidence)}`),
    cell(`${hybrid.disagreements} of ${hybrid.comparisons} disagree`),
    cell(hybrid.saved),
    cell(new Date(hybrid.since).toLocaleString()));
}
