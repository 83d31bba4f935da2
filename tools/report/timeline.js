/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The timeline: a row for each worker, by node, on one canvas. What is narrower
 * than two pixels is drawn together, a column of pixels at a time, so that a
 * million bodies cost as many draws as the screen is wide.
 */
const PALETTE = ["#4477aa", "#ccbb44", "#228833", "#aa3377", "#66ccee",
	"#ee8866", "#bbcc33", "#ffaabb", "#77aadd", "#44bb99", "#aaaa00",
	"#eedd88", "#997700", "#99ddff"];
const LEFT = 108, AXIS = 20, OVERVIEW = 68, RIGHT = 8, WIDE = 2;

function kindColour(i) {
	return PALETTE[i % PALETTE.length];
}

/* Dark on light fills, light on dark ones. */
function inkOn(colour) {
	const v = parseInt(colour.slice(1), 16);

	return (v >> 16) * 0.3 + (v >> 8 & 255) * 0.59 + (v & 255) * 0.11 > 130
		? "#111" : "#fff";
}

function css(name) {
	return getComputedStyle(document.documentElement)
		.getPropertyValue(name).trim();
}

/* Numbers of seven bits a byte in base64: lanes.c packs them. */
class Numbers {
	constructor(text) {
		this.bytes = atob(text);
		this.at = 0;
	}
	more() {
		return this.at < this.bytes.length;
	}
	next() {
		let v = 0, scale = 1, c;

		do {
			c = this.bytes.charCodeAt(this.at++);
			v += (c & 127) * scale;
			scale *= 128;
		} while (c > 127);
		return v;
	}
	signed() {
		const v = this.next();

		return v % 2 ? -(v + 1) / 2 : v / 2;
	}
}

/* Pieces of all lanes, one after the other, as columns of numbers. */
function unpackPieces(data) {
	const nr = data.lanes.reduce((sum, l) => sum + l.pieces, 0);
	const p = {
		nr, begin: new Float64Array(nr), size: new Float64Array(nr),
		reach: new Float64Array(nr), wait: new Float64Array(nr),
		by: new Int32Array(nr).fill(-1), kind: new Uint16Array(nr),
		lane: new Uint16Array(nr), remote: new Uint8Array(nr),
		chain: new Uint8Array(nr), count: new Uint32Array(nr).fill(1),
		fill: new Uint8Array(nr).fill(100),
	};
	let i = 0;

	data.lanes.forEach((lane, index) => {
		const n = new Numbers(lane.data);
		let at = 0, by = 0, reach = 0;

		lane.first = i;
		for (let k = 0; k < lane.pieces; k++, i++) {
			const code = n.next();

			p.kind[i] = code >> 2;
			p.chain[i] = code >> 1 & 1;
			p.lane[i] = index;
			p.begin[i] = (at + n.signed()) * data.unit;
			p.size[i] = n.next() * data.unit;
			at = (p.begin[i] + p.size[i]) / data.unit;
			reach = Math.max(reach, p.begin[i] + p.size[i]);
			p.reach[i] = reach;
			p.wait[i] = -1;
			if (code & 1) {
				p.count[i] = n.next();
				p.fill[i] = n.next();
				continue;
			}
			p.wait[i] = (n.next() - 1) * data.unit;
			const other = n.next();
			if (other) {
				by += (other - 1) % 2 ? -other / 2
					: (other - 1) / 2;
				p.by[i] = by;
			}
			p.remote[i] = data.bytes ? n.next() : 0;
		}
	});
	return p;
}

function unpackParks(data, lane) {
	const n = new Numbers(lane.parks), out = [];
	let at = 0;

	while (n.more()) {
		const begin = at + n.next();

		at = begin + n.next();
		out.push([begin * data.unit, at * data.unit]);
	}
	return out;
}

