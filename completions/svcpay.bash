# bash completion for svcpay
_svcpay() {
  local value about
  COMPREPLY=()
  while IFS=$'\t' read -r value about; do
    if [[ $value == ':files' ]]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r value; do COMPREPLY+=("$value")
      done < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
      return
    fi
    COMPREPLY+=("$(printf '%q' "$value")")
  done < <("${COMP_WORDS[0]}" __complete bash "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _svcpay svcpay
