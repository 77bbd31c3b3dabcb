// What each kind of event changes in its call.

const HANDLERS = {
  call_started(call, event, time) {
    const what = ["entry", "worker", "tool"].includes(event.what) ? event.what : "tool";
    // One that is done is replayed.
    const status = call.status === "done" && call.repeats ? "done" : "running";
    Object.assign(call, { what, by: event.by, arguments: event.arguments, status, started: { time, attempt: call.attempt } });
    if (status === "running") call.isEnded = false;
  },
  call_finished(call, event, time, model) {
    const isReplay = event.replayed === true;
    const isKnown = isReplay && call.status !== "running";
    endWork(call, time, isReplay);
    if (!isReplay) setStart(call, time, event.elapsed_ms, model.run(call.run));
    call.replayed = isReplay && !call.hasEnd;
    call.hasEnd ||= !isReplay;
    if (isKnown) return;
    if (event.error !== undefined) fail(call, "failed", event.error);
    else {
      retract(call);
      Object.assign(call, { status: "done", result: event.result });
    }
    Object.assign(call, { attachments: event.attachments ?? [], note: event.note, label: event.label, isPrivate: event.is_private === true });
  },
  call_refused(call, event, time) {
    call.by = event.by;
    endWork(call, time, call.status === "refused" && call.error === event.error);
    if (event.arguments !== undefined) call.arguments = event.arguments;
    fail(call, "refused", event.error);
  },
  call_planned(call, event, time) {
    const { by, what, arguments: given, summary, approval, ran } = event;
    const needs = { not_needed: "needs no approval", asked: "would ask for approval", by_mode: "is approved by the approval mode" }[approval];
    Object.assign(call, { by, arguments: given });
    addText(call, "remarks", { time, text: `Dry run: ${summary} ${needs ?? ""}` });
    // One that ran starts later.
    if (ran) return;
    endWork(call, time, false);
    Object.assign(call, { what: ["entry", "worker"].includes(what) ? what : "tool", status: "planned" });
  },
  progress(call, event, time) {
    addText(call, "progress", { time, text: event.text });
  },
  approval_asked(call, event, time) {
    call.arguments ??= event.arguments;
    const { summary, given, position, origins = [] } = event;
    // One without an answer is asked again, and so is one that the end of an earlier attempt decided.
    const interrupted = repeated(call, "approvals", (known) => known.decided !== undefined && known.by === "cancellation");
    if (interrupted) {
      interrupted.decided = undefined;
      return;
    }
    const open = call.approvals.findIndex((known) => known.decided === undefined);
    if (open >= 0 && !isNew(call, "approvals", open)) return;
    call.approvals.push({ asked: time, summary, given, position, origins, arguments: event.arguments, edits: [], decided: undefined });
  },
  edit_refused(call, event) {
    let approval = call.approvals.find((open) => open.decided === undefined);
    if (!approval) call.approvals.push((approval = { asked: undefined, edits: [] }));
    const edit = { arguments: event.arguments, rule: event.rule, reason: event.reason };
    const last = approval.edits.at(-1);
    if (!last || textOf(last) !== textOf(edit)) approval.edits.push(edit);
  },
  approval_decided(call, event, time) {
    const open = call.approvals.findIndex((known) => known.decided === undefined);
    const isReplay = event.replayed === true || event.rule === "journal";
    // A rule or a mode decides in each attempt, and the approver or the reviewer once.
    const isSame = (known) => known.decided !== undefined && (isReplay || (!["approver", "reviewer"].includes(event.by) && decision(known) === decision(event)));
    if (repeated(call, "approvals", isSame)) {
      // What the replay asks.
      if (open >= 0 && isNew(call, "approvals", open)) call.approvals.splice(open, 1);
      return;
    }
    let approval = call.approvals[open];
    if (!approval) call.approvals.push((approval = { asked: undefined, edits: [] }));
    const { approved, by, rule, reason, edited, scope } = event;
    const replayed = isReplay && approval.asked === undefined;
    Object.assign(approval, { approved, by, rule, reason, edited, scope, decided: time, replayed });
    if (approval.asked !== undefined) wait(call, approval.asked, time, "approval");
  },
  guarded(call, event, time) {
    const done = event.action === "refused" ? "refused" : "changed";
    const what = { before_call: "call", after_call: "result", before_request: "request", after_response: "response" }[event.hook];
    addText(call, "remarks", { time, text: `Guard ${event.guard} ${done} the ${what}${event.reason ? `: ${event.reason}` : ""}` });
  },
  endorsed(call, event, time) {
    addText(call, "remarks", { time, text: `Endorsed ${JSON.stringify(event.value)}: ${event.reason}` });
  },
  input_asked(call, event, time) {
    const known = repeated(call, "questions", (question) => question.prompt === event.prompt);
    if (known) {
      if (known.answered !== undefined) call.repeats.answers += 1;
      return;
    }
    call.questions.push({ asked: time, prompt: event.prompt, choices: event.choices ?? [], answered: undefined, answer: undefined });
  },
  input_answered(call, event, time) {
    if (call.repeats?.answers) {
      call.repeats.answers -= 1;
      return;
    }
    const question = call.questions.find((open) => open.answered === undefined);
    if (!question) return;
    Object.assign(question, { answered: time, answer: event.answer });
    wait(call, question.asked, time, "question");
  },
  user_message(call, event, time) {
    if (event.replayed) return;
    addText(call, "remarks", { time, text: `Message${event.interrupts ? ", which interrupts" : ""}: ${event.text}` });
  },
  subtask(call, event, time) {
    addText(call, "remarks", { time, text: `Subtask for ${event.worker}: ${event.description}` });
  },
  drifted(call, event, time) {
    call.remarks.push({ time, text: `Shadow ${event.worker} disagreed in ${event.disagree} of ${event.of} comparisons` });
  },
  hybrid(call, event, time) {
    const did = { answered: "answered in place of the model", compared: "answered, and is compared with the model", abstained: "left the answer to the model", failed: "failed, so the model answers", stopped: "stopped after a call with an effect, so the model does not answer" };
    addText(call, "remarks", { time, text: `Tool ${event.tool} ${did[event.answer] ?? event.answer}${event.reason ? `: ${event.reason}` : ""}` });
  },
  guarantee(call, event, time) {
    const shown = `${event.disagreements} of ${event.comparisons} comparisons disagree, at most ${(event.bound * 100).toFixed(1)} %`;
    const text = `The guarantee of ${event.tool} ${event.holds ? "holds" : "does not hold"}: ${event.reason ?? shown}`;
    call.remarks.push({ time, text });
  },
  scored(call, event, time) {
    const score = event.score === undefined ? "no score" : `the score ${event.score}`;
    const reasons = (event.reasons ?? []).join("; ");
    const again = event.again ? ", and the worker is asked again" : "";
    addText(call, "remarks", { time, text: `Evaluator ${event.evaluator} gave result ${event.result} ${score}${again}${reasons ? `: ${reasons}` : ""}` });
  },
  shadowed(call, event, time) {
    call.remarks.push({ time, text: `Shadow ${event.worker} ${event.agrees ? "agrees" : "disagrees"}` });
  },
  model_request(call, event, time, model) {
    const content = event.content;
    const request = {
      sent: time, attempt: call.attempt, model: event.model, turn: event.turn, count: event.messages, tools: event.tools ?? [], content,
      firstDelta: undefined, partial: "", answered: undefined, parts: undefined, files: [], usage: undefined, replayed: false,
    };
    const known = repeated(call, "requests", (earlier) => earlier.turn === event.turn);
    if (known?.answered !== undefined) call.askedAgain = request;
    // One that no answer came to is sent again.
    else if (known) call.openRequest = call.requests.indexOf(Object.assign(known, request));
    else call.openRequest = call.requests.push(request) - 1;
    if (!content) return;
    for (const kind of ["instructions", "tools", "output"]) model.define(call.run, kind, content[kind]);
    model.addFiles(call.run, content.files);
  },
  model_waiting(call, event, time) {
    call.remarks.push({ time, text: `Waiting: ${event.on}` });
  },
  setting_warning(call, event, time) {
    addText(call, "remarks", { time, text: `Setting ${event.setting} of ${event.model}: ${event.message}` });
  },
  mended(call, event, time) {
    const what = event.tool === undefined ? "result" : `arguments of ${event.tool}`;
    const words = (event.mends ?? []).map((mend) => String(mend).replaceAll("_", " "));
    addText(call, "remarks", { time, text: `Mended the ${what}: ${words.join(", ")}` });
  },
  model_delta(call, event, time) {
    const request = call.askedAgain ?? call.requests[call.openRequest];
    if (!request || request.answered !== undefined) return;
    request.firstDelta ??= time;
    if (typeof event.text === "string") request.partial += event.text;
  },
  server_side_tool_started() {},
  server_side_tool_finished(call, event, time) {
    if (event.error) call.remarks.push({ time, text: `Server-side tool ${event.tool}: ${event.error}` });
  },
  model_response(call, event, time, model) {
    const isReplay = event.replayed === true;
    const { askedAgain } = call;
    call.askedAgain = undefined;
    if (askedAgain && isReplay) return;
    if (askedAgain) call.openRequest = call.requests.push(askedAgain) - 1;
    let request = call.requests[call.openRequest];
    if (!request) call.requests.push((request = { sent: time, model: event.model, turn: 1, count: 0, tools: [], files: [] }));
    if (!isReplay && request.attempt === call.attempt) call.answers.push([request.sent, time]);
    Object.assign(request, {
      answered: time, parts: event.parts, files: event.files ?? [], usage: event, replayed: isReplay, partial: "",
    });
    model.addFiles(call.run, event.files);
  },
  model_retry(call, event, time) {
    addText(call, "retries", { time, reason: event.reason }, "reason");
  },
  usage(call, event) {
    count(call, used(event));
  },
  dropped(call, event, time) {
    call.remarks.push({ time, text: `${counted(event.count, "event")} missing: the log was too slow` });
  },
};

/** Returns what an approval decided, and why. */
function decision({ approved, by, rule, reason, edited, scope }) {
  return textOf([approved, by, rule, reason, edited, scope]);
}
