# shellcheck shell=bash
# Runs stages one after another, whatever becomes of each, and sums up at the end. Expects RESULTS, a folder for their output.

only=${only:-} # a group; empty means all
stage_names=() stage_codes=() stage_seconds=()

# stage GROUP NAME COMMAND...: runs one stage in the foreground and remembers how it ended.
stage() {
  local group=$1 name=$2 begin=$SECONDS code
  shift 2
  [ -z "$only" ] || [ "$only" = "$group" ] || return 0
  printf '\n=== %s: %s\n' "$name" "$*"
  "$@" 2>&1 </dev/null | tee "$RESULTS/$name.log"
  code=${PIPESTATUS[0]}
  stage_names+=("$name") stage_codes+=("$code") stage_seconds+=($((SECONDS - begin)))
}

# sum_up RUNNER...: repeats the end of the named runners' output and of everything that failed, so that it is the last thing to see.
# Returns 1 when a stage failed, or when there was none.
sum_up() {
  local failed=0 index name code verdict
  printf '\n\n=== summaries\n'
  for index in "${!stage_names[@]}"; do
    name=${stage_names[$index]} code=${stage_codes[$index]} verdict=ok
    [ "$code" = 0 ] || { verdict="FAILED ($code)" && failed=1; }
    printf '\n--- %s: %s, %s s\n' "$name" "$verdict" "${stage_seconds[$index]}"
    case " $* " in
      *" $name "*) tail -n 12 "$RESULTS/$name.log" ;;
      *) [ "$code" = 0 ] || tail -n 12 "$RESULTS/$name.log" ;;
    esac
    # An interpreter that dies says where at the beginning of a long dump.
    [ "$code" = 0 ] || grep -m 1 -A 40 'Fatal Python error' "$RESULTS/$name.log"
  done
  [ ${#stage_names[@]} -gt 0 ] || { echo "no stage was run: is '$only' one of the groups?" && failed=1; }
  return $failed
}
