import { List, Stack, Text } from "@mantine/core";
import type { PolicyCheck } from "@/lib/api/types";
import { AutomatonView } from "./AutomatonView";

interface Props {
  check: PolicyCheck;
  current?: number | null;
  previous?: number | null;
}

/** What a formula means: its class, a violation in words, its automaton. */
export function Meaning({ check, current, previous }: Props) {
  if (check.states === null || check.states === undefined) {
    return (
      <Text size="sm" c="dimmed">
        The automaton appears once the formula is valid.
      </Text>
    );
  }
  return (
    <Stack gap={8}>
      <Text size="sm">
        <b>{check.kind}</b> · {check.states} {check.states === 1 ? "state" : "states"}
        {check.formula ? (
          <>
            {" "}
            · parsed as <code>{check.formula}</code>
          </>
        ) : null}
      </Text>
      <Text size="sm">{check.words}</Text>
      {check.automaton ? (
        <AutomatonView automaton={check.automaton} current={current} previous={previous} />
      ) : (
        <Text size="sm" c="dimmed">
          It has too many states to draw.
        </Text>
      )}
      {(check.parts?.length ?? 0) > 0 && (
        <div>
          <Text size="xs" c="dimmed">
            Its parts can be monitored one by one; together they can conclude earlier.
          </Text>
          <List size="xs">
            {check.parts?.map((part) => (
              <List.Item key={part}>
                <code>{part}</code>
              </List.Item>
            ))}
          </List>
        </div>
      )}
    </Stack>
  );
}
