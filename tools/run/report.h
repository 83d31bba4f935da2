/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The recording of lkdf run --report, and what the report says of it. */
#ifndef TOOLS_RUN_REPORT_H
#define TOOLS_RUN_REPORT_H

struct run_report {
	char dir[256], file[272]; /* dir "": the user has named a file */
};

/* Makes a folder that only this user reads, for a recording there. 0, -errno */
int run_report_open(struct run_report *r);

/* Prints the text of lkdf report for that recording on standard error. */
void run_report_print(const char *trace);

/* Removes the folder, with recordings of all runtimes of the command. */
void run_report_close(struct run_report *r);

#endif
