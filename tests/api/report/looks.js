/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What a reader sees of the page, as a test asks: its width and the room for it,
 * whether it is dark, and the least contrast of a text with what is behind it. A test puts this
 * script at the end of a copy of the page; its answer is data-looks of <html>. */
"use strict";
(() => {
	/* "rgb(1, 2, 3)" or "rgba(1, 2, 3, 0.5)" as four numbers. */
	const colour = text => {
		const c = text.match(/[\d.]+/g).map(Number);
		return c.length === 3 ? [...c, 1] : c;
	};

	const over = (a, b) => [0, 1, 2].map(
		i => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);

	/* The colour behind an element: of the first ancestors up to an opaque one. */
	const behind = e => {
		const layers = [];
		for (; e; e = e.parentElement) {
			const c = colour(getComputedStyle(e).backgroundColor);
			if (c[3])
				layers.push(c);
			if (c[3] === 1)
				break;
		}
		return layers.reduceRight((below, c) => over(c, below),
			[255, 255, 255, 1]);
	};

	/* Relative luminance, as WCAG 2 has it. */
	const luminance = c => {
		const part = c.slice(0, 3).map(v => v / 255).map(
			v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
		return 0.2126 * part[0] + 0.7152 * part[1] + 0.0722 * part[2];
	};

	const opacity = e => e ? getComputedStyle(e).opacity *
		opacity(e.parentElement) : 1;

	const contrast = e => {
		const below = behind(e), c = colour(getComputedStyle(e).color);
		c[3] *= opacity(e);
		const l = [luminance(over(c, below)), luminance(below)];
		return (Math.max(...l) + 0.05) / (Math.min(...l) + 0.05);
	};

	const has_text = e => [...e.childNodes].some(
		n => n.nodeType === Node.TEXT_NODE && n.data.trim());

	const look = () => {
		const root = document.documentElement;
		const texts = [...document.body.querySelectorAll("*")].filter(
			e => !e.closest("script, style, noscript, canvas") &&
				has_text(e) && e.getClientRects().length);
		const least = texts.map(e => [contrast(e), e]).sort(
			(a, b) => a[0] - b[0])[0];
		root.dataset.looks = JSON.stringify({
			dark: matchMedia("(prefers-color-scheme: dark)").matches,
			window: innerWidth, room: root.clientWidth,
			width: root.scrollWidth,
			texts: texts.length, least: least[0],
			of: least[1].tagName + "." + least[1].className + " " +
				least[1].textContent.trim().slice(0, 40)});
	};

	addEventListener("load", look);
})();
