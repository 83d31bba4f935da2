/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The page around the timeline. Numbers are written as words.c writes them.
 * Text of the recording goes through textContent only.
 */
const D = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";

function rounded(v, digits) {
	const scale = 10 ** digits;

	return (Math.floor(v * scale + 0.5) / scale).toFixed(digits);
}
function three(v, unit) {
	return rounded(v, v < 9.995 ? 2 : v < 99.95 ? 1 : 0) + " " + unit;
}
function time(ns) {
	if (ns < 999.5)
		return Math.round(ns) + " ns";
	if (ns < 999.5e3)
		return three(ns / 1e3, "µs");
	return ns < 999.5e6 ? three(ns / 1e6, "ms") : three(ns / 1e9, "s");
}
function share(x) {
	const v = x * 100;

	return rounded(v, v < 9.95 && v >= 0.05 ? 1 : 0) + " %";
}
function count(n) {
	return String(n).replace(/\B(?=(\d{3})+$)/g, " ");
}
function bytes(n) {
	const units = ["KiB", "MiB", "GiB", "TiB"];
	let v = n / 1024, i = 0;

	if (n < 1024)
		return n + " B";
	for (; v >= 999.5 && i < 3; i++)
		v /= 1024;
	return three(v, units[i]);
}

/* An element; children are elements or text. */
function el(tag, attributes, ...children) {
	const e = document.createElement(tag);

	for (const [name, value] of Object.entries(attributes || {})) {
		if (name.startsWith("on"))
			e.addEventListener(name.slice(2), value);
		else
			e.setAttribute(name, value);
	}
	e.append(...children.filter(c => c !== null));
	return e;
}
function swatch(colour, cls) {
	const i = el("i", { class: cls || "key", "aria-hidden": "true" });

	i.style.background = colour;
	return i;
}
function shape(tag, attributes, text) {
	const e = document.createElementNS(SVG, tag);

	for (const [name, value] of Object.entries(attributes))
		e.setAttribute(name, value);
	if (text !== undefined)
		e.textContent = text;
	return e;
}

const page = document.getElementById("page");
const classes = D.classes.map(c => ({
	...c, time: D.time[c.id], colour: `var(--${c.id})`,
})).filter(c => c.time || c.id !== "caller");

