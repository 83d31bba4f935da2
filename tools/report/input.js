/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Mouse, keyboard and words of the timeline. */
Timeline.prototype.listen = function() {
	const c = this.canvas;
	let drag = null;

	c.addEventListener("pointerdown", e => {
		drag = { x: e.clientX, from: this.from, to: this.to, moved: false };
		c.setPointerCapture(e.pointerId);
	});
	c.addEventListener("pointermove", e => {
		if (!drag) {
			this.showTip(e);
			return;
		}
		const dt = (e.clientX - drag.x) * this.per;
		drag.moved = drag.moved || Math.abs(e.clientX - drag.x) > 3;
		if (drag.moved)
			this.go(drag.from - dt, drag.to - dt);
	});
	c.addEventListener("pointerup", e => {
		if (drag && !drag.moved)
			this.click(e);
		drag = null;
	});
	c.addEventListener("pointerleave", () => {
		this.tip.style.display = "none";
	});
	c.addEventListener("wheel", e => {
		e.preventDefault();
		if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
			const dt = e.deltaX * this.per;

			this.go(this.from + dt, this.to + dt);
			return;
		}
		this.zoom(e.deltaY > 0 ? 1.25 : 0.8, Math.max(0,
			(e.offsetX - LEFT) / this.columns));
	}, { passive: false });
	c.addEventListener("keydown", e => {
		if (!e.ctrlKey && !e.metaKey && !e.altKey && this.key(e.key))
			e.preventDefault();
	});
	window.addEventListener("resize", () => this.draw());
	matchMedia("(prefers-color-scheme: dark)")
		.addEventListener("change", () => this.draw());
};

Timeline.prototype.key = function(key) {
	const step = (this.to - this.from) * 0.15, p = this.pieces;

	switch (key.length === 1 ? key.toLowerCase() : key) {
	case "w": case "+": case "ArrowUp":
		this.zoom(0.7, 0.5);
		break;
	case "s": case "-": case "ArrowDown":
		this.zoom(1 / 0.7, 0.5);
		break;
	case "a": case "ArrowLeft":
		this.go(this.from - step, this.to - step);
		break;
	case "d": case "ArrowRight":
		this.go(this.from + step, this.to + step);
		break;
	case "n": case "p":
		this.pickNear(key.toLowerCase() === "n" ? 1 : -1);
		break;
	case "b":
		if (this.picked >= 0 && p.by[this.picked] >= 0)
			this.pick(p.by[this.picked]);
		break;
	case "f":
		if (this.picked >= 0)
			this.goTo(this.picked);
		break;
	case "c":
		this.toggleChain();
		break;
	case "0": case "Home":
		this.go(0, this.data.wall);
		break;
	case "Escape":
		this.pick(-1);
		break;
	default:
		return false;
	}
	return true;
};

Timeline.prototype.goTo = function(i) {
	const p = this.pieces;

	this.go(p.begin[i] - p.size[i] * 4, p.begin[i] + p.size[i] * 5);
};

Timeline.prototype.toggleChain = function(on) {
	this.showsChain = on === undefined ? !this.showsChain : on;
	this.onToggle();
	this.draw();
};

/* The innermost piece under the pointer, -1: none. */
Timeline.prototype.hit = function(e) {
	const p = this.pieces, row = this.rows[this.rowAt(e)];

	if (!row || row.isPool || e.offsetX < LEFT)
		return -1;
	const lane = this.data.lanes[row.lanes[0]];
	const t = this.from + (e.offsetX - LEFT) * this.per;
	let found = -1;

	for (let i = this.lower(lane, t - this.per);
	     i < lane.first + lane.pieces && p.begin[i] <= t + this.per; i++)
		if (p.begin[i] + p.size[i] >= t - this.per)
			found = i;
	return found;
};
Timeline.prototype.rowAt = function(e) {
	return Math.floor((e.offsetY - AXIS - OVERVIEW) / this.rowHeight);
};

Timeline.prototype.click = function(e) {
	const row = this.rows[this.rowAt(e)];

	if (row && row.isPool) {
		this.isOpen = !this.isOpen;
		this.layRows();
		this.draw();
		return;
	}
	this.pick(this.hit(e));
};

Timeline.prototype.pick = function(i) {
	const p = this.pieces;

	this.picked = i;
	this.lit = new Set(i < 0 ? [] : this.ancestry(i, 200));
	if (i >= 0 && (p.begin[i] + p.size[i] < this.from ||
		       p.begin[i] > this.to))
		this.goTo(i);
	else
		this.draw();
	this.say(i < 0 ? "" : this.story(i));
};
Timeline.prototype.pickNear = function(step) {
	const p = this.pieces, lanes = this.data.lanes;
	const lane = lanes[this.picked < 0 ? this.rows[0].lanes[0]
		: p.lane[this.picked]];
	const i = this.picked < 0 ? this.lower(lane, this.from)
		: this.picked + step;

	if (i >= lane.first && i < lane.first + lane.pieces)
		this.pick(i);
};

Timeline.prototype.nameOf = function(i) {
	const p = this.pieces;

	return this.data.kinds[p.kind[i]].name +
		(p.count[i] > 1 ? " and others" : "");
};

/* What a person sees in the tip. */
Timeline.prototype.describe = function(i) {
	const p = this.pieces, kind = this.data.kinds[p.kind[i]];
	const lines = [];

	if (p.count[i] > 1)
		return `${count(p.count[i])} short bodies, most of it ` +
			`${kind.name}\n${time(p.size[i])}, ${p.fill[i]} % in ` +
			`bodies\nat ${time(p.begin[i])} on ` +
			this.data.lanes[p.lane[i]].label;
	lines.push(`${kind.name}  ${time(p.size[i])}  (median ${time(kind.p50)})`);
	lines.push(`at ${time(p.begin[i])} on ` +
		this.data.lanes[p.lane[i]].label);
	if (p.wait[i] >= 0)
		lines.push(`ready for ${time(p.wait[i])} before it began`);
	if (p.by[i] >= 0)
		lines.push(`made ready by ${this.nameOf(p.by[i])} on ` +
			this.data.lanes[p.lane[p.by[i]]].label);
	if (p.remote[i])
		lines.push(`${p.remote[i] - 1} % of its bytes from another node`);
	if (p.chain[i])
		lines.push("on the longest chain");
	return lines.join("\n");
};

/* The picked piece in one sentence: read aloud, too. */
Timeline.prototype.story = function(i) {
	const list = this.ancestry(i, 12), p = this.pieces;
	const names = list.slice(1).map(k => `${this.nameOf(k)} (${time(p.size[k])}` +
		`, ${this.data.lanes[p.lane[k]].label.replace("worker", "w")})`);

	return this.describe(i).replace(/\n/g, " · ") +
		(names.length ? ". Before it: " + names.join(" ← ") : "");
};

Timeline.prototype.showTip = function(e) {
	const i = this.hit(e), tip = this.tip;

	tip.style.display = i < 0 ? "none" : "block";
	if (i < 0)
		return;
	tip.textContent = this.describe(i);
	tip.style.left = Math.max(4, Math.min(e.offsetX + 14,
		this.width - tip.offsetWidth - 6)) + "px";
	tip.style.top = Math.max(4, Math.min(e.offsetY + 14,
		this.height - tip.offsetHeight - 4)) + "px";
};
