# bash completion for svcpay. Generated from the command tree: npm run completions
_svcpay() {
  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}" path='' words='' flags='' word
  case "$previous" in
    --output) COMPREPLY=($(compgen -W 'table json jsonl csv tsv' -- "$current")); return ;;
    --network) COMPREPLY=($(compgen -W 'mainnet testnet any' -- "$current")); return ;;
    --profile|--account|--base-url|--fields|--timeout|--api-key|--note|--ref|--wait-timeout|--qr-file|--from|--max-fee|--limit|--port|--file|--api-secret|--auto-pay|--description|--expiry) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] && continue
    case "${path:+$path }$word" in
      'login'|'logout'|'whoami'|'wallets'|'receive'|'receive lightning'|'send'|'send lightning'|'swap'|'tx'|'tx list'|'tx get'|'tx watch'|'sandbox'|'sandbox start'|'sandbox fund'|'sandbox pay'|'sandbox invoice'|'sandbox reset'|'demo'|'completion'|'help') path="${path:+$path }$word" ;;
    esac
  done
  case "$path" in
    '') words='login logout whoami wallets receive send swap tx sandbox demo completion help' flags='' ;;
    'login') words='' flags='--api-key --api-secret-stdin --network' ;;
    'logout') words='' flags='' ;;
    'whoami') words='' flags='' ;;
    'wallets') words='' flags='' ;;
    'receive') words='lightning' flags='' ;;
    'receive lightning') words='' flags='--note --ref --wait --no-wait --wait-timeout --qr-file' ;;
    'send') words='lightning' flags='' ;;
    'send lightning') words='' flags='--from --max-fee --ref --note --wait --no-wait --wait-timeout --quote-only --retry' ;;
    'swap') words='' flags='--receive --max-fee --ref --note --wait --no-wait --wait-timeout --quote-only --retry' ;;
    'tx') words='list get watch' flags='' ;;
    'tx list') words='' flags='--limit' ;;
    'tx get') words='' flags='' ;;
    'tx watch') words='' flags='--wait-timeout' ;;
    'sandbox') words='start fund pay invoice reset' flags='' ;;
    'sandbox start') words='' flags='--port --file --api-key --api-secret --auto-pay --allow-signature-reuse' ;;
    'sandbox fund') words='' flags='' ;;
    'sandbox pay') words='' flags='' ;;
    'sandbox invoice') words='' flags='--description --expiry' ;;
    'sandbox reset') words='' flags='' ;;
    'demo') words='' flags='' ;;
    'completion') words='bash zsh fish powershell' flags='' ;;
    'help') words='' flags='' ;;
  esac
  if [[ $current == -* ]]; then words="$flags --profile --account --base-url --sandbox --json --output --fields --quiet --yes --no-input --no-color --debug --timeout --help"; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _svcpay svcpay