function heading() {
	const file = D.file.replace(/.*\//, ""), title = D.program || file;
	const facts = [time(D.wall), `${D.workers} worker${D.workers === 1 ? "" : "s"}` +
		(D.nodes.length ? ` on ${D.nodes.length} node` +
		(D.nodes.length === 1 ? "" : "s") : ""),
		count(D.tasks) + " tasks",
		(D.lost ? count(D.lost) : "none") + " lost"];

	document.title = "lkdf report: " + title;
	page.append(el("header", {}, el("h1", {}, title),
		el("span", {}, facts.concat(D.program ? [file] : []).join(" · "))));
}

/* ---- findings ---- */

function costOf(f) {
	if (f.cost === null) {
		const words = { bytes: "bytes", note: "note", bound: "bound" };

		return el("div", { class: "cost" }, words[f.sort]);
	}
	const bar = el("i", { "aria-hidden": "true" });
	bar.style.width = Math.min(100, 100 * f.cost) + "%";
	return el("div", { class: "cost" }, share(f.cost), el("small", {},
		"of worker time" + (f.estimated ? ", estimated" : "")), bar);
}
function show(f) {
	const room = (f.at[1] - f.at[0]) * 0.6;

	timeline.go(f.at[0] - room, f.at[1] + room);
	if (f.id === "chain")
		timeline.toggleChain(true);
	timeline.box.scrollIntoView({ behavior: "smooth", block: "center" });
	timeline.canvas.focus({ preventScroll: true });
}
function findings() {
	const costly = D.findings.some(f => f.cost === null ? f.sort !== "bound"
		: f.cost >= 0.02);

	page.append(el("h2", {}, "What costs most"));
	if (!costly)
		page.append(el("div", { class: "finding other fine", id: "finding-fine" },
			el("div", { class: "cost" }, "fine"),
			el("h3", {}, "Nothing outside of bodies"), el("p", {},
				"No cause takes more than 2 % of worker time.")));
	D.findings.forEach((f, i) => {
		page.append(el("div", {
			class: "finding" + (f.cost === null || f.refuted ? " other" : ""),
			id: "finding-" + f.id,
		}, costOf(f), el("h3", {}, `${i + 1}. ${f.title}`),
		el("p", {}, f.why),
		el("p", { class: "fix" }, el("code", {}, f.fix)),
		f.refuted ? el("p", { class: "dim" }, "but a replay without it takes " +
			share(f.gain || 0) + " less: it limits nothing")
			: f.gain ? el("p", { class: "dim" }, "a replay with that takes " +
				share(f.gain) + " less") : null,
		f.at ? el("button", { onclick: () => show(f),
			"aria-label": "show finding " + (i + 1) + " in the timeline" },
		"show") : null));
	});
}

/* ---- numbers ---- */

function numbers() {
	const t = D.time, bodies = t.body + t.kernel, far = D.kinds.reduce((s, k) => s + k.remote, 0);
	const all = D.kinds.reduce((s, k) => s + k.remote + k.local, 0);
	const cell = (value, name) => el("div", {}, el("dt", {}, name),
		el("dd", {}, value));

	page.append(el("h2", {}, "Numbers"), el("dl", { class: "numbers" },
		cell(share(bodies / (t.all || 1)), "in bodies"),
		cell(rounded(bodies / (D.wall || 1), 2) + " of " + D.workers,
			"workers busy, mean"),
		cell(D.chain.body ? share(D.chain.body / D.wall) : "–",
			"longest chain of the run"),
		cell(count(Math.round(D.tasks / (D.wall / 1e9 || 1))),
			"tasks a second"),
		cell(D.tasks ? time(t.runtime / D.tasks) : "–",
			"between two bodies"),
		cell(all ? share(far / all) : "–", "bytes from another node"),
		cell(count(D.worker.reduce((s, w) => s + w.steals, 0)), "steals")));
}
function classBar(of, all, big) {
	const bar = el("div", { class: "bar", role: "img",
		"aria-label": classes.filter(c => of[c.id]).map(c =>
			c.text + " " + share(of[c.id] / all)).join(", ") });

	for (const c of classes) {
		const i = el("i", big ? { title: c.text + " " +
			share(of[c.id] / all) } : {});

		i.style.width = 100 * of[c.id] / (all || 1) + "%";
		i.style.background = c.colour;
		bar.append(i);
	}
	return bar;
}
function whereTimeWent() {
	page.append(classBar(D.time, D.time.all, true));
	page.append(el("ul", { class: "legend", id: "classes" },
		...classes.map(c => el("li", { "data-class": c.id },
			swatch(c.colour), c.text + "  ", c.lacks ? "not recorded"
				: el("b", {}, share(c.time / (D.time.all || 1))),
			c.lacks ? "" : "  " + time(c.time))),
		el("li", {}, `= ${time(D.time.all)} of ${D.workers} workers`)));
	if (D.lacks.length)
		page.append(el("details", {}, el("summary", { class: "dim" },
			"What this recording does not say"), el("ul",
			{ class: "lacks" }, ...D.lacks.map(l => el("li", {}, l)))));
}

/* ---- timeline ---- */

let timeline;

function toggle(text, title, fn) {
	const b = el("button", { "aria-pressed": "false", title }, text);

	b.addEventListener("click", () => fn(b));
	return b;
}
function legendOfKinds() {
	return D.kinds.slice(0, 14).map((k, i) => el("li", {},
		el("button", { title: "only " + k.name, onclick: () => {
			timeline.only = timeline.only === i ? -1 : i;
			timeline.draw();
		} }, swatch(kindColour(i)), k.name)));
}
function drawTimeline() {
	const chain = toggle("longest chain", "key c", () => timeline.toggleChain());
	const far = toggle("remote bytes", "colour by bytes of other nodes", b => {
		timeline.showsRemote = !timeline.showsRemote;
		b.setAttribute("aria-pressed", timeline.showsRemote);
		timeline.draw();
	});
	const box = el("div", { id: "timeline" }), tip = el("div", { id: "tip" });
	const picked = el("p", { id: "picked", "aria-live": "polite" });
	const hint = el("span", { class: "hint" });

	for (const [keys, text] of [["wheel W S", "zoom"], ["drag A D", "move"],
		["click N P", "pick"], ["B", "who made it ready"]]) {
		hint.append(...keys.split(" ").map(k => el("kbd", {}, k)),
			` ${text}  `);
	}
	page.append(el("h2", {}, "Timeline"), el("div", { class: "tools" },
		el("ul", { class: "legend" }, ...legendOfKinds(), el("li", {},
			swatch("var(--starved)"), "asleep"),
		D.lanes.some(l => l.taken.length) ? el("li", {}, swatch(
			"var(--taken)", "key-line"), "CPU taken away") : ""),
		el("span", { class: "space" }), D.chain.body ? chain : "",
		D.bytes ? far : "", el("button", {
			onclick: () => timeline.go(0, D.wall) }, "all")),
	box, picked, hint);
	box.append(tip);
	timeline = new Timeline(D, box, tip, text => {
		picked.textContent = text;
	});
	timeline.onToggle = () => chain.setAttribute("aria-pressed",
		timeline.showsChain);
	timeline.canvas.setAttribute("aria-label",
		`Timeline of ${D.workers} workers over ${time(D.wall)}: ` +
		"arrow keys move and zoom, N and P pick a body. " +
		"The table of kinds below has the numbers.");
}

/* ---- kinds ---- */

function histogram(k, colour) {
	const svg = shape("svg", { width: 120, height: 18, "aria-hidden": "true" });
	const most = Math.max(...k.hist);

	k.hist.forEach((n, i) => {
		const h = Math.max(1.5, 16 * Math.sqrt(n / most));

		if (n)
			svg.append(shape("rect", { x: i * 5, y: 18 - h, width: 4,
				height: h, fill: colour }));
	});
	return svg;
}
function shareBar(part, colour) {
	const i = swatch(colour, "mini"), box = el("span", { class: "share" }, i);

	i.style.width = Math.max(part > 0 ? 1.5 : 0, 70 * part) + "px";
	return [box, share(part)];
}
function kindColumns() {
	const all = D.kinds.reduce((s, k) => s + k.total, 0) || 1;
	const far = k => k.remote / (k.remote + k.local || 1);
	const out = [
		["kind", k => k.name, (k, i) => [swatch(kindColour(i)), k.name]],
		["tasks", k => k.tasks, k => [count(k.tasks)]],
		["total", k => k.total, k => [time(k.total)]],
		["share", k => k.total, (k, i) => shareBar(k.total / all, kindColour(i))],
		["spread of lengths", k => k.p50, (k, i) => [histogram(k, kindColour(i))]],
		["p50", k => k.p50, k => [time(k.p50)]],
		["p99", k => k.p99, k => [time(k.p99)]],
	];

	if (D.kinds.some(k => k.waited))
		out.push(["waited p50", k => k.wait50, k => [k.waited ? time(k.wait50) : "-"]],
			["p99", k => k.wait99, k => [k.waited ? time(k.wait99) : "-"]]);
	if (D.chain.body)
		out.push(["on longest chain", k => k.chain,
			k => [share(k.chain / D.chain.body)]]);
	out.push(["idle beside it", k => k.beside,
		k => [share(k.beside / (D.time.all || 1))]]);
	if (D.kinds.some(k => k.remote + k.local))
		out.push(["remote", far, k => [k.remote + k.local ? share(far(k)) : "-"]]);
	return out;
}
function kindTable() {
	const columns = kindColumns(), body = el("tbody"), head = el("tr");
	const rows = D.kinds.map((k, i) => [k, i]).filter(([k]) => k.tasks);
	let sorted = 2, down = true;

	function fill() {
		const key = columns[sorted][1];

		rows.sort(([a], [b]) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0) *
			(down ? -1 : 1));
		body.replaceChildren(...rows.map(([k, i]) => el("tr", {},
			...columns.map(c => el("td", {}, ...c[2](k, i))))));
		head.replaceChildren(...columns.map((c, i) => el("th", {
			scope: "col", "aria-sort": i !== sorted ? "none" : down
				? "descending" : "ascending",
		}, el("button", { onclick: () => {
			down = sorted === i ? !down : i > 0;
			sorted = i;
			fill();
		} }, c[0] + (i !== sorted ? "" : down ? " ↓" : " ↑")))));
	}
	fill();
	page.append(el("h2", {}, "Kinds of tasks"), el("div", { class: "scroll" },
		el("table", { id: "kinds" }, el("thead", {}, head), body)));
}

