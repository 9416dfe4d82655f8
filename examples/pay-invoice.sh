#!/bin/sh
# Pays an invoice once, however often it is run: pay-invoice.sh ORDER INVOICE
# Prints the transaction id; its exit code is that of svcpay, one for each fate of the money.
set -u
order=$1 invoice=$2

for pause in 1 5 25 0; do
  # The order's number is the reference: the same one never pays twice, also after a crash and from another machine.
  txn=$(svcpay send lightning "$invoice" --ref "$order" --max-fee 1% --yes --quiet)
  code=$?
  case $code in
    75) sleep "$pause" ;; # the network, or the service is busy: nothing moved, safe to run again
    *) break ;;
  esac
done

case $code in
  0) echo "$txn" ;;
  8) echo "order $order: on its way; run this again, or: svcpay tx resume" >&2 ;;
  *) echo "order $order: not paid (exit code $code, see svcpay help exit-codes)" >&2 ;;
esac
exit "$code"
