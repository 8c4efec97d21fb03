# shellcheck shell=bash
# Programs of others that `make clients` tries Wallwatch with: nothing else requires them. Each Python program has an environment of its own, because
# its libraries are not Wallwatch's.

CLIENTS="$TOOLS/clients"
ALERTA=("alerta-server==9.1.0" "psycopg2-binary==2.9.13" "setuptools==80.9.0")
PYTHON_CLIENT=("openapi-python-client==0.29.1")

setup_clients() {
  if command -v kcat >/dev/null; then say clients "kcat is installed"; else apt_install clients kcat; fi
  setup_uv
  client_environment alerta "${ALERTA[@]}"
  client_environment python-client "${PYTHON_CLIENT[@]}"
}

# client_environment NAME PACKAGE...
client_environment() {
  local folder="$CLIENTS/$1" inputs
  inputs=$(hash_of "$@" "$(python_version)")
  if [ "$(cat "$folder/wallwatch-stamp" 2>/dev/null)" = "$inputs" ]; then
    say clients "$1 is installed"
    return
  fi
  say clients "installing ${*:2}"
  rm -rf "$folder"
  run_logged "clients-$1" "remove the folder $folder and run again" uv venv --quiet --python python3 "$folder"
  run_logged "clients-$1" "check that this machine reaches its Python package index" \
    env VIRTUAL_ENV="$folder" uv pip install --quiet "${@:2}"
  echo "$inputs" >"$folder/wallwatch-stamp"
}