/* ---- chain, nodes, workers ---- */

/* As report_half_gain() in the text. */
function halfGain(k) {
	const work = D.kinds.reduce((sum, x) => sum + x.total, 0);
	const least = Math.max(D.chain.body - k.chain / 2,
		(work - k.total / 2) / (D.workers || 1));

	return Math.max(0, Math.min(k.total / 2, D.wall - least)) / D.wall;
}

function chainPart() {
	const c = D.chain, all = c.body + c.between + c.start, box = el("div");
	const on = D.kinds.map((k, i) => [k, i]).filter(([k]) => k.chain)
		.sort(([a], [b]) => b.chain - a.chain);
	const parts = on.map(([k, i]) => [k.chain, kindColour(i), k.name]);
	const bar = el("div", { class: "bar", role: "img", "aria-label":
		"bodies " + share(c.body / all) });
	const half = el("div", { class: "half" });

	D.kinds.forEach((k, i) => {
		if (k.ops_chain)
			parts.push([k.ops_chain, kindColour(i),
				k.name + " (operations)"]);
	});
	parts.push([c.between, "var(--late)", "between them"],
		[c.start, "var(--starved)", "before it"]);
	for (const [size, colour] of parts) {
		const i = el("i");

		i.style.width = 100 * size / all + "%";
		i.style.background = colour;
		bar.append(i);
	}
	/* A replay knows better, and has a table. */
	const knows = D.replay && D.replay.kinds.length;

	for (const [k, i] of knows ? [] : on.slice(0, 6)) {
		const line = swatch(kindColour(i));

		line.style.width = Math.min(100, 100 * halfGain(k)) + "%";
		half.append(el("span", {}, k.name), line,
			el("span", {}, share(halfGain(k))));
	}
	box.append(el("h2", {}, "The longest chain"), bar, el("ul",
		{ class: "legend" }, ...parts.filter(x => x[0]).sort((a, b) => b[0] - a[0]).slice(0, 10)
			.map(x => el("li", {}, swatch(x[1]), x[2] + " " + time(x[0])))),
	el("p", { class: "dim" }, count(c.tasks) + (c.tasks === 1 ? " step"
		: " steps, each made ready by the one before") + (c.inferred ? ", in part inferred" : "") +
		(knows ? "." : ". If bodies of one kind took half as long, the run " +
		"would end at most this much earlier:")), half);
	return box;
}
function nodePart() {
	const nr = D.nodes.length, cell = Math.min(78, 300 / nr), x0 = 66, y0 = 36;
	const most = Math.max(...D.flow.flat(), 1), box = el("div");
	const svg = shape("svg", { width: x0 + nr * cell + 12,
		height: y0 + nr * cell + 8, "font-size": 12, fill: "currentColor",
		role: "img", "aria-label": "bytes used by each node, of each node" });

	svg.append(shape("text", { x: 0, y: y0 - 10, opacity: 0.7 }, "used by"),
		shape("text", { x: x0 + nr * cell / 2, y: 11, "text-anchor": "middle",
			opacity: 0.7 }, "bytes of"));
	D.flow.forEach((row, i) => {
		const all = row.reduce((a, b) => a + b, 0) || 1;

		svg.append(shape("text", { x: x0 + (i + 0.5) * cell, y: 28,
			"text-anchor": "middle" }, "node " + D.nodes[i]),
		shape("text", { x: x0 - 8, y: y0 + (i + 0.5) * cell + 4,
			"text-anchor": "end" }, "node " + D.nodes[i]));
		row.forEach((v, k) => nodeCell(svg, x0 + k * cell, y0 + i * cell, cell,
			{ v, part: v / all, heat: Math.sqrt(v / most),
				isFar: i !== k && v / all > 0.1 }));
	});
	box.append(el("h2", {}, "Bytes: who uses, whose they are"), svg, el("p",
		{ class: "dim" }, "Outlined: more than 10 % of a row from another node."));
	return box;
}
function nodeCell(svg, x, y, size, c) {
	const ink = c.heat > 0.55 ? "#fff" : "currentColor";

	svg.append(shape("rect", { x: x + 1, y: y + 1, width: size - 3,
		height: size - 3, rx: 3,
		fill: "hsl(187 62% 36%)", "fill-opacity": 0.1 + 0.9 * c.heat,
		stroke: c.isFar ? "var(--bad)" : "none", "stroke-width": 2.5 }));
	if (size < 36)
		return;
	svg.append(shape("text", { x: x + size / 2, y: y + size / 2 - 2, fill: ink,
		"text-anchor": "middle", "font-weight": 600 }, share(c.part)),
	shape("text", { x: x + size / 2, y: y + size / 2 + 13, fill: ink,
		"text-anchor": "middle", "font-size": 10.5 }, bytes(c.v)));
}
function chainAndNodes() {
	const parts = [];

	if (D.chain.body)
		parts.push(chainPart());
	if (D.flow && D.nodes.length > 1)
		parts.push(nodePart());
	if (parts.length)
		page.append(el("div", { class: parts.length > 1 ? "two" : "" }, ...parts));
}
function workers() {
	const list = D.worker.slice().sort((a, b) => a.node - b.node ||
		a.worker - b.worker);

	if (list.length < 2)
		return;
	page.append(el("h2", {}, "Workers"), el("div", { class: "workers" },
		...list.slice(0, 256).map(w => el("div", { class: "worker" },
			el("span", {}, "w " + w.worker + (w.node < 0 ? ""
				: "  node " + w.node)),
			classBar(w, D.wall, false),
			el("span", {}, share(w.body / (D.wall || 1)))))));
}

