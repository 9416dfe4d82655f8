#!/bin/sh
# Pays everybody in payroll.csv once a month: payroll.sh [YYYY-MM]
# Run it again after an interruption and it pays only those who were not paid yet.
set -eu
month=${1:-$(date +%Y-%m)}
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT

# A reference is for one payment: the month makes next month's another one.
sed "2,\$s/^/$month-/" "$(dirname "$0")/payroll.csv" > "$rows"

svcpay batch "$rows" --dry-run
svcpay batch "$rows" --max-fee 2% --no-wait --yes --result "payroll-$month.csv" --quiet