class Timeline {
	constructor(data, box, tip, say) {
		this.data = data;
		this.pieces = unpackPieces(data);
		data.lanes.forEach(l => {
			l.park = unpackParks(data, l);
		});
		this.box = box;
		this.tip = tip;
		this.say = say;
		this.from = 0;
		this.to = data.wall;
		this.only = -1; /* the one kind shown */
		this.isOpen = false; /* blocking threads each have a row */
		this.showsChain = this.showsRemote = false;
		this.picked = -1;
		this.lit = new Set(); /* the picked one and what led to it */
		this.canvas = document.createElement("canvas");
		this.canvas.tabIndex = 0;
		this.canvas.setAttribute("role", "img");
		box.prepend(this.canvas);
		this.cx = this.canvas.getContext("2d");
		this.layRows();
		this.chain = this.chainPieces();
		this.listen();
	}

	/* Workers by node, then threads that run blocks of loops, devices and the
	 * outside, blocking threads last. */
	layRows() {
		const lanes = this.data.lanes, of = s => lanes.map((l, i) => i)
			.filter(i => lanes[i].sort === s);
		const one = i => ({
			lanes: [i], node: lanes[i].node,
			label: lanes[i].label.replace("worker ", "w "),
		});
		const pool = of("blocking");

		this.rows = of("worker").sort((a, b) =>
			lanes[a].node - lanes[b].node || a - b).map(one);
		this.rows.push(...of("thread").map(one), ...of("device").map(one),
			...of("outside").map(one));
		if (pool.length > 1)
			this.rows.push({
				lanes: pool, node: -1, isPool: true,
				label: (this.isOpen ? "▾ " : "▸ ") + pool.length +
					" blocking",
			});
		if (this.isOpen || pool.length === 1)
			this.rows.push(...pool.map(one));
		this.rowOf = {};
		this.rows.forEach((r, i) => r.lanes.forEach(l => {
			this.rowOf[l] = i;
		}));
	}

	chainPieces() {
		const p = this.pieces, out = [];

		for (let i = 0; i < p.nr; i++)
			if (p.chain[i])
				out.push(i);
		return out.sort((a, b) => p.begin[a] - p.begin[b]);
	}

	/* ---- where ---- */

	x(t) {
		return LEFT + (t - this.from) / this.per;
	}
	top(row) {
		return AXIS + OVERVIEW + row * this.rowHeight;
	}
	go(from, to) {
		const size = Math.max(200, Math.min(this.data.wall, to - from));

		from += (to - from - size) / 2;
		this.from = Math.max(0, Math.min(this.data.wall - size, from));
		this.to = this.from + size;
		this.draw();
	}
	zoom(factor, part) {
		const t = this.from + (this.to - this.from) * part;

		this.go(t - (t - this.from) * factor, t + (this.to - t) * factor);
	}
	/* The first piece of a lane that reaches beyond t. */
	lower(lane, t) {
		let a = lane.first, b = lane.first + lane.pieces;

		while (a < b) {
			const m = (a + b) >> 1;

			if (this.pieces.reach[m] <= t)
				a = m + 1;
			else
				b = m;
		}
		return a;
	}

	/* ---- drawing ---- */

	draw() {
		const ratio = window.devicePixelRatio || 1, cx = this.cx;

		this.width = this.box.clientWidth;
		this.rowHeight = Math.max(5, Math.min(28, 560 / this.rows.length));
		this.height = this.top(this.rows.length) + 8;
		this.columns = this.width - LEFT - RIGHT;
		this.per = (this.to - this.from) / this.columns;
		this.canvas.style.height = this.height + "px";
		this.canvas.width = Math.round(this.width * ratio);
		this.canvas.height = Math.round(this.height * ratio);
		cx.setTransform(ratio, 0, 0, ratio, 0, 0);
		cx.clearRect(0, 0, this.width, this.height);
		cx.font = "11px system-ui, 'DejaVu Sans', sans-serif";
		cx.textBaseline = "middle";
		this.ink = {
			fg: css("--fg"), dim: css("--dim"), line: css("--line"),
			bad: css("--bad"), ok: css("--ok"), area: css("--area"),
			parked: css("--starved"), taken: css("--taken"),
		};
		this.draws = 0;
		this.drawAxis();
		this.drawCurves();
		this.rows.forEach((row, i) => this.drawRow(row, i));
		if (this.showsChain)
			this.drawArrows(this.chain, 1);
		this.drawPicked();
		document.documentElement.dataset.draws = this.draws;
		document.documentElement.dataset.cells =
			this.rows.length * this.columns;
	}

