#!/bin/sh
# Starts the bundled Kafka broker of docker-compose.yml and of the Helm chart, with server.properties next to this file.
#   CLUSTER_ID                       16 bytes in base64url, fixed for the life of the volume
#   WALLWATCH_KAFKA_DATA             folder of the messages
#   WALLWATCH_KAFKA_INTERNAL_HOST    name under which jobs and backend reach the broker
#   WALLWATCH_KAFKA_ADVERTISED_HOST  name under which hosts reach it, and with it
#   WALLWATCH_KAFKA_ADVERTISED_PORT  the port there
#   WALLWATCH_KAFKA_PASSWORD_ADMIN   password of wallwatch-admin
#   WALLWATCH_KAFKA_LIBS             folder of Kafka's jars; only tests set it
set -eu
umask 077

for name in CLUSTER_ID WALLWATCH_KAFKA_DATA WALLWATCH_KAFKA_INTERNAL_HOST WALLWATCH_KAFKA_ADVERTISED_HOST WALLWATCH_KAFKA_ADVERTISED_PORT \
  WALLWATCH_KAFKA_PASSWORD_ADMIN; do
  if ! printenv "$name" | grep -q .; then
    echo "start.sh: set $name (see the head of this file)" >&2
    exit 2
  fi
done
# It stands between quotes in Kafka's configuration.
case $WALLWATCH_KAFKA_PASSWORD_ADMIN in
  *[!A-Za-z0-9._~-]*) echo "start.sh: WALLWATCH_KAFKA_PASSWORD_ADMIN may have letters, digits and . _ ~ - only" >&2; exit 2 ;;
esac
if [ "${#WALLWATCH_KAFKA_PASSWORD_ADMIN}" -lt 12 ]; then
  echo "start.sh: WALLWATCH_KAFKA_PASSWORD_ADMIN is too short: use at least 12 characters" >&2
  exit 2
fi

certificates=/etc/wallwatch-kafka/broker
for file in tls.key tls.crt ca.crt; do
  if [ ! -s "$certificates/$file" ] || [ ! -r "$certificates/$file" ]; then
    echo "start.sh: $certificates/$file is missing or cannot be read: see \"The bundled broker\" in docs/operating.md" >&2
    exit 2
  fi
done
if ! grep -q -e '-----BEGIN PRIVATE KEY-----' "$certificates/tls.key"; then
  echo "start.sh: $certificates/tls.key is not an unencrypted key in PKCS #8, the only form that Kafka reads (cert-manager: privateKey.encoding: PKCS8)" >&2
  exit 2
fi

folder=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
libs=${WALLWATCH_KAFKA_LIBS:-/opt/kafka/libs}
settings=$folder/server.properties
run() {
  heap=$1
  shift
  # Word splitting separates the options of the heap.
  # shellcheck disable=SC2086
  exec java $heap -XX:+ExitOnOutOfMemoryError "-Dlog4j2.configurationFile=$folder/log4j2.yaml" -cp "$libs/*" "$@"
}

# A volume that has been formatted stays as it is, also one of a release whose broker asked nobody for a name.
if [ ! -e "$WALLWATCH_KAFKA_DATA/meta.properties" ]; then
  (run "-Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1" kafka.tools.StorageTool format "--cluster-id=$CLUSTER_ID" -c "$settings")
fi
run "${KAFKA_HEAP_OPTS:--Xms256m -Xmx1g} -XX:+UseG1GC -XX:MaxGCPauseMillis=50" kafka.Kafka "$settings"
