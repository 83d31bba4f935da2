/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf completion: scripts for bash and zsh, and what they ask on each TAB. A
 * script knows no verb and no option: it hands over the words of the line and
 * gets a line for each word that may stand where the cursor is, so that both
 * shells offer what the tables of this very binary hold.
 */
#include "main/completion.h"

#include "cli/verbs.h"
#include "stat/stats_map.h"
#include "stat/target.h"

#include <ctype.h>
#include <string.h>

/* Made of tools/main/completion.bash and tools/main/completion.zsh. */
extern const char completion_bash[], completion_zsh[];

static const struct {
	const char *name, *text;
} shells[] = {
	{ "bash", completion_bash },
	{ "zsh", completion_zsh },
};
#define NR_SHELLS (sizeof(shells) / sizeof(shells[0]))

static const char *shell_name(const void *u, unsigned i)
{
	(void)u;
	return i < NR_SHELLS ? shells[i].name : NULL;
}

const struct cli_spec completion_spec = {
	.verb = "completion",
	.usage = "bash|zsh | next WORD ...",
	.help = "Prints the completion of a shell: make install puts it where\n"
		"the shells look; source <(lkdf completion bash) loads it into\n"
		"a bash that runs. The scripts call lkdf completion next with the words after\n"
		"lkdf up to the cursor, the last of which may be empty. Each\n"
		"line of the answer is a word, a tab and what it means, or\n"
		":file, :dir, or :command and the number of its first word.",
	.without = CLI_NO_JSON | CLI_NO_QUIET | CLI_NO_VERBOSE,
	.has_command = true,
	.choice = shell_name,
};

void completion_offer(const char *word, const char *help)
{
	printf("%s\t%s\n", word, help);
}

/* At a place where the table of a family says what may come. */
static void offer_verbs(const struct cli_family *f, bool is_help,
			const char *typed)
{
	const struct cli_verb *v;

	if (*typed == '-') {
		if (is_help)
			completion_offer("--man", "the manual page, as roff");
		else
			completion_offer("--help", "the table of all");
		if (!is_help && !f->parent)
			completion_offer("--version", "of the tool");
		return;
	}
	for (v = f->verb; v < f->verb + f->nr; v++)
		completion_offer(v->name, v->words ? v->words->help : v->help);
	if (!is_help)
		completion_offer("help", "the options of each");
}

static void offer_options(const struct cli_spec *spec)
{
	const struct cli_row *row;
	char word[64];
	unsigned i;

	for (i = 0; (row = cli_row_at(spec, i)); i++) {
		snprintf(word, sizeof(word), "--%s", row->name);
		completion_offer(word, row->help);
	}
	completion_offer("--help", "these options");
}

static void offer_choices(const struct cli_spec *spec)
{
	const char *word;
	unsigned i;

	for (i = 0; (word = spec->choice(NULL, i)); i++)
		completion_offer(word, "");
}

/* A process may call itself anything: nothing that a shell would act upon. */
static bool is_plain(const char *name)
{
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && !strchr("._+-", *name))
			return false;
	return true;
}

/* Processes with a runtime that we may look at: by number, or by name. */
static void offer_process(void *u, int pid, const char *name)
{
	const char *typed = u;
	struct stats_map m;
	char number[16];

	if (!is_plain(name) || stats_map_open(pid, &m, 1) != 1)
		return;
	stats_map_close(&m);
	snprintf(number, sizeof(number), "%d", pid);
	if (*typed && !isdigit((unsigned char)*typed))
		completion_offer(name, number);
	else
		completion_offer(number, name);
}

static void offer_value(const struct cli_spec *spec, const struct cli_row *row,
			char *typed)
{
	if (spec->choice_of && !strcmp(row->name, spec->choice_of))
		offer_choices(spec);
	else if (!strcmp(row->value, "FILE"))
		puts(":file");
	else if (!strcmp(row->value, "DIR"))
		puts(":dir");
	else if (!strcmp(row->value, "PID|NAME"))
		target_each(offer_process, typed);
	else if (!strcmp(row->value, "CPUS"))
		completion_cpus();
}

/*
 * The value of an option as far as it is typed: bash cuts "name=value" at each
 * "=", and that one behind the option's own name is no part of it.
 */
struct typed {
	char text[1024];
	unsigned nr; /* words of it */
};

