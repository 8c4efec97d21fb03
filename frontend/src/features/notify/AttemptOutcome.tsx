import { Text } from "@mantine/core";
import type { Delivery } from "@/lib/api/types";
import { attemptReason, attemptText } from "./attempts";

/** What came of an attempt, and below it what the receiver said. */
export function AttemptOutcome({ attempt }: { attempt: Delivery["attempts"][number] }) {
  const reason = attemptReason(attempt);
  return (
    <>
      {attemptText(attempt)}
      {reason !== null && (
        <Text size="xs" c="dimmed" maw={320} style={{ overflowWrap: "anywhere" }}>
          {reason}
        </Text>
      )}
    </>
  );
}