function devices() {
	const head = ["device", "kernels", "busy", "copies", "up", "down", "copying",
		"both", "idle", "waits for memory"];

	if (!D.devices.length)
		return;
	page.append(el("h2", {}, "Devices"), el("div", { class: "scroll" },
		el("table", { id: "devices" },
			el("thead", {}, el("tr", {}, ...head.map(h =>
				el("th", { scope: "col" }, h)))),
			el("tbody", {}, ...D.devices.map(d => el("tr", {}, ...[
				d.device + "  " + d.name, count(d.kernels),
				share(d.busy / D.wall), count(d.copies), bytes(d.up),
				bytes(d.down), share(d.copying / D.wall),
				share(d.both / D.wall), share(d.idle / D.wall),
				d.waits ? count(d.waits) + ", " + time(d.waited) : "-",
			].map(x => el("td", {}, x))))))));
}

function foot() {
	const link = el("a", { href: "#", download: "report.json" },
		"the data as JSON");

	link.addEventListener("click", () => {
		link.href = "data:application/json," +
			encodeURIComponent(document.getElementById("data").textContent);
	});
	page.append(el("footer", {}, "lkdf report · every number here is one of ",
		el("code", {}, "lkdf report " + D.file), " · ", link));
}

/* #v=from,to&chain=1&pick=n shows a place. */
function openPlace() {
	const h = new URLSearchParams(location.hash.slice(1));

	if (h.has("v"))
		timeline.go(...h.get("v").split(",").map(Number));
	if (h.get("chain"))
		timeline.toggleChain(true);
	if (h.has("pick"))
		timeline.pick(Number(h.get("pick")));
}

page.replaceChildren();
heading();
findings();
numbers();
whereTimeWent();
starved();
drawTimeline();
kindTable();
chainAndNodes();
requests();
teams();
reasons();
gains();
loops();
waits();
futexes();
flame("runs", "Stacks on a CPU, by kind");
flame("sleeps", "Stacks asleep in a futex word, by kind");
stacks();
devices();
workers();
foot();
timeline.draw();
openPlace();
