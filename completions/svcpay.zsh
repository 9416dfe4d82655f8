#compdef svcpay
# zsh completion for svcpay. Generated from the command tree: npm run completions
_svcpay() {
  local path_='' word
  local -a words_ flags globals
  globals=('--profile:use this profile' '--account:act on this subaccount' '--base-url:address of the service' '--sandbox:use the embedded sandbox\: no account, no server' '--json:print one JSON document' '--output:print as table, json, jsonl, csv, tsv' '--fields:only these fields, as in txnState,sourceReq.ccy' '--quiet:print only the one value a script wants' '--yes:answer the confirmation with yes' '--no-input:never ask a question' '--no-color:no colours' '--debug:log every request to stderr, without secrets' '--timeout:longest time for one request (default 30s)' '--help:display help')
  case "${words[CURRENT-1]}" in
    --output) compadd -- table json jsonl csv tsv; return ;;
    --network) compadd -- mainnet testnet any; return ;;
    --chain) compadd -- tron eth; return ;;
    --via) compadd -- lightning onchain; return ;;
    --on-error) compadd -- continue stop; return ;;
    --country) compadd -- CA IN ID KE MY NG PH RW SG KR TH VN BJ CI GH SN TW KH; return ;;
    --recipient-type) compadd -- individual business; return ;;
    --sender-type) compadd -- individual business; return ;;
    --time) compadd -- 1d 7d 30d 3m 6m 1y; return ;;
    --format) compadd -- csv jsonl hledger beancount; return ;;
    --seed) compadd -- demo empty history; return ;;
    --status) compadd -- scheduled sending delivered failed canceled; return ;;
    --outcome) compadd -- no-route rejected error; return ;;
    --profile|--account|--base-url|--fields|--timeout|--api-key|--note|--ref|--wait-timeout|--qr-file|--from|--max-fee|--concurrency|--result|--name|--recipient|--method|--institution|--institution-name|--acct-num|--acct-name|--recipient-name|--recipient-country|--recipient-phone|--recipient-address|--amount|--purpose|--source|--relationship|--sender-name|--sender-country|--sender-phone|--sender-address|--from-file|--per-payment|--per-day|--since|--until|--state|--src-method|--dest-method|--exclude-src-method|--exclude-dest-method|--limit|--page|--callback|--port|--host|--forward-to|--exec|--ready-file|--signature|--to|--txn|--file|--api-secret|--auto-pay|--webhook-ca|--description|--expiry|--path|--nth|--times|--error|--message|--body|--retry-after|--delay|--commit-after|--ago|--steps|--destination|--replay|--data) _files; return ;;
  esac
  for word in "${(@)words[2,CURRENT-1]}"; do
    [[ $word == -* ]] && continue
    case "${path_:+$path_ }$word" in
      'login'|'logout'|'whoami'|'wallets'|'account'|'rates'|'decode'|'receive'|'receive lightning'|'receive onchain'|'receive address'|'send'|'send lightning'|'send lnurl'|'send onchain'|'send usdt'|'swap'|'batch'|'payout'|'payout methods'|'payout institutions'|'recipients'|'recipients list'|'recipients add'|'recipients remove'|'limits'|'limits list'|'limits set'|'limits allow'|'limits disallow'|'limits clear'|'tx'|'tx list'|'tx get'|'tx watch'|'tx confirm'|'tx cancel'|'tx pending'|'tx resume'|'tx export'|'webhook'|'webhook list'|'webhook set'|'webhook update'|'webhook remove'|'webhook listen'|'webhook verify'|'webhook sign'|'webhook replay'|'webhook trigger'|'sandbox'|'sandbox start'|'sandbox run'|'sandbox status'|'sandbox fund'|'sandbox pay'|'sandbox invoice'|'sandbox mine'|'sandbox clock'|'sandbox clock show'|'sandbox clock advance'|'sandbox clock freeze'|'sandbox clock thaw'|'sandbox fault'|'sandbox fault add'|'sandbox fault list'|'sandbox fault clear'|'sandbox log'|'sandbox deliveries'|'sandbox snapshot'|'sandbox snapshot save'|'sandbox snapshot load'|'sandbox snapshot list'|'sandbox snapshot remove'|'sandbox reset'|'profiles'|'profiles list'|'profiles use'|'profiles remove'|'config'|'config list'|'config get'|'config set'|'config path'|'demo'|'api'|'mcp'|'doctor'|'completion'|'help') path_="${path_:+$path_ }$word" ;;
    esac
  done
  case "$path_" in
    '') words_=('login:connect to the service and keep the credentials' 'logout:forget the token and the secret of a profile' 'whoami:show account, profile, service and where secrets are kept' 'wallets:show what is available, reserved and in total' 'account:show the account record' 'rates:show exchange rates' 'decode:read an invoice, an address or an LNURL offline' 'receive:ask for money' 'send:pay an invoice, an address, an LNURL or a Lightning Address' 'swap:exchange between two of your own wallets' 'batch:pay the rows of a CSV file, each once' 'payout:pay out to a bank account or a mobile wallet' 'recipients:the address book for payouts' 'limits:what may be spent from here\: per payment, per day, and where to' 'tx:look at transactions and carry them on' 'webhook:receive, check, forward and replay events' 'sandbox:the whole service, locally' 'profiles:the services and accounts that are set up' 'config:the settings of a profile' 'demo:a tour of the main job on a sandbox of its own' 'api:send any request, signed in, and print the answer as it came' 'mcp:serve the wallet to an assistant over the Model Context Protocol' 'doctor:check the installation, its files, the service and the clock' 'completion:print the completion script of a shell' 'help:help on a command, or on exit-codes') flags=() ;;
    'login') words_=() flags=('--api-key:the API key; asked for when missing' '--api-secret-stdin:read the API secret from stdin' '--network:network of the service\: mainnet, testnet, any') ;;
    'logout') words_=() flags=() ;;
    'whoami') words_=() flags=() ;;
    'wallets') words_=() flags=() ;;
    'account') words_=() flags=() ;;
    'rates') words_=() flags=() ;;
    'decode') words_=() flags=() ;;
    'receive') words_=('lightning:make a Lightning invoice and wait until it is paid' 'onchain:make a Bitcoin address and wait until it is paid' 'address:show a permanent deposit address') flags=() ;;
    'receive lightning') words_=() flags=('--note:a note for yourself; the payer does not see it' '--ref:your reference\: run again with the same one, it asks for the same payment' '--wait:wait until it is paid (the default on a terminal)' '--no-wait:wait until it is paid (the default on a terminal)' '--wait-timeout:longest wait for the payment' '--qr-file:write the QR code to FILE.svg or FILE.png') ;;
    'receive onchain') words_=() flags=('--note:a note for yourself; the payer does not see it' '--ref:your reference\: run again with the same one, it asks for the same payment' '--wait:wait until it is paid (the default on a terminal)' '--no-wait:wait until it is paid (the default on a terminal)' '--wait-timeout:longest wait for the payment' '--qr-file:write the QR code to FILE.svg or FILE.png') ;;
    'receive address') words_=('btc:' 'usdt:') flags=('--chain:for usdt\: tron or eth' '--qr-file:write the QR code to FILE.svg or FILE.png') ;;
    'send') words_=('lightning:pay a BOLT11 invoice' 'lnurl:pay to a Lightning Address or an LNURL' 'onchain:pay to a Bitcoin address' 'usdt:pay USDT to a TRON address') flags=('--from:wallet to pay from (default BTC; for a TRON address USDT)' '--via:lightning or onchain, for a bitcoin\: URI that offers both' '--deduct-fees:take the fees out of the amount, so that the recipient gets less' '--max-fee:highest total fee, as in 100sat or 1%' '--ref:your reference\: run again with the same one, it never pays twice' '--note:a note for yourself; the recipient does not see it' '--wait:wait until the payment is settled (the default)' '--no-wait:wait until the payment is settled (the default)' '--wait-timeout:longest wait for the settlement' '--quote-only:show what it would cost and stop' '--retry:try again under a reference whose payment failed') ;;
    'send lightning') words_=() flags=('--from:wallet to pay from' '--max-fee:highest total fee, as in 100sat or 1%' '--ref:your reference\: run again with the same one, it never pays twice' '--note:a note for yourself; the recipient does not see it' '--wait:wait until the payment is settled (the default)' '--no-wait:wait until the payment is settled (the default)' '--wait-timeout:longest wait for the settlement' '--quote-only:show what it would cost and stop' '--retry:try again under a reference whose payment failed') ;;
    'send lnurl') words_=() flags=('--from:wallet to pay from' '--max-fee:highest total fee, as in 100sat or 1%' '--ref:your reference\: run again with the same one, it never pays twice' '--note:a note for yourself; the recipient does not see it' '--wait:wait until the payment is settled (the default)' '--no-wait:wait until the payment is settled (the default)' '--wait-timeout:longest wait for the settlement' '--quote-only:show what it would cost and stop' '--retry:try again under a reference whose payment failed') ;;
    'send onchain') words_=() flags=('--from:wallet to pay from' '--deduct-fees:take the fees out of the amount, so that the recipient gets less' '--max-fee:highest total fee, as in 100sat or 1%' '--ref:your reference\: run again with the same one, it never pays twice' '--note:a note for yourself; the recipient does not see it' '--wait:wait until the payment is settled (the default)' '--no-wait:wait until the payment is settled (the default)' '--wait-timeout:longest wait for the settlement' '--quote-only:show what it would cost and stop' '--retry:try again under a reference whose payment failed') ;;
    'send usdt') words_=() flags=('--from:wallet to pay from' '--chain:tron; eth is announced, not yet available' '--max-fee:highest total fee, as in 100sat or 1%' '--ref:your reference\: run again with the same one, it never pays twice' '--note:a note for yourself; the recipient does not see it' '--wait:wait until the payment is settled (the default)' '--no-wait:wait until the payment is settled (the default)' '--wait-timeout:longest wait for the settlement' '--quote-only:show what it would cost and stop' '--retry:try again under a reference whose payment failed') ;;
    'swap') words_=() flags=('--receive:AMOUNT is what shall arrive in TO, not what leaves FROM' '--max-fee:highest total fee, as in 100sat or 1%' '--ref:your reference\: run again with the same one, it never pays twice' '--note:a note for yourself; the recipient does not see it' '--wait:wait until the payment is settled (the default)' '--no-wait:wait until the payment is settled (the default)' '--wait-timeout:longest wait for the settlement' '--quote-only:show what it would cost and stop' '--retry:try again under a reference whose payment failed') ;;
    'batch') words_=() flags=('--dry-run:check every row, show the totals, send nothing' '--concurrency:how many rows are paid at a time (default 4)' '--on-error:after a row that failed (default continue)' '--result:where the outcome of every row is kept (default FILE.result.csv; with - none)' '--name:tells this batch from others whose rows without a ref are the same' '--from:wallet to pay from, for rows that do not say (default BTC; to TRON USDT)' '--max-fee:highest fee of each row, as in 100sat or 1%' '--wait:wait until every row is settled; otherwise only for Lightning' '--no-wait:wait until every row is settled; otherwise only for Lightning' '--wait-timeout:longest wait for a row to settle (default 2m)' '--retry:try rows again whose payment failed') ;;
    'payout') words_=('methods:the countries and methods of payouts' 'institutions:the banks and mobile wallets of a country') flags=('--recipient:a recipient from your address book' '--country:country to pay out to' '--method:payout method\: svcpay payout methods' '--institution:bank or mobile wallet\: svcpay payout institutions COUNTRY' '--institution-name:its name, where the service lists none' '--acct-num:account number; for a mobile wallet the phone number' '--acct-name:name on the account' '--recipient-type:the recipient\: individual or business' '--recipient-name:the recipient\: full legal or registered name' '--recipient-country:the recipient\: country, two letters' '--recipient-phone:the recipient\: phone number with country code' '--recipient-address:the recipient\: street address' '--amount:what the recipient gets, as in 500000vnd' '--purpose:purpose of the payment\: a code number of the service' '--source:source of the funds\: a code number of the service' '--relationship:relationship to the recipient\: a code number of the service' '--sender-type:the sender\: individual or business' '--sender-name:the sender\: full legal or registered name' '--sender-country:the sender\: country, two letters' '--sender-phone:the sender\: phone number with country code' '--sender-address:the sender\: street address' '--from:wallet to pay from (default BTC)' '--from-file:take everything from FILE, the service'\''s own creation body; - for stdin' '--max-fee:highest total fee, as in 100sat or 1%' '--ref:your reference\: run again with the same one, it never pays twice' '--note:a note for yourself; the recipient does not see it' '--wait:wait until the payment is settled (the default)' '--no-wait:wait until the payment is settled (the default)' '--wait-timeout:longest wait for the settlement' '--quote-only:show what it would cost and stop' '--retry:try again under a reference whose payment failed') ;;
    'payout methods') words_=() flags=() ;;
    'payout institutions') words_=() flags=() ;;
    'recipients') words_=('list:everybody in it' 'add:put somebody in, or change an entry' 'remove:take somebody out') flags=() ;;
    'recipients list') words_=() flags=() ;;
    'recipients add') words_=() flags=('--country:country to pay out to' '--method:payout method\: svcpay payout methods' '--institution:bank or mobile wallet\: svcpay payout institutions COUNTRY' '--institution-name:its name, where the service lists none' '--acct-num:account number; for a mobile wallet the phone number' '--acct-name:name on the account' '--recipient-type:the recipient\: individual or business' '--recipient-name:the recipient\: full legal or registered name' '--recipient-country:the recipient\: country, two letters' '--recipient-phone:the recipient\: phone number with country code' '--recipient-address:the recipient\: street address') ;;
    'recipients remove') words_=() flags=() ;;
    'limits') words_=('list:show the limits and what of them is used' 'set:limit a payment, or all payments of a day' 'allow:allow a destination, and no other that is not allowed' 'disallow:take a destination from those allowed' 'clear:remove all limits, or those in one currency') flags=() ;;
    'limits list') words_=() flags=() ;;
    'limits set') words_=() flags=('--per-payment:the most that one payment may take, fees included; one for each currency' '--per-day:the most that all payments of 24 hours may take; one for each currency') ;;
    'limits allow') words_=() flags=() ;;
    'limits disallow') words_=() flags=() ;;
    'limits clear') words_=() flags=() ;;
    'tx') words_=('list:the history' 'get:one transaction as a receipt' 'watch:follow transactions to their end' 'confirm:let a quote become a payment' 'cancel:take a quote back before it is confirmed' 'pending:payments that were begun here and are not over' 'resume:finish or report what is pending' 'export:write the history for a spreadsheet or for book-keeping') flags=() ;;
    'tx list') words_=() flags=('--time:the last 1d, 7d, 30d, 3m, 6m, 1y' '--since:from then on\: 2h, 7d, 2026-03-01 or 2026-03-01T14\:30\:00Z' '--until:up to then, inclusive' '--state:only this state; may be repeated' '--src-method:only from this source, such as servicepay or lightning' '--dest-method:only to this destination, such as lightning or on-chain' '--exclude-src-method:nothing from this source' '--exclude-dest-method:nothing to this destination' '--limit:how many on a page (default 20)' '--page:which page (default 1)' '--all:every page, printed as it comes') ;;
    'tx get') words_=() flags=() ;;
    'tx watch') words_=() flags=('--wait-timeout:longest wait') ;;
    'tx confirm') words_=() flags=('--max-fee:highest total fee, as in 100sat or 1%' '--wait:wait until the payment is settled (the default)' '--no-wait:wait until the payment is settled (the default)' '--wait-timeout:longest wait for the settlement') ;;
    'tx cancel') words_=() flags=() ;;
    'tx pending') words_=() flags=() ;;
    'tx resume') words_=() flags=('--wait:wait until the payment is settled (the default)' '--no-wait:wait until the payment is settled (the default)' '--wait-timeout:longest wait for the settlement' '--new-journal:set a damaged journal aside and start a new one') ;;
    'tx export') words_=() flags=('--format:csv, jsonl, hledger, beancount' '--time:the last 1d, 7d, 30d, 3m, 6m, 1y' '--since:from then on\: 2h, 7d, 2026-03-01 or 2026-03-01T14\:30\:00Z' '--until:up to then, inclusive' '--state:only this state; may be repeated' '--src-method:only from this source, such as servicepay or lightning' '--dest-method:only to this destination, such as lightning or on-chain' '--exclude-src-method:nothing from this source' '--exclude-dest-method:nothing to this destination') ;;
    'webhook') words_=('list:the webhook of the account' 'set:set the webhook, in place of the one before' 'update:change its callback or its secret' 'remove:remove it' 'listen:receive events on this machine' 'verify:check a signature, and say why it is wrong' 'sign:sign a body as the service does' 'replay:send stored events once more' 'trigger:bring about an event, against the sandbox') flags=() ;;
    'webhook list') words_=() flags=() ;;
    'webhook set') words_=() flags=('--secret-stdin:read the webhook secret from stdin' '--generate-secret:make a secret and show it this once') ;;
    'webhook update') words_=() flags=('--callback:new https address' '--secret-stdin:read the webhook secret from stdin' '--generate-secret:make a secret and show it this once') ;;
    'webhook remove') words_=() flags=() ;;
    'webhook listen') words_=() flags=('--port:port to listen on, 0 for any free one (default 4712)' '--host:address to listen on (default 127.0.0.1\: this machine alone)' '--forward-to:send every event on to this address; may be repeated' '--exec:run this for every event, with the body on stdin and SVCPAY_* set' '--ready-file:write this file, JSON with the url, once deliveries are taken' '--enrich:ask the service for the transaction of each event, as it is now' '--print-secret:print the secret in use and end' '--secret-stdin:read the webhook secret from stdin') ;;
    'webhook verify') words_=() flags=('--signature:the signature, as the header carries it' '--secret-stdin:read the webhook secret from stdin') ;;
    'webhook sign') words_=() flags=('--secret-stdin:read the webhook secret from stdin') ;;
    'webhook replay') words_=() flags=('--since:all events that came within this time' '--to:where to send them (default http\://127.0.0.1\:4712)') ;;
    'webhook trigger') words_=('quoted:' 'srcintent:' 'srccreated:' 'destsent:' 'completed:' 'expired:' 'failed:' 'usercanceled:' 'rejected:' 'error:') flags=('--to:send an event made here to this address, such as that of webhook listen' '--txn:the transaction that it speaks of' '--ref:the extRefId that it carries' '--secret-stdin:read the webhook secret from stdin') ;;
    'sandbox') words_=('start:run the sandbox as a server' 'run:run a command with a sandbox of its own' 'status:show what it holds' 'fund:add money to a wallet' 'pay:pay a request, as somebody outside would' 'invoice:make an invoice of somebody outside, to pay' 'mine:find blocks, so that on-chain payments are confirmed' 'clock:look at its clock and move it' 'fault:let things go wrong on demand' 'log:the requests that it has answered' 'deliveries:what went to webhooks, or will' 'snapshot:keep whole states and come back to them' 'reset:back to a fresh sandbox') flags=() ;;
    'sandbox start') words_=() flags=('--port:port on the loopback interface, 0 for any free one' '--file:database file, \:memory\: for none (default\: the embedded sandbox'\''s own)' '--api-key:API key in place of the one in the file' '--api-secret:API secret of this sandbox, for tests' '--auto-pay:pay requests by itself after this time, or off (default 3s)' '--seed:what a new file begins with\: demo, empty, history (default demo)' '--webhook-ca:certificate authority (PEM) that webhook callbacks may have' '--allow-http-callbacks:let webhooks be plain http to this machine' '--allow-signature-reuse:accept the same signature at the token endpoint again' '--allow-reference-reuse:accept an extRefId that was used before' '--allow-double-payment:pay an invoice again that was paid') ;;
    'sandbox run') words_=() flags=('--file:database file to keep (default\: none, forgotten at the end)' '--auto-pay:pay requests by itself after this time, or off (default 3s)' '--seed:what a new file begins with\: demo, empty, history (default demo)' '--webhook-ca:certificate authority (PEM) that webhook callbacks may have' '--allow-http-callbacks:let webhooks be plain http to this machine' '--allow-signature-reuse:accept the same signature at the token endpoint again' '--allow-reference-reuse:accept an extRefId that was used before' '--allow-double-payment:pay an invoice again that was paid') ;;
    'sandbox status') words_=() flags=() ;;
    'sandbox fund') words_=() flags=() ;;
    'sandbox pay') words_=() flags=() ;;
    'sandbox invoice') words_=() flags=('--description:what the invoice says it is for' '--expiry:how long it can be paid (default 1h)') ;;
    'sandbox mine') words_=() flags=() ;;
    'sandbox clock') words_=('show:what time it has' 'advance:move it forward, and do all that becomes due' 'freeze:let it stand still' 'thaw:let it run on') flags=() ;;
    'sandbox clock show') words_=() flags=() ;;
    'sandbox clock advance') words_=() flags=() ;;
    'sandbox clock freeze') words_=() flags=() ;;
    'sandbox clock thaw') words_=() flags=() ;;
    'sandbox fault') words_=('add:let something go wrong' 'list:what is set to go wrong' 'clear:let everything go well again') flags=() ;;
    'sandbox fault add') words_=('status:' 'latency:' 'drop-before-commit:' 'drop-after-commit:' 'truncate:' 'html:' 'no-answer:' 'late-effect:' 'stale:' 'false-state:' 'reference-reuse:' 'double-payment:' 'payment:' 'webhook-duplicate:' 'webhook-out-of-order:') flags=('--method:requests\: only of this method' '--path:requests\: only of this path; * is any text without a slash, ** any text' '--nth:begin with the Nth match (default 1)' '--times:strike so many times (default 1)' '--status:status, html\: the status that is answered' '--error:status\: the error text' '--message:status\: the message beside it' '--body:status\: the whole body' '--retry-after:status\: the Retry-After header' '--delay:latency, late-effect, webhook-out-of-order\: how long it takes' '--commit:status, html, no-answer\: carry the request out all the same' '--no-commit:status, html, no-answer\: carry the request out all the same' '--commit-after:status, html, no-answer\: carry it out so long after the answer' '--ago:stale\: show transactions as they were so long ago' '--steps:stale\: show them as they were so many states ago' '--outcome:payment\: no-route, rejected, error' '--destination:payment, double-payment\: only to this invoice, address or account' '--state:false-state\: what is shown; webhook-…\: only events of it') ;;
    'sandbox fault list') words_=() flags=() ;;
    'sandbox fault clear') words_=() flags=() ;;
    'sandbox log') words_=() flags=('--method:only requests of this method, such as PUT' '--path:only requests of this path, with or without its query' '--limit:how many, the newest (default 50)') ;;
    'sandbox deliveries') words_=() flags=('--txn:only those of this transaction' '--status:only those that are scheduled, sending, delivered, failed, canceled' '--limit:how many, the newest (default 50)' '--replay:deliver this one once more') ;;
    'sandbox snapshot') words_=('save:keep the present state under a name' 'load:go back to a kept state' 'list:the kept states' 'remove:forget a kept state') flags=() ;;
    'sandbox snapshot save') words_=() flags=() ;;
    'sandbox snapshot load') words_=() flags=() ;;
    'sandbox snapshot list') words_=() flags=() ;;
    'sandbox snapshot remove') words_=() flags=() ;;
    'sandbox reset') words_=() flags=('--seed:begin with demo, empty, history (default\: as before)') ;;
    'profiles') words_=('list:all of them' 'use:choose the one that is used' 'remove:forget one with its secret') flags=() ;;
    'profiles list') words_=() flags=() ;;
    'profiles use') words_=() flags=() ;;
    'profiles remove') words_=() flags=() ;;
    'config') words_=('list:all settings and what decides them' 'get:print one setting' 'set:change one setting' 'path:print where they are kept') flags=() ;;
    'config list') words_=() flags=() ;;
    'config get') words_=('base-url:' 'account:' 'network:' 'maker:' 'sandbox:' 'sender.type:' 'sender.name:' 'sender.country:' 'sender.phone:' 'sender.address:') flags=() ;;
    'config set') words_=('base-url:' 'account:' 'network:' 'maker:' 'sandbox:' 'sender.type:' 'sender.name:' 'sender.country:' 'sender.phone:' 'sender.address:') flags=('--unset:take it away instead') ;;
    'config path') words_=() flags=() ;;
    'demo') words_=() flags=() ;;
    'api') words_=('GET:' 'POST:' 'PUT:' 'DELETE:') flags=('--data:the body, sent to the letter; @FILE from a file, - from stdin' '--include:print status and headers before the body' '--paginate:follow all pages of a list and print one array') ;;
    'mcp') words_=() flags=('--allow-payments:offer the paying tools too; needs limits, and keeps to them') ;;
    'doctor') words_=() flags=() ;;
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