	drawAxis() {
		const cx = this.cx, rough = (this.to - this.from) /
			Math.max(2, this.columns / 110);
		const ten = 10 ** Math.floor(Math.log10(rough));
		const step = [1, 2, 5, 10].find(k => k * ten >= rough) * ten;
		const unit = this.data.wall >= 1e9 ? [1e9, "s"]
			: this.data.wall >= 1e6 ? [1e6, "ms"] : [1e3, "µs"];
		const digits = Math.max(0, Math.ceil(
			Math.log10(unit[0] / step) - 0.001));

		cx.fillStyle = this.ink.dim;
		cx.strokeStyle = this.ink.line;
		for (let t = Math.ceil(this.from / step) * step; t <= this.to;
		     t += step) {
			const x = Math.round(this.x(t)) + 0.5;

			cx.beginPath();
			cx.moveTo(x, AXIS - 4);
			cx.lineTo(x, this.height);
			cx.stroke();
			if (x < this.width - 34)
				cx.fillText((t / unit[0]).toFixed(digits) + " " +
					unit[1], x + 3, 8);
		}
	}

	/* Busy workers as an area, ready tasks and operations as lines. */
	drawCurves() {
		const cx = this.cx, d = this.data, base = AXIS + OVERVIEW - 10;
		const high = OVERVIEW - 18, nr = d.busy.length;

		cx.save();
		cx.beginPath();
		cx.rect(LEFT, AXIS, this.columns, OVERVIEW);
		cx.clip();
		cx.fillStyle = this.ink.area;
		for (let i = 0; i < nr; i++) {
			const a = this.x(d.wall * i / nr);
			const b = this.x(d.wall * (i + 1) / nr);
			const h = Math.min(1, d.busy[i] / d.workers) * high;

			if (b >= LEFT && a <= this.width)
				cx.fillRect(a, base - h, b - a + 0.5, h);
		}
		this.drawCurve(d.ready, this.ink.bad, base, high);
		this.drawCurve(d.ops, this.ink.ok, base, high);
		cx.restore();
		cx.fillStyle = this.ink.dim;
		cx.fillText("busy of " + d.workers, 6, AXIS + 14);
		this.nameCurve(d.ready, this.ink.bad, "ready ≤ ", 30);
		this.nameCurve(d.ops, this.ink.ok, "under way ≤ ", 46);
	}
	drawCurve(values, colour, base, high) {
		const most = Math.max(...values), cx = this.cx;

		if (!most)
			return;
		cx.strokeStyle = colour;
		cx.lineWidth = 1.3;
		cx.beginPath();
		values.forEach((v, i) => cx.lineTo(
			this.x(this.data.wall * (i + 0.5) / values.length),
			base - Math.log1p(v) / Math.log1p(most) * high));
		cx.stroke();
		cx.lineWidth = 1;
	}
	nameCurve(values, colour, text, y) {
		const most = Math.max(...values);

		if (!most)
			return;
		this.cx.fillStyle = colour;
		this.cx.fillText(text + count(most), 6, AXIS + y);
	}

