#!/bin/sh
# Builds svcpay from this source and installs it with its dependencies into a folder: install.sh /opt/svcpay
set -eu
folder=$1
cd "$(dirname "$0")/../.."
packed=$(mktemp -d)
trap 'rm -rf "$packed"' EXIT
# A fresh clone has no packages and no build.
[ -d node_modules ] || npm ci --no-audit --no-fund
[ -d dist ] || npm run build
node build/pack.mjs "$packed"
npm install --global --prefix "$folder" --omit=dev --no-audit --no-fund "$packed"/svcpay-*.tgz
"$folder/bin/svcpay" --version
