#compdef svcpay
# zsh completion for svcpay
_svcpay() {
  local line
  local -a offered
  for line in "${(@f)$("${words[1]}" __complete zsh "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -z $line ]] && continue
    [[ $line == ':files' ]] && { _files; return }
    offered+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
  done
  (( ${#offered} )) && _describe -V 'svcpay' offered
}
compdef _svcpay svcpay
