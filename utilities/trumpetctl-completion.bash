# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
#
# Completion of trumpetctl in bash: commands and options from its own help,
# events and hosts by asking the server, for at most two seconds.

_trumpetctl_names() {
  timeout 2 trumpetctl "$1" list -o json 2>/dev/null |
    sed -n "s/^    \"$2\": \"\\(.*\\)\",\\{0,1\\}\$/\\1/p"
}

# The values of an option, where they are known; otherwise files.
_trumpetctl_values() {
  case $1 in
    -o | --output) compgen -W 'table json yaml' -- "$2" ;;
    --role) compgen -W 'read operate admin' -- "$2" ;;
    --event) compgen -W "$(_trumpetctl_names event name)" -- "$2" ;;
    *) compgen -f -- "$2" ;;
  esac
}

# Does this option, as far as it was typed, want a value?
_trumpetctl_wants_value() {
  [[ $1 == *= || $1 =~ ^(-o|--(output|server|token-file|ca|event|role|topologies|seconds|map|borders|routes|rate|path-ms|slice-ms|spacing-ms))$ ]]
}

_trumpetctl() {
  local current=${COMP_WORDS[COMP_CWORD]} word option=
  local -a plain=()
  COMPREPLY=()
  [[ $current != = ]] || current=
  # bash cuts --output=json into three words.
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ $word == -* ]]; then
      option=$word
    elif [[ -n $option && $word == = ]]; then
      option+==
    else
      _trumpetctl_wants_value "$option" || plain+=("$word")
      option=
    fi
  done
  if _trumpetctl_wants_value "$option"; then
    mapfile -t COMPREPLY < <(_trumpetctl_values "${option%=}" "$current")
    return
  fi
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(trumpetctl "${plain[@]:0:2}" --help 2>/dev/null |
      sed -n 's/^  \(--[a-z-]*\).*/\1/p')" -- "$current")
    return
  fi
  case "${#plain[@]}:${plain[*]:0:2}" in
    0:*)
      mapfile -t COMPREPLY < <(compgen -W 'event report host slice topology simulate status token' -- "$current") ;;
    1:event)
      mapfile -t COMPREPLY < <(compgen -W 'add check list show rm enable disable watch' -- "$current") ;;
    1:report) COMPREPLY=(list) ;;
    1:host)
      mapfile -t COMPREPLY < <(compgen -W 'list show' -- "$current") ;;
    1:slice)
      mapfile -t COMPREPLY < <(compgen -W 'plan solve' -- "$current") ;;
    1:topology) COMPREPLY=(show) ;;
    1:token) COMPREPLY=(new) ;;
    *:event\ show | *:event\ rm | *:event\ enable | *:event\ disable | *:event\ watch)
      mapfile -t COMPREPLY < <(compgen -W "$(_trumpetctl_names event name)" -- "$current") ;;
    *:host\ show)
      mapfile -t COMPREPLY < <(compgen -W "$(_trumpetctl_names host id)" -- "$current") ;;
    *)
      mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
  esac
}

complete -o filenames -F _trumpetctl trumpetctl