	drawRow(row, index) {
		const cx = this.cx, y = this.top(index), h = this.rowHeight - 3;
		const isNew = !index || this.rows[index - 1].node !== row.node ||
			this.rows[index - 1].isPool !== row.isPool;

		if (isNew) {
			cx.strokeStyle = this.ink.line;
			cx.beginPath();
			cx.moveTo(0, y - 1.5);
			cx.lineTo(this.width, y - 1.5);
			cx.stroke();
		}
		if (this.rowHeight >= 11 || isNew) {
			cx.fillStyle = this.ink.fg;
			cx.fillText(row.label, 6, y + Math.max(h, 8) / 2, LEFT - 12);
			cx.fillStyle = this.ink.dim;
			if (row.node >= 0)
				cx.fillText("node " + row.node, 60,
					y + Math.max(h, 8) / 2);
		}
		cx.save();
		cx.beginPath();
		cx.rect(LEFT, y, this.columns, h);
		cx.clip();
		if (row.isPool)
			this.drawPool(row, y, h);
		else
			this.drawLane(this.data.lanes[row.lanes[0]], y, h);
		cx.restore();
	}

	drawLane(lane, y, h) {
		const cx = this.cx;
		let last = -1;

		cx.fillStyle = this.ink.parked;
		for (const [a, b] of lane.park) {
			const x = this.x(a), right = this.x(b);

			if (right < LEFT || x > this.width || right < last + 1)
				continue;
			cx.fillRect(x, y + h * 0.36, Math.max(0.5, right - x), h * 0.28);
			last = right;
		}
		this.drawPieces(lane, y, h);
		cx.fillStyle = this.ink.taken;
		for (const [a, b, share] of lane.taken)
			if (b > this.from && a < this.to)
				cx.fillRect(this.x(a), y + h - 3,
					Math.max(0.5, (b - a) / this.per),
					3 * Math.min(1, 0.4 + share / 100));
	}

	drawPieces(lane, y, h) {
		const p = this.pieces, end = lane.first + lane.pieces;
		let i = this.lower(lane, this.from), covered = 0;

		while (i < end && p.begin[i] < this.to) {
			if (p.size[i] >= WIDE * this.per) {
				this.drawWide(i, y, h);
				covered = Math.max(covered, p.begin[i] + p.size[i]);
				i++;
			} else if (p.begin[i] + p.size[i] <= covered) {
				/* within a body that is drawn */
				i++;
			} else {
				i = this.drawColumn(i, end, y, h);
			}
		}
	}
	drawWide(i, y, h) {
		const cx = this.cx, p = this.pieces, colour = this.colour(i);
		const x = this.x(p.begin[i]), w = p.size[i] / this.per;
		const tall = p.fill[i] < 100 ? Math.max(0.12, p.fill[i] / 100) : 1;

		cx.globalAlpha = this.alpha(i);
		cx.fillStyle = colour;
		cx.fillRect(x, y + h * (1 - tall), w > 3 ? w - 0.6 : w, h * tall);
		this.draws++;
		if (w > 36 && h > 11 && cx.globalAlpha === 1) {
			cx.save();
			cx.beginPath();
			cx.rect(x, y, w - 3, h);
			cx.clip();
			cx.fillStyle = this.showsRemote ? "#111" : inkOn(colour);
			cx.fillText(this.data.kinds[p.kind[i]].name,
				Math.max(x, LEFT) + 4, y + h / 2 + 0.5);
			cx.restore();
		}
		cx.globalAlpha = 1;
	}
	/* All narrow pieces that begin in one column; returns the next piece. */
	drawColumn(i, end, y, h) {
		const p = this.pieces, column = Math.floor(this.x(p.begin[i]));
		const next = this.from + (column + 1 - LEFT) * this.per;
		const sums = {};
		let all = 0, best = i, shown = i;

		for (; i < end && p.begin[i] < next &&
		     p.size[i] < WIDE * this.per; i++) {
			const k = p.kind[i];

			all += p.size[i] * p.fill[i] / 100;
			sums[k] = (sums[k] || 0) + p.size[i];
			if (sums[k] > sums[p.kind[best]])
				best = i;
			if (this.alpha(i) === 1)
				shown = i;
		}
		if (this.only >= 0 || this.showsChain)
			best = shown;
		const tall = h * Math.min(1, Math.max(0.12, all / this.per));
		this.cx.globalAlpha = this.alpha(best);
		this.cx.fillStyle = this.colour(best);
		this.cx.fillRect(column, y + h - tall, 1.2, tall);
		this.cx.globalAlpha = 1;
		this.draws++;
		return i;
	}
	colour(i) {
		const p = this.pieces;

		if (!this.showsRemote)
			return kindColour(p.kind[i]);
		if (!p.remote[i])
			return this.ink.parked;
		const far = (p.remote[i] - 1) / 100;
		return `hsl(${215 - 200 * far} ${60 + 25 * far}% 56%)`;
	}
	alpha(i) {
		const p = this.pieces;

		if (this.lit.has(i))
			return 1;
		return (this.only >= 0 && p.kind[i] !== this.only) ||
			(this.showsChain && !p.chain[i]) ? 0.16 : 1;
	}

