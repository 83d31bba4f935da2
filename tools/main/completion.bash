# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# shellcheck shell=bash
# Completion of lkdf for bash: asks the lkdf of the line what may come next.

_lkdf() {
	local cur=${COMP_WORDS[COMP_CWORD]} line kind='' first
	local -a before=("${COMP_WORDS[@]:1:COMP_CWORD}")

	COMPREPLY=()
	while IFS= read -r line; do
		case $line in
		:*) kind=$line ;;
		*) COMPREPLY+=("${line%%$'\t'*}") ;;
		esac
	done < <("${COMP_WORDS[0]}" completion next "${before[@]}" 2>/dev/null)

	# What is after the "=" of an option is a word that is still to come.
	[[ $cur != '=' ]] || cur=
	case $kind in
	:file)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		;;
	:dir)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -d -- "$cur")
		;;
	:command*)
		first=${kind#* }
		if declare -F _command_offset >/dev/null; then
			_command_offset "$first"
		elif ((COMP_CWORD == first)); then
			mapfile -t COMPREPLY < <(compgen -c -- "$cur")
		else
			compopt -o filenames 2>/dev/null
			mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		fi
		;;
	*)
		mapfile -t COMPREPLY < <(compgen -W "${COMPREPLY[*]}" -- "$cur")
		# The value of a runtime's option comes next.
		[[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null
		;;
	esac
}

complete -F _lkdf lkdf
