#compdef lkdf
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Completion of lkdf for zsh: asks the lkdf of the line what may come next.

_lkdf() {
	local cur=$words[CURRENT] line kind
	local -a before said found more
	integer first

	before=("${(@Q)words[2,CURRENT-1]}")
	if [[ $cur == --*=* ]]; then
		before+=("${cur%%=*}" '=')
		cur=${cur#*=}
		compset -P 1 '*='
	fi
	said=("${(@f)$(${(Q)words[1]} completion next "${(@)before}" \
		"${(Q)cur}" 2>/dev/null)}")
	for line in "${(@)said}"; do
		case $line in
		:*) kind=$line ;;
		?*) found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
		esac
	done
	case $kind in
	:file) _files ;;
	:dir) _files -/ ;;
	:command*)
		first=${kind#* }
		shift $first words
		((CURRENT -= first))
		_normal
		;;
	*)
		# The value of a runtime's option comes next.
		[[ $found[1] != *=:* ]] || more=(-S '')
		_describe -t words 'lkdf' found "${(@)more}"
		;;
	esac
}

if [[ $funcstack[1] == _lkdf ]]; then
	_lkdf "$@"
else
	compdef _lkdf lkdf
fi
