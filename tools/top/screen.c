/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf top: the screen of a terminal, by ncursesw. Its last line has the keys;
 * what has no room below the title is scrolled. Without ncursesw the verb
 * prints with --batch only.
 */
#include "top/top.h"

#include "stat/child.h"
#include "top/page.h"

#ifdef HAVE_CURSES
#include <curses.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Set by a handler; what else a handler may do is nothing. */
static volatile sig_atomic_t stopped_by;

static void on_stop(int signal)
{
	stopped_by = signal;
}

struct screen {
	SCREEN *term;
	int pidfd;
	bool has_colours, wants_help, is_over, is_gone, has_failed;
	unsigned first; /* line below the title that is shown first */
	sigset_t unblocked;
};

/* ---- keys ---------------------------------------------------------------- */

static const char help[] =
	"n  nodes: workers, how busy they are, what they do\n"
	"w  workers, one a line, and the threads beside them\n"
	"k  kinds of bodies, while something is recorded\n"
	"f  futex words in which workers meet, with lkdf probe start\n"
	"d  devices: what the process counts of them\n"
	"p  pages: bytes of data moved and copied\n"
	"s  order of workers: number, busy, tasks, steals\n"
	"arrows, page up and down, home and end scroll\n"
	"space looks now, q quits\n"
	"\n"
	"near and far are items taken from workers that share a cache or the "
	"node, and from others. busy is the share of time not spent looking "
	"for work or asleep.\n"
	"\n"
	"Any key ends this page.";

/* draw() knows how far one can go down. */
static void scroll_by(struct screen *s, int by)
{
	if (by < 0 && s->first < (unsigned)-by)
		s->first = 0;
	else
		s->first += (unsigned)by;
}

static void show_view(struct screen *s, struct top *t, struct top_page *p,
		      int key)
{
	int v;

	for (v = 0; v < NR_TOP_VIEWS; v++) {
		if (top_view_key((enum top_view)v) != key)
			continue;
		p->view = (enum top_view)v;
		s->first = 0;
		if (v == TOP_FUTEXES)
			top_look_words(t);
	}
}

/* True: look now. */
static bool on_key(struct screen *s, struct top *t, struct top_page *p, int key)
{
	bool had_help = s->wants_help;

	s->wants_help = key == '?' || key == 'h';
	if (had_help && key != KEY_RESIZE && key != 'q')
		s->wants_help = false;
	else if (key == 'q')
		s->is_over = true;
	else if (key == 's')
		p->order = (enum top_order)((p->order + 1) % NR_TOP_ORDERS);
	else if (key == KEY_DOWN || key == KEY_UP)
		scroll_by(s, key == KEY_DOWN ? 1 : -1);
	else if (key == KEY_NPAGE || key == KEY_PPAGE)
		scroll_by(s, key == KEY_NPAGE ? LINES / 2 : -LINES / 2);
	else if (key == KEY_HOME || key == KEY_END)
		scroll_by(s, key == KEY_END ? (int)p->nr : -(int)p->nr);
	else
		show_view(s, t, p, key);
	return key == ' ';
}

/* ---- drawing ------------------------------------------------------------- */

static void draw_line(const struct screen *s, int y, const struct top_line *l)
{
	attr_t how = l->is_head		     ? A_REVERSE
		     : l->paint == CLI_FAINT ? A_DIM
		     : l->paint != CLI_PLAIN ? A_BOLD
					     : A_NORMAL;

	if (s->has_colours && l->paint == CLI_RED)
		how |= COLOR_PAIR(1);
	attrset(how);
	mvaddstr(y, 0, l->text);
	if (l->is_head)
		hline(' ' | A_REVERSE, COLS);
	attrset(A_NORMAL);
}

static void draw_keys(const struct top_page *p)
{
	bool is_wide = p->width >= 80;
	const char *word;
	char text[64];
	unsigned i;

	move(LINES - 1, 0);
	for (i = 0; (word = top_view_word(NULL, i)); i++) {
		attrset(p->view == i ? A_BOLD : A_DIM);
		addnstr(word, is_wide ? -1 : 1);
		addch(' ');
	}
	attrset(A_DIM);
	snprintf(text, sizeof(text), "  s order: %s  ? help  q quit",
		 top_order_word(p->order));
	addnstr(is_wide ? text : "s order ? help q quit",
		COLS - getcurx(stdscr));
	attrset(A_NORMAL);
}

static void draw(struct screen *s, struct top_page *p, const struct top *t)
{
	unsigned fixed, most, shown, i, y;

	p->width = COLS < 1 ? 1 : COLS > TOP_WIDTH ? TOP_WIDTH : (unsigned)COLS;
	if (top_page_make(p, t)) {
		s->has_failed = true;
		return;
	}
	if (s->wants_help) {
		p->nr = p->nr_title = 0;
		page_text(p, help);
	}
	/* The head of the table stays where it is. */
	fixed = p->nr_title;
	if (p->nr > fixed && p->line[fixed].is_head)
		fixed++;
	most = LINES - 1 > (int)fixed ? p->nr - fixed : 0;
	shown = most ? (unsigned)LINES - 1 - fixed : 0;
	most = most > shown ? most - shown : 0;
	if (s->first > most)
		s->first = most;
	erase();
	for (i = y = 0; i < p->nr; i++) {
		if (!s->wants_help && i >= fixed && i < fixed + s->first)
			continue;
		if ((int)y >= LINES - 1)
			break;
		draw_line(s, (int)y++, &p->line[i]);
	}
	draw_keys(p);
	refresh();
}

