// Prints the completion script of a shell. The completion script passes the typed words to `svcpay
// __complete` and offers each line of the result.
import { defineCommand, text } from '../define.js';
import { choice } from '../values.js';

export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;
type Shell = (typeof shells)[number];

export const completionScript = (shell: Shell): string => ({ bash, zsh, fish, powershell })[shell];

export const completion = defineCommand({
  arguments: {
    shell: choice(shells, 'SHELL').describe(
      `the shell that completes commands: ${shells.join(', ')}`,
    ),
  },
  examples: [
    [
      'source <(svcpay completion bash)',
      'completes commands in this shell; for later shells, add the line to ~/.bashrc',
    ],
    [
      'svcpay completion fish > ~/.config/fish/completions/svcpay.fish',
      'completes commands in every fish shell',
    ],
  ],
  run: async ({ shell }) => completionScript(shell).trimEnd(),
  view: text,
});

// bash splits a word at = and :, so `svcpay __complete` offers only the last piece of each
// suggestion.
const bash = String.raw`# bash completion for svcpay
_svcpay() {
  local value about
  COMPREPLY=()
  while IFS=$'\t' read -r value about; do
    if [[ $value == ':files' ]]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r value; do COMPREPLY+=("$value")
      done < <(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}")
      return
    fi
    COMPREPLY+=("$(printf '%q' "$value")")
  done < <("\${COMP_WORDS[0]}" __complete bash "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _svcpay svcpay
`.replaceAll('\\${', '${');

const zsh = String.raw`#compdef svcpay
# zsh completion for svcpay
_svcpay() {
  local line
  local -a offered
  for line in "\${(@f)$("\${words[1]}" __complete zsh "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -z $line ]] && continue
    [[ $line == ':files' ]] && { _files; return }
    offered+=("\${\${line%%$'\t'*}//:/\\:}:\${line#*$'\t'}")
  done
  (( \${#offered} )) && _describe -V 'svcpay' offered
}
compdef _svcpay svcpay
`.replaceAll('\\${', '${');

const fish = String.raw`# fish completion for svcpay
function __svcpay_offers
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    test -z "$current"; and set current ''
    set -l offers ($words[1] __complete fish $words[2..] $current 2>/dev/null)
    if test "$offers[1]" = ':files'
        __fish_complete_path "$current"
    else
        printf '%s\n' $offers
    end
end
complete -c svcpay -f -k -a '(__svcpay_offers)'
`;

const powershell = String.raw`# PowerShell completion for svcpay
Register-ArgumentCompleter -Native -CommandName svcpay -ScriptBlock {
  param($word, $line, $position)
  $words = @($line.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.StartOffset -lt $position } | ForEach-Object { $_.ToString() })
  # An empty word would not be handed over.
  if ($word -eq '') { $words += "''" }
  $offers = @(& svcpay __complete powershell @words 2>$null)
  # Nothing at all leaves the word to the shell, which offers file names; an empty string does not.
  if ($offers -contains ':files') { return }
  if ($offers.Count -eq 0) { return '' }
  $offers | ForEach-Object {
    $value, $about = $_ -split [char]9, 2
    $isPlain = $value -match '^[\w.:/+=~%-][\w.:/+=~%,@-]*$'
    $shown = if ($isPlain) { $value } else { "'" + $value.Replace("'", "''") + "'" }
    if (-not $about) { $about = $value }
    [System.Management.Automation.CompletionResult]::new($shown, $value, 'ParameterValue', $about)
  }
}
`;
