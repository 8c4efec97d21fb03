# shellcheck shell=bash
# PostgreSQL 17 with TimescaleDB. Debian 13 packages both; elsewhere a small Debian 13 folder contains them, and the server starts with chroot.

POSTGRES_PACKAGES=(postgresql-17 postgresql-17-timescaledb)
NATIVE_POSTGRES=/usr/lib/postgresql/17

postgres_is_native() { [ -x "$NATIVE_POSTGRES/bin/postgres" ] && [ -e "$NATIVE_POSTGRES/lib/timescaledb.so" ]; }

setup_postgres() {
  if postgres_is_native; then
    say postgres "PostgreSQL 17 with TimescaleDB is installed"
    return
  fi
  if ! apt_has "${POSTGRES_PACKAGES[@]}" && [ "$(id -u)" = 0 ] && [ ! -d "$TOOLS/debian13" ]; then apt_refresh; fi
  if apt_has "${POSTGRES_PACKAGES[@]}"; then
    need_root postgres "PostgreSQL 17 with TimescaleDB"
    # Only the programs are wanted: without this, the package would also create a cluster.
    local keep_from_making=/etc/postgresql-common/createcluster.d/wallwatch-setup.conf
    mkdir -p "$(dirname "$keep_from_making")"
    echo "create_main_cluster = false" >"$keep_from_making"
    apt_install postgres "${POSTGRES_PACKAGES[@]}"
    rm -f "$keep_from_making"
    return
  fi
  setup_postgres_folder "$TOOLS/debian13"
}

# The mirror that this machine's apt already uses for Debian.
debian_mirror() {
  # shellcheck disable=SC2016  # apt's own format, not the shell's
  apt-get indextargets --format '$(SITE) $(COMPONENT) $(ORIGIN)' 'Created-By: Packages' 2>/dev/null \
    | awk '$2 == "main" && $1 !~ /security/ {print $1; exit}'
}

setup_postgres_folder() {
  local root=$1 stamp
  stamp=$(hash_of debian13 "${POSTGRES_PACKAGES[@]}")
  if unchanged postgres "$stamp" && [ -x "$root$NATIVE_POSTGRES/bin/postgres" ]; then
    say postgres "PostgreSQL 17 with TimescaleDB is in $root"
    return
  fi
  need_root postgres "PostgreSQL 17 with TimescaleDB (in a Debian 13 folder)"
  command -v debootstrap >/dev/null || apt_install debootstrap debootstrap
  say postgres "this system's packages lack PostgreSQL 17 with TimescaleDB: making a Debian 13 folder for it (about a minute)"
  rm -rf "$root.new" "$root"
  local mirror
  mirror=$(debian_mirror)
  run_logged postgres "check that this machine reaches its Debian mirror, then run again" \
    debootstrap --variant=minbase trixie "$root.new" ${mirror:+"$mirror"}
  mkdir -p "$root.new/etc/postgresql-common/createcluster.d"
  echo "create_main_cluster = false" >"$root.new/etc/postgresql-common/createcluster.d/wallwatch.conf"
  printf '#!/bin/sh\nexit 101\n' >"$root.new/usr/sbin/policy-rc.d"
  chmod +x "$root.new/usr/sbin/policy-rc.d"
  run_logged postgres "check that this machine reaches its Debian mirror, then run again" \
    env DEBIAN_FRONTEND=noninteractive chroot "$root.new" apt-get install -y --no-install-recommends "${POSTGRES_PACKAGES[@]}"
  chroot "$root.new" apt-get clean
  rm -rf "$root.new/var/lib/apt/lists"
  mv "$root.new" "$root"
  stamp postgres "$stamp"
}
