#!/bin/sh
# Pays every row of payroll.csv once a month: payroll.sh [YYYY-MM]
# After an interruption, run the script again. It pays only the rows that are not paid yet.
set -eu
month=${1:-$(date +%Y-%m)}
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT

# A reference identifies one payment, so each month needs its own references. The name of the run
# tells svcpay that a new month repeats the payees and amounts of the last month on purpose.
sed "2,\$s/^/$month-/" "$(dirname "$0")/payroll.csv" > "$rows"

svcpay batch "$rows" --name "$month" --dry-run
svcpay batch "$rows" --name "$month" --max-fee 2% --no-wait --yes --result "payroll-$month.csv" --quiet
