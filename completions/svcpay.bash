# bash completion for svcpay. Generated from the command tree: npm run completions
_svcpay() {
  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}" path='' words='' flags='' word
  case "$previous" in
    --output) COMPREPLY=($(compgen -W 'table json jsonl csv tsv' -- "$current")); return ;;
    --chain) COMPREPLY=($(compgen -W 'tron eth' -- "$current")); return ;;
    --via) COMPREPLY=($(compgen -W 'lightning onchain' -- "$current")); return ;;
    --country) COMPREPLY=($(compgen -W 'CA IN ID KE MY NG PH RW SG KR TH VN BJ CI GH SN TW KH' -- "$current")); return ;;
    --recipient-type) COMPREPLY=($(compgen -W 'individual business' -- "$current")); return ;;
    --sender-type) COMPREPLY=($(compgen -W 'individual business' -- "$current")); return ;;
    --on-error) COMPREPLY=($(compgen -W 'continue stop' -- "$current")); return ;;
    --time) COMPREPLY=($(compgen -W '1d 7d 30d 3m 6m 1y' -- "$current")); return ;;
    --src-method) COMPREPLY=($(compgen -W 'servicepay lightning lnurl on-chain tron eth mobile' -- "$current")); return ;;
    --dest-method) COMPREPLY=($(compgen -W 'servicepay lightning lnurl on-chain tron eth mobile' -- "$current")); return ;;
    --exclude-src-method) COMPREPLY=($(compgen -W 'servicepay lightning lnurl on-chain tron eth mobile' -- "$current")); return ;;
    --exclude-dest-method) COMPREPLY=($(compgen -W 'servicepay lightning lnurl on-chain tron eth mobile' -- "$current")); return ;;
    --format) COMPREPLY=($(compgen -W 'csv jsonl hledger beancount' -- "$current")); return ;;
    --network) COMPREPLY=($(compgen -W 'mainnet testnet any' -- "$current")); return ;;
    --seed) COMPREPLY=($(compgen -W 'demo empty history' -- "$current")); return ;;
    --webhook-method) COMPREPLY=($(compgen -W 'POST PUT' -- "$current")); return ;;
    --webhook-events) COMPREPLY=($(compgen -W 'every final' -- "$current")); return ;;
    --status) COMPREPLY=($(compgen -W 'scheduled sending delivered failed canceled' -- "$current")); return ;;
    --outcome) COMPREPLY=($(compgen -W 'no-route rejected error' -- "$current")); return ;;
    --profile|--account|--base-url|--fields|--timeout|--note|--ref|--wait-timeout|--qr-file|--from|--spend|--max-fee|--recipient|--method|--institution|--institution-name|--acct-num|--acct-name|--recipient-name|--recipient-country|--recipient-phone|--recipient-address|--amount|--purpose|--source|--relationship|--sender-name|--sender-country|--sender-phone|--sender-address|--from-file|--concurrency|--result|--name|--per-payment|--per-day|--since|--until|--state|--limit|--page|--api-key|--data|--callback|--port|--host|--forward-to|--exec|--ready-file|--signature|--to|--txn|--file|--api-secret|--auto-pay|--webhook-ca|--live-shapes|--description|--expiry|--path|--nth|--times|--error|--message|--body|--retry-after|--delay|--commit-after|--ago|--steps|--destination|--replay) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] && continue
    case "${path:+$path }$word" in
      'receive'|'receive lightning'|'receive onchain'|'receive address'|'send'|'send lightning'|'send lnurl'|'send onchain'|'send usdt'|'swap'|'payout'|'payout methods'|'payout institutions'|'batch'|'recipients'|'recipients list'|'recipients add'|'recipients remove'|'limits'|'limits list'|'limits set'|'limits allow'|'limits disallow'|'limits clear'|'wallets'|'tx'|'tx list'|'tx get'|'tx watch'|'tx confirm'|'tx cancel'|'tx pending'|'tx resume'|'tx export'|'rates'|'account'|'login'|'logout'|'whoami'|'profiles'|'profiles list'|'profiles use'|'profiles remove'|'config'|'config list'|'config get'|'config set'|'config unset'|'config path'|'db'|'db status'|'db upgrade'|'db move'|'doctor'|'completion'|'help'|'decode'|'api'|'webhook'|'webhook list'|'webhook set'|'webhook update'|'webhook remove'|'webhook listen'|'webhook verify'|'webhook sign'|'webhook replay'|'webhook trigger'|'sandbox'|'sandbox start'|'sandbox run'|'sandbox status'|'sandbox fund'|'sandbox pay'|'sandbox invoice'|'sandbox mine'|'sandbox clock'|'sandbox clock show'|'sandbox clock advance'|'sandbox clock freeze'|'sandbox clock thaw'|'sandbox fault'|'sandbox fault add'|'sandbox fault list'|'sandbox fault clear'|'sandbox log'|'sandbox deliveries'|'sandbox snapshot'|'sandbox snapshot save'|'sandbox snapshot load'|'sandbox snapshot list'|'sandbox snapshot remove'|'sandbox reset'|'mcp'|'demo') path="${path:+$path }$word" ;;
    esac
  done
  case "$path" in
    '') words='receive send swap payout batch recipients limits wallets tx rates account login logout whoami profiles config db doctor completion help decode api webhook sandbox mcp demo' flags='' ;;
    'receive') words='lightning onchain address' flags='--note --ref --wait --no-wait --wait-timeout --qr-file' ;;
    'receive lightning') words='' flags='--note --ref --wait --no-wait --wait-timeout --qr-file' ;;
    'receive onchain') words='' flags='--note --ref --wait --no-wait --wait-timeout --qr-file' ;;
    'receive address') words='btc usdt lightning' flags='--chain --qr-file' ;;
    'send') words='lightning lnurl onchain usdt' flags='--from --spend --via --deduct-fees --max-fee --ref --note --wait --no-wait --wait-timeout --quote-only --retry' ;;
    'send lightning') words='' flags='--from --max-fee --ref --note --wait --no-wait --wait-timeout --quote-only --retry' ;;
    'send lnurl') words='' flags='--from --deduct-fees --max-fee --ref --note --wait --no-wait --wait-timeout --quote-only --retry' ;;
    'send onchain') words='' flags='--from --deduct-fees --max-fee --ref --note --wait --no-wait --wait-timeout --quote-only --retry' ;;
    'send usdt') words='' flags='--spend --from --chain --deduct-fees --max-fee --ref --note --wait --no-wait --wait-timeout --quote-only --retry' ;;
    'swap') words='' flags='--receive --max-fee --ref --note --wait --no-wait --wait-timeout --quote-only --retry' ;;
    'payout') words='methods institutions' flags='--recipient --country --method --institution --institution-name --acct-num --acct-name --recipient-type --recipient-name --recipient-country --recipient-phone --recipient-address --amount --purpose --source --relationship --sender-type --sender-name --sender-country --sender-phone --sender-address --from --from-file --max-fee --ref --note --wait --no-wait --wait-timeout --quote-only --retry' ;;
    'payout methods') words='' flags='' ;;
    'payout institutions') words='' flags='' ;;
    'batch') words='' flags='--dry-run --concurrency --on-error --result --name --from --max-fee --wait --no-wait --wait-timeout --retry' ;;
    'recipients') words='list add remove' flags='' ;;
    'recipients list') words='' flags='' ;;
    'recipients add') words='' flags='--country --method --institution --institution-name --acct-num --acct-name --recipient-type --recipient-name --recipient-country --recipient-phone --recipient-address' ;;
    'recipients remove') words='' flags='' ;;
    'limits') words='list set allow disallow clear' flags='' ;;
    'limits list') words='' flags='' ;;
    'limits set') words='' flags='--per-payment --per-day' ;;
    'limits allow') words='' flags='' ;;
    'limits disallow') words='' flags='' ;;
    'limits clear') words='' flags='' ;;
    'wallets') words='' flags='' ;;
    'tx') words='list get watch confirm cancel pending resume export' flags='' ;;
    'tx list') words='' flags='--time --since --until --state --src-method --dest-method --exclude-src-method --exclude-dest-method --quotes --limit --page --all' ;;
    'tx get') words='' flags='' ;;
    'tx watch') words='' flags='--wait-timeout' ;;
    'tx confirm') words='' flags='--max-fee --wait --no-wait --wait-timeout' ;;
    'tx cancel') words='' flags='' ;;
    'tx pending') words='' flags='' ;;
    'tx resume') words='' flags='--wait --no-wait --wait-timeout --new-journal' ;;
    'tx export') words='' flags='--format --raw-cells --time --since --until --state --src-method --dest-method --exclude-src-method --exclude-dest-method' ;;
    'rates') words='' flags='' ;;
    'account') words='' flags='' ;;
    'login') words='' flags='--api-key --api-secret-stdin --network' ;;
    'logout') words='' flags='' ;;
    'whoami') words='' flags='' ;;
    'profiles') words='list use remove' flags='' ;;
    'profiles list') words='' flags='' ;;
    'profiles use') words='' flags='' ;;
    'profiles remove') words='' flags='' ;;
    'config') words='list get set unset path' flags='' ;;
    'config list') words='' flags='' ;;
    'config get') words='base-url account network maker sandbox database-url sender.type sender.name sender.country sender.phone sender.address' flags='' ;;
    'config set') words='base-url account network maker sandbox database-url sender.type sender.name sender.country sender.phone sender.address' flags='--unset' ;;
    'config unset') words='base-url account network maker sandbox database-url sender.type sender.name sender.country sender.phone sender.address' flags='' ;;
    'config path') words='' flags='' ;;
    'db') words='status upgrade move' flags='' ;;
    'db status') words='' flags='' ;;
    'db upgrade') words='' flags='' ;;
    'db move') words='' flags='' ;;
    'doctor') words='' flags='' ;;
    'completion') words='bash zsh fish powershell' flags='' ;;
    'help') words='' flags='' ;;
    'decode') words='' flags='' ;;
    'api') words='GET POST PUT DELETE' flags='--data --include --paginate' ;;
    'webhook') words='list set update remove listen verify sign replay trigger' flags='' ;;
    'webhook list') words='' flags='' ;;
    'webhook set') words='' flags='--secret-stdin --generate-secret' ;;
    'webhook update') words='' flags='--callback --secret-stdin --generate-secret' ;;
    'webhook remove') words='' flags='' ;;
    'webhook listen') words='' flags='--port --host --forward-to --exec --ready-file --enrich --print-secret --secret-stdin' ;;
    'webhook verify') words='' flags='--signature --secret-stdin' ;;
    'webhook sign') words='' flags='--secret-stdin' ;;
    'webhook replay') words='' flags='--since --to' ;;
    'webhook trigger') words='quoted srcintent srccreated destsent completed expired failed usercanceled rejected error' flags='--to --txn --ref --secret-stdin' ;;
    'sandbox') words='start run status fund pay invoice mine clock fault log deliveries snapshot reset' flags='' ;;
    'sandbox start') words='' flags='--port --file --api-key --api-secret --auto-pay --seed --webhook-ca --allow-http-callbacks --webhook-method --webhook-events --live-shapes --allow-signature-reuse --allow-reference-reuse --allow-double-payment' ;;
    'sandbox run') words='' flags='--file --auto-pay --seed --webhook-ca --allow-http-callbacks --webhook-method --webhook-events --live-shapes --allow-signature-reuse --allow-reference-reuse --allow-double-payment' ;;
    'sandbox status') words='' flags='' ;;
    'sandbox fund') words='' flags='' ;;
    'sandbox pay') words='' flags='' ;;
    'sandbox invoice') words='' flags='--description --expiry' ;;
    'sandbox mine') words='' flags='' ;;
    'sandbox clock') words='show advance freeze thaw' flags='' ;;
    'sandbox clock show') words='' flags='' ;;
    'sandbox clock advance') words='' flags='' ;;
    'sandbox clock freeze') words='' flags='' ;;
    'sandbox clock thaw') words='' flags='' ;;
    'sandbox fault') words='add list clear' flags='' ;;
    'sandbox fault add') words='status latency drop-before-commit drop-after-commit truncate html no-answer late-effect stale false-state reference-reuse double-payment payment webhook-duplicate webhook-out-of-order' flags='--method --path --nth --times --status --error --message --body --retry-after --delay --commit --no-commit --commit-after --ago --steps --outcome --destination --state' ;;
    'sandbox fault list') words='' flags='' ;;
    'sandbox fault clear') words='' flags='' ;;
    'sandbox log') words='' flags='--method --path --limit' ;;
    'sandbox deliveries') words='' flags='--txn --status --limit --replay' ;;
    'sandbox snapshot') words='save load list remove' flags='' ;;
    'sandbox snapshot save') words='' flags='' ;;
    'sandbox snapshot load') words='' flags='' ;;
    'sandbox snapshot list') words='' flags='' ;;
    'sandbox snapshot remove') words='' flags='' ;;
    'sandbox reset') words='' flags='--seed' ;;
    'mcp') words='' flags='--allow-payments' ;;
    'demo') words='' flags='' ;;
  esac
  if [[ $current == -* ]]; then words="$flags --profile --account --base-url --sandbox --json --output --fields --quiet --yes --no-input --no-color --debug --timeout --help"; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _svcpay svcpay
