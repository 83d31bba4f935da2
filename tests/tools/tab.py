#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
"""
tab.py SHELL SCRIPT LINE: types the line into an interactive shell that has read
the script, "^" for each TAB, and prints the words that the shell then has, each
between < and >. SCRIPT may be a folder in which zsh looks for functions.
"""
import os
import pty
import re
import select
import signal
import sys

START = {
    'bash': (['bash', '--norc', '--noprofile', '-i'], ''),
    'zsh': (['zsh', '-f', '-i'],
            'autoload -Uz compinit && compinit -u -D; '),
}
BEGIN_OF_LINE = '\x01'


def read_until(fd, mark):
    text = ''
    while not re.search(mark, text, re.DOTALL):
        if not select.select([fd], [], [], 30)[0]:
            sys.exit(f'no {mark} in 30 s: {text}')
        text += os.read(fd, 4096).decode(errors='replace')
    return text


def main():
    shell, script, line = sys.argv[1:]
    argv, prepare = START[shell]
    if os.path.isdir(script):
        prepare = f"fpath=('{script}' $fpath); {prepare}"
    else:
        prepare += f"source '{script}'; "
    pid, fd = pty.fork()
    if not pid:
        os.environ.update(TERM='dumb', HISTFILE='', INPUTRC='/dev/null')
        os.execvp(argv[0], argv)
    # The echo of a command is not taken for its effect.
    os.write(fd, f"{prepare}PS1='REA''DY> '\r".encode())
    read_until(fd, 'READY> ')
    typed = line.replace('^', '\t') + BEGIN_OF_LINE
    os.write(fd, f"{typed}printf '<%s>' EN''D \r".encode())
    text = read_until(fd, '<END>.*READY> ')
    print(''.join(re.findall(r'<END>((?:<[^<>]*>)*)', text)))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


main()
