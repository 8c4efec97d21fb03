# shellcheck shell=bash
# The web UI: locked npm packages, then the built pages in frontend/dist.

setup_frontend() {
  local packages pages advice="check that this machine reaches its npm registry, then run again"
  packages=$(hash_of "@$REPO/frontend/package-lock.json" "$REPO")
  if [ "$(cat frontend/node_modules/.wallwatch-stamp 2>/dev/null)" != "$packages" ]; then
    say frontend "installing the locked npm packages"
    run_logged npm "$advice" npm --prefix frontend ci --no-audit --no-fund
    echo "$packages" >frontend/node_modules/.wallwatch-stamp
  fi
  pages=$(hash_of "@$REPO/frontend")
  if [ "$(cat "$STAMPS/frontend" 2>/dev/null)" = "$REPO $pages" ] && [ -e frontend/dist/index.html ]; then
    say frontend "pages are built"
    return
  fi
  say frontend "building the pages"
  run_logged frontend "correct the error above" npm --prefix frontend run build
  stamp frontend "$REPO $(hash_of "@$REPO/frontend")"
}
