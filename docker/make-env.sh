#!/bin/sh
# Prints docker/example.env with a random password for each empty setting: sh docker/make-env.sh > .env
set -eu
folder=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
umask 077
while IFS= read -r line; do
  case $line in
    [A-Z]*=) printf '%s%s\n' "$line" "$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')" ;;
    *) printf '%s\n' "$line" ;;
  esac
done <"$folder/example.env"