	/* Many threads in one row: how many of them are busy. */
	drawPool(row, y, h) {
		const nr = Math.ceil(this.columns), sum = new Float32Array(nr);
		const p = this.pieces, time = {};

		for (const index of row.lanes) {
			const lane = this.data.lanes[index];
			const end = lane.first + lane.pieces;

			for (let i = this.lower(lane, this.from);
			     i < end && p.begin[i] < this.to; i++) {
				const a = (p.begin[i] - this.from) / this.per;
				const b = a + p.size[i] / this.per;

				time[p.kind[i]] = (time[p.kind[i]] || 0) + p.size[i];
				for (let c = Math.max(0, Math.floor(a));
				     c <= Math.min(nr - 1, b); c++)
					sum[c] += Math.max(0, Math.min(b, c + 1) -
						Math.max(a, c));
			}
		}
		const kinds = Object.keys(time).sort((a, b) => time[b] - time[a]);
		this.cx.fillStyle = kindColour(kinds.length ? +kinds[0] : 0);
		for (let c = 0; c < nr; c++) {
			const tall = h * Math.sqrt(sum[c] / row.lanes.length);

			if (!tall)
				continue;
			this.cx.fillRect(LEFT + c, y + h - Math.max(1, tall), 1,
				Math.max(1, tall));
			this.draws++;
		}
	}

	drawArrows(list, width) {
		const cx = this.cx, p = this.pieces;
		const middle = i => this.top(this.rowOf[p.lane[i]]) +
			this.rowHeight / 2 - 1.5;
		let last = -9;

		cx.save();
		cx.beginPath();
		cx.rect(LEFT, AXIS, this.columns, this.height);
		cx.clip();
		cx.strokeStyle = this.ink.fg;
		cx.lineWidth = width;
		cx.beginPath();
		for (let k = 1; k < list.length; k++) {
			const a = list[k - 1], b = list[k];

			if (p.begin[b] < this.from || p.begin[a] > this.to)
				continue;
			const xa = this.x(Math.min(p.begin[a] + p.size[a], p.begin[b]));
			const xb = this.x(p.begin[b]);
			if (xb < last + 1.5)
				continue;
			last = xb;
			cx.moveTo(xa, middle(a));
			cx.bezierCurveTo(xa + 8, middle(a), xb - 8, middle(b), xb,
				middle(b));
		}
		cx.stroke();
		cx.restore();
	}
	/* The picked piece and all that led to it. */
	drawPicked() {
		const p = this.pieces, i = this.picked, cx = this.cx;

		if (i < 0)
			return;
		this.drawArrows(this.ancestry(i, 200).reverse(), 1.6);
		cx.strokeStyle = this.ink.fg;
		cx.lineWidth = 2;
		cx.strokeRect(this.x(p.begin[i]), this.top(this.rowOf[p.lane[i]]),
			Math.max(2, p.size[i] / this.per), this.rowHeight - 3);
		cx.lineWidth = 1;
	}
	ancestry(i, most) {
		const p = this.pieces, out = [i];

		while (p.by[i] >= 0 && p.by[i] < p.nr && out.length < most &&
		       p.begin[p.by[i]] < p.begin[i]) {
			i = p.by[i];
			out.push(i);
		}
		return out;
	}
}