static void type_word(struct typed *t, const char *word)
{
	size_t used = strlen(t->text);

	if (t->nr++ || strcmp(word, "="))
		snprintf(t->text + used, sizeof(t->text) - used, "%s", word);
}

/* Is word, behind the one before, still of the value? */
static bool goes_on(const struct cli_row *row, const struct typed *t,
		    const char *before, const char *word)
{
	if (!t->nr || (t->nr == 1 && !t->text[0]))
		return true;
	return !strcmp(row->value, "OPTIONS") &&
	       (!strcmp(word, "=") || !strcmp(before, "="));
}

/* The last word of it may be the "=" that bash has cut off. */
static void offer_typed(const struct cli_spec *spec, const struct cli_row *row,
			struct typed *t, char *last)
{
	char *token = strcmp(last, "=") ? last : "";

	type_word(t, last);
	if (strcmp(row->value, "OPTIONS"))
		offer_value(spec, row, token);
	else
		completion_options(t->text, token);
}

/* A word of the line that is neither an option nor the value of one. */
static void offer_word(const struct cli_spec *spec, unsigned nr_words)
{
	if (spec->choice && !spec->choice_of && !nr_words)
		offer_choices(spec);
	else if (spec->has_files && nr_words < spec->max_words)
		puts(":file");
	else
		offer_options(spec);
}

/* The first word that is no option begins a command of the system. */
static bool takes_command(const struct cli_spec *spec)
{
	return spec->has_command && (!spec->choice || spec->choice_of);
}

/*
 * words: all after lkdf, NULL behind them; i: the first one after the verb.
 * "=" between an option and its value is a word of its own, as bash has it.
 */
static void next_of_verb(const struct cli_spec *spec, char **words, int i)
{
	const struct cli_row *row = NULL;
	struct typed typed;
	bool is_over = false;
	unsigned nr_words = 0;
	const char *value;

	for (; words[i + 1]; i++) {
		if (row && goes_on(row, &typed, words[i - 1], words[i])) {
			type_word(&typed, words[i]);
			continue;
		}
		row = NULL;
		if (is_over || words[i][0] != '-') {
			if (takes_command(spec))
				break;
			nr_words++;
		} else if (!strcmp(words[i], "--")) {
			is_over = true;
		} else {
			row = cli_find_row(spec, words[i], &value);
			if (row && (row->type == CLI_FLAG || value))
				row = NULL;
			typed = (struct typed){ .nr = 0 };
		}
	}
	if (row && !goes_on(row, &typed, words[i - 1], words[i]))
		row = NULL;
	if (row)
		offer_typed(spec, row, &typed, words[i]);
	else if (words[i][0] == '-' && !is_over)
		offer_options(spec);
	else if (takes_command(spec))
		printf(":command %d\n", i + 1);
	else
		offer_word(spec, nr_words);
}

/* The last of words is where the cursor is. */
static void next(char **words)
{
	const struct cli_family *f = &lkdf_family;
	const struct cli_verb *verb;
	bool is_help = false;
	int i;

	for (i = 0; words[i + 1]; i++) {
		if (!strcmp(words[i], is_help ? "--man" : "help")) {
			is_help = true;
			continue;
		}
		verb = cli_find_verb(f, words[i]);
		if (verb && verb->spec && !is_help)
			next_of_verb(verb->spec, words, i + 1);
		if (!verb || verb->spec)
			return;
		f = verb->words;
	}
	offer_verbs(f, is_help, words[i]);
}

int verb_completion(int argc, char **argv)
{
	struct cli_error e = { "completion", CLI_USAGE, NULL,
			       "lkdf completion --help" };
	struct cli_common o = { .is_json = false };
	unsigned i;
	int code, nr;

	if (!cli_parse(&completion_spec, argc, argv, &o, &code))
		return code;
	nr = cli_nr_words(argc, argv);
	if (nr > 1 && !strcmp(argv[1], "next")) {
		next(argv + 2);
		return CLI_OK;
	}
	for (i = 0; i < NR_SHELLS && nr == 1; i++)
		if (!strcmp(argv[1], shells[i].name)) {
			fputs(shells[i].text, stdout);
			return CLI_OK;
		}
	return cli_fail(&e, "for which shell? bash or zsh");
}
