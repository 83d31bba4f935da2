/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Tables of the page without bars and curves. */
function table(title, id, head, rows) {
	if (!rows.length)
		return;
	page.append(el("h2", {}, title), el("div", { class: "scroll" },
		el("table", { id: id },
			el("thead", {}, el("tr", {}, ...head.map(h =>
				el("th", { scope: "col" }, h)))),
			el("tbody", {}, ...rows.map(r => el("tr", {},
				...r.map(x => el("td", {}, x))))))));
}

/* A body, or a thread outside of bodies. */
function wakerOf(w) {
	return (w.kind || "no body") + (w.executor === null
		? " on thread " + w.thread : " on executor " + w.executor);
}

function futexes() {
	table("Futex words", "futexes", ["futex word", "kinds", "sleeps", "asleep",
		"samples inside", "woken last by"], D.futexes.map(f => [f.where,
		f.kinds.map(k => k.name).join(", "), count(f.sleeps),
		time(f.slept), count(f.samples), f.waker ? wakerOf(f.waker) : "–"]));
}

function stacks() {
	table("Callers", "stacks", ["kind", "it", "stacks", "share", "callers"],
		D.stacks.map(s => [s.kind || "–",
			s.sort === "runs" ? "is on a CPU" : "sleeps in " +
				(s.word || "a word"), count(s.count),
			share(s.share), s.callers.join(", ")]));
}

/* Stacks as a tree: the kind, its outermost caller, and so on inwards. */
function growTree(stacks) {
	const root = { count: 0, kids: new Map() };

	for (const s of stacks) {
		let at = root;

		root.count += s.count;
		for (const name of [s.kind || "no body", ...[...s.callers].reverse()]) {
			if (!at.kids.has(name))
				at.kids.set(name, { count: 0, kids: new Map() });
			at = at.kids.get(name);
			at.count += s.count;
		}
	}
	return root;
}

/* A bar as wide as its part of all stacks, below the bar of its caller. */
function flameBar(box, name, node, left, depth, all, colour) {
	const bar = el("span", { title: name + ": " + count(node.count) +
		" stacks, " + share(node.count / all) }, name);

	bar.style.left = 100 * left / all + "%";
	bar.style.width = 100 * node.count / all + "%";
	bar.style.top = 22 * depth + "px";
	bar.style.borderLeftColor = colour;
	box.append(bar);
	box.depth = Math.max(box.depth, depth);
	for (const [kid, below] of node.kids) {
		if (below.count >= 0.003 * all)
			flameBar(box, kid, below, left, depth + 1, all, colour);
		left += below.count;
	}
}

function flame(sort, title) {
	const root = growTree(D.stacks.filter(s => s.sort === sort));
	const box = el("div", { class: "flame", id: "flame-" + sort });
	let left = 0;

	if (!root.count)
		return;
	box.depth = 0;
	for (const [kind, node] of root.kids) {
		flameBar(box, kind, node, left, 0, root.count, kindColour(
			D.kinds.findIndex(k => k.name === kind)));
		left += node.count;
	}
	box.style.height = 22 * (box.depth + 1) + "px";
	page.append(el("h2", {}, title), box);
}

/* The slowest ones, each with a button that shows it. */
function slowest(q) {
	return el("span", {}, ...q.slowest.map(x => el("button", {
		onclick: () => show({ at: [x.begin, x.begin + x.latency] }),
		"aria-label": "show the " + q.name + " that took " +
			time(x.latency) + " in the timeline",
	}, time(x.latency))));
}

function requests() {
	table("Requests and regions", "requests", ["", "requests", "p50", "p90",
		"p99", "p99.9", "slowest"], D.requests.map(q => [
		q.name + (q.region ? " (region)" : ""), count(q.requests),
		time(q.p50), time(q.p90), time(q.p99), time(q.p999), slowest(q)]));
}

function loops() {
	table("Loops", "loops", ["loop", "runs", "bodies", "wall", "uneven",
		"worst run"], D.loops.map(l => [l.name, count(l.runs),
		count(l.bodies), time(l.wall), time(l.uneven), time(l.worst)]));
}

/* A part of the wall, as a sentence has it. */
function change(part) {
	return share(Math.abs(part)) + (part < 0 ? " less" : " more");
}

/* What a replay predicts of changes, kinds and numbers of workers. */
function gains() {
	const r = D.replay;

	if (!r)
		return;
	const good = r.gains.filter(g => g.gain >= 0.02).slice(0, 6);

	table("What is worth changing", "gains", ["a replay with", "wall", "takes"],
		[["the recording as it was", time(D.wall * (1 + r.drift)), r.lacks
			? "nothing is predicted: " + r.lacks
			: change(r.drift) + " than the recording"],
			...good.map(g => [g.text, time(g.wall), change(-g.gain)])]);
	table("If bodies took", "worth", ["", "half as long", "twice as long",
		"free"], r.kinds.map(k => [k.name, change(-k.half), change(k.twice),
		(k.slack > 0 ? "+" : "") + share(k.slack)]));
	table("With so many workers", "workers_tried", r.workers.map(w => w.workers),
		r.workers.length ? [r.workers.map(w => w.wall ? time(w.wall) : "–")]
			: []);
}

/* Why bodies waited until they were ready. */
function reasons() {
	if (D.reasons.length > 1)
		table("What tasks waited for last", "reasons", ["kind", "tasks",
			"total", "for"], D.reasons.slice(0, 12).map(s => [s.kind,
			count(s.tasks), time(s.total), s.for]));
}

/* Regions of OpenMP, and gangs; the time without one comes first. */
function teams() {
	if (D.teams.length)
		table("Regions", "teams", ["", "runs", "threads", "wall", "of the run",
			"uneven"], [["no region", "", "", time(D.between),
			share(D.between / D.wall), ""], ...D.teams.map(t => [t.name,
			count(t.runs), t.threads, time(t.wall), share(t.wall / D.wall),
			time(t.uneven)])]);
}

/* Why nothing was ready. */
function starved() {
	const all = D.wall * D.workers;

	table("Nothing was ready while", "starved", ["", "worker time", "share"],
		D.starved.filter(s => s.time >= 0.005 * all).map(s =>
			[s.text, time(s.time), share(s.time / all)]));
}

function waits() {
	table("Waits of the program", "waits", ["for", "waits", "in all",
		"longest"], D.waits.map(w => [w.for || "not recorded",
		count(w.waits), time(w.total), time(w.max)]));
}
