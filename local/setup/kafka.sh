# shellcheck shell=bash
# The Kafka broker: jars named in local/kafka/pom.xml, fetched by Maven.

setup_kafka() {
  local inputs jars="$TOOLS/kafka"
  inputs=$(hash_of "@$REPO/local/kafka/pom.xml")
  if unchanged kafka "$inputs" && compgen -G "$jars/kafka_2.13-*.jar" >/dev/null; then
    say kafka "the broker is there"
    return
  fi
  say kafka "fetching the broker's jars"
  rm -rf "$jars.new"
  run_logged kafka "check that this machine reaches its Maven repository, then run again" \
    mvn -q -B -f "$REPO/local/kafka/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$jars.new"
  rm -rf "$jars"
  mv "$jars.new" "$jars"
  stamp kafka "$inputs"
}