/* ---- waiting ------------------------------------------------------------- */

static void take_keys(struct screen *s, struct top *t, struct top_page *p,
		      int64_t *until_ns)
{
	int key;

	while ((key = getch()) != ERR) {
		if (on_key(s, t, p, key))
			*until_ns = 0;
		if (!s->is_over)
			draw(s, p, t);
	}
}

/* Keys are answered until the time has come. */
static void wait_for(struct screen *s, struct top *t, struct top_page *p,
		     int64_t until_ns)
{
	struct pollfd fd[] = {
		{ .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = s->pidfd, .events = POLLIN },
	};
	struct timespec left;
	int64_t ns;

	while (!s->is_over && !stopped_by && !s->is_gone && !s->has_failed) {
		ns = until_ns - child_now_ns();
		if (ns <= 0)
			return;
		left.tv_sec = ns / 1000000000;
		left.tv_nsec = ns % 1000000000;
		/* Signals come here and nowhere else. */
		if (ppoll(fd, 2, &left, &s->unblocked) < 0 && errno != EINTR)
			s->is_over = true;
		if (fd[0].revents & (POLLHUP | POLLERR | POLLNVAL))
			s->is_over = true;
		s->is_gone =
			fd[1].revents & POLLIN ||
			(s->pidfd < 0 && kill(t->pid, 0) && errno == ESRCH);
		take_keys(s, t, p, &until_ns);
	}
}

static void loop(struct screen *s, struct top *t, struct top_page *p,
		 const struct top_opts *o)
{
	int64_t next = child_now_ns();
	long i;

	for (i = 0; !o->times || i <= o->times; i++) {
		if (p->view == TOP_FUTEXES)
			top_look_words(t);
		s->has_failed |= top_look(t) != 0;
		if (!s->has_failed)
			draw(s, p, t);
		if (i == o->times && o->times)
			return;
		next = child_now_ns() + o->interval_ns;
		wait_for(s, t, p, next);
		if (s->is_over || stopped_by || s->is_gone || s->has_failed)
			return;
	}
}

/* ---- begin and end ------------------------------------------------------- */

static void catch_signals(struct screen *s)
{
	static const int stops[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	const struct sigaction stop = { .sa_handler = on_stop };
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < sizeof(stops) / sizeof(stops[0]); i++) {
		sigaction(stops[i], &stop, NULL);
		sigaddset(&set, stops[i]);
	}
	sigprocmask(SIG_BLOCK, &set, &s->unblocked);
}

static bool begin(struct screen *s)
{
	const char *no = getenv("NO_COLOR");

	/* COLUMNS and LINES of the environment may be those of another. */
	unsetenv("COLUMNS");
	unsetenv("LINES");
	s->term = newterm(NULL, stdout, stdin);
	if (!s->term)
		return false;
	/* After newterm(), which has handlers of its own. */
	catch_signals(s);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(25);
	curs_set(0);
	s->has_colours = has_colors() && !(no && *no);
	if (s->has_colours) {
		start_color();
		use_default_colors();
		init_pair(1, COLOR_RED, -1);
	}
	return true;
}

static int why_over(const struct screen *s, const struct top *t)
{
	char text[64];

	if (s->has_failed)
		return top_fail(CLI_ABSENT, "no memory", NULL);
	if (!s->is_gone)
		return CLI_OK;
	snprintf(text, sizeof(text), "process %d has ended", t->pid);
	return top_fail(CLI_GONE, text, NULL);
}

int top_screen(struct top *t, struct top_page *p, const struct top_opts *o)
{
	struct screen s = { .pidfd = -1 };

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return top_fail(CLI_USAGE, "there is no terminal",
				"lkdf top --batch");
	if (!begin(&s))
		return top_fail(CLI_ABSENT,
				"the kind of terminal that TERM names is not "
				"known",
				"lkdf top --batch");
	s.pidfd = (int)syscall(SYS_pidfd_open, t->pid, 0);
	loop(&s, t, p, o);
	endwin();
	delscreen(s.term);
	if (s.pidfd >= 0)
		close(s.pidfd);
	return why_over(&s, t);
}

#else

int top_screen(struct top *t, struct top_page *p, const struct top_opts *o)
{
	(void)t;
	(void)p;
	(void)o;
	return top_fail(CLI_ABSENT,
			"this lkdf was built without ncursesw, which its "
			"screen needs",
			"lkdf top --batch");
}

#endif
