# Copyright (c) 2026 The Trumpet Authors.
# SPDX-License-Identifier: Apache-2.0
#
# Completion of trumpetctl in bash: commands and options from its own help,
# events and hosts by asking the server, for at most two seconds.

_trumpetctl_names() {
  timeout 2 trumpetctl "$1" list -o json 2>/dev/null |
    sed -n "s/^    \"$2\": \"\\(.*\\)\",\\{0,1\\}\$/\\1/p"
}

# Commands, or what may follow the first words of one.
_trumpetctl_commands() {
  trumpetctl --help 2>/dev/null | sed -n "s/^  ${1:+$1 }\\([a-z]\\{1,\\}\\) .*/\\1/p" | sort -u
}

# The values of an option, where they are known; otherwise files.
_trumpetctl_values() {
  case $1 in
    -o | --output) compgen -W 'table json yaml' -- "$2" ;;
    --tunnel) compgen -W 'gre erspan' -- "$2" ;;
    --verdict) compgen -W 'delivered dropped copies_lost loop not_known' -- "$2" ;;
    --mark) compgen -W 'connection protocol debug probe' -- "$2" ;;
    --format) compgen -W 'pcapng json' -- "$2" ;;
    --role) compgen -W 'read operate admin' -- "$2" ;;
    --event) compgen -W "$(_trumpetctl_names event name)" -- "$2" ;;
    *) compgen -f -- "$2" ;;
  esac
}

# Does this option, as far as it was typed, want a value?
_trumpetctl_wants_value() {
  [[ $1 == *= || $1 =~ ^(-o|--(output|server|token-file|ca|event|role|topologies|seconds|map|borders|routes|rate|path-ms|slice-ms|spacing-ms|param|number|port|tunnel|analyzers|local|switches|edge|switch|endpoint|copy-rate|key|host|top|interval|count|ports|source|target|src|dst|protocol|src-port|dst-port|verdict|mark|through|min-hops|from|until|limit|after|timeout|format|step|to|progress|trace|via|src-within|dst-within))$ ]]
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
    mapfile -t COMPREPLY < <(compgen -W "$(trumpetctl "${plain[@]:0:3}" --help 2>/dev/null |
      sed -n 's/^  \(--[a-z-]*\).*/\1/p')" -- "$current")
    return
  fi
  word=
  [[ ${#plain[@]} -gt 2 ]] || word=$(_trumpetctl_commands "${plain[*]}")
  if [[ -n $word ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$word" -- "$current")
    return
  fi
  case "${#plain[@]}:${plain[*]:0:2}" in
    *:event\ show | *:event\ rm | *:event\ enable | *:event\ disable | *:event\ watch)
      mapfile -t COMPREPLY < <(compgen -W "$(_trumpetctl_names event name)" -- "$current") ;;
    *:slice\ run | *:slice\ show | *:slice\ stop | *:slice\ rm)
      mapfile -t COMPREPLY < <(compgen -W "$(_trumpetctl_names slice name)" -- "$current") ;;
    *:host\ show)
      mapfile -t COMPREPLY < <(compgen -W "$(_trumpetctl_names host id)" -- "$current") ;;
    *)
      mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
  esac
}

complete -o filenames -F _trumpetctl trumpetctl
