// Which lines of two texts differ.

/** How many lines are compared; of longer texts, the ends that are equal are left out first. */
const MAX_DIFF = 800;

/** Shows which lines of two texts differ, with three equal lines around them. */
function lineDiff(before, after) {
  const [old, now] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const context = 3;
  const lines = [
    ...old.slice(Math.max(0, start - context), start).map((line) => [" ", line]),
    ...changedLines(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...old.slice(old.length - end, old.length - end + context).map((line) => [" ", line]),
  ];
  const kinds = { "+": "added", "-": "gone", " ": "same" };
  return element("div", { class: "diff" }, lines.map(([mark, line]) => element("div", { class: kinds[mark] }, `${mark} ${line}`)));
}

/** Compares lines by their longest common subsequence. */
function changedLines(old, now) {
  if (old.length > MAX_DIFF || now.length > MAX_DIFF) return [...old.map((line) => ["-", line]), ...now.map((line) => ["+", line])];
  const width = now.length + 1;
  const lengths = new Uint16Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] = old[i] === now[j] ? lengths[(i + 1) * width + j + 1] + 1 : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
    }
  }
  const lines = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) lines.push([" ", old[i++], j++]);
    else if (j >= now.length || (i < old.length && lengths[(i + 1) * width + j] >= lengths[i * width + j + 1])) lines.push(["-", old[i++]]);
    else lines.push(["+", now[j++]]);
  }
  return lines;
}
