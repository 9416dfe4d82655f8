#compdef svcpay
# zsh completion for svcpay. Generated from the command tree: npm run completions
_svcpay() {
  local path_='' word
  local -a words_ flags globals
  globals=('--profile:use this profile' '--account:act on this subaccount' '--base-url:address of the service' '--sandbox:use the embedded sandbox\: no account, no server' '--json:print one JSON document' '--output:print as table, json, jsonl, csv, tsv' '--fields:only these fields, as in txnState,sourceReq.ccy' '--quiet:print only the one value a script wants' '--yes:answer the confirmation with yes' '--no-input:never ask a question' '--no-color:no colours' '--debug:log every request to stderr, without secrets' '--timeout:longest time for one request (default 30s)' '--help:display help')
  case "${words[CURRENT-1]}" in
    --output) compadd -- table json jsonl csv tsv; return ;;
    --network) compadd -- mainnet testnet any; return ;;
    --profile|--account|--base-url|--fields|--timeout|--api-key|--note|--ref|--wait-timeout|--qr-file|--from|--max-fee|--limit|--port|--file|--api-secret|--auto-pay|--description|--expiry) _files; return ;;
  esac
  for word in "${(@)words[2,CURRENT-1]}"; do
    [[ $word == -* ]] && continue
    case "${path_:+$path_ }$word" in
      'login'|'logout'|'whoami'|'wallets'|'receive'|'receive lightning'|'send'|'send lightning'|'swap'|'tx'|'tx list'|'tx get'|'tx watch'|'sandbox'|'sandbox start'|'sandbox fund'|'sandbox pay'|'sandbox invoice'|'sandbox reset'|'demo'|'completion'|'help') path_="${path_:+$path_ }$word" ;;
    esac
  done
  case "$path_" in
    '') words_=('login:connect to the service and keep the credentials' 'logout:forget the token and the secret of a profile' 'whoami:show account, profile, service and where secrets are kept' 'wallets:show what is available, reserved and in total' 'receive:ask for money' 'send:pay' 'swap:exchange between two of your own wallets' 'tx:look at transactions and carry them on' 'sandbox:the whole service, locally' 'demo:a tour of the main job on a sandbox of its own' 'completion:print the completion script of a shell' 'help:help on a command, or on exit-codes') flags=() ;;
    'login') words_=() flags=('--api-key:the API key; asked for when missing' '--api-secret-stdin:read the API secret from stdin' '--network:network of the service\: mainnet, testnet, any') ;;
    'logout') words_=() flags=() ;;
    'whoami') words_=() flags=() ;;
    'wallets') words_=() flags=() ;;
    'receive') words_=('lightning:make a Lightning invoice and wait until it is paid') flags=() ;;
    'receive lightning') words_=() flags=('--note:a note for yourself; the payer does not see it' '--ref:your reference\: run again with the same one, it asks for the same payment' '--wait:wait until it is paid (the default on a terminal)' '--no-wait:wait until it is paid (the default on a terminal)' '--wait-timeout:longest wait for the payment' '--qr-file:write the QR code to FILE.svg or FILE.png') ;;
    'send') words_=('lightning:pay a BOLT11 invoice') flags=() ;;
    'send lightning') words_=() flags=('--from:wallet to pay from' '--max-fee:highest total fee, as in 100sat or 1%' '--ref:your reference\: run again with the same one, it never pays twice' '--note:a note for yourself; the recipient does not see it' '--wait:wait until the payment is settled (the default)' '--no-wait:wait until the payment is settled (the default)' '--wait-timeout:longest wait for the settlement' '--quote-only:show what it would cost and stop' '--retry:try again under a reference whose payment failed') ;;
    'swap') words_=() flags=('--receive:AMOUNT is what shall arrive in TO, not what leaves FROM' '--max-fee:highest total fee, as in 100sat or 1%' '--ref:your reference\: run again with the same one, it never pays twice' '--note:a note for yourself; the recipient does not see it' '--wait:wait until the payment is settled (the default)' '--no-wait:wait until the payment is settled (the default)' '--wait-timeout:longest wait for the settlement' '--quote-only:show what it would cost and stop' '--retry:try again under a reference whose payment failed') ;;
    'tx') words_=('list:the history' 'get:one transaction as a receipt' 'watch:follow transactions to their end') flags=() ;;
    'tx list') words_=() flags=('--limit:how many (default 20)') ;;
    'tx get') words_=() flags=() ;;
    'tx watch') words_=() flags=('--wait-timeout:longest wait') ;;
    'sandbox') words_=('start:run the sandbox as a server' 'fund:add money to a wallet' 'pay:pay a request, as somebody outside would' 'invoice:make an invoice of somebody outside, to pay' 'reset:back to a fresh sandbox') flags=() ;;
    'sandbox start') words_=() flags=('--port:port on the loopback interface, 0 for any free one' '--file:database file, \:memory\: for none (default\: the embedded sandbox'\''s own)' '--api-key:API key in place of the one in the file' '--api-secret:API secret of this sandbox, for tests' '--auto-pay:pay requests by itself after this time, or off (default 3s)' '--allow-signature-reuse:accept the same signature at the token endpoint again') ;;
    'sandbox fund') words_=() flags=() ;;
    'sandbox pay') words_=() flags=() ;;
    'sandbox invoice') words_=() flags=('--description:what the invoice says it is for' '--expiry:how long it can be paid (default 1h)') ;;
    'sandbox reset') words_=() flags=() ;;
    'demo') words_=() flags=() ;;
    'completion') words_=('bash:' 'zsh:' 'fish:' 'powershell:') flags=() ;;
    'help') words_=() flags=() ;;
  esac
  if [[ "${words[CURRENT]}" == -* ]]; then
    flags+=("${globals[@]}")
    _describe 'option' flags
  elif (( ${#words_} )); then
    _describe 'command' words_
  else
    _files
  fi
}
compdef _svcpay svcpay
